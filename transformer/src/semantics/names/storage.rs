//! Which names may stand for one object, and what may be on the device in part.

use std::collections::BTreeMap;

use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::target::TargetRegion;
use crate::semantics::Program;
use crate::semantics::is_standard_constant;
use crate::semantics::names::kinds::Kind;
use crate::semantics::symbols::{DeclaredType, NameKind, Scope, Variable};
use crate::semantics::uses::{Role, Use, copies_initialisers, uses_below};
use crate::source::{Language, Span, words};
use crate::syntax::{Call, ClauseName, Field, ListItem, NodeId, NodeKind};

impl Program<'_> {
    /// Is it a constant, or a variable that only its name reaches?
    pub(crate) fn cannot_be_aliased(&self, name: &str, at: usize) -> bool {
        match self.symbols().lookup(name, at) {
            Some(variable) => {
                variable.ty.is_const() || variable.kind == NameKind::Enumerator || self.is_own_object(name, at)
            }
            None => self.kind(name, at) == Kind::Constant,
        }
    }

    /// Is it a variable that only its name reaches: of a function, or `static` in the file, and its address never taken?
    fn is_own_object(&self, name: &str, at: usize) -> bool {
        let variable = self.symbols().lookup(name, at);
        variable.is_some_and(|variable| {
            let in_function = matches!(variable.scope, Scope::Local | Scope::Parameter) && !variable.is_extern;
            (in_function || (variable.scope == Scope::File && variable.is_static))
                && !matches!(variable.ty, DeclaredType::Reference { .. })
                && !self.is_lent_somewhere(name, &variable, &|_| false)
                && !self.symbols().is_address_taken(name, at)
        })
    }

    /// Is the variable declared at `declared` used nowhere in the file but in `scope`, by code or by directives?
    pub(crate) fn only_used_in(&self, name: &str, declared: Span, scope: Span) -> bool {
        let in_function = self
            .symbols()
            .lookup(name, scope.start)
            .is_some_and(|variable| variable.scope == Scope::Local && !variable.is_extern && !variable.is_static);
        in_function && self.is_named_in_alone(name, declared, scope)
    }

    /// Does nothing but code and directives in `scope` name the variable of a function that is declared at `declared`?
    pub(crate) fn is_named_in_alone(&self, name: &str, declared: Span, scope: Span) -> bool {
        let elsewhere = |used: &&Use| used.name == name && used.role != Role::Declaration && !scope.contains(used.span);
        let same = |used: &Use| self.declared_at(name, used.span.start) == Some(declared);
        let function = self.function_around(declared);
        let outside = |span: Span| function.contains(span) && !scope.contains(span);
        let mut directives = self.constructs.directives.iter().filter(|directive| outside(directive.span));
        let listed = directives.any(|directive| {
            let text = self.file.show(directive.span);
            words(&text).any(|word| word == name)
        });
        !listed
            && !self.file_uses().iter().filter(elsewhere).any(same)
            && !self.is_hidden_in(name, Span::new(declared.end, scope.start))
            && !self.is_hidden_in(name, Span::new(scope.end, function.end))
    }

    /// May code in `span` name a local variable without its name standing there: by a macro, or by a name that is declared nowhere
    /// and may be a macro of the command line?
    pub(crate) fn is_hidden_in(&self, name: &str, span: Span) -> bool {
        let names_it = |body: &str| body.contains("##") || words(body).any(|inner| inner == name);
        let mut uses = self.file_uses().iter().filter(|used| span.contains(used.span));
        self.uses_macro_with(span, &names_it) || uses.any(|used| self.may_be_unseen_macro(used))
    }

    /// Is a name declared nowhere in sight? Functions of headers out of sight have small letters.
    fn may_be_unseen_macro(&self, used: &Use) -> bool {
        let at = used.span.start;
        let is_known = self.symbols().lookup(&used.name, at).is_some()
            || self.symbols().macro_definition(&used.name, at).is_some()
            || is_standard_constant(&used.name)
            || used.name.contains("::");
        let may_be_function = used.role == Role::Callee && used.name.contains(|c: char| c.is_ascii_lowercase());
        !is_known && !may_be_function && used.role != Role::Declaration
    }

    /// The function around a place, or the file.
    fn function_around(&self, place: Span) -> Span {
        let tree = self.tree;
        let node = tree.covering(place);
        let mut above = std::iter::once(node).chain(tree.ancestors(node));
        above
            .find(|node| tree.kind(*node) == NodeKind::FunctionDefinition)
            .map_or(tree.span(tree.root()), |node| tree.span(node))
    }

    /// Does nothing but a clause name a variable of this file: neither code nor another clause in the function around it?
    pub(crate) fn is_named_in_clause_alone(&self, name: &str, at: Span, clause: Span) -> bool {
        let Some(declared) = self.declared_at(name, at.start) else { return false };
        let uses = self.file_uses().iter().filter(|used| used.name == name && used.role != Role::Declaration);
        let named_in = |span: Span| {
            let text = self.file.show(span).into_owned();
            words(&text).filter(|word| *word == name).count()
        };
        let tree = self.tree;
        let functions = std::iter::once(tree.covering(declared)).chain(tree.ancestors(tree.covering(declared)));
        let function = functions.into_iter().find(|node| tree.kind(*node) == NodeKind::FunctionDefinition);
        let inside = |span: Span| function.is_none_or(|function| tree.span(function).contains(span));
        let directives = self.constructs.directives.iter().filter(|directive| inside(directive.span));
        let named: usize = directives.map(|directive| named_in(directive.span)).sum();
        named == named_in(clause)
            && !uses.into_iter().any(|used| self.declared_at(name, used.span.start) == Some(declared))
    }

    /// Has a variable that `region` copies no value where that begins? It is automatic, has no initialiser, and nothing names it
    /// from its declaration to there, where no jump comes back from behind what does.
    pub(crate) fn is_indeterminate_at(&self, name: &str, declared: Span, region: Span) -> bool {
        if !self.is_automatic_without_value(name, declared, region.start) {
            return false;
        }
        // The region writes a copy.
        if self.is_named_in_alone(name, declared, region) {
            return true;
        }
        let tree = self.tree;
        let node = tree.covering(declared);
        let before = Span::new(declared.end, region.start.max(declared.end));
        let named = self.file_uses().iter().any(|used| used.name == name && before.contains(used.span));
        let mut directives = self.constructs.directives.iter().filter(|directive| before.contains(directive.span));
        let listed = directives.any(|directive| words(&self.file.show(directive.span)).any(|word| word == name));
        let repeats = [
            NodeKind::ForStatement,
            NodeKind::WhileStatement,
            NodeKind::DoStatement,
            NodeKind::ForRangeLoop,
            NodeKind::LabeledStatement,
        ];
        let mut around = tree.ancestors(tree.covering(region)).filter(|above| !tree.span(*above).contains(declared));
        let comes_back = around.any(|above| repeats.contains(&tree.kind(above)))
            || self.file.show(before).contains("goto")
            || tree.ancestors(node).any(|above| tree.kind(above) == NodeKind::LabeledStatement);
        !named && !listed && !comes_back && !self.is_hidden_in(name, before)
    }

    /// Is it an automatic variable without an initialiser?
    fn is_automatic_without_value(&self, name: &str, declared: Span, at: usize) -> bool {
        let tree = self.tree;
        // Nothing stands behind its name: `if (int k = n)` has a value that is no part of a declarator.
        let behind = self.file.text.get(declared.end..).unwrap_or_default().trim_ascii_start();
        let is_plain = matches!(behind.first(), Some(b';' | b','))
            && tree.parent(tree.covering(declared)).is_some_and(|parent| tree.kind(parent) == NodeKind::Declaration);
        let found = self.symbols().lookup(name, at);
        is_plain && found.is_some_and(|it| it.scope == Scope::Local && !it.is_extern && !it.is_static)
    }

    /// Is the address of the variable taken by its name anywhere in the file?
    pub(super) fn is_lent_somewhere(
        &self,
        name: &str,
        variable: &Variable,
        is_harmless: &dyn Fn(Span) -> bool,
    ) -> bool {
        let places = self.address_taken().get(last_part(name));
        places.is_some_and(|places| {
            places.iter().filter(|(used, at)| !is_harmless(Span::new(*at, at + used.len()))).any(|(used, at)| {
                let found = self.symbols().lookup(used, *at);
                found.is_none_or(|it| it.id() == variable.id())
            })
        })
    }

    /// Is the address of what a name stands for taken at this place, by `&` or a C++ reference?
    pub(in crate::semantics) fn is_lent_at(&self, used: &Use) -> bool {
        let places = self.address_taken().get(last_part(&used.name));
        places.is_some_and(|places| places.iter().any(|(_, at)| *at == used.span.start))
    }

    /// Where the address of an object is taken, by `&` or a C++ reference: the name that stands there and its first byte, under the last
    /// part of the name.
    fn address_taken(&self) -> &BTreeMap<String, Vec<(String, usize)>> {
        self.address_taken.get_or_init(|| {
            let tree = self.tree;
            let cpp = tree.language() == Language::Cpp;
            let taken = |used: &&Use| {
                used.role == Role::Address && self.symbols().call_that_allocates_for(used.node).is_none()
                    || (cpp
                        && self.is_handed_as_object(used)
                        && !self.argument_is_only_read(used)
                        && !self.argument_is_copied(used))
            };
            let uses = self.file_uses().iter().filter(taken).map(|used| (used.name.clone(), used.span.start));
            let bound = if cpp { self.bound_by_objects() } else { Vec::new() };
            let mut places: BTreeMap<String, Vec<(String, usize)>> = BTreeMap::new();
            for (name, at) in uses.chain(bound) {
                places.entry(last_part(&name).to_owned()).or_default().push((name, at));
            }
            places
        })
    }

    /// Does an argument stand for the object itself, to which a reference may be bound? A cast to a number makes a new value.
    fn is_handed_as_object(&self, used: &Use) -> bool {
        let tree = self.tree;
        let is_new_value = |node: NodeId| {
            let ty = tree
                .child(node, Field::Type)
                .filter(|_| tree.kind(node) == NodeKind::CastExpression)
                .map(|ty| tree.span(ty));
            ty.is_some_and(|ty| !self.file.bytes(ty).contains(&b'&') && self.is_builtin_type(ty))
        };
        let mut inside = tree.ancestors(used.node).take_while(|node| tree.kind(*node) != NodeKind::ArgumentList);
        // `std::vector<int> v(n, 0)`.
        let mut around =
            tree.ancestors(used.node).skip_while(|node| tree.kind(*node) != NodeKind::ArgumentList).skip(1);
        let makes_object = around.next().is_some_and(|node| tree.kind(node) == NodeKind::InitDeclarator);
        let is_copied = |declaration| copies_initialisers(self.file, tree, declaration);
        used.role == Role::Argument
            && !inside.any(is_new_value)
            && !(makes_object && around.next().is_some_and(is_copied))
    }

    /// May a header of the project put the variable on the device for the whole program? Its directives are not read, only
    /// whether it has such ones and the name.
    pub(crate) fn may_be_declared_for_device(&self, name: &str, at: usize) -> bool {
        let variable = self.symbols().lookup(name, at);
        let in_function = variable.is_some_and(|variable| matches!(variable.scope, Scope::Local | Scope::Parameter));
        !in_function
            && self.compilation.headers.iter().any(|header| {
                let text = String::from_utf8_lossy(&header.text);
                text.contains("declare") && text.contains("target") && words(&text).any(|word| word == name)
            })
    }

    /// Is it a variable or parameter of a function, which ends with it?
    pub(crate) fn is_of_function(&self, name: &str, at: usize) -> bool {
        let variable = self.symbols().lookup(name, at);
        variable.is_some_and(|v| matches!(v.scope, Scope::Local | Scope::Parameter) && !v.has_static_storage())
    }

    /// Is it a C++ reference?
    pub(crate) fn is_reference(&self, name: &str, at: usize) -> bool {
        self.symbols().lookup(name, at).is_some_and(|variable| matches!(variable.ty, DeclaredType::Reference { .. }))
    }

    /// A directive of the file that may make a part of an array present, but not the whole of it: one that maps a section
    /// of it, by its own name or through a pointer that it was handed to.
    pub(crate) fn partial_map(&self, name: &str, outer: Option<ConstructId>) -> Option<Span> {
        let own = outer.map(|id| self.constructs.directive(id).span);
        let directives = self.constructs.directives.iter().filter(|directive| Some(directive.span) != own);
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
                let effects = self.calls().effects(self.symbols(), &function, used.span.start);
                effects.unknown_callee.is_some_and(|(unknown, _)| unknown == function)
            })
        };
        uses.find(unseen).map(|used| used.span)
    }

    /// May a mapped item's pointer point to the array `name`?
    fn may_point_to(&self, item: &ListItem, name: &str) -> bool {
        let Some(base) = item.base.as_deref() else { return true };
        let Some(variable) = self.symbols().lookup(base, item.span.start) else { return true };
        let mut uses = self.file_uses().iter().filter(|used| used.name == name);
        if variable.scope != Scope::Parameter {
            return variable.ty.is_pointer() && uses.any(|used| self.decays(used));
        }
        let tree = self.tree;
        let node = tree.covering(item.span);
        let around = std::iter::once(node).chain(tree.ancestors(node));
        let function = around.into_iter().find(|node| tree.kind(*node) == NodeKind::FunctionDefinition);
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
        let parent = self.tree.parent(used.node).map(|parent| self.tree.kind(parent));
        matches!(used.role, Role::Read | Role::Address | Role::Argument)
            && parent != Some(NodeKind::SubscriptExpression)
    }

    /// The function that a use is an argument for.
    fn called_with(&self, used: &Use) -> Option<String> {
        let tree = self.tree;
        let function = Call::around(tree, used.node)?.function()?;
        Some(self.file.show(tree.span(function)).into_owned())
    }

    /// A variable that a region, its clauses or the declarations for the device name in two ways, qualified and not: lists are
    /// compared by the names as written. The values of constants are the same everywhere.
    pub(crate) fn named_in_two_ways(&self, region: &TargetRegion) -> Option<Reason> {
        let cx = self;
        let all = uses_below(cx.file, cx.tree, cx.tree.covering(region.extent));
        let inside = |used: &&Use| region.extent.contains(used.span) && used.role != Role::Callee;
        let uses: Vec<&Use> = all.iter().filter(inside).collect();
        if let Some(used) = uses.iter().find(|used| self.may_be_device_variable(used)) {
            let message = format!("a variable of the device may be meant by `{}`, or another one", used.name);
            return Some(Reason::new(ReasonCode::HiddenCode, used.span, message));
        }
        let clauses = cx.constructs.within(region.extent).flat_map(|(_, directive)| &directive.clauses);
        let listed = clauses.flat_map(|clause| names_of(&cx.file.show(clause.span)));
        let declared = self.declared().threadprivate.iter().chain(&self.declared().declare_target).cloned();
        let named: Vec<(String, usize)> = listed
            .chain(declared)
            .map(|name| (name, region.extent.start))
            .chain(uses.iter().map(|used| (used.name.clone(), used.span.start)))
            .collect();
        let found = uses.iter().filter(|used| used.name.contains("::")).find(|used| {
            let own = self.symbols().lookup(&used.name, used.span.start);
            let variable = own.filter(|v| v.kind == NameKind::Variable && !(v.ty.is_const() && v.ty.is_scalar()));
            let same = |(name, at): &(String, usize)| {
                let alike = *name != used.name && last_part(name) == last_part(&used.name);
                // What is not found may be the same.
                let other = || self.symbols().lookup(name, *at);
                alike && variable.as_ref().is_some_and(|variable| other().is_none_or(|o| o.id() == variable.id()))
            };
            named.iter().any(same)
        })?;
        let message = format!("the region names `{}` in another way as well", found.name);
        Some(Reason::new(ReasonCode::HiddenCode, found.span, message))
    }

    /// Has a variable of the device a name that ends as this one does, and is it not certain that it is the one: is another one
    /// declared closer, or is the other named with what qualifies it?
    fn may_be_device_variable(&self, used: &Use) -> bool {
        let last = last_part(&used.name);
        let is_like =
            self.declared().declare_target.iter().any(|name| last_part(name) == last) || self.is_declare_target(last);
        if !is_like {
            return false;
        }
        let is_of_file = self.symbols().lookup(&used.name, used.span.start).is_some_and(|it| it.scope == Scope::File);
        !(is_of_file && self.is_declare_target(&used.name))
    }

    /// Every use of a name in the file.
    pub(crate) fn file_uses(&self) -> &[Use] {
        self.file_uses.get_or_init(|| uses_below(self.file, self.tree, self.tree.root()))
    }
}

/// The names in a text, qualified ones as a whole.
fn names_of(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    parts.map(|part| part.trim_end_matches(':').to_owned()).filter(|part| !part.is_empty()).collect()
}

/// A name without what qualifies it.
pub(super) fn last_part(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}
