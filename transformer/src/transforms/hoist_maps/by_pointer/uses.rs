//! Where the functions are declared and called, and where they name their objects: as the other text has it.

use std::collections::BTreeMap;

use super::around;
use super::functions::{Function, Object, Reference, class_of, parameters};
use crate::context::Context;
use crate::edit::Edit;
use crate::semantics::symbols::DeclaredType;
use crate::source::Span;
use crate::syntax::{Call, Field, NodeId, NodeKind};
use crate::transforms::hoist_maps::members::accesses::{is_own_member, tokens};

/// The edits that make the other text: none where nobody calls the functions.
///
/// # Errors
/// A function that has to stay as it is: it is called with what has no name, or named otherwise than in a call.
pub(super) fn edits(cx: &Context<'_>, functions: &[Function]) -> Result<Vec<Edit>, usize> {
    let mut made = Made {
        cx,
        functions,
        edits: Vec::new(),
        prefixes: BTreeMap::new(),
        replaced: BTreeMap::new(),
        is_called: false,
    };
    functions.iter().for_each(|function| made.heads(function));
    made.calls()?;
    functions.iter().for_each(|function| made.body(function));
    let Made { mut edits, mut prefixes, is_called, .. } = made;
    if !is_called {
        return Ok(Vec::new());
    }
    for edit in &mut edits {
        if let Some(prefix) = prefixes.remove(&edit.span.start) {
            edit.text = format!("{prefix}{}", edit.text);
        }
    }
    edits.extend(prefixes.into_iter().map(|(at, text)| Edit::insertion(at, text)));
    Ok(edits)
}

struct Made<'m, 'c> {
    cx: &'m Context<'c>,
    functions: &'m [Function],
    edits: Vec<Edit>,
    /// What stands before a place.
    prefixes: BTreeMap<usize, String>,
    /// What calls are written for: where each begins and ends.
    replaced: BTreeMap<usize, usize>,
    /// Is one of the functions called?
    is_called: bool,
}

impl Made<'_, '_> {
    fn is_replaced(&self, span: Span) -> bool {
        self.replaced.range(..=span.start).next_back().is_some_and(|(_, end)| span.end <= *end)
    }

    fn replace(&mut self, span: Span, text: String) {
        self.edits.push(Edit { span, text });
    }

    /// The parameters: `Grid *grid` for `Grid &grid`, and the pointer to the object first of all.
    fn heads(&mut self, function: &Function) {
        let (cx, tree) = (self.cx, self.cx.tree);
        for head in &function.heads {
            let declaration = tree.parent(*head);
            if let Some(declaration) = declaration.filter(|it| tree.kind(*it) == NodeKind::FieldDeclaration) {
                self.replace(tree.span(declaration), String::new());
                continue;
            }
            let all = parameters(cx, *head).unwrap_or_default();
            for parameter in function.references.keys().filter_map(|index| all.get(*index)) {
                if let Some(declarator) = tree.child(*parameter, Field::Declarator) {
                    let start = tree.span(declarator).start;
                    self.replace(Span::new(start, start + 1), "*".to_owned());
                }
            }
            let Some(object) = &function.object else { continue };
            let Some((declaration, list)) = tree.parent(*head).zip(tree.child(*head, Field::Parameters)) else {
                continue;
            };
            self.prefixes.insert(tree.span(declaration).start, "static ".to_owned());
            if let Some(name) =
                tree.child(*head, Field::Declarator).filter(|it| tree.kind(*it) == NodeKind::QualifiedIdentifier)
            {
                self.replace(tree.span(name), function.called.clone());
            }
            let more = if all.is_empty() { "" } else { ", " };
            let list = tree.span(list);
            let first = all.first().map_or(list.end - 1, |first| tree.span(*first).start);
            let text = format!("{} *{}{more}", object.class, object.pointer);
            match all.is_empty() {
                true => self.replace(Span::new(list.start + 1, list.end - 1), text),
                false => {
                    self.prefixes.insert(first, text);
                }
            }
        }
    }

