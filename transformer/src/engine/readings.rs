//! The texts that a file may be read as: with what macros give to its directives in the place of their uses, and without the branches of
//! `#if` groups that are not taken.
//!
//! A macro may stand for clauses, or for words of a directive's name. The passes see a text in which each such use is replaced by what
//! the macro stands for; where a macro has several definitions, of which the preprocessor chooses, there is a text for every choice. So
//! there is for the branches of a group that cuts through a construct for a device. What the passes decide is told of the file, and an
//! edit is made only where all texts that have its place ask for it, and it changes nothing that comes from a macro: uses stay as they are,
//! and so do definitions.

mod agreement;
mod conditions;
mod declarations;
mod derived;
mod expand;
mod macros;
mod tokens;

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::engine::decided::Defined;
use crate::engine::parsing::{FileReader, Parsed};
use crate::engine::readings::conditions::Conditions;
use crate::engine::readings::derived::{Derived, Replacement};
use crate::engine::readings::expand::{Choice, Expander};
use crate::engine::readings::macros::Macros;
pub(super) use crate::engine::readings::macros::names_taken_back;
use crate::region::construct::Doubt;
use crate::semantics::symbols::FlagDefinition;
use crate::source::{Scan, SourceFile, Span, scan, words};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Field, HostError, NodeId, NodeKind};

/// More texts than this are not read; the uses then stay what they look like: words that are no clauses.
const MOST_TEXTS: usize = 16;

/// A file and all texts that it may be read as.
pub(super) struct Readings<'a> {
    file: &'a SourceFile,
    /// What the byte scan finds in the file.
    pub scan: Scan,
    /// At least one; the file itself where no directive uses a macro.
    pub texts: Vec<Reading<'a>>,
    /// The uses that are replaced in one of the texts, in order.
    uses: Vec<MacroUse>,
    /// The conditions that the texts differ by.
    conditions: Conditions,
}

/// One text that a file may be read as.
pub(super) struct Reading<'a> {
    /// The text.
    pub file: Cow<'a, SourceFile>,
    /// Its headers, where these are read otherwise than they are.
    pub headers: Option<Vec<SourceFile>>,
    derived: Derived,
    /// The parts of the file that the compiler does not see so.
    left_out: Vec<Span>,
    /// Its trees, where they were needed to find the texts.
    parsed: Option<Parsed>,
}

impl<'a> Reading<'a> {
    /// The file as it is.
    fn plain(file: &'a SourceFile, parsed: Option<Parsed>) -> Self {
        Self { file: Cow::Borrowed(file), headers: None, derived: Derived::default(), left_out: Vec::new(), parsed }
    }

    /// Hands out its trees: `None` if no directive in it can concern a device.
    ///
    /// # Errors
    /// When the text cannot be read within the limits.
    pub fn parsed(&mut self, reader: &mut FileReader) -> Result<Option<Parsed>, HostError> {
        match self.parsed.take() {
            Some(parsed) => Ok(Some(parsed)),
            None => reader.parse(&self.file),
        }
    }

    /// Where a range of the text stands in the file; all of a use for what comes from a macro.
    pub fn place(&self, span: Span) -> Span {
        self.derived.place(span)
    }

    /// Does the compiler see nothing of a range of the file?
    fn leaves_out(&self, span: Span) -> bool {
        self.left_out.iter().any(|left_out| left_out.start < span.start && span.end < left_out.end)
    }
}

/// The use of a macro in a directive.
struct MacroUse {
    span: Span,
    name: String,
    /// Where the macro is defined, for people.
    places: Vec<String>,
}

impl<'a> Readings<'a> {
    /// Reads a file in every way that the definitions in sight permit.
    ///
    /// # Errors
    /// When the file cannot be read within the limits.
    pub fn of(
        file: &'a SourceFile,
        headers: &[SourceFile],
        flags: &[FlagDefinition],
        reader: &mut FileReader,
    ) -> Result<Self, HostError> {
        let scan = scan(&file.text);
        let macros = match scan.directives.is_empty() {
            true => Macros::default(),
            false => Macros::of(file, &scan, headers, flags),
        };
        let mut all = Self { file, scan, texts: Vec::new(), uses: Vec::new(), conditions: Conditions::default() };
        let used = all.used(&macros);
        let uses_macros = !used.iter().all(Vec::is_empty);
        // Where directives use macros, the file as it is tells only what in it hides constructs.
        let is_parsed = !uses_macros || !all.scan.conditionals.is_empty() || macros.are_in_force();
        let parsed = if is_parsed { reader.parse_scanned(file, all.scan.clone())? } else { None };
        if let Some(parsed) = &parsed {
            let defined = Defined::of(file, headers, flags);
            all.conditions = Conditions::of(file, headers, parsed, &defined);
        }
        let is_plain = !uses_macros && !all.conditions.are_some();
        if is_plain && parsed.as_ref().is_none_or(|parsed| statements(file, parsed, &macros).is_empty())
            || !all.read(headers, &macros, parsed.as_ref(), &used)
        {
            all.texts.push(Reading::plain(file, parsed));
        }
        Ok(all)
    }

