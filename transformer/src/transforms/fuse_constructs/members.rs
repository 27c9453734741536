//! Constructs that follow each other in a block.

use std::collections::BTreeSet;

use super::apart;
use super::guards::Guard;
use crate::analysis::associated_loops::associated_loops;
use crate::context::Context;
use crate::plan::Reason;
use crate::region::construct::ConstructId;
use crate::region::loop_nest::CanonicalLoop;
use crate::region::target::{TargetRegion, target_regions};
use crate::semantics::Program;
use crate::semantics::symbols::VariableId;
use crate::semantics::uses::{Role, Use, uses_below};
use crate::source::{Span, words};
use crate::syntax::{NodeId, NodeKind};
use crate::transforms::{checks, two_forms};

/// A construct.
pub(super) struct Member {
    pub region: TargetRegion,
    /// The `if` around it.
    pub guard: Option<Guard>,
    pub id: ConstructId,
    /// The whole directive.
    pub directive: Span,
    /// Its own loops, outermost first.
    pub loops: Vec<CanonicalLoop>,
    /// The variables of these loops.
    pub variables: Vec<Option<VariableId>>,
    /// What the innermost one iterates.
    pub body: NodeId,
    /// Is that a block?
    pub is_block: bool,
    /// The statements of the body: without its braces, where it is a block.
    pub content: Span,
    /// The names in the body that stand for variables from outside, the construct's loop variables not among them.
    pub outside: Vec<(VariableId, Use)>,
}

impl Member {
    /// The construct, with the `if` around it.
    pub(super) fn whole(&self) -> Span {
        self.guard.as_ref().map_or(self.region.extent, |guard| guard.span)
    }

    /// The variables of which it may write the value, an element or what they lead to.
    pub(super) fn written(&self) -> BTreeSet<VariableId> {
        self.outside.iter().filter(|(_, used)| used.role != Role::Read).map(|(key, _)| *key).collect()
    }

    /// Does the body hold this word, or a macro with it?
    pub(super) fn names(&self, cx: &Program<'_>, name: &str) -> bool {
        let names_it = |text: &str| words(text).any(|word| word == name);
        names_it(&cx.file.show(self.content)) || cx.uses_macro_with(self.content, &names_it)
    }

    /// The expressions in the heads of its loops, whose values are their ranges.
    pub(super) fn bounds(&self) -> impl Iterator<Item = Span> {
        self.loops.iter().flat_map(|read| [Some(read.lower), Some(read.upper), read.step.amount]).flatten()
    }
}

/// The constructs of the file, each with its neighbours, in the order of the text.
pub(super) fn runs(cx: &Context<'_>) -> Vec<Vec<Member>> {
    let mut runs: Vec<Vec<Member>> = Vec::new();
    let regions = target_regions(cx.tree, cx.constructs);
    for region in regions.into_iter().filter(TargetRegion::is_league_loop) {
        let Some(member) = member(cx, region) else { continue };
        match runs.last_mut().filter(|run| run.last().is_some_and(|last| are_neighbours(cx, last, &member))) {
            Some(run) => run.push(member),
            None => runs.push(vec![member]),
        }
    }
    runs
}

fn member(cx: &Context<'_>, region: TargetRegion) -> Option<Member> {
    let (tree, symbols) = (cx.tree, cx.symbols());
    let id = region.chain.constructs.first().copied()?;
    let construct = cx.constructs.construct(id);
    let loops = associated_loops(cx, &region).map(|(loops, _)| loops).unwrap_or_default();
    let body = loops.last().map(|last| last.body).or(construct.body)?;
    let variable = |read: &CanonicalLoop| symbols.lookup(&read.variable, tree.span(read.body).start).map(|it| it.id());
    let variables: Vec<_> = loops.iter().map(variable).collect();
    let uses = uses_below(cx.file, tree, body).into_iter();
    let uses = uses.filter(|used| !matches!(used.role, Role::Callee | Role::Declaration));
    let from_outside = |used: Use| {
        let key = symbols.lookup(&used.name, used.span.start)?.id();
        (!key.is_within(construct.body_span) && !variables.contains(&Some(key))).then_some((key, used))
    };
    let outside = uses.filter_map(from_outside).collect();
    let (is_block, span) = (tree.kind(body) == NodeKind::CompoundStatement, tree.span(body));
    let content = if is_block { Span::new(span.start + 1, span.end - 1) } else { span };
    let directive = cx.constructs.directive(id).span;
    let guard = Guard::of(cx, directive, construct.body?);
    Some(Member { region, guard, id, directive, loops, variables, body, is_block, content, outside })
}

