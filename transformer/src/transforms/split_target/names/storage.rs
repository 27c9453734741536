//! Which names may stand for one object, and what may be on the device in part.

use std::collections::BTreeSet;

use crate::analysis::symbols::{DeclaredType, NameKind, Scope};
use crate::analysis::uses::{Role, Use, uses_below};
use crate::region::construct::ConstructId;
use crate::source::{Language, Span};
use crate::syntax::{ClauseName, ListItem};
use crate::transforms::split_target::names::Names;
use crate::transforms::split_target::names::kinds::Kind;

impl Names<'_> {
    /// Is it a constant, or a variable that only its name reaches?
    pub(in crate::transforms::split_target) fn cannot_be_aliased(&self, name: &str, at: usize) -> bool {
        match self.symbols.lookup(name, at) {
            Some(variable) => {
                variable.ty.is_const() || variable.kind == NameKind::Enumerator || self.is_own_object(name, at)
            }
            None => self.kind(name, at) == Kind::Constant,
        }
    }

    /// Is it a variable that only its name reaches: of a function, or `static` in the file, and its address never taken?
    fn is_own_object(&self, name: &str, at: usize) -> bool {
        let variable = self.symbols.lookup(name, at);
        variable.is_some_and(|variable| {
            let in_function = matches!(variable.scope, Scope::Local | Scope::Parameter) && !variable.is_extern;
            (in_function || (variable.scope == Scope::File && variable.is_static))
                && !matches!(variable.ty, DeclaredType::Reference { .. })
                && !self.address_taken().contains(name)
        })
    }

    /// The names of which some object's address is taken anywhere in the file, by `&` or a C++ reference.
    fn address_taken(&self) -> &BTreeSet<String> {
        self.address_taken.get_or_init(|| {
            let tree = self.cx.tree;
            let cpp = tree.language() == Language::Cpp;
            let taken = |used: &Use| {
                used.role == Role::Address || (cpp && used.role == Role::Argument && !self.argument_is_only_read(used))
            };
            self.file_uses().iter().filter(|used| taken(used)).map(|used| used.name.clone()).collect()
        })
    }

    /// May a header of the project put the variable on the device for the whole program? Its directives are not read, only
    /// whether it has such ones and the name.
    pub(in crate::transforms::split_target) fn may_be_declared_for_device(&self, name: &str, at: usize) -> bool {
        let variable = self.symbols.lookup(name, at);
        let in_function = variable.is_some_and(|variable| matches!(variable.scope, Scope::Local | Scope::Parameter));
        !in_function
            && self.cx.headers.iter().any(|header| {
                let text = String::from_utf8_lossy(&header.text);
                let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
                text.contains("declare") && text.contains("target") && words.any(|word| word == name)
            })
    }

    /// Is it a variable or parameter of a function, which ends with it?
    pub(in crate::transforms::split_target) fn is_of_function(&self, name: &str, at: usize) -> bool {
        let variable = self.symbols.lookup(name, at);
        variable.is_some_and(|v| matches!(v.scope, Scope::Local | Scope::Parameter) && !v.has_static_storage())
    }

    /// Is it a C++ reference?
    pub(in crate::transforms::split_target) fn is_reference(&self, name: &str, at: usize) -> bool {
        self.symbols.lookup(name, at).is_some_and(|variable| matches!(variable.ty, DeclaredType::Reference { .. }))
    }

    /// A directive of the file that may make a part of an array present, but not the whole of it: one that maps a section
    /// of it, by its own name or through a pointer that it was handed to.
    pub(in crate::transforms::split_target) fn partial_map(
        &self,
        name: &str,
        outer: Option<ConstructId>,
    ) -> Option<Span> {
        let own = outer.map(|id| self.cx.constructs.directive(id).span);
        let directives = self.cx.constructs.directives.iter().filter(|directive| Some(directive.span) != own);
        let clauses = directives.flat_map(|directive| directive.clauses.iter().map(move |clause| (directive, clause)));
        let maps = clauses.filter(|(_, clause)| clause.name == ClauseName::Map);
        let mut items = maps.flat_map(|(directive, clause)| clause.items().iter().map(move |item| (directive, item)));
        let found = items.find(|(directive, item)| {
            let lasts = matches!(directive.name.as_str(), "target data" | "target enter data");
            let of_this = || {
                let base = item.base.as_deref().unwrap_or_default();
                name == "this" && matches!(self.kind(base, item.span.start), Kind::Member(_))
            };
            of_this()
                || !item.sections.is_empty()
                    && (item.base.as_deref() == Some(name) || (lasts && self.may_point_to(item, name)))
        });
        found.map(|(_, item)| item.span).or_else(|| self.associated(name)).or_else(|| self.handed_out(name))
    }

    /// A call that hands the array to a function out of sight, which may map a part of it.
    fn handed_out(&self, name: &str) -> Option<Span> {
        let mut uses = self.file_uses().iter().filter(|used| used.name == name && used.role == Role::Argument);
        let unseen = |used: &&Use| {
            let function = self.called_with(used).filter(|_| self.decays(used));
            function.is_some_and(|function| {
                let effects = self.calls.effects(&self.symbols, &function, used.span.start);
                effects.unknown_callee.is_some_and(|(unknown, _)| unknown == function)
            })
        };
        uses.find(unseen).map(|used| used.span)
    }

    /// May a mapped item's pointer point to the array `name`?
    fn may_point_to(&self, item: &ListItem, name: &str) -> bool {
        let Some(base) = item.base.as_deref() else { return true };
        let Some(variable) = self.symbols.lookup(base, item.span.start) else { return true };
        let mut uses = self.file_uses().iter().filter(|used| used.name == name);
        if variable.scope != Scope::Parameter {
            return variable.ty.is_pointer() && uses.any(|used| self.decays(used));
        }
        let tree = self.cx.tree;
        let node = tree.covering(item.span);
        let around = std::iter::once(node).chain(tree.ancestors(node));
        let function = around.into_iter().find(|node| tree.kind(*node) == "function_definition");
        let function = function.and_then(|function| self.function_name(function));
        uses.any(|used| used.role == Role::Argument && self.called_with(used) == function)
    }

    /// A call of `omp_target_associate_ptr` that names the array.
    fn associated(&self, name: &str) -> Option<Span> {
        let mut uses = self.file_uses().iter().filter(|used| used.name == name && used.role == Role::Argument);
        uses.find(|used| self.called_with(used).as_deref() == Some("omp_target_associate_ptr")).map(|used| used.span)
    }

    /// Does an array stand where its address becomes a pointer's value?
    fn decays(&self, used: &Use) -> bool {
        let parent = self.cx.tree.parent(used.node).map(|parent| self.cx.tree.kind(parent));
        matches!(used.role, Role::Read | Role::Address | Role::Argument) && parent != Some("subscript_expression")
    }

    /// The function that a use is an argument for.
    fn called_with(&self, used: &Use) -> Option<String> {
        let tree = self.cx.tree;
        let call = tree.ancestors(used.node).find(|node| tree.kind(*node) == "call_expression")?;
        Some(self.cx.file.show(tree.span(tree.child(call, "function")?)).into_owned())
    }

    /// Where a name is used in the file, whatever it means there.
    pub(in crate::transforms::split_target) fn uses_of(&self, name: &str) -> impl Iterator<Item = Span> {
        self.file_uses().iter().filter(move |used| used.name == name).map(|used| used.span)
    }

    /// Every use of a name in the file.
    fn file_uses(&self) -> &[Use] {
        self.file_uses.get_or_init(|| uses_below(self.cx.file, self.cx.tree, self.cx.tree.root()))
    }
}
