//! The `#if` groups that cut through constructs for a device, and the texts by each choice of their branches.

use std::collections::BTreeMap;

use crate::engine::decided::{Defined, Taken, not_taken};
use crate::engine::parsing::Parsed;
use crate::engine::readings::derived::Replacement;
use crate::engine::readings::macros::names_taken_back;
use crate::engine::readings::tokens::{Kind, Token};
use crate::region::construct::Doubt;
use crate::source::{Conditional, Scan, SourceFile, Span, words};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{NodeId, NodeKind};

/// More conditions than this are not decided.
const MOST_CONDITIONS: usize = 4;

/// What the line of a branch asks.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Question {
    /// A condition, by its number, and the answer with which the branch is taken.
    Condition(usize, bool),
    /// Nothing that hangs on anything.
    Constant(bool),
}

/// The groups that are decided.
#[derive(Default)]
pub(super) struct Conditions {
    groups: Vec<(Conditional, Vec<Question>)>,
    /// How many different conditions they have.
    count: usize,
    /// Groups of which it is known which branch is taken, outside of functions and without directives.
    settled: Vec<(Conditional, Taken)>,
}

impl Conditions {
    /// The groups with a line in a construct for a device, whose statement is not certain for that reason alone, but for those that ask
    /// for what may differ between the host's code and the device's, or `None` if there are too many.
    pub fn of(file: &SourceFile, parsed: &Parsed, defined: &Defined<'_>) -> Self {
        let Parsed { scan, constructs, .. } = parsed;
        let all = Span::new(0, file.text.len());
        let cut: Vec<Span> = constructs
            .within(all)
            .filter(|(construct, _)| {
                construct.leaves.contains(&Leaf::Target) && matches!(construct.doubt, Some(Doubt::Conditional(_)))
            })
            .map(|(construct, directive)| Span::new(directive.span.start, construct.body_span.end))
            .collect();
        let cuts = |group: &&Conditional| {
            let is_cut = |line: Span| cut.iter().any(|construct| construct.overlaps(line));
            group.lines().into_iter().any(is_cut)
        };
        let cutting = || scan.conditionals.iter().enumerate().filter(|(_, group)| cuts(group));
        let place = |found: Option<(usize, &Conditional)>| found.map(|(_, group)| group.span.start);
        let (first, last) = (place(cutting().next()), place(cutting().next_back()));
        let is_between = |at: usize| first.is_some_and(|first| first < at) && last.is_some_and(|last| at < last);
        let may_change = scan.includes.iter().any(|include| is_between(include.span.start));
        let mut conditions = Names { file, scan, may_change, numbers: BTreeMap::new() };
        let mut groups = Vec::new();
        for (index, group) in cutting() {
            let questions = group.branches.iter().map(|branch| conditions.question(branch.line, index));
            if let Some(questions) = questions.collect::<Option<Vec<_>>>() {
                groups.push((group.clone(), questions));
            }
        }
        let count = conditions.numbers.len();
        let settled = settled(file, parsed, defined);
        let (groups, count) = if count > MOST_CONDITIONS { (Vec::new(), 0) } else { (groups, count) };
        Self { groups, count, settled }
    }

    /// Is there a group that is decided?
    pub fn are_some(&self) -> bool {
        !self.groups.is_empty() || !self.settled.is_empty()
    }

    /// Each choice of answers.
    pub fn answers(&self) -> impl Iterator<Item = Vec<bool>> + use<> {
        let count = self.count;
        (0..1_usize << count).map(move |bits| (0..count).map(|number| bits & (1 << number) == 0).collect())
    }

    /// The line of a group around a construct, or in it.
    pub fn line_at(&self, construct: Span) -> Option<Span> {
        let groups = self.groups.iter().map(|(group, _)| group);
        let around = |group: &&Conditional| group.span.overlaps(construct);
        groups.rev().find(around).and_then(|group| group.lines().first().copied())
    }

    /// The first line of a group.
    pub fn first_line(&self) -> Option<Span> {
        self.groups.first().and_then(|(group, _)| group.lines().first().copied())
    }

