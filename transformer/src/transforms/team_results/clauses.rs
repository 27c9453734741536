//! Which construct each clause of a combined directive belongs to, once the directive is two.

use std::collections::BTreeMap;

use super::Problem;
use super::result::{Combiner, Origin, TeamResult, renames};
use crate::context::Context;
use crate::edit::directive_writer::on_one_line;
use crate::source::{SourceFile, Span};
use crate::syntax::{Clause, ClauseArgument, ClauseName, Directive};
use crate::transforms::two_forms::edited;

/// The directives that stand in the place of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// `target teams`.
    Teams,
    /// `distribute parallel for`.
    Loop,
    /// Both: each of the threads has a copy of what its team has a copy of.
    Both,
    /// It names what is combined, and is written anew.
    Combined,
}

/// The clauses of both directives, as they are written.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub of_teams: Vec<String>,
    pub of_loop: Vec<String>,
    /// The `//` comment at the end of the directive, behind a blank.
    pub at_end: String,
    /// Where a further map would stand among those of the teams.
    behind_maps: usize,
}

impl Shared {
    /// Lets one team do all where a condition does not hold, in the last branch of the expression that says how many there are. False where it has none, because the
    /// program says it (`is_written`) or in another form.
    pub(super) fn have_one_team_unless(&mut self, condition: &str, is_written: bool) -> bool {
        let Some(clause) = self.of_teams.iter_mut().find(|clause| clause.starts_with("num_teams(")) else {
            return false;
        };
        let mut depth = 0_i32;
        let closes = |byte: &u8| {
            depth += i32::from(*byte == b'(') - i32::from(*byte == b')');
            *byte == b')' && depth == 0
        };
        let Some(end) = clause.as_bytes().iter().position(closes) else { return false };
        let (before, rest) = clause.split_at(end);
        let opening = if is_written { ": " } else { "num_teams(" };
        let Some(at) = before.rfind(opening).map(|at| at + opening.len()) else { return false };
        let (before, most) = before.split_at(at);
        let is_number = !most.is_empty() && most.bytes().all(|byte| byte.is_ascii_digit());
        if is_number {
            *clause = format!("{before}{condition} ? {most} : 1{rest}");
        }
        is_number
    }

    /// Adds a clause to the directives that it belongs to.
    fn add(&mut self, clause: &Clause, place: Place, text: &str, comments: &str) {
        let with_comments = format!("{text}{comments}");
        match place {
            Place::Teams => {
                self.of_teams.push(with_comments);
                if clause.name == ClauseName::Map {
                    self.behind_maps = self.of_teams.len();
                }
            }
            Place::Loop | Place::Combined => self.of_loop.push(with_comments),
            Place::Both => {
                self.of_teams.push(with_comments);
                self.of_loop.push(text.to_owned());
            }
        }
    }

    /// Lets the threads of a team combine the results that no clause lists, in one clause for each operator.
    pub(super) fn reduce(&mut self, results: &[TeamResult]) {
        let mut parts: BTreeMap<Combiner, Vec<&str>> = BTreeMap::new();
        for TeamResult { combiner, part, .. } in results.iter().filter(|one| one.origin == Origin::Updates) {
            parts.entry(*combiner).or_default().push(part);
        }
        let clause = |(combiner, parts): (Combiner, Vec<&str>)| {
            format!("reduction({}: {})", combiner.clause(), parts.join(", "))
        };
        self.of_loop.extend(parts.into_iter().map(clause));
    }

    /// Maps variables that the directive mapped without a word.
    pub(super) fn map(&mut self, names: &[&str]) {
        if !names.is_empty() {
            self.of_teams.insert(self.behind_maps, format!("map(tofrom: {})", names.join(", ")));
        }
    }
}

