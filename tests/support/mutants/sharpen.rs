//! Makes a generated program show more of what it does, before the tool sees it: what it prints only at its end, later loops
//! may have overwritten, and a condition that always holds hides its other branch.
//!
//! - Its arrays and scalars are printed after each target region, static arrays with the elements that no loop reaches.
//! - Each element that a loop writes leaves a trace in an array of its own, `seen_a`, which nothing overwrites.
//! - So does the number that decides whether it is written.
//! - What an update is to bring back from the device is first made something else on the host.
//! - Where arrays are on the device before, the host's elements at their ends become others than the device's.
//! - Scalars take values that tell each of their states: `count` in its last bits, logical sums either way.
//! - `k` depends on `n`, so that conditions on it go every way.

use std::collections::BTreeSet;
use std::ops::Range;

use ompsplit::validate::host::directives::{closing, directives, is_kernel, words};

use super::edited;
use super::statements::{line_start, statement};
use crate::support::generator::Case;

type Edit = (Range<usize>, String);

/// An array that the program prints: `check("b", b - 4, (n) * sizeof(int));`
struct Shown {
    name: String,
    /// The argument that points to its first element.
    first: String,
    /// The whole statement.
    statement: String,
}

/// The program of `text` that shows more.
pub fn sharpened(text: &str, tag: &str) -> String {
    let part = Case::part(text);
    let shown = shown(part);
    let traced = traces(part, &shown, tag);
    let mut edits = trace_edits(part, &shown, &traced, tag);
    edits.extend(marks(part, &shown, &traced));
    edits.extend(listed_traces(part, &shown, tag));
    edits.extend(changed_ends(part, &shown));
    edits.extend(lines(part).filter_map(|(at, line)| changed_line(part, at, line)));
    edits.extend(settled_conditions(part));
    let declared: String = traced.iter().map(|name| format!("static unsigned {name}[13000];\n")).collect();
    text.replacen(part, &format!("{declared}{}", edited(part, edits)), 1)
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        at += line.len();
        (at - line.len(), line.trim_end())
    })
}

fn shown(text: &str) -> Vec<Shown> {
    let read = |line: &str| {
        let (name, rest) = line.trim().strip_prefix("check(\"")?.split_once("\", ")?;
        let (first, _) = rest.split_once(", ")?;
        let is_static = text.lines().any(|line| !line.starts_with(' ') && line.ends_with(&format!(" {name}[13000];")));
        let statement = if is_static && first == name {
            format!("check(\"{name}\", {name}, sizeof {name});")
        } else {
            line.trim().to_owned()
        };
        Some(Shown { name: name.to_owned(), first: first.to_owned(), statement })
    };
    text.lines().filter_map(read).collect()
}

/// What the function prints of its scalars behind a place.
fn printed_behind(text: &str, at: usize) -> String {
    let rest = text.get(at..).unwrap_or_default();
    let function = rest.split_once("\n}").map_or(rest, |(inside, _)| inside);
    let lines =
        function.lines().map(str::trim).filter(|line| line.starts_with("printf(\"") && line.contains("\\n\", ("));
    lines.map(|line| format!("\n    {line}")).collect()
}

/// Prints after each target region, behind the `taskwait` of a deferred one.
fn marks(text: &str, shown: &[Shown], traced: &BTreeSet<String>) -> Vec<Edit> {
    let found = directives(text.as_bytes());
    let all = |kernel: &Range<usize>| {
        let said = words(text.as_bytes(), kernel);
        let mut end = statement(text, kernel.end).end;
        if said.contains(" nowait") {
            let wait = found.iter().find(|d| d.start >= end && words(text.as_bytes(), d) == "taskwait")?;
            end = wait.end;
        }
        let arrays = shown.iter().map(|array| format!("\n    {}", array.statement));
        let traces = traced.iter().map(|name| format!("\n    check(\"{name}\", {name}, sizeof {name});"));
        let scalars = printed_behind(text, end);
        Some((end..end, arrays.chain(traces).collect::<String>() + &scalars + "\n    fprintf(stderr, \"-- mark\\n\");"))
    };
    found.iter().filter(|d| is_kernel(&words(text.as_bytes(), d))).filter_map(all).collect()
}

