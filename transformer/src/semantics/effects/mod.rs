//! What host code reads and writes, and what in it is not known: by name, through pointers, and by the functions that it calls.
//!
//! It fails closed: each kind of node is either understood here or [`Unknown`]. What a called function in sight does is followed, with
//! what its parameters lead to replaced by what the arguments lead to.

mod binding;
mod calls;
mod element_reads;
mod endings;
mod kept_addresses;
mod macros;
mod places;
mod standard;
mod touches;

pub(crate) use self::binding::Binding;
pub(in crate::semantics) use self::binding::parameters_of;
pub(in crate::semantics) use self::kept_addresses::keeps_no_address;
pub(in crate::semantics) use self::places::dereferences;
pub use self::touches::{HostEffects, Named, Storage, Touch, Unknown, UnknownKind};

use std::sync::Arc;

use crate::semantics::Program;
use crate::semantics::evaluation::{Act, act};
use crate::semantics::is_standard_constant;
use crate::semantics::symbols::{DeclaredType, NameKind, Scope, Variable, is_attribute};
use crate::semantics::uses::{Role, is_element_address, role_of_expression};
use crate::source::{Language, Span};
use crate::syntax::{Declaration, Field, Member, NodeId, NodeKind};

impl Program<'_> {
    /// What the code below a node of the file does, without what lies in `left_out`.
    pub(crate) fn host_effects(&self, root: NodeId, left_out: &[Span]) -> HostEffects {
        self.effects(root, left_out, false)
    }

    /// What the code below a node does, with what the kernels of called functions do.
    pub(crate) fn effects_with_kernels(&self, root: NodeId) -> HostEffects {
        self.effects(root, &[], true)
    }

    fn effects(&self, root: NodeId, left_out: &[Span], follows_kernels: bool) -> HostEffects {
        let found = HostEffects::default();
        let mut reader =
            Reader { cx: self, left_out, found, callers: Vec::new(), follows_kernels, numbers: Vec::new() };
        reader.read(root);
        reader.found
    }

    /// A variable that is visible at a byte, as it is named there.
    pub(crate) fn named(&self, name: &str, at: usize) -> Option<(Named, Arc<Variable>)> {
        let found = self.symbols().lookup(name, at).filter(|found| found.kind == NameKind::Variable)?;
        let id = found.id();
        Some((Named { name: name.to_owned(), at, id }, found))
    }
}

struct Reader<'p, 'a> {
    cx: &'p Program<'a>,
    left_out: &'p [Span],
    found: HostEffects,
    /// The functions whose bodies are being read.
    callers: Vec<NodeId>,
    /// Are the kernels of called functions read as well?
    follows_kernels: bool,
    /// The type parameters of the template being read that stand for numbers.
    numbers: Vec<String>,
}

impl Reader<'_, '_> {
    fn read(&mut self, root: NodeId) {
        let tree = self.cx.tree;
        let left_out = || self.left_out.iter().chain(&self.cx.added);
        let is_read = |node: &NodeId| !left_out().any(|left_out| left_out.contains(tree.span(*node)));
        let nodes: Vec<NodeId> = tree.descendants(root).filter(|node| tree.is_named(*node)).filter(is_read).collect();
        let is_left_out = |span: &Span| self.left_out.iter().any(|left_out| left_out.contains(*span));
        let mut unread = tree.inactive().iter().filter(|span| span.overlaps(tree.span(root)));
        if unread.any(|span| !is_left_out(span)) {
            self.unknown(UnknownKind::Code, root, "which branch of `#if` is compiled here is not known");
        }
        let mut passed = 0;
        for node in nodes {
            // What only measures time is passed over as a whole.
            if tree.span(node).end <= passed {
                continue;
            }
            let is_time = tree.language() == Language::Cpp && self.measures_time(node);
            if is_time || tree.kind(node) == NodeKind::QualifiedIdentifier {
                passed = tree.span(node).end;
            }
            if !is_time {
                self.visit(node);
            }
        }
    }

