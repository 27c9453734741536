//! The task around the kernels of a region that was one.

use crate::edit::directive_writer::Layout;
use crate::syntax::ClauseName;
use crate::transforms::split_target::write::Split;

impl Split<'_, '_> {
    /// The directive of the task, if there is one.
    pub(super) fn task_directive(&self, layout: &Layout) -> Option<String> {
        let of_region = &self.clauses.task;
        if of_region.is_empty() {
            return None;
        }
        let mut clauses = Vec::new();
        // Without `nowait` the region is finished when the program goes on.
        if !of_region.iter().any(|clause| clause.name == ClauseName::Nowait) {
            clauses.push("if(0)".to_owned());
        }
        let lists = &self.data.task;
        for (name, items) in [("firstprivate", &lists.firstprivate), ("shared", &lists.shared)] {
            let items: Vec<&str> = items.iter().map(String::as_str).collect();
            if !items.is_empty() {
                clauses.push(format!("{name}({})", items.join(", ")));
            }
        }
        let depends = of_region.iter().filter(|clause| clause.name == ClauseName::Depend);
        clauses.extend(depends.map(|clause| self.whole(clause)));
        Some(layout.write("task", &clauses))
    }
}
