//! One clause, typed.

use crate::source::Span;
use crate::syntax::ListItem;
use crate::syntax::spec_table::{self, ArgumentForm, ClauseId, ClauseSpec, Leaf};
use crate::syntax::token::{TokenKind, Tokens};

/// The name of a clause. `Unknown` keeps the clause; nothing is known of it.
pub type ClauseName = ClauseId;

/// A modifier before the colon of a clause's argument, or behind it in the old `linear(a: 2)` manner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modifier {
    /// The whole modifier.
    pub span: Span,
    /// Its words as written, single blanks between them: `tofrom`, `always`, `mapper`, `target` (in `if(target: e)`),
    /// `target data`, `+` (in `reduction(+: s)`), `iterator`. An expression that stands for a modifier has the modifier's
    /// name: `lower_bound` in `num_teams(2: 4)`, `allocator` in `allocate(a: x)`, `step` in `linear(x: 2)`, `alignment` in
    /// `aligned(p: 64)`.
    pub name: String,
    /// What stands in its own parentheses: `mapper(id)`, `iterator(it)`, `linear(val(x))`; or such an expression.
    pub argument: Option<Span>,
}

/// What a clause's parentheses hold after its modifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClauseArgument {
    /// No parentheses: `nowait`.
    Absent,
    /// A list: `map`, `private`, `reduction`, `depend`, `linear` ..
    Items(Vec<ListItem>),
    /// One C or C++ expression: `num_teams`, `if`, `device`, `collapse` ..
    Expression(Span),
    /// Words of the specification and what follows them: `schedule(static, 4)`, `default(none)`, `defaultmap(a: b)`,
    /// `bind(teams)`, `order(concurrent)`, `proc_bind(close)`, `sizes(4, 8)`. The pieces between top-level commas; for
    /// `defaultmap` the implicit behaviour and then the variable category, where it is given.
    Words(Vec<Span>),
    /// Anything else, kept byte for byte.
    Raw(Span),
}

/// One clause as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// From its name to its closing parenthesis.
    pub span: Span,
    /// Its name.
    pub name: ClauseName,
    /// Its name in the file.
    pub name_span: Span,
    /// Its modifiers in order: all that stands before the top-level colon, split at top-level commas. For `map` the map
    /// type is one of them; for `reduction` the operator; for `if` the directive name; for `defaultmap` nothing.
    pub modifiers: Vec<Modifier>,
    /// What follows the colon, or everything where there is none. In `linear` and `aligned` the list stands before it.
    pub argument: ClauseArgument,
}

impl Clause {
    /// Its list items, or `None` if it takes no list.
    #[must_use]
    pub fn items(&self) -> &[ListItem] {
        match &self.argument {
            ClauseArgument::Items(items) => items,
            _ => &[],
        }
    }

    /// Does an item of its list start from this variable?
    #[must_use]
    pub fn lists(&self, name: &str) -> bool {
        self.items().iter().any(|item| item.is_of(name))
    }

    /// Its one expression, where it has one.
    #[must_use]
    pub fn expression(&self) -> Option<Span> {
        match self.argument {
            ClauseArgument::Expression(span) => Some(span),
            _ => None,
        }
    }

    /// The leaves of the directive that a directive-name modifier names: `target` in `if(target: e)`.
    #[must_use]
    pub fn directive_name_modifier(&self) -> Option<&'static [Leaf]> {
        let words = self.name.spec().modifiers;
        let names = self.modifiers.iter().filter(|m| m.argument.is_none() && !words.contains(&m.name.as_str()));
        names.filter_map(|modifier| spec_table::decompose(&modifier.name)).next()
    }

    /// The leaf constructs of a directive on which it takes effect, outermost first; [`spec_table::landing`] says how.
    #[must_use]
    pub fn lands_on(&self, leaves: &[Leaf]) -> Vec<Leaf> {
        spec_table::landing(self.name, self.directive_name_modifier(), leaves)
    }

    /// Has it this modifier?
    #[must_use]
    pub fn has_modifier(&self, name: &str) -> bool {
        self.modifiers.iter().any(|m| m.name == name)
    }
}

