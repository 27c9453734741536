//! Which scalars need a copy that lives for the whole region.
//!
//! `target` copies a scalar that no clause maps, and a `parallel` region has copies of its private variables. If the
//! region writes such a copy, the kernels must share it. The output then declares a variable of the same name in the
//! region's block and treats it like the variables that the original declares there.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::semantics::uses::{Role, Use, uses_below};
use crate::source::{Language, Span, words};
use crate::syntax::{ClauseName, Declaration, NodeId, NodeKind, Parameter};
use crate::transforms::split_target::facts::data::{Builder, Temporary};
use crate::transforms::split_target::shape::Form;

/// A variable that the output declares in a block of the region.
#[derive(Clone, Debug)]
pub(crate) struct OwnCopy {
    pub name: String,
    /// Its type as the original declares it.
    pub type_name: String,
    /// The statement at whose start it is declared.
    pub block: NodeId,
    /// Is a declaration written? Not if the whole function uses the variable only in the region, and it has no value
    /// before or is assigned first: then the variable itself serves.
    pub is_declared: bool,
    /// The constant before the region that holds its first value. `None` if it has none.
    pub initial: Option<String>,
    /// Does it have a first value?
    has_value: bool,
    /// Is the original variable uninitialised when the region begins?
    is_indeterminate: bool,
    /// Does the region read it? If it is only written, compilers would warn.
    pub is_read: bool,
    /// Is the original variable named nowhere else? Compilers would then call it unused.
    is_lonely: bool,
    /// The declaration of the original variable.
    declared: Span,
    /// The part of the text in which the name means the copy.
    scope: Span,
}

impl Builder<'_, '_> {
    /// The copy that a name means at byte `at`.
    fn own_copy(&self, name: &str, at: usize) -> Option<&OwnCopy> {
        let place = Span::new(at, at);
        let here = self.data.own_copies.iter().filter(|copy| copy.name == name && copy.scope.contains(place));
        here.filter(|copy| self.names.declared_at(name, at) == Some(copy.declared)).min_by_key(|copy| copy.scope.len())
    }

    pub(super) fn is_own_copy(&self, name: &str, at: usize) -> bool {
        self.own_copy(name, at).is_some()
    }

    /// Makes a copy of each scalar that the region writes and that its `target` construct makes private, or
    /// firstprivate implicitly.
    pub(super) fn own_copies(&mut self) {
        if self.shape.form != Form::OneTeam || self.scalars_are_mapped {
            return;
        }
        let Some(outer) = self.shape.outer.first() else { return };
        let cx = self.names;
        let scope = Span::new(cx.constructs.directive(*outer).span.end, cx.constructs.construct(*outer).body_span.end);
        for id in &self.shape.parallel {
            self.own_copies_of_threads(*id, cx.constructs.construct(*id).body_span);
        }
        for (name, at) in self.written_by_region() {
            if !self.is_own_copy(&name, at)
                && let Some(mut copy) = self.copy_of(&name, at, self.shape.outer.last().copied(), scope)
            {
                let private = self.region.private.iter().any(|item| item.base.as_ref() == Some(&name));
                let assigned_first = self.block_assigns_first(copy.block, &name, copy.declared);
                copy.has_value = !private && !copy.is_indeterminate && (!assigned_first || copy.is_lonely);
                self.data.own_copies.push(copy);
            }
        }
    }

    /// Is the first use of a variable in a block an assignment that the block itself executes? An assignment in an
    /// inner loop or `parallel` region does not count: the variable may be private there.
    fn block_assigns_first(&self, block: NodeId, name: &str, declared: Span) -> bool {
        let cx = self.names;
        let uses = uses_below(cx.file, cx.tree, block);
        let means_it =
            |used: &&Use| used.name == name && self.names.declared_at(name, used.span.start) == Some(declared);
        let loops = self.pieces.iter().filter(|piece| piece.serial.is_none()).map(|piece| piece.extent);
        let parallel = self.shape.parallel.iter().filter_map(|id| cx.constructs.construct(*id).body);
        let inner: Vec<Span> =
            loops.chain(parallel.filter(|body| *body != block).map(|body| cx.tree.span(body))).collect();
        let is_of_block = |used: &Use| !inner.iter().any(|other| other.contains(used.span));
        uses.iter().find(means_it).is_some_and(is_of_block) && self.assigns_first(block, block, name, Some(declared))
    }

