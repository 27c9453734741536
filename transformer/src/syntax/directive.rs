//! One directive, typed.

use crate::source::{DirectiveText, Span, Spelling};
use crate::syntax::clause;
use crate::syntax::spec_table::{ClauseId, DirectiveSpec};
use crate::syntax::token::{TokenKind, Tokens};
use crate::syntax::{Clause, ClauseArgument, ClauseName};

/// One OpenMP directive: its name, taken apart by the specification's table, and its clauses as written.
#[derive(Clone, Debug)]
pub struct Directive {
    /// The whole directive, `#pragma omp` included: [`crate::source::DirectiveText::span`].
    pub span: Span,
    /// How it is written down.
    pub spelling: Spelling,
    /// The words of its name in the file (`target teams`, with what lies between them); empty if there is none.
    pub name_span: Span,
    /// The name with single blanks between its words and 6.0's underscores taken as blanks.
    pub name: String,
    /// The table's row for the name; `None` for a directive that it does not know.
    pub spec: Option<&'static DirectiveSpec>,
    /// The argument that some directives take in parentheses right after their name (`critical(name)`, `flush(list)`,
    /// `declare target(list)`, `depobj(x)`), without the parentheses.
    pub argument: Option<Span>,
    /// The clauses in the order written.
    pub clauses: Vec<Clause>,
    /// Where the text could not be read as a directive; such a directive must not be touched.
    pub problems: Vec<Span>,
    /// The `#if` alternatives it stands in, as in [`crate::source::DirectiveText::alternative`].
    pub alternative: Option<(usize, usize)>,
}

impl Directive {
    /// Is it the directive of this name?
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// Does it only share the iterations of loops among threads or lanes of the host?
    #[must_use]
    pub fn shares_host_loops(&self) -> bool {
        matches!(self.name.as_str(), "parallel for" | "parallel for simd" | "simd")
    }

    /// Does it say no more than how a compiler translates the loop behind it?
    #[must_use]
    pub fn transforms_loop(&self) -> bool {
        matches!(self.name.as_str(), "tile" | "unroll")
    }

    /// Its clauses of one name, in the order written.
    pub fn clauses_of(&self, name: ClauseName) -> impl Iterator<Item = &Clause> {
        self.clauses.iter().filter(move |clause| clause.name == name)
    }

    /// The clauses that the specification does not permit here: those that the directive does not take, and the second of
    /// those that may stand only once. `None` if the directive or the clause is unknown.
    pub fn misplaced_clauses(&self) -> impl Iterator<Item = &Clause> {
        let permitted = self.spec.map(|spec| spec.clauses);
        self.clauses.iter().enumerate().filter_map(move |(index, clause)| {
            let foreign = permitted.is_some_and(|set| !set.contains(&clause.name));
            let earlier = self.clauses.get(..index).unwrap_or_default();
            let again = clause.name.spec().unique && earlier.iter().any(|other| other.name == clause.name);
            (clause.name != ClauseId::Unknown && (foreign || again)).then_some(clause)
        })
    }

    /// A directive whose text is not known.
    pub(super) fn unreadable(text: &DirectiveText) -> Self {
        Self {
            span: text.span,
            spelling: text.spelling,
            name_span: Span::new(text.span.start, text.span.start),
            name: String::new(),
            spec: None,
            argument: None,
            clauses: Vec::new(),
            problems: vec![text.span],
            alternative: text.alternative,
        }
    }

    /// Reads the words, clauses and commas of a directive. `problems` are those that the parser has found.
    pub(super) fn read(text: &DirectiveText, tokens: Tokens<'_>, problems: Vec<Span>) -> Self {
        let mut directive = Self { problems, ..Self::unreadable(text) };
        let items = directive.read_items(tokens);
        let named = directive.read_name(&items);
        directive.read_clauses(items.get(named..).unwrap_or_default());
        if directive.name == "flush" {
            directive.move_flush_list();
        }
        directive
    }

