//! Declarations that macros make in a function: `DECLARE(int, k);`. Whatever they may declare hides what has its name outside.

use std::collections::BTreeSet;

use super::unread_declarations::UNREAD;
use super::{Macro, Symbols};
use crate::semantics::macros::expansion::tokens::{Token, arguments, replaced, tokens};
use crate::source::{Span, scan, words};
use crate::syntax::{Field, NodeId, NodeKind};

/// How often macros are replaced in each other.
const DEPTH: usize = 8;

/// How many texts a statement may stand for, by the definitions that the preprocessor may choose.
const MOST_TEXTS: usize = 16;

/// Words that begin a statement which declares nothing by itself.
const STATEMENTS: &[&str] = &[
    "break", "case", "continue", "default", "delete", "do", "else", "for", "goto", "if", "new", "return", "sizeof",
    "switch", "throw", "while",
];

/// Words with which a declaration begins whose names may stand anywhere behind.
const DECLARATIONS: &[&str] = &["class", "enum", "struct", "typedef", "union", "using"];

/// The use of a macro as a statement, and the names that it may declare, or `None` if that may be any.
pub(super) struct DeclaringUse {
    start: usize,
    names: Option<BTreeSet<String>>,
}

impl Symbols<'_> {
    /// May a macro used as a statement between two bytes of the file declare a name?
    pub(super) fn may_be_declared_by_macro(&self, name: &str, from: usize, at: usize) -> bool {
        let uses = self.declaring_uses.get_or_init(|| self.find_declaring_uses());
        let first = uses.partition_point(|used| used.start < from);
        let mut between = uses.iter().skip(first).take_while(|used| used.start < at);
        between.any(|used| used.names.as_ref().is_none_or(|names| names.contains(name)))
    }

    fn find_declaring_uses(&self) -> Vec<DeclaringUse> {
        let headers = self.headers.iter().flat_map(|(header, _)| {
            let definitions = scan(&header.text).definitions;
            definitions.into_iter().map(|found| header.show(found.name).into_owned())
        });
        let flags = self.definitions.iter().map(|flag| flag.name.clone());
        let elsewhere: BTreeSet<String> = headers.chain(flags).collect();
        let own = &self.own.table.macros;
        let tree = self.own.tree.as_ref();
        let mut may_begin = [false; 256];
        for name in own.keys().chain(&elsewhere) {
            may_begin[usize::from(name.as_bytes().first().copied().unwrap_or(0))] = true;
        }
        let is_macro = |node: NodeId| {
            let span = tree.span(node);
            if !self.own.file.text.get(span.start).is_some_and(|first| may_begin[usize::from(*first)]) {
                return false;
            }
            let name = self.own.file.show(span);
            // A definition says nothing of what stands before it.
            let is_before = |(definition, _): &(NodeId, _)| tree.span(*definition).start < span.start;
            elsewhere.contains(&*name) || own.get(&*name).is_some_and(|all| all.iter().any(is_before))
        };
        let kinds = [&[NodeKind::Identifier, NodeKind::TypeIdentifier], UNREAD].concat();
        let all = tree.all_of(&kinds).filter_map(|node| {
            if !UNREAD.contains(&tree.kind(node)) {
                is_macro(node).then_some(())?;
                let statement = self.statement_begun_by(node).or_else(|| self.declaration_of_name(node))?;
                return self.declaring_use(statement);
            }
            let unread = self.unread_declaration(node)?;
            let names = words(&self.own.file.show(unread)).map(str::to_owned).collect();
            Some(DeclaringUse { start: unread.start, names: Some(names) })
        });
        let mut found: Vec<DeclaringUse> = all.collect();
        found.sort_by_key(|used| used.start);
        found
    }

    /// The declaration in a function that declares something by a name.
    fn declaration_of_name(&self, name: NodeId) -> Option<Span> {
        let tree = self.own.tree.as_ref();
        let is_declarator = |node: &NodeId| tree.kind(*node).is_declarator();
        let mut outwards = tree.ancestors(name).skip_while(is_declarator);
        let declaration = outwards.next().filter(|node| tree.kind(*node) == NodeKind::Declaration)?;
        let is_named = tree.field(name) == Some(Field::Declarator);
        let in_function = outwards.any(|above| tree.kind(above) == NodeKind::FunctionDefinition);
        (is_named && in_function).then(|| tree.span(declaration))
    }

    /// The statement in a function that begins with a node.
    fn statement_begun_by(&self, node: NodeId) -> Option<Span> {
        let tree = self.own.tree.as_ref();
        let start = tree.span(node).start;
        let mut around = tree.ancestors(node).take_while(|above| tree.span(*above).start == start);
        let statement = around.find(|above| {
            tree.kind(*above).is_statement() || matches!(tree.kind(*above), NodeKind::Declaration | NodeKind::Error)
        })?;
        let in_function = tree.ancestors(statement).any(|above| tree.kind(above) == NodeKind::FunctionDefinition);
        let is_read = tree.kind(statement) == NodeKind::Declaration && tree.child(statement, Field::Type) == Some(node);
        let is_type = || self.stands_for_words(&self.own.file.show(tree.span(node)), start);
        (in_function && !(is_read && is_type())).then(|| tree.span(statement))
    }

    /// Does a macro stand for words alone, whichever of its definitions holds? A declaration that begins with it is read as it is.
    fn stands_for_words(&self, name: &str, at: usize) -> bool {
        let are_words = |body: &str| body.chars().all(|c| c.is_alphanumeric() || c == '_' || c.is_whitespace());
        self.macros_named(name, at).iter().all(|found| found.parameters.is_none() && are_words(&found.body))
    }

    fn declaring_use(&self, statement: Span) -> Option<DeclaringUse> {
        let text = self.own.file.show(statement);
        if self.is_block_of_macro(&text, statement.start) {
            return None;
        }
        let texts = self.expanded(&text, statement.start, DEPTH);
        let names = texts.map(|texts| texts.iter().flat_map(|text| declared(text)).collect::<BTreeSet<_>>());
        let declares = names.as_ref().is_none_or(|names| !names.is_empty());
        declares.then_some(DeclaringUse { start: statement.start, names })
    }

    /// A text with its macros replaced, by each choice of their definitions, or `None` if that cannot be followed.
    fn expanded(&self, text: &str, at: usize, depth: usize) -> Option<Vec<String>> {
        let depth = depth.checked_sub(1)?;
        let mut out = vec![String::new()];
        let mut rest = text;
        let mut brackets = 0_usize;
        while let Some((token, after)) = tokens(rest) {
            rest = after;
            let Token::Word(word) = token else {
                match token.text() {
                    "[" => brackets += 1,
                    "]" => brackets = brackets.saturating_sub(1),
                    _ => {}
                }
                append(&mut out, token.text());
                continue;
            };
            let found = self.macros_named(word, at);
            // Nothing is declared between brackets, whichever of its definitions holds.
            if brackets > 0 && self.are_values(&found, at) {
                append(&mut out, word);
                continue;
            }
            let takes_arguments = found.first().is_some_and(|one| one.parameters.is_some());
            let are_alike = found.iter().all(|one| one.parameters.is_some() == takes_arguments);
            if !are_alike || found.len() > 1 && found.iter().any(|one| one.is_elsewhere) {
                return None;
            }
            let given = arguments(after).filter(|_| takes_arguments);
            if found.is_empty() || takes_arguments && given.is_none() {
                append(&mut out, word);
                continue;
            }
            let (given, behind) = given.unwrap_or((Vec::new(), after));
            rest = behind;
            let mut next = Vec::new();
            for one in &found {
                for text in self.followed(word, &substituted(one, &given)?, at, depth)? {
                    next.extend(out.iter().map(|out| format!("{out}{text}")));
                }
            }
            out = Some(next).filter(|next| next.len() <= MOST_TEXTS)?;
        }
        Some(out)
    }

    /// Does each of several macros stand for arithmetic, in which no other macro is named?
    fn are_values(&self, macros: &[Macro], at: usize) -> bool {
        let is_value = |c: char| c.is_alphanumeric() || c.is_whitespace() || "_.+-*/%()".contains(c);
        macros.iter().all(|found| {
            found.parameters.is_none()
                && found.body.chars().all(is_value)
                && words(&found.body).all(|word| self.macros_named(word, at).is_empty())
        })
    }

    /// The text of a macro with the macros in it replaced, but for itself.
    fn followed(&self, name: &str, body: &str, at: usize, depth: usize) -> Option<Vec<String>> {
        let body = pasted(body);
        if words(&body).any(|word| word == name) { Some(vec![body]) } else { self.expanded(&body, at, depth) }
    }
}

