//! Values that the threads of a `parallel` region with several loops keep from one loop to the next.
//!
//! A variable that is private in the region exists once for each thread, for as long as the region runs. The kernels
//! have no threads in common, so a value may pass from loop to loop only if it is the same in all threads; then the
//! host has it. If each iteration assigns a variable before it reads it, no value passes, and each kernel may have
//! private copies of its own.

use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::semantics::Kind;
use crate::semantics::uses::{Role, Use, uses_below};
use crate::source::Span;
use crate::syntax::{Assignment, Clause, ClauseName, For, ListItem, NodeId, NodeKind, Update};
use crate::transforms::split_target::facts::data::Builder;
use crate::transforms::split_target::facts::pieces::{Piece, Variable};
use crate::transforms::split_target::shape::HostPart;
use crate::transforms::split_target::shape::clauses::ReductionItem;

impl Builder<'_, '_> {
    /// Checks each `parallel` region that several loops share.
    pub(super) fn parallel_regions(&mut self) {
        for id in &self.shape.parallel {
            let body = self.names.constructs.construct(*id).body_span;
            self.statements_of_all_threads(*id, body);
            for index in 0..self.pieces.len() {
                if self.pieces[index].clauses.parallel == Some(*id) {
                    self.lists_of_parallel(index, *id, body);
                }
            }
        }
    }

    /// The body of the `parallel` region whose threads each have a variable of their own by this name at byte `at`: it is
    /// declared there outside of the loops, or private by a clause.
    pub(super) fn thread_region(&self, name: &str, at: usize) -> Option<Span> {
        let declared = self.names.declared_at(name, at)?;
        let place = Span::new(at, at);
        self.shape.parallel.iter().find_map(|id| {
            let body = self.names.constructs.construct(*id).body_span;
            let of_loop = || self.pieces.iter().any(|piece| piece.declares(declared));
            let own = match body.contains(declared) {
                true => !of_loop(),
                false => body.contains(place) && self.private_item(*id, name).is_some(),
            };
            own.then_some(body)
        })
    }

    /// Where a `parallel` construct makes a variable private.
    fn private_item(&self, id: ConstructId, name: &str) -> Option<Span> {
        let clauses = self.names.constructs.directive(id).clauses_of(ClauseName::Private);
        let mut items = clauses.flat_map(Clause::items);
        items.find(|item| item.is_of(name)).map(|item| item.span)
    }

    /// A variable of which each thread has its own. As long as no loop writes it, all copies have the value that the
    /// host computes. A variable that a loop writes must be private to the kernel.
    pub(super) fn thread_variable(&mut self, index: usize, name: &str, variable: &Variable) {
        let declared = self.names.declared_at(name, variable.first.start);
        let body = self.thread_region(name, variable.first.start);
        let same = |place: Span| {
            self.names.declared_at(name, place.start) == declared && self.thread_region(name, place.start) == body
        };
        let users: Vec<(&Piece, &Variable)> = self
            .pieces
            .iter()
            .filter_map(|piece| {
                let other = piece.variables.get(name)?;
                same(other.first).then_some((piece, other))
            })
            .collect();
        let by_host = self.host_uses(body).into_iter().find(|used| used.name == name && same(used.span));
        let written = |variable: &Variable| variable.written.is_some() || variable.elements_written.is_some();
        let id = self.pieces.get(index).and_then(|piece| piece.clauses.parallel);
        let listed = id.and_then(|id| self.private_item(id, name));
        if !users.iter().any(|(_, variable)| written(variable)) && (listed.is_none() || by_host.is_some()) {
            return;
        }
        if let Some(used) = by_host {
            return self.crosses(name, used.span);
        }
        // A thread must write such a variable, which starts without a value, before it reads it in the same iteration,
        // because any iteration may be its first.
        let in_one = listed.is_some() && users.len() == 1 && !body.is_some_and(|body| self.repeats(body));
        let crossing = users.iter().find(|(piece, _)| !in_one && !self.is_assigned_first(piece, name, declared));
        if let Some((_, variable)) = crossing {
            return self.crosses(name, variable.first);
        }
        if let Some(span) = listed.filter(|_| self.is_listed(name)) {
            let message = format!("`{name}` is private to each thread, and a clause of the region names it as well");
            return self.refuse(ReasonCode::SharingConflict, span, message);
        }
        self.data.kernel_private.push((index, name.to_owned()));
    }

