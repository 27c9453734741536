//! Target regions: which constructs lead into one, and the segments it consists of.

use crate::region::construct::{ConstructId, ConstructTree};
use crate::source::Span;
use crate::syntax::spec_table::{Association, Leaf};
use crate::syntax::{Control, HostTree, NodeId, NodeKind};

/// Constructs that follow each other with nothing in between: stacked (one statement behind several directives) or
/// nested (a block that holds one construct and nothing else). Together they mean what one combined construct would
/// mean, except that the data-sharing clauses hold for the construct on which they are written.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The constructs, outermost first; never empty.
    pub constructs: Vec<ConstructId>,
    /// Their leaves, outermost first.
    pub leaves: Vec<Leaf>,
}

impl Chain {
    /// The construct whose body the chain leads to.
    #[must_use]
    pub fn innermost(&self) -> ConstructId {
        self.constructs.last().copied().unwrap_or(ConstructId(0))
    }

    /// Does it end at a loop nest?
    #[must_use]
    pub fn is_loop(&self) -> bool {
        matches!(self.leaves.last(), Some(Leaf::For | Leaf::Simd | Leaf::Loop | Leaf::Distribute | Leaf::Taskloop))
    }
}

/// One statement of a target region's block.
#[derive(Clone, Debug)]
pub enum Segment {
    /// A chain that ends at a loop nest.
    Loop(Chain),
    /// A chain that ends at any other construct, or a stand-alone directive.
    Construct(Chain),
    /// A declaration.
    Declaration(NodeId),
    /// A `parallel` region that is more than one loop.
    Parallel(Parallel),
    /// Control flow or a block with constructs inside, or with a `break` or `continue` that leaves it.
    Flow(Flow),
    /// `if`, `for`, `while`, `do`, `switch` or a block without any construct.
    Control(NodeId),
    /// A jump or a label.
    Jump(NodeId),
    /// A preprocessor line.
    Preprocessor(NodeId),
    /// Any other statement.
    Serial(NodeId),
}

/// A statement that decides whether and how often constructs are executed: those inside it, or those of the loop around
/// it that a jump inside it leaves or continues.
#[derive(Clone, Debug)]
pub struct Flow {
    /// `if`, `for`, `while`, `do`, `switch` or a block.
    pub node: NodeId,
    /// The statements inside it: those of all branches, one after the other.
    pub segments: Vec<Segment>,
}

/// A `parallel` region in a target region, whose statements every thread of the team executes.
#[derive(Clone, Debug)]
pub struct Parallel {
    /// The `parallel` construct alone.
    pub chain: Chain,
    /// The statements of its block. The chains of the worksharing loops among them start with the `parallel` construct.
    pub segments: Vec<Segment>,
}

/// What a target construct covers.
#[derive(Clone, Debug)]
pub struct TargetRegion {
    /// From the outermost directive inwards: [target], [target, teams], or down to the loop if the block holds nothing
    /// else.
    pub chain: Chain,
    /// The statements of the block. Empty if the chain ends at a loop. For `target parallel`, those of the `parallel`
    /// region; the chains of its loops start with that construct, as in [`Parallel`].
    pub segments: Vec<Segment>,
    /// From the outermost directive to the end of its body.
    pub extent: Span,
}

impl TargetRegion {
    /// Is it one loop whose iterations the threads of a league share?
    #[must_use]
    pub fn is_league_loop(&self) -> bool {
        use Leaf::{Distribute, For, Parallel, Simd, Target, Teams};
        matches!(
            self.chain.leaves.as_slice(),
            [Target, Teams, Distribute, Parallel, For] | [Target, Teams, Distribute, Parallel, For, Simd]
        )
    }

    /// Do teams share a loop, and the threads of a team loops inside of it? `reduce` and `stage` write this.
    #[must_use]
    pub fn shares_rows(&self, constructs: &ConstructTree) -> bool {
        let body = constructs.construct(self.chain.innermost()).body_span;
        let has_threads = || constructs.within(body).any(|(inner, _)| inner.leaves.contains(&Leaf::Parallel));
        self.chain.leaves == [Leaf::Target, Leaf::Teams, Leaf::Distribute] && has_threads()
    }

