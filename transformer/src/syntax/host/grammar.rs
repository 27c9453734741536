//! The two host grammars and the names of their nodes.

use std::sync::OnceLock;

use super::kinds::{Field, NodeKind};
use crate::source::Language;

/// A grammar with its node and field names looked up once.
#[derive(Debug)]
pub(super) struct Grammar {
    language: Language,
    /// tree-sitter's handle.
    pub(super) parser: tree_sitter::Language,
    kinds: Vec<(NodeKind, bool)>,
    fields: Vec<Option<Field>>,
    punctuation: Vec<bool>,
}

static C: OnceLock<tree_sitter::Language> = OnceLock::new();
static CPP: OnceLock<tree_sitter::Language> = OnceLock::new();
static C_NAMES: OnceLock<Grammar> = OnceLock::new();
static CPP_NAMES: OnceLock<Grammar> = OnceLock::new();

impl Grammar {
    /// The C grammar.
    pub(super) fn c() -> &'static Self {
        let language = C.get_or_init(|| tree_sitter_c::LANGUAGE.into());
        C_NAMES.get_or_init(|| Self::new(Language::C, language))
    }

    /// The C++ grammar.
    pub(super) fn cpp() -> &'static Self {
        let language = CPP.get_or_init(|| tree_sitter_cpp::LANGUAGE.into());
        CPP_NAMES.get_or_init(|| Self::new(Language::Cpp, language))
    }

    /// The grammars to try for a language, in order.
    pub(super) fn candidates(language: Language) -> Vec<&'static Self> {
        match language {
            Language::C => vec![Self::c()],
            Language::Cpp => vec![Self::cpp()],
            Language::Either => vec![Self::c(), Self::cpp()],
        }
    }

    fn new(language: Language, parser: &'static tree_sitter::Language) -> Self {
        let kinds = 0..u16::try_from(parser.node_kind_count()).unwrap_or(u16::MAX);
        let fields = 0..=u16::try_from(parser.field_count()).unwrap_or(u16::MAX);
        let kind = |id| parser.node_kind_for_id(id).and_then(NodeKind::named).unwrap_or(NodeKind::Error);
        let kinds: Vec<_> = kinds.map(|id| (kind(id), parser.node_kind_is_named(id))).collect();
        Self {
            language,
            parser: parser.clone(),
            punctuation: kinds.iter().map(|(kind, _)| kind.is_punctuation()).collect(),
            kinds,
            fields: fields.map(|id| parser.field_name_for_id(id).and_then(Field::named)).collect(),
        }
    }

    /// Is it a bracket, a comma or a semicolon? Those fill no field, and a quarter of all nodes are such.
    pub(super) fn is_punctuation(&self, id: u16) -> bool {
        self.punctuation.get(usize::from(id)).copied().unwrap_or(false)
    }

    pub(super) fn language(&self) -> Language {
        self.language
    }

    pub(super) fn kind(&self, id: u16) -> NodeKind {
        self.kinds.get(usize::from(id)).map_or(NodeKind::Error, |(kind, _)| *kind)
    }

    /// For each number of a kind, whether it is one of these; ERROR nodes have no number.
    pub(super) fn are_of(&self, kinds: &[NodeKind]) -> Vec<bool> {
        self.kinds.iter().map(|(kind, _)| kinds.contains(kind)).collect()
    }

    pub(super) fn is_named(&self, id: u16) -> bool {
        self.kinds.get(usize::from(id)).is_none_or(|(_, named)| *named)
    }

    pub(super) fn field(&self, id: u8) -> Option<Field> {
        self.fields.get(usize::from(id)).copied().flatten()
    }
}
