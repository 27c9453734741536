//! Whether one team could run a `distribute` loop with parallel loops inside: the teams share the outer loop, the
//! threads of each team the inner ones.

use crate::analysis::associated_loops::known_iterations;
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::Construct;
use crate::region::loop_nest::canonical_nest;
use crate::region::target::TargetRegion;
use crate::semantics::Program;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseName, Declaration, Directive, NodeId, NodeKind};

/// With fewer iterations of the outer loop than this, a large device has idle multiprocessors.
const FEW: u64 = 128;

/// The region as one team would run it, if the teams share a loop with several parallel loops inside. The original may
/// run the iterations of that loop one after the other, whatever its teams are.
///
/// `None` if a clause of the loop has a further meaning.
pub(crate) fn in_order(cx: &Program<'_>, region: &TargetRegion) -> Option<TargetRegion> {
    if region.chain.leaves != [Leaf::Target, Leaf::Teams, Leaf::Distribute] {
        return None;
    }
    let body = cx.constructs.construct(region.chain.innermost()).body_span;
    let loops = cx.constructs.within(body).filter(|(construct, _)| construct.leaves.contains(&Leaf::Parallel)).count();
    let mut clauses = region.chain.constructs.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
    let permitted = clauses.all(|clause| match clause.name {
        ClauseName::NumTeams => is_number(cx, clause),
        ClauseName::DistSchedule => !cx.file.show(clause.span).contains(','),
        ClauseName::Map
        | ClauseName::Device
        | ClauseName::If
        | ClauseName::ThreadLimit
        | ClauseName::Firstprivate
        | ClauseName::Shared
        | ClauseName::Default
        | ClauseName::Defaultmap
        | ClauseName::IsDevicePtr => true,
        _ => false,
    });
    (loops > 1 && permitted).then(|| region.of_one_team(cx.tree, cx.constructs)).flatten()
}

fn is_number(cx: &Program<'_>, clause: &Clause) -> bool {
    clause.expression().is_some_and(|span| cx.file.show(span).trim().bytes().all(|byte| byte.is_ascii_digit()))
}

/// Is it a clause about how teams share a loop? It is removed with the teams.
pub(crate) fn is_of_teams(clause: &Clause) -> bool {
    matches!(clause.name, ClauseName::NumTeams | ClauseName::DistSchedule)
}

/// Why the region stays as it is. `None` if no parallel loop is nested in the `distribute` loop.
pub(super) fn nested_parallel(cx: &Program<'_>, region: &TargetRegion) -> Option<Reason> {
    let body = cx.constructs.construct(region.chain.innermost()).body_span;
    let is_parallel = |construct: &Construct| construct.leaves.contains(&Leaf::Parallel);
    let inside: Vec<(&Construct, &Directive)> =
        cx.constructs.within(body).filter(|(construct, _)| is_parallel(construct)).collect();
    let (construct, directive) = inside.first()?;
    let statements = statements(cx, region).unwrap_or_default();
    if inside.len() == 1 && statements.len() == 1 && construct.body == statements.first().copied() {
        let message = format!("the teams share the outer loop, and the threads of each `{}` inside", directive.name);
        return Some(Reason::new(ReasonCode::TwoLevels, directive.span, message));
    }
    let are_loops = inside.iter().all(|(construct, _)| {
        matches!(construct.leaves.as_slice(), [Leaf::Parallel, Leaf::For] | [Leaf::Parallel, Leaf::For, Leaf::Simd])
    });
    // Of one loop alone no kernels can be made that would use the device better.
    let has_few = || {
        inside.len() > 1 && known_iterations(cx, region.chain.innermost()).is_some_and(|iterations| iterations < FEW)
    };
    // How a compiler translates a serial loop is nothing that teams or threads do.
    let others = cx.constructs.within(body).filter(|(_, directive)| directive.name != "unroll");
    if are_loops && others.count() == inside.len() && !has_few() {
        let message = format!(
            "two levels already: the teams share the outer loop, and the threads of each what is parallel inside, as `{}`",
            directive.name
        );
        return Some(Reason::new(ReasonCode::TwoLevels, directive.span, message));
    }
    let mut message = format!(
        "`{}` stands in a `distribute` loop beside other statements, and shares its team with them",
        directive.name
    );
    if let Some(name) = declared(cx, &statements) {
        message = format!("{message}: each team keeps its `{name}` from one statement to the next");
    }
    Some(Reason::new(ReasonCode::NestedParallel, directive.span, message))
}

/// The statements in the body of the `distribute` loop. `None` if the loop is not understood.
fn statements(cx: &Program<'_>, region: &TargetRegion) -> Option<Vec<NodeId>> {
    let construct = cx.constructs.construct(region.chain.innermost());
    let clauses =
        region.chain.constructs.iter().flat_map(|id| cx.constructs.directive(*id).clauses_of(ClauseName::Collapse));
    let mut depths = clauses.filter_map(|clause| cx.file.show(clause.expression()?).trim().parse::<usize>().ok());
    let nest = canonical_nest(cx.file, cx.tree, construct.body?, depths.next().unwrap_or(1).min(16)).ok()?;
    let block = cx.tree.kind(nest.body) == NodeKind::CompoundStatement;
    Some(if block { cx.tree.named_children(nest.body).collect() } else { vec![nest.body] })
}

/// The first variable that is declared among statements.
fn declared(cx: &Program<'_>, statements: &[NodeId]) -> Option<String> {
    let declaration = statements.iter().find_map(|node| Declaration::of(cx.tree, *node))?;
    let declarator = declaration.declarators().next()?;
    Some(cx.file.show(cx.tree.span(cx.tree.innermost_declarator(declarator))).into_owned())
}