    /// Does each team run its part of one loop, and then update what all teams have found by atomic operations, perhaps where it has found something? `combine` and `reduce`
    /// write this.
    #[must_use]
    pub fn combines_teams(&self, constructs: &ConstructTree) -> bool {
        use Leaf::{Distribute, For, Parallel, Simd, Target, Teams};
        let (mut loops, mut updates) = (0, 0);
        let is_update = |segment: &Segment| match segment {
            Segment::Construct(chain) => constructs.directive(chain.innermost()).is("atomic"),
            _ => false,
        };
        let fits = |segment: &Segment| match segment {
            Segment::Declaration(_) => true,
            Segment::Loop(chain) => {
                loops += 1;
                matches!(chain.leaves.as_slice(), [Distribute, Parallel, For] | [Distribute, Parallel, For, Simd])
            }
            Segment::Construct(_) => {
                updates += 1;
                is_update(segment)
            }
            Segment::Flow(Flow { segments, .. }) => {
                updates += segments.len();
                segments.iter().all(is_update)
            }
            _ => false,
        };
        self.chain.leaves == [Target, Teams] && self.segments.iter().all(fits) && loops == 1 && updates > 0
    }

    /// Its segments and, behind each one that steers others, those inside it.
    #[must_use]
    pub fn all_segments(&self) -> Vec<&Segment> {
        let mut all = Vec::new();
        let mut waiting: Vec<&Segment> = self.segments.iter().rev().collect();
        while let Some(segment) = waiting.pop() {
            all.push(segment);
            match segment {
                Segment::Flow(Flow { segments, .. }) | Segment::Parallel(Parallel { segments, .. }) => {
                    waiting.extend(segments.iter().rev());
                }
                _ => {}
            }
        }
        all
    }

    /// The chains of its segments that are loops, in the order of the text. The chains of loops in one `parallel`
    /// region all start with its construct.
    pub fn loops(&self) -> impl Iterator<Item = &Chain> {
        self.all_segments().into_iter().filter_map(|segment| match segment {
            Segment::Loop(chain) => Some(chain),
            _ => None,
        })
    }

    /// The region as a single team runs it. If its chain ends at a loop that the teams share, that loop becomes
    /// sequential control flow around the statements in it.
    #[must_use]
    pub fn of_one_team(&self, tree: &HostTree, constructs: &ConstructTree) -> Option<Self> {
        let innermost = self.chain.innermost();
        let body = constructs.construct(innermost).body?;
        let inside = constructs.construct(innermost).children.iter().copied();
        let inside: Vec<ConstructId> =
            inside.filter(|child| constructs.construct(*child).stacked_under.is_none()).collect();
        let segments = segments_of(tree, constructs, &[body], &inside);
        let chain = Chain { constructs: self.chain.constructs.clone(), leaves: vec![Leaf::Target] };
        Some(Self { chain, segments, extent: self.extent })
    }

    /// Each segment with a few words that describe it. For a region that is only a loop, that loop.
    #[must_use]
    pub fn describe(&self, tree: &HostTree, constructs: &ConstructTree) -> Vec<(Span, String)> {
        if self.chain.is_loop() {
            return vec![describe_chain(constructs, &self.chain, "the only loop")];
        }
        let plain = |node: &NodeId, word: &str| (tree.span(*node), word.to_owned());
        let describe = |segment: &Segment| match segment {
            Segment::Loop(chain) => describe_chain(constructs, chain, "loop"),
            Segment::Construct(chain) => describe_chain(constructs, chain, "construct"),
            Segment::Parallel(parallel) => describe_chain(constructs, &parallel.chain, "parallel region"),
            Segment::Declaration(node) => plain(node, "declaration"),
            Segment::Flow(flow) => plain(&flow.node, "sequential control flow around constructs"),
            Segment::Control(node) => plain(node, "sequential control flow"),
            Segment::Jump(node) => plain(node, "jump or label"),
            Segment::Preprocessor(node) => plain(node, "preprocessor line"),
            Segment::Serial(node) => plain(node, "serial statement"),
        };
        self.all_segments().into_iter().map(describe).collect()
    }
}

fn describe_chain(constructs: &ConstructTree, chain: &Chain, word: &str) -> (Span, String) {
    let names: Vec<&str> = chain.constructs.iter().map(|id| constructs.directive(*id).name.as_str()).collect();
    let span = chain.constructs.first().map_or(Span::default(), |id| constructs.directive(*id).span);
    (span, format!("{word}: {}", names.join(" / ")))
}

