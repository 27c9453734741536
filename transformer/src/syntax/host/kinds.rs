//! The kinds and fields of the nodes of both host grammars.
//!
//! The two lists are made from the grammars by the test of `kinds/tests.rs`, which fails where they are not what the grammars have
//! and writes them anew where `UPDATE_KINDS` is set.

mod lists;
#[cfg(test)]
mod tests;

pub use lists::{Field, NodeKind};

/// An enumeration of names that a grammar gives.
macro_rules! names_of_grammars {
    ($(#[$about:meta])* $enumeration:ident { $($variant:ident = $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $enumeration {
            $(#[doc = concat!("`` ", $name, " ``")] $variant,)*
        }

        impl $enumeration {
            #[cfg(test)]
            pub(super) const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// As the grammar writes it.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// By the grammar's name.
            pub(in crate::syntax::host) fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}
use names_of_grammars;

impl NodeKind {
    /// Is it a statement or a declaration, in a block or at file scope?
    #[must_use]
    pub fn is_statement_or_declaration(self) -> bool {
        let is_rule = |suffix: &str| self.text().ends_with(suffix);
        match self {
            Self::InitStatement | Self::ConditionClause => false,
            Self::ForRangeLoop
            | Self::StaticAssertDeclaration
            | Self::TemplateInstantiation
            | Self::LinkageSpecification
            | Self::StructSpecifier
            | Self::UnionSpecifier
            | Self::ClassSpecifier
            | Self::EnumSpecifier => true,
            _ => is_rule("_statement") || is_rule("declaration") || is_rule("_definition"),
        }
    }

    /// Is it a statement that is no block: `for_statement`, `expression_statement`?
    #[must_use]
    pub fn is_statement(self) -> bool {
        self.text().ends_with("_statement")
    }

    /// Is it a loop?
    #[must_use]
    pub fn is_loop(self) -> bool {
        matches!(self, Self::ForStatement | Self::ForRangeLoop | Self::WhileStatement | Self::DoStatement)
    }

    /// Is it an expression of more than one word?
    #[must_use]
    pub fn is_expression(self) -> bool {
        self.text().ends_with("_expression")
    }

    /// Is it a name: of a variable, a type, a member, a namespace?
    #[must_use]
    pub fn is_identifier(self) -> bool {
        self.text().ends_with("identifier")
    }

    /// Does it name or define a type: `struct_specifier`, `enum_specifier`; or a storage class?
    #[must_use]
    pub fn is_specifier(self) -> bool {
        self.text().ends_with("_specifier")
    }

    /// Is it a declaration of any sort?
    #[must_use]
    pub fn is_declaration(self) -> bool {
        self.text().ends_with("declaration")
    }

    /// Is it a definition: of a function, a type, a namespace?
    #[must_use]
    pub fn is_definition(self) -> bool {
        self.text().ends_with("definition")
    }

    /// Is it inline assembly, or a part of it?
    #[must_use]
    pub fn is_assembly(self) -> bool {
        self.text().starts_with("gnu_asm")
    }

    /// Does it stand where a template is declared or used?
    #[must_use]
    pub fn is_of_template(self) -> bool {
        self.text().starts_with("template")
    }

    /// Is it an extension of Microsoft's compilers that the others have not? `__restrict` they all have.
    #[must_use]
    pub fn is_microsoft(self) -> bool {
        self.text().starts_with("ms_") && !matches!(self, Self::MsPointerModifier | Self::MsRestrictModifier)
    }

    /// Does it declare a name, or something around one?
    #[must_use]
    pub fn is_declarator(self) -> bool {
        self.text().ends_with("declarator")
    }

    /// Is it the sign of an operator that tells whether something holds: a comparison, `&&` or `||`?
    #[must_use]
    pub fn is_test(self) -> bool {
        matches!(
            self,
            Self::Less
                | Self::Greater
                | Self::LessEqual
                | Self::GreaterEqual
                | Self::EqualEqual
                | Self::ExclamationEqual
                | Self::AmpersandAmpersand
                | Self::BarBar
        )
    }

    /// Is it a bracket, a comma or a semicolon? Those fill no field.
    pub(super) fn is_punctuation(self) -> bool {
        matches!(
            self,
            Self::OpenParenthesis
                | Self::CloseParenthesis
                | Self::OpenBrace
                | Self::CloseBrace
                | Self::OpenBracket
                | Self::CloseBracket
                | Self::Semicolon
                | Self::Comma
        )
    }

    /// Is it a directive of the preprocessor?
    #[must_use]
    pub fn is_preprocessor(self) -> bool {
        self.text().starts_with("preproc_")
    }
}