    fn visit(&mut self, node: NodeId) {
        match self.cx.tree.kind(node) {
            NodeKind::Identifier | NodeKind::CallExpression if self.is_of_preprocessor(node) => {}
            NodeKind::Identifier => self.name(node),
            NodeKind::QualifiedIdentifier if role_of_expression(self.cx.tree, node) == Role::Callee => {}
            NodeKind::QualifiedIdentifier | NodeKind::NamespaceIdentifier if self.is_type_of_declaration(node) => {}
            NodeKind::QualifiedIdentifier => self.qualified(node),
            NodeKind::FieldExpression if self.goes_by_pointer_to_member(node) => {
                self.unknown(UnknownKind::Code, node, "what a pointer to a member leads to is not followed");
            }
            NodeKind::PointerExpression | NodeKind::SubscriptExpression | NodeKind::FieldExpression
                if places::follows_other(self.cx.tree, node) =>
            {
                self.touch(Storage::Memory, true, node);
            }
            NodeKind::CallExpression => self.call(node),
            NodeKind::CastExpression if self.cx.tree.language() == Language::Cpp => self.cast(node),
            NodeKind::Declaration => self.declaration(node),
            // `R r(a);` looks like the declaration of a function.
            NodeKind::FunctionDeclarator if self.cx.tree.language() == Language::Cpp => {
                self.unknown(UnknownKind::Code, node, "this may make an object");
            }
            NodeKind::PlaceholderTypeSpecifier | NodeKind::Auto if self.is_type_of_declaration(node) => {}
            kind if holds_parts_together(kind) || self.is_modelled(node) => {}
            kind => {
                let what = if is_attribute(kind) { "an attribute" } else { "this" };
                self.unknown(UnknownKind::Code, node, format!("what {what} does is not followed"));
            }
        }
    }

    /// Is it the type, or a part of it, of a declaration, of which the variables are looked at: `auto`, `std::size_t`?
    fn is_type_of_declaration(&self, node: NodeId) -> bool {
        let tree = self.cx.tree;
        let parts = std::iter::once(node).chain(tree.ancestors(node));
        let mut parts = parts.skip_while(|part| {
            let above = tree.parent(*part).map(|above| tree.kind(above));
            matches!(above, Some(NodeKind::PlaceholderTypeSpecifier | NodeKind::QualifiedIdentifier))
        });
        parts.next().is_some_and(|ty| {
            let above = tree.parent(ty).filter(|above| tree.kind(*above) == NodeKind::Declaration);
            above.is_some_and(|above| tree.child(above, Field::Type) == Some(ty))
        })
    }

    /// Is it a part of an expression whose operands tell what it does? Objects are made and deleted by code that is not followed.
    fn is_modelled(&self, node: NodeId) -> bool {
        let tree = self.cx.tree;
        let runs_code =
            matches!(tree.kind(node), NodeKind::This | NodeKind::NewExpression | NodeKind::DeleteExpression);
        !runs_code && act(self.cx.file, tree, node) != Some(Act::Unknown)
    }

    /// Is it `object.*member`?
    fn goes_by_pointer_to_member(&self, access: NodeId) -> bool {
        !matches!(self.cx.tree.operator(access), Some(NodeKind::Dot | NodeKind::MinusGreater))
    }

    fn unknown(&mut self, kind: UnknownKind, node: NodeId, message: impl Into<String>) {
        self.found.unknown.push(Unknown { kind, span: self.cx.tree.span(node), message: message.into() });
    }

    fn touch(&mut self, storage: Storage, writes: bool, node: NodeId) {
        let is_of_first = matches!(storage, Storage::Behind(_)) && places::leads_to_first(self.cx.tree, node);
        self.found.touches.push(Touch { storage, writes, is_of_first, span: self.cx.tree.span(node) });
    }

    fn name(&mut self, node: NodeId) {
        let span = self.cx.tree.span(node);
        let name = self.cx.file.show(span).into_owned();
        let role = role_of_expression(self.cx.tree, node);
        if matches!(role, Role::Callee | Role::Declaration) {
            return;
        }
        if let Some(expansion) = self.cx.expansion(&name, span.start) {
            let is_number = expansion.as_ref().is_some_and(Vec::is_empty);
            if !is_number && !self.cx.symbols().declares_at_file_scope(&name) && self.by_expansion(node) {
                return;
            }
            match expansion.filter(|_| matches!(role, Role::Read | Role::Argument)) {
                Some(names) => names.iter().for_each(|inner| self.expanded(inner, node)),
                None => self.unknown(UnknownKind::Code, node, format!("the macro `{name}` is no plain expression")),
            }
            return;
        }
        match self.cx.named(&name, span.start) {
            Some((named, variable)) => self.variable(named, &variable, role, node),
            None => self.no_variable(&name, node),
        }
    }