/// Every target region of a file that executes statements, in the order of the text.
#[must_use]
pub fn target_regions(tree: &HostTree, constructs: &ConstructTree) -> Vec<TargetRegion> {
    let ids = (0..u32::try_from(constructs.constructs.len()).unwrap_or(0)).map(ConstructId);
    ids.filter(|id| {
        let construct = constructs.construct(*id);
        construct.leaves.first() == Some(&Leaf::Target) && construct.body.is_some()
    })
    .map(|id| target_region(tree, constructs, id))
    .collect()
}

fn target_region(tree: &HostTree, constructs: &ConstructTree, id: ConstructId) -> TargetRegion {
    let chain = chain_from(tree, constructs, id);
    let start = constructs.directive(id).span.start;
    let extent = Span::new(start, constructs.construct(id).body_span.end);
    let mut segments = if chain.is_loop() { Vec::new() } else { segments(tree, constructs, chain.innermost()) };
    if chain.leaves == [Leaf::Target, Leaf::Parallel] {
        lead(&mut segments, chain.innermost());
    }
    TargetRegion { chain, segments, extent }
}

/// Follows stacked and nested constructs inwards from `id`, up to and including the first that is associated with a loop.
#[must_use]
pub fn chain_from(tree: &HostTree, constructs: &ConstructTree, id: ConstructId) -> Chain {
    let mut chain = Chain { constructs: Vec::new(), leaves: Vec::new() };
    let mut at = Some(id);
    while let Some(id) = at {
        let construct = constructs.construct(id);
        chain.constructs.push(id);
        chain.leaves.extend(&construct.leaves);
        let block = constructs.directive(id).spec.is_some_and(|spec| spec.association == Association::Block);
        at = if block { stacked_below(constructs, id).or_else(|| only_child(tree, constructs, id)) } else { None };
    }
    chain
}

fn stacked_below(constructs: &ConstructTree, id: ConstructId) -> Option<ConstructId> {
    let next = ConstructId(id.0 + 1);
    let below = constructs.constructs.get(next.0 as usize)?;
    (below.stacked_under == Some(id)).then_some(next)
}

/// The only construct in the block of a construct, if the block holds nothing else.
fn only_child(tree: &HostTree, constructs: &ConstructTree, id: ConstructId) -> Option<ConstructId> {
    let construct = constructs.construct(id);
    let block = construct.body.filter(|body| tree.kind(*body) == NodeKind::CompoundStatement)?;
    let mut statements = tree.named_children(block).filter(|node| !is_empty_statement(tree, *node));
    let only = statements.next()?;
    if statements.next().is_some() {
        return None;
    }
    let mut inside = construct.children.iter().filter(|child| constructs.construct(**child).stacked_under.is_none());
    let child = *inside.next()?;
    (inside.next().is_none() && constructs.construct(child).body == Some(only)).then_some(child)
}

/// Is it `;` alone?
fn is_empty_statement(tree: &HostTree, node: NodeId) -> bool {
    tree.kind(node) == NodeKind::ExpressionStatement && tree.named_children(node).next().is_none()
}

fn segments(tree: &HostTree, constructs: &ConstructTree, id: ConstructId) -> Vec<Segment> {
    let construct = constructs.construct(id);
    let Some(body) = construct.body else { return Vec::new() };
    let inside = construct.children.iter().copied();
    let inside: Vec<ConstructId> =
        inside.filter(|child| constructs.construct(*child).stacked_under.is_none()).collect();
    segments_of(tree, constructs, &statements_of(tree, body), &inside)
}

/// The statements of a block, or the one statement without braces.
fn statements_of(tree: &HostTree, body: NodeId) -> Vec<NodeId> {
    if tree.kind(body) == NodeKind::CompoundStatement { tree.named_children(body).collect() } else { vec![body] }
}

/// Segments of statements. `inside` are the constructs among and within them.
fn segments_of(
    tree: &HostTree,
    constructs: &ConstructTree,
    statements: &[NodeId],
    inside: &[ConstructId],
) -> Vec<Segment> {
    let start = |id: &ConstructId| constructs.directive(*id).span.start;
    let body = |id: &ConstructId| constructs.construct(*id).body;
    let mut found: Vec<(usize, Segment)> = Vec::new();
    let mut placed: Vec<ConstructId> = Vec::new();
    for statement in statements.iter().copied().filter(|statement| !is_empty_statement(tree, *statement)) {
        if let Some(own) = inside.iter().find(|id| body(id) == Some(statement)) {
            found.push((start(own), construct_segment(tree, constructs, *own)));
            placed.push(*own);
            continue;
        }
        let span = tree.span(statement);
        let below: Vec<ConstructId> =
            inside.iter().copied().filter(|id| span.contains(constructs.directive(*id).span)).collect();
        let segment = if below.is_empty() && !leaves(tree, statement) {
            plain_segment(tree, statement)
        } else {
            let is_body = |branch| below.iter().any(|id| body(id) == Some(branch));
            let segments = segments_of(tree, constructs, &steered(tree, statement, is_body), &below);
            Segment::Flow(Flow { node: statement, segments })
        };
        found.push((span.start, segment));
        placed.extend(below);
    }
    // Directives that belong to no statement of this list are stand-alone ones.
    let alone = inside.iter().filter(|id| !placed.contains(id));
    found.extend(alone.map(|id| (start(id), construct_segment(tree, constructs, *id))));
    found.sort_by_key(|(start, _)| *start);
    found.into_iter().map(|(_, segment)| segment).collect()
}