fn append(all: &mut [String], text: &str) {
    all.iter_mut().for_each(|out| out.push_str(text));
}

/// The text of a macro with arguments in the place of its parameters, or `None` if a sign in it cannot be followed.
fn substituted(found: &Macro, given: &[&str]) -> Option<String> {
    let body = without_strings(&found.body, found.parameters.as_deref().unwrap_or_default())?;
    let Some(parameters) = &found.parameters else { return Some(body) };
    let rest = || given.get(parameters.len()..).unwrap_or_default().join(",");
    Some(replaced(&body, |word| match parameters.iter().position(|name| name == word) {
        Some(index) => Some(given.get(index).copied().unwrap_or_default().trim().to_owned()),
        None => (word == "__VA_ARGS__").then(rest),
    }))
}

/// The text of a macro with `""` for each parameter that is made into a string, and without the sign that takes away the comma before no
/// arguments (`, ##__VA_ARGS__`). Other signs that put words together stay.
fn without_strings(body: &str, parameters: &[String]) -> Option<String> {
    if body.contains("%:") {
        return None;
    }
    let mut out = String::new();
    let mut rest = body;
    while let Some(at) = rest.find('#') {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        if let Some(joined) = behind.strip_prefix("##") {
            rest = joined.trim_start();
            if !out.trim_end().ends_with(',') || !rest.starts_with("__VA_ARGS__") {
                out.push_str("##");
            }
            continue;
        }
        let behind = behind.get(1..).unwrap_or_default().trim_start();
        let Some((Token::Word(word), after)) = tokens(behind) else { return None };
        if word != "__VA_ARGS__" && !parameters.iter().any(|parameter| parameter == word) {
            return None;
        }
        out.push_str("\"\"");
        rest = after;
    }
    Some(out + rest)
}

