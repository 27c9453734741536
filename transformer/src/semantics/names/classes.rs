//! Classes whose operators are in sight and do nothing but compute: their objects may stand in a kernel as numbers do.
//!
//! Such a class holds numbers, arrays of them and other such classes, but no pointer. Its operators and constructors write the
//! object that they assign or make, and nothing else. What is only read stays as it is, and what is written stands where the
//! text shows a write.

use crate::semantics::Program;
use crate::semantics::symbols::{ClassFunctions, DeclaredType, NameKind, Place};
use crate::semantics::uses::{Role, Use};
use crate::source::{Language, Span};
use crate::syntax::{Call, Field, NodeId, NodeKind};

impl Program<'_> {
    /// Is the variable an object of such a class, or does it lead to one, and is what is done with it followed?
    pub(crate) fn is_value_use(&self, used: &Use) -> bool {
        let Some(found) = self.symbols().lookup(&used.name, used.span.start) else { return false };
        let Some(class) = found.ty.class().filter(|_| found.kind == NameKind::Variable) else { return false };
        self.is_value_class(class, used.span.start) && (used.role != Role::MethodCall || self.calls_const(used, class))
    }

    /// Is a name that of such a class?
    pub(super) fn is_value_class_named(&self, name: &str, at: usize) -> bool {
        let found = self.symbols().lookup(name, at).filter(|found| found.kind == NameKind::Type);
        found.is_some_and(|found| matches!(found.ty, DeclaredType::Record { .. }) && self.is_value_class(&found.ty, at))
    }

    fn is_value_class(&self, class: &DeclaredType, at: usize) -> bool {
        let DeclaredType::Record { name, .. } = class else { return false };
        if self.tree.language() != Language::Cpp {
            return false;
        }
        if let Some(known) = self.value_classes.borrow().get(name) {
            return *known;
        }
        let place = Place { header: None, span: Span::new(at, at) };
        let effects = self.calls().class_effects(self.symbols(), class, place);
        let is_harmless = effects.known && effects.openmp.is_none() && !effects.writes_globals && !effects.output;
        let is_value = is_harmless
            && self.class_parts(class, at).is_some_and(|parts| {
                parts
                    .iter()
                    .all(|part| !part.has_pointers && part.bodies.iter().all(|body| self.is_value_function(*body)))
            });
        self.value_classes.borrow_mut().insert(name.clone(), is_value);
        is_value
    }

    /// The functions of a class and of the classes of its members.
    fn class_parts(&self, class: &DeclaredType, at: usize) -> Option<Vec<ClassFunctions>> {
        let mut open = vec![class.clone()];
        let mut seen: Vec<DeclaredType> = Vec::new();
        let mut parts = Vec::new();
        while let Some(class) = open.pop() {
            if seen.contains(&class) {
                continue;
            }
            let part = self.symbols().class_functions(&class, at)?;
            open.extend(part.classes.iter().cloned());
            parts.push(part);
            seen.push(class);
        }
        Some(parts)
    }

    /// Does a function that the text may call without naming it write its object only where it assigns or makes one?
    fn is_value_function(&self, (header, node): (Option<usize>, NodeId)) -> bool {
        let Some((file, tree)) = self.symbols().source_of(header) else { return false };
        let body = tree.child(node, Field::Body).map_or(tree.span(node).end, |body| tree.span(body).start);
        let head = file.show(Span::new(tree.span(node).start, body)).into_owned();
        if self.untrusted_definition(&file.show(tree.span(node))).is_some() || head.contains("mutable") {
            return false;
        }
        // What is constant for the function must stay so.
        let casts_away = |inner: NodeId| {
            let ty = tree.child(inner, Field::Type).filter(|_| tree.kind(inner) == NodeKind::CastExpression);
            ty.is_some_and(|ty| file.bytes(tree.span(ty)).iter().any(|byte| matches!(byte, b'&' | b'*')))
        };
        if tree.descendants(node).any(casts_away) {
            return false;
        }
        if head.contains("= default") || head.contains("= delete") {
            return true;
        }
        let Some((result, (name, parameters))) =
            head.split_once("operator").and_then(|(result, rest)| Some((result, operator_of(rest)?)))
        else {
            // A constructor must not write what it copies; other functions are called by their names.
            return head.split_once('(').is_none_or(|(_, parameters)| hands_values(parameters));
        };
        let is_in_class = tree.ancestors(node).any(|above| tree.kind(above) == NodeKind::FieldDeclarationList);
        let is_member = (is_in_class && !head.contains("friend")) || result.trim_end().ends_with("::");
        let is_comparison = matches!(name, "==" | "!=" | "<=" | ">=");
        if matches!(name, "++" | "--") || (name.ends_with('=') && !is_comparison) {
            // A member has its left operand, which is written where the text says so, before the parameters.
            let others = if is_member { parameters } else { parameters.split_once(',').map_or("", |(_, rest)| rest) };
            return hands_values(others);
        }
        let has_call = tree.descendants(node).any(|inner| tree.kind(inner) == NodeKind::CallExpression);
        hands_values(parameters)
            && !self.calls().writes_members(self.symbols(), (header, node))
            && (!is_member || is_const(parameters) || (name == "[]" && !has_call))
            && !result.contains('*')
            && (name == "*" || !name.contains('*'))
            && (name == "[]" || !result.contains('&'))
    }

    /// Are the functions that a use calls by their name `const`, and is what they return no way into the object?
    fn calls_const(&self, used: &Use, class: &DeclaredType) -> bool {
        let tree = self.tree;
        let is_called =
            |node: &NodeId| tree.kind(*node) == NodeKind::FieldExpression && Call::naming(tree, *node).is_some();
        let field = tree.ancestors(used.node).find(is_called).and_then(|node| tree.child(node, Field::Field));
        let Some(field) = field else { return false };
        let name = self.file.show(tree.span(field)).into_owned();
        let Some(parts) = self.class_parts(class, used.span.start) else { return false };
        let mut found = 0_usize;
        let all = parts.iter().flat_map(|part| &part.bodies).all(|(header, node)| {
            let Some((file, tree)) = self.symbols().source_of(*header) else { return false };
            let body = tree.child(*node, Field::Body).map_or(tree.span(*node).end, |body| tree.span(body).start);
            let head = file.show(Span::new(tree.span(*node).start, body)).into_owned();
            let Some((before, parameters)) = head.split_once('(') else { return true };
            if before.split(|c: char| !c.is_alphanumeric() && c != '_').next_back() != Some(&name) {
                return true;
            }
            found += 1;
            !self.calls().writes_members(self.symbols(), (*header, *node))
                && is_const(parameters)
                && hands_values(parameters)
                && !before.contains(['*', '&'])
        });
        all && found > 0
    }
}

/// The operator behind the word, and from its parameters on.
fn operator_of(rest: &str) -> Option<(&str, &str)> {
    let rest = rest.trim_start();
    if let Some(behind) = rest.strip_prefix("()") {
        return Some(("()", behind));
    }
    let (name, parameters) = rest.split_once('(')?;
    Some((name.trim(), parameters))
}

/// Are all parameters values, or references to constants?
fn hands_values(parameters: &str) -> bool {
    let list = parameters.split_once(')').map_or(parameters, |(list, _)| list);
    let is_value =
        |parameter: &str| !parameter.contains('*') && (!parameter.contains('&') || parameter.contains("const"));
    list.split(',').all(is_value)
}

/// Is `const` written behind the parameters?
fn is_const(parameters: &str) -> bool {
    parameters.split_once(')').is_some_and(|(_, behind)| behind.trim_start().starts_with("const"))
}