/// Before each target region of a program whose arrays are present then.
fn changed_ends(text: &str, shown: &[Shown]) -> Vec<Edit> {
    let found = directives(text.as_bytes());
    let said = |d: &Range<usize>| words(text.as_bytes(), d);
    let first =
        found.iter().find(|d| ["target data", "target enter data"].iter().any(|name| said(d).starts_with(name)));
    let Some(first) = first else { return Vec::new() };
    let mut ends = String::new();
    for array in shown.iter().filter(|array| !array.name.contains('.') && !array.first.contains("box")) {
        let name = &array.name;
        let constant = text.lines().any(|line| line.contains("static void work") && is_const(line, name));
        let length = array.statement.split_once(", (").and_then(|(_, rest)| rest.split(") * ").next()).unwrap_or("n");
        let low = if array.first.ends_with(" - 4") { " - 4" } else { "" };
        if !constant {
            ends.push_str(&format!("    {name}[0{low}] += 1;\n    {name}[{length} - 1{low}] += 1;\n"));
        }
    }
    let regions = found.iter().filter(|d| d.start > first.start && is_kernel(&said(d)));
    regions.map(|d| line_start(text, d.start)).map(|at| (at..at, ends.clone())).collect()
}

/// Is the parameter of this name a pointer to constants?
fn is_const(line: &str, name: &str) -> bool {
    let parameters = line.split(['(', ',', ')']).map(str::trim);
    parameters.into_iter().any(|p| p.starts_with("const ") && p.ends_with(&format!("*{name}")))
}

/// Conditions of the host within their own branches, where they hold always or never: others take their place.
fn settled_conditions(text: &str) -> Vec<Edit> {
    const CONDITIONS: &[&str] = &["if (n % 2) {", "if (k > 2) {", "if (m > 3 && k != 4) {"];
    // What stands around a line: conditions, and other blocks without one.
    let mut around: Vec<&str> = Vec::new();
    let mut left = "";
    let mut edits = Vec::new();
    for (at, line) in lines(text) {
        let trimmed = line.trim_start();
        let mut own = if trimmed == "else {" { left } else { trimmed };
        if let Some(other) = CONDITIONS.iter().find(|other| !around.contains(*other)).filter(|_| around.contains(&own))
        {
            let start = at + line.len() - trimmed.len();
            if trimmed != "else {" && CONDITIONS.contains(&own) {
                edits.push((start..at + line.len(), (*other).to_owned()));
                own = other;
            }
        }
        if trimmed.ends_with('{') {
            around.push(if CONDITIONS.contains(&own) { own } else { "" });
        } else if trimmed.starts_with('}') {
            left = around.pop().unwrap_or_default();
        }
    }
    edits
}

/// The scalars that loops of generated programs combine values into.
const SUMS: &[&str] = &["s", "z", "top", "s_value"];

/// What generated programs do to scalars, and what shows more of it.
const TELLING: &[(&str, &str)] = &[
    ("count = count * 2 + 1;", "count = count + 5;"),
    // Odd steps show in the last bits, which are all that loops read of it.
    ("last = last * 2 + ", "last = last + 5 + 2 * "),
    (" * 0.5 + 0.25;", " + 0.375;"),
    ("int top = 7;", "int top = n % 2 ? 7 : n % 3 ? 0 : 300;"),
    ("double z = 1.5;", "double z = n % 2 ? 99.5 : 1.5;"),
    ("long s = 7;", "long s = n % 2 ? 7 : 300;"),
    ("long s_value = 7;", "long s_value = n % 2 ? 7 : 300;"),
    ("& 255) != 300", "& 255) != 77"),
];

