//! Whether a region has one of the forms that `split` knows, and what its statements are. It reads only directives and
//! syntax.

use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::target::{Chain, Flow, Segment, TargetRegion};
use crate::semantics::Program;
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Directive, NodeId, NodeKind};
use crate::transforms::checks::text;

mod clause_rules;
pub(super) mod clauses;
pub(super) mod distribute;
mod jumps;
pub(super) mod own_output;
mod parallel;
mod sections;

pub(super) use self::jumps::{leaves_inner_loop, stays_within};

pub(super) use self::sections::Sections;

/// The form of the region, which determines what each kernel becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `target` with one `parallel for` and nothing else, or `target teams distribute`: it only widens.
    OneLoop,
    /// `target { parallel for .. }`: one team, whose loops widen to the league.
    OneTeam,
    /// `target teams { distribute parallel for .. }`: a league already.
    League,
}

impl Form {
    /// Does one team become many?
    pub(super) fn widens(self) -> bool {
        self != Self::League
    }
}

/// A region of a known form: the directives around its loops, and the loops.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub form: Form,
    /// The directives that belong to no single loop: `target`, and `teams` if it is written separately.
    pub outer: Vec<ConstructId>,
    /// The loops; the chain of each starts behind `outer`.
    pub loops: Vec<Chain>,
    /// The statements around and between the loops: control flow, declarations, expressions. They move to the host if
    /// it can execute them.
    pub host: Vec<HostPart>,
    /// The `parallel` constructs that hold several loops, or a loop and other statements. The chains of their loops
    /// start with them.
    pub parallel: Vec<ConstructId>,
    /// Sections that remain kernels of one team.
    pub sections: Vec<Sections>,
    /// The loop that the teams of the original share, if the host runs it in order.
    pub shared: Option<NodeId>,
    /// Directives that only order threads, in a way that the order of the kernels guarantees too.
    pub dropped: Vec<ConstructId>,
}

/// A piece of the region that the host executes in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostPart {
    /// `if`, `for`, `while`, `do` or a block around loops.
    Flow(NodeId),
    /// A declaration beside loops.
    Declaration(NodeId),
    /// An expression statement beside loops, or a jump inside the control flow around them.
    Statement(NodeId),
    /// `if`, `for`, `while`, `do` or a block beside loops, with all statements in it.
    Control(NodeId),
}

impl HostPart {
    /// Its statement.
    pub(super) fn node(self) -> NodeId {
        match self {
            Self::Flow(node) | Self::Declaration(node) | Self::Statement(node) | Self::Control(node) => node,
        }
    }
}

impl Shape {
    fn one_loop(outer: Vec<ConstructId>, chain: Chain) -> Self {
        Self {
            form: Form::OneLoop,
            outer,
            loops: vec![chain],
            host: Vec::new(),
            parallel: Vec::new(),
            sections: Vec::new(),
            shared: None,
            dropped: Vec::new(),
        }
    }

    /// Does each loop of the league have teams of one thread?
    pub(super) fn has_teams_of_one(&self) -> bool {
        !self.loops.is_empty() && self.loops.iter().all(|chain| are_teams_of_one(&chain.leaves))
    }

    /// May the output launch more than one kernel where the original launched one?
    pub(super) fn launches_several(&self) -> bool {
        self.loops.len() > 1 || !self.host.is_empty() || !self.sections.is_empty()
    }
}

/// Does one thread of each team run the iterations of a loop?
pub(super) fn are_teams_of_one(leaves: &[Leaf]) -> bool {
    leaves.contains(&Leaf::Distribute) && !leaves.contains(&Leaf::Parallel)
}

