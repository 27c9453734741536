//! Which serial statements and conditions together become a kernel of one thread, and which of their variables outlive it.
//!
//! In a region of one team, its initial thread executes what stands between the parallel loops. So does the one thread
//! of a `target` construct. A variable that such statements declare and only they use stays in their kernel. Other
//! variables move to the host, and the kernel returns their values.

mod hoisted;
mod steering;

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::target::{Segment, TargetRegion};
use crate::semantics::Program;
use crate::semantics::uses::uses_below;
use crate::source::{Span, words};
use crate::syntax::numbers::Format;
use crate::syntax::{Control, Declaration, NodeId, NodeKind, Number};
use crate::transforms::split_target::facts::local_arrays::{self, LocalArrays, local_arrays};
use crate::transforms::split_target::shape::{Form, HostPart, Sections, Shape, stays_within};

pub(crate) use self::hoisted::Hoisted;
pub(crate) use self::steering::Steering;

/// Consecutive statements that become a kernel of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub nodes: Vec<NodeId>,
    /// From the first statement to the end of the last.
    pub span: Span,
    /// Declarations among them whose variables are used elsewhere too.
    pub hoisted: Vec<Hoisted>,
    /// The condition, if the kernel evaluates a condition and no statements.
    pub steering: Option<Steering>,
    /// The construct, if it is one that a whole team executes.
    pub team: Option<ConstructId>,
}

impl From<&Sections> for Run {
    fn from(sections: &Sections) -> Self {
        let Sections { construct, body, span } = *sections;
        Self { nodes: vec![body], span, hoisted: Vec::new(), steering: None, team: Some(construct) }
    }
}

/// Who executes the statements beside the loops.
pub(super) struct Runs {
    /// Kernels of one thread.
    pub runs: Vec<Run>,
    /// Arrays that the region declares and its loops use.
    pub arrays: Vec<LocalArrays>,
    /// The parts that the host executes.
    pub host: Vec<HostPart>,
}

/// Divides the statements beside the loops. `on_device`: the parts that the host cannot execute, with the reasons.
pub(super) fn runs(
    names: &Program<'_>,
    region: &TargetRegion,
    shape: &Shape,
    on_device: &BTreeMap<NodeId, Vec<Reason>>,
) -> Result<Runs, Vec<Reason>> {
    if on_device.is_empty() {
        return Ok(Runs { runs: Vec::new(), arrays: Vec::new(), host: shape.host.clone() });
    }
    // In a league or a `parallel` region, each team or thread would execute such statements, without waiting for the
    // others.
    let constructs = names.constructs;
    let by_all_threads = |node: &NodeId| {
        let span = names.tree.span(*node);
        shape.parallel.iter().any(|id| constructs.construct(*id).body_span.contains(span))
    };
    let compiles = |node: &NodeId| !holds_long_double(names, *node);
    if shape.form != Form::OneTeam || on_device.keys().any(by_all_threads) || !on_device.keys().all(compiles) {
        return Err(on_device.values().flatten().cloned().collect());
    }
    let mut finder = Finder {
        names,
        on_device,
        mentions: mentions(names, region),
        groups: Vec::new(),
        conditions: Vec::new(),
        arrays: Vec::new(),
        reasons: Vec::new(),
    };
    finder.list(&region.segments);
    let groups = std::mem::take(&mut finder.groups);
    let mut runs: Vec<Run> = groups.into_iter().filter_map(|nodes| finder.run(nodes)).collect();
    runs.append(&mut finder.conditions);
    let mut arrays = std::mem::take(&mut finder.arrays);
    arrays.sort_by_key(|array| array.node);
    finder.reasons.extend(local_arrays::reasons(names, region, &arrays));
    if !finder.reasons.is_empty() {
        return Err(finder.reasons);
    }
    let is_array = |node| arrays.iter().any(|array| array.node == node);
    let in_run = |node| runs.iter().any(|run| run.nodes.contains(&node));
    let left = |part: &&HostPart| !is_array(part.node()) && !in_run(part.node());
    let host = shape.host.iter().filter(left).copied().collect();
    Ok(Runs { runs, arrays, host })
}

/// Does a statement have a number or type that GPUs do not have, so that no compiler accepts it in a kernel?
fn holds_long_double(cx: &Program<'_>, node: NodeId) -> bool {
    let head = Control::at(cx.tree, node).condition().unwrap_or(node);
    cx.tree.descendants(head).any(|inner| {
        let text = || cx.file.show(cx.tree.span(inner)).to_lowercase();
        match cx.tree.kind(inner) {
            NodeKind::NumberLiteral => {
                text().ends_with('l') && text().contains(['.', 'e', 'p']) && !text().ends_with("ll")
            }
            NodeKind::SizedTypeSpecifier => Number::read(&text()) == Some(Number::Floating(Format::LongDouble)),
            _ => false,
        }
    })
}

/// Where each name is used in a region, through macros and in directives too.
fn mentions(cx: &Program<'_>, region: &TargetRegion) -> BTreeMap<String, BTreeSet<usize>> {
    let mut found: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    let Some(body) = cx.constructs.construct(region.chain.innermost()).body else { return found };
    for used in uses_below(cx.file, cx.tree, body) {
        let at = used.span.start;
        for name in cx.expansion(&used.name, at).flatten().unwrap_or_default() {
            found.entry(name).or_default().insert(at);
        }
        found.entry(used.name).or_default().insert(at);
    }
    for (_, directive) in cx.constructs.within(region.extent) {
        let text = cx.file.show(directive.span);
        for word in words(&text) {
            let at = directive.span.start;
            for name in cx.expansion(word, at).flatten().unwrap_or_default() {
                found.entry(name).or_default().insert(at);
            }
            found.entry(word.to_owned()).or_default().insert(at);
        }
    }
    found
}

