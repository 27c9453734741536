//! Values of the host that no construct changes.

use super::apart;
use super::lists::Lists;
use super::members::Member;
use crate::plan::Reason;
use crate::semantics::symbols::{DeclaredType, NameKind, Variable, VariableId};
use crate::semantics::uses::Role;
use crate::semantics::{Act, Part, Program};
use crate::source::{Span, words};
use crate::syntax::{ClauseName, HostTree, Member as MemberAccess, NodeId, Number};

/// Checks that constructs leave alone what the host hands to a later one: bounds, clauses, pointers, and scalars that are not mapped.
pub(super) fn handed(cx: &Program<'_>, before: &[&Member], (member, own): (&Member, &Lists)) -> Result<(), Reason> {
    handed_beside(cx, before, (member, own), &|_| false)
}

/// The same, but for variables whose values may change.
pub(super) fn handed_beside(
    cx: &Program<'_>,
    before: &[&Member],
    (member, own): (&Member, &Lists),
    may_change: &dyn Fn(VariableId) -> bool,
) -> Result<(), Reason> {
    let changes = Changes::of(cx, before);
    for span in member.bounds().chain(own.expressions()) {
        changes.check_expression(cx, span)?;
    }
    if let Some(guard) = &member.guard {
        changes.check_condition(cx, guard.condition)?;
    }
    let is_copied = |key| own.item(key).is_some_and(|item| item.is_whole) || may_change(key);
    for (_, used) in member.outside.iter().filter(|(key, _)| !is_copied(*key)) {
        changes.check_name(cx, &used.name, used.span)?;
    }
    Ok(())
}

/// Checks that constructs leave alone what expressions hang on, which are arithmetic with numbers and variables.
pub(super) fn evaluated(cx: &Program<'_>, before: &[&Member], expressions: &[Span]) -> Result<(), Reason> {
    let changes = Changes::of(cx, before);
    expressions.iter().try_for_each(|span| changes.check_expression(cx, *span))
}

/// What constructs may change that the host has.
struct Changes {
    /// What they map back, or reduce.
    named: Vec<VariableId>,
    /// The variables through which they may write.
    through: Vec<DeclaredType>,
}

impl Changes {
    /// What some constructs may change.
    fn of(cx: &Program<'_>, members: &[&Member]) -> Self {
        let mut found = Self { named: Vec::new(), through: Vec::new() };
        for member in members {
            for clause in &cx.constructs.directive(member.id).clauses {
                let is_back = match clause.name {
                    ClauseName::Map => !["to", "alloc"].iter().any(|kind| clause.has_modifier(kind)),
                    name => name == ClauseName::Reduction,
                };
                for item in clause.items().iter().filter(|_| is_back) {
                    let base = item.base.as_deref().unwrap_or_default();
                    let Some(variable) = cx.symbols().lookup(base, item.span.start) else { continue };
                    if item.is_name {
                        found.named.push(variable.id());
                    }
                    found.through.push(variable.ty.clone());
                }
            }
            for (_, used) in member.outside.iter().filter(|(_, used)| used.role != Role::Read) {
                let variable = cx.symbols().lookup(&used.name, used.span.start);
                found.through.push(variable.map_or(DeclaredType::Unknown, |variable| variable.ty.clone()));
            }
        }
        found
    }

    /// Does the host's value of a variable stay?
    fn keep(&self, cx: &Program<'_>, variable: &Variable, at: usize) -> bool {
        !self.named.contains(&variable.id())
            && !variable.ty.is_volatile()
            && (cx.cannot_be_aliased(&variable.name, at)
                || !cx.symbols().is_address_taken(&variable.name, at) && self.leave(cx, &variable.ty))
    }

    /// Is nothing of this type written, as far as pointers lead?
    fn leave(&self, cx: &Program<'_>, own: &DeclaredType) -> bool {
        self.through.iter().all(|ty| match ty {
            DeclaredType::Array { .. } | DeclaredType::Scalar { .. } => true,
            DeclaredType::Pointer { pointee: to, .. } | DeclaredType::ArrayParameter { element: to, .. } => {
                cx.compilation.strict_aliasing && holds_other(to, own)
            }
            _ => false,
        })
    }

