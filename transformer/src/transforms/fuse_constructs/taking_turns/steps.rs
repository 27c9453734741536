//! The loop of the host whose steps take turns, and all else that it does.

use super::super::host_loop::{is_last_on_line, is_plain_statement};
use super::super::lists::Lists;
use super::super::members::Member;
use super::super::{apart, guards};
use crate::context::Context;
use crate::edit::directive_writer::line_start;
use crate::plan::Reason;
use crate::semantics::effects::{Named, Storage};
use crate::semantics::symbols::DeclaredType;
use crate::source::Span;
use crate::syntax::{ClauseName, Directive, Field, NodeId, NodeKind};

/// A loop of the host in whose body two constructs follow each other.
pub(super) struct Steps<'a, 'c> {
    cx: &'a Context<'c>,
    /// The loop.
    pub node: NodeId,
    pub span: Span,
    /// Does it stand in a block, and is no statement of a directive?
    pub is_in_block: bool,
    /// From the first construct to the end of the second.
    pub both: Span,
}

impl<'a, 'c> Steps<'a, 'c> {
    /// The loop around two neighbouring constructs. `None` where there is none, or one of which nothing is known.
    pub(super) fn around(cx: &'a Context<'c>, (sweep, copy): (&Member, &Member)) -> Option<Self> {
        let tree = cx.tree;
        let block = tree.parent(cx.constructs.construct(sweep.id).body?)?;
        let node = tree.parent(block).filter(|_| tree.field(block) == Some(Field::Body))?;
        let is_loop =
            matches!(tree.kind(node), NodeKind::ForStatement | NodeKind::WhileStatement | NodeKind::DoStatement);
        let is_statement = tree.parent(node).is_some_and(|above| tree.kind(above) == NodeKind::CompoundStatement);
        (is_loop && is_statement && is_plain_statement(cx, node)).then_some(())?;
        let of_directive = cx.constructs.ids().any(|id| cx.constructs.construct(id).body == Some(node));
        let both = Span::new(sweep.region.extent.start, copy.region.extent.end);
        Some(Self { cx, node, span: tree.span(node), is_in_block: !of_directive, both })
    }

    /// Does a `target data` construct around the loop list a variable?
    pub(super) fn is_in_environment_of(&self, name: &str) -> bool {
        let cx = self.cx;
        let around = cx.constructs.ids().filter(|id| cx.constructs.construct(*id).body_span.contains(self.span));
        let mut environments = around.map(|id| cx.constructs.directive(id)).filter(|it| it.is("target data"));
        environments.any(|it| it.clauses_of(ClauseName::Map).any(|clause| clause.lists(name)))
    }

    /// Can the text be written: a declaration before the loop, and constructs behind it?
    pub(super) fn have_a_place(&self) -> Result<(), Reason> {
        let (cx, tree) = (self.cx, self.cx.tree);
        let before = cx.file.bytes(Span::new(line_start(&cx.file.text, self.span.start), self.span.start));
        if !before.iter().all(u8::is_ascii_whitespace) || !is_last_on_line(cx, self.span.end) {
            return Err(apart(self.span, "the loop does not stand on lines of its own"));
        }
        if let Some(reason) = guards::passes_by(cx, self.node) {
            return Err(reason);
        }
        let leaves = |node: &NodeId| {
            let kind = tree.kind(*node);
            let is_jump = matches!(
                kind,
                NodeKind::ReturnStatement
                    | NodeKind::GotoStatement
                    | NodeKind::ThrowStatement
                    | NodeKind::CoReturnStatement
                    | NodeKind::LambdaExpression
                    | NodeKind::GnuAsmExpression
                    | NodeKind::TypeDefinition
            );
            let is_pragma = || cx.file.show(tree.span(*node)).contains("pragma");
            is_jump || kind.is_preprocessor() && !is_pragma()
        };
        match tree.descendants(self.node).find(leaves) {
            Some(node) => Err(apart(tree.span(node), "the loop is left here, or its text is not followed")),
            None => Ok(()),
        }
    }

