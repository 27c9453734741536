//! Where a piece of text names members: `g->u`, `d.x`, `this->u`, and names that may be members of the class around them.

use crate::context::Context;
use crate::semantics::symbols::{Scope, Variable, VariableId};
use crate::source::Span;
use crate::source::pragma_scan::skip_token;

/// Which member of which object: the variable that it starts from, or `None` for the object of a member function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::transforms::hoist_maps) struct Key {
    pub base: Option<VariableId>,
    pub member: String,
}

/// A place that names a member.
pub(in crate::transforms::hoist_maps) struct Access {
    /// All of it: `g->u`.
    pub span: Span,
    /// What stands before the member: `g` or `this`; `None` where the member stands alone.
    pub base: Option<Span>,
    pub is_arrow: bool,
    pub key: Key,
}

/// All places in a piece of the file, directives included, that name a member of a variable or of the object of a member function.
pub(in crate::transforms::hoist_maps) fn accesses(cx: &Context<'_>, piece: Span) -> Vec<Access> {
    let tokens = tokens(&cx.file.text, piece);
    let word = |index: usize| tokens.get(index).filter(|token| is_word(cx, token)).copied();
    let is = |index: usize, text: &[u8]| tokens.get(index).is_some_and(|token| cx.file.bytes(*token) == text);
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let is_part = index > 0 && [&b"."[..], b"->", b"::"].iter().any(|before| is(index - 1, before));
        if is_part || !is_word(cx, token) {
            continue;
        }
        if let Some(access) = of_vector(cx, &tokens, index) {
            found.push(access);
            continue;
        }
        let is_arrow = is(index + 1, b"->");
        let selected = (is_arrow || is(index + 1, b".")).then(|| word(index + 2)).flatten();
        let access = match selected {
            Some(member) => {
                let name = cx.file.show(*token);
                let base = match &*name {
                    "this" => None,
                    _ => match cx.named(&name, token.start) {
                        Some((named, variable)) if variable.scope != Scope::Member => Some(named.id),
                        _ => continue,
                    },
                };
                let key = Key { base, member: cx.file.show(member).into_owned() };
                Access { span: Span::new(token.start, member.end), base: Some(*token), is_arrow, key }
            }
            None => {
                let name = cx.file.show(*token);
                if !cx.named(&name, token.start).is_some_and(|(_, variable)| is_own_member(&variable)) {
                    continue;
                }
                Access { span: *token, base: None, is_arrow, key: Key { base: None, member: name.into_owned() } }
            }
        };
        found.push(access);
    }
    found
}

/// What a vector is asked for: `v.data()`, or `a.v.size()` and `p->v.size()` of a structure.
fn of_vector(cx: &Context<'_>, tokens: &[Span], index: usize) -> Option<Access> {
    let text = |at: usize| tokens.get(at).map(|token| cx.file.bytes(*token)).unwrap_or_default();
    let asked = |at: usize| {
        let is_call = text(at) == b"." && text(at + 2) == b"(" && text(at + 3) == b")";
        [DATA, SIZE]
            .into_iter()
            .find(|own| is_call && own.strip_suffix("()").is_some_and(|own| text(at + 1) == own.as_bytes()))
    };
    let base = *tokens.get(index)?;
    let is_arrow = text(index + 1) == b"->";
    let (member, end) = match (asked(index + 1), asked(index + 3)) {
        (Some(own), _) => (own.to_owned(), index + 4),
        (None, Some(own)) if is_arrow || text(index + 1) == b"." => {
            (format!("{}.{own}", String::from_utf8_lossy(text(index + 2))), index + 6)
        }
        _ => return None,
    };
    let (named, variable) = cx.named(&cx.file.show(base), base.start)?;
    (variable.scope != Scope::Member).then_some(())?;
    let span = Span::new(base.start, tokens.get(end)?.end);
    Some(Access { span, base: Some(base), is_arrow, key: Key { base: Some(named.id), member } })
}

/// The call that gives the address of a vector's memory.
const DATA: &str = "data()";

/// The call that gives the number of a vector's elements.
const SIZE: &str = "size()";

impl Key {
    /// The member that is a vector, where it is asked for its memory or size: empty where the variable is the vector. Beside it whether it
    /// is asked for its memory.
    pub(in crate::transforms::hoist_maps) fn of_vector(&self) -> Option<(&str, bool)> {
        let found = [(DATA, true), (SIZE, false)]
            .into_iter()
            .find_map(|(own, is_memory)| self.member.strip_suffix(own).map(|member| (member, is_memory)));
        found.map(|(member, is_memory)| (member.strip_suffix('.').unwrap_or(member), is_memory))
    }
}

/// Is it a member that each object has for itself?
pub(in crate::transforms::hoist_maps) fn is_own_member(variable: &Variable) -> bool {
    variable.scope == Scope::Member && !variable.is_static
}

fn is_word(cx: &Context<'_>, token: &Span) -> bool {
    cx.file.bytes(*token).first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
}

/// Words, `->`, `::` and single other bytes, without comments and literals.
pub(in crate::transforms::hoist_maps) fn tokens(text: &[u8], piece: Span) -> Vec<Span> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut found = Vec::new();
    let mut at = piece.start;
    while at < piece.end {
        let behind = skip_token(text, at);
        let rest = text.get(at..piece.end).unwrap_or_default();
        let length = match rest {
            // A comment or a literal.
            _ if behind > at + 1 => {
                at = behind;
                continue;
            }
            [byte, ..] if is_part(byte) => rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len()),
            [b'-', b'>', ..] | [b':', b':', ..] => 2,
            _ => 1,
        };
        if !rest.first().is_some_and(u8::is_ascii_whitespace) {
            found.push(Span::new(at, at + length));
        }
        at += length;
    }
    found
}
