//! What the arguments of a call stand for in the called function.

use super::Call;
use crate::semantics::effects::Named;
use crate::semantics::symbols::{DeclaredType, NameKind, Scope, VariableId};
use crate::source::{Span, words};
use crate::syntax::{Field, Integer, NodeId, NodeKind, Number, Subscript};
use crate::transforms::hoist_maps::items::is_array;
use crate::transforms::hoist_maps::templates::Piece;

/// An array as a call hands it over.
pub(super) struct Handed {
    pub named: Named,
    /// The argument.
    pub span: Span,
    /// Which element it leads to, where that is not the first one.
    pub offset: Option<NodeId>,
}

/// What becomes of an argument in the caller's expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It stands for the parameter.
    Alone,
    /// Something is computed from it.
    Computed,
    /// It is converted to the parameter's type.
    Converted,
}

impl Use {
    fn of(is_operand: bool) -> Self {
        if is_operand { Self::Computed } else { Self::Alone }
    }
}

impl Call<'_, '_> {
    /// The array or pointer that is handed over by its name, from its first element or a later one on, where both sides see elements of
    /// one type.
    pub(super) fn array_handed(&self, argument: NodeId, parameter: &Named) -> Option<Handed> {
        let (cx, tree) = (self.cx, self.cx.tree);
        let (base, offset) = match tree.kind(argument) {
            NodeKind::PointerExpression if tree.operator(argument) == Some(NodeKind::Ampersand) => {
                let element = tree.child(argument, Field::Argument)?;
                (tree.kind(element) == NodeKind::SubscriptExpression).then_some(())?;
                (tree.child(element, Field::Argument)?, Some(Subscript::of(tree, element)?.index()?))
            }
            NodeKind::BinaryExpression if tree.operator(argument) == Some(NodeKind::Plus) => {
                (tree.child(argument, Field::Left)?, Some(tree.child(argument, Field::Right)?))
            }
            _ => (argument, None),
        };
        (tree.kind(base) == NodeKind::Identifier).then_some(())?;
        let span = tree.span(base);
        let name = cx.file.show(span);
        cx.expansion(&name, span.start).is_none().then_some(())?;
        let (named, variable) = cx.named(&name, span.start)?;
        let (_, other) = cx.named(&parameter.name, parameter.at)?;
        (is_array(&variable.ty) && self.are_of_one_type(&variable.ty, &other.ty)).then_some(())?;
        let offset = offset.filter(|offset| cx.constant(tree.span(*offset)) != Some(0));
        Some(Handed { named, span: tree.span(argument), offset })
    }

    /// Do an argument and a parameter lead to elements of one type: the same numbers, or the same plain structure?
    pub(super) fn are_of_one_type(&self, given: &DeclaredType, parameter: &DeclaredType) -> bool {
        let (element, own) = (given.dereferenced(), parameter.dereferenced());
        let rows = |ty: &DeclaredType| match ty {
            DeclaredType::Array { element, dimensions, .. } => {
                let lengths = dimensions.iter().map(|dimension| dimension.value).collect::<Option<Vec<_>>>();
                Some((element.number()?.clone(), lengths?))
            }
            _ => None,
        };
        if let (Some(given), Some(own)) = (rows(&element), rows(&own)) {
            return given == own;
        }
        if let (DeclaredType::Record { name, .. }, DeclaredType::Record { name: other, .. }) = (&element, &own) {
            let places = [self.cx.tree.span(self.statement).start, self.cx.tree.span(self.binding.definition).end - 1];
            return name == other && places.into_iter().all(|at| self.cx.symbols().is_plain_record(&own, at));
        }
        if let (DeclaredType::TypeParameter { name: given, .. }, DeclaredType::TypeParameter { name: own, .. }) =
            (&element, &own)
        {
            return parameter.is_pointer() && self.is_type_of_caller(own, given);
        }
        // Pointers to numbers of different types do not convert to each other, so that `T` is what it must be.
        let is_of_template = matches!(own, DeclaredType::TypeParameter { .. }) && parameter.is_pointer();
        element.number().is_some_and(|number| is_of_template || Some(number) == own.number())
    }

    /// A variable of the file that means the same where the function is called.
    pub(super) fn global(&self, own: &Named) -> Option<Named> {
        let function = self.cx.tree.span(self.binding.definition);
        let here = self.cx.tree.span(self.statement).start;
        let is_local = own.id.is_within(function);
        let (named, _) = self.cx.named(&own.name, here).filter(|_| !is_local)?;
        (named.id == own.id).then_some(named)
    }