/// Is it an `if` or a block with a `break` or `continue` that leaves it?
fn leaves(tree: &HostTree, statement: NodeId) -> bool {
    let inside = tree.span(statement);
    let leaves = |jump: NodeId| {
        let target = tree.ancestors(jump).find(|above| match tree.kind(*above) {
            NodeKind::ForStatement | NodeKind::WhileStatement | NodeKind::DoStatement | NodeKind::ForRangeLoop => true,
            NodeKind::SwitchStatement => tree.kind(jump) == NodeKind::BreakStatement,
            _ => false,
        });
        target.is_some_and(|target| !inside.contains(tree.span(target)))
    };
    let is_jump = |node: &NodeId| matches!(tree.kind(*node), NodeKind::BreakStatement | NodeKind::ContinueStatement);
    matches!(tree.kind(statement), NodeKind::IfStatement | NodeKind::CompoundStatement)
        && tree.descendants(statement).filter(is_jump).any(leaves)
}

/// The statements that a statement steers: those of all its branches.
#[must_use]
pub fn steered_statements(tree: &HostTree, statement: NodeId) -> Vec<NodeId> {
    steered(tree, statement, |_| false)
}

/// The statements of all branches. A branch that is the body of a construct stays whole, even if it is a block.
fn steered(tree: &HostTree, statement: NodeId, is_body: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
    if tree.kind(statement) == NodeKind::CompoundStatement {
        return statements_of(tree, statement);
    }
    let branches = Control::at(tree, statement).branches();
    branches.flat_map(|branch| if is_body(branch) { vec![branch] } else { statements_of(tree, branch) }).collect()
}

fn construct_segment(tree: &HostTree, constructs: &ConstructTree, id: ConstructId) -> Segment {
    let chain = chain_from(tree, constructs, id);
    if chain.leaves == [Leaf::Parallel] {
        let mut segments = segments(tree, constructs, chain.innermost());
        lead(&mut segments, chain.innermost());
        return Segment::Parallel(Parallel { chain, segments });
    }
    if chain.is_loop() { Segment::Loop(chain) } else { Segment::Construct(chain) }
}

/// Puts a `parallel` construct before the loops that its threads share.
fn lead(segments: &mut [Segment], parallel: ConstructId) {
    for segment in segments {
        match segment {
            Segment::Loop(chain) => {
                chain.constructs.insert(0, parallel);
                chain.leaves.insert(0, Leaf::Parallel);
            }
            Segment::Flow(flow) => lead(&mut flow.segments, parallel),
            _ => {}
        }
    }
}

fn plain_segment(tree: &HostTree, node: NodeId) -> Segment {
    match tree.kind(node) {
        NodeKind::Declaration
        | NodeKind::TypeDefinition
        | NodeKind::AliasDeclaration
        | NodeKind::UsingDeclaration
        | NodeKind::StaticAssertDeclaration => Segment::Declaration(node),
        NodeKind::ReturnStatement
        | NodeKind::GotoStatement
        | NodeKind::BreakStatement
        | NodeKind::ContinueStatement
        | NodeKind::LabeledStatement
        | NodeKind::ThrowStatement
        | NodeKind::CoReturnStatement => Segment::Jump(node),
        NodeKind::IfStatement
        | NodeKind::ForStatement
        | NodeKind::WhileStatement
        | NodeKind::DoStatement
        | NodeKind::SwitchStatement
        | NodeKind::ForRangeLoop
        | NodeKind::CompoundStatement
        | NodeKind::TryStatement
        | NodeKind::CaseStatement => Segment::Control(node),
        kind if kind.is_preprocessor() => Segment::Preprocessor(node),
        _ => Segment::Serial(node),
    }
}
