//! From a checked region to edits.

mod arrays;
mod clauses;
mod own_copies;
mod serial;
mod steering;
mod task;
mod temporaries;

use crate::context::Context;
use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, remove, replace};
use crate::region::construct::ConstructId;
use crate::region::target::TargetRegion;
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseName, Directive, ListItem, NodeKind};
use crate::transforms::split_target::clauses::RegionClauses;
use crate::transforms::split_target::data::DataEnvironment;
use crate::transforms::split_target::kernels::Kernel;
use crate::transforms::split_target::shape::Shape;

/// All that is known of a region that will be split.
pub(super) struct Split<'a, 'p> {
    pub cx: &'a Context<'p>,
    pub region: &'a TargetRegion,
    pub shape: &'a Shape,
    pub clauses: &'a RegionClauses,
    pub kernels: &'a [Kernel],
    pub data: &'a DataEnvironment,
}

impl Split<'_, '_> {
    /// The edits: `target data` in place of the outermost directive, a kernel's directive in place of each loop's
    /// innermost one, all other directives of the chains taken away.
    pub(super) fn edits(&self) -> Vec<Edit> {
        let mut edits = Vec::new();
        let file = self.cx.file;
        let data = self.data_clauses();
        for (index, id) in self.shape.outer.iter().enumerate() {
            let directive = self.cx.constructs.directive(*id);
            let layout = Layout::of(file, directive);
            let task = if index == 0 { self.task_directive(&layout) } else { None };
            if let Some(task) = task {
                let rest = if data.is_empty() { String::new() } else { layout.write("target data", &data) };
                let between =
                    if data.is_empty() { String::new() } else { format!("{}{}", layout.newline, layout.indent) };
                edits.push(replace(file, directive, &format!("{task}{between}{rest}")));
            } else if index == 0 && !data.is_empty() {
                edits.push(self.data_directive(directive, &data));
            } else {
                edits.push(remove(file, directive));
            }
        }
        for id in &self.shape.dropped {
            edits.push(remove(file, self.cx.constructs.directive(*id)));
        }
        for id in self.shape.parallel.iter().filter(|id| !self.shape.outer.contains(id)) {
            edits.push(remove(file, self.cx.constructs.directive(*id)));
        }
        for (index, kernel) in self.kernels.iter().enumerate() {
            let Some(innermost) = kernel.directive() else {
                edits.extend(self.serial(index, kernel));
                edits.extend(self.steering(index, kernel));
                continue;
            };
            let own = kernel.chain.constructs.iter().filter(|id| !self.shape.parallel.contains(id));
            for id in own.filter(|id| **id != innermost) {
                edits.push(remove(file, self.cx.constructs.directive(*id)));
            }
            let directive = self.cx.constructs.directive(innermost);
            let text = Layout::of(file, directive)
                .write(kernel_name(&kernel.chain.leaves), &self.kernel_clauses(index, kernel));
            edits.push(replace(file, directive, &text));
        }
        self.own_copies(&mut edits);
        edits.extend(self.arrays());
        self.temporaries(&mut edits);
        together(edits)
    }

    /// The `target data` directive. Where its clauses are those of the original, only the name changes, so that the
    /// user's layout stays.
    fn data_directive(&self, directive: &Directive, clauses: &[String]) -> Edit {
        let same = |clause: &Clause| matches!(clause.name, ClauseName::Map | ClauseName::Device | ClauseName::If);
        let plain = |clause: &Clause| clause.name == ClauseName::Map || clause.modifiers.is_empty();
        let added = clauses.len() != directive.clauses.len();
        let commented = self.cx.file.show(directive.name_span).contains("/*");
        if added
            || commented
            || !self.data.temporaries.is_empty()
            || !directive.clauses.iter().all(|c| same(c) && plain(c))
        {
            let text = Layout::of(self.cx.file, directive).write("target data", clauses);
            return replace(self.cx.file, directive, &text);
        }
        Edit { span: directive.name_span, text: "target data".to_owned() }
    }

    /// Does the output have a `target data` construct?
    pub(super) fn has_data_construct(&self) -> bool {
        !self.data_clauses().is_empty()
    }

    /// Is the region a statement of a block, and no other directive's?
    pub(super) fn is_in_block(&self, first: ConstructId) -> bool {
        let tree = self.cx.tree;
        let Some(body) = self.cx.constructs.construct(first).body else { return false };
        let directive = self.cx.constructs.directive(first);
        // Behind another directive new declarations would become its statement.
        let index = self.cx.constructs.construct(first).directive;
        let before = index.checked_sub(1).and_then(|index| self.cx.constructs.directives.get(index));
        let behind_directive = before.is_some_and(|other| {
            let between = self.cx.file.bytes(Span::new(other.span.end, directive.span.start));
            between.iter().all(u8::is_ascii_whitespace)
        });
        !behind_directive && tree.parent(body).is_some_and(|parent| tree.kind(parent) == NodeKind::CompoundStatement)
    }
}

/// What is inserted at one place becomes one edit. Braces that close there close the inner block first, and the edits
/// come from the outside inwards.
fn together(edits: Vec<Edit>) -> Vec<Edit> {
    let mut all: Vec<Edit> = Vec::new();
    for edit in edits {
        let same = all.iter_mut().find(|other| edit.span.is_empty() && other.span == edit.span);
        match same {
            Some(other) if edit.text.trim_start().starts_with('}') => other.text.insert_str(0, &edit.text),
            Some(other) => other.text.push_str(&edit.text),
            None => all.push(edit),
        }
    }
    all
}

/// The name of the directive that a loop's leaves become.
pub(super) fn kernel_name(leaves: &[Leaf]) -> &'static str {
    match leaves.last() {
        Some(Leaf::Loop) => "target teams loop",
        Some(Leaf::Simd) => "target teams distribute parallel for simd",
        _ => "target teams distribute parallel for",
    }
}

/// Does the loop make the item private to each thread, so that the kernel must not name it in another list?
pub(super) fn is_private(kernel: &Kernel, item: &ListItem) -> bool {
    let clauses = &kernel.clauses;
    let listed = clauses.private.iter().chain(&clauses.firstprivate).chain(&clauses.linear);
    let by_rule = kernel.nest.loops.iter().any(|l| item.base.as_deref() == Some(l.variable.as_str()) && item.is_name);
    by_rule || listed.into_iter().any(|other| other.base == item.base)
}
