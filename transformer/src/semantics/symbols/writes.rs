//! Where a variable may be written, and whether its address leaves the sight of this analysis.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::macro_effects::Named;
use super::{DeclaredType, NameKind, NameSpace, Scope, Symbols, Variable, VariableId};
use crate::semantics::macros::expansion::tokens::without_literals;
use crate::semantics::uses::{Role, copies_initialisers, initialiser_role};
use crate::source::{Language, Span};
use crate::syntax::{Call, Field, HostTree, NodeId, NodeKind};

/// How a variable may be written at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WriteKind {
    /// It, a member or an element of it is assigned, incremented, or an output of `asm`.
    Assigned,
    /// Its address is taken, or an array's name stands for one: it may be written through it, here or later.
    Address,
    /// A C++ reference is bound to it.
    Reference,
    /// It is handed to a function that may write it, or a member function of it is called.
    Passed,
    /// A macro whose text names it stands here.
    Macro,
}

/// A place where a variable may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Write {
    /// The name in the text, or the macro's.
    pub span: Span,
    /// How.
    pub kind: WriteKind,
}

/// Where variables may be written within ranges.
pub(super) type WritesWithin = BTreeMap<(VariableId, Span), Arc<[Write]>>;

/// What a macro may name.
pub(super) struct Reach {
    /// The names in its text and in those of the macros in it that are no parameters.
    names: BTreeSet<String>,
    /// Does a text of these put words together?
    pastes: bool,
    /// Are there too many macros to follow, so that it may name anything?
    is_cut: bool,
}

/// How deep macros are followed.
const MACRO_DEPTH: usize = 16;