/// The region's form. `None` if there is nothing to split.
pub(super) fn shape_of(cx: &Program<'_>, region: &TargetRegion) -> Result<Option<Shape>, Vec<Reason>> {
    let prefix = region.chain.leaves.as_slice();
    if region.chain.is_loop() {
        return one_loop(cx, region);
    }
    let chain = &region.chain.constructs;
    let innermost = cx.constructs.construct(region.chain.innermost());
    let inside = cx
        .constructs
        .within(innermost.body_span)
        .filter(|(construct, _)| !chain.iter().any(|id| cx.constructs.construct(*id).directive == construct.directive));
    let parallelism = |leaf: &Leaf| {
        matches!(leaf, Leaf::Parallel | Leaf::Loop) || (leaf == &Leaf::Distribute && prefix.contains(&Leaf::Teams))
    };
    let has_parallelism = inside.flat_map(|(construct, _)| &construct.leaves).any(parallelism);
    if !has_parallelism && !prefix.contains(&Leaf::Parallel) {
        return Ok(None);
    }
    if sections::holds(prefix) {
        return Ok(None);
    }
    let form = match prefix {
        [Leaf::Target] | [Leaf::Target, Leaf::Parallel] => Form::OneTeam,
        [Leaf::Target, Leaf::Teams] => Form::League,
        _ => return Err(vec![team_region(cx, region, region.chain.innermost())]),
    };
    let parallel = parallel::regions(cx, region);
    let mut reasons: Vec<Reason> = match form {
        Form::League => parallel.iter().map(|id| team_region(cx, region, *id)).collect(),
        _ => parallel.iter().filter_map(|id| parallel::without_loops(cx, region, *id)).collect(),
    };
    let mut host = Vec::new();
    let mut dropped = Vec::new();
    let mut sections = Vec::new();
    for segment in region.all_segments() {
        let by_all_threads = parallel::encloses(cx, &parallel, segment);
        match segment {
            // Already reported above.
            _ if form == Form::League && by_all_threads => continue,
            Segment::Construct(chain) if form.widens() && parallel::only_orders(cx, chain.innermost()) => {
                dropped.push(chain.innermost());
                continue;
            }
            Segment::Construct(chain) if form == Form::OneTeam && !by_all_threads && sections::are_sections(chain) => {
                match sections::read(cx, chain) {
                    Ok(found) => sections.push(found),
                    Err(reason) => reasons.push(reason),
                }
                continue;
            }
            Segment::Serial(node) if by_all_threads && !is_expression(cx, *node) => {
                reasons.push(parallel::executed_by_all(cx.tree.span(*node)));
                continue;
            }
            _ => {}
        }
        match host_part(cx, region, segment) {
            Some(part) => host.push(part),
            None => reasons.extend(segment_reason(cx, region, form, segment)),
        }
    }
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let loops: Vec<Chain> = region.loops().cloned().collect();
    if loops.is_empty() {
        return Ok(None);
    }
    let outer = region.chain.constructs.clone();
    let innermost = cx.constructs.construct(region.chain.innermost());
    let shared = innermost.body.filter(|_| innermost.leaves.last() == Some(&Leaf::Distribute));
    Ok(Some(Shape { form, outer, loops, host, parallel, sections, shared, dropped }))
}

fn one_loop(cx: &Program<'_>, region: &TargetRegion) -> Result<Option<Shape>, Vec<Reason>> {
    let leaves = region.chain.leaves.as_slice();
    match leaves {
        [Leaf::Target, Leaf::Parallel, Leaf::For | Leaf::Loop]
        | [Leaf::Target, Leaf::Parallel, Leaf::For, Leaf::Simd] => Ok(Some(widening(cx, region))),
        [Leaf::Target, Leaf::Teams, Leaf::Distribute, rest @ ..] if are_teams_of_one(leaves) => {
            match distribute::nested_parallel(cx, region) {
                Some(reason) => Err(vec![reason]),
                None if matches!(rest, [] | [Leaf::Simd]) => Ok(Some(widening(cx, region))),
                None => Ok(None),
            }
        }
        _ => Ok(None),
    }
}

/// The shape of a region that is one loop.
fn widening(cx: &Program<'_>, region: &TargetRegion) -> Shape {
    let first = region.chain.constructs.first().copied();
    let apart = first.is_some_and(|id| cx.constructs.construct(id).leaves == [Leaf::Target]);
    let (outer, rest) = region.chain.constructs.split_at(usize::from(apart));
    let leaves = region.chain.leaves.iter().skip(usize::from(apart)).copied().collect();
    Shape::one_loop(outer.to_vec(), Chain { constructs: rest.to_vec(), leaves })
}

/// A segment that the host may execute, if the facts show that it can.
fn host_part(cx: &Program<'_>, region: &TargetRegion, segment: &Segment) -> Option<HostPart> {
    let inner = cx.constructs.construct(region.chain.innermost()).body_span;
    match segment {
        Segment::Flow(flow) => Some(HostPart::Flow(flow.node)),
        Segment::Declaration(node) if !has_team_region(cx, region) => Some(HostPart::Declaration(*node)),
        Segment::Serial(node) if is_expression(cx, *node) => Some(HostPart::Statement(*node)),
        Segment::Control(node) => Some(HostPart::Control(*node)),
        // The jump stays inside the loop that it leaves or continues.
        Segment::Jump(node) if leaves_inner_loop(cx, inner, *node) => Some(HostPart::Statement(*node)),
        _ => None,
    }
}

fn is_expression(cx: &Program<'_>, node: NodeId) -> bool {
    cx.tree.kind(node) == NodeKind::ExpressionStatement
}

