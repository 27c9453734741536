//! How fast files are read: the byte scan, and the host tree against the bare parser.
//!
//! `cargo bench --bench speed`. The texts are made here, so that the figures can be had anywhere.

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use ompsplit::engine::{self, Options};
use ompsplit::source::{SourceFile, Span, may_hold_directives, scan};
use ompsplit::syntax::host::parse_expression;
use ompsplit::syntax::{HostTree, Limits};

/// A C file of `functions` functions in the manner of a numerical program; every `pragma_every`-th has directives.
fn program(functions: usize, pragma_every: Option<usize>) -> Vec<u8> {
    let mut text = String::from("#include <stdio.h>\n#include <stdlib.h>\n\n#define N 1024\n\n");
    for i in 0..functions {
        let has_pragma = pragma_every.is_some_and(|every| i % every == 0);
        let pragma = if has_pragma {
            "#pragma omp target teams distribute parallel for map(tofrom: a[0:n]) \\\n    map(to: b[0:n])\n"
        } else {
            ""
        };
        let _ = write!(
            text,
            "/* Adds the scaled neighbours of each element of b to a; the border stays as it is. */\n\
             static void step_{i}(double *a, const double *b, int n, double factor) {{\n\
             {pragma}    for (int i = 1; i < n - 1; i++) {{\n\
             \x20       double left = b[i - 1], right = b[i + 1]; // the two neighbours\n\
             \x20       if (left > right && factor != 0.0) a[i] += factor * (left + right) / 2.0;\n\
             \x20       else a[i] = b[i];\n    }}\n\
             \x20   printf(\"step {i}: %f at '%c'\\n\", a[0], 'x');\n}}\n\n"
        );
    }
    text.into_bytes()
}

fn scanning(c: &mut Criterion) {
    let mut group = c.benchmark_group("scan");
    for (name, text) in [("no pragmas", program(4000, None)), ("pragmas", program(4000, Some(4)))] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |b| b.iter(|| scan(black_box(&text))));
        group.bench_function(format!("{name}, may hold directives"), |b| {
            b.iter(|| may_hold_directives(black_box(&text)))
        });
    }
    let mut operators = program(4000, None);
    operators.extend_from_slice(b"void f(void) { _Pragma(\"omp barrier\") }\n");
    group.bench_function("words looked at", |b| b.iter(|| scan(black_box(&operators))));
    group.finish();
}

fn parsing(c: &mut Criterion) {
    let mut group = c.benchmark_group("parse");
    let file = SourceFile::new("program.c", program(1000, Some(4)));
    let found = scan(&file.text);
    let masked = ompsplit::source::pragma_scan::mask(&file.text, &found.masked);
    group.throughput(Throughput::Bytes(file.text.len() as u64));
    group.sample_size(20);
    group.bench_function("tree-sitter alone", |b| {
        b.iter(|| {
            let mut parser = tree_sitter::Parser::new();
            let is_set = parser.set_language(&tree_sitter_c::LANGUAGE.into());
            is_set.ok().and_then(|()| parser.parse(black_box(&masked), None))
        });
    });
    group.bench_function("host tree", |b| b.iter(|| HostTree::parse(&file, &found, &Limits::default())));
    group.bench_function("scan and host tree", |b| {
        b.iter(|| HostTree::parse(&file, &scan(&file.text), &Limits::default()));
    });
    group.finish();
}

fn asking(c: &mut Criterion) {
    let mut group = c.benchmark_group("ask");
    let file = SourceFile::new("program.c", program(1000, Some(4)));
    let found = scan(&file.text);
    let Ok(tree) = HostTree::parse(&file, &found, &Limits::default()) else { return };
    let starts: Vec<usize> = found.directives.iter().map(|d| d.span.end + 5).collect();
    group.bench_function("statement at", |b| b.iter(|| starts.iter().filter_map(|at| tree.statement_at(*at)).count()));
    let expression = file.text.windows(5).position(|w| w == b"left ").map_or(0, |at| at + 7);
    let span = Span::new(expression, expression + 8);
    group.bench_function("expression in place", |b| {
        b.iter_batched(|| span, |span| parse_expression(&file, span, file.language), BatchSize::SmallInput);
    });
    group.finish();
}

/// What a file's regions of two loops are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Regions {
    /// A kernel on the full grid inside a `target data`: nothing is left to do.
    Done,
    /// Two of them without the `target data`.
    Copying,
    /// One target region that splits.
    OneTeam,
}

/// A C file of `functions` functions of which every fourth has such regions.
fn regions(functions: usize, of: Regions) -> Vec<u8> {
    let mut text = String::from_utf8(program(functions - functions / 4, None)).unwrap_or_default();
    for i in 0..functions / 4 {
        let written =
            "#pragma omp target teams distribute parallel for thread_limit(128) map(tofrom: a[0:n]) map(to: b[0:n])\n";
        let (open, inner, close) = match of {
            Regions::Done => {
                ("#pragma omp target data map(tofrom: a[0:n]) map(to: b[0:n])\n    {\n", written, "    }\n")
            }
            Regions::Copying => ("", written, ""),
            Regions::OneTeam => (
                "#pragma omp target map(tofrom: a[0:n]) map(to: b[0:n])\n    {\n",
                "#pragma omp parallel for\n",
                "    }\n",
            ),
        };
        let second = match of {
            Regions::Done => String::new(),
            _ => format!("{inner}    for (int i = 0; i < n; i++) a[i] = a[i] * a[i] + b[i];\n"),
        };
        let _ = write!(
            text,
            "/* Loops over the same vectors. */\nstatic void pair_{i}(double *a, const double *b, int n, double factor) {{\n\
             {open}{inner}    for (int i = 0; i < n; i++) a[i] += factor * b[i];\n\
             {second}{close}}}\n\n"
        );
    }
    text.into_bytes()
}

/// The whole way, against the bare parser on the same text: the bar is 1.5 times and 2 ms where nothing changes, and 4
/// times where something does.
fn rewriting(c: &mut Criterion) {
    let mut group = c.benchmark_group("rewrite");
    group.sample_size(20);
    let texts = [("nothing changes", Regions::Done), ("hoists", Regions::Copying), ("splits", Regions::OneTeam)];
    for (name, of) in texts {
        let text = regions(1000, of);
        let file = SourceFile::new("program.c", text);
        let masked = ompsplit::source::pragma_scan::mask(&file.text, &scan(&file.text).masked);
        group.throughput(Throughput::Bytes(file.text.len() as u64));
        group.bench_function(format!("{name}, tree-sitter alone"), |b| {
            b.iter(|| {
                let mut parser = tree_sitter::Parser::new();
                let is_set = parser.set_language(&tree_sitter_c::LANGUAGE.into());
                is_set.ok().and_then(|()| parser.parse(black_box(&masked), None))
            });
        });
        let options = Options::default();
        group.bench_function(name, |b| b.iter(|| engine::run(black_box(&file), &[], &options)));
    }
    group.finish();
}

criterion_group!(benches, scanning, parsing, asking, rewriting);
criterion_main!(benches);
