//! One list item of a clause, with its array sections.

use crate::source::Span;
use crate::syntax::token::{TokenKind, Tokens};

/// One item of a clause's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListItem {
    /// The whole item.
    pub span: Span,
    /// The variable that it starts from: `a` in `a[0:n]`, `s` in `s.x[i]` and `s->x`, `this` in `this[:1]` and
    /// `this->x`; `None` where it is anything else (`*p`, `(*p).x`, `([n])p`, `A::b`).
    pub base: Option<String>,
    /// The subscripts and sections right behind the last member, in order: two for `a[i][0:n]`.
    pub sections: Vec<ArraySection>,
    /// Is it a plain variable: a name and nothing else?
    pub is_name: bool,
    /// Does it name a member (`.` or `->`), or dereference a pointer?
    pub has_member: bool,
}

/// `[lower : length : stride]`, or a subscript `[lower]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArraySection {
    /// From `[` to `]`.
    pub span: Span,
    /// The first element; absent in `[:n]`.
    pub lower_bound: Option<Span>,
    /// How many elements; absent in `[a:]`. It is a length, never an upper bound.
    pub length: Option<Span>,
    /// The step, where given.
    pub stride: Option<Span>,
    /// Has it a colon? Without one it is a plain subscript.
    pub is_section: bool,
}

impl ListItem {
    /// Does it start from this variable?
    #[must_use]
    pub fn is_of(&self, name: &str) -> bool {
        self.base.as_deref() == Some(name)
    }

    /// Reads one list item. What is no list item of the specification comes back without a base.
    pub(super) fn read(tokens: Tokens<'_>) -> Option<Self> {
        let span = tokens.span()?;
        let mut item = Self { span, base: None, sections: Vec::new(), is_name: tokens.is_word(), has_member: false };
        let at = item.read_head(tokens);
        item.read_postfixes(tokens, at);
        Some(item)
    }

    /// Reads what the item starts from; the index behind it.
    fn read_head(&mut self, tokens: Tokens<'_>) -> usize {
        let mut at = 0;
        while tokens.kind(at) == Some(TokenKind::Star) {
            self.has_member = true;
            at += 1;
        }
        match tokens.kind(at) {
            Some(TokenKind::Word) if at == 0 && tokens.kind(1) != Some(TokenKind::Scope) => {
                self.base = Some(tokens.text(0).to_owned());
                1
            }
            Some(TokenKind::Word | TokenKind::Scope) => {
                while matches!(tokens.kind(at), Some(TokenKind::Word | TokenKind::Scope)) {
                    at += 1;
                }
                at
            }
            // `(*p)`, or the shape of `([n])p`.
            Some(TokenKind::Open(b'(')) => {
                self.has_member = true;
                let shape = tokens.inside(at, b'(').is_some_and(|inside| inside.inside(0, b'[').is_some());
                tokens.after(at) + usize::from(shape)
            }
            _ => at,
        }
    }

    fn read_postfixes(&mut self, tokens: Tokens<'_>, mut at: usize) {
        while at < tokens.len() {
            let next = tokens.after(at);
            if let Some(inside) = tokens.inside(at, b'[') {
                self.sections.extend(ArraySection::read(tokens.slice(at, next), inside));
                at = next;
            } else if tokens.kind(at) == Some(TokenKind::Member) && tokens.kind(at + 1) == Some(TokenKind::Word) {
                self.has_member = true;
                self.sections.clear();
                at += 2;
            } else {
                // A call, an operator, a template's arguments: whatever it is, it starts from no variable known here.
                self.base = None;
                self.sections.clear();
                return;
            }
        }
    }
}

impl ArraySection {
    fn read(whole: Tokens<'_>, inside: Tokens<'_>) -> Option<Self> {
        let mut section =
            Self { span: whole.span()?, lower_bound: None, length: None, stride: None, is_section: false };
        let (first, rest) = cut(inside);
        section.lower_bound = first.span();
        let Some(rest) = rest else { return Some(section) };
        section.is_section = true;
        let (second, rest) = cut(rest);
        section.length = second.span();
        section.stride = rest.and_then(Tokens::span);
        Some(section)
    }
}

/// The tokens before the first colon, and those behind it where there is one.
fn cut(tokens: Tokens<'_>) -> (Tokens<'_>, Option<Tokens<'_>>) {
    match tokens.colon() {
        Some(at) => (tokens.slice(0, at), Some(tokens.from(at + 1))),
        None => (tokens, None),
    }
}
