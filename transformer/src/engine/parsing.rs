//! From the bytes of a file to its trees.

use std::sync::Arc;

use super::passed_over;
use crate::region::association::associate;
use crate::region::construct::ConstructTree;
use crate::semantics::symbols::FlagDefinition;
use crate::source::{LineIndex, Scan, SourceFile, Span, scan, unclosed};
use crate::syntax::lower::DirectiveReader;
use crate::syntax::{EarlierParse, HostError, HostTree, InSight, Limits, MacroTexts};

/// A file that has been read, ready for transformations.
pub struct Parsed {
    /// What the byte scan found.
    pub scan: Scan,
    /// The host program.
    pub tree: HostTree,
    /// The constructs.
    pub constructs: ConstructTree,
}

/// Reads the texts of one file in all rounds. Directives that stay the same are read once.
pub(super) struct FileReader {
    limits: Limits,
    directives: DirectiveReader,
    /// The macros that headers and flags define.
    macros: MacroTexts,
    /// The text that was read last.
    earlier: Option<Arc<EarlierParse>>,
}

impl FileReader {
    pub fn new(limits: Limits, headers: &[SourceFile], flags: &[FlagDefinition]) -> Self {
        let mut macros = MacroTexts::default();
        headers.iter().for_each(|header| macros.extend(MacroTexts::of(header, &scan(&header.text))));
        let bodies = flags.iter().filter_map(|flag| Some((&flag.name, flag.body.as_ref()?)));
        bodies.for_each(|(name, body)| macros.add(name, false, body));
        Self { limits, directives: DirectiveReader::new(), macros, earlier: None }
    }

    /// Reads a text: `None` if no directive in it can concern a device.
    ///
    /// # Errors
    /// When the text cannot be read within the limits.
    pub fn parse(&mut self, file: &SourceFile) -> Result<Option<Parsed>, HostError> {
        self.parse_scanned(file, scan(&file.text))
    }

    /// As [`Self::parse`], with what the byte scan of the text found.
    ///
    /// # Errors
    /// As there.
    pub fn parse_scanned(&mut self, file: &SourceFile, scan: Scan) -> Result<Option<Parsed>, HostError> {
        if let Some(at) = memchr::memchr(0, &file.text) {
            return Err(HostError::Nul(at));
        }
        let is_seen = scan.directives.iter().any(|text| concerns_device(file, text.body));
        if !is_seen && passed_over::trigraphs(&file.text).is_empty() {
            return Ok(None);
        }
        let line = |at| LineIndex::new(&file.text).line_column(at).line;
        if let Some(at) = unclosed(&file.text) {
            return Err(HostError::Unclosed(line(at)));
        }
        if let Some(at) = scan.unbalanced {
            return Err(HostError::Unbalanced(line(at)));
        }
        let known = InSight { macros: Some(&self.macros), earlier: self.earlier.as_deref() };
        let tree = HostTree::parse_with(file.language, file, &scan, &self.limits, &known)?;
        self.earlier = tree.parse_result().cloned().or(self.earlier.take());
        let directives = scan.directives.iter().map(|text| self.directives.read(file, text)).collect();
        let constructs = associate(file, &scan, &tree, directives);
        Ok(Some(Parsed { scan, tree, constructs }))
    }
}

/// Does the text of a directive say `target`? One from a macro cannot be read, and is never changed.
fn concerns_device(file: &SourceFile, body: Option<Span>) -> bool {
    body.is_some_and(|body| file.bytes(body).windows(6).any(|word| word == b"target"))
}
