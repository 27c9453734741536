//! Who calls whom: the constructs of functions, of those that they call, and of those that these call.

use std::collections::{BTreeMap, BTreeSet};

use super::{Call, has_own_data};
use crate::context::Context;
use crate::plan::{Reason, ReasonCode};
use crate::syntax::{Field, NodeId, NodeKind};
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::members::text::Changed;

/// Who calls whom.
pub(super) struct Graph<'g, 'c> {
    pub cx: &'g Context<'c>,
    pub made: Option<&'g Changed>,
    /// The constructs in each function.
    pub own: BTreeMap<NodeId, Vec<&'g Mapping>>,
    /// The calls in each function, or outside of all, with the names that they call.
    pub calls: BTreeMap<Option<NodeId>, Vec<(NodeId, String)>>,
    /// The constructs that calls in each function run, of those that were looked at.
    pub found: BTreeMap<Option<NodeId>, Vec<Mapping>>,
    pub unnamed: Vec<(NodeId, Reason)>,
}

impl Graph<'_, '_> {
    /// Looks at the calls of a function, first at those of the functions that it calls.
    pub(super) fn read(&mut self, caller: Option<NodeId>, callers: &mut BTreeSet<Option<NodeId>>) {
        if self.found.contains_key(&caller) || !callers.insert(caller) {
            return;
        }
        let calls = self.calls.get(&caller).cloned().unwrap_or_default();
        for (_, name) in &calls {
            for (header, function) in self.cx.symbols().function_definitions(name) {
                if header.is_none() && self.calls.contains_key(&Some(function)) {
                    self.read(Some(function), callers);
                }
            }
        }
        let mut found = Vec::new();
        let mut seen: BTreeSet<NodeId> = BTreeSet::new();
        for (call, name) in calls {
            self.of_call(call, &name, &mut seen, &mut found);
        }
        callers.remove(&caller);
        self.found.insert(caller, found);
    }

    /// What a function runs, in the order of the text.
    fn constructs_of(&self, function: NodeId) -> Vec<&Mapping> {
        let own = self.own.get(&function).into_iter().flatten().copied();
        let mut all: Vec<&Mapping> = own.chain(self.found.get(&Some(function)).into_iter().flatten()).collect();
        all.sort_by_key(|mapping| mapping.extent.start);
        all
    }

    fn of_call(&mut self, call: NodeId, name: &str, seen: &mut BTreeSet<NodeId>, found: &mut Vec<Mapping>) {
        let cx = self.cx;
        let definitions = cx.symbols().function_definitions(name);
        let of = |(header, node): &(Option<usize>, NodeId)| match header {
            None => self.constructs_of(*node),
            Some(_) => Vec::new(),
        };
        if definitions.iter().all(|definition| of(definition).is_empty()) {
            return;
        }
        let span = cx.tree.span(call);
        let refusal = |message: String| (call, Reason::new(ReasonCode::EnvironmentPlace, span, message));
        let statement = statement_of(cx, call);
        let shared = statement.filter(|statement| !seen.insert(*statement));
        let binding = cx.binding(call).filter(|binding| !self.constructs_of(binding.definition).is_empty());
        let has_own_data = |definition: &(Option<usize>, NodeId)| {
            let mappings = of(definition);
            mappings.is_empty() || has_own_data(cx, definition.1, &mappings)
        };
        if (statement.is_none() || binding.is_none()) && definitions.iter().all(has_own_data) {
            let message = format!("each call of `{name}` has data of its own, and environments for them");
            self.unnamed.push((call, Reason::new(ReasonCode::NothingToHoist, span, message)));
            return;
        }
        let unnamed: Vec<(NodeId, Reason)> = match (statement, binding) {
            (Some(statement), Some(binding)) => {
                let own = self.constructs_of(binding.definition);
                let unread = self.unread(binding.definition);
                let (mappings, unnamed) = Call::new(cx, self.made, statement, binding, &own).mappings(&own, unread);
                found.extend(mappings);
                // Which of several calls comes first, the compiler decides: that does not matter where all only read.
                let mut beside = found.iter_mut().filter(|mapping| Some(mapping.body) == shared).collect::<Vec<_>>();
                if !unnamed.is_empty() || !beside.iter().all(|mapping| only_reads(mapping)) {
                    let message =
                        format!("`{name}` is called in the same statement as another function with constructs");
                    let reason = Reason::new(ReasonCode::EnvironmentPlace, span, message);
                    beside.iter_mut().for_each(|mapping| mapping.trouble = Some(reason.clone()));
                }
                unnamed.into_iter().map(|reason| (call, reason)).collect()
            }
            (None, _) => vec![refusal(format!("`{name}` is not called by a statement of its own here"))],
            (_, None) => vec![refusal(format!("which `{name}` is called here is not certain"))],
        };
        self.unnamed.extend(unnamed);
    }

