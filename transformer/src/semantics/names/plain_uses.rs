//! Uses in C++ that call nothing although the type is no number: members of plain structures, enumerations.

use crate::semantics::Program;
use crate::semantics::names::kinds::{Kind, is_builtin};
use crate::semantics::symbols::{DeclaredType, NameKind};
use crate::semantics::uses::{Role, Use};
use crate::syntax::{Field, Member, NodeId, NodeKind};

impl Program<'_> {
    /// Is every operation on the way from a name to a number or a plain copy the language's own?
    pub(crate) fn is_plain_use(&self, used: &Use, kind: &Kind) -> bool {
        if matches!(kind, Kind::Scalar { .. }) {
            return self.type_parameter_of(used).is_none() && !self.declares_operators();
        }
        let at = used.span.start;
        let variable = self.symbols().lookup(&used.name, at).filter(|variable| variable.kind == NameKind::Variable);
        let Some(variable) = variable.filter(|_| used.role != Role::MethodCall) else { return false };
        if used.role == Role::Declaration {
            return self.is_plain_type(&variable.ty, at);
        }
        self.reached(used.node, variable.ty.clone(), at).is_some_and(|(node, ty)| self.ends_plainly(node, &ty, at))
    }

    /// The template's parameter that a variable's type is or leads to: in the template itself all operations on it have that
    /// type, or one that pointers, arrays and arithmetic make of it.
    pub(crate) fn type_parameter_of(&self, used: &Use) -> Option<String> {
        let variable = self.symbols().lookup(&used.name, used.span.start)?;
        let ty = match variable.ty.clone() {
            _ if used.role == Role::MethodCall => None,
            ty if variable.kind == NameKind::Variable => ty.as_type_parameter().map(str::to_owned),
            _ => None,
        };
        ty.filter(|_| !self.takes_member(used.node))
    }

    /// A template's parameter that a conversion or cast names.
    pub(crate) fn type_parameter_in(&self, text: &str, at: usize) -> Option<String> {
        let mut words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | ':'));
        let is_parameter = |word: &&str| {
            let found = self.symbols().lookup(word, at);
            found.is_some_and(|found| {
                found.kind == NameKind::TemplateParameter && found.ty.as_type_parameter().is_some()
            })
        };
        words.find(is_parameter).map(str::to_owned)
    }
    /// Is a member taken somewhere on the way out of a name? Numbers have none.
    fn takes_member(&self, name: NodeId) -> bool {
        let tree = self.tree;
        let postfix = |node: &NodeId| {
            matches!(
                tree.kind(*node),
                NodeKind::SubscriptExpression
                    | NodeKind::ParenthesizedExpression
                    | NodeKind::PointerExpression
                    | NodeKind::FieldExpression
            )
        };
        let mut around = tree.ancestors(name).take_while(postfix);
        around.any(|node| tree.kind(node) == NodeKind::FieldExpression)
    }

    /// Follows subscripts, `*` and members from a name to the last expression of them, with its type.
    fn reached(&self, name: NodeId, ty: DeclaredType, at: usize) -> Option<(NodeId, DeclaredType)> {
        let tree = self.tree;
        let (mut node, mut ty) = (name, referred(ty));
        loop {
            let Some(parent) = tree.parent(node) else { return Some((node, ty)) };
            let is_argument = tree.field(node) == Some(Field::Argument);
            let operator = tree.operator(parent);
            match tree.kind(parent) {
                NodeKind::ParenthesizedExpression => {}
                NodeKind::SubscriptExpression if is_argument => ty = pointed(&ty)?,
                NodeKind::PointerExpression if operator == Some(NodeKind::Star) => ty = pointed(&ty)?,
                NodeKind::FieldExpression if is_argument => {
                    let through_pointer = Member::of(tree, parent).is_some_and(Member::is_behind_pointer);
                    let record = if through_pointer { pointed(&ty)? } else { ty };
                    let field = tree.child(parent, Field::Field)?;
                    let field = self.file.show(tree.span(field)).into_owned();
                    if !self.symbols().is_plain_record(&record, at) {
                        return None;
                    }
                    ty = self.symbols().member_type(&record, &field, at)?;
                }
                _ => return Some((node, ty)),
            }
            node = parent;
        }
    }

    /// Is what is done with the value the language's own operation: on a number, or a copy of a plain structure?
    fn ends_plainly(&self, node: NodeId, ty: &DeclaredType, at: usize) -> bool {
        if is_number(ty) || ty.number().is_some() && !ty.is_volatile() && !self.declares_operators() {
            return true;
        }
        let tree = self.tree;
        let Some(parent) = tree.parent(node) else { return false };
        let operator = tree.operator(parent);
        let copied = match tree.kind(parent) {
            NodeKind::InitDeclarator | NodeKind::ExpressionStatement => true,
            NodeKind::PointerExpression => operator == Some(NodeKind::Ampersand),
            NodeKind::AssignmentExpression => operator == Some(NodeKind::Equal),
            _ => false,
        };
        copied && self.symbols().is_plain_record(ty, at) && !self.declares_operators()
    }

    fn is_plain_type(&self, ty: &DeclaredType, at: usize) -> bool {
        match ty {
            DeclaredType::Pointer { pointee, .. } => self.is_plain_type(pointee, at),
            DeclaredType::Array { element, .. } => self.is_plain_type(element, at),
            DeclaredType::Reference { to } => self.is_plain_type(to, at),
            DeclaredType::Record { .. } => self.symbols().is_plain_record(ty, at),
            _ => is_number(ty),
        }
    }
}

fn is_number(ty: &DeclaredType) -> bool {
    is_builtin(ty) && !ty.is_volatile()
}

/// What a subscript or `*` gives of a pointer or an array, and never of anything that may have an operator for it.
fn pointed(ty: &DeclaredType) -> Option<DeclaredType> {
    matches!(ty, DeclaredType::Pointer { .. } | DeclaredType::Array { .. } | DeclaredType::ArrayParameter { .. })
        .then(|| referred(ty.dereferenced()))
}

fn referred(ty: DeclaredType) -> DeclaredType {
    match ty {
        DeclaredType::Reference { to } => *to,
        other => other,
    }
}
