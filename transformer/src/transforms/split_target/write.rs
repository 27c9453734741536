//! The edits that write the output of a region. No other part of `split` makes edits.

mod arrays;
pub(super) mod both_forms;
mod clauses;
mod own_copies;
mod places;
mod serial;
mod steering;
mod temporaries;

use crate::context::Context;
use crate::edit::directive_writer::{Layout, remove, replace};
use crate::edit::{Edit, EditSet};
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::target::TargetRegion;
use crate::syntax::{Clause, ClauseName, Directive};
use crate::transforms::split_target::facts::Facts;
use crate::transforms::split_target::kernels::{Kernel, Kernels};
use crate::transforms::split_target::shape::Shape;

/// A region and the constructs that are written in its place.
pub(super) struct Output<'a, 'p> {
    pub cx: &'a Context<'p>,
    pub region: &'a TargetRegion,
    pub shape: &'a Shape,
    pub facts: &'a Facts,
    pub kernels: &'a Kernels<'a>,
}

impl Output<'_, '_> {
    /// All edits.
    ///
    /// # Errors
    /// Why they cannot be made.
    pub(super) fn edits(&self) -> Result<Vec<Edit>, Reason> {
        let mut edits = self.directives();
        self.own_copies(&mut edits);
        edits.extend(self.arrays());
        self.temporaries(&mut edits);
        let edits = together(edits);
        match EditSet::new(edits.clone()) {
            Ok(_) => Ok(edits),
            Err(conflict) => {
                let message = "the statements stand too close together for the directives between them";
                Err(Reason::new(ReasonCode::SerialStatement, conflict.first, message))
            }
        }
    }

    /// The region's own directives and those of the loops: `target data` in place of the outermost directive, a kernel's directive
    /// in place of each loop's innermost one, all other directives of the chains taken away.
    fn directives(&self) -> Vec<Edit> {
        let (file, constructs, shape) = (self.cx.file, self.cx.constructs, self.shape);
        let inner = shape.parallel.iter().filter(|id| !shape.outer.contains(id));
        let away = shape.outer.iter().skip(1).chain(&shape.dropped).chain(inner);
        let first = shape.outer.first().map(|id| self.outermost(constructs.directive(*id)));
        let mut edits: Vec<Edit> = first.into_iter().collect();
        edits.extend(away.map(|id| remove(file, constructs.directive(*id))));
        for kernel in &self.kernels.kernels {
            match kernel.piece.directive() {
                Some(innermost) => edits.extend(self.loop_directives(kernel, innermost)),
                None => edits.extend(self.serial(kernel).into_iter().chain(self.steering(kernel))),
            }
        }
        edits
    }

    fn outermost(&self, directive: &Directive) -> Edit {
        let file = self.cx.file;
        let Kernels { task, data, .. } = self.kernels;
        let layout = Layout::of(file, directive);
        match (task.is_empty(), data.is_empty()) {
            (true, true) => remove(file, directive),
            (true, false) => self.data_directive(directive, &layout),
            (false, true) => replace(file, directive, &layout.write("task", &self.clauses(task))),
            (false, false) => {
                let task = layout.write("task", &self.clauses(task));
                let data = layout.write("target data", &self.clauses(data));
                replace(file, directive, &format!("{task}{}{}{data}", layout.newline, layout.indent))
            }
        }
    }

    /// The `target data` directive. If its clauses are those of the original, only the name changes, so that the user's
    /// layout stays.
    fn data_directive(&self, directive: &Directive, layout: &Layout) -> Edit {
        let same = |clause: &Clause| matches!(clause.name, ClauseName::Map | ClauseName::Device | ClauseName::If);
        let plain = |clause: &Clause| clause.name == ClauseName::Map || clause.modifiers.is_empty();
        let added = self.kernels.data.len() != directive.clauses.len();
        let commented = self.cx.file.show(directive.name_span).contains("/*");
        let changed = added || commented || !self.facts.data.temporaries.is_empty();
        if changed || !directive.clauses.iter().all(|clause| same(clause) && plain(clause)) {
            let text = layout.write("target data", &self.clauses(&self.kernels.data));
            return replace(self.cx.file, directive, &text);
        }
        Edit { span: directive.name_span, text: "target data".to_owned() }
    }

    fn loop_directives(&self, kernel: &Kernel<'_>, innermost: ConstructId) -> Vec<Edit> {
        let (file, constructs) = (self.cx.file, self.cx.constructs);
        let own = kernel.piece.chain.constructs.iter();
        let away = own.filter(|id| !self.shape.parallel.contains(id) && **id != innermost);
        let mut edits: Vec<Edit> = away.map(|id| remove(file, constructs.directive(*id))).collect();
        let directive = constructs.directive(innermost);
        let text = Layout::of(file, directive).write(kernel.name, &self.clauses(&kernel.clauses));
        edits.push(replace(file, directive, &text));
        edits
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