/// Do two constructs stand in one block, with nothing but blanks and comments between them?
fn are_neighbours(cx: &Program<'_>, first: &Member, second: &Member) -> bool {
    let block = |member: &Member| {
        let node = member.guard.as_ref().map(|guard| guard.node).or(cx.constructs.construct(member.id).body);
        node.and_then(|node| cx.tree.parent(node))
    };
    let parent = block(first);
    let is_in_block =
        parent.is_some_and(|parent| cx.tree.kind(parent) == NodeKind::CompoundStatement) && parent == block(second);
    let gap = first.whole().end..second.whole().start;
    is_in_block && gap.start <= gap.end && is_blank(cx, Span::new(gap.start, gap.end), parent)
}

/// Are there but blanks and comments?
pub(super) fn is_blank(cx: &Program<'_>, gap: Span, block: Option<NodeId>) -> bool {
    let comments = block.into_iter().flat_map(|block| cx.tree.children(block));
    let mut comments = comments.filter(|node| cx.tree.kind(*node) == NodeKind::Comment).map(|node| cx.tree.span(node));
    let mut at = gap.start;
    let is_white = |span: Span| cx.file.bytes(span).iter().all(u8::is_ascii_whitespace);
    let ended = comments.by_ref().filter(|comment| gap.contains(*comment)).all(|comment| {
        let white = is_white(Span::new(at, comment.start.max(at)));
        at = comment.end;
        white
    });
    ended && is_white(Span::new(at, gap.end))
}

/// Why the text of a construct does not allow to take it together with others.
pub(super) fn doubts(cx: &Context<'_>, member: &Member) -> Vec<Reason> {
    let mut reasons = doubts_alone(cx, member);
    if reasons.is_empty() {
        let ends = |node: &NodeId| {
            cx.tree.kind(*node) == NodeKind::ContinueStatement && ends_iteration(cx, member.body, *node)
        };
        reasons.extend(cx.tree.descendants(member.body).find(ends).map(|node| skips(cx, node)));
    }
    reasons
}

/// Why the text of a construct does not allow to write in it.
pub(super) fn doubts_alone(cx: &Context<'_>, member: &Member) -> Vec<Reason> {
    let mut reasons = checks::text_reasons(cx, &member.region);
    reasons.extend(cx.device_code(&member.region));
    if reasons.is_empty() {
        reasons.extend(form(cx, member));
    }
    reasons
}

fn form(cx: &Context<'_>, member: &Member) -> Option<Reason> {
    let tree = cx.tree;
    let construct = cx.constructs.construct(member.id);
    if member.region.chain.constructs.len() > 1 {
        return Some(apart(member.directive, "only constructs of one directive are taken together"));
    }
    if cx.constructs.enclosing(member.id).is_some_and(|id| cx.constructs.construct(id).body == construct.body) {
        return Some(apart(member.directive, "the directive before this one is about this statement alone"));
    }
    if member.loops.is_empty() {
        return Some(apart(construct.body_span, "the loops of this construct are not understood"));
    }
    let braces = cx.file.bytes(tree.span(member.body));
    if member.is_block && !(braces.starts_with(b"{") && braces.ends_with(b"}")) {
        return Some(apart(tree.span(member.body), "the braces of this block are spelled otherwise"));
    }
    if let Some(inside) = checks::directive_in(cx, construct.body_span) {
        return Some(apart(inside, "a directive stands in this loop"));
    }
    if let Some(other) = two_forms::other_form(cx, member.body) {
        let message = "a region in the other branch may be another form of this one, and is known by these loops";
        return Some(apart(member.directive, message).with_label(other, "the other region"));
    }
    let is_jump = |node: &NodeId| matches!(tree.kind(*node), NodeKind::LabeledStatement | NodeKind::GotoStatement);
    tree.descendants(member.body).find(is_jump).map(|node| skips(cx, node))
}

fn skips(cx: &Context<'_>, node: NodeId) -> Reason {
    apart(cx.tree.span(node), "in one kernel this jump or label would skip what the other constructs do")
}

/// Does a `continue` end the iteration of the construct's own loop?
fn ends_iteration(cx: &Context<'_>, body: NodeId, node: NodeId) -> bool {
    let tree = cx.tree;
    let mut inside = tree.ancestors(node).take_while(|above| tree.span(body).contains(tree.span(*above)));
    !inside.any(|above| {
        matches!(
            tree.kind(above),
            NodeKind::ForStatement | NodeKind::WhileStatement | NodeKind::DoStatement | NodeKind::ForRangeLoop
        )
    })
}