    /// Refuses a condition that is more than comparisons of numbers and of members of objects, or that names what may change.
    fn check_condition(&self, cx: &Program<'_>, span: Span) -> Result<(), Reason> {
        let no = |span, message: &str| Err(apart(span, message));
        let Some(evaluation) = cx.evaluation(span) else { return no(span, "this condition is not understood") };
        let is_plain = |part: &Part| match part.act {
            Act::Load => MemberAccess::of(&evaluation.tree, part.node).is_some(),
            act => matches!(
                act,
                Act::Literal | Act::Name | Act::Arithmetic | Act::Bits | Act::Test | Act::Choice | Act::Member
            ),
        };
        if let Some(place) = evaluation.first_without(is_plain) {
            return no(place, "this condition is more than a comparison of numbers");
        }
        for used in &evaluation.names {
            if cx.symbols().constant(&used.name, span.start).is_some() {
                continue;
            }
            let variable = cx.symbols().lookup(&used.name, span.start);
            let Some(variable) =
                variable.filter(|it| it.kind == NameKind::Variable && !cx.symbols().is_macro(&used.name, span.start))
            else {
                return no(used.span, "this name is no variable of the host");
            };
            self.check_name(cx, &used.name, used.span)?;
            let mut types = vec![variable.ty.clone()];
            types.extend(members_of(cx, &evaluation.tree, used.node, variable.ty.clone()).into_iter().flatten());
            let is_number = types.last().is_some_and(|ty| ty.number().is_some_and(|number| number.integer().is_some()));
            let stays =
                types.len() == 1 || !self.named.contains(&variable.id()) && types.iter().all(|ty| self.leave(cx, ty));
            if !is_number || !stays || types.iter().any(DeclaredType::is_volatile) {
                return no(used.span, "this condition names what a construct before it may change, or no integer");
            }
        }
        Ok(())
    }

    /// Refuses a name whose value the host hands to a later construct.
    fn check_name(&self, cx: &Program<'_>, name: &str, at: Span) -> Result<(), Reason> {
        let Some(variable) = cx.symbols().lookup(name, at.start) else { return Ok(()) };
        let has_value = variable.kind == NameKind::Variable && (variable.ty.is_scalar() || variable.ty.is_pointer());
        if has_value && !self.keep(cx, &variable, at.start) {
            let message = format!("a construct before this one may change `{name}` on the host");
            return Err(apart(at, message));
        }
        Ok(())
    }

    /// Refuses an expression that is more than arithmetic with numbers and such names.
    fn check_expression(&self, cx: &Program<'_>, span: Span) -> Result<(), Reason> {
        let text = cx.file.show(span);
        let is_assigned = text.replace("==", "").replace("<=", "").replace(">=", "").replace("!=", "").contains('=');
        if is_assigned || text.contains("++") || text.contains("--") || text.contains(['"', '\'']) {
            return Err(apart(span, "this expression may do more than give a number"));
        }
        for word in words(&text).filter(|word| !word.starts_with(|c: char| c.is_ascii_digit())) {
            let is_number = cx.symbols().constant(word, span.start).is_some() || Number::read(word).is_some();
            if is_number {
                continue;
            }
            let variable = cx.symbols().lookup(word, span.start);
            let is_plain = variable.is_some_and(|it| {
                it.ty.is_scalar() && matches!(it.kind, NameKind::Variable | NameKind::TemplateParameter)
            });
            if !is_plain {
                return Err(apart(span, format!("`{word}` is no number whose value is known to stay")));
            }
            self.check_name(cx, word, span)?;
        }
        Ok(())
    }
}

/// The types of the members that are reached from a name, `s.m->n`. `None` where one is not known.
fn members_of(cx: &Program<'_>, tree: &HostTree, name: NodeId, of: DeclaredType) -> Option<Vec<DeclaredType>> {
    let (mut node, mut ty, mut types) = (name, of, Vec::new());
    while let Some(member) = tree.parent(node).and_then(|parent| MemberAccess::of(tree, parent)) {
        if member.object() != Some(node) {
            break;
        }
        let object = match (&ty, member.is_behind_pointer()) {
            (DeclaredType::Reference { to }, false) => (**to).clone(),
            (ty, true) => ty.dereferenced(),
            (ty, false) => ty.clone(),
        };
        let field = cx.file.show(tree.span(member.name()?)).into_owned();
        ty = cx.symbols().member_type(&object, &field, tree.span(name).start)?;
        types.push(ty.clone());
        node = member.node;
    }
    Some(types)
}

/// Is what a pointer leads to certainly no object of the variable's type? Only floating-point numbers are taken for certain.
fn holds_other(to: &DeclaredType, ty: &DeclaredType) -> bool {
    let is_floating = |ty: &DeclaredType| ty.number().map(Number::is_floating);
    is_floating(to) == Some(true) && (is_floating(ty) == Some(false) || ty.is_pointer())
}
