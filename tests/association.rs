//! The statement that each directive is associated with is the one that clang finds.
//!
//! Where macros or `#if` hide what a construct is, clang gets the texts that the tool reads in their place.
//! Over all fixtures; over the C and C++ files of another folder instead, and with the figures printed, by
//! `OMPSPLIT_COLLECTION=DIR cargo test --test association -- --nocapture`.

#![expect(clippy::panic, clippy::expect_used, reason = "a test without its input or its compiler has failed")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ompsplit::engine::{self, Options};
use ompsplit::region::association::associate;
use ompsplit::region::construct::ConstructTree;
use ompsplit::source::{LineColumn, SourceFile, Span, Spelling, scan};
use ompsplit::syntax::lower::DirectiveReader;
use ompsplit::syntax::{HostTree, Limits};
use rayon::prelude::*;

/// The compiler that the figures were taken with.
const CLANG: &str = "clang-19";

#[test]
fn association_agrees_with_clang() {
    let fixtures = || Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let folder = std::env::var_os("OMPSPLIT_COLLECTION").map_or_else(fixtures, PathBuf::from);
    let report = compare_all(&sources(&folder));
    println!("{} of {} directives agree", report.agreeing, report.agreeing + report.differing.len());
    println!("{} more have a doubt and differ, {} were not comparable", report.doubted, report.skipped);
    assert!(report.agreeing > 50, "only {} directives were compared", report.agreeing);
    assert!(report.differing.is_empty(), "{}", report.differing.join("\n"));
}

/// What a comparison found.
#[derive(Default)]
struct Report {
    agreeing: usize,
    /// Where the two differ and no doubt was raised.
    differing: Vec<String>,
    /// Where they differ and a doubt keeps the construct from being touched.
    doubted: usize,
    /// Directives that clang does not show: declarative, inactive, from a macro.
    skipped: usize,
}

impl Report {
    fn with(mut self, other: Self) -> Self {
        self.agreeing += other.agreeing;
        self.differing.extend(other.differing);
        self.doubted += other.doubted;
        self.skipped += other.skipped;
        self
    }
}

fn compare_all(files: &[PathBuf]) -> Report {
    let reports: Vec<Report> = files.par_iter().map(|path| compare(path)).collect();
    reports.into_iter().fold(Report::default(), Report::with)
}

/// The C and C++ files of a folder, in order.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let is_source = |path: &Path| {
        path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| ["c", "cpp", "cc"].contains(&ending))
    };
    let walk = ignore::WalkBuilder::new(folder).standard_filters(false).sort_by_file_path(Path::cmp).build();
    walk.filter_map(|entry| entry.ok().map(ignore::DirEntry::into_path)).filter(|path| is_source(path)).collect()
}

fn compare(path: &Path) -> Report {
    let text = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file = SourceFile::new(path, text);
    if scan(&file.text).directives.is_empty() {
        return Report::default();
    }
    let texts = engine::texts(&file, &[], &Options::default());
    let texts = texts.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    texts.iter().map(|text| compare_text(text, &file)).fold(Report::default(), Report::with)
}

/// Compares one of the texts that a file is read as.
fn compare_text(text: &SourceFile, original: &SourceFile) -> Report {
    let path = original.path.as_path();
    if text.text == original.text {
        return compare_with(text, &associated_by_clang(path, path));
    }
    let ending = path.extension().map_or_else(String::new, |ending| format!(".{}", ending.to_string_lossy()));
    let read = tempfile::Builder::new().suffix(&ending).tempfile().expect("a file can be made");
    std::fs::write(read.path(), &text.text).expect("a file can be written");
    compare_with(text, &associated_by_clang(read.path(), path))
}

