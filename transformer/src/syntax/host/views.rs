//! Typed views of the nodes that passes ask for most: what a `for` statement, a call or a subscript consists of.
//!
//! A view is made of a node by `of`, which returns `None` for a node of another kind. Its parts are `Option`s, since a text may be
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

    /// `-operand`, `!operand`, `~operand`.
    Unary of UnaryExpression {
        /// What the operator is applied to.
        operand: Argument,
    }

    /// `operand++`, `--operand`.
    Update of UpdateExpression {
        /// What is counted up or down.
        operand: Argument,
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

    /// `goto label;`
    Goto of GotoStatement {
        /// The name of the statement that control goes to.
        label: Label,
    }

    /// `label: statement`
    Labelled of LabeledStatement {
        /// The name.
        label: Label,
    }

    /// `new (placement) type[length]`.
    New of NewExpression {
        /// The arguments for `operator new`.
        placement: Placement,
        /// The length of an array.
        declarator: Declarator,
    }

    /// `const int *a` in the parameters of a function.
    Parameter of ParameterDeclaration {
        /// The type without pointers and arrays.
        ty: Type,
        /// The name with its pointers and arrays.
        declarator: Declarator,
    }

    /// `const int *` in a cast or a `sizeof`.
    TypeName of TypeDescriptor {
        /// The type without qualifiers, pointers and arrays.
        ty: Type,
    }

    /// `a[3]` in a declaration.
    ArrayDeclarator of ArrayDeclarator {
        /// What is declared to be an array.
        declarator: Declarator,
    }

    /// `*a` in a declaration.
    PointerDeclarator of PointerDeclarator {
        /// What is declared to be a pointer.
        declarator: Declarator,
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

/// A statement that decides which others are executed, or how often: `for`, `while`, `do`, `if`, `switch`, `try`.
#[derive(Clone, Copy, Debug)]
pub struct Control<'t> {
    tree: &'t HostTree,
    /// The whole of it.
    pub node: NodeId,
}

impl<'t> Control<'t> {
    /// Any statement: one that decides about no other has none of the parts.
    #[must_use]
    pub fn at(tree: &'t HostTree, node: NodeId) -> Self {
        Self { tree, node }
    }

    /// The initialisation of a `for`.
    #[must_use]
    pub fn initializer(self) -> Option<NodeId> {
        self.tree.child(self.node, Field::Initializer)
    }

    /// What decides, which a `for` may leave out.
    #[must_use]
    pub fn condition(self) -> Option<NodeId> {
        self.tree.child(self.node, Field::Condition)
    }

    /// What a `for` does behind each iteration.
    #[must_use]
    pub fn update(self) -> Option<NodeId> {
        self.tree.child(self.node, Field::Update)
    }

    /// What a loop repeats, or the block of a `switch` or `try`.
    #[must_use]
    pub fn body(self) -> Option<NodeId> {
        self.tree.child(self.node, Field::Body)
    }

    /// The body, or both statements of an `if`.
    pub fn branches(self) -> impl Iterator<Item = NodeId> {
        let Self { tree, node } = self;
        let parts = [Field::Body, Field::Consequence, Field::Alternative].map(|part| tree.child(node, part));
        parts.into_iter().flatten().map(move |branch| {
            let is_else = tree.kind(branch) == NodeKind::ElseClause;
            tree.named_children(branch).last().filter(|_| is_else).unwrap_or(branch)
        })
    }
}

impl<'t> Assignment<'t> {
    /// The assignment that changes `target`, if it stands on the left side of one.
    #[must_use]
    pub fn to(tree: &'t HostTree, target: NodeId) -> Option<Self> {
        Self::of(tree, tree.parent(target)?).filter(|assignment| assignment.target() == Some(target))
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
    /// The type with its qualifiers, storage classes and attributes.
    pub fn specifiers(self) -> impl Iterator<Item = NodeId> + 't {
        self.tree.named_children(self.node).filter(move |child| self.tree.field(*child) != Some(Field::Declarator))
    }

    /// What is declared, with pointers, arrays and initial values.
    pub fn declarators(self) -> impl Iterator<Item = NodeId> + 't {
        self.tree.children(self.node).filter(move |child| self.tree.field(*child) == Some(Field::Declarator))
    }
}

impl<'t> Function<'t> {
    /// The parameters, each with its type. Also `void` and `...`.
    pub fn parameters(self) -> impl Iterator<Item = NodeId> + 't {
        let tree = self.tree;
        let parts = self.declarator().into_iter().flat_map(move |declarator| tree.descendants(declarator));
        let list = parts.into_iter().find(|part| tree.kind(*part) == NodeKind::ParameterList);
        list.into_iter().flat_map(move |list| tree.named_children(list))
    }
}

impl New<'_> {
    /// How many elements an array gets.
    #[must_use]
    pub fn length(self) -> Option<NodeId> {
        self.tree.child(self.declarator()?, Field::Length)
    }
}

impl Subscript<'_> {
    /// The index. Returns `None` if there are several, which only an operator of a class takes.
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
    /// `Dot`, `MinusGreater`.
    #[must_use]
    pub fn operator(self) -> Option<NodeKind> {
        self.tree.operator(self.node)
    }

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

    /// Is it `&operand`?
    #[must_use]
    pub fn is_address(self) -> bool {
        self.tree.operator(self.node) == Some(NodeKind::Ampersand)
    }
}

impl Unary<'_> {
    /// `Minus`, `Exclamation`.
    #[must_use]
    pub fn operator(self) -> Option<NodeKind> {
        self.tree.operator(self.node)
    }
}

impl Update<'_> {
    /// `PlusPlus`, `MinusMinus`.
    #[must_use]
    pub fn operator(self) -> Option<NodeKind> {
        self.tree.operator(self.node)
    }
}
