//! Reads the directives of whole collections of programs and compares their clauses with those that clang finds.
//!
//! The collections are not part of this repository; name folders of OpenMP programs (OpenMP_VV, the specification's examples)
//! and run
//!
//! ```text
//! cargo run --release --example collections -- DIR DIR
//! ```

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a check fails by panicking, and this one prints figures"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use ompsplit::source::{SourceFile, Spelling, scan};
use ompsplit::syntax::Directive;
use ompsplit::syntax::lower::DirectiveReader;
use rayon::prelude::*;

/// At least this many of a thousand directives must be read right.
const REQUIRED: usize = 999;

const NOT_RIGHT: &str = "are not right";

fn main() {
    directives_read_without_problems();
    clauses_are_those_that_clang_finds();
}

fn directives_read_without_problems() {
    check("directives read", |path, _| problems(path));
}

fn clauses_are_those_that_clang_finds() {
    check("directives compared with clang's", compare);
}

/// Looks at every program and prints the figures; fails where a collection has too few directives that are right.
fn check(what: &str, look: impl Fn(&Path, &Path) -> Findings + Sync) {
    let mut short = Vec::new();
    for root in collections() {
        let results: Vec<_> = programs(&root).par_iter().map(|path| look(path, &root)).collect();
        let all: usize = results.iter().map(|found| found.directives).sum();
        let print = |kind: &str, one: fn(&Findings) -> &Vec<String>| {
            let lines: Vec<_> = results.iter().flat_map(one).collect();
            if kind == NOT_RIGHT || !lines.is_empty() {
                println!("{}: of {all} {what}, {} {kind}", root.display(), lines.len());
            }
            lines.iter().for_each(|line| println!("  {line}"));
            lines.len()
        };
        let wrong = print(NOT_RIGHT, |found| &found.wrong);
        print("have a clause that the table does not permit there", |found| &found.against_table);
        print("more are not compared", |found| &found.rejected);
        if all == 0 || (all - wrong.min(all)) * 1000 < all * REQUIRED {
            short.push(root);
        }
    }
    assert!(short.is_empty(), "less than {REQUIRED} of 1000 directives are right in {short:?}");
}

/// What one program shows.
#[derive(Default)]
struct Findings {
    directives: usize,
    wrong: Vec<String>,
    /// Not wrong: the program may be, or use what the tables do not hold.
    against_table: Vec<String>,
    /// Not compared: clang reports an error there.
    rejected: Vec<String>,
}

/// The folders that the arguments name.
fn collections() -> Vec<PathBuf> {
    let folders: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    assert!(!folders.is_empty(), "name the folders of the collections");
    folders
}

fn programs(root: &Path) -> Vec<PathBuf> {
    let endings = ["c", "cpp", "cc", "cxx", "h", "hpp"];
    let is_program = |path: &Path| path.extension().and_then(|e| e.to_str()).is_some_and(|e| endings.contains(&e));
    let walk = ignore::WalkBuilder::new(root).standard_filters(false).build();
    let mut found: Vec<_> = walk.flatten().map(ignore::DirEntry::into_path).filter(|path| is_program(path)).collect();
    found.sort();
    found
}

fn read(path: &Path) -> (SourceFile, Vec<Directive>) {
    let file = SourceFile::new(path, std::fs::read(path).unwrap());
    let mut reader = DirectiveReader::new();
    let texts = scan(&file.text).directives;
    // What a macro says is not in the text: it has no name or clause to compare.
    let known = texts.iter().filter(|text| text.spelling != Spelling::Macro && text.body.is_some());
    let directives = known.map(|text| reader.read(&file, text)).collect();
    (file, directives)
}

