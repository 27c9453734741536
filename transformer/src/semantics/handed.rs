//! What parameters lead to, told by the calls of their function where all of these are in sight.

use crate::semantics::effects::Named;
use crate::semantics::symbols::{NameKind, Scope};
use crate::semantics::{Origin, Program};
use crate::source::{Language, Span, words};
use crate::syntax::{Call, Cast, Field, NodeId, NodeKind};

/// How many functions are followed that hand on what they were handed.
const DEEPEST: usize = 4;

impl Program<'_> {
    /// Do two parameters that nothing sets lead to different storage in every call? Their function is the file's own, nothing but calls
    /// in sight names it, and each of these hands over two variables that are known to lead to different storage.
    pub(crate) fn never_meet_by_calls(&self, one: &Named, other: &Named) -> bool {
        self.are_handed_apart(one, other, DEEPEST)
    }

    fn are_handed_apart(&self, one: &Named, other: &Named, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1).filter(|_| one.id != other.id) else { return false };
        let are_parameters = [one, other].iter().all(|named| self.owner(named).origin == Origin::Parameter);
        let function = self.function_of(one.id.declared_at).filter(|_| are_parameters);
        let Some(function) = function.filter(|it| self.function_of(other.id.declared_at) == Some(*it)) else {
            return false;
        };
        let places = self.position_of(function, one).zip(self.position_of(function, other));
        let Some((first, second)) = places else { return false };
        let Some(calls) = self.all_calls_of(function) else { return false };
        calls.into_iter().all(|call| {
            let argument = |index| self.variable_handed(call, index);
            argument(first).zip(argument(second)).is_some_and(|(one, other)| {
                one.id != other.id
                    && (self.owner(&one).is_apart_from(self.owner(&other))
                        || self.are_handed_apart(&one, &other, depth))
            })
        })
    }

    /// Which parameter of its function a variable is, from 0.
    fn position_of(&self, function: NodeId, named: &Named) -> Option<usize> {
        let tree = self.tree;
        let declarator = tree.child(function, Field::Declarator)?;
        let head = (tree.kind(declarator) == NodeKind::FunctionDeclarator).then_some(declarator).or_else(|| {
            let inner = tree.child(declarator, Field::Declarator)?;
            (tree.kind(inner) == NodeKind::FunctionDeclarator).then_some(inner)
        })?;
        let list = tree.child(head, Field::Parameters)?;
        tree.named_children(list).position(|it| tree.span(it).contains(named.id.declared_at))
    }

    /// All calls of a function, or `None` where there may be others: it has other names, other files see it, or it is no plain function.
    fn all_calls_of(&self, function: NodeId) -> Option<Vec<NodeId>> {
        if let Some(known) = self.function_calls.borrow().get(&function) {
            return known.clone();
        }
        let found = self.read_all_calls_of(function);
        self.function_calls.borrow_mut().insert(function, found.clone());
        found
    }

    fn read_all_calls_of(&self, function: NodeId) -> Option<Vec<NodeId>> {
        let (tree, symbols) = (self.tree, self.symbols());
        let name = self.function_name(function)?;
        let found = symbols.lookup(&name, tree.span(function).end)?;
        let is_own = found.kind == NameKind::Function
            && found.scope == Scope::File
            && found.header.is_none()
            && (found.is_static || self.is_in_unnamed_namespace(function))
            && symbols.function_definitions(&name) == [(None, function)]
            // What a header defines each file that includes it may call.
            && Language::by_ending(&self.file.path).is_some()
            && !Language::is_header(&self.file.path);
        let is_plain = || {
            let mut above = tree.ancestors(function).map(|above| tree.kind(above));
            !above.any(|kind| kind == NodeKind::TemplateDeclaration || kind.is_specifier())
        };
        if !is_own || !is_plain() || self.is_named_unseen(&name) {
            return None;
        }
        let mut calls = Vec::new();
        for node in self.nodes_at(&name) {
            let is_name =
                tree.kind(node) == NodeKind::Identifier && self.file.bytes(tree.span(node)) == name.as_bytes();
            if !is_name || self.is_declared_name(node) {
                continue;
            }
            let call = tree.parent(node).and_then(|call| Call::of(tree, call));
            calls.push(call.filter(|call| call.function() == Some(node))?.node);
        }
        Some(calls)
    }

    /// Is it the name in the head of a function's definition or declaration?
    fn is_declared_name(&self, node: NodeId) -> bool {
        let tree = self.tree;
        tree.field(node) == Some(Field::Declarator)
            && tree.parent(node).is_some_and(|above| tree.kind(above) == NodeKind::FunctionDeclarator)
    }

    fn is_in_unnamed_namespace(&self, function: NodeId) -> bool {
        let tree = self.tree;
        tree.language() == Language::Cpp
            && tree.ancestors(function).any(|above| {
                tree.kind(above) == NodeKind::NamespaceDefinition && tree.child(above, Field::Name).is_none()
            })
    }

    /// May something name a function that is no call in the tree: a macro, a header, a text that is not read, a directive for variants, a
    /// label in an attribute or in assembly, a qualified name?
    fn is_named_unseen(&self, name: &str) -> bool {
        let tree = self.tree;
        let holds = |text: &str| words(text).any(|word| word == name);
        let holds_at = |span| holds(&self.file.show(span));
        let others = [
            NodeKind::QualifiedIdentifier,
            NodeKind::TemplateFunction,
            NodeKind::UsingDeclaration,
            NodeKind::TypeIdentifier,
        ];
        let is_label = |node: NodeId| {
            let text = self.file.show(tree.span(node));
            let is_code = || tree.ancestors(node).any(|above| tree.kind(above).is_assembly());
            text.trim_matches('"') == name || holds(&text) && is_code()
        };
        !self.is_named_in_file_alone(name)
            || tree.inactive().iter().any(|span| holds_at(*span))
            || self.constructs.directives.iter().any(|it| it.name.contains("variant"))
            || self.nodes_at(name).flat_map(|node| std::iter::once(node).chain(tree.ancestors(node))).any(|node| {
                let kind = tree.kind(node);
                let is_text = matches!(kind, NodeKind::StringLiteral | NodeKind::RawStringLiteral);
                others.contains(&kind) && holds_at(tree.span(node)) || is_text && is_label(node)
            })
    }

    /// The innermost nodes around each place where these bytes stand.
    fn nodes_at(&self, name: &str) -> impl Iterator<Item = NodeId> {
        let places = memchr::memmem::find_iter(&self.file.text, name);
        places.map(|at| self.tree.covering(Span::new(at, at + name.len())))
    }

    /// The variable that is handed over in a place of a call, as it is or as another pointer.
    fn variable_handed(&self, call: NodeId, index: usize) -> Option<Named> {
        let tree = self.tree;
        let mut node = Call::of(tree, call)?.arguments().nth(index)?;
        loop {
            node = match tree.kind(node) {
                NodeKind::ParenthesizedExpression => tree.named_children(node).next()?,
                NodeKind::CastExpression => {
                    let cast = Cast::of(tree, node)?;
                    // A number made of an address may lead elsewhere.
                    cast.ty().and_then(|ty| tree.child(ty, Field::Declarator))?;
                    cast.value()?
                }
                NodeKind::Identifier => {
                    let span = tree.span(node);
                    let name = self.file.show(span);
                    let is_macro = self.symbols().is_macro(&name, span.start);
                    return self.named(&name, span.start).map(|(named, _)| named).filter(|_| !is_macro);
                }
                _ => return None,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::region::association::associate;
    use crate::semantics::{Compilation, Program};
    use crate::source::{SourceFile, scan};
    use crate::syntax::lower::DirectiveReader;
    use crate::syntax::{HostTree, Limits};

    /// Do the parameters `a` and `b` of the function with `HERE` in its body never meet?
    fn never_meet(path: &str, text: &str) -> bool {
        let file = SourceFile::new(path, text.as_bytes().to_vec());
        let scan = scan(&file.text);
        let tree = HostTree::parse(&file, &scan, &Limits::default()).unwrap();
        let mut reader = DirectiveReader::new();
        let directives = scan.directives.iter().map(|directive| reader.read(&file, directive)).collect();
        let constructs = associate(&file, &scan, &tree, directives);
        let program = Program::new(&file, &scan, &tree, &constructs, Compilation::default());
        let at = text.find("HERE").unwrap();
        let named = |name: &str| program.named(name, at).unwrap().0;
        program.never_meet_by_calls(&named("a"), &named("b"))
    }

    #[test]
    fn calls_in_sight_tell_parameters_apart() {
        let own = "double x[9], y[9];\nstatic void f(int n, double *a, double *b) { /*HERE*/ a[0] = b[n]; }\n";
        let of = |calls: &str| format!("{own}{calls}");
        assert!(never_meet("a.c", &of("void g(void) { f(1, x, y); f(2, (double *)y, (x)); }")));
        assert!(never_meet(
            "a.c",
            &of("static void h(double *p, double *q) { f(3, q, p); }\nvoid g(void) { h(x, y); }")
        ));
        for calls in [
            "void g(void) { f(1, x, y); f(2, x, x); }",
            "void g(double *z) { f(1, x, z); }",
            "void g(void) { f(1, x, y + 1); }",
            "void g(void) { f(1, x, y); }\nvoid (*p)(int, double *, double *) = f;",
            "#define CALL(p) f(1, p, p)\nvoid g(void) { f(1, x, y); CALL(x); }",
            "void h(double *p, double *q) { f(3, q, p); }\nvoid g(void) { h(x, y); }",
            "void g(void) { f(1, x, y); }\nextern void h(int, double *, double *) __attribute__((alias(\"f\")));",
            "#include \"other.h\"\nvoid g(void) { f(1, x, y); }",
        ] {
            assert!(!never_meet("a.c", &of(calls)), "{calls}");
        }
        assert!(!never_meet("a.h", &of("static void g(void) { f(1, x, y); }")));
        assert!(!never_meet("a.c", &of("void g(void) { f(1, x, y); }").replace("static void f", "void f")));
        assert!(!never_meet("a.c", &of("void g(void) { f(1, x, y); }").replace("/*HERE*/", "/*HERE*/ a = b;")));
        let space = of("void g() { f(1, x, y); }")
            .replace("static void f", "namespace { void f")
            .replace("; }\nvoid", "; } }\nvoid");
        assert!(never_meet("a.cpp", &space));
    }
}
