//! Names that mean one thing where the host's code is compiled and may mean another where the device's is.
//!
//! Both compilations read the same text, but not with the same predefined macros: `#ifdef __NVPTX__` chooses in the device's alone.

use std::collections::BTreeSet;

use super::{Symbols, Unit};
use crate::source::{Span, words};

/// Reserved names that mean the same in both compilations: of compilers, standards, systems and libraries.
const SAME: &[&str] = &[
    "_CRAYC",
    "_GLIBCXX_RELEASE",
    "_GNU_SOURCE",
    "_LP64",
    "_MSC_VER",
    "_OPENMP",
    "_POSIX_C_SOURCE",
    "_POSIX_SOURCE",
    "_POSIX_VERSION",
    "_WIN32",
    "_WIN64",
    "_XOPEN_SOURCE",
    "__APPLE__",
    "__BYTE_ORDER__",
    "__CYGWIN__",
    "__DATE__",
    "__FAST_MATH__",
    "__FILE__",
    "__FreeBSD__",
    "__GLIBC__",
    "__GNUC_MINOR__",
    "__GNUC__",
    "__GNUG__",
    "__IBMCPP__",
    "__IBMC__",
    "__ICC",
    "__INTEL_COMPILER",
    "__INTEL_LLVM_COMPILER",
    "__LINE__",
    "__LP64__",
    "__MINGW32__",
    "__NVCOMPILER",
    "__OPTIMIZE__",
    "__ORDER_BIG_ENDIAN__",
    "__ORDER_LITTLE_ENDIAN__",
    "__PGI",
    "__SIZEOF_INT__",
    "__SIZEOF_LONG__",
    "__SIZEOF_POINTER__",
    "__STDC_IEC_559__",
    "__STDC_NO_THREADS__",
    "__STDC_NO_VLA__",
    "__STDC_VERSION__",
    "__STDC__",
    "__TIME__",
    "__clang__",
    "__clang_major__",
    "__clang_minor__",
    "__clang_version__",
    "__cplusplus",
    "__gnu_linux__",
    "__has_attribute",
    "__has_builtin",
    "__has_extension",
    "__has_feature",
    "__has_include",
    "__ibmxl__",
    "__linux",
    "__linux__",
    "__unix",
    "__unix__",
];

/// Is it a reserved name, and not one that is known to be the same in both compilations?
#[must_use]
pub fn may_tell_device(word: &str) -> bool {
    let is_reserved = word
        .strip_prefix('_')
        .is_some_and(|rest| rest.starts_with('_') || rest.starts_with(|first: char| first.is_ascii_uppercase()));
    is_reserved && SAME.binary_search(&word).is_err()
}

impl Symbols<'_> {
    /// The names whose meaning hangs on a macro that may differ between host and device, and those that are made of such. `None` where a
    /// file is included under such a condition: then any name may be.
    #[must_use]
    pub fn device_dependent(&self) -> Option<BTreeSet<String>> {
        let units: Vec<&Unit<'_>> =
            std::iter::once(&self.own).chain(self.header_units().map(|(_, unit)| unit)).collect();
        let mut found = BTreeSet::new();
        loop {
            let mut more = BTreeSet::new();
            for unit in &units {
                for content in unit.chosen_contents(|word| found.contains(word) || self.may_differ(word)) {
                    if unit.includes_within(content) {
                        return None;
                    }
                    more.extend(unit.names_within(content));
                }
                if !found.is_empty() {
                    more.extend(unit.names_made_of(&found));
                }
            }
            let before = found.len();
            found.extend(more);
            if found.len() == before {
                return Some(found);
            }
        }
    }

    /// Is it a reserved name that the program does not define, and not one that is known to be the same everywhere?
    fn may_differ(&self, word: &str) -> bool {
        may_tell_device(word) && self.macros_named(word, self.own.file.text.len()).is_empty()
    }
}

impl Unit<'_> {
    /// The contents of conditionals that ask for one of these words.
    fn chosen_contents(&self, is_asked: impl Fn(&str) -> bool) -> Vec<Span> {
        let asks = |line: Span| words(&self.file.show(line)).any(&is_asked);
        let chosen = self.conditionals().iter().filter(|group| group.branches.iter().any(|branch| asks(branch.line)));
        chosen.flat_map(|group| group.branches.iter().map(|branch| branch.content)).collect()
    }

    fn includes_within(&self, content: Span) -> bool {
        let text = self.file.show(content);
        let mut lines = text.lines().map(|line| line.trim_start().trim_start_matches(['#', '%', ':']).trim_start());
        lines.any(|line| line.starts_with("include"))
    }

    /// What is declared or defined as a macro there.
    fn names_within(&self, content: Span) -> Vec<String> {
        let entries = self.table.entries.iter().filter(|entry| content.contains(entry.name_span));
        let declared = entries.map(|entry| self.file.show(entry.name_span).into_owned());
        let macros = self
            .table
            .macros
            .iter()
            .filter(|(_, all)| all.iter().any(|(node, _)| content.contains(self.tree.span(*node))));
        let text = self.file.show(content);
        let taken_back = text.lines().filter_map(|line| line.split_once("undef"));
        let taken_back = taken_back.filter_map(|(_, rest)| words(rest).next().map(str::to_owned));
        declared.chain(macros.map(|(name, _)| name.clone())).chain(taken_back).collect()
    }

    /// What is declared or defined by a text that has one of these names.
    fn names_made_of(&self, found: &BTreeSet<String>) -> Vec<String> {
        let is_made = |span: Span| words(&self.file.show(span)).any(|word| found.contains(word));
        let entries = self.table.entries.iter().filter(|entry| {
            let whole = self.tree.span(entry.definition.unwrap_or(entry.declaration));
            let value = entry.initializer.map(|value| self.tree.span(value));
            is_made(whole) || value.is_some_and(is_made)
        });
        let declared = entries.map(|entry| self.file.show(entry.name_span).into_owned());
        let macros =
            self.table.macros.iter().filter(|(_, all)| all.iter().any(|(node, _)| is_made(self.tree.span(*node))));
        declared.chain(macros.map(|(name, _)| name.clone())).collect()
    }
}
