//! Typed views of the nodes that passes ask for most: what a `for` statement, a call or a subscript consists of.
//!
//! A view is made of a node by `of`, which gives nothing for a node of another kind. Its parts are `Option`s, since a text may be
//! incomplete.

use super::{Field, HostTree, NodeId, NodeKind};

/// Makes a view of each kind of node, with a method for each part.
macro_rules! views {
    ($($(#[$about:meta])* $view:ident of $kind:ident { $($(#[$part_about:meta])* $part:ident: $field:ident,)* })*) => { $(
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $view<'t> {
            tree: &'t HostTree,
            /// The whole of it.
            pub node: NodeId,
        }

        impl<'t> $view<'t> {
            /// A node, if it is one of this kind.
            #[must_use]
            pub fn of(tree: &'t HostTree, node: NodeId) -> Option<Self> {
                (tree.kind(node) == NodeKind::$kind).then_some(Self { tree, node })
            }

            $($(#[$part_about])*
            #[must_use]
            pub fn $part(self) -> Option<NodeId> {
                self.tree.child(self.node, Field::$field)
            })*
        }
    )* };
}

views! {
    /// `target = value`, `target += value`.
    Assignment of AssignmentExpression {
        /// What is assigned to.
        target: Left,
        /// What is assigned, or what the target is changed by.
        value: Right,
    }

    /// `left * right`, `left < right`.
    Binary of BinaryExpression {
        /// The operand before the operator.
        left: Left,
        /// The operand behind it.
        right: Right,
    }

    /// `function(arguments)`: a call, or what looks like one, a conversion or the use of a macro.
    Call of CallExpression {
        /// What is called.
        function: Function,
        /// The list of what it is called with.
        list: Arguments,
    }

    /// `(type)value`.
    Cast of CastExpression {
        /// The type with its brackets left out.
        ty: Type,
        /// What is converted.
        value: Value,
    }

    /// `condition ? first : second`.
    Conditional of ConditionalExpression {
        /// What decides.
        condition: Condition,
        /// The value where it holds.
        consequence: Consequence,
        /// The value where it does not.
        alternative: Alternative,
    }

    /// `int *a, b = 3;` within a block or outside of functions.
    Declaration of Declaration {
        /// The type without pointers and arrays.
        ty: Type,
    }

    /// `a[i]`.
    Subscript of SubscriptExpression {
        /// What the subscript stands behind: the array, or the pointer to its first element.
        base: Argument,
    }

    /// `object.name`, `pointer->name`.
    Member of FieldExpression {
        /// What the member is of.
        object: Argument,
        /// The name of the member.
        name: Field,
    }

    /// `*operand`, `&operand`.
    Pointer of PointerExpression {
        /// What is followed, or whose address is taken.
        operand: Argument,
    }

    /// `for (initializer; condition; update) body`.
    For of ForStatement {
        /// A declaration or an expression.
        initializer: Initializer,
        /// What is asked before each iteration.
        condition: Condition,
        /// What is done behind each iteration.
        update: Update,
        /// What is repeated.
        body: Body,
    }

    /// `if (condition) consequence else alternative`.
    If of IfStatement {
        /// The condition with its parentheses.
        condition: Condition,
        /// What happens where it holds.
        consequence: Consequence,
        /// The `else` with its statement.
        alternative: Alternative,
    }

    /// `int f(int a) { .. }`.
    Function of FunctionDefinition {
        /// The name with the parameters.
        declarator: Declarator,
        /// The block.
        body: Body,
    }

    /// `a[3] = value` in a declaration.
    Initialised of InitDeclarator {
        /// What is declared.
        declarator: Declarator,
        /// What it begins with.
        value: Value,
    }
}

impl Assignment<'_> {
    /// `Equal`, `PlusEqual`.
    #[must_use]
    pub fn operator(self) -> Option<NodeKind> {
        self.tree.operator(self.node)
    }

    /// Is it `=`, which does not read what it assigns to?
    #[must_use]
    pub fn is_plain(self) -> bool {
        self.operator() == Some(NodeKind::Equal)
    }
}

impl Binary<'_> {
    /// `Plus`, `Less`, `AmpersandAmpersand`.
    #[must_use]
    pub fn operator(self) -> Option<NodeKind> {
        self.tree.operator(self.node)
    }

    /// The operands that are there.
    pub fn operands(self) -> impl Iterator<Item = NodeId> {
        [self.left(), self.right()].into_iter().flatten()
    }
}

impl<'t> Call<'t> {
    /// The nearest call that a node is a part of.
    #[must_use]
    pub fn around(tree: &'t HostTree, node: NodeId) -> Option<Self> {
        tree.ancestors(node).find_map(|above| Self::of(tree, above))
    }

    /// The call of what a node names.
    #[must_use]
    pub fn naming(tree: &'t HostTree, function: NodeId) -> Option<Self> {
        let is_function = tree.field(function) == Some(Field::Function);
        Self::of(tree, tree.parent(function)?).filter(|_| is_function)
    }

    /// What it is called with.
    pub fn arguments(self) -> impl Iterator<Item = NodeId> + 't {
        self.list().into_iter().flat_map(move |list| self.tree.named_children(list))
    }
}

impl<'t> Declaration<'t> {
    /// What is declared, with pointers, arrays and initial values.
    pub fn declarators(self) -> impl Iterator<Item = NodeId> + 't {
        self.tree.children(self.node).filter(move |child| self.tree.field(*child) == Some(Field::Declarator))
    }
}

impl Subscript<'_> {
    /// The index. `None` if there are several, which only an operator of a class takes.
    #[must_use]
    pub fn index(self) -> Option<NodeId> {
        if let Some(index) = self.tree.child(self.node, Field::Index) {
            return Some(index);
        }
        let mut indices = self.tree.named_children(self.tree.child(self.node, Field::Indices)?);
        let first = indices.next()?;
        indices.next().is_none().then_some(first)
    }
}

impl Member<'_> {
    /// Is it `pointer->name`?
    #[must_use]
    pub fn is_behind_pointer(self) -> bool {
        self.tree.children(self.node).any(|child| self.tree.kind(child) == NodeKind::MinusGreater)
    }
}

impl Pointer<'_> {
    /// Is it `*operand`, and not `&operand`?
    #[must_use]
    pub fn is_followed(self) -> bool {
        self.tree.operator(self.node) == Some(NodeKind::Star)
    }
}
