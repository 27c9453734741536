//! Elements that each iteration updates atomically: a team collects its part first, and updates the element once.

mod steady;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::steady::is_steady;
use super::rows::unsigned_for;
use crate::analysis::accesses::{Access, Accesses, RootKind, Subscript};
use crate::analysis::associated_loops::{associated_loops, known_iterations};
use crate::analysis::atomics::{Updated, is_update, updated};
use crate::analysis::combinations::{Operator, without_parentheses};
use crate::analysis::floats;
use crate::analysis::independence::alone;
use crate::analysis::integers::integer_of;
use crate::context::Context;
use crate::device::DeviceProfile;
use crate::edit::Edit;
use crate::edit::directive_writer::line_start;
use crate::plan::{Certainty, Change, Pass, Plan, Reason, ReasonCode, Verdict};
use crate::region::target::TargetRegion;
use crate::semantics::Integer;
use crate::semantics::symbols::{DeclaredType, Scope, Variable};
use crate::semantics::uses::{Role, uses_below};
use crate::source::{Span, words};
use crate::syntax::{Clause, ClauseName, Directive, NodeId, NodeKind, Number};
use crate::transforms::checks;
use crate::transforms::team_results::{self, Combiner, Kernel, Origin, Problem, TeamResult, part, start};

/// A GPU updates one element about once in each clock, so that fewer take no longer than a team takes to combine what its threads found: some microseconds.
const MANY: u64 = 10_000;

/// One element, and all that the loop does to it.
struct Element {
    /// The first update of it.
    target: NodeId,
    operator: Operator,
    names: Vec<Span>,
    terms: Vec<NodeId>,
    /// The `atomic` directives.
    directives: Vec<Span>,
}

/// What is done about the updates in a kernel's loop, or `None` if none is of the same element in each iteration.
pub(super) fn plan(cx: &Context<'_>, region: &TargetRegion) -> Option<Plan> {
    let (loops, _) = associated_loops(cx, region)?;
    let elements = elements(cx, loops.first()?.node);
    let first = elements.first()?;
    let directive = cx.constructs.directive(region.chain.innermost());
    let verdict = match checks::text_reasons(cx, region) {
        doubts if !doubts.is_empty() => Verdict::Refuse(doubts),
        _ => match team_results::device(cx) {
            Err((message, _)) => no_gain(cx.tree.span(first.target), message),
            Ok(device) => decide(cx, region, directive, &elements, device),
        },
    };
    Some(verdict.into_plan(Pass::Reduce, directive.span, region.extent))
}

fn no_gain(span: Span, message: impl Into<String>) -> Verdict {
    Verdict::DoesNotPay(vec![Reason::new(ReasonCode::CombiningDoesNotPay, span, message)])
}

fn decide(
    cx: &Context<'_>,
    region: &TargetRegion,
    directive: &Directive,
    elements: &[Element],
    device: &DeviceProfile,
) -> Verdict {
    if let Some(few) = known_iterations(cx, region.chain.innermost()).filter(|known| *known < MANY) {
        return no_gain(directive.span, format!("{few} atomic updates take no longer than what combines them"));
    }
    match change(cx, region, directive, elements, device) {
        Ok(change) => Verdict::Change(change),
        Err((span, message)) => Verdict::Refuse(vec![Reason::new(ReasonCode::TeamsNotCombined, span, message)]),
    }
}

/// The elements whose place no iteration changes, in the order of the text.
fn elements(cx: &Context<'_>, statement: NodeId) -> Vec<Element> {
    let inside = cx.tree.span(statement);
    let mut all: BTreeMap<String, Element> = BTreeMap::new();
    for (construct, directive) in cx.constructs.within(inside) {
        let found = is_update(construct, directive).then(|| updated(cx, construct.body)).flatten();
        let Some(Updated { target, operator, names, terms }) = found else { continue };
        let target = without_parentheses(cx, target);
        if !is_steady(cx, target, inside) {
            continue;
        }
        let text = cx.file.show(cx.tree.span(target)).split_whitespace().collect::<String>();
        let element = all.entry(text).or_insert_with(|| Element {
            target,
            operator,
            names: Vec::new(),
            terms: Vec::new(),
            directives: Vec::new(),
        });
        if element.operator == operator {
            element.names.extend(names);
            element.terms.extend(terms);
            element.directives.push(directive.span);
        }
    }
    let mut all: Vec<Element> = all.into_values().collect();
    all.sort_by_key(|one| cx.tree.span(one.target).start);
    all
}

