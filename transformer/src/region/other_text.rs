//! A text that a pass makes of the file in order to decide on it, read as the file is.

use std::sync::Arc;

use crate::region::association::associate;
use crate::region::construct::ConstructTree;
use crate::source::{Scan, SourceFile, scan};
use crate::syntax::lower::DirectiveReader;
use crate::syntax::{HostTree, InSight, Limits};

/// Such a text, and what stands in it.
pub struct OtherText {
    /// The text, by the name of the file.
    pub file: SourceFile,
    /// What the byte scan found.
    pub scan: Scan,
    /// The host program.
    pub tree: HostTree,
    /// The constructs.
    pub constructs: ConstructTree,
}

impl OtherText {
    /// Reads a text in the language of the file; `None` where it cannot be read.
    #[must_use]
    pub fn read(text: Vec<u8>, like: &SourceFile, of_file: &HostTree) -> Option<Self> {
        let mut file = SourceFile::new(like.path.clone(), text);
        file.language = like.language;
        let scan = scan(&file.text);
        let known = InSight { macros: None, earlier: of_file.parse_result().map(Arc::as_ref) };
        let tree = HostTree::parse_with(of_file.language(), &file, &scan, &Limits::default(), &known).ok()?;
        let mut reader = DirectiveReader::new();
        let directives = scan.directives.iter().map(|text| reader.read(&file, text)).collect();
        let constructs = associate(&file, &scan, &tree, directives);
        Some(Self { file, scan, tree, constructs })
    }
}
