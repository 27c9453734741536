//! Names for what the output declares, which mean nothing else where it is in scope.

use std::borrow::Cow;
use std::ops::RangeFrom;

use super::Program;
use crate::source::{Span, words};

/// How many numbers are tried for a name that `##` cannot make.
const MOST_NUMBERS: usize = 1 << 10;

impl Program<'_> {
    /// A name for a block of its own that holds a part of the file: nothing there is called so, and no macro.
    pub(crate) fn fresh_in(&self, span: Span, stem: &str) -> String {
        let text = self.file.show(span);
        let names_it = |text: &str, name: &str| words(text).any(|word| word == name);
        self.first_free(stem, |name| {
            !names_it(&text, name) && !self.uses_macro_with(span, &|body| names_it(body, name))
        })
    }

    /// A name that stands nowhere in the file and was not given out before.
    pub(crate) fn fresh(&self, stem: &str) -> String {
        let mut taken = self.fresh.borrow_mut();
        let name = self.first_free(stem, |name| !taken.contains(name) && !self.texts().any(|text| text.contains(name)));
        taken.insert(name.clone());
        name
    }

    fn first_free(&self, stem: &str, is_free: impl Fn(&str) -> bool) -> String {
        let can_paste = |text: &str| ["##", "%:%:", "??="].iter().any(|paste| text.contains(paste));
        let pastes = *self.pastes.get_or_init(|| self.texts().any(|text| can_paste(&text)));
        let end = if pastes { self.unpasted_end() } else { String::new() };
        let numbered = |numbers: RangeFrom<u32>| numbers.map(|number| format!("{stem}_{number}{end}"));
        let by_flag = |name: &str| self.compilation.definitions.iter().any(|flag| flag.name == name);
        let is_macro =
            |name: &str| by_flag(name) || self.symbols().macro_definition(name, self.file.text.len()).is_some();
        let may_serve = |name: &String| is_free(name) && !is_macro(name);
        let mut names = std::iter::once(stem.to_owned()).chain(numbered(2..).take(MOST_NUMBERS));
        let unpasted = names.find(|name| may_serve(name) && !(pastes && self.ends_with_word(name)));
        unpasted.or_else(|| numbered(2..).find(may_serve)).unwrap_or_default()
    }

    /// An end with which no word of the texts ends a name, for `##` may make each name that ends with a word: `_`, or with the first letter
    /// that is no word either.
    fn unpasted_end(&self) -> String {
        let letters = ('A'..='Z').chain('a'..='z').map(|letter| format!("_{letter}"));
        let mut ends = std::iter::once("_".to_owned()).chain(letters);
        ends.find(|end| !self.ends_with_word(end)).unwrap_or_else(|| "_".to_owned())
    }

    /// Does a text in sight have another word with which a name ends?
    fn ends_with_word(&self, name: &str) -> bool {
        self.texts().any(|text| words(&text).any(|word| word != name && name.ends_with(word)))
    }

    /// The file and the headers that it includes.
    pub(crate) fn texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let headers = self.compilation.headers.iter().map(|header| String::from_utf8_lossy(&header.text));
        std::iter::once(String::from_utf8_lossy(&self.file.text)).chain(headers)
    }
}
