//! Declarations that are understood to their last word.
//!
//! What a declaration holds beyond that, an attribute that may change its type, a label for the linker, a word that the
//! grammar does not place, makes the type of its names unknown, and what rests on it is refused.

use super::entries::Entry;
use super::{Symbols, Unit};
use crate::device::pinned_memory::HEADER_NAME;
use crate::source::{Language, SourceFile, Span, scan, words};
use crate::syntax::numbers::is_common_name;
use crate::syntax::{Field, HostTree, NodeId, NodeKind};

/// Attributes that change neither the type of what they stand at, nor its values, nor whether it shares storage with other
/// objects, nor which code runs. Those of GNU are written `__name__`, too.
const HARMLESS: &[&str] = &[
    "aligned",
    "alloc_size",
    "always_inline",
    "artificial",
    "assume_aligned",
    "cold",
    "const",
    "deprecated",
    "fallthrough",
    "flatten",
    "format",
    "gnu_inline",
    "hot",
    "leaf",
    "likely",
    "malloc",
    "maybe_unused",
    "no_sanitize",
    "noinline",
    "nodiscard",
    "nonnull",
    "noreturn",
    "nothrow",
    "packed",
    "pure",
    "returns_nonnull",
    "unlikely",
    "unused",
    "used",
    "visibility",
    "warn_unused_result",
];

/// Is it a node by which an attribute is written?
#[must_use]
pub fn is_attribute(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::AttributeSpecifier | NodeKind::AttributeDeclaration) || kind.is_microsoft()
}

/// Does an attribute change nothing of what it stands at, as far as the rules of this tool ask? Where its name is a macro, it is another.
pub(super) fn is_harmless_attribute(
    file: &SourceFile,
    tree: &HostTree,
    node: NodeId,
    is_macro: &dyn Fn(&str) -> bool,
) -> bool {
    let span = tree.span(node);
    let names = names(&file.show(span));
    tree.problem_in(span).is_none()
        && names.is_some_and(|names| names.iter().all(|name| is_harmless(name) && !is_macro(name)))
}

fn is_harmless(name: &str) -> bool {
    let plain = name.strip_prefix("__").and_then(|name| name.strip_suffix("__")).unwrap_or(name);
    HARMLESS.contains(&plain)
}

/// The attributes that `__attribute__((a, b(1)))` or `[[a, gnu::b(1)]]` lists, with neither arguments nor namespaces; `None` where
/// the text is of another form.
fn names(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    let listed = match text.strip_prefix("[[") {
        Some(rest) => rest.strip_suffix("]]")?,
        None => {
            let rest = text.strip_prefix("__attribute__").or_else(|| text.strip_prefix("__attribute"))?;
            let inner = rest.trim().strip_prefix('(')?.strip_suffix(')')?.trim();
            inner.strip_prefix('(')?.strip_suffix(')')?
        }
    };
    let mut depth = 0_usize;
    let mut outer = String::new();
    for character in listed.chars() {
        depth += usize::from(character == '(');
        if depth == 0 {
            outer.push(character);
        }
        depth = depth.saturating_sub(usize::from(character == ')'));
    }
    let attributes = outer.split(',').filter(|one| !one.trim().is_empty());
    attributes.map(|one| words(one).last().map(str::to_owned)).collect()
}

impl Symbols<'_> {
    /// May a header of the project that is not in sight give a name another meaning? Not to names that the standards reserve, but
    /// programs have a `uint` of their own.
    pub(super) fn may_be_named_out_of_sight(&self, name: &str) -> bool {
        // `bool` is a word of C++ alone.
        let may_be_own = is_common_name(name) || name == "bool" && self.own.tree.language() == Language::C;
        may_be_own && self.misses_headers()
    }

    /// Does a file include one of the project's that is not in sight?
    pub(crate) fn misses_headers(&self) -> bool {
        *self.misses_headers.get_or_init(|| self.is_header_missing())
    }

    fn is_header_missing(&self) -> bool {
        let files = std::iter::once(self.own.file).chain(self.headers.iter().map(|(header, _)| *header));
        files.into_iter().any(|file| {
            let quoted = scan(&file.text).includes.into_iter().filter(|include| include.quoted);
            let names = quoted.map(|include| file.show(include.path).into_owned());
            // The tool's own header is known, also before it is written.
            let mut names = names.filter(|name| !name.ends_with(HEADER_NAME));
            names.any(|name| !self.headers.iter().any(|(header, _)| header.path.ends_with(trimmed(&name))))
        })
    }

    /// Is it an attribute of the file that may change what it stands at?
    #[must_use]
    pub fn is_unknown_attribute(&self, node: NodeId) -> bool {
        self.own.is_unknown_attribute(node)
    }

    /// Is it an attribute of a header, or of the file where no header is given, that may change what it stands at?
    pub(crate) fn is_unknown_attribute_in(&self, header: Option<usize>, node: NodeId) -> bool {
        self.unit(header).is_none_or(|unit| unit.is_unknown_attribute(node))
    }
}