    /// Does all else in the loop leave two arrays alone, whatever it does?
    ///
    /// # Errors
    /// What may access one of them.
    pub(super) fn leave_alone(&self, arrays: [&String; 2]) -> Result<(), Reason> {
        let cx = self.cx;
        if let Some(moved) =
            arrays.into_iter().find(|name| !self.keep(name, Span::new(self.both.start, self.both.start)))
        {
            return Err(apart(self.both, format!("`{moved}` may lead elsewhere in a later step")));
        }
        for directive in self.other_directives() {
            self.check_directive(directive, arrays)?;
        }
        let effects = cx.host_effects(self.node, &[self.both]);
        if let Some(unknown) = effects.unknown.first() {
            return Err(apart(unknown.span, format!("{} in the loop around both constructs", unknown.message)));
        }
        for touch in &effects.touches {
            self.check_storage(&touch.storage, touch.span, arrays)?;
        }
        Ok(())
    }

    /// The directives in the loop beside both constructs.
    fn other_directives(&self) -> impl Iterator<Item = &Directive> {
        let is_other = |it: &&Directive| self.span.contains(it.span) && !self.both.contains(it.span);
        self.cx.constructs.directives.iter().filter(is_other)
    }

    /// Refuses a directive that is neither a kernel nor an update, or lists what may be one of the arrays.
    fn check_directive(&self, directive: &Directive, arrays: [&String; 2]) -> Result<(), Reason> {
        let cx = self.cx;
        let is_known = directive.is("target teams distribute parallel for") || directive.is("target update");
        if !is_known {
            return Err(apart(directive.span, "what this directive does in each step is not followed"));
        }
        for item in directive.clauses.iter().flat_map(|clause| clause.items()) {
            let base = item.base.as_deref().unwrap_or_default();
            let Some((named, variable)) = cx.named(base, item.span.start) else {
                return Err(apart(item.span, "this list item is not followed"));
            };
            let is_pointed = variable.ty.is_pointer() || matches!(variable.ty, DeclaredType::ArrayParameter { .. });
            let storage = if is_pointed { Storage::Behind(named) } else { Storage::Variable(named) };
            self.check_storage(&storage, item.span, arrays)?;
        }
        Ok(())
    }

    /// Refuses storage that may be of one of the arrays.
    pub(super) fn check_storage(&self, storage: &Storage, at: Span, arrays: [&String; 2]) -> Result<(), Reason> {
        for name in arrays {
            let is_apart =
                self.named(name).is_some_and(|named| self.cx.is_apart(storage, &named, self.cx.owner(&named)));
            if !is_apart {
                return Err(apart(at, format!("what the loop accesses here may be an element of `{name}`")));
            }
        }
        Ok(())
    }

    fn named(&self, name: &str) -> Option<Named> {
        self.cx.named(name, self.both.start).map(|(named, _)| named)
    }

    /// Is it a number, or a variable that nothing in the loop changes?
    pub(super) fn keep(&self, name: &str, at: Span) -> bool {
        let ty = self.cx.declared_type(name, at.start);
        ty.is_some_and(|ty| matches!(ty, DeclaredType::Array { .. })) || guards::keeps(self.cx, (name, at), self.span)
    }

    /// Have the bounds of both constructs and the sections that the second one maps the same values in each step? Do its names mean the same behind the loop?
    pub(super) fn repeat(&self, sweep: &Member, (copy, own): (&Member, &Lists)) -> Result<(), Reason> {
        let cx = self.cx;
        let names_of = |spans: Vec<Span>| spans.into_iter().flat_map(|span| cx.names_in(span));
        let of_copy: Vec<Span> = copy.bounds().chain(own.expressions()).collect();
        for (name, at) in names_of(sweep.bounds().collect()).chain(names_of(of_copy.clone())) {
            if !self.keep(&name, at) {
                return Err(apart(at, format!("`{name}` may have another value in a later step")));
            }
        }
        let id = |name: &str, at: usize| cx.symbols().lookup(name, at).map(|found| found.id());
        let items = own.mapped.iter().map(|item| (item.name.clone(), item.span));
        let outside = copy.outside.iter().map(|(_, used)| (used.name.clone(), used.span));
        let mut all = names_of(of_copy).chain(items).chain(outside);
        match all.find(|(name, at)| id(name, at.start) != id(name, self.span.end)) {
            Some((name, at)) => Err(apart(at, format!("`{name}` means something else behind the loop"))),
            None => Ok(()),
        }
    }
}