    /// A call in a function, or in one that it calls, whose constructs are not known.
    fn unread(&self, function: NodeId) -> Option<String> {
        let cx = self.cx;
        let extent = cx.tree.span(function);
        let is_read = |call: NodeId| {
            let span = cx.tree.span(call);
            let of_others = self.found.get(&Some(function)).into_iter().flatten();
            let mut around = of_others.filter(|mapping| mapping.extent.contains(span));
            let is_by_threads = cx.constructs.ids_within(extent).any(|id| {
                let is_other = !cx.constructs.is_target(id) && !cx.constructs.directive(id).is("target data");
                is_other && cx.constructs.construct(id).body_span.contains(span)
            });
            around.next().is_some() && !is_by_threads
        };
        let calls = self.calls.get(&Some(function)).into_iter().flatten();
        let unread = calls.into_iter().find(|(call, name)| {
            let definitions = cx.symbols().function_definitions(name);
            let mut own = definitions.iter().filter(|(header, _)| header.is_none());
            own.any(|(_, node)| {
                !self.constructs_of(*node).is_empty()
                    || !self.found.contains_key(&Some(*node)) && self.calls.contains_key(&Some(*node))
            }) && !is_read(*call)
        });
        unread.map(|(_, name)| name.clone())
    }
}

/// Does what a call runs only read arrays?
fn only_reads(mapping: &Mapping) -> bool {
    mapping.items.iter().all(|item| item.to && !item.from && mapping.only_read.contains(&item.named.id))
}

/// The statement that makes a call in any case, `f(a);`, `t += f(a);`, `double t = 2 * sqrt(f(a));`, or the test that does,
/// `while (f(a) > limit)`.
fn statement_of(cx: &Context<'_>, call: NodeId) -> Option<NodeId> {
    let tree = cx.tree;
    let is_around = |node: &NodeId| match tree.kind(*node) {
        NodeKind::AssignmentExpression
        | NodeKind::InitDeclarator
        | NodeKind::ParenthesizedExpression
        | NodeKind::CastExpression
        | NodeKind::UnaryExpression
        | NodeKind::ArgumentList => true,
        NodeKind::CallExpression => evaluates_arguments(cx, *node),
        NodeKind::BinaryExpression => {
            !matches!(tree.operator(*node), Some(NodeKind::AmpersandAmpersand | NodeKind::BarBar))
        }
        _ => false,
    };
    let mut part = call;
    let statement = tree.ancestors(call).find(|node| {
        let goes_on = is_around(node);
        part = if goes_on { *node } else { part };
        !goes_on
    })?;
    let is_static = || tree.named_children(statement).any(|part| tree.kind(part) == NodeKind::StorageClassSpecifier);
    let is_in_block = || tree.parent(statement).is_some_and(|above| tree.kind(above) == NodeKind::CompoundStatement);
    match tree.kind(statement) {
        NodeKind::ExpressionStatement => Some(statement),
        NodeKind::Declaration => (is_in_block() && !is_static()).then_some(statement),
        NodeKind::IfStatement | NodeKind::WhileStatement => {
            (tree.field(part) == Some(Field::Condition)).then_some(part)
        }
        NodeKind::ConditionClause => {
            let is_alone =
                tree.child(statement, Field::Value) == Some(part) && tree.named_children(statement).count() == 1;
            let above = tree.parent(statement)?;
            let is_test = matches!(tree.kind(above), NodeKind::IfStatement | NodeKind::WhileStatement);
            (is_alone && is_test).then_some(statement)
        }
        _ => None,
    }
}

/// Does a call around another one certainly evaluate what it is handed? A macro need not.
fn evaluates_arguments(cx: &Context<'_>, call: NodeId) -> bool {
    let Some(name) = cx.called_name(call).map(|name| cx.tree.span(name)) else { return false };
    let text = cx.file.show(name);
    let is_library = || cx.is_function_of_library(&text, name.start);
    cx.expansion(&text, name.start).is_none() && (cx.binding(call).is_some() || is_library())
}
