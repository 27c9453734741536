//! Which expressions of bounds and clauses the host can evaluate, and which are evaluated once.

use std::collections::BTreeSet;

use crate::plan::ReasonCode;
use crate::semantics::{Act, Class, Evaluation, Kind, written_member};
use crate::source::{SourceFile, Span, words};
use crate::syntax::Clause;
use crate::syntax::host::parse_expression;
use crate::syntax::spec_table::Leaf;
use crate::transforms::split_target::facts::data::{Builder, Temporary};
use crate::transforms::split_target::facts::pieces::Piece;
use crate::transforms::split_target::shape::Form;
use crate::transforms::split_target::shape::clauses::expressions_of;

impl Builder<'_, '_> {
    /// Bounds of the loops, clause expressions that move to the host, and those that several directives would evaluate
    /// again.
    pub(super) fn expressions(&mut self) {
        let written = self.written_names();
        for piece in self.pieces {
            let steps = piece.nest.loops.iter().filter_map(|canonical| canonical.step.amount);
            for step in steps {
                let mut named = self.names.names_in(step).into_iter();
                if let Some((_, at)) = named.find(|(name, at)| self.may_differ(name, *at)) {
                    let message = "a step that is zero on the host would trap there, whatever it is on the device";
                    self.refuse(ReasonCode::BoundNotOnHost, at, message);
                }
            }
            for bound in piece.nest.loops.iter().flat_map(|l| [Some(l.lower), Some(l.upper), l.step.amount]).flatten() {
                let written = self.written_meanwhile(&written, piece, bound.start);
                if let Some(at) = self.names.not_on_host(bound, &written).or_else(|| self.may_trap(bound)) {
                    let message = "the compiler evaluates this bound on the host as well, which may not be able to";
                    self.refuse(ReasonCode::BoundNotOnHost, at, message);
                }
            }
            self.moved_expressions(piece, &written);
        }
        if self.shape.launches_several() {
            self.shared_expressions(&written);
        }
    }

    /// A mapped variable in a bound with a division: on the host it may be zero.
    fn may_trap(&self, bound: Span) -> Option<Span> {
        let divides = self.names.evaluation(bound).is_none_or(|evaluation| evaluation.does(Act::Division))
            || self.names.uses_macro_with(bound, &|body| self.does(body, Act::Division));
        let mut names = self.names.names_in(bound).into_iter();
        names.find(|(name, at)| divides && self.may_differ(name, *at)).map(|(_, at)| at)
    }

    /// May the device's copy of a variable have another value than the host's when the region begins?
    fn may_differ(&self, name: &str, at: Span) -> bool {
        self.is_on_device(name)
            || matches!(self.names.kind(name, at.start), Kind::Struct | Kind::Member(_) | Kind::Array { .. })
    }