    /// Groups the tokens into words, each with its parentheses.
    fn read_items<'a>(&mut self, tokens: Tokens<'a>) -> Vec<Item<'a>> {
        let mut items = Vec::new();
        let (mut at, mut after_comma) = (0, false);
        while at < tokens.len() {
            let comma = tokens.kind(at) == Some(TokenKind::Comma);
            if let (Some(TokenKind::Word), Some(token)) = (tokens.kind(at), tokens.get(at)) {
                let next = tokens.after(at + 1);
                let inside = tokens.inside(at + 1, b'(');
                let outer = tokens.slice(at + 1, next).span();
                items.push(Item { word: tokens.text(at), span: token.span, parentheses: outer.zip(inside) });
                at = if inside.is_some() { next } else { at + 1 };
            } else {
                // Commas stand one at a time between clauses; all else that is here is part of an ERROR node.
                if comma && (after_comma || items.is_empty()) {
                    self.problems.extend(tokens.get(at).map(|token| token.span));
                }
                at = tokens.after(at);
            }
            after_comma = comma;
        }
        items
    }

    /// Reads the name: the longest one that the table knows, otherwise all words up to the first clause or parentheses.
    /// Returns how many items it takes.
    fn read_name(&mut self, items: &[Item<'_>]) -> usize {
        let (known, name) = longest_name(items);
        self.spec = DirectiveSpec::of_name(&name);
        let count = if self.spec.is_some() { known } else { unknown_name(items) };
        let words = items.get(..count).unwrap_or_default();
        let (Some(first), Some(last)) = (words.first(), words.last()) else {
            self.problems.push(self.span);
            return 0;
        };
        self.name_span = Span::new(first.span.start, last.span.end);
        self.name = if self.spec.is_some() { name } else { join(words) };
        if let Some((outer, inside)) = last.parentheses {
            self.argument = Some(inside.span().unwrap_or(Span::new(outer.start + 1, outer.start + 1)));
            if inside.is_empty() || self.spec.is_some_and(|spec| !spec.takes_argument) {
                self.problems.push(outer);
            }
        }
        count
    }

    fn read_clauses(&mut self, items: &[Item<'_>]) {
        let in_metadirective = self.name.ends_with("metadirective");
        for item in items {
            let id = match ClauseId::of_name(item.word) {
                // There `default` holds a directive, as `otherwise` does.
                ClauseId::Default if in_metadirective => ClauseId::Otherwise,
                id => id,
            };
            self.clauses.push(clause::read(id, item.span, item.parentheses, &mut self.problems));
        }
    }

    /// `flush acq_rel(a, b)`: the parentheses are the directive's, not the clause's.
    fn move_flush_list(&mut self) {
        for clause in &mut self.clauses {
            if let ClauseArgument::Expression(list) = clause.argument {
                self.argument = Some(list);
                clause.argument = ClauseArgument::Absent;
                clause.span = clause.name_span;
            }
        }
    }
}

/// A word of the directive's name, or a clause.
struct Item<'a> {
    word: &'a str,
    span: Span,
    parentheses: Option<(Span, Tokens<'a>)>,
}

/// More words than the longest name has (`target teams distribute parallel for simd`).
const LONGEST_NAME: usize = 8;

/// The longest run of words that the table knows as a name, and how many items it takes; only the last may have
/// parentheses. None is known where the name comes back empty.
fn longest_name(items: &[Item<'_>]) -> (usize, String) {
    let bare = items.iter().take(LONGEST_NAME).take_while(|item| item.parentheses.is_none()).count();
    let mut count = items.len().min(bare + 1).min(LONGEST_NAME);
    let mut name = join(items.get(..count).unwrap_or_default()).replace('_', " ");
    while count > 0 && DirectiveSpec::of_name(&name).is_none() {
        count -= 1;
        name = join(items.get(..count).unwrap_or_default()).replace('_', " ");
    }
    (count, name)
}

/// How many items the name of an unknown directive takes: up to the first clause, and to the first parentheses.
fn unknown_name(items: &[Item<'_>]) -> usize {
    let is_name = |item: &&Item<'_>| item.parentheses.is_none() && ClauseId::of_name(item.word) == ClauseId::Unknown;
    items.iter().take_while(is_name).count().max(1).min(items.len())
}

fn join(items: &[Item<'_>]) -> String {
    items.iter().map(|item| item.word).collect::<Vec<_>>().join(" ")
}
