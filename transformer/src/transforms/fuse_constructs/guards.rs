//! Constructs that run only where the host says so: `if (left) { construct }`.
//!
//! In one kernel the condition is asked on the device, of a constant that the host sets: `const int run = left;`. Three things follow:
//!
//! - the conditions are all asked before the first construct, which must not change what they name;
//! - a construct that would not have run maps its data nevertheless: only data that a `target data` construct around certainly holds, so
//!   that nothing is copied and nothing is allocated;
//! - what a construct that may not run lists together says nothing of storage: what the construct around lists does.

use std::collections::{BTreeMap, BTreeSet};

use super::apart;
use super::lists::{Lists, Mapped};
use super::members::Member;
use crate::context::Context;
use crate::edit::directive_writer::on_one_line;
use crate::plan::Reason;
use crate::region::construct::ConstructId;
use crate::semantics::symbols::{DeclaredType, NameKind, Scope};
use crate::semantics::{Act, Part, Program};
use crate::source::{Language, Span};
use crate::syntax::{Clause, ClauseName, If, ListItem, NodeId, NodeKind};

/// The `if` around a construct, which holds nothing else and has no `else`.
pub(super) struct Guard {
    pub node: NodeId,
    /// The whole statement.
    pub span: Span,
    /// What is asked, without its parentheses.
    pub condition: Span,
    /// Does the construct stand in braces?
    pub is_block: bool,
}

impl Guard {
    /// The `if` around a construct with this directive and statement.
    pub(super) fn of(cx: &Program<'_>, directive: Span, body: NodeId) -> Option<Self> {
        let tree = cx.tree;
        let mut parent = tree.parent(body)?;
        let is_block = tree.kind(parent) == NodeKind::CompoundStatement;
        if is_block {
            parent = tree.parent(parent)?;
        }
        let statement = If::of(tree, parent).filter(|one| one.alternative().is_none())?;
        let (span, asked) = (tree.span(parent), tree.span(statement.condition()?));
        let text = |from: usize, to: usize| cx.file.show(Span::new(from, to.max(from))).trim().to_owned();
        let [open, close] = if is_block { ["{", "}"] } else { ["", ""] };
        let is_plain = text(span.start, asked.start) == "if"
            && cx.file.bytes(asked).starts_with(b"(")
            && cx.file.bytes(asked).ends_with(b")")
            && text(asked.end, directive.start) == open
            && text(tree.span(body).end, span.end) == close;
        let condition = Span::new(asked.start + 1, asked.end - 1);
        let is_statement = tree.parent(parent).is_some_and(|above| tree.kind(above) == NodeKind::CompoundStatement);
        (is_plain && is_statement).then_some(Self { node: parent, span, condition, is_block })
    }

    /// What is asked, on one line.
    pub(super) fn asked(&self, cx: &Program<'_>) -> String {
        on_one_line(cx.file, self.condition)
    }

    /// The declaration of the constant that says whether the construct runs.
    pub(super) fn declaration(&self, cx: &Program<'_>, name: &str) -> String {
        let asked = self.asked(cx);
        match cx.tree.language() {
            Language::C if self.is_truth(cx) => format!("const int {name} = {asked};"),
            Language::C if asked.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) => {
                format!("const int {name} = {asked} != 0;")
            }
            Language::C => format!("const int {name} = ({asked}) != 0;"),
            _ => format!("const bool {name} = {asked};"),
        }
    }

    /// Is what is asked 0 or 1?
    fn is_truth(&self, cx: &Program<'_>) -> bool {
        cx.evaluation(self.condition).is_some_and(|evaluation| {
            let is_truth = |part: &Part| match part.act {
                Act::Test => true,
                Act::Choice => evaluation.tree.kind(part.node) == NodeKind::BinaryExpression,
                _ => false,
            };
            evaluation.parts.first().is_some_and(is_truth)
        })
    }
}

/// Names for the constants that say which constructs run, which stand nowhere in the file and are no other construct's. `None` for those that
/// always do, or where all run under one condition, which then stays around them.
pub(super) fn names_to_read(cx: &Context<'_>, members: &[&Member]) -> Vec<Option<String>> {
    let asked: BTreeSet<Option<String>> =
        members.iter().map(|member| member.guard.as_ref().map(|guard| guard.asked(cx))).collect();
    let name = |member: &Member| {
        let stem = format!("run_at_{}", member.directive.start);
        member.guard.as_ref().map(|_| cx.fresh_in(Span::new(0, cx.file.text.len()), &stem))
    };
    members.iter().map(|member| name(member).filter(|_| asked.len() > 1)).collect()
}

/// The names that are written in the place of these.
pub(super) fn names(cx: &Context<'_>, to_read: impl Iterator<Item = String>) -> BTreeMap<String, String> {
    let stems = std::iter::once("run".to_owned()).chain((2..).map(|number| format!("run_{number}")));
    let mut taken = BTreeSet::new();
    let mut names = stems.map(|stem| cx.fresh_in(Span::new(0, cx.file.text.len()), &stem));
    let mut name = || names.find(|name| taken.insert(name.clone())).unwrap_or_default();
    to_read.map(|to_read| (to_read, name())).collect()
}

/// The first construct that asks something else than the first one.
pub(super) fn first_other(cx: &Context<'_>, members: &[&Member]) -> Option<usize> {
    let asked = |member: &Member| member.guard.as_ref().map(|guard| guard.asked(cx));
    let first = asked(members.first()?);
    members.iter().position(|member| asked(member) != first)
}