fn compare_with(file: &SourceFile, clang: &Bodies) -> Report {
    let mut report = Report::default();
    let path = file.path.as_path();
    let scan = scan(&file.text);
    let tree =
        HostTree::parse(file, &scan, &Limits::default()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = DirectiveReader::new();
    let directives = scan.directives.iter().map(|directive| reader.read(file, directive)).collect();
    let constructs = associate(file, &scan, &tree, directives);
    let starts = directive_lines(file, &constructs);
    for construct in &constructs.constructs {
        let directive = &constructs.directives[construct.directive];
        let at = file.lines.line_column(directive.span.start);
        let Some(theirs) = clang.get(&at.line).filter(|_| directive.spelling == Spelling::Pragma) else {
            report.skipped += 1;
            continue;
        };
        let ours = construct.body.map(|_| lines(file, construct.body_span));
        // What clang invents for a stand-alone directive lies within the directive.
        let end = file.lines.line_column(directive.span.end).line;
        let theirs =
            theirs.filter(|(first, _)| first.line > end).map(|(first, last)| (first, far_end(&starts, clang, last)));
        let agree = match (ours, theirs) {
            (None, None) => true,
            // A macro's last token stands where the macro is defined.
            (Some(ours), Some((first, last))) if last < first => ours.0 == first.line,
            (Some(ours), Some((first, last))) => {
                ours.0 == first.line && (ours.1 == last.line || ends_at(file, construct.body_span, last))
            }
            // A section that begins with another directive is no single statement: only its extent is known.
            (None, Some((_, last))) => directive.is("section") && lines(file, construct.body_span).1 == last.line,
            _ => false,
        };
        if agree {
            report.agreeing += 1;
        } else if construct.doubt.is_some() {
            report.doubted += 1;
        } else {
            let name = &directive.name;
            report.differing.push(format!("{}:{}: {name}: {ours:?}, clang {theirs:?}", path.display(), at.line));
        }
    }
    report
}

/// For each line of a directive the line where the directive starts.
fn directive_lines(file: &SourceFile, constructs: &ConstructTree) -> BTreeMap<usize, usize> {
    let spans = constructs.directives.iter().map(|directive| lines(file, directive.span));
    spans.flat_map(|(first, last)| (first..=last).map(move |line| (line, first))).collect()
}

/// Clang ends a statement whose last part is a directive's at the directive itself: goes on to the end of what that is
/// associated with.
fn far_end(starts: &BTreeMap<usize, usize>, clang: &Bodies, last: LineColumn) -> LineColumn {
    let mut last = last;
    while let Some((_, end)) = starts.get(&last.line).and_then(|start| *clang.get(start)?) {
        if end <= last {
            break;
        }
        last = end;
    }
    last
}

fn lines(file: &SourceFile, span: Span) -> (usize, usize) {
    let line = |at| file.lines.line_column(at).line;
    (line(span.start), line(span.end.saturating_sub(1)))
}

/// Does only the semicolon stand between clang's last token, whose line is given, and the end of a statement?
fn ends_at(file: &SourceFile, body: Span, last: LineColumn) -> bool {
    let next_line = file.lines.line_start(last.line + 1).unwrap_or(body.end);
    body.start < next_line && file.show(Span::new(next_line, body.end)).trim() == ";"
}

/// What clang's directives are associated with, by the line on which each starts.
type Bodies = BTreeMap<usize, Option<(LineColumn, LineColumn)>>;

/// For the line of each executable directive, from where to where clang's associated statement goes: the start of its
/// first and of its last token. Directives stacked above each other share the innermost one's. Headers are those of `place`.
fn associated_by_clang(path: &Path, place: &Path) -> Bodies {
    let mut command = Command::new(CLANG);
    command.args(["-fopenmp", "-fopenmp-version=52", "-fsyntax-only", "-w", "-Xclang", "-ast-dump"]);
    if path.extension().is_some_and(|ending| ending != "c") {
        command.arg("-std=c++17");
    }
    for folder in place.ancestors().skip(1).take(3) {
        command.arg("-I").arg(folder).arg("-I").arg(folder.join("ompvv"));
    }
    command.arg(path).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap_or_else(|error| {
        panic!("{CLANG} cannot be started ({error}): install the package `clang-19` (and `libomp-19-dev` for omp.h)")
    });
    let output = BufReader::new(child.stdout.take().expect("the output is piped"));
    let found = Dump::read(output, path);
    child.wait().expect("a process that was started can be waited for");
    found
}

/// Reads clang's dump of its syntax tree, in which a location leaves out the file and the line that it shares with the
/// one before.
struct Dump<'a> {
    main: &'a str,
    file: String,
    line: usize,
}