/// Reads one clause: its name, the tokens in its parentheses where it has them, and where these parentheses are.
pub(super) fn read(
    id: ClauseId,
    name_span: Span,
    parentheses: Option<(Span, Tokens<'_>)>,
    problems: &mut Vec<Span>,
) -> Clause {
    let spec = id.spec();
    let Some((outer, tokens)) = parentheses else {
        if !spec.bare {
            problems.push(name_span);
        }
        return Clause { span: name_span, name: id, name_span, modifiers: vec![], argument: ClauseArgument::Absent };
    };
    let span = Span::new(name_span.start, outer.end);
    let (modifiers, argument) = read_parentheses(spec, outer, tokens, problems);
    Clause { span, name: id, name_span, modifiers, argument }
}

fn read_parentheses(
    spec: &ClauseSpec,
    outer: Span,
    tokens: Tokens<'_>,
    problems: &mut Vec<Span>,
) -> (Vec<Modifier>, ClauseArgument) {
    let Some(whole) = tokens.span() else {
        problems.push(outer);
        return (vec![], ClauseArgument::Raw(Span::new(outer.start + 1, outer.end.saturating_sub(1))));
    };
    let raw_without_modifiers = spec.form == ArgumentForm::Raw && spec.modifiers.is_empty();
    if raw_without_modifiers {
        return (vec![], ClauseArgument::Raw(whole));
    }
    if spec.id == ClauseId::Defaultmap {
        return (vec![], ClauseArgument::Words(read_defaultmap(tokens)));
    }
    if spec.list_first {
        return read_list_first(spec, tokens, problems);
    }
    let (modifiers, rest) = match tokens.colon() {
        Some(at) => (read_modifiers(spec, tokens.slice(0, at)), tokens.from(at + 1)),
        None => (vec![], tokens),
    };
    let argument = read_argument(spec, &modifiers, rest, whole, problems);
    (modifiers, argument)
}

fn read_argument(
    spec: &ClauseSpec,
    modifiers: &[Modifier],
    rest: Tokens<'_>,
    whole: Span,
    problems: &mut Vec<Span>,
) -> ClauseArgument {
    let end = Span::new(whole.end, whole.end);
    let span = rest.span().unwrap_or(end);
    let is_doacross = matches!(spec.id, ClauseId::Depend | ClauseId::Doacross);
    if is_doacross && modifiers.iter().any(|m| m.name == "sink" || m.name == "source") {
        return ClauseArgument::Raw(span);
    }
    if spec.id == ClauseId::Depend && modifiers.is_empty() {
        return ClauseArgument::Words(spans(rest));
    }
    if rest.is_empty() {
        problems.push(whole);
    }
    match spec.form {
        ArgumentForm::Items => ClauseArgument::Items(read_items(spec, rest, problems)),
        ArgumentForm::Words => ClauseArgument::Words(spans(rest)),
        ArgumentForm::Expression | ArgumentForm::None => ClauseArgument::Expression(span),
        ArgumentForm::Raw => ClauseArgument::Raw(span),
    }
}

fn spans(tokens: Tokens<'_>) -> Vec<Span> {
    tokens.split_commas().into_iter().filter_map(Tokens::span).collect()
}

/// `tofrom: scalar`: the implicit behaviour, and the variable category.
fn read_defaultmap(tokens: Tokens<'_>) -> Vec<Span> {
    let at = tokens.colon().unwrap_or(tokens.len());
    [tokens.slice(0, at), tokens.from(at + 1)].into_iter().filter_map(Tokens::span).collect()
}

/// Reads what stands before a colon. The commas between modifiers may be missing (5.0: `map(always tofrom: a)`).
fn read_modifiers(spec: &ClauseSpec, tokens: Tokens<'_>) -> Vec<Modifier> {
    tokens.split_commas().into_iter().flat_map(|piece| read_piece(spec, piece)).collect()
}

fn read_piece(spec: &ClauseSpec, piece: Tokens<'_>) -> Vec<Modifier> {
    let mut words = Vec::new();
    let mut at = 0;
    while piece.kind(at) == Some(TokenKind::Word) && spec.modifiers.contains(&piece.text(at)) {
        let argument = piece.inside(at + 1, b'(');
        let next = if argument.is_some() { piece.after(at + 1) } else { at + 1 };
        let Some(span) = piece.slice(at, next).span() else { break };
        let name = piece.text(at).to_owned();
        words.push(Modifier { span, name, argument: argument.and_then(Tokens::span) });
        at = next;
    }
    if at >= piece.len() { words } else { read_other_modifier(spec, piece).into_iter().collect() }
}

/// A modifier that is no word of the clause: a directive's name, an operator, a reduction identifier, an expression.
fn read_other_modifier(spec: &ClauseSpec, piece: Tokens<'_>) -> Option<Modifier> {
    let span = piece.span()?;
    let word_with_argument = piece.kind(0) == Some(TokenKind::Word) && piece.inside(1, b'(').is_some();
    Some(match spec.expression_modifier {
        Some(name) => Modifier { span, name: name.to_owned(), argument: Some(span) },
        None if word_with_argument && piece.after(1) == piece.len() => {
            Modifier { span, name: piece.text(0).to_owned(), argument: piece.inside(1, b'(').and_then(Tokens::span) }
        }
        None => Modifier { span, name: piece.joined(), argument: None },
    })
}

/// `linear(val(a, b): 2)`, `linear(a, b: val, step(2))`, `aligned(p: 64)`.
fn read_list_first(spec: &ClauseSpec, tokens: Tokens<'_>, problems: &mut Vec<Span>) -> (Vec<Modifier>, ClauseArgument) {
    let at = tokens.colon().unwrap_or(tokens.len());
    let (mut list, behind) = (tokens.slice(0, at), tokens.from(at + 1));
    let mut modifiers = Vec::new();
    let wraps = spec.modifiers.contains(&list.text(0)) && list.len() > 1 && list.after(1) == list.len();
    if let (true, Some(inside)) = (wraps, list.inside(1, b'(')) {
        let span = list.span().unwrap_or_default();
        modifiers.push(Modifier { span, name: list.text(0).to_owned(), argument: inside.span() });
        list = inside;
    }
    modifiers.extend(read_modifiers(spec, behind));
    (modifiers, ClauseArgument::Items(read_items(spec, list, problems)))
}

fn read_items(spec: &ClauseSpec, tokens: Tokens<'_>, problems: &mut Vec<Span>) -> Vec<ListItem> {
    let mut items = Vec::new();
    for piece in tokens.split_commas() {
        match ListItem::read(piece) {
            Some(item) => items.push(item),
            None => problems.extend(tokens.span()),
        }
        if piece.has_adjacent_operands() {
            problems.extend(piece.span());
        }
    }
    if spec.id == ClauseId::UsesAllocators {
        name_allocators(tokens, &mut items);
    }
    items
}

/// `uses_allocators(a(traits))`: the item starts from the allocator.
fn name_allocators(tokens: Tokens<'_>, items: &mut [ListItem]) {
    for (item, piece) in items.iter_mut().zip(tokens.split_commas()) {
        if piece.inside(1, b'(').is_some() && piece.after(1) == piece.len() {
            item.base = Some(piece.text(0).to_owned());
        }
    }
}
