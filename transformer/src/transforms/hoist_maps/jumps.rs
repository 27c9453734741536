//! Ways out of the statements around which an environment would stand.

use crate::context::Context;
use crate::source::{Span, words};
use crate::syntax::{NodeId, NodeKind as K};

/// How statements are left other than past the last of them.
#[derive(Default)]
pub(super) struct WaysOut {
    /// Jumps to behind them, or out of the function; the first statement of a branch that ends with one.
    pub jumps: Vec<NodeId>,
    /// Calls that end the program: functions that run then may read what others know.
    pub ends: Vec<NodeId>,
    /// What leads into them or out of them where no directive can stand before: labels, exceptions, code that runs elsewhere.
    pub blocked: Option<Span>,
}

impl WaysOut {
    /// The first of them.
    pub(super) fn first(&self, cx: &Context<'_>) -> Option<Span> {
        self.jumps.first().map(|jump| cx.tree.span(*jump)).into_iter().chain(self.blocked).min_by_key(|span| span.start)
    }
}

/// A branch that leads out of a statement whatever it does before: an environment ends where it begins, and what the host does in it is done
/// behind the environment.
pub(super) struct LeavingBranch {
    /// The block.
    pub span: Span,
    /// Its first statement.
    pub first: NodeId,
}

/// The branches of `if` in a statement that end with a jump out of it.
pub(super) fn leaving_branches(cx: &Context<'_>, root: NodeId) -> Vec<LeavingBranch> {
    let tree = cx.tree;
    let is_branch = |node: &NodeId| {
        let is_block = *node != root && tree.kind(*node) == K::CompoundStatement;
        is_block && tree.parent(*node).is_some_and(|above| matches!(tree.kind(above), K::IfStatement | K::ElseClause))
    };
    let mut found: Vec<LeavingBranch> = Vec::new();
    // A jump may lead to a label of the statement.
    if tree.descendants(root).any(|node| tree.kind(node) == K::LabeledStatement) {
        return found;
    }
    for block in tree.descendants(root).filter(is_branch) {
        let is_inside = found.iter().any(|outer| outer.span.contains(tree.span(block)));
        let mut around = tree.ancestors(block).take_while(|above| *above != root);
        let is_elsewhere = around.any(|above| tree.kind(above) == K::LambdaExpression) || is_in_kernel(cx, block);
        if !is_inside && !is_elsewhere {
            found.extend(leaving(cx, block));
        }
    }
    found
}

/// `block` if it does more than to jump, and does nothing but leave in the end.
fn leaving(cx: &Context<'_>, block: NodeId) -> Option<LeavingBranch> {
    let (tree, span) = (cx.tree, cx.tree.span(block));
    // A directive that ends an environment here stands before all others.
    let is_end = |pragma: &Span| {
        let directives = cx.constructs.ids_within(span).map(|id| cx.constructs.directive(id));
        directives.into_iter().any(|it| it.span.overlaps(*pragma) && it.is("target exit data"))
    };
    let parts: Vec<NodeId> = tree.named_children(block).collect();
    let (first, last) = (*parts.first()?, *parts.last()?);
    let mut pragmas = cx.scan.masked.iter().filter(|pragma| span.contains(**pragma));
    let stays = |node: NodeId| {
        let caught = |by: &[K]| {
            let mut around = tree.ancestors(node).take_while(|above| *above != block);
            around.any(|above| by.contains(&tree.kind(above)))
        };
        match tree.kind(node) {
            K::LabeledStatement | K::ThrowStatement | K::CoReturnStatement | K::LambdaExpression => true,
            K::BreakStatement => !caught(&LOOPS) && !caught(&[K::SwitchStatement]),
            K::ContinueStatement => !caught(&LOOPS),
            kind => kind.is_preprocessor(),
        }
    };
    let jumps = |text: &str| words(text).any(|word| JUMPS.contains(&word));
    let leaves = parts.len() > 1
        && matches!(tree.kind(last), K::ReturnStatement | K::GotoStatement)
        && pragmas.all(|pragma| pragma.end <= tree.span(first).start && is_end(pragma))
        && tree.problem_in(span).is_none()
        && !tree.inactive().iter().any(|inactive| inactive.overlaps(span))
        && !tree.descendants(block).any(stays)
        && !cx.uses_macro_with(span, &jumps);
    leaves.then_some(LeavingBranch { span, first })
}

fn is_in_kernel(cx: &Context<'_>, node: NodeId) -> bool {
    let mut targets = cx.constructs.ids().filter(|id| cx.constructs.is_target(*id));
    targets.any(|id| cx.constructs.construct(id).body_span.contains(cx.tree.span(node)))
}

/// What leads elsewhere where a macro hides it.
const JUMPS: [&str; 7] = ["continue", "break", "goto", "return", "throw", "setjmp", "longjmp"];

const LOOPS: [K; 4] = [K::ForStatement, K::WhileStatement, K::DoStatement, K::ForRangeLoop];

/// The ways out of some statements, with these branches that leave them.
pub(super) fn ways_out(cx: &Context<'_>, statements: &[NodeId], branches: &[&LeavingBranch]) -> WaysOut {
    let tree = cx.tree;
    let mut found = WaysOut::default();
    for (root, node) in statements.iter().flat_map(|root| tree.descendants(*root).map(move |node| (*root, node))) {
        let caught = |kinds: &[K]| {
            let inner = tree.ancestors(node).take_while(|above| *above != root).chain(std::iter::once(root));
            node != root && inner.into_iter().any(|above| kinds.contains(&tree.kind(above)))
        };
        let (is_jump, is_blocked) = match tree.kind(node) {
            K::ReturnStatement | K::GotoStatement => (true, caught(&[K::LambdaExpression])),
            K::LabeledStatement | K::ThrowStatement | K::CoReturnStatement => (false, true),
            K::BreakStatement => (!caught(&LOOPS) && !caught(&[K::SwitchStatement]), false),
            K::ContinueStatement => (!caught(&LOOPS), false),
            _ => (false, false),
        };
        let is_end = cx.ends_program(node);
        if !(is_jump || is_blocked || is_end) || is_in_kernel(cx, node) {
            continue;
        }
        if let Some(branch) = branches.iter().find(|branch| branch.span.contains(tree.span(node))) {
            if !found.jumps.contains(&branch.first) {
                found.jumps.push(branch.first);
            }
            continue;
        }
        if is_end && caught(&[K::LambdaExpression]) {
            found.blocked.get_or_insert(tree.span(node));
        } else if is_end {
            found.ends.push(node);
        } else if is_blocked {
            found.blocked.get_or_insert(tree.span(node));
        } else {
            found.jumps.push(node);
        }
    }
    found
}