    /// An expression of the function with the arguments in place of its parameters, and with the values of its constants.
    pub(super) fn renamed(&self, expression: Span, is_operand: bool) -> Option<Vec<Piece>> {
        let mut pieces = self.renamed_names(expression, is_operand)?;
        // What becomes an operand once more.
        let is_whole =
            pieces.iter().filter(|piece| !matches!(piece, Piece::Text(text) if text.is_empty())).count() == 1;
        if is_operand && !is_whole {
            pieces.insert(0, Piece::Text("(".to_owned()));
            pieces.push(Piece::Text(")".to_owned()));
        }
        Some(pieces)
    }

    /// The same without brackets, for a place where the expression stood without them.
    pub(super) fn renamed_names(&self, expression: Span, is_operand: bool) -> Option<Vec<Piece>> {
        let cx = self.cx;
        let (mut pieces, mut from) = (Vec::new(), expression.start);
        (cx.is_arithmetic(expression) || cx.is_arithmetic_with_casts(expression)).then_some(())?;
        let mut names = cx.names_in(expression);
        names.sort_by_key(|(_, span)| span.start);
        for (name, span) in names {
            pieces.push(Piece::Text(cx.file.show(Span::new(from, span.start)).into_owned()));
            pieces.extend(self.renamed_name(&name, span, is_operand || span != expression)?);
            from = span.end;
        }
        pieces.push(Piece::Text(cx.file.show(Span::new(from, expression.end)).into_owned()));
        Some(pieces)
    }

    fn renamed_name(&self, name: &str, span: Span, is_operand: bool) -> Option<Vec<Piece>> {
        let cx = self.cx;
        let here = cx.tree.span(self.statement).start;
        let known = cx.named(name, span.start).map(|(named, _)| named);
        if let Some((id, argument)) = known.as_ref().and_then(|it| Some((it.id, self.binding.argument(it.id)?))) {
            (!self.changes(id)).then_some(())?;
            if self.keeps_value(name, span.start, argument, Use::of(is_operand)) {
                return Some(vec![Piece::Value { of: cx.tree.span(argument), is_operand }]);
            }
            // In the parameter's type it is computed with the same value.
            let ty = self.type_of_number(name, span.start)?;
            self.keeps_value(name, span.start, argument, Use::Converted).then_some(())?;
            let value = Piece::Value { of: cx.tree.span(argument), is_operand: true };
            return Some(vec![Piece::Text(format!("({ty})")), value]);
        }
        // `(size_t)n * m`.
        let is_type = known.is_none() && Number::read(name).is_some() && cx.symbols().lookup(name, here).is_none();
        if is_type && cx.symbols().macro_definition(name, here).is_none() {
            return Some(vec![Piece::Text(name.to_owned())]);
        }
        if let Some((place, is_of_type)) = known.as_ref().and_then(|named| self.number_handed(named)) {
            if is_of_type {
                return Some(vec![Piece::Value { of: place, is_operand }]);
            }
            let ty = self.type_of_number(name, span.start)?;
            return Some(vec![Piece::Text(format!("({ty})")), Piece::Value { of: place, is_operand: true }]);
        }
        if let Some(value) = known.as_ref().and_then(|named| self.only_value(named)) {
            if self.keeps_value(name, span.start, value, Use::of(is_operand)) {
                return self.renamed(cx.tree.span(value), is_operand);
            }
            let ty = self.type_of_number(name, span.start)?;
            self.keeps_value(name, span.start, value, Use::Converted).then_some(())?;
            let pieces = self.renamed(cx.tree.span(value), true)?;
            return Some(std::iter::once(Piece::Text(format!("({ty})"))).chain(pieces).collect());
        }
        let macros = [here, span.start].map(|at| cx.symbols().macro_definition(name, at));
        let declared = [here, span.start].map(|at| cx.symbols().lookup(name, at));
        let declared = declared.map(|found| found.map(|found| found.id()));
        (macros[0] == macros[1] && declared[0] == declared[1]).then_some(())?;
        match cx.constant(span) {
            Some(_) => Some(vec![Piece::Text(name.to_owned())]),
            // A variable of the file.
            None => known.is_some().then(|| vec![Piece::Value { of: span, is_operand }]),
        }
    }