/// A text with the words around each `##` made one.
fn pasted(body: &str) -> String {
    let mut pieces = body.split("##");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |before, piece| format!("{}{}", before.trim_end(), piece.trim_start()))
}

/// The names that statements may declare; all words of those that may be declarations.
fn declared(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut rest = text;
    loop {
        let end = rest.find([';', '{', '}', '(']).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        let mut parts = words(piece);
        let first = parts.next();
        let is_other = first.is_some_and(|word| DECLARATIONS.contains(&word));
        let is_type = first.is_some_and(|word| !STATEMENTS.contains(&word));
        let points = behind.starts_with("(*") && [")(", ") (", ")["].iter().any(|sign| behind.contains(sign));
        let is_two = is_type && (parts.next().is_some() && has_pair(piece) || points);
        if is_other || is_two {
            let statement = &rest[..rest[end..].find(';').map_or(rest.len(), |at| end + at)];
            let all = if is_other { text.to_owned() } else { without_values(statement) };
            found.extend(words(&all).map(str::to_owned));
        }
        rest = match behind.chars().next() {
            // Nothing in parentheses is a statement of its own.
            Some('(') => arguments(behind).map_or("", |(_, after)| after),
            Some(_) => &behind[1..],
            None => return found,
        };
    }
}

/// A declaration without what its variables are initialised with.
fn without_values(declaration: &str) -> String {
    let (mut depth, mut in_value) = (0_usize, false);
    let kept = declaration.chars().filter(|c| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '=' if depth == 0 => in_value = true,
            ',' if depth == 0 => in_value = false,
            _ => {}
        }
        !in_value
    });
    kept.collect()
}

/// Does a piece begin with two words side by side, or with a star or `&` between them, as declarations do?
fn has_pair(piece: &str) -> bool {
    // `vector<int> k`
    if let Some((front, back)) = piece.split_once('<').and_then(|(front, rest)| Some((front, rest.rsplit_once('>')?.1)))
    {
        return has_pair(&format!("{front} {back}"));
    }
    let mut last_was_word = false;
    for part in piece.split_whitespace() {
        for token in split_words(part) {
            let is_word = token.chars().all(|c| c.is_alphanumeric() || c == '_');
            match token {
                _ if is_word && last_was_word => return true,
                "*" | "&" | ":" => {}
                _ if is_word => last_was_word = true,
                _ => return false,
            }
        }
    }
    false
}

/// Words and single characters.
fn split_words(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (one, behind) = rest.split_at(end);
        out.push(one);
        rest = behind;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_declare_nothing_and_words_are_pasted() {
        let parameters = ["x".to_owned()];
        let read = |body: &str| without_strings(body, &parameters);
        assert_eq!(read("f(\"a \" #x, ##__VA_ARGS__)").as_deref(), Some("f(\"a \" \"\", __VA_ARGS__)"));
        for body in ["#y", "#", "a %:%: x"] {
            assert_eq!(read(body), None, "{body}");
        }
        assert_eq!(pasted(&read("int k_ ## x = 3, a##x;").unwrap_or_default()), "int k_x = 3, ax;");
    }

    #[test]
    fn declarations_are_told_from_other_statements() {
        for (text, name) in [
            ("uint8_t k = 250;", "k"),
            ("do_it(a); int *k = a, j;", "j"),
            ("{ unsigned char k", "k"),
            ("enum { A = 3, k }", "k"),
            ("typedef int (*k)(int);", "k"),
            ("std::size_t k = 3", "k"),
            ("const int k(3);", "k"),
            ("int (*k)(int) = f;", "k"),
        ] {
            assert!(declared(text).contains(name), "{text}");
        }
        for text in
            ["assert(n > 0 && k);", "k = k + 1;", "do { if (k) exit(1); } while (0)", "return k;", "f(k, a * k);", ""]
        {
            assert!(!declared(text).contains("k"), "{text}");
        }
    }
}