struct Finder<'a, 'n> {
    names: &'a Program<'n>,
    on_device: &'a BTreeMap<NodeId, Vec<Reason>>,
    mentions: BTreeMap<String, BTreeSet<usize>>,
    /// Statements that become a kernel together.
    groups: Vec<Vec<NodeId>>,
    conditions: Vec<Run>,
    arrays: Vec<LocalArrays>,
    reasons: Vec<Reason>,
}

impl Finder<'_, '_> {
    /// Reads the segments of one list, and those inside its control flow.
    fn list(&mut self, segments: &[Segment]) {
        let mut group: Vec<NodeId> = Vec::new();
        for segment in segments {
            match segment {
                Segment::Declaration(node) | Segment::Serial(node) | Segment::Control(node) => {
                    if group.last().is_some_and(|last| !self.are_neighbours(*last, *node)) {
                        self.group(&std::mem::take(&mut group));
                    }
                    group.push(*node);
                }
                Segment::Flow(flow) => {
                    self.group(&std::mem::take(&mut group));
                    if self.on_device.contains_key(&flow.node) {
                        self.condition(flow.node);
                    }
                    self.list(&flow.segments);
                }
                _ => self.group(&std::mem::take(&mut group)),
            }
        }
        self.group(&group);
    }

    /// Do two statements stand in one block?
    fn are_neighbours(&self, first: NodeId, second: NodeId) -> bool {
        let tree = self.names.tree;
        let parent = tree.parent(first);
        parent == tree.parent(second) && parent.is_some_and(|parent| tree.kind(parent) == NodeKind::CompoundStatement)
    }

    /// Divides consecutive statements into runs. Statements that the host can execute stay with it at the start and the
    /// end, and wherever other statements use a variable that they declare.
    fn group(&mut self, nodes: &[NodeId]) {
        let is_serial = |node: &NodeId| self.on_device.contains_key(node);
        let (Some(first), Some(last)) = (nodes.iter().position(is_serial), nodes.iter().rposition(is_serial)) else {
            return;
        };
        let nodes = &nodes[first..=last];
        let span = self.span_of(nodes);
        let escapes = |node: &NodeId| self.declared(*node).iter().any(|at| self.escapes(*at, span));
        let apart = |node: &NodeId| {
            let is_array = || escapes(node) && local_arrays(self.names, *node).is_some();
            is_array() || (!is_serial(node) && (self.leaves(*node) || escapes(node)))
        };
        match nodes.iter().position(apart) {
            Some(at) => {
                self.arrays.extend(local_arrays(self.names, nodes[at]));
                self.group(&nodes[..at]);
                self.group(&nodes[at + 1..]);
            }
            None => self.groups.push(nodes.to_vec()),
        }
    }

    fn span_of(&self, nodes: &[NodeId]) -> Span {
        let span = |node: Option<&NodeId>| node.map_or(Span::default(), |node| self.names.tree.span(*node));
        Span::new(span(nodes.first()).start, span(nodes.last()).end)
    }

    /// May control leave the statement for an enclosing loop?
    fn leaves(&self, node: NodeId) -> bool {
        let cx = self.names;
        let mut jumps = cx.tree.descendants(node).filter(|inner| cx.tree.kind(*inner).is_statement());
        let is_jump =
            |inner: &NodeId| matches!(cx.tree.kind(*inner), NodeKind::BreakStatement | NodeKind::ContinueStatement);
        jumps.any(|inner| is_jump(&inner) && !stays_within(cx, cx.tree.span(node), inner))
    }

    /// The names that a declaration declares.
    fn declared(&self, node: NodeId) -> Vec<Span> {
        let tree = self.names.tree;
        let declarators = Declaration::of(tree, node).into_iter().flat_map(Declaration::declarators);
        let names = declarators.map(|declarator| tree.innermost_declarator(declarator));
        names.filter(|name| tree.kind(*name) == NodeKind::Identifier).map(|name| tree.span(name)).collect()
    }

    /// Is a variable that is declared at a place used outside of a span?
    fn escapes(&self, declared: Span, span: Span) -> bool {
        let name = self.names.file.show(declared);
        let mut places = self.mentions.get(name.as_ref()).into_iter().flatten();
        places.any(|at| {
            let outside = *at < span.start || *at >= span.end;
            outside && self.names.declared_at(&name, *at) == Some(declared)
        })
    }

    fn run(&mut self, nodes: Vec<NodeId>) -> Option<Run> {
        let span = self.span_of(&nodes);
        let tree = self.names.tree;
        if let Some(node) = nodes.iter().find(|node| self.leaves(**node)) {
            self.reasons.extend(self.on_device.get(node).into_iter().flatten().cloned());
            return None;
        }
        let mut hoisted = Vec::new();
        for node in &nodes {
            let kind = tree.kind(*node);
            let other = kind != NodeKind::Declaration && (kind.is_declaration() || kind.is_definition());
            let escapes = self.declared(*node).iter().any(|at| self.escapes(*at, span));
            let moved = if escapes { self.hoisted(*node, span) } else { Ok(None) };
            match moved {
                Ok(_) if other => self.refuse(tree.span(*node)),
                Ok(moved) => hoisted.extend(moved),
                Err(at) => self.refuse(at),
            }
        }
        Some(Run { nodes, span, hoisted, steering: None, team: None })
    }

    fn refuse(&mut self, at: Span) {
        let message = "this variable is declared between the loops and lives on the device through all of them: declare it before the region";
        self.reasons.push(Reason::new(ReasonCode::LocalDeclaration, at, message));
    }
}