fn problems(path: &Path) -> Findings {
    let (file, directives) = read(path);
    let mut found = Findings { directives: directives.len(), ..Findings::default() };
    for directive in &directives {
        if directive.spec.is_none() {
            found.wrong.push(describe(&file, directive, "unknown directive"));
            continue;
        }
        if let Some(problem) = directive.problems.first() {
            let text = format!("problem at `{}`", file.show(*problem));
            found.wrong.push(describe(&file, directive, &text));
        }
        if let Some(clause) = directive.misplaced_clauses().next() {
            let text = format!("`{}` on `{}`", file.show(clause.name_span), directive.name);
            found.against_table.push(describe(&file, directive, &text));
        }
    }
    found
}

fn describe(file: &SourceFile, directive: &Directive, problem: &str) -> String {
    let at = file.lines.line_column(directive.span.start);
    let text: String = file.show(directive.span).split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}:{}: {problem}\n      {text}", file.path.display(), at.line)
}

/// A directive's name and its clauses' names in order, in letters alone, as clang's node names give them.
type Names = (String, Vec<String>);

/// Compares the directives of a program that clang's syntax tree has, too.
fn compare(path: &Path, root: &Path) -> Findings {
    let (file, directives) = read(path);
    let mut found = Findings::default();
    if path.extension().is_some_and(|e| e == "h" || e == "hpp") || directives.is_empty() {
        return found;
    }
    let (of_clang, errors) = clang(path, root);
    for directive in &directives {
        let line = |offset| file.lines.line_column(offset).line;
        let (first, last) = (line(directive.span.start), line(directive.span.end));
        let Some(there) = of_clang.get(&first) else { continue };
        let here = names(&file, directive);
        // A metadirective has no node: what it selects has.
        if here.0 == "metadirective" {
            continue;
        }
        // A clause that clang rejects is missing in its tree.
        if errors.range(first..=last).next().is_some() {
            found.rejected.push(describe(&file, directive, "clang rejects it"));
            continue;
        }
        found.directives += 1;
        if !there.contains(&here) && !is_lowered_loop(&here, there) {
            found.wrong.push(describe(&file, directive, &format!("{here:?} here, in clang {there:?}")));
        }
    }
    found
}

/// Is it a `loop` construct, which clang's tree shows as the construct that its binding makes of it?
fn is_lowered_loop(here: &Names, there: &BTreeSet<Names>) -> bool {
    let unbound: Vec<_> = here.1.iter().filter(|clause| *clause != "bind").collect();
    let same = |(name, clauses): &Names| {
        matches!(name.as_str(), "for" | "distribute" | "simd") && clauses.iter().eq(unbound.iter().copied())
    };
    here.0 == "loop" && there.iter().any(same)
}

fn names(file: &SourceFile, directive: &Directive) -> Names {
    let name = directive.name.replace(' ', "");
    let letters = |span| file.show(span).replace('_', "").to_lowercase();
    let mut clauses: Vec<_> = directive.clauses.iter().map(|clause| letters(clause.name_span)).collect();
    // In clang's tree the construct that `cancel` names is no clause, and the lists of `flush` and `depobj` are clauses.
    if name.starts_with("cancel") {
        clauses.retain(|clause| clause == "if");
    }
    if directive.argument.is_some() && matches!(name.as_str(), "flush" | "depobj") {
        clauses.push(name.clone());
    }
    clauses.sort();
    (name, clauses)
}

/// The directives of clang's syntax tree by the line that they start in (a template has one for each instance), and the
/// lines that clang could not read to their end.
fn clang(path: &Path, root: &Path) -> (BTreeMap<usize, BTreeSet<Names>>, BTreeSet<usize>) {
    let mut command = Command::new("clang-19");
    command.args([
        "-fopenmp",
        "-fopenmp-version=52",
        "-fsyntax-only",
        "-Wno-everything",
        "-Wextra-tokens",
        "-ferror-limit=0",
        "-Xclang",
        "-ast-dump",
    ]);
    command.args(["-fno-color-diagnostics", "-fno-caret-diagnostics", "-D_GNU_SOURCE"]);
    let output = command.args(include_folders(path, root)).arg(path).output().expect("clang-19 must be installed");
    let name = path.to_string_lossy();
    let messages = String::from_utf8_lossy(&output.stderr);
    if messages.contains(" fatal error: ") {
        // Behind a header that it does not find, clang drops clauses without a message.
        return (BTreeMap::new(), BTreeSet::new());
    }
    let line = |message: &str| {
        let rest = message.strip_prefix(name.as_ref())?.strip_prefix(':')?;
        (rest.contains(" error: ") || rest.contains("-Wextra-tokens"))
            .then(|| rest.split(':').next()?.parse().ok())
            .flatten()
    };
    (nodes(&String::from_utf8_lossy(&output.stdout), &name), messages.lines().filter_map(line).collect())
}