    fn calls(&mut self) -> Result<(), usize> {
        let (cx, tree) = (self.cx, self.cx.tree);
        for call in tree.all_of(&[NodeKind::CallExpression]) {
            let Some(function) = Call::of(tree, call).and_then(Call::function) else { continue };
            match tree.kind(function) {
                NodeKind::Identifier => self.call_by_name(call, function)?,
                NodeKind::QualifiedIdentifier => self.call_of_namespace(call, function)?,
                NodeKind::FieldExpression => self.call_of_object(call, function),
                _ => {}
            }
        }
        // Whoever has the address of a function may call it.
        let is_head = |node: NodeId| tree.parent(node).is_some_and(|it| tree.kind(it) == NodeKind::FunctionDeclarator);
        let free = self.functions.iter().enumerate().filter(|(_, function)| function.object.is_none());
        let free: BTreeMap<&[u8], usize> = free.map(|(index, function)| (function.name.as_bytes(), index)).collect();
        let is_called = |node: NodeId| {
            let qualified =
                tree.ancestors(node).take_while(|it| tree.kind(*it) == NodeKind::QualifiedIdentifier).last();
            let whole = qualified.unwrap_or(node);
            let is_call = tree.parent(whole).is_some_and(|it| tree.kind(it) == NodeKind::CallExpression);
            is_call && tree.field(whole) == Some(Field::Function)
        };
        let others = tree.all_of(&[NodeKind::Identifier]).filter(|node| !is_called(*node) && !is_head(*node));
        match others.into_iter().find_map(|node| free.get(cx.file.bytes(tree.span(node)))) {
            Some(index) => Err(*index),
            None => Ok(()),
        }
    }

    /// `step(grid)`, or `step()` of the same object.
    fn call_by_name(&mut self, call: NodeId, name: NodeId) -> Result<(), usize> {
        let (cx, functions) = (self.cx, self.functions);
        let span = cx.tree.span(name);
        let text = cx.file.show(span);
        let own = around(functions, span).and_then(|it| it.object.as_ref());
        let named = || functions.iter().enumerate().filter(|(_, function)| function.name == text);
        let is_own = |object: &Object| own.is_some_and(|own| own.class == object.class);
        // In a class a member function hides the others.
        let member = named().find(|(_, function)| function.object.as_ref().is_some_and(is_own));
        let found = member.or_else(|| named().find(|(_, function)| function.object.is_none()));
        let Some((index, function)) = found else { return Ok(()) };
        let pointer = own.filter(|_| function.object.is_some()).map(|own| own.pointer.clone());
        if pointer.is_some() {
            if cx.symbols().is_variable_in(None, &text, span.start) {
                return Ok(());
            }
            self.replace(span, function.called.clone());
            self.replaced.insert(span.start, span.end);
        }
        self.arguments(call, function, pointer).ok_or(index)
    }

    /// `solver::step(grid)`, where `step` is a function of a namespace.
    fn call_of_namespace(&mut self, call: NodeId, name: NodeId) -> Result<(), usize> {
        let (cx, functions) = (self.cx, self.functions);
        let text: String = cx.file.show(cx.tree.span(name)).split_whitespace().collect();
        let last = text.rsplit("::").next().unwrap_or_default();
        let mut named = functions.iter().enumerate().filter(|(_, it)| it.object.is_none() && it.name == last);
        let Some((index, function)) = named.next() else { return Ok(()) };
        let is_it = match cx.symbols().function_definitions(&text)[..] {
            [(None, definition)] => cx.tree.span(definition).contains(function.body),
            _ => false,
        };
        // It may be one of a class, or that of another namespace.
        if is_it { self.arguments(call, function, None).ok_or(index) } else { Err(index) }
    }

    /// `grid.step()`, `grid->step()`, `this->step()`.
    fn call_of_object(&mut self, call: NodeId, access: NodeId) {
        let (cx, tree) = (self.cx, self.cx.tree);
        let Some((object, field)) = tree.child(access, Field::Argument).zip(tree.child(access, Field::Field)) else {
            return;
        };
        let name = cx.file.show(tree.span(field));
        let span = tree.span(object);
        let is_arrow = cx.file.bytes(Span::new(span.end, tree.span(field).start)).trim_ascii() == b"->";
        let (class, pointer) = match tree.kind(object) {
            NodeKind::This => match around(self.functions, span).and_then(|it| it.object.as_ref()) {
                Some(own) if is_arrow => (own.class.clone(), own.pointer.clone()),
                _ => return,
            },
            NodeKind::Identifier => {
                let text = cx.file.show(span).into_owned();
                let Some((named, variable)) = cx.named(&text, span.start) else { return };
                if is_own_member(&variable) {
                    return;
                }
                let is_pointer_now =
                    around(self.functions, span).is_some_and(|function| function.reference(named.id).is_some());
                let (object, is_pointer) = match &variable.ty {
                    DeclaredType::Pointer { pointee, .. } if is_arrow => (&**pointee, true),
                    DeclaredType::Reference { to } if !is_arrow => (&**to, is_pointer_now),
                    ty if !is_arrow => (ty, false),
                    _ => return,
                };
                let Some(class) = class_of(object) else { return };
                (class, if is_pointer { text } else { format!("&{text}") })
            }
            _ => return,
        };
        let is_of_class =
            around(self.functions, span).and_then(|it| it.object.as_ref()).is_some_and(|own| own.class == class);
        // What has no name there is not held there.
        let is_it = |function: &&Function| {
            let object = function.object.as_ref().filter(|object| object.is_open || is_of_class);
            function.name == name && object.is_some_and(|object| object.class == class)
        };
        let Some(function) = self.functions.iter().find(is_it) else { return };
        if self.arguments(call, function, Some(pointer)).is_some() {
            let whole = tree.span(access);
            self.replace(whole, function.called.clone());
            self.replaced.insert(whole.start, whole.end);
        }
    }

