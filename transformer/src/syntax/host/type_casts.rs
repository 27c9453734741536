//! `(byte)(x >> 8)` as a cast, where `byte` is a type of the file: the grammar, which knows no types, takes it for a call.
//!
//! A name is a type where a declaration of one is in scope and nothing in the file may give it another meaning. Wherever that is not
//! certain the call stays one, of a function that nobody has.

use super::{HostTree, MacroTexts, NodeId, NodeKind as K};
use crate::source::{Language, SourceFile, Span, words};
use crate::syntax::Field;

impl HostTree {
    /// Makes casts of the calls that are such.
    pub(super) fn with_type_casts(mut self, file: &SourceFile, macros: &MacroTexts) -> Self {
        let calls: Vec<NodeId> = self.all_of(&[K::CallExpression]).filter(|call| self.may_be_cast(*call)).collect();
        let mut names: Vec<(Vec<u8>, Option<Vec<NodeId>>)> = Vec::new();
        let mut casts = Vec::new();
        for call in calls {
            let name = file.bytes(self.span(NodeId(call.0 + 3)));
            let known = names.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
                let types = self.types_by_name(file, macros, name);
                names.push((name.to_vec(), types));
                names.len() - 1
            });
            let types = names.get(known).and_then(|(_, types)| types.as_deref()).unwrap_or_default();
            if types.iter().any(|ty| self.is_in_scope(file, name, *ty, call)) && !self.may_be_member(call) {
                casts.push(call);
            }
        }
        for call in casts {
            self.make_cast(call);
        }
        self
    }

    /// `(name)(value)` that no postfix operator follows, which would belong to the value.
    fn may_be_cast(&self, call: NodeId) -> bool {
        let kind = |offset: u32| self.kind(NodeId(call.0 + offset));
        let size = |node: NodeId| self.descendants(node).count();
        let Some(list) = self.child(call, Field::Arguments) else { return false };
        let is_operand = self.parent(call).is_some_and(|above| match self.kind(above) {
            K::SubscriptExpression | K::FieldExpression => self.field(call) != Some(Field::Argument),
            K::CallExpression => self.field(call) != Some(Field::Function),
            K::UpdateExpression | K::SizeofExpression | K::AlignofExpression | K::NewExpression => false,
            _ => true,
        });
        size(call) > 5
            && kind(1) == K::ParenthesizedExpression
            && size(NodeId(call.0 + 1)) == 4
            && kind(3) == K::Identifier
            && list == NodeId(call.0 + 5)
            && self.kind(list) == K::ArgumentList
            && self.children(list).count() == 3
            && self.named_children(list).count() == 1
            && is_operand
            && self.problem_in(self.span(call)).is_none()
    }

    /// Where a name is declared as a type; `None` where something in the file may give it another meaning.
    fn types_by_name(&self, file: &SourceFile, macros: &MacroTexts, name: &[u8]) -> Option<Vec<NodeId>> {
        let text = String::from_utf8_lossy(name);
        let is_named = |span: Span| words(&file.show(span)).any(|word| word == text);
        let unread = self.problems.iter().map(|problem| self.span(*problem)).chain(self.inactive.iter().copied());
        if macros.defines(&text) || macros.may_declare(&text) || unread.into_iter().any(is_named) {
            return None;
        }
        let others = [K::Identifier, K::FieldIdentifier, K::UsingDeclaration];
        let gives_another = self.all_of(&others).any(|node| match self.kind(node) {
            K::UsingDeclaration => is_named(self.span(node)),
            _ => file.bytes(self.span(node)) == name && !self.is_use_of_type(node),
        });
        if gives_another {
            return None;
        }
        let types = self.all_of(&[K::TypeIdentifier]).filter(|node| file.bytes(self.span(*node)) == name);
        Some(types.filter(|node| self.declares_type(*node)).collect())
    }

    /// Can a name in the place of a variable's be one of a type: `(T)(x)`, `T(x)`, or a member of an object behind `.` and `->`?
    fn is_use_of_type(&self, node: NodeId) -> bool {
        let Some(above) = self.parent(node) else { return false };
        match self.kind(above) {
            K::ParenthesizedExpression => true,
            K::CallExpression => self.field(node) == Some(Field::Function),
            K::FieldExpression => self.kind(node) == K::FieldIdentifier,
            // Members of C structures are never named alone.
            _ => self.kind(node) == K::FieldIdentifier && self.language() == Language::C,
        }
    }

    /// Does a name of a type stand where it is declared: in a `typedef`, `using T =`, a class with its body, a template's parameter?
    fn declares_type(&self, name: NodeId) -> bool {
        let is_field = |field| self.field(name) == Some(field);
        let Some(above) = self.parent(name) else { return false };
        match self.kind(above) {
            K::TypeDefinition => is_field(Field::Declarator),
            K::AliasDeclaration => is_field(Field::Name),
            K::StructSpecifier | K::UnionSpecifier | K::ClassSpecifier | K::EnumSpecifier => {
                is_field(Field::Name) && self.language() == Language::Cpp && self.child(above, Field::Body).is_some()
            }
            K::TypeParameterDeclaration => true,
            kind if kind.is_declarator() => {
                let mut around = self.ancestors(name).skip_while(|node| self.kind(*node).is_declarator());
                is_field(Field::Declarator) && around.next().is_some_and(|node| self.kind(node) == K::TypeDefinition)
            }
            _ => false,
        }
    }

    /// Is a declaration of a type known at a place? Of one in a branch of an `#if` only where each branch has one.
    fn is_in_scope(&self, file: &SourceFile, name: &[u8], ty: NodeId, call: NodeId) -> bool {
        let call = self.span(call);
        let is_branch = |kind: K| matches!(kind, K::PreprocElse | K::PreprocElif | K::PreprocElifdef);
        self.span(ty).end <= call.start
            && self.ancestors(ty).take_while(|above| !self.span(*above).contains(call)).all(|above| {
                match self.kind(above) {
                    K::PreprocIf | K::PreprocIfdef => self.declares_in_each_branch(file, name, above),
                    // It belongs to the group around it.
                    kind if is_branch(kind) => true,
                    kind => !is_scope(kind),
                }
            })
    }

    fn declares_in_each_branch(&self, file: &SourceFile, name: &[u8], group: NodeId) -> bool {
        let rest = self.child(group, Field::Alternative);
        let is_here = |node: &NodeId| rest.is_none_or(|rest| !self.span(rest).contains(self.span(*node)));
        let declares = |node: NodeId| {
            file.bytes(self.span(node)) == name
                && self.kind(node) == K::TypeIdentifier
                && self.declares_type(node)
                && !self.ancestors(node).take_while(|above| *above != group).any(|above| is_scope(self.kind(above)))
        };
        self.descendants(group).filter(is_here).any(declares)
            && match rest {
                Some(rest) => self.declares_in_each_branch(file, name, rest),
                None => self.kind(group) == K::PreprocElse,
            }
    }

    /// May the class around a place have a member of any name, by classes that it is made from?
    fn may_be_member(&self, call: NodeId) -> bool {
        let derives = |node| self.children(node).any(|child| self.kind(child) == K::BaseClassClause);
        self.ancestors(call).any(|above| match self.kind(above) {
            K::StructSpecifier | K::ClassSpecifier => derives(above),
            K::FunctionDefinition => self
                .child(above, Field::Declarator)
                .is_some_and(|declarator| self.kind(self.innermost_declarator(declarator)) == K::QualifiedIdentifier),
            _ => false,
        })
    }

    /// The nodes of `( name )` become `(`, a type of one word and `)`, each where it stands; the list becomes the value in brackets.
    fn make_cast(&mut self, call: NodeId) {
        let parser = &self.grammar.parser;
        let field = |name: &str| parser.field_id_for_name(name).and_then(|id| u8::try_from(id.get()).ok()).unwrap_or(0);
        let kind = |name: &str| parser.id_for_node_kind(name, true);
        let (cast, descriptor, word) = (kind("cast_expression"), kind("type_descriptor"), kind("type_identifier"));
        let (brackets, ty, value) = (kind("parenthesized_expression"), field("type"), field("value"));
        let at = call.0;
        let Some([call, outer, open, name, close, list]) = self.nodes.get_mut(at as usize..at as usize + 6) else {
            return;
        };
        call.kind = cast;
        std::mem::swap(outer, open);
        let (open, outer) = (outer, open);
        (open.parent, open.subtree_end) = (at, at + 2);
        (outer.kind, outer.field, outer.start, outer.end) = (descriptor, ty, name.start, name.end);
        (outer.parent, outer.subtree_end) = (at, at + 4);
        (name.kind, name.field, name.parent, name.subtree_end) = (word, ty, at + 2, at + 4);
        (close.parent, close.subtree_end) = (at, at + 5);
        (list.kind, list.field) = (brackets, value);
    }
}

