//! Recognises a region that `split` has already written in two forms: with one kernel and with several.

use crate::region::target::{Chain, TargetRegion, target_regions};
use crate::semantics::Program;
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{For, NodeId};
use crate::transforms::checks::directive_in;
use crate::transforms::two_forms;

/// Does the region stand in one branch of an `if` whose other branch holds the same loops, each a kernel on the full grid?
/// Loops are the same if their heads are, those of the loops in them included. Other passes may have changed that branch since:
/// a loop cut into tiles stands there twice, once as it was, the heads of collapsed loops may have changed places, sums that
/// are kept in variables and declarations that move change the statements, and loops that are unrolled where they are long stand twice.
pub(crate) fn is_one_of_two_forms(cx: &Program<'_>, region: &TargetRegion) -> bool {
    let first = region.chain.constructs.first().copied();
    let Some(body) = first.and_then(|id| cx.constructs.construct(id).body) else { return false };
    let Some(other) = two_forms::other_branch(cx, body).map(|other| cx.tree.span(other)) else { return false };
    let is_grid = |chain: &Chain| {
        let has_threads = chain.leaves.iter().any(|leaf| matches!(leaf, Leaf::Parallel | Leaf::Loop));
        chain.is_loop() && chain.leaves.contains(&Leaf::Teams) && has_threads
    };
    if is_grid(&region.chain) {
        return false;
    }
    let regions = target_regions(cx.tree, cx.constructs);
    let is_kernel = |region: &&TargetRegion| {
        is_grid(&region.chain) || region.shares_rows(cx.constructs) || region.combines_teams(cx.constructs)
    };
    let grids = regions.iter().filter(|region| other.contains(region.extent)).filter(is_kernel);
    let loop_of = |chain: &Chain| sorted_heads(cx, cx.constructs.construct(chain.innermost()).body_span);
    let mut grids = grids.map(|region| loop_of(&region.chain));
    // A region may consist only of a loop that teams of one thread share.
    let whole = region.chain.is_loop().then_some(&region.chain);
    let own: Vec<Vec<u8>> = whole.into_iter().chain(region.loops()).map(loop_of).collect();
    !own.is_empty() && own.iter().all(|own| grids.any(|grid| grid == *own))
}

/// The bytes of the heads of the loops in a span without blanks, sorted so that the order of the loops does not matter.
fn sorted_heads(cx: &Program<'_>, span: Span) -> Vec<u8> {
    let tree = cx.tree;
    let inside = tree.descendants(tree.covering(span)).filter(|node| span.contains(tree.span(*node)));
    let loops = inside.filter(|node| For::of(tree, *node).is_some() && !is_short_form(cx, *node, span));
    // A directive may stand between a head and the loop inside.
    let closes = |node: &NodeId| cx.file.bytes(tree.span(*node)) == b")";
    let end = |node: NodeId| tree.children(node).filter(closes).last().map(|last| tree.span(last).end);
    let heads = loops.filter_map(|node| Some(Span::new(tree.span(node).start, end(node)?)));
    let mut bytes: Vec<u8> = heads.flat_map(|head| cx.file.bytes(head).iter().copied()).collect();
    bytes.retain(|byte| !byte.is_ascii_whitespace());
    bytes.sort_unstable();
    bytes
}

/// Does a loop stand in the `else` of an `if` within a kernel that unrolls it by a directive where it is long?
fn is_short_form(cx: &Program<'_>, node: NodeId, kernel: Span) -> bool {
    let consequence = two_forms::other_branch(cx, node).map(|other| cx.tree.span(other));
    let is_before = |other: &Span| kernel.contains(*other) && other.end < cx.tree.span(node).start;
    consequence.filter(is_before).is_some_and(|long| directive_in(cx, long).is_some())
}
