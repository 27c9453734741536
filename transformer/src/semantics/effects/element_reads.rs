//! Is nothing done with the elements of an array but reading them? This asks for the uses of its name alone, so that it serves where what
//! else the code does is not known.

use super::places::dereferences;
use std::collections::BTreeSet;

use super::Named;
use crate::semantics::effects::binding::parameters_of;
use crate::semantics::symbols::NameKind;
use crate::semantics::uses::{Role, Use, role_of_expression};
use crate::semantics::{Program, is_standard_constant};
use crate::source::{Language, Span, words};
use crate::syntax::{Call, Field, NodeId, NodeKind};

/// How far an address is followed: into functions in sight, and to other pointers.
const DEPTH: usize = 6;

impl Program<'_> {
    /// Does the code below `root` read elements of what the name leads to, numbers all of them, and nothing else with that name?
    pub(crate) fn reads_only_elements(&self, root: NodeId, named: &Named) -> bool {
        self.only_reads(root, named, 0)
    }

    fn only_reads(&self, root: NodeId, named: &Named, depth: usize) -> bool {
        let tree = self.tree;
        let span = tree.span(root);
        let text = self.file.show(span);
        let words: BTreeSet<&str> = words(&text).collect();
        let is_hidden = self.uses_macro_with(span, &|body| body.contains("##"))
            || words.iter().any(|word| self.symbols().macro_names(word, span.start, &named.name));
        let is_meant = |node: &NodeId| {
            let own = tree.span(*node);
            // `int *p(a);` is read as a function with a parameter of type `a`.
            matches!(tree.kind(*node), NodeKind::Identifier | NodeKind::TypeIdentifier)
                && self.file.bytes(own) == named.name.as_bytes()
                && self.named(&named.name, own.end).is_none_or(|(found, _)| found.id == named.id)
        };
        // Code that stands elsewhere, or that is not read.
        let is_unread = |node: NodeId| {
            use NodeKind as K;
            matches!(tree.kind(node), K::PreprocInclude | K::GnuAsmExpression | K::Error)
        };
        depth < DEPTH
            && !is_hidden
            && !tree.descendants(root).any(is_unread)
            && !tree.inactive().iter().any(|branch| branch.overlaps(span))
            && tree.descendants(root).filter(is_meant).all(|node| self.is_read(root, node, depth))
    }

    fn is_read(&self, root: NodeId, name: NodeId, depth: usize) -> bool {
        let tree = self.tree;
        let span = tree.span(name);
        let Some((_, variable)) = self.named(&self.file.show(span), span.end) else { return false };
        let (followed, _) = dereferences(tree, name);
        let element = (0..followed).fold(variable.ty.clone(), |ty, _| ty.dereferenced());
        let role = role_of_expression(tree, name);
        if followed == 0 {
            return role == Role::Declaration || self.is_followed_on(root, name, depth);
        }
        let reads = match role {
            Role::Read => self.is_taken_as_value(name),
            // `&a[3]`.
            Role::Argument => return self.is_followed_on(root, name, depth),
            _ => false,
        };
        reads && self.is_number_type(&element, span.start) && self.is_in_plain_expression(root, name)
    }

    /// The address itself: is it compared, handed to a function in sight that only reads, or kept in a pointer that is only read?
    fn is_followed_on(&self, root: NodeId, name: NodeId, depth: usize) -> bool {
        let tree = self.tree;
        let moves = |node: &NodeId| match tree.kind(*node) {
            NodeKind::ParenthesizedExpression | NodeKind::SubscriptExpression => true,
            NodeKind::PointerExpression => tree.operator(*node) == Some(NodeKind::Ampersand),
            NodeKind::BinaryExpression => matches!(tree.operator(*node), Some(NodeKind::Plus | NodeKind::Minus)),
            _ => false,
        };
        let Some(above) = tree.ancestors(name).find(|node| !moves(node)) else { return false };
        match tree.kind(above) {
            NodeKind::ArgumentList => self.is_only_read_by_call(above, name, depth),
            NodeKind::InitDeclarator => {
                let declarator = tree.child(above, Field::Declarator).map(|node| tree.innermost_declarator(node));
                let Some(declared) = declarator.map(|node| tree.span(node)) else { return false };
                let found = self.named(&self.file.show(declared), declared.end);
                found
                    .filter(|(_, alias)| alias.ty.is_pointer())
                    .is_some_and(|(alias, _)| self.only_reads(root, &alias, depth + 1))
            }
            _ => false,
        }
    }

    fn is_only_read_by_call(&self, list: NodeId, name: NodeId, depth: usize) -> bool {
        let tree = self.tree;
        let position = tree.named_children(list).position(|argument| tree.span(argument).contains(tree.span(name)));
        let binding = tree.parent(list).and_then(|call| self.binding(call));
        let Some((binding, position)) = binding.zip(position) else { return false };
        let parameter = parameters_of(self, binding.definition).into_iter().nth(position).flatten();
        let Some(body) = tree.child(binding.definition, Field::Body) else { return false };
        let found =
            parameter.and_then(|id| self.named(&self.file.show(id.declared_at), tree.span(body).end.saturating_sub(1)));
        found.is_some_and(|(own, variable)| variable.ty.is_pointer() && self.only_reads(body, &own, depth + 1))
    }

    /// In C++: may somebody keep a reference to the element that a name is followed to?
    pub(crate) fn may_lend_element(&self, name: NodeId) -> bool {
        let tree = self.tree;
        if tree.language() != Language::Cpp {
            return false;
        }
        let block = tree.ancestors(name).find(|node| tree.kind(*node) == NodeKind::CompoundStatement);
        !block.is_some_and(|block| self.is_taken_as_value(name) && self.is_in_plain_expression(block, name))
    }

    /// In C++: is an element handed to no function that may take a reference to it?
    fn is_taken_as_value(&self, name: NodeId) -> bool {
        let tree = self.tree;
        let is_object = |node: &NodeId| {
            matches!(
                tree.kind(*node),
                NodeKind::SubscriptExpression
                    | NodeKind::FieldExpression
                    | NodeKind::PointerExpression
                    | NodeKind::ParenthesizedExpression
                    | NodeKind::ConditionalExpression
            )
        };
        let above = tree.ancestors(name).find(|node| !is_object(node));
        let list = above.filter(|node| tree.kind(*node) == NodeKind::ArgumentList);
        let Some(list) = list.filter(|_| tree.language() == Language::Cpp) else { return true };
        let function = tree.parent(list).and_then(|call| tree.child(call, Field::Function));
        let Some(function) = function else { return false };
        let span = tree.span(function);
        let text = self.file.show(span);
        // These give the object itself.
        if ["std::max", "std::min", "std::clamp"].iter().any(|one| text.split('<').next() == Some(one)) {
            let call = tree.parent(list);
            let is_read = |call: &NodeId| matches!(role_of_expression(tree, *call), Role::Read | Role::Argument);
            return call.filter(is_read).is_some_and(|call| self.is_taken_as_value(call));
        }
        let is_conversion = tree.kind(function) == NodeKind::PrimitiveType;
        let own = tree.span(name);
        let used = Use { name: self.file.show(own).into_owned(), span: own, node: name, role: Role::Argument };
        is_conversion || self.expansion(&text, span.start).is_some() || self.argument_is_copied(&used)
    }

    /// Is nothing around a name but statements, operators on numbers, calls, and macros that are plain expressions? What makes an object
    /// of an element may keep a reference to it.
    fn is_in_plain_expression(&self, root: NodeId, name: NodeId) -> bool {
        use NodeKind as K;
        let tree = self.tree;
        let is_cpp = tree.language() == Language::Cpp;
        let may_write = is_cpp && self.has_operators_on_numbers();
        tree.ancestors(name).take_while(|node| *node != root).all(|node| match tree.kind(node) {
            K::CallExpression => self.is_no_macro_or_plain(node),
            K::BinaryExpression => !may_write && !self.may_be_cast(node),
            K::AssignmentExpression => !may_write,
            K::CastExpression => !is_cpp || tree.child(node, Field::Type).is_some_and(|ty| self.is_cast_to_number(ty)),
            K::InitDeclarator => !is_cpp || self.declares_number_or_pointer(node),
            K::ReturnStatement => !is_cpp || self.returns_value(node),
            K::InitializerList => !is_cpp,
            kind => is_harmless(kind),
        })
    }

    fn is_no_macro_or_plain(&self, call: NodeId) -> bool {
        let function = Call::of(self.tree, call).and_then(Call::function);
        let span = function.map_or(Span::default(), |it| self.tree.span(it));
        let expansion = self.expansion(&self.file.show(span), span.start);
        expansion.is_none_or(|plain| plain.is_some() && role_of_expression(self.tree, call) == Role::Read)
    }

    /// `(T) & x` looks like an operation: is there a name on the left that is no value?
    fn may_be_cast(&self, operation: NodeId) -> bool {
        let tree = self.tree;
        let left = tree.child(operation, Field::Left);
        let names = left.into_iter().flat_map(|left| tree.descendants(left));
        names.into_iter().filter(|node| tree.kind(*node) == NodeKind::Identifier).any(|node| {
            let span = tree.span(node);
            let name = self.file.show(span);
            let found = self.symbols().lookup(&name, span.start).map(|found| found.kind);
            let is_value =
                matches!(found, Some(NameKind::Variable | NameKind::Enumerator | NameKind::TemplateParameter));
            let is_macro = self.expansion(&name, span.start).is_some();
            !is_value && !is_macro && !is_standard_constant(&name) && role_of_expression(tree, node) != Role::Callee
        })
    }

    fn is_cast_to_number(&self, descriptor: NodeId) -> bool {
        let tree = self.tree;
        let is_plain = tree.child(descriptor, Field::Declarator).is_none();
        is_plain && tree.child(descriptor, Field::Type).is_some_and(|ty| self.is_number_or_nothing(ty))
    }

    fn declares_number_or_pointer(&self, init_declarator: NodeId) -> bool {
        let tree = self.tree;
        let declarator = tree.child(init_declarator, Field::Declarator).map(|node| tree.innermost_declarator(node));
        let Some(span) = declarator.map(|node| tree.span(node)) else { return false };
        let found = self.named(&self.file.show(span), span.end).map(|(_, variable)| variable.ty.clone());
        let is_auto = || {
            let ty = tree.parent(init_declarator).and_then(|declaration| tree.child(declaration, Field::Type));
            ty.is_some_and(|ty| tree.kind(ty) == NodeKind::PlaceholderTypeSpecifier)
                && tree
                    .child(init_declarator, Field::Declarator)
                    .is_some_and(|it| tree.kind(it) == NodeKind::Identifier)
        };
        found.is_some_and(|ty| ty.number().is_some() || ty.is_pointer()) || is_auto()
    }

    /// Does the function around a `return` give back a number, and no reference?
    fn returns_value(&self, statement: NodeId) -> bool {
        let tree = self.tree;
        let function = tree
            .ancestors(statement)
            .find(|node| matches!(tree.kind(*node), NodeKind::FunctionDefinition | NodeKind::LambdaExpression));
        let Some(function) = function.filter(|it| tree.kind(*it) == NodeKind::FunctionDefinition) else { return false };
        let declarator = tree.child(function, Field::Declarator);
        declarator.is_some_and(|it| tree.kind(it) == NodeKind::FunctionDeclarator)
            && tree.child(function, Field::Type).is_some_and(|ty| self.is_number_or_nothing(ty))
    }

    /// May the program have operators of its own?
    pub(super) fn has_operators(&self) -> bool {
        self.texts().any(|text| text.contains("operator"))
    }

    /// May one of them take a number by a reference through which it writes?
    fn has_operators_on_numbers(&self) -> bool {
        *self.operators_on_numbers.get_or_init(|| {
            self.texts().any(|text| {
                text.match_indices("operator").any(|(at, word)| {
                    let behind = text.get(at + word.len()..).unwrap_or_default();
                    let list =
                        behind.split_once('(').and_then(|(_, rest)| rest.trim_start_matches(')').split_once(')'));
                    list.is_none_or(|(list, _)| list.split(',').any(|parameter| self.may_bind_number(parameter)))
                })
            })
        })
    }

    /// Is it the text of a parameter that is a reference to something else than a structure in sight or of the standard library?
    fn may_bind_number(&self, parameter: &str) -> bool {
        let Some((before, _)) = parameter.split_once('&') else { return false };
        let end = self.file.text.len();
        let is_record = |name: &str| {
            let ty = self.symbols().type_written(None, name, end);
            self.symbols().is_record_in_sight(&ty, end)
        };
        let base = words(before).last().unwrap_or_default();
        !words(before).any(|word| word == "const") && !before.contains("std::") && !is_record(base)
    }
}

/// Is it a statement, or an operator that the language defines?
fn is_harmless(kind: NodeKind) -> bool {
    use NodeKind as K;
    matches!(
        kind,
        K::ArgumentList
            | K::CaseStatement
            | K::CommaExpression
            | K::CompoundStatement
            | K::ConditionClause
            | K::ConditionalExpression
            | K::Declaration
            | K::DoStatement
            | K::ElseClause
            | K::ExpressionStatement
            | K::FieldExpression
            | K::ForStatement
            | K::IfStatement
            | K::LabeledStatement
            | K::ParenthesizedExpression
            | K::PointerExpression
            | K::SizeofExpression
            | K::SubscriptArgumentList
            | K::SubscriptExpression
            | K::SwitchStatement
            | K::UnaryExpression
            | K::UpdateExpression
            | K::WhileStatement
    )
}