/// A directive whose associated statement has not been seen yet: how deep it stands, and its line.
type Pending = Option<(usize, LineColumn)>;

impl Dump<'_> {
    fn read(output: impl BufRead, path: &Path) -> Bodies {
        let main = path.to_string_lossy().into_owned();
        let mut dump = Dump { main: &main, file: String::new(), line: 0 };
        let mut bodies: BTreeMap<LineColumn, Option<(LineColumn, LineColumn)>> = BTreeMap::new();
        let mut pending: Pending = None;
        for line in output.split(b'\n') {
            let Ok(line) = line else { break };
            let line = String::from_utf8_lossy(&line);
            let depth = line.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(0);
            let (kind, rest) = line[depth..].split_once(' ').unwrap_or((&line[depth..], ""));
            let range = dump.range(rest);
            if let Some((directive_depth, directive)) = pending {
                if depth <= directive_depth {
                    pending = None;
                } else if depth == directive_depth + 2 && !kind.ends_with("Clause") {
                    bodies.insert(directive, range);
                    pending = None;
                }
            }
            let is_directive = kind.starts_with("OMP") && kind.ends_with("Directive");
            if let (true, Some((start, _))) = (is_directive, range) {
                bodies.entry(start).or_insert(None);
                pending = Some((depth, start));
            }
        }
        let resolved = bodies.iter().map(|(directive, body)| {
            let mut body = *body;
            let mut steps = 0;
            while let Some(inner) = body.and_then(|(start, _)| bodies.get(&start)).filter(|_| steps < 100) {
                // A directive that holds itself is clang's stand-in for one without a statement.
                if body.is_some_and(|(start, _)| start == *directive) {
                    break;
                }
                body = *inner;
                steps += 1;
            }
            (directive.line, body)
        });
        resolved.collect()
    }

    /// The range behind a node's kind, if both its ends lie in the main file.
    fn range(&mut self, rest: &str) -> Option<(LineColumn, LineColumn)> {
        let mut rest = rest;
        loop {
            let (word, behind) = rest.split_once(' ').unwrap_or((rest, ""));
            if word.starts_with('<') || !(word.starts_with("0x") || word == "prev" || word == "parent") {
                break;
            }
            rest = behind;
        }
        let inside = rest.strip_prefix('<')?;
        let mut ends = Vec::new();
        let mut at = 0;
        for part in inside.split_inclusive([',', '>']) {
            at += part.len();
            let is_nested = part.trim_start().starts_with('<');
            let text = part.trim().trim_end_matches([',', '>']);
            ends.push(self.location(text));
            if part.ends_with('>') && !is_nested {
                break;
            }
        }
        // The name's own location follows that of the whole declaration.
        let behind = inside.get(at..).unwrap_or("").trim_start();
        let word = behind.split(' ').next().unwrap_or("");
        if word.bytes().filter(|byte| *byte == b':').count() >= 1 {
            let _ = self.location(word);
        }
        Some(((*ends.first()?)?, (*ends.last()?)?))
    }

    /// One location, if it lies in the main file.
    fn location(&mut self, text: &str) -> Option<LineColumn> {
        let (before, column) = text.rsplit_once(':')?;
        let column = column.parse().ok()?;
        match before.rsplit_once(':') {
            None if before == "col" => {}
            Some(("line", line)) => self.line = line.parse().ok()?,
            Some((file, line)) => {
                self.line = line.parse().ok()?;
                file.clone_into(&mut self.file);
            }
            None => return None,
        }
        (self.file == self.main).then_some(LineColumn { line: self.line, column })
    }
}