/// Checks that a construct may be mapped, and named in a kernel, where it would not have run.
pub(super) fn may_run_idle(cx: &Context<'_>, member: &Member, own: &Lists) -> Result<(), Reason> {
    let Some(guard) = &member.guard else { return Ok(()) };
    if let Some(reason) = passes_by(cx, guard.node) {
        return Err(reason);
    }
    let all = &cx.constructs.directive(member.id).clauses;
    let is_open = |clause: &&Clause| {
        matches!(
            clause.name,
            ClauseName::Reduction
                | ClauseName::Default
                | ClauseName::Firstprivate
                | ClauseName::IsDevicePtr
                | ClauseName::HasDeviceAddr
        )
    };
    if let Some(clause) = all.iter().find(is_open) {
        let message = "this clause is evaluated although the host may say that the construct does not run";
        return Err(apart(clause.span, message));
    }
    for item in &own.mapped {
        if !is_held(cx, member, item) {
            let message = format!("`{}` is not certainly on the device where the construct does not run", item.name);
            return Err(apart(item.span, message));
        }
    }
    for (key, used) in member.outside.iter().filter(|(key, _)| own.item(*key).is_none()) {
        let variable = cx.symbols().lookup(&used.name, used.span.start);
        let Some(variable) = variable.filter(|variable| variable.kind == NameKind::Variable) else { continue };
        let has_value = (variable.ty.is_scalar() || variable.ty.is_pointer())
            && (variable.scope == Scope::Parameter || variable.initializer.is_some() || variable.has_static_storage());
        if !has_value && !own.listed.iter().any(|one| one.key == *key) {
            let message = format!("`{}` may be nothing yet where the construct does not run", used.name);
            return Err(apart(used.span, message));
        }
    }
    Ok(())
}

/// A label in the block of a statement: a jump to it would pass by a declaration before the statement.
pub(super) fn passes_by(cx: &Program<'_>, statement: NodeId) -> Option<Reason> {
    let tree = cx.tree;
    let mut inside = tree.parent(statement).into_iter().flat_map(|block| tree.descendants(block));
    let label = inside.find(|node| matches!(tree.kind(*node), NodeKind::LabeledStatement | NodeKind::CaseStatement))?;
    Some(apart(tree.span(label), "a jump to this label would pass by a declaration before it"))
}

/// Is a name a number, or a variable that only its name reaches and nothing in a part of the file changes?
pub(super) fn keeps(cx: &Context<'_>, (name, at): (&str, Span), part: Span) -> bool {
    cx.constant(at).is_some()
        || cx.symbols().written_in(name, at.start, part).is_empty()
            && !cx.symbols().is_address_taken(name, at.start)
            && cx.cannot_be_aliased(name, at.start)
}

/// Is an item of a construct on the device whatever the construct maps?
pub(super) fn is_held(cx: &Context<'_>, member: &Member, item: &Mapped) -> bool {
    holder(cx, member, item).is_some()
}

/// The `target data` construct around that certainly holds an item of a construct, with this item in its list.
fn holder<'p>(cx: &'p Context<'_>, member: &Member, item: &Mapped) -> Option<(ConstructId, &'p ListItem)> {
    let around = std::iter::successors(cx.constructs.enclosing(member.id), |id| cx.constructs.enclosing(*id));
    around.filter(|id| is_certain(cx, *id)).find_map(|id| {
        let clauses = cx.constructs.directive(id).clauses_of(ClauseName::Map);
        let mut items = clauses.flat_map(|clause| clause.items());
        let held = items.find(|held| holds(cx, id, held, item))?;
        Some((id, held))
    })
}

fn is_certain(cx: &Context<'_>, id: ConstructId) -> bool {
    let directive = cx.constructs.directive(id);
    directive.is("target data")
        && !directive.clauses.iter().any(|clause| matches!(clause.name, ClauseName::If | ClauseName::Device))
}

/// Is an item of a `target data` construct the same storage as one of a construct inside?
fn holds(cx: &Context<'_>, id: ConstructId, held: &ListItem, item: &Mapped) -> bool {
    let variable = |name: &str, at: usize| cx.symbols().lookup(name, at).map(|found| found.id());
    let base = held.base.as_deref().unwrap_or_default();
    if held.has_member || variable(base, held.span.start) != Some(item.key) {
        return false;
    }
    let body = cx.constructs.construct(id).body_span;
    let stays = |(name, at): (String, Span)| keeps(cx, (&name, at), body);
    let same_text = on_one_line(cx.file, held.span) == item.text;
    let is_array = held.is_name
        && cx.declared_type(&item.name, item.span.start).is_some_and(|ty| matches!(ty, DeclaredType::Array { .. }));
    let all_stay = || {
        let names =
            std::iter::once((item.name.clone(), item.span)).chain(item.bounds().flat_map(|span| cx.names_in(span)));
        names.into_iter().all(stays)
    };
    is_array || same_text && cx.means_the_same(held.span, item.span.start) && all_stay()
}

/// What the constructs around say of the storage of all that some constructs map: the lists of `target data` directives.
pub(super) fn evidence<'m>(
    cx: &Context<'_>,
    members: impl Iterator<Item = (&'m &'m Member, &'m Lists)>,
) -> Vec<Vec<String>> {
    let mut found: Vec<(ConstructId, Vec<String>)> = Vec::new();
    for (member, own) in members {
        for (id, held) in own.mapped.iter().filter_map(|item| holder(cx, member, item)) {
            let text = on_one_line(cx.file, held.span);
            match found.iter_mut().find(|(known, _)| *known == id) {
                Some((_, texts)) if texts.contains(&text) => {}
                Some((_, texts)) => texts.push(text),
                None => found.push((id, vec![text])),
            }
        }
    }
    found.into_iter().map(|(_, texts)| texts).collect()
}