/// `-I` for the folders above a file up to the collection's root, and for those in them that hold headers.
fn include_folders(path: &Path, root: &Path) -> Vec<String> {
    let above = path.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    let mut found = Vec::new();
    for folder in above {
        found.push(format!("-I{}", folder.display()));
        let inside = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let names = ["include", "inc", "ompvv", "src", "utils", "common", "utilities"];
        let by_name = |p: &PathBuf| p.file_name().and_then(|n| n.to_str()).is_some_and(|n| names.contains(&n));
        found.extend(inside.filter(|p| p.is_dir() && by_name(p)).map(|p| format!("-I{}", p.display())));
    }
    found
}

/// Reads the directive and clause nodes of a dumped tree; a clause follows its directive, one level deeper.
fn nodes(dump: &str, path: &str) -> BTreeMap<usize, BTreeSet<Names>> {
    let mut place = Place::default();
    let mut open: Vec<(usize, usize, Names)> = Vec::new();
    let mut found: BTreeMap<usize, BTreeSet<Names>> = BTreeMap::new();
    let mut close = |line: usize, (name, mut clauses): Names| {
        clauses.sort();
        found.entry(line).or_default().insert((name, clauses));
    };
    for text in dump.lines() {
        let depth = text.find(|c: char| c.is_ascii_alphabetic() || c == '<').unwrap_or(text.len());
        let node = text.get(depth..).unwrap_or_default();
        let kind = node.split(' ').next().unwrap_or_default();
        let start = place.read(node);
        while let Some((line, _, names)) = open.pop_if(|(_, above, _)| *above >= depth) {
            close(line, names);
        }
        if let Some(name) = letters(kind, "Directive")
            && start.file == path
        {
            open.push((start.line, depth, (name, vec![])));
        } else if let (Some(name), Some((_, above, names))) = (letters(kind, "Clause"), open.last_mut())
            && *above + 2 == depth
            && !node.contains("<implicit>")
        {
            names.1.push(name);
        }
    }
    open.into_iter().for_each(|(line, _, names)| close(line, names));
    found
}

/// `OMPNumTeamsClause` and `Clause` give `numteams`.
fn letters(kind: &str, ending: &str) -> Option<String> {
    let name = kind.strip_prefix("OMP")?.strip_suffix(ending)?.replace("Generic", "").replace('_', "");
    Some(if name.starts_with('X') { format!("omp{name}") } else { name }.to_lowercase())
}

/// Where clang's dump is: it names a file and a line only where they change.
#[derive(Clone, Default)]
struct Place {
    file: String,
    line: usize,
}

impl Place {
    /// Follows the places of one node, `<begin, end> place`; returns where the node begins.
    fn read(&mut self, node: &str) -> Self {
        let range = node.find('<').and_then(|at| node.get(at + 1..)).unwrap_or_default();
        let (range, behind) = range.split_once('>').unwrap_or((range, ""));
        let mut begin = None;
        for part in range.split(", ").chain(behind.split_whitespace().take(1)) {
            self.step(part);
            begin.get_or_insert_with(|| self.clone());
        }
        begin.unwrap_or_default()
    }

    fn step(&mut self, part: &str) {
        let fields: Vec<&str> = part.rsplitn(3, ':').collect();
        if let [_, line, file] = fields.as_slice()
            && let Ok(line) = line.parse()
        {
            self.line = line;
            if *file != "line" {
                (*file).clone_into(&mut self.file);
            }
        }
    }
}
