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
        // What is not on the device, kernels in a window map themselves.
        "drop-piece" if is_staged(text, tiles) => Vec::new(),
        "drop-piece" => all(dropped(text, tiles)),
        "change-copy" => all(copies(text, tiles, &operator.clause)),
        // Only calls tell ThreadSanitizer what they copy; what is read ahead alone a tile has copied itself.
        "drop-wait" if !is_staged(text, tiles) => Vec::new(),
        "drop-wait" | "drop-directive" if operator.clause == "ordered" && !Halos::of(text, tiles).before => Vec::new(),
        "drop-modifier" => {
            let kernels = tiles.inside.iter().flat_map(|d| clauses(text.as_bytes(), d, "map"));
            let modifier = format!("{}, ", operator.clause);
            let with = kernels.filter(|clause| text[clause.clone()].contains(&modifier));
            all(with.map(|c| ((c.clone(), text[c.clone()].replacen(&modifier, "", 1)), text[c].to_owned())).collect())
        }
        "drop-directive" | "drop-wait" => {
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
            let none = edits.is_empty() || !Halos::of(text, tiles).all_ahead;
            if none { Vec::new() } else { vec![mutant(operator, edited(text, edits), "every halo")] }
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

/// Are its tiles copied by calls, so that directives only find what is on the device?
fn is_staged(text: &str, tiles: &Tiles) -> bool {
    let body = &text[tiles.body.clone()];
    ["ompsplit_to_device(", "ompsplit_from_device("].iter().any(|call| body.contains(call))
}

/// Calls that copy, with other bytes: `COPY(&NAME[FIRST], BYTES)`.
fn copies(text: &str, tiles: &Tiles, how: &str) -> Vec<(Edit, String)> {
    let found = ["ompsplit_to_device", "ompsplit_from_device"].map(|name| calls(text, tiles.body.clone(), name));
    let changed = found.into_iter().flatten().filter_map(|((range, _), what)| {
        let (array, rest) = what.split_once("(&")?.1.split_once('[')?;
        let (first, bytes) = rest.strip_suffix(");")?.split_once("], ")?;
        let call = what.split_once('(')?.0;
        // The tiles before have copied what the shifted copy leaves out, but for the first element of all.
        let has_halo = first.contains("tile_from") && text[tiles.body.clone()].contains("#pragma omp ordered");
        if how == "shifted" && call == "ompsplit_to_device" && has_halo {
            return None;
        }
        let new = match how {
            "shorter" => format!("{call}(&{array}[{first}], {bytes} - sizeof(*{array}));"),
            "late" => format!("{call}(&{array}[{first} + 1], {bytes} - sizeof(*{array}));"),
            "shifted" => format!("{call}(&{array}[{first} + 1], {bytes});"),
            // Elements where bytes belong.
            _ if text.contains(&format!("char *{array}")) => return None,
            _ => format!("{call}(&{array}[{first}], {});", bytes.split_once(" * ")?.1),
        };
        Some(((range, new), what))
    });
    changed.collect()
}

/// The sections of tiles that say what is copied: not those of kernels where another directive of the tile has mapped them, and not
/// those that are only released, which any part of them finds.
fn pieces<'t>(text: &'t str, tiles: &Tiles) -> Vec<Piece<'t>> {
    let entered = is_staged(text, tiles)
        || tiles.inside.iter().any(|d| words(text.as_bytes(), d).starts_with("target enter data"));
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

/// What the tiles' halos are for.
struct Halos {
    /// Are they copied to the device?
    copied: bool,
    /// Does a tile read as far ahead as it copies? Where it reads less, as with `u[i - 1]` alone, tiles may copy one iteration less far
    /// ahead: the next tile copies that one.
    all_ahead: bool,
    /// Does a tile read what those before it copy?
    before: bool,
}

impl Halos {
    fn of(text: &str, tiles: &Tiles) -> Self {
        let body: String = text[tiles.body.clone()].chars().filter(|c| !c.is_whitespace()).collect();
        let copied = body.match_indices("[tile_from").any(|(at, _)| {
            let start = body[..at].rfind([';', '{', '#']).unwrap_or(0);
            let says = body[start..at].rsplit("map(").next().unwrap_or_default();
            ["ompsplit_to_device(", "always,to", "to:", "tofrom:"].iter().any(|to| says.contains(to))
        });
        let ahead = body.split_once("<TILES?tile_end+").map_or("0", |(_, rest)| word_before(rest));
        let variable = body.split_once("=tile_first;").map_or("", |(head, _)| word_behind(head));
        let (Ok(ahead), false) = (ahead.parse::<i64>(), variable.is_empty()) else {
            return Self { copied, all_ahead: copied, before: copied };
        };
        let reads = body
            .match_indices('[')
            .filter_map(|(at, _)| body.get(at + 1..closing(body.as_bytes(), at, b'[', b']')))
            .chain(body.match_indices("_c").filter_map(|(at, _)| body[at..].split(';').next()));
        let offsets: Vec<i64> = reads.flat_map(|subscript| offsets(subscript, variable)).collect();
        let reads = |wanted: &dyn Fn(i64) -> bool| offsets.iter().any(|offset| wanted(*offset));
        Self { copied, all_ahead: copied && reads(&|it| it >= ahead), before: copied && reads(&|it| it < ahead.max(0)) }
    }
}

/// What is added to a variable where a subscript without spaces names it.
fn offsets(subscript: &str, variable: &str) -> Vec<i64> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let named = subscript.match_indices(variable).filter(|(at, _)| {
        !subscript[..*at].ends_with(is_word) && !subscript[at + variable.len()..].starts_with(is_word)
    });
    let after = named.map(|(at, _)| {
        let rest = &subscript[at + variable.len()..];
        let digits = rest.get(1..).unwrap_or_default();
        let digits = &digits[..digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len())];
        match rest.chars().next() {
            Some('+') => digits.parse().unwrap_or(0),
            Some('-') => digits.parse::<i64>().map_or(0, |number| -number),
            _ => 0,
        }
    });
    after.collect()
}

fn word_before(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len())]
}

fn word_behind(text: &str) -> &str {
    &text[text.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1)..]
}

fn between(value: &str, operator: &Operator) -> Option<String> {
    let (condition, rest) = value.split_once(" ? ")?;
    let (middle, last) = rest.split_once(" : ")?;
    Some(format!("{condition} ? {middle}{} : {last}", operator.to))
}
