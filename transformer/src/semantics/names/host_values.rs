//! Expressions that the host can evaluate, and that have the same value whenever it does.

use std::collections::BTreeSet;

use crate::semantics::Program;
use crate::semantics::names::kinds::Kind;
use crate::semantics::symbols::DeclaredType;
use crate::semantics::uses::{Role, Use, member_of};
use crate::semantics::{Act, Evaluation, Part};
use crate::source::{SourceFile, Span, words};
use crate::syntax::host::parse_expression;
use crate::syntax::{Field, HostTree, Member, NodeId, NodeKind, Number};

impl Program<'_> {
    /// Every name that an expression of a clause uses.
    pub(crate) fn names_in(&self, span: Span) -> Vec<(String, Span)> {
        let names = self.evaluation(span).map(|evaluation| evaluation.names).unwrap_or_default();
        names.into_iter().map(|used| (used.name, used.span)).collect()
    }

    /// Is an expression made of names and whole numbers alone, and of arithmetic?
    pub(crate) fn is_arithmetic(&self, span: Span) -> bool {
        let is_plain = |part: &Part| matches!(part.act, Act::Literal | Act::Name | Act::Arithmetic | Act::Division);
        self.evaluation(span).is_some_and(|evaluation| evaluation.first_without(is_plain).is_none())
    }

    /// Is it made of names, whole numbers, arithmetic and casts to numbers by types of the language: `(size_t)n * m`?
    pub(crate) fn is_arithmetic_with_casts(&self, span: Span) -> bool {
        let is_plain = |part: &Part| {
            matches!(part.act, Act::Literal | Act::Name | Act::Arithmetic | Act::Division | Act::Conversion | Act::Type)
        };
        let names = self.names_in(span);
        let text = self.file.show(span);
        let is_type = |word: &str| {
            Number::is_keyword(word)
                || Number::read(word).is_some() && self.symbols().lookup(word, span.start).is_none()
        };
        let mut all = words(&text).filter(|word| !word.starts_with(|first: char| first.is_ascii_digit()));
        self.evaluation(span).is_some_and(|evaluation| evaluation.first_without(is_plain).is_none())
            && all.all(|word| is_type(word) || names.iter().any(|(name, _)| name == word))
    }

    /// Do all names in an expression, those of types too, mean at another place of the file what they mean where it stands?
    pub(crate) fn means_the_same(&self, span: Span, at: usize) -> bool {
        let symbols = self.symbols();
        let text = self.file.show(span);
        let mut names = words(&text);
        names.all(|name| {
            let declared = |at| symbols.lookup(name, at).map(|found| found.id());
            let is_tag = matches!(name, "struct" | "union" | "enum");
            !is_tag
                && declared(span.start) == declared(at)
                && symbols.macro_definition(name, span.start) == symbols.macro_definition(name, at)
        })
    }

    /// The first place in an expression that the host may not be able to evaluate to the value that the device would: a
    /// load from memory, a call, a side effect, a variable in `written`.
    pub(crate) fn not_on_host(&self, span: Span, written: &BTreeSet<String>) -> Option<Span> {
        let Some(evaluation) = self.evaluation(span) else { return Some(span) };
        let tree = &evaluation.tree;
        let by_itself = evaluation.first_without(|part| self.is_host_part(self.file, tree, part, span.start));
        let by_name = || evaluation.names.iter().find(|used| !self.is_host_value(tree, used, written));
        let by_macro = || self.uses_macro_with(span, &|body| !self.is_host_text(body, span.start));
        by_itself.or_else(|| by_name().map(|used| used.span)).or_else(|| by_macro().then_some(span))
    }

    /// Can the host do what a macro's text does, whatever the names stand for? What is no expression is not asked about here.
    fn is_host_text(&self, body: &str, at: usize) -> bool {
        let file = SourceFile::new("macro", body.as_bytes().to_vec());
        let whole = Span::new(0, file.text.len());
        let Some(tree) = parse_expression(&file, whole, self.tree.language()) else { return true };
        let evaluation = Evaluation::of_text(&file, tree);
        evaluation.first_without(|part| self.is_host_part(&file, &evaluation.tree, part, at)).is_none()
    }

    /// Is it a variable of an integer type that has 32 bits at least, wherever an `int` has them?
    pub(crate) fn holds_32_bits(&self, name: &str, at: usize) -> bool {
        let integer = self.integer_type(name, at).and_then(|number| number.integer());
        integer.is_some_and(|integer| integer.bits >= 32)
    }

    /// The type of a variable of integers, or of a reference to one, that may be read more often than the text does.
    pub(crate) fn integer_type(&self, name: &str, at: usize) -> Option<Number> {
        let variable = self.symbols().lookup(name, at)?;
        let ty = match &variable.ty {
            DeclaredType::Reference { to } => to,
            other => other,
        };
        ty.number().filter(|number| number.integer().is_some() && !ty.is_volatile()).cloned()
    }

    /// The member that `this->m` names, and the expression: where no other variable hides it, `m` alone means the same.
    pub(crate) fn member_of_this(&self, tree: &HostTree, this: NodeId, at: usize) -> Option<(NodeId, String)> {
        let member = Member::of(tree, tree.parent(this)?).filter(|member| member.is_behind_pointer())?;
        let field = member.name().filter(|field| tree.kind(*field) == NodeKind::FieldIdentifier)?;
        let name = self.file.show(tree.span(field)).into_owned();
        matches!(self.kind(&name, at), Kind::Member(_)).then_some((member.node, name))
    }

    /// May the evaluation of an expression do more than give a value?
    pub(crate) fn may_have_effect(&self, span: Span) -> bool {
        let Some(evaluation) = self.evaluation(span) else { return true };
        let is_plain = |part: &Part| {
            matches!(part.act, Act::Load | Act::Address | Act::Member)
                || self.is_host_part(self.file, &evaluation.tree, part, span.start)
        };
        evaluation.first_without(is_plain).is_some()
            || evaluation.names.iter().any(|used| {
                let is_plain = self.expansion(&used.name, used.span.start).map(|names| names.is_some());
                !is_plain.unwrap_or_else(|| self.is_host_object(&used.name, used.span.start))
            })
    }

    /// Can the host do it, whatever the names stand for?
    fn is_host_part(&self, file: &SourceFile, tree: &HostTree, part: &Part, at: usize) -> bool {
        let of_this = |this: Option<NodeId>| {
            let this = this.filter(|this| tree.kind(*this) == NodeKind::This);
            this.is_some_and(|this| self.member_of_this(tree, this, at).is_some())
        };
        match part.act {
            Act::Name if tree.kind(part.node) == NodeKind::This => of_this(Some(part.node)),
            Act::Load => of_this(tree.child(part.node, Field::Argument)),
            Act::Call => {
                let function = tree.child(part.node, Field::Function);
                function.is_some_and(|f| self.expansion(&file.show(tree.span(f)), at).flatten().is_some())
            }
            Act::Address | Act::Effect | Act::Unknown => false,
            _ => true,
        }
    }

    fn is_host_value(&self, tree: &HostTree, used: &Use, written: &BTreeSet<String>) -> bool {
        let at = used.span.start;
        if used.name == "this" {
            let member = self.member_of_this(tree, used.node, at);
            return member.is_some_and(|(_, name)| self.is_host_object(&name, at) && !written.contains(&name));
        }
        if let Some(member) = member_of(self.file, tree, used.node)
            && written.contains(&written_member(&used.name, &member))
        {
            return false;
        }
        match self.expansion(&used.name, at) {
            Some(None) => return false,
            Some(Some(names)) => {
                return names.iter().all(|name| self.is_host_object(name, at) && !written.contains(name));
            }
            None => {}
        }
        used.role != Role::Callee && self.is_host_object(&used.name, at) && !written.contains(&used.name)
    }

    fn is_host_object(&self, name: &str, at: usize) -> bool {
        matches!(
            self.kind(name, at),
            // An array without a subscript is its address.
            Kind::Scalar { .. }
                | Kind::Pointer { .. }
                | Kind::Array { .. }
                | Kind::Struct
                | Kind::Member(_)
                | Kind::Constant
        )
    }

    /// Has an expression the same value wherever the host evaluates it while the region runs? `writes_integers`: may the
    /// region write integers through pointers?
    pub(crate) fn is_stable(&self, span: Span, written: &BTreeSet<String>, writes_integers: bool) -> bool {
        if self.not_on_host(span, written).is_some() {
            return false;
        }
        !writes_integers || self.names_in(span).iter().all(|(name, at)| self.cannot_be_aliased(name, at.start))
    }
}

/// A member of a structure as it stands among the written names; an empty one is the whole object.
pub(crate) fn written_member(name: &str, member: &str) -> String {
    if member.is_empty() { name.to_owned() } else { format!("{name}.{member}") }
}