/// Shares the clauses of all directives out, those of reductions with the names of a team's parts. A comment stays behind its clause.
///
/// # Errors
/// A clause that has no place.
pub(super) fn share(cx: &Context<'_>, directives: &[&Directive], results: &[TeamResult]) -> Result<Shared, Problem> {
    let file = cx.file;
    let mut shared = Shared::default();
    for (depth, directive) in directives.iter().enumerate() {
        let first = directive.clauses.first().map_or(directive.name_span.end, |first| first.span.start);
        let (of_name, at_end) = comments(file, Span::new(directive.span.start, first));
        shared.at_end += &at_end;
        if !of_name.is_empty() {
            shared.of_teams.push(of_name.trim_start().to_owned());
            shared.behind_maps = shared.of_teams.len();
        }
        // Outside of the loop a clause that is about its threads would mean something else.
        let is_innermost = depth + 1 == directives.len();
        let is_fit = |place: &Place| is_innermost || matches!(place, Place::Teams | Place::Both);
        for (index, clause) in directive.clauses.iter().enumerate() {
            let next = directive.clauses.get(index + 1).map_or(directive.span.end, |next| next.span.start);
            let (comments, at_end) = comments(file, Span::new(clause.span.end, next));
            shared.at_end += &at_end;
            let Some(place) = place(cx, clause).filter(is_fit) else {
                let name = file.show(clause.name_span);
                return Err((clause.span, format!("`{name}` has no place beside results of teams")));
            };
            let problem = || (clause.span, "the clause is not read".to_owned());
            let text = match place {
                Place::Combined => renamed(file, clause.span, results).ok_or_else(problem)?,
                _ => on_one_line(file, clause.span),
            };
            shared.add(clause, place, &text, &comments);
        }
    }
    Ok(shared)
}

/// Is the number that a clause gives known, if it gives one?
fn is_constant(cx: &Context<'_>, clause: &Clause) -> bool {
    let number = match &clause.argument {
        ClauseArgument::Words(words) => words.get(1).copied(),
        _ => clause.expression(),
    };
    number.is_none_or(|span| cx.constant(span).is_some())
}

/// Where a clause goes. `None` if it may mean something else there, or is not known here.
fn place(cx: &Context<'_>, clause: &Clause) -> Option<Place> {
    use crate::syntax::spec_table::Leaf;
    use ClauseName as C;
    match clause.name {
        C::Device if !clause.modifiers.is_empty() => None,
        C::Map | C::Device | C::IsDevicePtr | C::HasDeviceAddr | C::Nowait | C::Depend => Some(Place::Teams),
        C::NumTeams | C::ThreadLimit => Some(Place::Teams),
        // Without a name it is about `parallel` too: a loop of one thread need not be free of races.
        C::If if clause.directive_name_modifier() == Some(&[Leaf::Target]) => Some(Place::Teams),
        // The host worked out what the device would now.
        C::DistSchedule | C::NumThreads if !is_constant(cx, clause) => None,
        C::DistSchedule | C::NumThreads | C::Collapse | C::Order | C::ProcBind | C::Private => Some(Place::Loop),
        C::Firstprivate => Some(Place::Both),
        C::Reduction => Some(Place::Combined),
        _ => None,
    }
}

/// A clause on one line, which names the parts of a team.
fn renamed(file: &SourceFile, clause: Span, results: &[TeamResult]) -> Option<String> {
    let text = edited(file, clause, &renames(results, clause))?;
    let lines = text.lines().map(|line| line.trim().trim_end_matches('\\').trim());
    Some(lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" "))
}

/// The comments of a gap between clauses, each behind a blank: those of blocks, and the one that ends the directive.
fn comments(file: &SourceFile, gap: Span) -> (String, String) {
    let text = file.show(gap);
    let mut rest = text.as_ref();
    let mut found = String::new();
    while let Some(start) = rest.find("/*").filter(|start| !rest[..*start].contains("//")) {
        let end = rest[start + 2..].find("*/").map_or(rest.len(), |end| start + 2 + end + 2);
        found.push(' ');
        found.push_str(&rest[start..end]);
        rest = &rest[end..];
    }
    let at_end = rest.find("//").map(|start| format!(" {}", rest[start..].trim_end()));
    (found, at_end.unwrap_or_default())
}
