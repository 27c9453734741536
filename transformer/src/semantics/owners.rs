//! Whose storage an array or a pointer variable leads to, and who else may know its address.

use crate::semantics::Program;
use crate::semantics::effects::{Named, Storage, Touch, dereferences, keeps_no_address};
use crate::semantics::names::Class;
use crate::semantics::symbols::{DeclaredType, Scope, Variable, Write, WriteKind};
use crate::semantics::uses::{Role, Use};
use crate::source::{Language, Span, words};
use crate::syntax::{Field, Member, NodeId, NodeKind};

/// Where memory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An array of a function that ends with it.
    AutomaticArray,
    /// An array that lasts as long as the program.
    StaticArray,
    /// Memory that the function itself allocated, and that only this variable was given.
    Allocation,
    /// A parameter that nothing changes: memory that was there when the function was called.
    Parameter,
    /// Anything else.
    Other,
}

/// The storage that a name leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Where it comes from.
    pub origin: Origin,
    /// Do functions out of sight, or other variables, possibly know its address?
    pub is_shared: bool,
}

impl Owner {
    /// Are these never the same storage? Two names of one origin must be different variables.
    #[must_use]
    pub fn is_apart_from(self, other: Self) -> bool {
        use Origin::{Allocation, AutomaticArray, Other, Parameter, StaticArray};
        match (self.origin, other.origin) {
            (Allocation | AutomaticArray | StaticArray, Allocation | AutomaticArray | StaticArray)
            | (Allocation | AutomaticArray, Parameter)
            | (Parameter, Allocation | AutomaticArray) => true,
            (Parameter | Other, Parameter | Other) => false,
            (_, Parameter | Other) => !self.is_shared,
            (Parameter | Other, _) => !other.is_shared,
        }
    }
}

/// Who reaches a variable beside its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reached {
    ByNameAlone,
    ByCallsAlone,
}