    /// Removes the copies of variables that statements on the device use but no loop or control flow does. Returns
    /// whether there were any.
    pub(super) fn leave_copies_to(&mut self, on_device: &BTreeMap<NodeId, Vec<Reason>>) -> bool {
        let cx = self.names;
        let names_below = |node: NodeId| uses_below(cx.file, cx.tree, node).into_iter().map(|used| used.name);
        let used: BTreeSet<String> = on_device.keys().flat_map(|node| names_below(*node)).collect();
        let steering: BTreeSet<String> = self.steering_expressions().into_iter().flat_map(names_below).collect();
        let before = self.data.own_copies.len();
        let pieces = self.pieces;
        self.data.own_copies.retain(|copy| {
            !used.contains(&copy.name)
                || steering.contains(&copy.name)
                || pieces.iter().any(|piece| piece.named.contains(&copy.name))
        });
        self.data.own_copies.len() != before
    }

    /// Chooses the names of the constants that hold the first values.
    pub(super) fn name_copies(&mut self) {
        for copy in self.data.own_copies.iter_mut().filter(|copy| copy.has_value && copy.is_declared) {
            let initial = self.names.fresh(&format!("{}_before", copy.name));
            let temporary = Temporary { name: initial.clone(), type_name: copy.type_name.clone() };
            self.data.temporaries.insert(copy.declared, temporary);
            copy.initial = Some(initial);
        }
    }

    /// Makes copies of variables that are private in a `parallel` region and written by its statements that the host
    /// executes.
    fn own_copies_of_threads(&mut self, id: ConstructId, body: Span) {
        let cx = self.names;
        let clauses = cx.constructs.directive(id).clauses_of(ClauseName::Private);
        let listed: Vec<&str> =
            clauses.flat_map(|clause| clause.items()).filter_map(|item| item.base.as_deref()).collect();
        for used in self.host_uses(Some(body)) {
            let outside = self.names.declared_at(&used.name, used.span.start).is_some_and(|at| !body.contains(at));
            if listed.contains(&used.name.as_str())
                && outside
                && !self.is_own_copy(&used.name, used.span.start)
                && let Some(copy) = self.copy_of(&used.name, used.span.start, Some(id), body)
            {
                self.data.own_copies.push(copy);
            }
        }
    }

    /// The variables around the region that its loops, reductions and other statements write.
    fn written_by_region(&self) -> Vec<(String, usize)> {
        let mut found = Vec::new();
        for piece in self.pieces {
            let threads_own = |name: &String| {
                (piece.clauses.default_firstprivate.is_some() && !piece.shared.contains(name))
                    || (piece.serial.is_none() && self.names.is_inner_loop_variable(name, piece.nest.body))
                    || self.is_temporary(name)
            };
            let written = piece.variables.iter().filter(|(name, variable)| {
                variable.written.is_some()
                    && !threads_own(name)
                    && self.thread_region(name, variable.first.start).is_none()
            });
            found.extend(written.map(|(name, variable)| (name.clone(), variable.first.start)));
            for reduction in piece.clauses.reductions.iter().filter(|reduction| !reduction.on_target) {
                found.push((reduction.item.base.clone().unwrap_or_default(), reduction.item.span.start));
            }
        }
        let by_host = self.host_uses(None).into_iter().filter(|used| used.role == Role::Write);
        found.extend(by_host.map(|used| (used.name, used.span.start)));
        found
    }