/// Does what is declared in it end with it?
fn is_scope(kind: K) -> bool {
    matches!(
        kind,
        K::CompoundStatement
            | K::NamespaceDefinition
            | K::StructSpecifier
            | K::UnionSpecifier
            | K::ClassSpecifier
            | K::TemplateDeclaration
            | K::FunctionDefinition
            | K::LambdaExpression
            | K::ForStatement
            | K::ForRangeLoop
            | K::IfStatement
            | K::SwitchStatement
            | K::WhileStatement
    )
}

#[cfg(test)]
mod tests {
    use crate::source::{SourceFile, scan};
    use crate::syntax::{Cast, HostTree, Limits};

    fn casts(name: &str, text: &str) -> Vec<(String, String)> {
        let file = SourceFile::new(name, text.as_bytes().to_vec());
        let tree = HostTree::parse(&file, &scan(&file.text), &Limits::default()).unwrap();
        super::super::tests::assert_well_formed(&tree, text.len());
        let show = |node| file.show(tree.span(node)).into_owned();
        let all = tree.descendants(tree.root()).filter_map(|node| Cast::of(&tree, node));
        all.map(|cast| (show(cast.ty().unwrap()), show(cast.value().unwrap()))).collect()
    }

    #[track_caller]
    fn check(name: &str, text: &str, expected: &[(&str, &str)]) {
        let expected: Vec<(String, String)> = expected.iter().map(|(ty, of)| ((*ty).into(), (*of).into())).collect();
        assert_eq!(casts(name, text), expected, "{text}");
    }