fn changed_line(text: &str, at: usize, line: &str) -> Option<Edit> {
    let trimmed = line.trim_start();
    if let Some(value) = trimmed.strip_prefix("int k = ").and_then(|rest| rest.strip_suffix(';')?.parse::<i32>().ok()) {
        let other = if value > 2 { 1 + value % 2 } else { value + 2 };
        let third = if value == 3 || other == 3 { 4 } else { 3 };
        return Some((at..at + line.len(), format!("    int k = n % 2 ? {other} : n % 3 ? {value} : {third};")));
    }
    if let Some(item) = trimmed.strip_prefix("#pragma omp target update from(").and_then(|rest| rest.strip_suffix(')'))
    {
        let (name, section) = item.split_once('[').unwrap_or((item, ""));
        let (low, length) = section.trim_end_matches(']').split_once(':').unwrap_or(("0", ""));
        let length =
            if length.is_empty() { format!("(int)(sizeof {name} / sizeof *{name})") } else { length.to_owned() };
        return Some((at..at, format!("    for (int e = 0; e < {length}; e++) {name}[e + {low}] = 77;\n")));
    }
    if let Some(name) = trimmed.strip_prefix("#pragma omp target update to(").and_then(|rest| rest.strip_suffix(')'))
        && !name.contains('[')
    {
        let rest = format!("e < (int)(sizeof {name} / sizeof *{name})");
        return Some((at..at, format!("    for (int e = n * m; {rest}; e++) {name}[e] = e % 50 + 1;\n")));
    }
    if let Some(extreme) = extreme(line) {
        return Some((at..at + line.len(), extreme));
    }
    for (old, new) in TELLING {
        if line.contains(old) {
            return Some((at..at + line.len(), line.replace(old, new)));
        }
    }
    if let Some(number) = trimmed.strip_prefix("if ((").and_then(|rest| rest.strip_suffix(") % 3 == 1) {"))
        && number.parse::<u32>().is_ok()
        && !text.contains("default(none)")
    {
        return Some((at..at + line.len(), line.replacen(number, &format!("{number} + n"), 1)));
    }
    if trimmed.ends_with(';') && trimmed.contains("] = (i * ") {
        // No element is zero, as what stands before a block of memory may be.
        // Of some the upper bits must be cut off.
        return Some((at..at + line.len(), line.replacen(") % ", " + 22) % ", 1).replace(" % 1000;", " % 3001;")));
    }
    if let Some(rest) = trimmed.strip_prefix("check(\"") {
        let name = rest.split('"').next().unwrap_or_default();
        let array = shown(text).into_iter().find(|array| array.name == name)?;
        return Some((at..at + line.len(), format!("    {}", array.statement)));
    }
    None
}

/// What combines a least or greatest value into a scalar, with values that are less or greater than what it may have been before.
fn extreme(line: &str) -> Option<String> {
    SUMS.iter().find_map(|name| {
        let least = line.split_once(&format!(" < {name}) {name} = "));
        if let Some((test, value)) = least.and_then(|(test, rest)| Some((test, rest.strip_suffix(';')?))) {
            return Some(format!("{test} - 300 < {name}) {name} = {value} - 300;"));
        }
        let (front, rest) = line.split_once(&format!("{name} = {name} > "))?;
        let (value, again) = rest.split_once(&format!(" ? {name} : "))?;
        let again = again.strip_suffix(';').filter(|again| *again == value)?;
        Some(format!("{front}{name} = {name} > {again} + 100000000 ? {name} : {value} + 100000000;"))
    })
}

/// The arrays of traces.
fn traces(text: &str, shown: &[Shown], tag: &str) -> BTreeSet<String> {
    writes(text, shown).into_iter().map(|(array, _, _)| trace_name(&shown[array].name, tag)).collect()
}

/// Where a directive lists what its loop shares, the traces stand in the list too.
fn listed_traces(text: &str, shown: &[Shown], tag: &str) -> Vec<Edit> {
    let writes = writes(text, shown);
    let edit = |directive: &Range<usize>| {
        let list = directive.start + text.get(directive.clone())?.find(" shared(")? + " shared(".len();
        let inside = statement(text, directive.end);
        let traced = writes.iter().filter(|(_, _, place)| inside.contains(&place.start));
        let names: BTreeSet<String> = traced.map(|(array, _, _)| trace_name(&shown[*array].name, tag)).collect();
        let names: String = names.iter().map(|name| format!("{name}, ")).collect();
        Some((list..list, names))
    };
    let found = directives(text.as_bytes());
    found.iter().filter(|d| words(text.as_bytes(), d).contains("default(none)")).filter_map(edit).collect()
}