    /// Does it stand in what `#if` or `#ifdef` asks, which no program evaluates?
    fn is_of_preprocessor(&self, node: NodeId) -> bool {
        let tree = self.cx.tree;
        let mut inner = node;
        for above in tree.ancestors(node) {
            match tree.kind(above) {
                NodeKind::PreprocIf | NodeKind::PreprocElif => return tree.field(inner) == Some(Field::Condition),
                NodeKind::PreprocIfdef => return tree.field(inner) == Some(Field::Name),
                NodeKind::CompoundStatement | NodeKind::ExpressionStatement | NodeKind::Declaration => return false,
                _ => inner = above,
            }
        }
        false
    }

    /// In C++ a cast to a class makes an object.
    fn cast(&mut self, node: NodeId) {
        if let Some(descriptor) = self.cx.tree.child(node, Field::Type) {
            self.cast_to(descriptor, node);
        }
    }

    fn cast_to(&mut self, descriptor: NodeId, node: NodeId) {
        let tree = self.cx.tree;
        let is_pointer = tree.child(descriptor, Field::Declarator).is_some_and(|declarator| {
            tree.descendants(declarator).any(|inner| tree.kind(inner) == NodeKind::AbstractPointerDeclarator)
        });
        let is_number = tree.child(descriptor, Field::Type).is_some_and(|ty| {
            // An enumeration may have operators of its own.
            let is_builtin = matches!(tree.kind(ty), NodeKind::PrimitiveType | NodeKind::SizedTypeSpecifier);
            self.cx.is_number_or_nothing(ty) && (is_builtin || !self.cx.has_operators())
        });
        let is_reference = tree
            .child(descriptor, Field::Declarator)
            .is_some_and(|declarator| tree.kind(declarator) == NodeKind::AbstractReferenceDeclarator);
        if is_reference {
            self.unknown(UnknownKind::Code, node, "what is done through this reference is not followed");
        } else if !is_pointer && !is_number {
            self.unknown(UnknownKind::Code, node, "this may make an object");
        }
    }

    /// In C++ an object may run code where it is made and where it ends.
    fn declaration(&mut self, declaration: NodeId) {
        let tree = self.cx.tree;
        for declarator in Declaration::of(tree, declaration).into_iter().flat_map(Declaration::declarators) {
            let node = tree.innermost_declarator(declarator);
            let (name, at) = (self.cx.file.show(tree.span(node)).into_owned(), tree.span(declarator).end);
            let Some((_, variable)) = self.cx.named(&name, at) else {
                self.unknown(UnknownKind::Code, node, format!("what `{name}` is declared as is not followed"));
                continue;
            };
            let mut element = variable.ty.clone();
            while matches!(element, DeclaredType::Array { .. }) {
                element = element.dereferenced();
            }
            let is_class = |ty: &DeclaredType| !self.cx.symbols().is_plain_record(ty, at) || self.cx.has_operators();
            let is_object = tree.language() == Language::Cpp && element.class().is_some_and(is_class);
            // `int *p(a);` is read as a function.
            let may_be_made = tree.language() == Language::Cpp && matches!(variable.ty, DeclaredType::Function { .. });
            if (may_be_made || !variable.ty.is_known() || is_object) && !self.cx.is_time_structure(&variable.ty, at) {
                self.unknown(UnknownKind::Code, node, format!("what the type of `{name}` does is not followed"));
            }
        }
    }

    /// A name in the text of a macro.
    fn expanded(&mut self, name: &str, node: NodeId) {
        let at = self.cx.tree.span(node).start;
        match self.cx.named(name, at) {
            Some((named, variable)) if variable.ty.is_scalar() => self.touch(Storage::Variable(named), false, node),
            Some((named, _)) => {
                self.touch(Storage::Variable(named.clone()), false, node);
                self.touch(Storage::Behind(named), false, node);
                self.touch(Storage::Memory, false, node);
            }
            None => self.no_variable(name, node),
        }
    }