    /// Reads a file by each choice among the branches of `#if` groups that choose which directive stands before a loop or, in it or in its
    /// headers, what names stand for that matter for some parts of it. `None` where there is nothing to choose, or too much.
    ///
    /// # Errors
    /// When the file cannot be read within the limits.
    pub fn arrangements(
        file: &'a SourceFile,
        headers: &[SourceFile],
        flags: &[FlagDefinition],
        parts: &[Span],
        reader: &mut FileReader,
    ) -> Result<Option<Self>, HostError> {
        let scan = scan(&file.text);
        let chooses = |scan: &Scan| scan.conditionals.iter().any(|group| group.branches.len() > 1);
        let is_asked = chooses(&scan) || scan.directives.iter().any(|directive| directive.alternative.is_some());
        if !is_asked && !headers.iter().any(|header| chooses(&crate::source::scan(&header.text))) {
            return Ok(None);
        }
        let Some(parsed) = reader.parse_scanned(file, scan.clone())? else { return Ok(None) };
        let defined = Defined::of(file, headers, flags);
        let Some(conditions) = Conditions::of_all(file, headers, &parsed, &defined, parts) else { return Ok(None) };
        let macros = Macros::of(file, &scan, headers, flags);
        let mut all = Self { file, scan, texts: Vec::new(), uses: Vec::new(), conditions };
        let used = all.used(&macros);
        Ok(all.read(headers, &macros, Some(&parsed), &used).then_some(all))
    }

    /// What macros give to directives, by each choice among their definitions.
    fn used(&self, macros: &Macros) -> Vec<Vec<Replacement>> {
        let choices = self.choices(macros).into_iter().map(|choice| Expander::new(macros, choice));
        choices.map(|expander| expander.replacements(self.file, &self.scan)).collect()
    }

    /// Makes the texts, unless there are too many, or none can be compiled.
    fn read(
        &mut self,
        headers: &[SourceFile],
        macros: &Macros,
        parsed: Option<&Parsed>,
        used: &[Vec<Replacement>],
    ) -> bool {
        let file = self.file;
        let in_statements = parsed.map(|parsed| statements(file, parsed, macros)).unwrap_or_default();
        let answers = self.conditions.answers();
        if answers.is_empty() || used.len() * answers.len() > MOST_TEXTS {
            return false;
        }
        for answers in &answers {
            for used in used {
                let left_out = self.conditions.left_out(file, answers);
                let headers = self.conditions.headers(headers, answers);
                self.add(left_out, [used.as_slice(), &in_statements].concat(), headers);
            }
        }
        self.uses.extend(used.iter().flatten().map(|used| MacroUse::new(file, macros, used.span)));
        self.uses.extend(in_statements.iter().map(|used| MacroUse::in_force(file, macros, used.span)));
        self.uses.sort_by_key(|used| used.span);
        self.uses.dedup_by_key(|used| used.span);
        true
    }

    /// Adds the text without some parts, and with what macros stand for in the others.
    fn add(&mut self, left_out: Vec<Replacement>, used: Vec<Replacement>, headers: Option<Vec<SourceFile>>) {
        let spans: Vec<Span> = left_out.iter().map(|it| it.span).collect();
        let is_seen = |used: &Replacement| !spans.iter().any(|span| span.overlaps(used.span));
        let mut replacements = left_out;
        replacements.extend(used.into_iter().filter(is_seen));
        replacements.sort_by_key(|it| it.span);
        let (text, derived) = Derived::new(&self.file.text, &replacements);
        let file = SourceFile::new(self.file.path.clone(), text);
        self.texts.push(Reading { file: Cow::Owned(file), headers, derived, left_out: spans, parsed: None });
    }

    /// Every choice among the definitions of the macros that directives use, or `None` if there are too many.
    fn choices(&self, macros: &Macros) -> Vec<Choice> {
        let mut open = vec![Choice::new()];
        let mut decided = Vec::new();
        while let Some(choice) = open.pop() {
            let expander = Expander::new(macros, choice);
            expander.replacements(self.file, &self.scan);
            match expander.undecided() {
                Ok(choice) => decided.push(choice),
                Err((choice, name, count)) => {
                    let with = |index| {
                        choice.iter().map(|(name, at)| (name.clone(), *at)).chain([(name.clone(), index)]).collect()
                    };
                    open.extend((0..count).rev().map(with));
                }
            }
            if open.len() + decided.len() > MOST_TEXTS {
                return Vec::new();
            }
        }
        decided
    }