    /// The parameter whose value a pointer of the function has, by its declaration and that of others, or itself.
    pub(super) fn parameter_behind(&self, named: &Named) -> VariableId {
        self.first_behind(named).id
    }

    /// The variable whose value a pointer or number of the function has, by its declaration and that of others, or itself.
    pub(super) fn first_behind(&self, named: &Named) -> Named {
        let (cx, tree) = (self.cx, self.cx.tree);
        let mut found = named.clone();
        // Each is declared behind the one whose value it has.
        while let Some(value) = self.only_value(&found).filter(|value| tree.kind(*value) == NodeKind::Identifier) {
            let span = tree.span(value);
            match cx.named(&cx.file.show(span), span.start) {
                Some((other, variable)) if self.is_of_one_kind(named, &variable.ty) && other.id != found.id => {
                    found = other;
                }
                _ => break,
            }
        }
        found
    }

    /// Are both pointers, or integers of one type?
    pub(super) fn is_of_one_kind(&self, named: &Named, other: &DeclaredType) -> bool {
        let own = self.cx.declared_type(&named.name, named.at);
        own.is_some_and(|own| match own.is_pointer() {
            true => other.is_pointer(),
            false => own
                .number()
                .and_then(Number::integer)
                .is_some_and(|integer| other.number().and_then(Number::integer) == Some(integer)),
        })
    }

    /// What a local variable of the function was given where it is declared, if it keeps that as long as it lives.
    pub(super) fn only_value(&self, named: &Named) -> Option<NodeId> {
        let (cx, tree) = (self.cx, self.cx.tree);
        let (_, variable) = cx.named(&named.name, named.at)?;
        let is_local = variable.scope == Scope::Local && !variable.has_static_storage();
        let is_kept = !self.changes(named.id)
            && (cx.cannot_be_aliased(&named.name, named.at) || cx.is_handed_by_value_alone(named));
        (is_local && is_kept && named.id.is_within(tree.span(self.binding.definition))).then_some(())?;
        let name = tree.covering(named.id.declared_at);
        let declarator = tree.ancestors(name).find(|node| tree.kind(*node) == NodeKind::InitDeclarator)?;
        let is_it = tree.innermost_declarator(tree.child(declarator, Field::Declarator)?) == name;
        // A jump may pass over what a variable is given.
        let jumps = |node: NodeId| {
            matches!(tree.kind(node), NodeKind::GotoStatement | NodeKind::SwitchStatement | NodeKind::LambdaExpression)
        };
        let is_plain = is_it && !tree.descendants(self.binding.definition).any(jumps);
        is_plain.then(|| tree.child(declarator, Field::Value))?
    }

    /// Is an argument a sum or product of integers that the parameter's type can hold? Where something is computed from the parameter, it
    /// must be computed in the same type from the argument.
    fn keeps_value(&self, parameter: &str, at: usize, argument: NodeId, how: Use) -> bool {
        let (cx, is_computed_with) = (self.cx, how == Use::Computed);
        if self.has_type_of_argument(parameter, at, argument) {
            return true;
        }
        let integer_of =
            |name: &str, at: usize| cx.declared_type(name, at).and_then(|ty| ty.number().and_then(Number::integer));
        let Some(own) = integer_of(parameter, at).filter(|own| own.bits >= 32) else { return false };
        let is_int = own.bits == 32 && own.signed;
        let is_small = |span: Span| cx.constant(span).is_some_and(|value| (0..=i64::from(i32::MAX)).contains(&value));
        // A negative number may become a length of 2^31 and more; no array has 2^63 elements.
        let loses_sign = |given: Integer| given.signed && !own.signed && own.bits < 64 && how != Use::Converted;
        let holds = |given: Integer| {
            given.bits <= own.bits && (given.signed || !own.signed || given.bits < own.bits) && !loses_sign(given)
        };
        cx.tree.descendants(argument).filter(|node| cx.tree.is_named(*node)).all(|node| match cx.tree.kind(node) {
            NodeKind::ParenthesizedExpression => true,
            NodeKind::NumberLiteral => {
                let is_plain = cx.file.bytes(cx.tree.span(node)).iter().all(u8::is_ascii_digit);
                is_small(cx.tree.span(node)) && (!is_computed_with || is_int && is_plain)
            }
            NodeKind::BinaryExpression => {
                matches!(cx.tree.operator(node), Some(NodeKind::Plus | NodeKind::Minus | NodeKind::Star))
            }
            NodeKind::Identifier => {
                let span = cx.tree.span(node);
                let given = integer_of(&cx.file.show(span), span.start);
                match given {
                    Some(given) if is_computed_with => given == own,
                    Some(given) => holds(given) || is_small(span),
                    None => is_small(span) && (!is_computed_with || is_int && self.is_int(node)),
                }
            }
            _ => false,
        })
    }