fn change(
    cx: &Context<'_>,
    region: &TargetRegion,
    directive: &Directive,
    elements: &[Element],
    device: &DeviceProfile,
) -> Result<Change, Problem> {
    if let Some(reason) = checks::excludes_directives(cx, region) {
        return Err((reason.span, reason.message));
    }
    let kernel = Kernel::read(cx, region, &is_update)?;
    if let Some(clause) = kernel.directives.iter().find_map(|one| one.clauses_of(ClauseName::Reduction).next()) {
        return Err((clause.span, "the directive combines other results as well".to_owned()));
    }
    let (mut results, mut types, mut reasons, mut removed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut taken = BTreeSet::new();
    for element in elements {
        let (result, ty) = result(&kernel, element, &mut taken, &mut reasons)?;
        for span in &element.directives {
            removed.push(without_line(cx, *span)?);
        }
        results.push(result);
        types.push(Some(ty));
    }
    if team_results::are_in_memory(&types) {
        return Err((directive.span, "the compiler would keep so many results in memory".to_owned()));
    }
    let edit = kernel.edit(device, &results, removed)?;
    let names: Vec<String> = results.iter().map(|one| format!("`{}`", one.whole)).collect();
    let summary = format!("each team updates {} once, where each iteration did", names.join(", "));
    Ok(Change { edits: vec![edit], summary, reasons, ..Change::default() })
}

/// What a team collects in the place of an element.
fn result(
    kernel: &Kernel<'_, '_>,
    element: &Element,
    taken: &mut BTreeSet<String>,
    reasons: &mut Vec<Reason>,
) -> Result<(TeamResult, DeclaredType), Problem> {
    let cx = kernel.cx;
    let span = cx.tree.span(element.target);
    let whole = cx.file.show(span).into_owned();
    let no = |why: &str| (span, format!("`{whole}` {why}"));
    let (base, ty) = match cx.tree.kind(element.target) {
        NodeKind::Identifier => (whole.clone(), variable(kernel, element, &whole).map_err(&no)?.ty.clone()),
        _ => {
            let (access, assumed) = access(kernel, element).map_err(|(at, why)| (at, format!("`{whole}` {why}")))?;
            reasons.extend(assumed);
            let ty = access.element.clone().ok_or_else(|| no("is no plain number"))?;
            (access.root.name.clone(), ty)
        }
    };
    let names_it = |text: &str| words(text).any(|word| word == base);
    if cx.uses_macro_with(cx.tree.span(kernel.statement), &names_it) {
        return Err(no("may be named by a macro"));
    }
    let combiner = Combiner::of(element.operator.clause()).ok_or_else(|| no("is combined by no atomic instruction"))?;
    let (mut part_type, start) = start(cx, &ty, combiner, span.start, true).map_err(&no)?;
    if let Some(own) = Integer::of(&ty) {
        if !are_integers(cx, &kernel.found, element, own) {
            return Err(no("is combined with what is not known to be integers of its size"));
        }
        if let Some(unsigned) = unsigned_for(&ty, element.operator) {
            if cx.arithmetic.traps {
                return Err(no("stops the program where it overflows, with these flags"));
            }
            unsigned.clone_into(&mut part_type);
        }
    } else if let Some(Number::Floating(format)) = ty.number()
        && !element.terms.iter().all(|term| floats::fits(cx, &kernel.found, *term, *format))
    {
        return Err(no("is combined with what is not known to be of its type"));
    } else if !cx.arithmetic.reassociates {
        let message = format!("the {} in `{whole}` may be formed in another order", element.operator.word());
        reasons.push(Reason { certainty: Certainty::Assumed, ..Reason::new(ReasonCode::OtherOrder, span, message) });
    }
    let part = part(cx, cx.tree.span(kernel.statement), &base, taken);
    let names = element.names.clone();
    Ok((TeamResult { whole, part, ty: part_type, combiner, start, names, origin: Origin::Updates }, ty))
}

/// Do all terms keep their bits where they are added in another order, in a type without a sign?
fn are_integers(cx: &Context<'_>, found: &Accesses, element: &Element, own: Integer) -> bool {
    let is_sum = element.operator == Operator::Plus;
    let is_right = |term: Integer| !is_sum || term.promoted().bits <= own.bits;
    element.terms.iter().all(|term| integer_of(cx, found, *term).is_some_and(is_right))
}

/// The variable that is updated, if only the updates reach it in the region.
fn variable(kernel: &Kernel<'_, '_>, element: &Element, name: &str) -> Result<Arc<Variable>, &'static str> {
    let cx = kernel.cx;
    let at = cx.tree.span(element.target).start;
    let variable = cx.symbols().lookup(name, at).ok_or("is no variable in sight")?;
    let is_own = matches!(variable.scope, Scope::Local | Scope::Parameter | Scope::File);
    if !is_own || variable.is_thread_local || !cx.cannot_be_aliased(name, at) {
        return Err("may be reached by more than its name");
    }
    let mut maps = kernel.directives.iter().flat_map(|one| one.clauses_of(ClauseName::Map));
    if !maps.any(|clause| clause.lists(name)) {
        return Err("is mapped by no clause of the directive, so that each thread may have a copy");
    }
    if is_listed_elsewhere(kernel, name, &[]) {
        return Err("is listed by other clauses too");
    }
    let uses = uses_below(cx.file, cx.tree, kernel.statement);
    let is_it = |span: Span| cx.symbols().lookup(name, span.start).is_some_and(|found| found.id() == variable.id());
    let mut of_it = uses.iter().filter(|used| used.name == name && used.role != Role::Declaration && is_it(used.span));
    match of_it.all(|used| element.names.contains(&used.span)) {
        true => Ok(variable),
        false => Err("is used in the loop in another way too"),
    }
}

