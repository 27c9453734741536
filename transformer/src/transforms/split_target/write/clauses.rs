//! How a clause is written.

use crate::edit::directive_writer::on_one_line;
use crate::source::Span;
use crate::syntax::{Clause, ListItem};
use crate::transforms::split_target::kernels::NewClause;
use crate::transforms::split_target::write::Output;

impl Output<'_, '_> {
    pub(super) fn clauses(&self, clauses: &[NewClause<'_>]) -> Vec<String> {
        clauses.iter().map(|clause| self.clause(clause)).collect()
    }

    fn clause(&self, clause: &NewClause<'_>) -> String {
        let file = self.cx.file;
        match clause {
            NewClause::Whole(clause) => on_one_line(file, clause.span),
            NewClause::Evaluated(clause) => {
                match clause.expression().filter(|span| self.facts.data.temporaries.contains_key(span)) {
                    Some(span) => format!("{}({})", file.show(clause.name_span), self.substituted(span)),
                    None => on_one_line(file, clause.span),
                }
            }
            NewClause::Expression(head, span) => format!("{head}{})", self.substituted(*span)),
            NewClause::Map { clause, items, restated } => {
                format!("map({}{})", self.map_modifiers(clause, *restated), self.items(items))
            }
            NewClause::List(clause, items) if clause.modifiers.is_empty() => {
                format!("{}({})", file.show(clause.name_span), self.items(items))
            }
            NewClause::List(clause, items) => {
                let first = clause.items().first().map_or(clause.name_span.end, |item| item.span.start);
                let head = on_one_line(file, Span::new(clause.span.start, first));
                format!("{head}{})", self.items(items))
            }
            NewClause::Names(head, names) => format!("{head}{})", names.join(", ")),
            NewClause::Fixed(text) => text.clone(),
        }
    }

    /// The text before the items of a map. On a kernel, a map of the region has only the map type.
    fn map_modifiers(&self, clause: &Clause, restated: bool) -> String {
        let file = self.cx.file;
        let modifiers = &clause.modifiers;
        let (Some(first), Some(last), Some(item)) = (modifiers.first(), modifiers.last(), clause.items().first())
        else {
            return String::new();
        };
        let colon = on_one_line(file, Span::new(last.span.end, item.span.start));
        if !restated {
            return format!("{}{colon}", on_one_line(file, Span::new(first.span.start, last.span.end)));
        }
        let is_type = |name: &str| matches!(name, "to" | "from" | "tofrom" | "alloc");
        let map_type = modifiers.iter().rfind(|modifier| is_type(&modifier.name));
        map_type.map_or(String::new(), |map_type| format!("{}{colon}", map_type.name))
    }

    fn items(&self, items: &[&ListItem]) -> String {
        items.iter().map(|item| self.substituted(item.span)).collect::<Vec<_>>().join(", ")
    }
}