    /// A copy of the scalar that `name` means at byte `at`, in the block of a construct. `None` if the name cannot
    /// certainly stand for a new variable there.
    fn copy_of(&self, name: &str, at: usize, id: Option<ConstructId>, scope: Span) -> Option<OwnCopy> {
        let cx = self.names;
        let block = cx.constructs.construct(id?).body?;
        let first = self.shape.outer.first().map(|first| cx.constructs.directive(*first).span);
        let region = Span::new(first?.start, cx.tree.span(block).end);
        let declared = self.names.declared_at(name, at).filter(|declared| !scope.overlaps(*declared))?;
        let usable = self.names.kind(name, at).is_host_scalar()
            && !self.is_on_device(name)
            && !self.names.is_threadprivate(name)
            && !self.names.may_be_declared_for_device(name, at)
            && !self.pieces.iter().any(|piece| piece.clauses.copied_by_parallel.iter().any(|item| item.is_of(name)))
            && !self.is_named_by_region(name)
            && uses_below(cx.file, cx.tree, block).iter().all(|used| self.may_mean_copy(used, name));
        let (type_name, written_at) = self.type_of_declaration(declared).filter(|_| usable)?;
        let copied_at = [region.start, cx.tree.span(block).start + 1];
        if name.contains("::") || !copied_at.iter().all(|at| self.means_the_same(&type_name, written_at, *at)) {
            return None;
        }
        let is_indeterminate = self.names.is_indeterminate_at(name, declared, region);
        let reads = |used: &Use| !matches!(used.role, Role::Write | Role::Declaration);
        let is_read = uses_below(cx.file, cx.tree, block)
            .iter()
            .any(|used| used.name == name && reads(used) || self.expands_to(used, name));
        let is_lonely = self.names.is_named_in_alone(name, declared, region);
        let is_declared = self.may_be_reached_by_other_threads()
            || !(is_indeterminate || self.block_assigns_first(block, name, declared))
            || !self.names.only_used_in(name, declared, region);
        Some(OwnCopy {
            name: name.to_owned(),
            type_name,
            block,
            is_declared,
            initial: None,
            has_value: false,
            is_indeterminate,
            is_read,
            is_lonely,
            declared,
            scope,
        })
    }

    /// May several threads of the host execute the region at once, in one execution of its function?
    fn may_be_reached_by_other_threads(&self) -> bool {
        let constructs = self.names.constructs;
        let first = self.shape.outer.first().and_then(|id| constructs.enclosing(*id));
        let mut around = std::iter::successors(first, |id| constructs.enclosing(*id));
        !self.region.task.is_empty() || around.any(|id| !constructs.directive(id).is("target data"))
    }

    /// May a use of a name stay unchanged if `name` becomes another variable?
    fn may_mean_copy(&self, used: &Use, name: &str) -> bool {
        let cpp = self.names.tree.language() == Language::Cpp;
        let handed_on = cpp && used.role == Role::Argument && !self.names.argument_is_only_read(used);
        let reaches = matches!(used.role, Role::Address | Role::Declaration) || handed_on;
        !(self.expands_to(used, name) || (used.name == name && reaches))
    }

    /// Does a type that is written with these words mean the same at two places?
    fn means_the_same(&self, type_name: &str, one: usize, other: usize) -> bool {
        let symbols = self.names.symbols();
        let declared = |word: &str, at| symbols.lookup(word, at).map(|found| found.id());
        words(type_name).all(|word| {
            declared(word, one) == declared(word, other)
                && symbols.is_known_unqualified(word, other)
                && symbols.macro_definition(word, one) == symbols.macro_definition(word, other)
        })
    }

    /// The type that a declaration of one or several plain variables gives, and where it stands.
    fn type_of_declaration(&self, declared: Span) -> Option<(String, usize)> {
        let cx = self.names;
        let name = cx.tree.covering(declared);
        let mut above = std::iter::once(name).chain(cx.tree.ancestors(name));
        let node = above.find_map(|node| {
            let declaration = Declaration::of(cx.tree, node).map(Declaration::ty);
            declaration.or_else(|| Parameter::of(cx.tree, node).map(Parameter::ty))
        })??;
        let known = matches!(
            cx.tree.kind(node),
            NodeKind::PrimitiveType | NodeKind::SizedTypeSpecifier | NodeKind::TypeIdentifier
        );
        let name = cx.file.show(cx.tree.span(node)).split_whitespace().collect::<Vec<_>>().join(" ");
        // A typedef of a reference would make no copy.
        let at = cx.tree.span(node).start;
        (known && self.names.symbols().type_named(&name, at).is_scalar()).then_some((name, at))
    }

    /// Notes a result that the region combines but that neither the region nor the program ever reads.
    pub(super) fn lost_result(&mut self, index: usize, name: &str, at: Span) {
        let mut others = self.pieces.iter().enumerate().filter(|(other, _)| *other != index);
        let used = others.any(|(_, piece)| piece.named.contains(name))
            || self.host_uses(None).iter().any(|used| used.name == name && used.role == Role::Read);
        if !used {
            let message =
                format!("`{name}` is not mapped: the program does not see this result, before or after the split");
            self.data.remarks.push(Reason::new(ReasonCode::LostResult, at, message));
        }
    }
}