    /// A name that is no variable in sight.
    fn no_variable(&mut self, name: &str, node: NodeId) {
        let found = self.cx.symbols().lookup(name, self.cx.tree.span(node).start);
        match found.map(|found| found.kind) {
            Some(NameKind::Enumerator) if self.cx.tree.language() == Language::Cpp && self.cx.has_operators() => {
                self.unknown(UnknownKind::Code, node, format!("an operator for `{name}` may be the program's own"));
            }
            Some(NameKind::Enumerator | NameKind::TemplateParameter) => {}
            // `(T)*p` looks like a product.
            Some(NameKind::Type) if !self.is_in_sizeof(node) => {
                self.unknown(UnknownKind::Code, node, format!("`{name}` is a type: this may be a cast"));
            }
            Some(NameKind::Type) => {}
            // A macro for a piece of a literal, such as `PRId64`.
            None if self.is_in_literal(node) => {}
            None if is_standard_constant(name) || name.starts_with("MPI_") || self.is_c_stream(node) => {}
            None if self.is_of_std(name) => self.of_stream(&format!("std::{name}"), node),
            Some(NameKind::Function) => {
                self.unknown(UnknownKind::Code, node, format!("who calls `{name}` is not followed"));
            }
            Some(NameKind::Variable) | None => {
                self.unknown(UnknownKind::Code, node, format!("`{name}` is not declared in sight"));
            }
        }
    }

    fn is_in_literal(&self, node: NodeId) -> bool {
        self.cx.tree.parent(node).is_some_and(|above| self.cx.tree.kind(above) == NodeKind::ConcatenatedString)
    }

    fn is_in_sizeof(&self, node: NodeId) -> bool {
        let tree = self.cx.tree;
        tree.ancestors(node)
            .any(|above| matches!(tree.kind(above), NodeKind::SizeofExpression | NodeKind::AlignofExpression))
    }

    fn variable(&mut self, named: Named, variable: &Variable, role: Role, node: NodeId) {
        let writes = matches!(role, Role::Write | Role::ElementWrite);
        let (depth, _) = dereferences(self.cx.tree, node);
        // An address is made of an element without following the pointer to it.
        let depth = depth - usize::from(depth > 0 && is_element_address(self.cx.tree, node));
        // Operators on pointers themselves are the language's own.
        let may_hide_code = || {
            let at = self.cx.tree.span(node).start;
            self.cx.tree.language() == Language::Cpp
                && !(depth == 0 && variable.ty.is_pointer())
                && self.cx.kind(&named.name, at).may_hide_code()
                && !self.is_of_numbers(&variable.ty, at)
                && !self.is_plain_access(&variable.ty, node)
        };
        let is_looked_at = || match role {
            Role::MethodCall => self.cx.is_observed_vector(node),
            Role::Argument => self.cx.is_lent_vector(node),
            _ => false,
        };
        if is_looked_at() {
            // What a reference leads to is a vector itself, of which no construct may map the bytes: it is no part of an array.
            if !matches!(variable.ty, DeclaredType::Reference { .. }) {
                self.touch(Storage::Variable(named), false, node);
            }
        } else if self.cx.is_time_structure(&variable.ty, named.at) {
            self.touch(Storage::Variable(named), writes || role == Role::Address, node);
        } else if role == Role::MethodCall || !variable.ty.is_known() || may_hide_code() {
            self.unknown(UnknownKind::Code, node, format!("what is done with `{}` is not followed", named.name));
        } else if variable.is_extern && variable.scope == Scope::Local {
            self.unknown(UnknownKind::Code, node, format!("which object `{}` is, is declared elsewhere", named.name));
        } else if let DeclaredType::Reference { to } = &variable.ty {
            // What a parameter that is a reference to a number is bound to, the call tells.
            let is_number = variable.scope == Scope::Parameter && depth == 0 && to.is_scalar();
            let storage = if is_number { Storage::Behind(named) } else { Storage::Memory };
            self.touch(storage, writes || role == Role::Address, node);
        } else if places::is_volatile(&variable.ty) {
            self.unknown(UnknownKind::Code, node, format!("`{}` is volatile or atomic", named.name));
        } else if depth == 0 {
            // The name of an array alone is its address.
            let is_address = matches!(variable.ty, DeclaredType::Array { .. }) && !writes;
            if !is_address {
                self.touch(Storage::Variable(named), writes, node);
            }
        } else {
            self.reached(named, &variable.ty, depth, writes, node);
        }
    }