fn trace_name(name: &str, tag: &str) -> String {
    if name.ends_with(tag) { format!("seen_{name}") } else { format!("seen_{name}{tag}") }
}

fn trace_edits(text: &str, shown: &[Shown], traced: &BTreeSet<String>, tag: &str) -> Vec<Edit> {
    let edit = |(array, index, range): (usize, String, Range<usize>)| {
        let array = &shown[array];
        let trace = trace_name(&array.name, tag);
        let place = if array.first.ends_with(" - 4") { format!("{index} + 4") } else { index.clone() };
        let old = text.get(range.clone()).unwrap_or_default();
        let value = format!("(unsigned)(long)({}[{index}] * 4)", array.name);
        (range, format!("{{ {old} {trace}[{place}] = {trace}[{place}] * 3 + {value}; }}"))
    };
    let writes = if traced.is_empty() { Vec::new() } else { writes(text, shown) };
    let decided = decided(text, shown, &writes, tag);
    writes.into_iter().map(edit).chain(decided).collect()
}

/// Before each condition of a write in a block: its number, `x` in `if ((x) % 3 == 1) {`, goes to the trace.
fn decided(text: &str, shown: &[Shown], writes: &[(usize, String, Range<usize>)], tag: &str) -> Vec<Edit> {
    let lines: Vec<(usize, &str)> = lines(text).collect();
    let edit = |three: &[(usize, &str)]| {
        let [(_, before), (at, line), (next, write)] = three else { return None };
        let number = line.trim_start().strip_prefix("if ((")?.strip_suffix(") % 3 == 1) {")?;
        let start = next + write.len() - write.trim_start().len();
        let (array, index, _) = writes.iter().find(|(_, _, range)| range.start == start)?;
        let trace = trace_name(&shown[*array].name, tag);
        let place = if shown[*array].first.ends_with(" - 4") { format!("{index} + 4") } else { index.clone() };
        let indent = line.len() - line.trim_start().len();
        let traced = format!("{:indent$}{trace}[{place}] = {trace}[{place}] * 5 + (unsigned)({number});\n", "");
        before.trim_end().ends_with(['{', ';', '}']).then_some((*at..*at, traced))
    };
    lines.windows(3).filter_map(edit).collect()
}

/// Each line of a parallel loop that assigns to an element: the array, the index, the statement.
fn writes(text: &str, shown: &[Shown]) -> Vec<(usize, String, Range<usize>)> {
    let found = directives(text.as_bytes());
    let is_loop = |d: &&Range<usize>| {
        let said = words(text.as_bytes(), d);
        let names = said.split('(').next().unwrap_or_default();
        names.split(' ').any(|word| matches!(word, "for" | "simd" | "loop" | "distribute"))
    };
    let loops: Vec<Range<usize>> = found.iter().filter(is_loop).map(|d| statement(text, d.end)).collect();
    let mut before = "";
    let mut all = Vec::new();
    for (at, line) in lines(text) {
        let start = at + line.len() - line.trim_start().len();
        let guarded = before.contains("#pragma omp atomic") || before.contains("#pragma omp critical");
        before = line;
        let inside = loops.iter().any(|range| range.contains(&start) && line_start(text, range.start) <= at);
        if !inside || guarded || !line.ends_with(';') {
            continue;
        }
        let trimmed = line.trim_start();
        let assigned = shown
            .iter()
            .position(|array| trimmed.strip_prefix(array.name.as_str()).is_some_and(|rest| rest.starts_with('[')));
        let Some(array) = assigned else { continue };
        let open = shown[array].name.len();
        let close = closing(trimmed.as_bytes(), open, b'[', b']');
        let Some(index) = trimmed.get(open + 1..close) else { continue };
        let rest = trimmed.get(close + 1..).unwrap_or_default().trim_start();
        if rest.starts_with("= ") || rest.starts_with("+= ") {
            all.push((array, index.to_owned(), start..at + line.len()));
        }
    }
    all
}
