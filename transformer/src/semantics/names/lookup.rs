//! What a name stands for at its place.

use crate::semantics::is_standard_constant;
use crate::semantics::names::{Class, Kind};
use crate::semantics::program::Program;
use crate::semantics::symbols::{DeclaredType, NameKind, Scope};
use crate::source::Span;
use crate::syntax::NodeKind;

impl Program<'_> {
    /// Where the name that is visible at byte `at` is declared, if in this file.
    pub(crate) fn declared_at(&self, name: &str, at: usize) -> Option<Span> {
        self.symbols()
            .lookup(name, at)
            .filter(|variable| variable.header.is_none())
            .map(|variable| variable.declared_at)
    }

    /// What a name that stands at byte `at` is.
    pub(crate) fn kind(&self, name: &str, at: usize) -> Kind {
        if name == "this" {
            return Kind::Struct;
        }
        if let Some(expanded) = self.expansion(name, at) {
            return expanded.map_or(Kind::Macro, |_| Kind::Constant);
        }
        let Some(variable) = self.symbols().lookup(name, at) else {
            return if is_standard_constant(name) { Kind::Constant } else { Kind::Unknown };
        };
        match variable.kind {
            NameKind::Enumerator => Kind::Constant,
            NameKind::Function => Kind::Function,
            NameKind::Variable if variable.is_static && variable.ty.is_const() => Kind::Constant,
            // A static member is a variable like those of a namespace.
            NameKind::Variable if variable.scope == Scope::Member && !variable.is_static => {
                // With its class before it, it may be a pointer to a member, or a member of a base.
                if name.contains("::") { Kind::Unknown } else { Kind::Member(Box::new(Kind::of_type(&variable.ty))) }
            }
            NameKind::TemplateParameter if variable.ty.number().is_some() => Kind::Constant,
            NameKind::Variable if is_deduced(&variable.ty) => self.kind_of_auto(&variable.declared_at),
            // The old way of declaring parameters, before the body: an array there is a pointer.
            NameKind::Variable if self.is_old_parameter(&variable.declared_at, variable.header) => Kind::Unknown,
            NameKind::Variable => Kind::of_type(&variable.ty),
            NameKind::Type | NameKind::TemplateParameter => Kind::Unknown,
        }
    }

    /// The declared type of the variable that is visible at byte `at`.
    pub(crate) fn declared_type(&self, name: &str, at: usize) -> Option<DeclaredType> {
        self.symbols().lookup(name, at).map(|variable| variable.ty.clone())
    }

    /// Is the name that is visible at byte `at` declared `const`?
    pub(crate) fn is_const(&self, name: &str, at: usize) -> bool {
        self.symbols().lookup(name, at).is_some_and(|variable| variable.ty.is_const())
    }

    fn is_old_parameter(&self, declared_at: &Span, header: Option<usize>) -> bool {
        let tree = self.tree;
        let node = tree.covering(*declared_at);
        let declaration =
            std::iter::once(node).chain(tree.ancestors(node)).find(|node| tree.kind(*node) == NodeKind::Declaration);
        let parent = declaration.and_then(|declaration| tree.parent(declaration));
        header.is_none() && parent.is_some_and(|parent| tree.kind(parent) == NodeKind::FunctionDefinition)
    }

    /// `auto` with an initialiser of operators, subscripts and calls that return numbers is of arithmetic type where its operands
    /// are; they are looked at as all other names of a loop are.
    fn kind_of_auto(&self, declared_at: &Span) -> Kind {
        if let Some(kind) = self.kind_of_range_variable(declared_at) {
            return kind;
        }
        let tree = self.tree;
        let node = tree.covering(*declared_at);
        let declaration =
            std::iter::once(node).chain(tree.ancestors(node)).find(|n| tree.kind(*n) == NodeKind::InitDeclarator);
        let opaque = |node| match tree.kind(node) {
            NodeKind::LambdaExpression
            | NodeKind::InitializerList
            | NodeKind::PointerExpression
            | NodeKind::NewExpression => true,
            NodeKind::CallExpression => !self.returns_number(node),
            _ => false,
        };
        match declaration {
            Some(node) if !tree.descendants(node).any(opaque) => {
                Kind::Scalar { wide: true, class: Class::Any, builtin: true }
            }
            _ => Kind::Unknown,
        }
    }
}

/// `auto`, or a reference to what it stands for.
fn is_deduced(ty: &DeclaredType) -> bool {
    match ty {
        DeclaredType::Auto => true,
        DeclaredType::Reference { to } => **to == DeclaredType::Auto,
        _ => false,
    }
}
