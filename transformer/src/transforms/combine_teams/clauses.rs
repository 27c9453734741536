//! Which construct each clause of a combined directive belongs to, once the directive is two.

use super::refusal;
use crate::edit::directive_writer::on_one_line;
use crate::plan::Reason;
use crate::source::{SourceFile, Span};
use crate::syntax::{Clause, ClauseName, Directive};

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
}

/// Shares the clauses out, without those of reductions. A comment stays behind its clause.
///
/// # Errors
/// A clause that has no place.
pub(super) fn share(file: &SourceFile, directive: &Directive) -> Result<Shared, Reason> {
    let mut shared = Shared::default();
    for (index, clause) in directive.clauses.iter().enumerate() {
        let next = directive.clauses.get(index + 1).map_or(directive.span.end, |next| next.span.start);
        let text = on_one_line(file, clause.span) + &comments(file, Span::new(clause.span.end, next));
        match place(clause) {
            Some(Place::Teams) => shared.of_teams.push(text),
            Some(Place::Loop) => shared.of_loop.push(text),
            Some(Place::Both) => {
                shared.of_teams.push(text);
                shared.of_loop.push(on_one_line(file, clause.span));
            }
            Some(Place::Combined) => {}
            None => {
                let name = file.show(clause.name_span);
                return Err(refusal(clause.span, format!("`{name}` has no place beside results of teams")));
            }
        }
    }
    Ok(shared)
}

/// Where a clause goes. `None` if it may mean something else there, or is not known here.
fn place(clause: &Clause) -> Option<Place> {
    use crate::syntax::spec_table::Leaf;
    use ClauseName as C;
    match clause.name {
        C::Map | C::Device | C::IsDevicePtr | C::HasDeviceAddr | C::Nowait | C::Depend => Some(Place::Teams),
        C::NumTeams | C::ThreadLimit => Some(Place::Teams),
        // Without a name it is about `parallel` too: a loop of one thread need not be free of races.
        C::If if clause.directive_name_modifier() == Some(&[Leaf::Target]) => Some(Place::Teams),
        C::Collapse | C::Schedule | C::DistSchedule | C::Order | C::NumThreads | C::ProcBind | C::Private => {
            Some(Place::Loop)
        }
        C::Firstprivate => Some(Place::Both),
        C::Reduction => Some(Place::Combined),
        _ => None,
    }
}

/// The block comments of a gap between clauses, each behind a blank.
fn comments(file: &SourceFile, gap: Span) -> String {
    let text = file.show(gap);
    let mut rest = text.as_ref();
    let mut found = String::new();
    while let Some(start) = rest.find("/*") {
        let end = rest[start + 2..].find("*/").map_or(rest.len(), |end| start + 2 + end + 2);
        found.push(' ');
        found.push_str(&rest[start..end]);
        rest = &rest[end..];
    }
    found
}