    fn uses_in(&self, span: Span) -> impl Iterator<Item = &MacroUse> {
        self.uses.iter().filter(move |used| span.contains(used.span))
    }
}

/// The uses of macros that hide what the statements of constructs for a device are.
fn statements(file: &SourceFile, parsed: &Parsed, macros: &Macros) -> Vec<Replacement> {
    let Parsed { scan, constructs, tree } = parsed;
    let is_function = |node: &NodeId| tree.kind(*node) == NodeKind::FunctionDefinition;
    // What macros hide may end behind what looks like the statement.
    let function = |at: Span| tree.ancestors(tree.covering(at)).find(is_function).map(|node| tree.span(node));
    let expander = Expander::of_statements(macros);
    let all = constructs.within(Span::new(0, file.text.len()));
    let used = all.flat_map(|(construct, directive)| {
        let is_hidden = matches!(construct.doubt, Some(Doubt::SyntaxError(_) | Doubt::NoStatement));
        let around = function(directive.span).filter(|_| is_hidden);
        let is_outermost = construct.leaves.contains(&Leaf::Target);
        let range = around.or_else(|| is_outermost.then_some(construct.body_span));
        range.map(|range| expander.in_statements(file, scan, range, !is_hidden)).unwrap_or_default()
    });
    let mut used: Vec<Replacement> = used.chain(calls(file, parsed, macros)).collect();
    used.sort_by_key(|it| it.span);
    used.dedup_by(|one, other| other.span.overlaps(one.span));
    used
}

/// The uses of macros that call functions with constructs for a device, by their text or by what is handed to them.
fn calls(file: &SourceFile, parsed: &Parsed, macros: &Macros) -> Vec<Replacement> {
    let Parsed { scan, constructs, tree } = parsed;
    if !macros.are_in_force() {
        return Vec::new();
    }
    let functions: Vec<NodeId> = tree.all_of(&[NodeKind::FunctionDefinition]).collect();
    let expander = Expander::of_statements(macros);
    let used_in = |function: &NodeId| expander.in_statements(file, scan, tree.span(*function), false);
    let used: Vec<Replacement> = functions.iter().flat_map(used_in).collect();
    if used.is_empty() {
        return used;
    }
    let name = |function: NodeId| {
        let name = tree.innermost_declarator(tree.child(function, Field::Declarator)?);
        (tree.kind(name) == NodeKind::Identifier).then(|| file.show(tree.span(name)).into_owned())
    };
    let is_kernel = |span: Span| constructs.within(span).any(|(construct, _)| construct.leaves.contains(&Leaf::Target));
    let named = functions.into_iter().filter_map(|function| Some((name(function)?, tree.span(function))));
    let named: Vec<(String, Span)> = named.collect();
    let mut with_constructs: BTreeSet<&str> =
        named.iter().filter(|(_, span)| is_kernel(*span)).map(|(name, _)| name.as_str()).collect();
    let mut others: Vec<_> = named.iter().filter(|(name, _)| !with_constructs.contains(name.as_str())).collect();
    let mut found = with_constructs.len();
    while found > 0 {
        let calls_one = |span: Span| words(&file.show(span)).any(|word| with_constructs.contains(word));
        let (calling, left): (Vec<_>, Vec<_>) = others.into_iter().partition(|(_, span)| calls_one(*span));
        found = calling.len();
        with_constructs.extend(calling.into_iter().map(|(name, _)| name.as_str()));
        others = left;
    }
    let calls = |used: &Replacement| {
        let mut words = used.tokens.iter().filter(|token| token.kind == tokens::Kind::Word);
        words.any(|token| with_constructs.contains(token.text.as_str()))
    };
    used.into_iter().filter(calls).collect()
}

impl MacroUse {
    /// One in a statement.
    fn in_force(file: &SourceFile, macros: &Macros, span: Span) -> Self {
        let used = Self::new(file, macros, span);
        let definition = macros.in_force(&used.name, span.start).map(|definition| definition.place.clone());
        Self { places: definition.into_iter().collect(), ..used }
    }

    fn new(file: &SourceFile, macros: &Macros, span: Span) -> Self {
        let text = file.show(span);
        let name = words(&text).next().unwrap_or_default().to_owned();
        let places = macros.get(&name).iter().map(|definition| definition.place.clone()).collect();
        Self { span, name, places }
    }
}

#[cfg(test)]
mod tests;