impl Symbols<'_> {
    /// Every place within `span` where the variable that `name` means at byte `at` may be written. What a pointer points
    /// to is no part of the pointer; elements and members are parts of arrays and structures. Nested lambdas count.
    /// Directives do not: they are no part of the tree.
    #[must_use]
    pub fn written_in(&self, name: &str, at: usize, span: Span) -> Arc<[Write]> {
        let Some(variable) = self.lookup(name, at) else { return Arc::default() };
        let key = (variable.id(), span);
        let known = self.writes.lock().ok().and_then(|known| known.get(&key).cloned());
        known.unwrap_or_else(|| {
            let found: Arc<[Write]> = self.writes_of(&variable, span).into();
            if let Ok(mut known) = self.writes.lock() {
                known.insert(key, Arc::clone(&found));
            }
            found
        })
    }

    fn writes_of(&self, variable: &Variable, span: Span) -> Vec<Write> {
        let name = variable.name.as_str();
        let tree = self.own.tree.as_ref();
        let bytes = name.as_bytes();
        let around = tree.covering(span);
        let inside = tree.descendants(around).filter(|node| span.contains(tree.span(*node)));
        let names = inside.filter(|node| {
            matches!(tree.kind(*node), NodeKind::Identifier | NodeKind::FieldIdentifier | NodeKind::TypeIdentifier)
        });
        let unread = self.unread_branches(name, span).map(|span| Write { span, kind: WriteKind::Passed });
        names.filter_map(|node| self.write_at(node, bytes, variable)).chain(unread).collect()
    }

    /// The branches of `#if` groups in a range that the tree leaves out, and that hold a name.
    pub(crate) fn unread_branches<'s>(&'s self, name: &'s str, range: Span) -> impl Iterator<Item = Span> + 's {
        let (tree, file) = (self.own.tree.as_ref(), self.own.file);
        let inside = tree.inactive().iter().filter(move |span| span.overlaps(range));
        inside.copied().filter(move |span| words(&file.show(*span)).any(|word| word == name))
    }

    /// May the variable that `name` means at byte `at` be reached other than by its name: is its address taken anywhere, a
    /// reference bound to it that may write it, or is it captured by reference? True for arrays that are not only subscripted, for what
    /// other files can see, and for names that are not known.
    #[must_use]
    pub fn is_address_taken(&self, name: &str, at: usize) -> bool {
        self.may_be_reached_elsewhere(name, at, &|_| false)
    }

    /// May the variable be reached other than by its name, apart from the places that are told to be harmless?
    pub(crate) fn may_be_reached_elsewhere(&self, name: &str, at: usize, is_harmless: &dyn Fn(Span) -> bool) -> bool {
        let Some(variable) = self.lookup(name, at).filter(|variable| variable.kind == NameKind::Variable) else {
            return true;
        };
        let hidden_from_others = matches!(variable.scope, Scope::Local | Scope::Parameter)
            || variable.scope == Scope::File && variable.is_static && variable.header.is_none();
        if !hidden_from_others || matches!(variable.ty, DeclaredType::Reference { .. } | DeclaredType::Unknown) {
            return true;
        }
        let Some(extent) =
            self.own.visible(NameSpace::Ordinary, name, at).and_then(|entries| Some(entries.first()?.visible))
        else {
            return true;
        };
        let escapes = |write: Write| write.kind != WriteKind::Assigned && !is_harmless(write.span);
        self.written_in(name, at, extent).iter().copied().any(escapes)
            || self.is_cpp() && (self.is_captured(&variable, extent) || self.is_lent(&variable, extent, is_harmless))
    }

    /// Does a lambda name a local variable from outside of it and capture by reference?
    fn is_captured(&self, variable: &Variable, extent: Span) -> bool {
        let tree = self.own.tree.as_ref();
        let lambdas =
            tree.descendants(tree.covering(extent)).filter(|node| tree.kind(*node) == NodeKind::LambdaExpression);
        lambdas.filter(|lambda| !tree.span(*lambda).contains(variable.declared_at)).any(|lambda| {
            let by_reference = tree
                .child(lambda, Field::Captures)
                .is_some_and(|captures| self.own.file.bytes(tree.span(captures)).contains(&b'&'));
            by_reference && tree.descendants(lambda).any(|node| self.is(node, variable.name.as_bytes(), variable))
        })
    }

    /// Does a node name the variable?
    fn is(&self, node: NodeId, name: &[u8], variable: &Variable) -> bool {
        let tree = self.own.tree.as_ref();
        let span = tree.span(node);
        if tree.kind(node) != NodeKind::Identifier || self.own.file.bytes(span) != name {
            return false;
        }
        // A member of something else: `T::x`.
        let is_qualified = tree.parent(node).is_some_and(|above| tree.kind(above) == NodeKind::QualifiedIdentifier);
        !is_qualified && self.lookup(&variable.name, span.start).is_some_and(|found| found.id() == variable.id())
    }

    fn write_at(&self, node: NodeId, name: &[u8], variable: &Variable) -> Option<Write> {
        let tree = self.own.tree.as_ref();
        let span = tree.span(node);
        let means_variable = || {
            let found = self.lookup(&variable.name, span.start);
            found.is_some_and(|found| found.id() == variable.id())
        };
        let binds = || initialiser_role(self.own.file, tree, node) == Some(Role::Address);
        if self.own.file.bytes(span) == name && binds() && means_variable() {
            return Some(Write { span, kind: WriteKind::Reference });
        }
        if self.is(node, name, variable) {
            let kind = self.effect_on(node, variable.ty.clone())?;
            return Some(Write { span, kind });
        }
        let word = self.own.file.show(span);
        if !self.is_macro(&word, span.start) {
            return None;
        }
        let is_plain = variable.ty.is_scalar() || variable.ty.is_pointer();
        let named = (self.macro_names(&word, span.start, &variable.name) || self.is_pasted(node, &variable.name))
            && !(is_plain && self.macro_only_reads(node, Named::Variable(&variable.name)));
        named.then_some(Write { span, kind: WriteKind::Macro })
    }

    /// May a macro that is named at a node put a name together with `##`: is a part of it written in the arguments, or in the text of
    /// the macro or one in it?
    fn is_pasted(&self, node: NodeId, name: &str) -> bool {
        let (tree, file) = (self.own.tree.as_ref(), self.own.file);
        let word = file.show(tree.span(node));
        if !self.may_reach(&word, tree.span(node).start, |reach| reach.pastes) {
            return false;
        }
        let mut texts = vec![file.show(tree.span(self.macro_use(node))).into_owned()];
        let mut seen = BTreeSet::new();
        let mut open: Vec<String> = vec![word.into_owned()];
        let mut pastes = false;
        while let Some(word) = open.pop().filter(|_| seen.len() < MACRO_DEPTH) {
            if seen.insert(word.clone()) {
                for found in self.macros_named(&word, tree.span(node).start) {
                    pastes |= found.body.contains("##");
                    open.extend(words(&without_literals(&found.body)).map(str::to_owned));
                    texts.push(found.body);
                }
            }
        }
        let is_part = |part: &str| name != part && (name.starts_with(part) || name.ends_with(part));
        pastes && texts.iter().flat_map(|text| words(text)).any(is_part)
    }

    /// Does a macro's text, or that of a macro in it, hold a name that is no parameter of it?
    pub(crate) fn macro_names(&self, word: &str, at: usize, name: &str) -> bool {
        self.may_reach(word, at, |reach| reach.names.contains(name))
    }

    /// Does something hold of what a macro may name?
    fn may_reach(&self, word: &str, at: usize, holds: impl Fn(&Reach) -> bool) -> bool {
        let holds = |reach: &Reach| reach.is_cut || holds(reach);
        // Only what a compiler tells of macros hangs on the place.
        if self.facts.is_some() {
            return holds(&self.reach(word, at));
        }
        let Ok(mut known) = self.reaches.lock() else { return holds(&self.reach(word, at)) };
        holds(known.entry(word.to_owned()).or_insert_with(|| self.reach(word, at)))
    }

    fn reach(&self, word: &str, at: usize) -> Reach {
        let (mut seen, mut names, mut pastes) = (BTreeSet::new(), BTreeSet::new(), false);
        let mut open = vec![word.to_owned()];
        for _ in 0..MACRO_DEPTH {
            let Some(word) = open.pop() else { break };
            if !seen.insert(word.clone()) {
                continue;
            }
            for found in self.macros_named(&word, at) {
                let parameters = found.parameters.unwrap_or_default();
                let text = without_literals(&found.body);
                let own = words(&text).filter(|inner| !parameters.iter().any(|parameter| parameter == inner));
                let own: Vec<String> = own.map(str::to_owned).collect();
                pastes |= found.body.contains("##");
                names.extend(own.iter().cloned());
                open.extend(own);
            }
        }
        Reach { names, pastes, is_cut: open.iter().any(|word| self.macro_definition(word, at).is_some()) }
    }

    /// What the expression around a name does to the object. `ty` is the type of the expression reached so far.
    fn effect_on(&self, name: NodeId, ty: DeclaredType) -> Option<WriteKind> {
        let tree = self.own.tree.as_ref();
        let (mut node, mut ty) = (name, ty);
        while let Some(parent) = tree.parent(node) {
            let field = tree.field(node);
            match tree.kind(parent) {
                NodeKind::ParenthesizedExpression | NodeKind::CommaExpression | NodeKind::GenericExpression => {}
                NodeKind::ConditionalExpression if field != Some(Field::Condition) => {}
                NodeKind::SubscriptExpression if field == Some(Field::Argument) => {
                    if ty.is_pointer() {
                        return None;
                    }
                    ty = ty.dereferenced();
                }
                NodeKind::FieldExpression if field == Some(Field::Argument) => {
                    if tree.operator(parent) == Some(NodeKind::MinusGreater) {
                        return None;
                    }
                    let member = tree.child(parent, Field::Field).map(|member| self.own.file.show(tree.span(member)));
                    let found = member.and_then(|member| self.member_type(&ty, &member, tree.span(parent).start));
                    ty = found.unwrap_or(DeclaredType::Unknown);
                }
                NodeKind::PointerExpression => match tree.operator(parent) {
                    // No call but this one knows the address.
                    Some(NodeKind::Ampersand) if self.call_that_allocates_for(name).is_some() => {
                        return Some(WriteKind::Assigned);
                    }
                    Some(NodeKind::Ampersand) => return Some(WriteKind::Address),
                    _ if ty.is_pointer() => return None,
                    _ => ty = ty.dereferenced(),
                },
                NodeKind::AssignmentExpression if field == Some(Field::Left) => return Some(WriteKind::Assigned),
                NodeKind::UpdateExpression | NodeKind::GnuAsmOutputOperand => return Some(WriteKind::Assigned),
                NodeKind::ArgumentList => return self.effect_of_call(parent, node, &ty),
                NodeKind::CallExpression if field == Some(Field::Function) && node != name => {
                    return Some(WriteKind::Passed);
                }
                NodeKind::InitDeclarator if field == Some(Field::Value) && binds_reference(tree, parent) => {
                    return Some(WriteKind::Reference);
                }
                NodeKind::BinaryExpression if self.is_extraction(parent, node) => return Some(WriteKind::Passed),
                NodeKind::ForRangeLoop if field == Some(Field::Right) => return Some(WriteKind::Reference),
                NodeKind::SizeofExpression | NodeKind::AlignofExpression | NodeKind::Decltype => return None,
                kind if kind.is_declarator() && field == Some(Field::Declarator) => return None,
                NodeKind::Declaration | NodeKind::ParameterDeclaration if field == Some(Field::Declarator) => {
                    return None;
                }
                NodeKind::LambdaCaptureSpecifier | NodeKind::SubscriptArgumentList => return None,
                _ => return may_be_array(&ty).then_some(WriteKind::Address),
            }
            node = parent;
        }
        None
    }

    /// What a call does to one of its arguments, an object of type `ty` or a part of one.
    fn effect_of_call(&self, list: NodeId, argument: NodeId, ty: &DeclaredType) -> Option<WriteKind> {
        if may_be_array(ty) {
            return Some(WriteKind::Address);
        }
        let tree = self.own.tree.as_ref();
        let call = tree.parent(list)?;
        let Some(function) = tree.child(call, Field::Function) else {
            // `T x(a)`, `new T(a)`, a constructor's initialiser.
            let declaration =
                Some(call).filter(|call| tree.kind(*call) == NodeKind::InitDeclarator).and_then(|it| tree.parent(it));
            let is_copied = match declaration {
                Some(declaration) => {
                    ty.is_scalar()
                        && !binds_reference(tree, call)
                        && copies_initialisers(self.own.file, tree, declaration)
                }
                None => ty.is_scalar(),
            };
            return (self.is_cpp() && !is_copied).then_some(WriteKind::Reference);
        };
        if ty.is_scalar() && self.grows_vector(call) {
            return None;
        }
        // `f<int &>(x)` binds a reference where the parameter is a `T`.
        let of_template = Some(function)
            .filter(|it| tree.kind(*it) == NodeKind::TemplateFunction)
            .and_then(|it| tree.child(it, Field::Name));
        let name = self.own.file.show(tree.span(of_template.unwrap_or(function)));
        let at = tree.span(function).start;
        let position = tree.named_children(list).position(|child| child == argument);
        if self.macro_definition(&name, at).is_some() {
            let is_plain = ty.is_scalar() || ty.is_pointer();
            let is_read = position.is_some_and(|at| is_plain && self.macro_only_reads(function, Named::Argument(at)));
            return (!is_read).then_some(WriteKind::Passed);
        }
        match self.lookup(&name, at).map(|found| found.ty.clone()) {
            Some(DeclaredType::Function { parameters, is_variadic }) => {
                match position.and_then(|position| parameters.get(position)) {
                    Some(DeclaredType::Reference { to }) => (!to.is_const()).then_some(WriteKind::Reference),
                    Some(DeclaredType::Unknown) => self.is_cpp().then_some(WriteKind::Passed),
                    Some(DeclaredType::TypeParameter { .. }) => of_template.map(|_| WriteKind::Passed),
                    Some(_) => None,
                    None => (!is_variadic && self.is_cpp()).then_some(WriteKind::Passed),
                }
            }
            None if crate::semantics::calls::takes_values(&name) => None,
            // In C all is handed over by value, except to macros of system headers, which are written in capitals.
            _ if !self.is_cpp() => {
                let is_capital = !name.bytes().any(|byte| byte.is_ascii_lowercase());
                is_capital.then_some(WriteKind::Passed)
            }
            _ => Some(WriteKind::Passed),
        }
    }

    /// The call that gives the pointer named at a node memory of its own: `posix_memalign((void **)&p, 64, bytes)`.
    pub(crate) fn call_that_allocates_for(&self, name: NodeId) -> Option<NodeId> {
        let tree = self.own.tree.as_ref();
        let is_address = |node: &NodeId| {
            tree.kind(*node) == NodeKind::PointerExpression && tree.operator(*node) == Some(NodeKind::Ampersand)
        };
        let address = tree.parent(name).filter(is_address)?;
        let is_around =
            |node: &NodeId| matches!(tree.kind(*node), NodeKind::CastExpression | NodeKind::ParenthesizedExpression);
        let list = tree.ancestors(address).find(|node| !is_around(node))?;
        let call = Call::of(tree, tree.parent(list)?).filter(|_| tree.kind(list) == NodeKind::ArgumentList)?;
        let function = tree.span(call.function()?);
        let is_first = call.arguments().next().is_some_and(|first| tree.span(first).contains(tree.span(address)));
        let is_meant = || {
            let text = self.own.file.show(function);
            text == "posix_memalign"
                && self.macro_definition(&text, function.start).is_none()
                && self.calls_library_in(None, &text, function.start)
        };
        (is_first && is_meant()).then_some(call.node)
    }

    /// Is it the right side of `stream >> x`?
    fn is_extraction(&self, parent: NodeId, node: NodeId) -> bool {
        let tree = self.own.tree.as_ref();
        if !self.is_cpp()
            || tree.operator(parent) != Some(NodeKind::GreaterGreater)
            || tree.child(parent, Field::Right) != Some(node)
        {
            return false;
        }
        let mut leftmost = parent;
        while let Some(left) = tree.child(leftmost, Field::Left) {
            leftmost = left;
        }
        let span = tree.span(leftmost);
        let known = self.lookup(&self.own.file.show(span), span.start);
        tree.kind(leftmost) != NodeKind::NumberLiteral && !known.is_some_and(|found| found.ty.is_scalar())
    }

    fn is_cpp(&self) -> bool {
        self.own.tree.language() == Language::Cpp
    }
}

/// The name of an array stands for a pointer into it; so may that of a member of a structure that is not in sight.
fn may_be_array(ty: &DeclaredType) -> bool {
    matches!(ty, DeclaredType::Array { .. } | DeclaredType::Unknown)
}

/// The identifiers of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(move |c| !is_word(c)).filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

fn binds_reference(tree: &HostTree, init_declarator: NodeId) -> bool {
    let is_const =
        |declaration: NodeId| tree.named_children(declaration).any(|child| tree.kind(child) == NodeKind::TypeQualifier);
    // What stands behind `const` in `const T *&r` is not what `r` stands for.
    tree.child(init_declarator, Field::Declarator).is_some_and(|node| {
        let is_read_only =
            || tree.kind(node) == NodeKind::ReferenceDeclarator && tree.parent(init_declarator).is_some_and(is_const);
        tree.declares_reference(node) && !is_read_only()
    })
}
