//! Operators on loops over tiles, as `pipeline` writes them: `parallel for num_threads(..)` around a loop whose body copies, computes
//! and copies back.

use std::ops::Range;

use super::statements::{line_start, statement};
use super::{Mutant, Operator, edited, mutant};
use ompsplit::validate::host::directives::{clauses, closing, directives, is_kernel, words};

type Edit = (Range<usize>, String);

/// A loop over tiles.
pub(super) struct Tiles {
    /// The statement behind the directive.
    body: Range<usize>,
    /// The directives in it.
    inside: Vec<Range<usize>>,
    /// From the directive of the data construct around it to the end of its statement.
    pub whole: Range<usize>,
}

/// The loops over tiles that an output has and its original has not.
pub(super) fn tiles(original: &str, output: &str) -> Vec<Tiles> {
    if original.contains("ompsplit_") {
        return Vec::new();
    }
    let found = directives(output.as_bytes());
    let is_head = |d: &&Range<usize>| words(output.as_bytes(), d).starts_with("parallel for num_threads(");
    let tiles = found.iter().filter(is_head).map(|head| {
        let body = statement(output, head.end);
        let inside = found.iter().filter(|d| body.contains(&d.start)).cloned().collect();
        let start = line_start(output, head.start);
        let data = found.iter().find(|d| statement(output, d.end).start == start + indent(output, start));
        let data = data.filter(|d| words(output.as_bytes(), d).starts_with("target data"));
        let whole = data.map_or(head.start, |d| d.start)..body.end;
        Tiles { body, inside, whole }
    });
    tiles.collect()
}

fn indent(text: &str, line: usize) -> usize {
    let rest = text.get(line..).unwrap_or_default();
    rest.len() - rest.trim_start().len()
}

/// Mutants of a loop over tiles.
pub(super) fn of_tiles(operator: &Operator, original: &str, text: &str, tiles: &Tiles) -> Vec<Mutant> {
    let one = |edit: Edit, what: String| mutant(operator, edited(text, vec![edit]), what);
    let all = |edits: Vec<(Edit, String)>| edits.into_iter().map(|(edit, what)| one(edit, what)).collect::<Vec<_>>();
    match operator.does.as_str() {
        "change-piece" => all(pieces(text, tiles).into_iter().filter_map(|p| p.changed(&operator.clause)).collect()),
        "drop-piece" => all(dropped(text, tiles)),
        "drop-modifier" => {
            let kernels = tiles.inside.iter().flat_map(|d| clauses(text.as_bytes(), d, "map"));
            let modifier = format!("{}, ", operator.clause);
            let with = kernels.filter(|clause| text[clause.clone()].contains(&modifier));
            all(with.map(|c| ((c.clone(), text[c.clone()].replacen(&modifier, "", 1)), text[c].to_owned())).collect())
        }
        "drop-directive" => {
            let named = tiles.inside.iter().filter(|d| words(text.as_bytes(), d).starts_with(&operator.clause));
            let line = |d: &Range<usize>| line_start(text, d.start)..(d.end + 1).min(text.len());
            all(named.map(|d| ((line(d), String::new()), words(text.as_bytes(), d))).collect())
        }
        "drop-last" => {
            let head = text[tiles.body.clone()].find("; ").and_then(|first| {
                let first = tiles.body.start + first + 2;
                Some(first..first + text.get(first..)?.find(';')?)
            });
            all(head
                .into_iter()
                .map(|r| ((r.clone(), format!("{} - 1", &text[r.clone()])), text[r].to_owned()))
                .collect())
        }
        "change-line" => all(lines(text, tiles).filter_map(|line| changed_line(operator, text, line)).collect()),
        "shorten-halos" => {
            let halos = lines(text, tiles).filter_map(|line| changed_line(operator, text, line));
            let edits: Vec<Edit> = halos.map(|(edit, _)| edit).collect();
            if edits.is_empty() { Vec::new() } else { vec![mutant(operator, edited(text, edits), "every halo")] }
        }
        "one-more" => {
            let heads = tiles.inside.iter().filter(|d| is_kernel(&words(text.as_bytes(), d))).filter_map(|d| {
                let head = statement(text, d.end);
                let at = head.start + text.get(head.clone())?.find("< tile_end;")?;
                Some(((at..at + 1, "<=".to_owned()), "the loop of a tile".to_owned()))
            });
            all(heads.collect())
        }
        "drop-call" => {
            let end = text.get(tiles.whole.end..).unwrap_or_default().find('}').unwrap_or(0) + tiles.whole.end;
            let from = text.get(..tiles.whole.start).unwrap_or_default().rfind("if (").unwrap_or(tiles.whole.start);
            all(calls(text, from..end, &operator.clause))
        }
        // Where nothing is on the device before, there is nothing to ask.
        "drop-question" => {
            let from = text.get(..tiles.whole.start).unwrap_or_default().rfind("if (").unwrap_or(tiles.whole.start);
            let condition = from..from + text.get(from..).unwrap_or_default().find('{').unwrap_or(0);
            let mut found = calls(text, condition, &operator.clause);
            found.retain(|(_, what)| {
                let name = what.trim_end_matches(')').rsplit('(').next().unwrap_or_default();
                original.contains(&format!("enter data map(to: {name}["))
            });
            all(found.into_iter().map(|((r, _), what)| ((r, "1".to_owned()), what)).collect())
        }
        _ => Vec::new(),
    }
}

