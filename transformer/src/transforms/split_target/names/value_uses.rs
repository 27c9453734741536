//! Uses of a number of which nothing but the value counts: no address, no reference, and nothing that is chosen by its type's
//! qualifiers.

use crate::analysis::calls::is_pure;
use crate::source::Language;
use crate::syntax::NodeId;
use crate::transforms::split_target::names::Names;

impl Names<'_> {
    /// Is a name that stands for a number an operand of arithmetic, or copied into a variable of a named type?
    pub(in crate::transforms::split_target) fn is_value_alone(&self, name: NodeId) -> bool {
        let tree = self.cx.tree;
        let mut node = name;
        while let Some(parent) = tree.parent(node) {
            match tree.kind(parent) {
                "parenthesized_expression"
                | "binary_expression"
                | "unary_expression"
                | "conditional_expression"
                | "cast_expression" => node = parent,
                "assignment_expression" => return tree.child(parent, "right") == Some(node),
                "init_declarator" => return self.is_copied_by(parent),
                "argument_list" => return self.is_copied_to(parent),
                "subscript_expression" | "subscript_argument_list" | "sizeof_expression" => return true,
                kind => return kind == "condition_clause" || kind.ends_with("_statement") && kind != "case_statement",
            }
        }
        false
    }

    /// Does a declarator make a number of a named type from its initialiser?
    fn is_copied_by(&self, declarator: NodeId) -> bool {
        let tree = self.cx.tree;
        let name = tree.child(declarator, "declarator").map(|name| tree.kind(name));
        let declaration = tree.parent(declarator);
        let ty = declaration.and_then(|declaration| tree.child(declaration, "type")).map(|ty| tree.kind(ty));
        name == Some("identifier") && matches!(ty, Some("primitive_type" | "sized_type_specifier" | "type_identifier"))
    }

    /// Does a call copy a number that is its argument, whichever function its name may mean? C has one of each name.
    fn is_copied_to(&self, arguments: NodeId) -> bool {
        let tree = self.cx.tree;
        let call = tree.parent(arguments).filter(|call| tree.kind(*call) == "call_expression");
        let Some(function) = call.and_then(|call| tree.child(call, "function")) else { return false };
        let span = tree.span(function);
        let name = self.cx.file.show(span);
        match self.symbols.macro_definition(&name, span.start) {
            Some(_) => self.expansion(&name, span.start).flatten().is_some(),
            None if tree.language() == Language::C => tree.kind(function) == "identifier",
            None => is_pure(&name) && self.symbols.calls_library_in(None, &name, span.start),
        }
    }
}
