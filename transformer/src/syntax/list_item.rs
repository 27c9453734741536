//! One list item of a clause, with its array sections.

use crate::source::Span;

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