    /// What the compiler does not see by these answers, blank: the lines of the groups, and the branches that are not taken.
    pub fn left_out(&self, file: &SourceFile, answers: &[bool]) -> Vec<Replacement> {
        let mut spans: Vec<Span> = Vec::new();
        for (group, questions) in &self.groups {
            let is_taken = |question: &Question| match question {
                Question::Condition(number, answer) => answers.get(*number) == Some(answer),
                Question::Constant(is_taken) => *is_taken,
            };
            let taken = questions.iter().position(is_taken);
            spans.extend(group.lines());
            let others = group.branches.iter().enumerate().filter(|(index, _)| Some(*index) != taken);
            spans.extend(others.map(|(_, branch)| branch.content));
        }
        spans.extend(self.settled.iter().flat_map(|(group, taken)| not_taken(group, *taken)));
        spans.retain(|span| !span.is_empty());
        spans.sort_unstable();
        let mut merged: Vec<Span> = Vec::new();
        for span in spans {
            match merged.last_mut().filter(|last| span.start <= last.end) {
                Some(last) => last.end = last.end.max(span.end),
                None => merged.push(span),
            }
        }
        merged.into_iter().map(|span| Replacement { span, tokens: vec![blank(file, span)] }).collect()
    }
}

/// The groups outside of functions of which it is known which branch is taken. Where a group holds directives, or stands among statements,
/// an edit has to be right for all of its branches.
fn settled(file: &SourceFile, parsed: &Parsed, defined: &Defined<'_>) -> Vec<(Conditional, Taken)> {
    let Parsed { scan, tree, .. } = parsed;
    let groups = scan.conditionals.iter().zip(defined.groups(file, scan));
    let mut known: Vec<_> = groups.filter_map(|(group, taken)| Some((group.clone(), taken?))).collect();
    known.retain(|(group, _)| !scan.directives.iter().any(|directive| directive.span.overlaps(group.span)));
    if known.is_empty() {
        return known;
    }
    let is_function = |node: &NodeId| tree.kind(*node) == NodeKind::FunctionDefinition;
    let functions: Vec<Span> = tree.descendants(tree.root()).filter(is_function).map(|node| tree.span(node)).collect();
    known.retain(|(group, _)| !functions.iter().any(|function| function.contains(group.span)));
    known
}

/// Blanks in the place of a text, with its line ends.
fn blank(file: &SourceFile, span: Span) -> Token {
    let kept = |byte: &u8| if matches!(byte, b'\n' | b'\r') { char::from(*byte) } else { ' ' };
    Token { kind: Kind::Blank, text: file.bytes(span).iter().map(kept).collect(), at: None }
}

/// The conditions by what they ask.
struct Names<'a> {
    file: &'a SourceFile,
    scan: &'a Scan,
    /// Is a file included between the groups, which may define anything?
    may_change: bool,
    numbers: BTreeMap<(String, Option<usize>), usize>,
}

impl Names<'_> {
    /// What a line asks, or `None` for what may hang on whether the device's code is compiled.
    fn question(&mut self, line: Span, group: usize) -> Option<Question> {
        let text = self.file.show(line);
        let text = text.trim_start_matches(|c: char| matches!(c, '#' | '%' | ':') || c.is_whitespace());
        let (word, condition) = text.split_at(text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len()));
        let condition = condition.split("//").next().unwrap_or_default().split("/*").next().unwrap_or_default().trim();
        if word == "else" {
            return Some(Question::Constant(true));
        }
        if condition == "0" || condition == "1" {
            return Some(Question::Constant(condition == "1"));
        }
        if condition.is_empty() || words(condition).any(|word| word.starts_with('_')) {
            return None;
        }
        let asked = match word.strip_suffix("def") {
            Some(word) => Some((word.ends_with('n'), condition.to_owned())),
            None => defined(condition),
        };
        let is_negated = asked.as_ref().is_some_and(|(is_negated, _)| *is_negated);
        let key = asked.map_or_else(|| condition.to_owned(), |(_, name)| format!("defined {name}"));
        // What the file defines or takes back may hold at one place and not at another.
        let is_fixed = !self.may_change && !words(&key).any(|word| self.changes(word));
        let next = self.numbers.len();
        let key = (key, (!is_fixed).then_some(group));
        Some(Question::Condition(*self.numbers.entry(key).or_insert(next), !is_negated))
    }

    fn changes(&self, name: &str) -> bool {
        let mut defined = self.scan.definitions.iter();
        let undefined = || names_taken_back(self.file).iter().any(|other| other == name);
        defined.any(|definition| self.file.show(definition.name) == name) || undefined()
    }
}

/// The name of `defined(X)`, `defined X`, `!defined(X)`, and whether it is negated.
fn defined(condition: &str) -> Option<(bool, String)> {
    let compact: String = condition.split_whitespace().collect::<Vec<_>>().join(" ");
    let (is_negated, rest) = match compact.strip_prefix('!') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, compact.as_str()),
    };
    let name = rest.strip_prefix("defined")?.trim_start();
    let name = match name.strip_prefix('(') {
        Some(inside) => inside.strip_suffix(')')?.trim(),
        None => name,
    };
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then(|| (is_negated, name.to_owned()))
}
