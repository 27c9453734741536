//! What the macros in a directive stand for.
//!
//! Only what stands outside of a directive's parentheses is replaced: words that may be clauses. A macro in an expression is read where
//! the expression is. In statements of constructs macros are replaced where they hide what the statements are: where these cannot be parsed
//! otherwise, or where a macro stands for one thing here and another there.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use crate::engine::readings::derived::Replacement;
use crate::engine::readings::macros::{Definition, Macros};
use crate::engine::readings::tokens::{Kind, Token, arguments, tokens};
use crate::source::{DirectiveText, Scan, SourceFile, Span, words};

/// How many tokens are read for one file.
const MOST_TOKENS: usize = 1 << 16;
/// How deep macros are followed into each other.
const DEEPEST: usize = 24;

/// Which of a macro's definitions holds, by its name.
pub(super) type Choice = BTreeMap<String, usize>;

/// Replaces macros by what they stand for, each by the definition that was chosen.
pub(super) struct Expander<'m> {
    macros: &'m Macros,
    choice: Choice,
    /// The first macro with several definitions of which none is chosen yet, and how many it has.
    undecided: RefCell<Option<(String, usize)>>,
    /// How many tokens may still be read.
    budget: Cell<usize>,
    /// Are these statements, whose macros are those in force?
    is_statement: bool,
}

impl<'m> Expander<'m> {
    pub fn new(macros: &'m Macros, choice: Choice) -> Self {
        Self { macros, choice, undecided: RefCell::new(None), budget: Cell::new(MOST_TOKENS), is_statement: false }
    }

    /// Replaces macros in statements, each by the definition that is in force there.
    pub fn of_statements(macros: &'m Macros) -> Self {
        Self { is_statement: true, ..Self::new(macros, Choice::new()) }
    }

    /// The uses of macros in the statements of a range of the file. With `changing`, of those alone that stand for one thing here and
    /// another there.
    pub fn in_statements(&self, file: &SourceFile, scan: &Scan, range: Span, changing: bool) -> Vec<Replacement> {
        if !words(&file.show(range)).any(|word| self.macros.is_in_force(word)) {
            return Vec::new();
        }
        let mut apart: Vec<Span> = scan.masked.clone();
        apart.extend(scan.definitions.iter().map(|definition| definition.span));
        apart.extend(scan.includes.iter().map(|include| include.span));
        apart.extend(scan.conditionals.iter().flat_map(|group| group.lines()));
        apart.extend(scan.directives.iter().map(|directive| directive.span));
        apart.retain(|span| span.overlaps(range));
        apart.sort_unstable();
        let mut found = Vec::new();
        let mut at = range.start;
        for end in apart.iter().map(|span| span.start).chain([range.end]).collect::<Vec<_>>() {
            if at < end {
                found.extend(self.in_text(file, Span::new(at, end), changing));
            }
            at = apart.iter().filter(|span| span.start <= end).map(|span| span.end).max().unwrap_or(at).max(at);
        }
        found
    }

    fn in_text(&self, file: &SourceFile, span: Span, changing: bool) -> Vec<Replacement> {
        let Ok(text) = std::str::from_utf8(file.bytes(span)) else { return Vec::new() };
        // What looks like a token may be a part of a raw string.
        if text.contains("R\"") || !words(text).any(|word| self.macros.is_in_force(word)) {
            return Vec::new();
        }
        let tokens = tokens(text, Some(span.start));
        let is_wanted = |used: &Use| {
            let name = tokens.get(used.first).map_or("", |token| &token.text);
            !changing || self.macros.changes(name)
        };
        let used = self.uses(&tokens, Some(span.start), &[]).into_iter().filter(is_wanted).collect::<Vec<_>>();
        let mut found: Vec<Replacement> = used.into_iter().filter_map(|used| used.replacement(&tokens)).collect();
        for replacement in &mut found {
            keep_places(file, replacement);
        }
        found
    }

    /// The macro that must be decided before this says what a text stands for, with the number of its definitions.
    pub fn undecided(self) -> Result<Choice, (Choice, String, usize)> {
        match self.undecided.into_inner() {
            Some((name, count)) => Err((self.choice, name, count)),
            None => Ok(self.choice),
        }
    }

    /// The uses in the directives of a file, each with what it stands for.
    pub fn replacements(&self, file: &SourceFile, scan: &Scan) -> Vec<Replacement> {
        scan.directives.iter().flat_map(|directive| self.in_directive(file, directive)).collect()
    }