    /// Is a member of a plain structure accessed, by `.` or `->`, or the structure itself where no operators are declared, so that no
    /// function is called? Of an object of another class, one of its numbers or pointers to numbers, or its address.
    fn is_plain_access(&self, ty: &DeclaredType, node: NodeId) -> bool {
        let at = self.cx.tree.span(node).start;
        let record = ty.class().filter(|_| !matches!(ty, DeclaredType::Reference { .. }));
        record.is_some_and(|record| match self.cx.symbols().is_plain_record(record, at) {
            true => places::selects_member(self.cx.tree, node) || !self.cx.has_operators(),
            false => self.is_access_of_object(ty, record, node),
        })
    }

    fn is_access_of_object(&self, ty: &DeclaredType, record: &DeclaredType, node: NodeId) -> bool {
        let (tree, symbols) = (self.cx.tree, self.cx.symbols());
        let at = tree.span(node).start;
        let Some(parent) = tree.parent(node).filter(|_| symbols.is_structure(record, at)) else { return false };
        if tree.kind(parent) == NodeKind::PointerExpression {
            let is_address = tree.operator(parent) == Some(NodeKind::Ampersand);
            return is_address && ty == record && !self.cx.has_operators();
        }
        let member = Member::of(tree, parent).filter(|member| member.object() == Some(node));
        let step = member.and_then(Member::operator);
        let is_built_in = match ty {
            DeclaredType::Record { .. } => step == Some(NodeKind::Dot),
            DeclaredType::Pointer { pointee, .. } => **pointee == *record && step == Some(NodeKind::MinusGreater),
            _ => false,
        };
        let name = member.and_then(Member::name).map(|name| self.cx.file.show(tree.span(name)).into_owned());
        let ty = name.filter(|_| is_built_in).and_then(|name| symbols.member_type(record, &name, at));
        ty.is_some_and(|ty| match &ty {
            DeclaredType::Pointer { pointee, .. } => pointee.is_scalar(),
            DeclaredType::Array { element, .. } => element.is_scalar(),
            ty => ty.is_scalar(),
        })
    }

    /// Is it of a template's type parameter that stands for a number, or does it lead to such ones?
    fn is_of_numbers(&self, ty: &DeclaredType, at: usize) -> bool {
        match ty {
            DeclaredType::TypeParameter { name, is_volatile, .. } => {
                !is_volatile && (self.numbers.contains(name) || self.cx.stands_for_numbers(name, at))
            }
            DeclaredType::Pointer { pointee: inner, .. }
            | DeclaredType::Array { element: inner, .. }
            | DeclaredType::ArrayParameter { element: inner, .. } => self.is_of_numbers(inner, at),
            _ => false,
        }
    }

    /// An access by subscripts, `*` or `->`.
    fn reached(&mut self, named: Named, ty: &DeclaredType, depth: usize, writes: bool, node: NodeId) {
        let (own, storage) = match ty {
            DeclaredType::Array { dimensions, .. } => (dimensions.len(), Storage::Variable(named)),
            ty if ty.is_pointer() => (1 + places::dimensions(&ty.dereferenced()), Storage::Behind(named)),
            // A member of a structure that is an array or leads elsewhere.
            _ => (0, Storage::Variable(named)),
        };
        let is_beyond = depth > own;
        // A member of an element may be an array, and so a part of the element.
        let element = (0..own).fold(ty.clone(), |ty, _| ty.dereferenced());
        self.touch(storage, writes && (!is_beyond || !element.is_pointer()), node);
        if is_beyond {
            self.touch(Storage::Memory, writes, node);
        }
    }
}

/// Does a statement or a declaration of this kind do nothing beside what its parts do?
fn holds_parts_together(kind: NodeKind) -> bool {
    use NodeKind as K;
    kind.is_declarator() && kind != K::ReferenceDeclarator && kind != K::StructuredBindingDeclarator
        || matches!(
            kind,
            K::BreakStatement
                | K::CaseStatement
                | K::CompoundStatement
                | K::ContinueStatement
                | K::DoStatement
                | K::ElseClause
                | K::ForStatement
                | K::IfStatement
                | K::InitializerList
                | K::MsPointerModifier
                | K::MsRestrictModifier
                | K::ParameterDeclaration
                | K::ParameterList
                | K::PreprocArg
                | K::PreprocDefined
                | K::PreprocElif
                | K::PreprocElse
                | K::PreprocIf
                | K::PreprocIfdef
                | K::ReturnStatement
                | K::StorageClassSpecifier
                | K::StructSpecifier
                | K::SwitchStatement
                | K::WhileStatement
        )
}