    #[test]
    fn types_of_the_file_make_casts() {
        check(
            "a.c",
            "typedef unsigned char u8;\nint f(int x) { return 2 * (u8)(x >> 8) + g(x); }",
            &[("u8", "(x >> 8)")],
        );
        check("a.c", "typedef int *ip;\nlong f(void *p) { return -*(ip)(p); }", &[("ip", "(p)")]);
        check("a.cpp", "template <class T> T f(int x) { return (T)(x + 1); }", &[("T", "(x + 1)")]);
        check("a.cpp", "using real = float;\nreal f(int x) { return (real)(x) + real(x); }", &[("real", "(x)")]);
        check("a.cpp", "enum E { A };\nE f(int x) { return (E)(x); }", &[("E", "(x)")]);
        let chosen =
            "#ifdef D\ntypedef double real;\n#else\ntypedef float real;\n#endif\nreal f(int x) { return (real)(x); }";
        check("a.c", chosen, &[("real", "(x)")]);
        check("a.c", "void f(int x) { typedef short s; s y = (s)(x); }", &[("s", "(x)")]);
    }

    #[test]
    fn what_may_be_called_stays_a_call() {
        for text in [
            "int u8(int);\nint f(int x) { return (u8)(x); }",
            "int f(int x) { return (u8)(x); }\ntypedef unsigned char u8;",
            "typedef char u8;\nint f(int (*u8)(int), int x) { return (u8)(x); }",
            "typedef char u8;\nint f(int x) { extern int u8(int); return (u8)(x); }",
            "#define u8(x) (x)\ntypedef char u8;\nint f(int x) { return (u8)(x); }",
            "#define OWN int u8 = 3;\ntypedef char u8;\nint f(int x) { OWN return (u8)(x); }",
            "void g(void) { typedef char u8; }\nint f(int x) { return (u8)(x); }",
            "#ifdef D\ntypedef char u8;\n#endif\nint f(int x) { return (u8)(x); }",
            "typedef char u8;\nint f(int x) { return (u8)(x, 2); }",
            "typedef int *p;\nint f(long x) { return (p)(x)[1]; }",
            "struct u8 { int a; };\nint f(int x) { return (u8)(x); }",
        ] {
            check("a.c", text, &[]);
        }
        for text in [
            "typedef int u8;\nstruct A { int u8(int); int f(int x) { return (u8)(x); } };",
            "typedef int u8;\nstruct A : B { int f(int x) { return (u8)(x); } };",
            "typedef int u8;\nint A::f(int x) { return (u8)(x); }",
            "typedef int u8;\nint f(int x) { using other::u8; return (u8)(x); }",
            "namespace n { typedef int u8; }\nint f(int x) { return (u8)(x); }",
        ] {
            check("a.cpp", text, &[]);
        }
    }
}