    /// The type of an integer, in words that mean the same wherever nobody declares them.
    fn type_of_number(&self, name: &str, at: usize) -> Option<String> {
        let cx = self.cx;
        let ty = cx.declared_type(name, at)?;
        let number = ty.number().filter(|number| number.is_integer())?;
        let DeclaredType::Scalar { spelling, .. } = &ty else { return None };
        let text = spelling.to_string();
        let here = cx.tree.span(self.statement).start;
        let is_own = |word: &str| {
            cx.symbols().lookup(word, here).is_some() || cx.symbols().macro_definition(word, here).is_some()
        };
        (Number::read(&text).as_ref() == Some(number) && !words(&text).any(is_own)).then_some(text)
    }

    /// Is it a parameter of a template whose type is deduced from an integer variable that it gets, and so that variable's own?
    fn has_type_of_argument(&self, parameter: &str, at: usize, argument: NodeId) -> bool {
        let (cx, tree) = (self.cx, self.cx.tree);
        let Some((named, variable)) = cx.named(parameter, at) else { return false };
        let span = tree.span(argument);
        let is_integer = |ty: DeclaredType| ty.number().and_then(Number::integer).is_some();
        let is_argument = self.binding.argument(named.id) == Some(argument);
        is_argument
            && matches!(&variable.ty, DeclaredType::TypeParameter { name, .. } if self.is_deduced(name))
            && tree.kind(argument) == NodeKind::Identifier
            && cx.declared_type(&cx.file.show(span), span.start).is_some_and(is_integer)
    }

    /// Is a type parameter of the called template deduced from what it is handed: is it not among those that the call names in `<>`?
    fn is_deduced(&self, parameter: &str) -> bool {
        self.position_of_type(parameter).is_some_and(|position| position >= self.named_types().len())
    }

    /// What a call names in `<>`.
    fn named_types(&self) -> Vec<NodeId> {
        let tree = self.cx.tree;
        let function = tree.child(self.binding.call, Field::Function);
        let list = function.and_then(|function| tree.child(function, Field::Arguments));
        list.into_iter().flat_map(|list| tree.named_children(list)).collect()
    }

    /// Which of the template's parameters a type parameter is.
    fn position_of_type(&self, parameter: &str) -> Option<usize> {
        let (cx, tree) = (self.cx, self.cx.tree);
        let template = tree.parent(self.binding.definition)?;
        (tree.kind(template) == NodeKind::TemplateDeclaration).then_some(())?;
        let list = tree.child(template, Field::Parameters)?;
        tree.named_children(list).position(|own| {
            let names = tree.descendants(own).filter(|node| tree.kind(*node) == NodeKind::TypeIdentifier);
            names.into_iter().next().is_some_and(|name| cx.file.bytes(tree.span(name)) == parameter.as_bytes())
        })
    }

    /// Is a type parameter of the called template the one of the template around the call: deduced as it, or named in its place?
    fn is_type_of_caller(&self, parameter: &str, given: &str) -> bool {
        let (cx, tree) = (self.cx, self.cx.tree);
        let Some(position) = self.position_of_type(parameter) else { return false };
        match self.named_types().get(position) {
            Some(named) => cx.file.bytes(tree.span(*named)) == given.as_bytes(),
            None => true,
        }
    }

    /// Is a constant's name one of an enumerator, or of a macro that is a plain number?
    fn is_int(&self, name: NodeId) -> bool {
        let (cx, span) = (self.cx, self.cx.tree.span(name));
        let name = cx.file.show(span);
        match cx.symbols().macro_definition(&name, span.start) {
            Some(definition) => definition.body.trim().bytes().all(|byte| byte.is_ascii_digit()),
            None => cx.symbols().lookup(&name, span.start).is_some_and(|found| found.kind == NameKind::Enumerator),
        }
    }
}