/// Why a segment prevents the split. `None` for a loop of the right form.
fn segment_reason(cx: &Program<'_>, region: &TargetRegion, form: Form, segment: &Segment) -> Option<Reason> {
    let at = |code, node, message: &str| Some(Reason::new(code, cx.tree.span(node), message));
    match segment {
        Segment::Loop(chain) => loop_reason(cx, form, chain),
        Segment::Construct(chain) => Some(construct_reason(cx, region, chain)),
        Segment::Parallel(_) => None,
        Segment::Declaration(node) => at(
            ReasonCode::CudaStyle,
            *node,
            "written as in CUDA: each team declares data here, and its threads work together below, so that nothing can be split",
        ),
        Segment::Flow(Flow { node, .. }) | Segment::Control(node) | Segment::Serial(node) => {
            at(ReasonCode::SerialStatement, *node, "this statement runs on one thread of the device between the loops")
        }
        Segment::Jump(node) => at(ReasonCode::JumpOut, *node, "control may leave the region here"),
        Segment::Preprocessor(node) => {
            let directive = region.chain.constructs.first().map(|id| cx.constructs.directive(*id));
            Some(text::cut(directive, cx.tree.span(*node)))
        }
    }
}

fn loop_reason(cx: &Program<'_>, form: Form, chain: &Chain) -> Option<Reason> {
    let fits = match form {
        Form::League => matches!(
            chain.leaves.as_slice(),
            [Leaf::Distribute, Leaf::Parallel, Leaf::For]
                | [Leaf::Distribute, Leaf::Parallel, Leaf::For, Leaf::Simd]
                | [Leaf::Distribute]
                | [Leaf::Distribute, Leaf::Simd]
                | [Leaf::Loop]
        ),
        Form::OneLoop | Form::OneTeam => matches!(
            chain.leaves.as_slice(),
            [Leaf::Parallel, Leaf::For | Leaf::Loop] | [Leaf::Parallel, Leaf::For, Leaf::Simd]
        ),
    };
    let directive = cx.constructs.directive(chain.constructs.first().copied()?);
    (!fits).then(|| {
        let message = format!("only loops run on the whole grid, and this `{}` is none", directive.name);
        Reason::new(ReasonCode::NestedParallel, directive.span, message)
    })
}

fn construct_reason(cx: &Program<'_>, region: &TargetRegion, chain: &Chain) -> Reason {
    let id = chain.constructs.first().copied().unwrap_or(ConstructId(0));
    let directive = cx.constructs.directive(id);
    match chain.leaves.last() {
        Some(Leaf::Parallel) => team_region(cx, region, chain.innermost()),
        _ => outside_loop(directive),
    }
}

/// A construct that is no loop and stands beside the loops.
pub(crate) fn outside_loop(directive: &Directive) -> Reason {
    let team = ["barrier", "critical", "single", "master", "masked", "ordered", "flush", "atomic", "taskwait"];
    let binds = team.iter().any(|name| directive.name == *name || directive.name.starts_with(&format!("{name} ")));
    let code = if binds { ReasonCode::TeamDependent } else { ReasonCode::OtherConstruct };
    Reason::new(code, directive.span, format!("`{}` beside the loops is not taken apart", directive.name))
}

/// Why a `parallel` region that is no single loop prevents the split: its threads may work together.
fn team_region(cx: &Program<'_>, region: &TargetRegion, id: ConstructId) -> Reason {
    let directive = cx.constructs.directive(id);
    if region.chain.leaves.contains(&Leaf::Teams) && threads_cooperate(cx, cx.constructs.construct(id).body_span) {
        let message = "written as in CUDA: the threads of each team work together here, so that nothing can be split";
        return Reason::new(ReasonCode::CudaStyle, directive.span, message);
    }
    let message = format!(
        "`{}` holds several loops or further statements for the threads of one team: write a parallel loop for each",
        directive.name
    );
    Reason::new(ReasonCode::BareParallel, directive.span, message)
}

fn has_team_region(cx: &Program<'_>, region: &TargetRegion) -> bool {
    region.segments.iter().any(|segment| match segment {
        Segment::Construct(chain) => {
            chain.leaves.last() == Some(&Leaf::Parallel)
                && threads_cooperate(cx, cx.constructs.construct(chain.innermost()).body_span)
        }
        Segment::Parallel(parallel) => {
            threads_cooperate(cx, cx.constructs.construct(parallel.chain.innermost()).body_span)
        }
        _ => false,
    })
}

/// Is there a barrier or a query of the thread's number?
fn threads_cooperate(cx: &Program<'_>, span: Span) -> bool {
    let barrier = cx.constructs.within(span).any(|(_, directive)| directive.name == "barrier");
    barrier || cx.file.show(span).contains("omp_get_thread_num")
}
