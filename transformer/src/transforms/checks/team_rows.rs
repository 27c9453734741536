//! What must hold where a team takes an iteration of the outer loop that one thread took before, and its threads share loops inside.

use crate::analysis::associated_loops::loops_of;
use crate::edit::Edit;
use crate::edit::directive_writer::on_one_line;
use crate::region::construct::ConstructId;
use crate::region::target::TargetRegion;
use crate::semantics::Program;
use crate::semantics::uses::{Role, Use, uses_below};
use crate::source::{Span, words};
use crate::syntax::{Clause, ClauseName, Directive, NodeId};

/// The words of a directive whose threads share its loop, and those with which its teams alone do.
const ONE_LEVEL: &str = "distribute parallel for";
const TWO_LEVELS: &str = "distribute";

/// The edit that lets the teams alone share a directive's loop. `None` where something stands between the words, or they are others.
pub(in crate::transforms) fn for_teams_alone(cx: &Program<'_>, directive: &Directive) -> Option<Edit> {
    let words = on_one_line(cx.file, directive.name_span);
    let name = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = format!("{}{TWO_LEVELS}", name.strip_suffix(ONE_LEVEL)?);
    text.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b' ').then_some(())?;
    Some(Edit { span: directive.name_span, text })
}

/// A loop that the threads of a team share, or shall share.
pub(in crate::transforms) struct SharedLoop {
    /// The statement.
    pub span: Span,
    /// The names of its variables.
    pub variables: Vec<String>,
}

/// Does the clause say the same where the teams alone share the loop? `if` may keep the construct on the host, where it is as right.
pub(in crate::transforms) fn is_allowed_outside(cx: &Program<'_>, clause: &Clause) -> bool {
    use ClauseName as C;
    let is_above_one = |clause: &Clause| {
        let value = clause.expression().and_then(|span| cx.symbols().constant(&cx.file.show(span), span.start));
        clause.modifiers.is_empty() && value.is_some_and(|number| number > 1)
    };
    match clause.name {
        C::Map | C::Device | C::IsDevicePtr | C::HasDeviceAddr | C::Nowait | C::Depend | C::NumTeams | C::Collapse => {
            true
        }
        C::Default | C::Shared | C::Private | C::Firstprivate | C::Defaultmap => true,
        C::If => clause.modifiers.is_empty() || clause.has_modifier("target"),
        // With one thread in a team, iterations would run in order.
        C::ThreadLimit => is_above_one(clause),
        _ => false,
    }
}

/// A variable that an iteration of the outer loop writes and that is not its own, or that its inner loops use and that is no scalar: the
/// threads of a team would need an array or an object in memory that they share.
pub(in crate::transforms) fn own_variables(
    cx: &Program<'_>,
    region: &TargetRegion,
    inner: &[SharedLoop],
) -> Option<(String, Span)> {
    let outer = region.chain.innermost();
    let body: NodeId = cx.constructs.construct(outer).body?;
    let body_span = cx.tree.span(body);
    let own: Vec<&Clause> = cx.constructs.directive(outer).clauses.iter().filter(|it| is_own_copy(it.name)).collect();
    let uses = uses_below(cx.file, cx.tree, body);
    let trouble = |used: &Use| {
        let found = cx.symbols().lookup(&used.name, used.span.start)?;
        let is_declared = found.id().is_within(body_span);
        let is_own = is_declared || own.iter().any(|clause| clause.lists(&used.name));
        let is_inside = inner.iter().any(|one| one.span.contains(used.span));
        let is_shared = is_inside && !inner.iter().any(|one| found.id().is_within(one.span));
        if matches!(used.role, Role::Write | Role::Address)
            && !is_own
            && !is_loop_variable(cx, outer, inner, &used.name)
        {
            return Some((format!("`{}` is no variable of one iteration alone", used.name), used.span));
        }
        if matches!(used.role, Role::Write | Role::Address) && !is_declared && is_named_outside(cx, outer, &used.name) {
            return Some((
                format!("`{}` has another value in the directive or the head of its loop", used.name),
                used.span,
            ));
        }
        let is_plain = found.ty.is_scalar() || found.ty.is_pointer();
        (is_own && is_shared && !is_plain)
            .then(|| (format!("the threads of a team would share `{}`, which is no number", used.name), used.span))
    };
    uses.iter().filter(|used| used.role != Role::Declaration).find_map(trouble)
}

fn is_own_copy(name: ClauseName) -> bool {
    matches!(name, ClauseName::Private | ClauseName::Firstprivate)
}

/// Does the construct name a variable beside the clauses that make copies of it: in a section, a number of teams, a bound?
fn is_named_outside(cx: &Program<'_>, outer: ConstructId, name: &str) -> bool {
    let clauses = cx.constructs.directive(outer).clauses.iter().filter(|clause| !is_own_copy(clause.name));
    let heads = loops_of(cx, outer).map(|nest| nest.loops).unwrap_or_default();
    let heads = heads.iter().flat_map(|one| [one.lower, one.upper, one.condition]);
    let spans: Vec<Span> = clauses.map(|clause| clause.span).chain(heads).collect();
    let is_variable = is_loop_variable(cx, outer, &[], name);
    !is_variable && spans.into_iter().any(|span| words(&cx.file.show(span)).any(|word| word == name))
}

/// Is it the variable of a loop that a directive shares, of which each thread has its own?
fn is_loop_variable(cx: &Program<'_>, outer: ConstructId, inner: &[SharedLoop], name: &str) -> bool {
    let outer = loops_of(cx, outer).map(|nest| nest.loops).unwrap_or_default();
    outer.iter().any(|one| one.variable == name) || inner.iter().any(|one| one.variables.iter().any(|own| own == name))
}