    fn written_names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for piece in self.pieces {
            let variables = piece.variables.iter();
            names.extend(variables.filter(|(_, v)| v.written.is_some()).map(|(name, _)| name.clone()));
            for (name, variable) in piece.variables.iter().filter(|(_, v)| matches!(v.kind, Kind::Struct)) {
                names.extend(variable.members_written.iter().map(|member| written_member(name, member)));
            }
            names.extend(piece.clauses.reductions.iter().filter_map(|r| r.item.base.clone()));
        }
        names
    }

    /// Of the written names, those that may have another value on the device than on the host when a kernel starts.
    /// Variables of the region that only other kernels write do not count: their values are copied back.
    fn written_meanwhile(&self, written: &BTreeSet<String>, piece: &Piece, at: usize) -> BTreeSet<String> {
        let own = |name: &String| {
            piece.variables.get(name).is_some_and(|variable| variable.written.is_some())
                || piece.clauses.reductions.iter().any(|r| r.item.base.as_ref() == Some(name))
        };
        written.iter().filter(|name| own(name) || !self.is_local(name, at)).cloned().collect()
    }

    /// The original evaluated expressions of inner clauses on the device.
    fn moved_expressions(&mut self, piece: &Piece, written: &BTreeSet<String>) {
        let cx = self.names;
        let dropped = piece.clauses.dropped_expressions();
        for id in self.shape.outer.iter().skip(1).chain(&piece.chain.constructs) {
            let directive = cx.constructs.directive(*id);
            for clause in &directive.clauses {
                let spans = expressions_of(clause);
                let on_target = cx.constructs.construct(*id).leaves.first() == Some(&Leaf::Target);
                let moves = |span: &Span| !on_target && !dropped.contains(span);
                for span in spans.into_iter().filter(moves) {
                    if let Some(at) = self.names.not_on_host(span, written) {
                        let message = "this was evaluated on the device; on a combined construct the host evaluates it";
                        self.refuse(ReasonCode::ExpressionNotMovable, at, message);
                    }
                }
            }
        }
    }

    /// Expressions that each construct of the output would evaluate again.
    fn shared_expressions(&mut self, written: &BTreeSet<String>) {
        let writes_integers = self.pieces.iter().flat_map(|piece| piece.variables.values()).any(|variable| {
            variable.elements_written.is_some()
                && matches!(variable.kind, Kind::Pointer { class, .. } if class.may_alias(Class::Integer))
        });
        let region = self.region;
        let mut wanted: Vec<(Span, &'static str, &'static str)> = Vec::new();
        wanted.extend(region.device.as_ref().and_then(Clause::expression).map(|span| (span, "region_device", "int")));
        wanted.extend(
            region.condition.as_ref().and_then(Clause::expression).map(|span| (span, "region_condition", "int")),
        );
        for clause in region.kernel.iter().filter(|clause| !clause.modifiers.is_empty()) {
            let argument = Span::new(clause.name_span.end, clause.span.end);
            if clause.modifiers.iter().any(|modifier| !self.names.is_stable(modifier.span, written, writes_integers)) {
                let message = "the bounds of this clause may have another value for each kernel";
                self.refuse(ReasonCode::ExpressionNotMovable, argument, message);
            }
        }
        for clause in &region.kernel {
            let name = self.names.file.show(clause.name_span).replace(' ', "_");
            let name = if name == "num_teams" { "region_num_teams" } else { "region_thread_limit" };
            wanted.extend(clause.expression().map(|span| (span, name, "int")));
        }
        let mut bounds: Vec<(Span, &'static str, &'static str)> = Vec::new();
        for section in region.mapped_items().flat_map(|item| &item.sections) {
            bounds.extend(section.lower_bound.map(|span| (span, "map_start", "long long")));
            bounds.extend(section.length.map(|span| (span, "map_length", "long long")));
            bounds.extend(section.stride.map(|span| (span, "map_stride", "long long")));
        }
        let bounds = bounds.into_iter().map(|bound| (bound, true));
        let all = wanted.into_iter().map(|other| (other, false)).chain(bounds);
        for ((span, stem, type_name), is_bound) in all {
            let cx = self.names;
            if holds_statement(&cx.file.show(span)) || parse_expression(cx.file, span, cx.tree.language()).is_none() {
                self.refuse(ReasonCode::UnknownClause, span, "this is no expression");
            } else if self.names.uses_macro_with(span, &|body| !self.is_expression(body)) {
                self.refuse(ReasonCode::UnknownClause, span, "a macro stands for something else than an expression");
            } else if !self.names.is_stable(span, written, writes_integers) || is_bound && self.branches(span) {
                let name = self.names.fresh(stem);
                self.data.temporaries.insert(span, Temporary { name, type_name: type_name.to_owned() });
            }
        }
    }
}

impl Builder<'_, '_> {
    /// Does the evaluation of a section's bound branch? clang 19 crashes on that in a `target data` construct.
    fn branches(&self, span: Span) -> bool {
        self.shape.form != Form::OneLoop
            && (self.names.evaluation(span).is_none_or(|evaluation| evaluation.does(Act::Choice))
                || self.names.uses_macro_with(span, &|body| self.does(body, Act::Choice)))
    }

    /// Does the evaluation of a macro's text do this? A text that is no expression may do anything.
    fn does(&self, body: &str, act: Act) -> bool {
        let text = SourceFile::new("macro", body.as_bytes().to_vec());
        let tree = parse_expression(&text, Span::new(0, text.text.len()), self.names.tree.language());
        tree.is_none_or(|tree| Evaluation::of_text(&text, tree).does(act))
    }

    /// Is a macro's text an expression: not `0:n`?
    fn is_expression(&self, body: &str) -> bool {
        let text = SourceFile::new("macro", body.as_bytes().to_vec());
        parse_expression(&text, Span::new(0, text.text.len()), self.names.tree.language()).is_some()
    }
}

/// Does a word in the text begin or end a statement, so that the text is no expression?
fn holds_statement(text: &str) -> bool {
    let statements =
        ["if", "else", "for", "while", "do", "switch", "case", "default", "break", "continue", "goto", "return"];
    words(text).any(|word| statements.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::holds_statement;

    #[test]
    fn statements_are_no_expressions() {
        assert!(holds_statement("n if(0)") && holds_statement("else") && holds_statement("0;goto x;"));
        assert!(!holds_statement("n * iffy + form[do_it].elsewhere"));
    }
}
