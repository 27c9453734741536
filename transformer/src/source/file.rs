//! One source file in memory.

use std::path::{Path, PathBuf};

use crate::source::{LineIndex, Span};

/// The language whose grammar reads a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    /// C: `.c`.
    C,
    /// C++: `.cpp`, `.hpp` and the like.
    Cpp,
    /// What may be either (`.h`, `.inc`, and names without a known ending): both grammars are tried.
    Either,
}

/// The endings of C++ sources, as compilers know them.
const CPP_SOURCES: &[&str] = &["cpp", "cc", "cxx", "c++", "cp", "C", "CPP", "cppm", "ixx"];

/// The endings of what only C++ sources include.
const CPP_HEADERS: &[&str] = &["hpp", "hh", "hxx", "h++", "hp", "H", "HPP", "ipp", "tpp", "txx", "tcc", "inl"];

/// The endings of what sources of both languages include.
const HEADERS: &[&str] = &["h", "inc"];

impl Language {
    /// What the ending of a file's name says.
    #[must_use]
    pub fn of_path(path: &Path) -> Self {
        Self::by_ending(path).unwrap_or(Self::Either)
    }

    /// The language by the ending of a file's name, or `None` if that is no ending of C or C++ files.
    #[must_use]
    pub fn by_ending(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "c" => Some(Self::C),
            ending if HEADERS.contains(&ending) => Some(Self::Either),
            ending if CPP_SOURCES.contains(&ending) || CPP_HEADERS.contains(&ending) => Some(Self::Cpp),
            _ => None,
        }
    }

    /// Is it by its name a file that others include, and that is not compiled by itself?
    #[must_use]
    pub fn is_header(path: &Path) -> bool {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        HEADERS.contains(&ending) || CPP_HEADERS.contains(&ending)
    }
}

/// How most lines of a file end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnding {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
}

impl LineEnding {
    /// The bytes that end a line.
    #[must_use]
    pub fn bytes(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

/// The bytes of one file, never converted: an edit is a byte range and everything else is written back as it came.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name that diagnostics show and the language is taken from.
    pub path: PathBuf,
    /// The bytes as read, byte order mark and all.
    pub text: Vec<u8>,
    /// Which grammar reads it.
    pub language: Language,
    /// Where its lines start.
    pub lines: LineIndex,
}

impl SourceFile {
    /// Takes the bytes of a file; the language follows from the name.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, text: Vec<u8>) -> Self {
        let path = path.into();
        let language = Language::of_path(&path);
        let lines = LineIndex::new(&text);
        Self { path, text, language, lines }
    }

    /// The bytes of a span.
    #[must_use]
    pub fn bytes(&self, span: Span) -> &[u8] {
        span.of(&self.text)
    }

    /// The text of a span, with bytes that are no UTF-8 replaced: for messages and comparisons, never for output.
    #[must_use]
    pub fn show(&self, span: Span) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.bytes(span))
    }

    /// How most of its lines end; `\n` where it has none.
    #[must_use]
    pub fn line_ending(&self) -> LineEnding {
        let lf = self.text.iter().filter(|b| **b == b'\n').count();
        let crlf = self.text.windows(2).filter(|w| w == b"\r\n").count();
        if crlf * 2 > lf { LineEnding::CrLf } else { LineEnding::Lf }
    }
}