    /// The items of the `parallel` construct's lists that one of its loops gets.
    fn lists_of_parallel(&mut self, index: usize, id: ConstructId, body: Span) {
        let pieces = self.pieces;
        let piece = &pieces[index];
        let directive = self.names.constructs.directive(id).span;
        let listed = |item: &&ListItem| directive.contains(item.span);
        for item in &piece.clauses.copied_by_parallel {
            self.copied_by_parallel(piece, item);
        }
        if let Some(span) = piece.clauses.default_firstprivate {
            let unlisted = piece.variables.iter().filter(|(name, _)| !piece.shared.contains(*name));
            let written: Vec<String> =
                unlisted.filter(|(_, variable)| variable.written.is_some()).map(|(name, _)| name.clone()).collect();
            for name in written {
                self.crosses(&name, span);
            }
        }
        for reduction in piece.clauses.reductions.iter().filter(|reduction| listed(&&reduction.item)) {
            self.reduction_of_parallel(piece, reduction, id, body);
        }
    }

    /// One copy for each thread. It may serve all loops only if none writes it: then every copy keeps the value from
    /// before.
    fn copied_by_parallel(&mut self, piece: &Piece, item: &ListItem) {
        let name = item.base.clone().unwrap_or_default();
        let kind = self.names.kind(&name, item.span.start);
        let variable = piece.variables.get(&name);
        if variable.is_some_and(|variable| variable.written.is_some()) {
            return self.crosses(&name, item.span);
        }
        let none = piece.clauses.default_none || self.region.default_none;
        match kind {
            Kind::Scalar { .. } if !self.is_on_device(&name) => {}
            Kind::Pointer { .. } if !none => {
                self.data.kept_pointers.insert(item.span);
            }
            _ => {
                let message =
                    format!("`{name}` is on the device, and each thread copies it at the start of the region");
                self.refuse(ReasonCode::SharingConflict, item.span, message);
            }
        }
    }

    /// Each thread combines what it gathered in all loops, once at the end. Each kernel can combine its own part if the
    /// loops do nothing but gather.
    fn reduction_of_parallel(&mut self, piece: &Piece, reduction: &ReductionItem, id: ConstructId, body: Span) {
        let name = reduction.item.base.clone().unwrap_or_default();
        if self.is_used_again(&name, id, body) && !self.only_gathers(piece, &name, &reduction.operator) {
            let message =
                format!("each thread keeps its part of `{name}` from one loop to the next, and a loop reads it");
            return self.refuse(ReasonCode::ReductionNotMovable, reduction.item.span, message);
        }
        let known = self.is_mapped(&name) || self.data.mapped_reductions.contains(&name);
        if reduction.on_target && !known {
            self.data.mapped_reductions.push(name);
        }
    }

    /// Do several loops of the region use the variable, or may one be executed again?
    fn is_used_again(&self, name: &str, id: ConstructId, body: Span) -> bool {
        let of_region = self.pieces.iter().filter(|piece| piece.clauses.parallel == Some(id));
        let users = of_region.filter(|piece| piece.named.contains(name)).count();
        users > 1 || self.repeats(body)
    }

    /// May the loops of the region be executed again?
    fn repeats(&self, body: Span) -> bool {
        let tree = self.names.tree;
        let repeats = |part: &HostPart| match part {
            HostPart::Flow(node) => {
                body.contains(tree.span(*node))
                    && !matches!(tree.kind(*node), NodeKind::IfStatement | NodeKind::CompoundStatement)
            }
            _ => false,
        };
        self.host.iter().any(repeats)
    }

    /// Statements that the host executes instead of every thread may write only variables that each thread declares,
    /// and may not use copies that the construct's lists make.
    fn statements_of_all_threads(&mut self, id: ConstructId, body: Span) {
        let clauses = &self.names.constructs.directive(id).clauses;
        let copies = |clause: &&Clause| matches!(clause.name, ClauseName::Private | ClauseName::Reduction);
        let items = clauses.iter().filter(copies).flat_map(Clause::items);
        let copied: Vec<&str> = items.filter_map(|item| item.base.as_deref()).collect();
        for used in self.host_uses(Some(body)) {
            let declared = self.names.declared_at(&used.name, used.span.start);
            if declared.is_some_and(|declared| body.contains(declared))
                || (self.private_item(id, &used.name).is_some() && self.is_own_copy(&used.name, used.span.start))
            {
                continue;
            }
            let message = match used.role {
                _ if copied.contains(&used.name.as_str()) => {
                    format!("each thread of the parallel region has a `{}` of its own", used.name)
                }
                Role::Read | Role::Callee => continue,
                _ => format!("every thread of the parallel region writes `{}` here", used.name),
            };
            self.refuse(ReasonCode::BareParallel, used.span, message);
        }
    }