/// Calls of a function in a range: statements with their line, operands as they are.
fn calls(text: &str, range: Range<usize>, function: &str) -> Vec<(Edit, String)> {
    let inside = text.get(range.clone()).unwrap_or_default();
    let call = format!("{function}(");
    let found = inside.match_indices(&call).map(|(at, _)| {
        let start = range.start + at;
        let close = closing(text.as_bytes(), start + function.len(), b'(', b')') + 1;
        let end = if text.get(close..).is_some_and(|rest| rest.starts_with(';')) { close + 1 } else { close };
        ((start..end, String::new()), text[start..end].to_owned())
    });
    found.collect()
}

/// A section of the elements of one tile, as a directive names it.
struct Piece<'t> {
    text: &'t str,
    lower: Range<usize>,
    length: Range<usize>,
}

impl Piece<'_> {
    fn changed(&self, how: &str) -> Option<(Edit, String)> {
        let (lower, length) = (&self.text[self.lower.clone()], &self.text[self.length.clone()]);
        let new = match how {
            "shorter" => format!("{lower}:({length}) - 1"),
            "late" => format!("{lower} + 1:({length}) - 1"),
            "shifted" => format!("{lower} + 1:{length}"),
            // What Figure 9 of the paper has.
            _ => {
                let (end, rest) = length.split_once(" - ")?;
                let first = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
                format!("{lower}:{end}{first}")
            }
        };
        let range = self.lower.start..self.length.end;
        Some(((range.clone(), new), self.text[range].to_owned()))
    }
}

/// The sections of tiles that say what is copied: not those of kernels where another directive of the tile has mapped them, and not
/// those that are only released, which any part of them finds.
fn pieces<'t>(text: &'t str, tiles: &Tiles) -> Vec<Piece<'t>> {
    let entered = tiles.inside.iter().any(|d| words(text.as_bytes(), d).starts_with("target enter data"));
    let mut found = Vec::new();
    for directive in &tiles.inside {
        let said = words(text.as_bytes(), directive);
        if entered && is_kernel(&said) || said.contains("map(release:") {
            continue;
        }
        let inside = &text[directive.clone()];
        for (at, _) in inside.match_indices('[') {
            let open = directive.start + at;
            let close = closing(text.as_bytes(), open, b'[', b']');
            let Some(colon) = text.get(open..close).and_then(|section| section.find(':')) else { continue };
            if text[open..close].contains("tile") {
                found.push(Piece { text, lower: open + 1..open + colon, length: open + colon + 1..close });
            }
        }
    }
    found
}

/// Each item of a tile left out where it is copied.
fn dropped(text: &str, tiles: &Tiles) -> Vec<(Edit, String)> {
    let mut found = Vec::new();
    for piece in pieces(text, tiles) {
        let before = text.get(..piece.lower.start - 1).unwrap_or_default();
        let name = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        let close = closing(text.as_bytes(), piece.lower.start - 1, b'[', b']') + 1;
        // Further dimensions.
        let mut end = close;
        while text.get(end..).is_some_and(|rest| rest.starts_with('[')) {
            end = closing(text.as_bytes(), end, b'[', b']') + 1;
        }
        let (front, back) = (text[..name].trim_end(), text[end..].trim_start());
        let range = match (front.ends_with(','), back.starts_with(',')) {
            (true, _) => front.len() - 1..end,
            (false, true) => name..text.len() - back.len() + 1,
            // The only item of its clause.
            (false, false) => {
                let open = front.rfind('(').unwrap_or(name);
                let word = text[..open].rfind(|c: char| !c.is_alphanumeric()).map_or(0, |at| at + 1);
                word..text.len() - back.len() + 1
            }
        };
        let what = text[name..end].to_owned();
        let directive = tiles.inside.iter().find(|d| d.contains(&name));
        // An update of nothing is no directive: it goes as a whole.
        let alone = directive.filter(|d| {
            let rest = words(
                &edited(text, vec![(range.clone(), String::new())]).into_bytes(),
                &(d.start..d.end - range.len()),
            );
            ["target update", "target exit data", "target enter data"].contains(&rest.trim())
        });
        let range = alone.map_or(range, |d| line_start(text, d.start)..(d.end + 1).min(text.len()));
        found.push(((range, String::new()), what));
    }
    found
}

/// The lines of a tile's bounds.
fn lines<'t>(text: &'t str, tiles: &Tiles) -> impl Iterator<Item = Range<usize>> + 't {
    let (start, end) = (tiles.body.start, tiles.body.end);
    let mut at = start;
    let all = text.get(start..end).unwrap_or_default().split_inclusive('\n').map(move |line| {
        at += line.len();
        at - line.len()..at
    });
    all.filter(|line| text[line.clone()].trim_start().starts_with("const "))
}

/// `const int NAME = VALUE;` with another value, by what the operator is about.
fn changed_line(operator: &Operator, text: &str, line: Range<usize>) -> Option<(Edit, String)> {
    let inside = &text[line.clone()];
    let (front, value) = inside.trim_end().strip_suffix(';')?.split_once(" = ")?;
    let name = front.rsplit(' ').next()?;
    let new = match operator.clause.as_str() {
        "first" if name == "tile_first" => format!("{value} + 1"),
        "remainder" if name == "tile_end" => value.split_once(" ? ")?.1.split_once(" : ")?.0.to_owned(),
        // Where pieces that are copied begin or end, between the first and the last tile.
        bound if name.starts_with(bound) && (bound == "tile_from" || bound == "tile_to") => between(value, operator)?,
        "halo" if name.starts_with("tile_from") || name.starts_with("tile_to") => between(value, operator)?,
        _ => return None,
    };
    let start = line.start + front.len() + 3;
    Some(((start..start + value.len(), new), inside.trim().to_owned()))
}

fn between(value: &str, operator: &Operator) -> Option<String> {
    let (condition, rest) = value.split_once(" ? ")?;
    let (middle, last) = rest.split_once(" : ")?;
    Some(format!("{condition} ? {middle}{} : {last}", operator.to))
}
