//! Expressions that the host may evaluate repeatedly before and between the tiles, always with the same value.

use crate::context::Context;
use crate::edit::directive_writer::on_one_line;
use crate::plan::{Reason, ReasonCode};
use crate::region::target::TargetRegion;
use crate::semantics::symbols::{DeclaredType, Symbols};
use crate::semantics::{Act, Class, Evaluation, Kind, Part};
use crate::source::Span;
use crate::syntax::{Clause, ClauseName, NodeKind, Number};
use crate::transforms::host_copies::host_code::names_variable;
use crate::transforms::host_copies::text;

/// Answers questions about values in one region.
pub(in crate::transforms) struct HostValues<'n, 'a> {
    pub names: &'n Context<'a>,
    pub region: &'n TargetRegion,
    /// The part of the text in which the values must not change: the region, or the `target data` construct around it
    /// that is rewritten with it.
    pub extent: Span,
}

impl<'a> HostValues<'_, 'a> {
    pub(in crate::transforms) fn cx(&self) -> &Context<'a> {
        self.names
    }

    pub(in crate::transforms) fn symbols(&self) -> &Symbols<'a> {
        self.names.symbols()
    }

    /// An expression on one line. A macro gets parentheses if its replacement has operators.
    pub(in crate::transforms) fn spelled(&self, span: Span) -> String {
        let text = on_one_line(self.cx().file, span);
        let replacement = self.symbols().macro_definition(&text, span.start).map(|found| found.body);
        match replacement {
            Some(body) if text::operand(&body) != body => format!("({text})"),
            _ => text,
        }
    }

    /// Checks that an expression consists of numbers and of integers that keep their values.
    ///
    /// # Errors
    /// Its other parts.
    pub(in crate::transforms) fn check(&self, span: Span) -> Result<(), Vec<Reason>> {
        let cx = self.cx();
        let refuse = |message: String| Err(vec![Reason::new(ReasonCode::LoopNotTiled, span, message)]);
        let Some(evaluation) = cx.evaluation(span) else {
            return refuse("this expression cannot be evaluated for each tile".to_owned());
        };
        let mut names = evaluation.names.iter();
        let changing = || names.find(|used| !self.is_lasting(&used.name, used.span.start)).map(|used| used.span);
        match evaluation.first_without(|part| self.is_repeatable(&evaluation, part)).or_else(changing) {
            Some(at) => refuse(format!("`{}` may have another value when a tile is begun", cx.file.show(at))),
            None => Ok(()),
        }
    }

    /// Does the operator of this part of an expression give the same value each time?
    fn is_repeatable(&self, evaluation: &Evaluation<'_>, part: &Part) -> bool {
        match part.act {
            Act::Type if evaluation.tree.kind(part.node) == NodeKind::TypeIdentifier => {
                let span = evaluation.tree.span(part.node);
                self.symbols().is_standard_number(&self.cx().file.show(span), span.start)
            }
            Act::Load | Act::Member | Act::Address | Act::Call | Act::Effect | Act::Unknown => false,
            _ => true,
        }
    }

    /// Is it declared before the text that is rewritten?
    fn is_known_before(&self, name: &str, at: usize) -> bool {
        let variable = self.symbols().lookup(name, at);
        variable.is_none_or(|variable| variable.header.is_some() || !self.extent.contains(variable.declared_at))
    }

    /// May `defaultmap` map the variable for a kernel that names it? Not where only sections of `map` clauses do: the host evaluates these.
    fn is_mapped_by_default(&self, name: &str) -> bool {
        let cx = self.cx();
        cx.constructs.ids_within(self.extent).any(|id| {
            let directive = cx.constructs.directive(id);
            let others = directive.clauses.iter().filter(|clause| clause.name != ClauseName::Map);
            let mut inside = others.map(|clause| clause.span).chain([cx.constructs.construct(id).body_span]);
            directive.clauses_of(ClauseName::Defaultmap).next().is_some()
                && inside.any(|span| names_variable(cx, span, name))
        })
    }

    /// The clauses of all constructs in that part of the text.
    fn clauses(&self) -> impl Iterator<Item = &'a Clause> {
        self.cx().constructs.within(self.extent).flat_map(|(_, directive)| &directive.clauses)
    }

    /// Is it a constant, or an integer that is changed neither by the device nor by a copy from it?
    pub(in crate::transforms) fn is_lasting(&self, name: &str, at: usize) -> bool {
        let names = self.names;
        if let Some(expansion) = names.expansion(name, at) {
            return expansion.is_some_and(|inner| inner.iter().all(|name| self.is_lasting(name, at)));
        }
        match names.kind(name, at) {
            _ if !self.is_known_before(name, at) => false,
            Kind::Constant => true,
            Kind::Scalar { wide: false, class: Class::Integer, builtin: true } => {
                !self.is_listed(name)
                    && self.symbols().written_in(name, at, self.extent).is_empty()
                    && !names.is_declare_target(name)
                    && !names.may_be_declared_for_device(name, at)
                    && !names.is_threadprivate(name)
                    && self.is_out_of_reach(name, at)
            }
            _ => false,
        }
    }

    /// Does a clause list the variable other than for a copy to the device?
    fn is_listed(&self, name: &str) -> bool {
        // A number that teams share has a copy on the device, too.
        let is_copied = |clause: &&Clause| matches!(clause.name, ClauseName::Firstprivate | ClauseName::Shared);
        let mut clauses = self.clauses().filter(|clause| !is_copied(clause));
        let lists =
            |clause: &Clause| clause.items().iter().any(|item| item.base.as_deref() == Some(name) && item.is_name);
        clauses.any(lists) || self.is_mapped_by_default(name)
    }

    /// Is it impossible that a copy from the device changes the variable: is its address never taken, or do only real
    /// numbers come back (C17, section 6.5)?
    fn is_out_of_reach(&self, name: &str, at: usize) -> bool {
        let symbols = self.symbols();
        let is_const = symbols.lookup(name, at).is_some_and(|variable| variable.ty.is_const());
        is_const
            || !symbols.is_address_taken(name, at)
            || (self.cx().compilation.strict_aliasing && self.copies_only_reals())
    }

    fn copies_only_reals(&self) -> bool {
        let maps = self.clauses().filter(|clause| clause.name == ClauseName::Map);
        let mut back = maps.filter(|clause| !clause.has_modifier("to") && !clause.has_modifier("alloc"));
        back.all(|clause| {
            clause.items().iter().all(|item| {
                let ty = item.base.as_deref().and_then(|base| self.names.declared_type(base, item.span.start));
                let mut ty = ty.unwrap_or(DeclaredType::Unknown);
                while !ty.is_scalar() && ty != DeclaredType::Unknown {
                    ty = ty.dereferenced();
                }
                ty.number().is_some_and(Number::is_floating)
            })
        })
    }
}