    /// The names in the statements that move to the host, without declarations. With `body`, only those in it.
    pub(super) fn host_uses(&self, body: Option<Span>) -> Vec<Use> {
        let cx = self.names;
        let nodes: Vec<NodeId> = self.host_expressions();
        let inside = nodes.into_iter().filter(|node| body.is_none_or(|body| body.contains(cx.tree.span(*node))));
        let uses = inside.flat_map(|node| uses_below(cx.file, cx.tree, node));
        uses.filter(|used| used.role != Role::Declaration).collect()
    }

    fn crosses(&mut self, name: &str, span: Span) {
        let message = format!("each thread keeps its `{name}` from one loop of the parallel region to the next");
        self.reasons.push(Reason::new(ReasonCode::BareParallel, span, message));
    }

    /// Does each iteration assign the variable, on every path, before it reads it?
    fn is_assigned_first(&self, piece: &Piece, name: &str, declared: Option<Span>) -> bool {
        let root = piece.directive().and_then(|id| self.names.constructs.construct(id).body);
        root.is_some_and(|root| self.assigns_first(root, piece.nest.body, name, declared))
    }

    /// Is the variable's first use below `root` a plain assignment that is executed whenever `body`, a part of it, is?
    pub(super) fn assigns_first(&self, root: NodeId, body: NodeId, name: &str, declared: Option<Span>) -> bool {
        let cx = self.names;
        let tree = cx.tree;
        let is_same = |used: &Use| used.name == name && self.names.declared_at(name, used.span.start) == declared;
        let all = uses_below(cx.file, tree, root);
        let in_macro = |used: &Use| self.expands_to(used, name);
        let uses: Vec<&Use> = all.iter().filter(|used| is_same(used)).collect();
        let plain =
            uses.iter().all(|used| matches!(used.role, Role::Read | Role::Write | Role::Argument | Role::ElementWrite));
        let Some(first) = uses.first().filter(|_| plain && !all.iter().any(in_macro)) else { return false };
        let Some(assignment) = Assignment::to(tree, first.node).filter(|it| it.is_plain()) else { return false };
        let value = assignment.value().map(|value| tree.span(value));
        let reads_itself = value.is_none_or(|value| uses.iter().any(|used| value.contains(used.span)));
        !reads_itself && self.is_unconditional(assignment.node, body)
    }

    /// Is it a macro that names the variable?
    pub(super) fn expands_to(&self, used: &Use, name: &str) -> bool {
        self.names.expands_to(&used.name, used.span.start, name)
    }

    /// Is the expression evaluated whenever the body is, unless control leaves the body before?
    fn is_unconditional(&self, expression: NodeId, body: NodeId) -> bool {
        let tree = self.names.tree;
        let mut node = expression;
        while node != body {
            let Some(parent) = tree.parent(node) else { return false };
            let passes = match tree.kind(parent) {
                NodeKind::ExpressionStatement | NodeKind::CompoundStatement | NodeKind::CommaExpression => true,
                NodeKind::AssignmentExpression => {
                    Assignment::of(tree, parent).and_then(Assignment::value) == Some(node)
                }
                _ => For::of(tree, parent).is_some_and(|it| it.initializer() == Some(node)),
            };
            if !passes {
                return false;
            }
            node = parent;
        }
        true
    }

    /// Does the loop only combine the variable with other values by this operator?
    fn only_gathers(&self, piece: &Piece, name: &str, operator: &str) -> bool {
        let cx = self.names;
        let tree = cx.tree;
        let Some(root) = piece.directive().and_then(|id| cx.constructs.construct(id).body) else { return false };
        let all = uses_below(cx.file, tree, root);
        let gathers = |used: &Use| {
            let Some(parent) = tree.parent(used.node) else { return false };
            let whole = tree.parent(parent).is_some_and(|above| tree.kind(above) == NodeKind::ExpressionStatement);
            let update = || Update::of(tree, parent).and_then(Update::operator);
            let written = Assignment::to(tree, used.node).map_or_else(update, Assignment::operator);
            let fits = match operator {
                "+" | "-" => matches!(
                    written,
                    Some(NodeKind::PlusEqual | NodeKind::MinusEqual | NodeKind::PlusPlus | NodeKind::MinusMinus)
                ),
                "*" => written == Some(NodeKind::StarEqual),
                "&" => written == Some(NodeKind::AmpersandEqual),
                "|" => written == Some(NodeKind::BarEqual),
                "^" => written == Some(NodeKind::CaretEqual),
                _ => false,
            };
            whole && fits
        };
        let in_macro = |used: &Use| self.expands_to(used, name);
        all.iter().filter(|used| used.name == name).all(gathers) && !all.iter().any(in_macro)
    }
}