    fn in_directive(&self, file: &SourceFile, directive: &DirectiveText) -> Vec<Replacement> {
        let body = directive.body.and_then(|body| Some((body.start, std::str::from_utf8(file.bytes(body)).ok()?)));
        let Some((at, text)) = body else { return Vec::new() };
        // Only tokens show a spliced word, or one with a `$`.
        if !text.contains(['\\', '$']) && words(text).all(|word| self.macros.get(word).is_empty()) {
            return Vec::new();
        }
        let tokens = tokens(text, Some(at));
        let used = self.uses(&tokens, Some(at), &[]);
        used.into_iter().filter_map(|used| used.replacement(&tokens)).collect()
    }

    /// The uses of macros, in directives those outside of parentheses. `at` is where the text stands in the file, for definitions that follow it.
    fn uses(&self, tokens: &[Token], at: Option<usize>, outer: &[&str]) -> Vec<Use> {
        let mut found = Vec::new();
        let mut depth = 0;
        let mut index = 0;
        while let Some(token) = tokens.get(index) {
            depth += token.opens();
            let rest = tokens.get(index + 1..).unwrap_or_default();
            let used = ((depth == 0 || self.is_statement)
                && token.kind == Kind::Word
                && !outer.contains(&token.text.as_str()))
            .then(|| self.stands_for(&token.text, rest, token.at.or(at), outer))
            .flatten();
            let end = used.as_ref().map_or(index + 1, |(_, count)| index + 1 + count);
            found.extend(used.map(|(stands_for, _)| Use { first: index, end, stands_for }));
            index = end;
        }
        found
    }

    /// What a name with the tokens behind it stands for, and how many of these are its arguments.
    fn stands_for(&self, name: &str, rest: &[Token], at: Option<usize>, outer: &[&str]) -> Option<(Vec<Token>, usize)> {
        let definition = match self.is_statement {
            true => self.macros.in_force(name, at?)?,
            false => self.definition(name).filter(|found| at.zip(found.span).is_none_or(|(at, is)| is.end <= at))?,
        };
        let (given, count) = match &definition.parameters {
            None => (Vec::new(), 0),
            Some(_) => arguments(rest)?,
        };
        let text = substituted(definition, &given, self.is_statement)?;
        self.budget.set(self.budget.get().checked_sub(text.len() + 1)?);
        let inner: Vec<&str> = outer.iter().copied().chain([name]).collect();
        if inner.len() > DEEPEST {
            return None;
        }
        let text = self.expanded(&text, at, &inner);
        let behind = next(rest.get(count..).unwrap_or_default());
        let mut from_behind = text.iter().rev().skip_while(|token| token.kind == Kind::Blank);
        let ends_in_name = from_behind.next().is_some_and(|last| self.takes_arguments(&last.text));
        // Its arguments would be those that stand behind this use.
        let is_left = ends_in_name && may_call(behind) || self.is_statement && self.hides_more(&text, behind, at?);
        (!is_left).then_some((text, count))
    }

    /// Does what a use stands for hold a directive, which is read where its macro is used, or a macro that stays as it is and is not
    /// certainly an expression or a type? `behind` is the token behind the use. The name of a macro with parameters that stands without any
    /// is no use of it.
    fn hides_more(&self, text: &[Token], behind: Option<&Token>, at: usize) -> bool {
        let is_read = |name: &str, is_called: bool| {
            let is_name = |definition: &Definition| definition.parameters.is_some() && !is_called;
            self.macros.in_force(name, at).is_none_or(is_name)
                && !self.macros.is_unclear(name)
                && self.macros.get(name).iter().all(|known| is_name(known) || is_part_of_statement(&known.body))
        };
        let mut words = text.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word);
        words.any(|(index, word)| {
            let is_called = may_call(next(text.get(index + 1..).unwrap_or_default()).or(behind));
            word.text.ends_with("ragma") || !is_read(&word.text, is_called)
        })
    }

    /// The tokens with the macros in them replaced.
    fn expanded(&self, tokens: &[Token], at: Option<usize>, outer: &[&str]) -> Vec<Token> {
        let mut out = Vec::with_capacity(tokens.len());
        let mut behind = 0;
        for used in self.uses(tokens, at, outer) {
            out.extend(tokens.get(behind..used.first).unwrap_or_default().iter().cloned());
            out.extend(used.stands_for);
            behind = used.end;
        }
        out.extend(tokens.get(behind..).unwrap_or_default().iter().cloned());
        out
    }

    fn definition(&self, name: &str) -> Option<&'m Definition> {
        let all = self.macros.get(name);
        let chosen = self.choice.get(name).copied();
        if all.len() > 1 && chosen.is_none() {
            self.undecided.borrow_mut().get_or_insert_with(|| (name.to_owned(), all.len()));
        }
        all.get(chosen.unwrap_or(0))
    }

    fn takes_arguments(&self, name: &str) -> bool {
        self.macros.get(name).iter().any(|definition| definition.parameters.is_some())
    }
}