impl Program<'_> {
    /// Whose storage a variable leads to: an array itself, or what a pointer points to.
    pub(crate) fn owner(&self, named: &Named) -> Owner {
        if let Some(known) = self.owners.borrow().get(&named.id) {
            return *known;
        }
        let found = self.read_owner(named);
        self.owners.borrow_mut().insert(named.id, found);
        found
    }

    /// Is it a constant, or a variable that only its name reaches?
    fn is_alias_free(&self, named: &Named) -> bool {
        self.is_known_reached(named, Reached::ByNameAlone, || self.cannot_be_aliased(&named.name, named.at))
    }

    /// Do calls reach it at most, as long as they last, or with its value?
    fn is_lent_or_handed(&self, named: &Named) -> bool {
        self.is_known_reached(named, Reached::ByCallsAlone, || {
            self.is_lent_for_calls_alone(&named.name, named.at) || self.is_handed_by_value_alone(named)
        })
    }

    fn is_known_reached(&self, named: &Named, how: Reached, find: impl Fn() -> bool) -> bool {
        if let Some(known) = self.reached.borrow().get(&(named.id, how)) {
            return *known;
        }
        let found = find();
        self.reached.borrow_mut().insert((named.id, how), found);
        found
    }

    fn read_owner(&self, named: &Named) -> Owner {
        let unknown = Owner { origin: Origin::Other, is_shared: true };
        let Some((_, variable)) = self.named(&named.name, named.at) else { return unknown };
        if self.symbols().unread_branches(&named.name, self.range_of(named)).next().is_some() {
            return unknown;
        }
        let uses = self.uses_of(named);
        if uses.iter().any(|used| self.swapped_with(used.node).is_some()) {
            return unknown;
        }
        match &variable.ty {
            DeclaredType::Array { .. } => self.owner_of_array(named, &variable, &uses),
            ty if ty.is_pointer() && self.is_own_pointer(&variable, named, &uses) => {
                let assigned = uses.iter().filter(|used| used.role == Role::Write).count();
                if variable.scope == Scope::Parameter {
                    let origin = if assigned == 0 { Origin::Parameter } else { Origin::Other };
                    return Owner { origin, is_shared: true };
                }
                match self.allocates(&uses, 0) {
                    true => {
                        let is_shared = self.is_named_by_macro(named) || uses.iter().any(|used| self.hands_out(used));
                        Owner { origin: Origin::Allocation, is_shared }
                    }
                    false if self.leads_to_vectors(&uses) => Owner { origin: Origin::Allocation, is_shared: true },
                    false => unknown,
                }
            }
            _ => unknown,
        }
    }

    /// Does a pointer get nothing but the addresses of the memory of vectors of the function's own, or null?
    fn leads_to_vectors(&self, uses: &[&Use]) -> bool {
        let mut values =
            uses.iter().filter_map(|used| self.given(used)).filter(|it| !it.is_some_and(|it| self.is_null(it)));
        let is_of_vector = |value: Option<NodeId>| value.is_some_and(|value| self.is_memory_of_vector(value));
        values.next().is_some_and(is_of_vector) && values.all(is_of_vector)
    }

    fn owner_of_array(&self, named: &Named, variable: &Variable, uses: &[&Use]) -> Owner {
        let is_local = matches!(variable.scope, Scope::Local) && !variable.has_static_storage();
        let origin = if is_local { Origin::AutomaticArray } else { Origin::StaticArray };
        let is_seen = is_local || variable.is_static && variable.header.is_none();
        // A declaration in a block may mean this one.
        let means_it = |used: &&Use| {
            used.name == named.name
                && used.span != named.id.declared_at
                && self.named(&used.name, used.span.end).is_none_or(|(_, other)| other.is_extern)
        };
        let is_shared = !is_seen
            || !is_local && self.file_uses().iter().any(|used| means_it(&used))
            || !is_local
                && uses.iter().any(|used| self.lends(used))
                && uses.iter().any(|used| self.is_beside_lent(used))
            || uses.iter().any(|used| self.hands_out(used))
            || self.is_named_by_macro(named)
            || self.tree.language() == Language::Cpp && self.symbols().is_address_taken(&named.name, named.at);
        Owner { origin, is_shared }
    }

    /// Is an array, a row or an element's address an argument of a call, so that a parameter may lead to it as long as that lasts?
    fn lends(&self, used: &Use) -> bool {
        let tree = self.tree;
        let above: Vec<NodeId> =
            tree.ancestors(used.node).take_while(|node| tree.kind(*node) != NodeKind::CompoundStatement).collect();
        let Some(arguments) = above.iter().position(|node| tree.kind(*node) == NodeKind::ArgumentList) else {
            return false;
        };
        let is_address = |node: &NodeId| {
            tree.kind(*node) == NodeKind::PointerExpression && tree.operator(*node) == Some(NodeKind::Ampersand)
        };
        let is_element = dereferences(tree, used.node).0 > 0
            && above.first().is_some_and(|first| !self.leads_to_array(used, *first));
        !is_element || above.iter().take(arguments).any(is_address)
    }

    /// Is an array named in a function that may have got its address as well?
    fn is_beside_lent(&self, used: &Use) -> bool {
        let tree = self.tree;
        let Some(function) = self.function_of(used.span) else { return true };
        let head = tree.child(function, Field::Declarator);
        let is_list = |node: &NodeId| tree.kind(*node) == NodeKind::ParameterList;
        let parameters = head.and_then(|head| tree.descendants(head).find(is_list));
        // Parameters of numbers alone lead to nothing.
        let may_lead = |node: NodeId| {
            let kind = tree.kind(node);
            kind.is_declarator() && !kind.is_identifier()
                || kind == NodeKind::TypeIdentifier
                || kind == NodeKind::StructSpecifier
        };
        parameters.is_none_or(|list| tree.descendants(list).any(may_lead)) && !self.is_main_alone(function)
    }

    /// Is a function `main`, which nothing in the file calls?
    pub(crate) fn is_main_alone(&self, function: NodeId) -> bool {
        let tree = self.tree;
        let is_main = |node: NodeId| self.file.bytes(tree.span(node)) == b"main";
        let head = tree.child(function, Field::Declarator).map(|declarator| tree.innermost_declarator(declarator));
        let is_named_by_macro = |text: &str| words(text).any(|word| word == "main");
        let names_it_once = || {
            tree.all_of(&[NodeKind::Identifier]).filter(|node| is_main(*node)).count() == 1
                && !self.uses_macro_with(Span::new(0, self.file.text.len()), &is_named_by_macro)
        };
        head.is_some_and(is_main) && *self.names_main_once.get_or_init(names_it_once)
    }

    /// Is it an automatic pointer that nothing but its name reaches?
    pub(super) fn is_own_pointer(&self, variable: &Variable, named: &Named, uses: &[&Use]) -> bool {
        matches!(variable.scope, Scope::Local | Scope::Parameter)
            && !variable.has_static_storage()
            && (self.is_alias_free(named) || uses.iter().all(|used| self.is_plain_use_of(used)))
            && self.are_writes_seen(named, uses)
    }

    /// Is each place that gives a pointer a value a use that tells it? Macros and assembly may set it, or take its address, without one.
    fn are_writes_seen(&self, named: &Named, uses: &[&Use]) -> bool {
        let is_told = |write: &Write| uses.iter().any(|used| used.span == write.span && self.given(used).is_some());
        self.symbols().written_in(&named.name, named.at, self.range_of(named)).iter().all(|write| match write.kind {
            WriteKind::Assigned => is_told(write),
            WriteKind::Macro => false,
            WriteKind::Address | WriteKind::Reference | WriteKind::Passed => true,
        })
    }

    /// May a macro, which names the variable, hand out what it leads to?
    fn is_named_by_macro(&self, named: &Named) -> bool {
        let range = self.range_of(named);
        let mut inside = self.macro_uses().iter().filter(|span| range.contains(**span));
        inside.any(|span| self.symbols().macro_names(&self.file.show(*span), span.start, &named.name))
    }

    fn macro_uses(&self) -> &[Span] {
        self.macro_uses.get_or_init(|| {
            let names = [NodeKind::Identifier, NodeKind::TypeIdentifier, NodeKind::FieldIdentifier];
            let spans = self.tree.all_of(&names).map(|node| self.tree.span(node));
            spans.filter(|span| self.symbols().is_macro(&self.file.show(*span), span.start)).collect()
        })
    }

    /// In C++: does a use neither bind a reference to the pointer itself nor lend it in another way?
    fn is_plain_use_of(&self, used: &Use) -> bool {
        let tree = self.tree;
        let is_in_lambda = || tree.ancestors(used.node).any(|node| tree.kind(node) == NodeKind::LambdaExpression);
        match used.role {
            Role::Write | Role::ElementWrite | Role::Declaration => !is_in_lambda(),
            Role::Read => !is_in_lambda() && !self.hands_out(used) && !self.is_lent_at(used),
            Role::Argument => keeps_no_address(self, used.node),
            _ => false,
        }
    }

    /// The uses of one variable in the file.
    pub(super) fn uses_of(&self, named: &Named) -> Vec<&Use> {
        let all = self.file_uses();
        let range = self.range_of(named);
        let first = all.partition_point(|used| used.span.start < range.start);
        let inside = all.get(first..).unwrap_or_default().iter().take_while(|used| used.span.start < range.end);
        let same = |used: &&Use| {
            used.name == named.name
                && self.named(&used.name, used.span.end).is_none_or(|(other, _)| other.id == named.id)
        };
        inside.filter(same).collect()
    }

    /// Where it may be used: what a function declares is used nowhere else.
    pub(super) fn range_of(&self, named: &Named) -> Span {
        let function = named.id.header.is_none().then(|| self.function_of(named.id.declared_at)).flatten();
        function.map_or(Span::new(0, self.file.text.len()), |node| self.tree.span(node))
    }

    pub(super) fn is_null(&self, value: NodeId) -> bool {
        let tree = self.tree;
        tree.kind(value) == NodeKind::Null || self.file.bytes(tree.span(value)) == b"0"
    }

    /// Is it a null pointer, wherever it stands for a pointer: `NULL`, `(double *)0`?
    pub(super) fn is_null_pointer(&self, value: NodeId) -> bool {
        let tree = self.tree;
        let inner = match tree.kind(value) {
            NodeKind::ParenthesizedExpression => tree.named_children(value).next(),
            NodeKind::CastExpression => tree.child(value, Field::Value),
            _ => None,
        };
        match inner {
            Some(inner) => self.is_null_pointer(inner),
            None => {
                self.is_null(value)
                    && !self.symbols().macros_named("NULL", usize::MAX).iter().any(|it| !it.is_elsewhere)
            }
        }
    }

    /// What `name = value` assigns, and to nothing else, or `None` for any other change.
    pub(super) fn assigned(&self, used: &Use) -> Option<NodeId> {
        let tree = self.tree;
        let parent = tree.parent(used.node)?;
        let is_plain =
            tree.kind(parent) == NodeKind::AssignmentExpression && tree.operator(parent) == Some(NodeKind::Equal);
        tree.child(parent, Field::Right).filter(|_| is_plain && self.is_only_tested(parent))
    }

    /// Does nobody get the value of an expression, unless to compare it with null?
    fn is_only_tested(&self, expression: NodeId) -> bool {
        let tree = self.tree;
        let mut above = tree.ancestors(expression).skip_while(|node| {
            tree.kind(*node) == NodeKind::ParenthesizedExpression
                || tree.kind(*node) == NodeKind::BinaryExpression && self.is_comparison(*node)
        });
        above.next().is_some_and(|node| {
            matches!(
                tree.kind(node),
                NodeKind::ExpressionStatement
                    | NodeKind::UnaryExpression
                    | NodeKind::IfStatement
                    | NodeKind::ConditionClause
            )
        })
    }

    pub(super) fn initial_value(&self, used: &Use) -> Option<NodeId> {
        let tree = self.tree;
        // `(*rows)[3]` as well as `*row`.
        let is_part = |node: &NodeId| {
            matches!(
                tree.kind(*node),
                NodeKind::PointerDeclarator | NodeKind::ArrayDeclarator | NodeKind::ParenthesizedDeclarator
            )
        };
        let declarator = tree.ancestors(used.node).find(|node| !is_part(node))?;
        let value = tree.child(declarator, Field::Value);
        value.filter(|_| tree.kind(declarator) == NodeKind::InitDeclarator)
    }

    /// May a use make the address known to somebody who keeps it?
    pub(super) fn hands_out(&self, used: &Use) -> bool {
        let tree = self.tree;
        let is_followed = || dereferences(tree, used.node).0 > 0;
        if matches!(used.role, Role::Read | Role::ElementWrite) && is_followed() && self.may_lend_element(used.node) {
            return true;
        }
        // What is not followed to the element that it changes may be kept as well.
        if used.role == Role::ElementWrite && !is_followed() {
            return true;
        }
        let parent = tree.parent(used.node).map(|parent| (parent, tree.kind(parent)));
        match (used.role, parent) {
            (Role::Write | Role::ElementWrite | Role::Declaration, _) => false,
            (Role::Read, Some((parent, NodeKind::BinaryExpression))) => {
                !self.is_comparison(parent) && !self.is_moved_for_call(used)
            }
            (Role::Read, Some((parent, NodeKind::ParenthesizedExpression))) if self.is_condition(parent) => false,
            (Role::Read, Some((_, NodeKind::ConditionClause | NodeKind::DeleteExpression))) => false,
            // `i[a]` is `a[i]`.
            (Role::Read, Some((parent, NodeKind::SubscriptExpression))) => {
                tree.child(parent, Field::Argument) != Some(used.node) || self.leads_to_array(used, parent)
            }
            (Role::Read, Some((_, NodeKind::UnaryExpression | NodeKind::SizeofExpression))) => false,
            (Role::Read, Some((parent, NodeKind::PointerExpression))) => self.leads_to_array(used, parent),
            (Role::Argument, _) => !keeps_no_address(self, used.node) || self.is_unfollowed_argument(used),
            (Role::Address, _) => self.symbols().call_that_allocates_for(used.node).is_none(),
            _ => true,
        }
    }

    /// Is it part of an argument of which it is not known what it leads to?
    pub(in crate::semantics) fn is_unfollowed_argument(&self, used: &Use) -> bool {
        let tree = self.tree;
        let is_argument = |node: &NodeId| tree.parent(*node).is_some_and(|it| tree.kind(it) == NodeKind::ArgumentList);
        let mut nodes = std::iter::once(used.node).chain(tree.ancestors(used.node));
        nodes.find(is_argument).is_none_or(|argument| matches!(self.pointed(argument), Storage::Memory))
    }

    /// Is it part of `a + 3` or `(a - n)`, which is handed to a call that keeps no address?
    fn is_moved_for_call(&self, used: &Use) -> bool {
        let tree = self.tree;
        let mut above = tree.ancestors(used.node).skip_while(|node| match tree.kind(*node) {
            NodeKind::ParenthesizedExpression => true,
            NodeKind::BinaryExpression => {
                matches!(tree.operator(*node), Some(NodeKind::Plus | NodeKind::Minus))
            }
            _ => false,
        });
        let is_argument = above.next().is_some_and(|node| tree.kind(node) == NodeKind::ArgumentList);
        is_argument && keeps_no_address(self, used.node)
    }

    pub(super) fn is_condition(&self, node: NodeId) -> bool {
        self.tree.field(node) == Some(Field::Condition)
    }

    pub(super) fn is_comparison(&self, node: NodeId) -> bool {
        let operator = self.tree.operator(node);
        matches!(operator, Some(NodeKind::EqualEqual | NodeKind::ExclamationEqual))
    }

    /// Is what an access gives an array again, whose address may be handed on: a row, a member that is an array? `first` is the access of an
    /// element.
    pub(in crate::semantics) fn leads_to_array(&self, used: &Use, first: NodeId) -> bool {
        let tree = self.tree;
        let Some((_, variable)) = self.named(&used.name, used.span.end) else { return true };
        let (mut ty, mut node) = (variable.ty.dereferenced(), first);
        while let Some(parent) = tree.parent(node) {
            let is_next = tree.child(parent, Field::Argument) == Some(node);
            match (tree.kind(parent), &ty) {
                (NodeKind::ParenthesizedExpression, _) => {}
                (NodeKind::SubscriptExpression, DeclaredType::Array { .. }) if is_next => ty = ty.dereferenced(),
                (NodeKind::PointerExpression, DeclaredType::Array { .. })
                    if tree.operator(parent) == Some(NodeKind::Star) =>
                {
                    ty = ty.dereferenced();
                }
                (NodeKind::FieldExpression, DeclaredType::Record { .. }) if is_next => {
                    let member = Member::of(tree, parent).and_then(Member::name);
                    let name = member.map(|member| self.file.show(tree.span(member)).into_owned());
                    let member = name.and_then(|name| self.symbols().member_type(&ty, &name, used.span.end));
                    // What is not known may be an array.
                    let Some(member) = member else { return true };
                    ty = member;
                }
                _ => break,
            }
            node = parent;
        }
        matches!(ty, DeclaredType::Array { .. })
    }

    /// Does memory that host code accesses differ from what a variable leads to?
    pub(crate) fn is_apart(&self, accessed: &Storage, named: &Named, owner: Owner) -> bool {
        let is_array = matches!(owner.origin, Origin::AutomaticArray | Origin::StaticArray);
        match accessed {
            Storage::Memory => !owner.is_shared,
            Storage::Variable(other) if other.id == named.id => !is_array,
            Storage::Behind(other) if other.id == named.id => false,
            Storage::Behind(other) => owner.is_apart_from(self.owner(other)),
            // A variable of this call was not there when it was called, and nobody else's pointer leads to one that keeps its address.
            Storage::Variable(other) => {
                is_array
                    || matches!(owner.origin, Origin::Allocation)
                    || owner.origin == Origin::Parameter && self.is_of_this_call(other)
                    || !self.is_array(other)
                        && (self.is_alias_free(other)
                            || self.is_lent_or_handed(other)
                            || self.holds_other_numbers(other, named)
                            || self.selects_other_numbers(other, named)
                            || self.is_made_of_others(other, named))
                    || self.is_array(other) && self.owner(other).is_apart_from(owner)
            }
        }
    }

    /// May a write of host code change the pointer itself that a variable is, since others than its name reach it? Through pointers to
    /// characters any object may be written, and so by functions that copy bytes (C17, section 6.5); elements that are assigned as
    /// other numbers are none.
    pub(crate) fn may_move(&self, touch: &Touch, pointer: &Named) -> bool {
        let Some((_, variable)) = self.named(&pointer.name, pointer.at) else { return true };
        variable.ty.is_pointer()
            && self.may_write_pointers(touch)
            && !self.is_own_pointer(&variable, pointer, &self.uses_of(pointer))
            && !self.is_alias_free(pointer)
    }

    /// May a write store in an object that is a pointer, not by its name?
    pub(crate) fn may_write_pointers(&self, touch: &Touch) -> bool {
        let Storage::Behind(by) = &touch.storage else { return touch.writes && touch.storage == Storage::Memory };
        let owner = self.owner(by);
        let is_own = matches!(owner.origin, Origin::Allocation | Origin::AutomaticArray | Origin::StaticArray);
        let is_number = || {
            let ty = self.named(&by.name, by.at).map(|(_, variable)| variable.ty.clone());
            ty.is_some_and(|ty| !Class::behind(&ty).may_alias(Class::Pointer))
        };
        let is_other = || self.compilation.strict_aliasing && self.is_assignment(touch.span) && is_number();
        touch.writes && (!is_own || owner.is_shared) && !is_other()
    }

    /// Does an assignment or increment write what stands there?
    fn is_assignment(&self, place: Span) -> bool {
        let tree = self.tree;
        let node = tree.covering(place);
        let mut outwards = std::iter::once(node).chain(tree.ancestors(node));
        let end = outwards.find(|node| {
            matches!(
                tree.kind(*node),
                NodeKind::AssignmentExpression
                    | NodeKind::UpdateExpression
                    | NodeKind::CallExpression
                    | NodeKind::ExpressionStatement
            )
        });
        end.is_some_and(|it| matches!(tree.kind(it), NodeKind::AssignmentExpression | NodeKind::UpdateExpression))
    }

    /// Is the one a number by its declaration, and may what the pointer leads to only hold numbers of another class (C17, section 6.5)?
    fn holds_other_numbers(&self, number: &Named, pointer: &Named) -> bool {
        let at = number.at;
        let [number, pointer] =
            [number, pointer].map(|it| self.named(&it.name, it.at).map(|(_, variable)| variable.ty.clone()));
        let (Some(number), Some(pointer)) = (number, pointer) else { return false };
        number.is_scalar() && self.leads_to_others(&pointer, &number, at)
    }

    /// Is a variable a structure in which no number is of a class that the pointer leads to?
    fn is_made_of_others(&self, object: &Named, pointer: &Named) -> bool {
        let [ty, pointer] = [object, pointer].map(|it| self.declared_type(&it.name, it.at));
        let (Some(ty @ DeclaredType::Record { .. }), Some(pointer)) = (ty, pointer) else { return false };
        let leads_to_number = pointer.is_pointer()
            && pointer.dereferenced().is_scalar()
            && !Class::behind(&pointer).may_alias(Class::Pointer);
        let numbers = self.symbols().numbers_in(&ty, object.at).filter(|_| leads_to_number);
        numbers.is_some_and(|all| all.iter().all(|number| self.leads_to_others(&pointer, number, object.at)))
    }

    /// Is an access of a variable that is a structure one of a member that is a number, and of no class that the pointer leads to?
    fn selects_other_numbers(&self, object: &Named, pointer: &Named) -> bool {
        let tree = self.tree;
        let Some((_, variable)) = self.named(&object.name, object.at) else { return false };
        let name = tree.covering(Span::new(object.at, object.at + object.name.len()));
        let is_name =
            tree.kind(name) == NodeKind::Identifier && self.file.bytes(tree.span(name)) == object.name.as_bytes();
        let (mut ty, mut node) = (variable.ty.clone(), name);
        while let Some(parent) = tree.parent(node).filter(|_| is_name) {
            let field = tree.field(node);
            match tree.kind(parent) {
                NodeKind::SubscriptExpression if field == Some(Field::Argument) => {
                    ty = if matches!(ty, DeclaredType::Array { .. }) {
                        ty.dereferenced()
                    } else {
                        DeclaredType::Unknown
                    };
                }
                NodeKind::FieldExpression if field == Some(Field::Argument) => {
                    let member = Member::of(tree, parent).filter(|member| !member.is_behind_pointer());
                    let member = member.and_then(|_| tree.child(parent, Field::Field));
                    // Members of a union are seen as one another.
                    let member = member.filter(|_| self.symbols().is_structure(&ty, object.at));
                    let member = member.map(|member| self.file.show(tree.span(member)));
                    let found = member.and_then(|name| self.symbols().member_type(&ty, &name, object.at));
                    ty = found.unwrap_or(DeclaredType::Unknown);
                }
                NodeKind::PointerExpression => return false,
                _ => break,
            }
            node = parent;
        }
        let pointer = self.named(&pointer.name, pointer.at).map(|(_, variable)| variable.ty.clone());
        node != name && ty.is_scalar() && pointer.is_some_and(|pointer| self.leads_to_others(&pointer, &ty, object.at))
    }

    /// Does a pointer lead to numbers, or to plain structures of numbers, none of which is ever accessed as this number?
    fn leads_to_others(&self, pointer: &DeclaredType, number: &DeclaredType, at: usize) -> bool {
        self.compilation.strict_aliasing && pointer.is_pointer() && {
            let mut element = pointer.dereferenced();
            while matches!(element, DeclaredType::Array { .. }) {
                element = element.dereferenced();
            }
            let elements = self.symbols().numbers_in(&element, at);
            elements.is_some_and(|all| all.iter().all(|own| are_never_one(own, number)))
        }
    }

    fn is_array(&self, named: &Named) -> bool {
        self.named(&named.name, named.at).is_some_and(|(_, variable)| matches!(variable.ty, DeclaredType::Array { .. }))
    }

    fn is_of_this_call(&self, named: &Named) -> bool {
        let found = self.named(&named.name, named.at);
        found.is_some_and(|(_, variable)| {
            // A class may keep the address that its copy is given.
            let is_plain = |ty| self.symbols().is_plain_record(ty, named.at);
            let is_copied = variable.scope == Scope::Parameter && variable.ty.class().is_none_or(is_plain);
            (is_copied || variable.scope == Scope::Local) && !variable.has_static_storage()
        })
    }

    /// The part of the file in which a variable is visible as it is named: the function around a place.
    pub(crate) fn function_of(&self, at: Span) -> Option<NodeId> {
        let node = self.tree.covering(at);
        let around = std::iter::once(node).chain(self.tree.ancestors(node));
        around.into_iter().find(|node| self.tree.kind(*node) == NodeKind::FunctionDefinition)
    }
}

/// Are two numbers of types by which one object is never accessed (C17, section 6.5)?
fn are_never_one(one: &DeclaredType, other: &DeclaredType) -> bool {
    let (classes, numbers) = ([Class::of(one), Class::of(other)], [one.number(), other.number()]);
    let bits = numbers.map(|number| number.and_then(|number| number.bits()));
    let differ_in_size = matches!(bits, [Some(one), Some(other)] if one != other);
    !classes[0].may_alias(classes[1])
        || classes[0] == classes[1] && matches!(classes[0], Class::Integer | Class::Floating) && differ_in_size
}
