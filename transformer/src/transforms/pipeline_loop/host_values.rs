//! Expressions that the host may evaluate as often as it likes, with the same value each time, before and between the tiles.

use crate::context::Context;
use crate::edit::directive_writer::on_one_line;
use crate::plan::{Reason, ReasonCode};
use crate::region::target::TargetRegion;
use crate::semantics::symbols::{DeclaredType, Symbols};
use crate::semantics::{Act, Class, Evaluation, Kind, Part};
use crate::source::Span;
use crate::syntax::{Clause, ClauseName, NodeKind, Number};
use crate::transforms::pipeline_loop::text;

/// What is asked about the values of one region.
pub(super) struct HostValues<'n, 'a> {
    pub names: &'n Context<'a>,
    pub region: &'n TargetRegion,
    /// Where the values must stay the same: the region, or the `target data` construct around it that is rewritten with it.
    pub extent: Span,
}

impl<'a> HostValues<'_, 'a> {
    pub(super) fn cx(&self) -> &Context<'a> {
        self.names
    }

    pub(super) fn symbols(&self) -> &Symbols<'a> {
        self.names.symbols()
    }

    /// An expression as it is written, on one line; a macro in parentheses where its replacement has operators of its own.
    pub(super) fn spelled(&self, span: Span) -> String {
        let text = on_one_line(self.cx().file, span);
        let replacement = self.symbols().macro_definition(&text, span.start).map(|found| found.body);
        match replacement {
            Some(body) if text::operand(&body) != body => format!("({text})"),
            _ => text,
        }
    }

    /// Is an expression made of numbers and of integers that keep their values?
    ///
    /// # Errors
    /// What it holds besides.
    pub(super) fn check(&self, span: Span) -> Result<(), Vec<Reason>> {
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

    /// Does a part of an expression give the same value each time, as far as its operator tells?
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

    /// The clauses of all constructs that run meanwhile.
    fn clauses(&self) -> impl Iterator<Item = &'a Clause> {
        self.cx().constructs.within(self.extent).flat_map(|(_, directive)| &directive.clauses)
    }

    /// Is it a constant, or an integer that neither the device nor a copy from it changes?
    pub(super) fn is_lasting(&self, name: &str, at: usize) -> bool {
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

    /// Does a clause say something of the variable but that it is copied?
    fn is_listed(&self, name: &str) -> bool {
        // Of a number that is shared by teams the device has a copy of its own, too.
        let is_copied = |clause: &&Clause| matches!(clause.name, ClauseName::Firstprivate | ClauseName::Shared);
        let mut clauses = self.clauses().filter(|clause| !is_copied(clause));
        clauses.any(|clause| {
            let listed =
                |clause: &Clause| clause.items().iter().any(|item| item.base.as_deref() == Some(name) && item.is_name);
            clause.name == ClauseName::Defaultmap || listed(clause)
        })
    }

    /// May nothing that is copied back from the device be the variable: its address is taken nowhere, or only real numbers
    /// come back (C17, section 6.5)?
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