/// A path without what leads out of its folder first, which other paths to the same file need not have.
fn trimmed(path: &str) -> &str {
    let rest = path.strip_prefix("./").or_else(|| path.strip_prefix("../"));
    rest.map_or(path, trimmed)
}

impl Unit<'_> {
    fn is_unknown_attribute(&self, node: NodeId) -> bool {
        is_attribute(self.tree.kind(node)) && !self.is_modelled_part(node)
    }

    /// Is all understood that a declaration says of one of its declarators?
    pub(super) fn is_modelled(&self, declaration: NodeId, declarator: Option<NodeId>) -> bool {
        let tree = &self.tree;
        let whole = tree.span(declaration);
        let end = tree.child(declaration, Field::Body).map_or(whole.end, |body| tree.span(body).start);
        let is_read = tree.problem_in(Span::new(whole.start, end)).is_none();
        is_read
            && tree.named_children(declaration).all(|child| self.is_modelled_part(child))
            && declarator.is_none_or(|declarator| self.is_modelled_declarator(declarator))
    }

    /// Are the parameters of a function declared between its head and its body?
    pub(super) fn declares_the_old_way(&self, entry: &Entry) -> bool {
        let tree = &self.tree;
        entry.definition.is_some_and(|node| tree.named_children(node).any(|it| tree.kind(it) == NodeKind::Declaration))
    }

    fn is_modelled_part(&self, part: NodeId) -> bool {
        let tree = &self.tree;
        match tree.kind(part) {
            kind if is_attribute(kind) => {
                is_harmless_attribute(self.file, tree, part, &|name| self.table.macros.contains_key(name))
            }
            NodeKind::TypeQualifier => self.is_known_qualifier(part),
            // `__restrict`, or `__ptr32` and its like.
            NodeKind::MsPointerModifier => tree.named_children(part).all(|child| self.is_modelled_part(child)),
            NodeKind::GnuAsmExpression | NodeKind::BitfieldClause | NodeKind::Error => false,
            _ => true,
        }
    }

    fn is_known_qualifier(&self, node: NodeId) -> bool {
        let text = self.file.show(self.tree.span(node));
        let known = [
            "const",
            "constexpr",
            "constinit",
            "volatile",
            "restrict",
            "__restrict",
            "__restrict__",
            "_Atomic",
            "__extension__",
            "_Noreturn",
            "noreturn",
            "_Nonnull",
        ];
        known.contains(&&*text) || text.starts_with("alignas") || text.starts_with("_Alignas")
    }

    /// Each declarator around a name: `*`, `[3]`, parentheses, with nothing else at them.
    fn is_modelled_declarator(&self, declarator: NodeId) -> bool {
        let tree = &self.tree;
        let mut at = Some(declarator).filter(|node| tree.kind(*node).is_declarator());
        while let Some(node) = at {
            let inner = super::declarators::inner_declarator(tree, node);
            if !tree
                .named_children(node)
                .filter(|child| Some(*child) != inner)
                .all(|child| self.is_modelled_part(child))
            {
                return false;
            }
            at = inner.filter(|inner| tree.kind(*inner).is_declarator());
        }
        true
    }

    /// Is the structure that a specifier defines laid out and accessed as one without attributes?
    pub(super) fn is_modelled_record(&self, specifier: NodeId) -> bool {
        let tree = &self.tree;
        tree.named_children(specifier).all(|child| self.is_modelled_part(child))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_told_by_their_names() {
        let all_harmless = |text: &str| names(text).is_some_and(|names| names.iter().all(|name| is_harmless(name)));
        for text in [
            "__attribute__((unused))",
            "__attribute__ (( __aligned__(64), unused ))",
            "[[maybe_unused]]",
            "[[gnu::aligned(sizeof(int)), deprecated(\"mode(QI)\")]]",
            "__attribute__(())",
        ] {
            assert!(all_harmless(text), "{text}");
        }
        for text in [
            "__attribute__((mode(QI)))",
            "__attribute__((aligned(8), __vector_size__(16)))",
            "__attribute__((may_alias))",
            "[[gnu::may_alias]]",
            "[[using gnu: mode(QI)]]",
            "__attribute__((cleanup(free_it)))",
            "__declspec(align(8))",
            "__attribute__((MODE))",
        ] {
            assert!(!all_harmless(text), "{text}");
        }
    }
}