/// Does a clause list the name that says more than where its storage is?
fn is_listed_elsewhere(kernel: &Kernel<'_, '_>, name: &str, allowed: &[ClauseName]) -> bool {
    let is_about_storage =
        |clause: &Clause| matches!(clause.name, ClauseName::Map | ClauseName::Depend) || allowed.contains(&clause.name);
    kernel.directives.iter().flat_map(|one| &one.clauses).any(|clause| clause.lists(name) && !is_about_storage(clause))
}

/// How the loop reaches the element, and what must be assumed so that it reaches it in no other way.
fn access<'k>(kernel: &'k Kernel<'_, '_>, element: &Element) -> Result<(&'k Access, Vec<Reason>), (Span, String)> {
    let (cx, found) = (kernel.cx, &kernel.found);
    let span = cx.tree.span(element.target);
    let is_own = |access: &&Access| access.writes && element.names.iter().any(|name| name.contains(access.span));
    let is_followed = |access: &&Access| matches!(access.root.kind, RootKind::Object | RootKind::Pointer);
    let own = found.accesses.iter().find(is_own).filter(is_followed);
    let own = own.ok_or_else(|| (span, "is not read as an element".to_owned()))?;
    let may_be_same = |access: &&Access| access.root == own.root && !is_own(access) && !are_elsewhere(access, own);
    if let Some(other) = found.accesses.iter().find(may_be_same) {
        return Err((other.span, format!("may be reached by another access of `{}`", own.root.name)));
    }
    let pointers = [ClauseName::IsDevicePtr, ClauseName::HasDeviceAddr];
    if is_listed_elsewhere(kernel, &own.root.name, &pointers) {
        return Err((span, "belongs to what other clauses list too".to_owned()));
    }
    let inside = cx.tree.span(kernel.statement);
    let assumed = alone::assumptions(&kernel.candidate, (found, &kernel.sections), inside, own).map_err(|reasons| {
        let span = reasons.first().map_or(span, |reason| reason.span);
        (span, "may be what this leads to".to_owned())
    })?;
    Ok((own, assumed))
}

/// Are two elements of one array apart by a known distance, in some dimension?
fn are_elsewhere(one: &Access, other: &Access) -> bool {
    let are_apart = |(one, other): (&Subscript, &Subscript)| {
        let distance = one.form.minus(&other.form).and_then(|difference| difference.as_constant());
        !one.wraps && !other.wraps && distance.is_some_and(|distance| distance != 0)
    };
    one.subscripts.len() == other.subscripts.len() && one.subscripts.iter().zip(&other.subscripts).any(are_apart)
}

/// Leaves out a directive that has its lines for itself.
fn without_line(cx: &Context<'_>, directive: Span) -> Result<Edit, Problem> {
    let file = cx.file;
    let start = line_start(&file.text, directive.start);
    let end = file.text[directive.end..].iter().position(|byte| *byte == b'\n').map(|at| directive.end + at + 1);
    let is_blank = |span: Span| file.bytes(span).iter().all(u8::is_ascii_whitespace);
    let text = file.bytes(directive);
    let has_comment = text.windows(2).any(|pair| matches!(pair, b"/*" | b"//"));
    match end {
        Some(end)
            if is_blank(Span::new(start, directive.start))
                && is_blank(Span::new(directive.end, end))
                && !has_comment =>
        {
            Ok(Edit { span: Span::new(start, end), text: String::new() })
        }
        _ => Err((directive, "the directive does not stand on lines of its own, or has a comment".to_owned())),
    }
}