    /// What a call hands over; `None` where a reference is bound to no object that has a name.
    fn arguments(&mut self, call: NodeId, function: &Function, own: Option<String>) -> Option<()> {
        let tree = self.cx.tree;
        let arguments: Vec<NodeId> = Call::of(tree, call)?.arguments().collect();
        (arguments.len() == function.count).then_some(())?;
        self.is_called = true;
        let mut handed: Vec<(Span, String)> = Vec::new();
        for (index, reference) in &function.references {
            handed.push(self.object(*arguments.get(*index)?, reference)?);
        }
        for (span, text) in handed {
            self.replace(span, text);
            self.replaced.insert(span.start, span.end);
        }
        if let Some(own) = own {
            let list = tree.span(Call::of(tree, call)?.list()?);
            match arguments.first() {
                Some(first) => {
                    self.prefixes.insert(tree.span(*first).start, format!("{own}, "));
                }
                None => self.replace(Span::new(list.start + 1, list.end - 1), own),
            }
        }
        Some(())
    }

    /// The pointer to an object of the class that is named: `&grid`, or `grid` where the name is one of a pointer now. An object of another
    /// class may be converted.
    fn object(&self, argument: NodeId, reference: &Reference) -> Option<(Span, String)> {
        let (cx, tree) = (self.cx, self.cx.tree);
        let span = tree.span(argument);
        let is_followed =
            tree.kind(argument) == NodeKind::PointerExpression && tree.operator(argument) == Some(NodeKind::Star);
        let name = if is_followed { tree.child(argument, Field::Argument)? } else { argument };
        if is_followed && tree.kind(name) == NodeKind::This {
            let own = around(self.functions, span).and_then(|it| it.object.as_ref())?;
            return (own.class == reference.class).then(|| (span, own.pointer.clone()));
        }
        (tree.kind(name) == NodeKind::Identifier).then_some(())?;
        let text = cx.file.show(tree.span(name)).into_owned();
        let (named, variable) = cx.named(&text, tree.span(name).start)?;
        let object = match &variable.ty {
            DeclaredType::Pointer { pointee, .. } if is_followed => pointee,
            DeclaredType::Reference { to } if !is_followed => to,
            ty if !is_followed => ty,
            _ => return None,
        };
        (class_of(object).as_ref() == Some(&reference.class) && !is_own_member(&variable)).then_some(())?;
        let is_pointer_now = around(self.functions, span).is_some_and(|it| it.reference(named.id).is_some());
        Some((span, if is_followed || is_pointer_now { text } else { format!("&{text}") }))
    }

    /// Where the function names its objects and their members.
    fn body(&mut self, function: &Function) {
        let cx = self.cx;
        let tokens = tokens(&cx.file.text, function.body);
        let is = |index: usize, text: &[u8]| tokens.get(index).is_some_and(|token| cx.file.bytes(*token) == text);
        for (index, token) in tokens.iter().enumerate() {
            let is_part = index > 0 && [&b"."[..], b"->", b"::"].iter().any(|before| is(index - 1, before));
            let is_word = cx.file.bytes(*token).first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
            if is_part || !is_word || self.is_replaced(*token) {
                continue;
            }
            let word = cx.file.show(*token).into_owned();
            if let Some(own) = function.object.as_ref().filter(|_| word == "this") {
                self.replace(*token, own.pointer.clone());
                continue;
            }
            let Some((named, variable)) = cx.named(&word, token.start) else { continue };
            if let Some(own) = function.object.as_ref().filter(|_| is_own_member(&variable)) {
                self.replace(*token, format!("{}->{word}", own.pointer));
            } else if function.reference(named.id).is_some() {
                let dot = tokens.get(index + 1).filter(|_| is(index + 1, b"."));
                match (dot, self.address_of(*token)) {
                    (Some(dot), _) => self.replace(Span::new(token.start, dot.end), format!("{word}->")),
                    (None, Some(address)) => self.replace(address, word),
                    (None, None) => self.replace(*token, format!("(*{word})")),
                }
            }
        }
    }
}

impl Made<'_, '_> {
    /// The expression `&grid` around a name.
    fn address_of(&self, name: Span) -> Option<Span> {
        let tree = self.cx.tree;
        let node = tree.covering(name);
        let around = tree.parent(node).filter(|_| tree.kind(node) == NodeKind::Identifier)?;
        let is_address =
            tree.kind(around) == NodeKind::PointerExpression && tree.operator(around) == Some(NodeKind::Ampersand);
        is_address.then(|| tree.span(around))
    }
}