/// The use of a macro: which tokens it takes, and what they stand for.
struct Use {
    first: usize,
    end: usize,
    stands_for: Vec<Token>,
}

impl Use {
    /// What takes its place in the file of whose tokens it is made.
    fn replacement(self, tokens: &[Token]) -> Option<Replacement> {
        let place = |token: &Token| Some(Span::new(token.at?, token.at? + token.text.len()));
        let (first, last) = (place(tokens.get(self.first)?)?, place(tokens.get(self.end.checked_sub(1)?)?)?);
        Some(Replacement { span: Span::new(first.start, last.end), tokens: self.stands_for })
    }
}

/// Leaves out blanks at the ends of what a use stands for where it stands apart without them, so that its statements begin where it does.
fn keep_places(file: &SourceFile, replacement: &mut Replacement) {
    let Replacement { span, tokens } = replacement;
    let is_apart = |byte: Option<&u8>| byte.is_none_or(|byte| byte.is_ascii_whitespace() || b"(){};".contains(byte));
    if is_apart(file.text.get(..span.start).and_then(<[u8]>::last)) {
        let blanks = tokens.iter().take_while(|token| token.kind == Kind::Blank).count();
        tokens.drain(..blanks);
    }
    while is_apart(file.text.get(span.end)) && tokens.last().is_some_and(|last| last.kind == Kind::Blank) {
        tokens.pop();
    }
}

/// The first token that is no blank.
fn next(tokens: &[Token]) -> Option<&Token> {
    tokens.iter().find(|token| token.kind != Kind::Blank)
}

/// May a name before this token have arguments? Behind the last token more may follow.
fn may_call(behind: Option<&Token>) -> bool {
    behind.is_none_or(|token| token.text == "(")
}

/// Can a macro's text be no more than an expression or a type?
fn is_part_of_statement(body: &[Token]) -> bool {
    let is_more = |token: &Token| [";", "{", "}", "#"].contains(&token.text.as_str()) || token.text.ends_with("ragma");
    !body.is_empty() && !body.iter().any(is_more)
}

/// A macro's text with the arguments in it, or `None` if tokens are made into strings or put together. With `apart`, blanks keep
/// what an argument or the whole gives apart from what stands beside it: `-` before `-x` is no `--x`.
fn substituted(definition: &Definition, given: &[Vec<Token>], apart: bool) -> Option<Vec<Token>> {
    let blank = apart.then(|| Token::made(Kind::Blank, " "));
    let enclosed = |text: &[Token]| blank.iter().chain(text).chain(&blank).cloned().collect::<Vec<_>>();
    let Some(parameters) = &definition.parameters else {
        return is_plain(&definition.body).then(|| enclosed(&definition.body));
    };
    let is_variadic = parameters.last().is_some_and(|last| last == "...");
    let named = parameters.len() - usize::from(is_variadic);
    // An extension of some compilers names the rest of the arguments.
    if parameters.iter().take(named).any(|name| name.contains("...")) {
        return None;
    }
    let is_none_given = parameters.is_empty() && matches!(given, [only] if only.is_empty());
    let fits = if is_variadic { given.len() >= named } else { given.len() == named || is_none_given };
    if !fits || !is_plain(&definition.body) {
        return None;
    }
    let mut out = Vec::with_capacity(definition.body.len());
    for token in &definition.body {
        let parameter = parameters.iter().position(|parameter| *parameter == token.text);
        match parameter.filter(|_| token.kind == Kind::Word) {
            Some(index) => out.extend(enclosed(given.get(index)?)),
            None if is_variadic && token.text == "__VA_ARGS__" => {
                let comma = [Token::made(Kind::Other, ",")];
                out.extend(enclosed(&given.get(named..)?.join(&comma[..])));
            }
            None => out.push(token.clone()),
        }
    }
    Some(enclosed(&out))
}

fn is_plain(body: &[Token]) -> bool {
    !body.iter().any(|token| token.text == "#" || token.text == "__VA_OPT__")
}
