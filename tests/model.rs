//! What the tool reads of names is what clang reads, or is not known.

#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test without its input or its compiler has failed"
)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use ompsplit::syntax::numbers::{Number, POINTER_BITS, integer_names};
use ompsplit::validate::clang::Clang;
use rayon::prelude::*;

#[path = "support/declarations.rs"]
mod declarations;
#[path = "support/model.rs"]
mod model;

use model::{Report, compare};

fn holds(report: &Report) {
    println!("same, unknown, different: {:?}; {} rejected", report.counts, report.rejected.len());
    assert!(report.different.is_empty(), "{}", report.different.join("\n"));
    assert!(report.counts.get("type").is_some_and(|[all, _]| all[0] > 50), "hardly a type was compared");
}

#[test]
fn names_of_generated_declarations_are_read_as_clang_reads_them() {
    let files = declarations::single().into_iter().chain((0..8).map(declarations::together)).collect::<Vec<_>>();
    let one = |(name, text): (String, String)| compare(Path::new(&name), text.into_bytes(), &[]);
    let report = files.into_par_iter().map(one).reduce(Report::default, Report::with);
    holds(&report);
    assert!(report.rejected.is_empty(), "{}", report.rejected.join("\n"));
}

#[test]
fn names_of_fixtures_are_read_as_clang_reads_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let walk = ignore::WalkBuilder::new(root).build().flatten().map(ignore::DirEntry::into_path);
    let is_source = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "c" || ending == "cpp");
    let mut files: Vec<PathBuf> = walk.filter(is_source).collect();
    files.sort();
    let one = |path: &PathBuf| compare(path, std::fs::read(path).expect("a fixture"), &[]);
    holds(&files.par_iter().map(one).reduce(Report::default, Report::with));
}

/// Whether clang takes a text for a target.
fn compiles(target: &str, flags: &[&str], text: &str) {
    let clang = Clang::find().expect("clang");
    let mut command = clang.command();
    command.args(["-x", "c++", "-std=c++20", "-fsyntax-only", "-target", target, "-"]).args(flags);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("clang starts");
    child.stdin.take().expect("its input").write_all(text.as_bytes()).expect("a text");
    let output = child.wait_with_output().expect("clang ends");
    assert!(output.status.success(), "{target}: {}", String::from_utf8_lossy(&output.stderr));
}

/// What the tool says of a type's size and sign, for clang to check.
fn assertions(name: &str) -> String {
    let number = Number::read(name).unwrap_or_else(|| panic!("{name} is not read"));
    let size = number.bits().map(|bits| format!("static_assert(sizeof(type) * 8 == {bits}, \"size\");\n"));
    let sign = number.integer().map(|integer| {
        let signed = integer.signed;
        format!("static_assert((static_cast<type>(-1) < 0) == {signed}, \"sign\");\n")
    });
    let text: String = size.into_iter().chain(sign).collect();
    format!("namespace of_{} {{\nusing type = {name};\n{text}}}\n", name.replace(' ', "_"))
}

#[test]
fn sizes_and_signs_are_those_of_the_targets() {
    let keywords = ["bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned"];
    let longer = ["long", "unsigned long", "long long", "unsigned long long", "float", "double"];
    let own = keywords.iter().chain(&longer).map(|name| assertions(name)).collect::<String>();
    let own = format!("static_assert(sizeof(void *) * 8 == {POINTER_BITS}, \"pointer\");\n{own}");
    compiles("nvptx64-nvidia-cuda", &["-ffreestanding"], &own);
    let headers = ["math.h", "stddef.h", "stdint.h", "sys/types.h", "time.h", "wchar.h"];
    let headers = headers.iter().map(|name| format!("#include <{name}>\n")).collect::<String>();
    let wide = ["long double", "__float128", "_Float16", "_Complex float", "_Complex double", "unsigned __int128"];
    let others = wide.iter().copied().chain(integer_names()).chain(["float_t", "double_t", "_Float32", "_Float64"]);
    let others = others.filter(|name| !name.starts_with("omp_")).map(assertions).collect::<String>();
    compiles("x86_64-pc-linux-gnu", &[], &format!("{headers}{own}{others}"));
}
