//! The `#if` groups that cut through constructs for a device, and the texts by each choice of their branches.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::decided::{Defined, Taken, not_taken, without};
use crate::engine::parsing::Parsed;
use crate::engine::readings::declarations::{self, Chosen, scans};
use crate::engine::readings::derived::Replacement;
use crate::engine::readings::macros::names_taken_back;
use crate::engine::readings::tokens::{Kind, Token};
use crate::region::construct::Doubt;
use crate::semantics::symbols::may_tell_device;
use crate::source::{Conditional, MacroDefinition, Scan, SourceFile, Span, words};
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
    groups: Vec<Group>,
    /// How many different conditions they have.
    count: usize,
    /// The conditions that hold where a name is one number, with both. The name is marked with the text in which it has one value.
    equal: Vec<(usize, (String, i64))>,
    /// Groups of which it is known which branch is taken, outside of functions and without directives.
    settled: Vec<(Conditional, Taken)>,
}

/// A group of the file or of a header.
struct Group {
    header: Option<usize>,
    conditional: Conditional,
    questions: Vec<Question>,
    /// Its first line, for people, if it stands in a header.
    place: Option<String>,
    /// The lines in its branches, and in no group inside, with which nothing is compiled.
    errors: Vec<Span>,
}

impl Conditions {
    /// The groups with a line in a construct for a device, whose statement is not certain for that reason alone, but for those that ask
    /// for what may differ between the host's code and the device's, or none if there are too many.
    pub fn of(file: &SourceFile, headers: &[SourceFile], parsed: &Parsed, defined: &Defined<'_>) -> Self {
        // Headers are looked at where something is asked.
        if cutting(file, parsed).is_empty() {
            return Self { settled: settled(file, parsed, defined), ..Self::default() };
        }
        Self::with(file, &scans(headers), parsed, defined, &[])
    }

    /// As [`Self::of`], with those groups beside that choose among directives, or among declarations that matter for some parts of the file,
    /// as many as can be decided. `None` if there are none.
    pub fn of_all(
        file: &SourceFile,
        headers: &[SourceFile],
        parsed: &Parsed,
        defined: &Defined<'_>,
        parts: &[Span],
    ) -> Option<Self> {
        let headers = scans(headers);
        let chosen = declarations::groups(file, &headers, parsed, defined, parts);
        let all = Self::with(file, &headers, parsed, defined, &chosen);
        let is_more = all.groups.iter().any(|group| group.header.is_some())
            || all.groups.len() > Self::with(file, &headers, parsed, defined, &[]).groups.len();
        is_more.then_some(all)
    }

    fn with(
        file: &SourceFile,
        headers: &[(&SourceFile, Scan)],
        parsed: &Parsed,
        defined: &Defined<'_>,
        chosen: &[Chosen],
    ) -> Self {
        let cutting = cutting(file, parsed);
        let mut texts = Texts::of(file, &parsed.scan, headers, &[cutting.as_slice(), chosen].concat());
        let mut groups: Vec<Group> = cutting.iter().filter_map(|chosen| texts.group(*chosen)).collect();
        if texts.numbers.len() > MOST_CONDITIONS {
            groups.clear();
            texts.numbers.clear();
        }
        for chosen in chosen.iter().filter(|chosen| !cutting.contains(chosen)) {
            let before = texts.numbers.clone();
            match texts.group(*chosen) {
                Some(group) if texts.numbers.len() <= MOST_CONDITIONS => groups.push(group),
                _ => texts.numbers = before,
            }
        }
        let settled = settled(file, parsed, defined);
        let equal = texts.numbers.iter().filter_map(|((key, at), number)| {
            let (name, value) = key.split_once("==")?;
            let is_name = name.trim().chars().all(|c| c.is_alphanumeric() || c == '_');
            Some((*number, (format!("{at:?} {}", name.trim()), value.trim().parse().ok().filter(|_| is_name)?)))
        });
        Self { groups, count: texts.numbers.len(), equal: equal.collect(), settled }
    }

    /// Is there a group that is decided?
    pub fn are_some(&self) -> bool {
        !self.groups.is_empty() || !self.settled.is_empty()
    }

    /// Each choice of answers with which something can be compiled.
    pub fn answers(&self) -> Vec<Vec<bool>> {
        let count = self.count;
        let all = (0..1_usize << count).map(|bits| (0..count).map(|number| bits & (1 << number) == 0).collect());
        all.filter(|answers: &Vec<bool>| !self.contradicts(answers) && !self.is_error(answers)).collect()
    }

    /// Is a name said to be equal to two numbers?
    fn contradicts(&self, answers: &[bool]) -> bool {
        let mut held = self.equal.iter().filter(|(number, _)| answers.get(*number) == Some(&true));
        held.any(|(number, (name, value))| {
            let is_other = |(other, (same, another)): &(usize, (String, i64))| {
                other != number && same == name && another != value && answers.get(*other) == Some(&true)
            };
            self.equal.iter().any(is_other)
        })
    }

    /// Does the text ask for an error with these answers?
    fn is_error(&self, answers: &[bool]) -> bool {
        self.groups.iter().filter(|group| !group.errors.is_empty()).any(|group| {
            let left_out = self.spans_left_out(group.header, answers);
            group.errors.iter().any(|error| !left_out.iter().any(|span| span.contains(*error)))
        })
    }

    /// The line of a group around a construct, or in it.
    pub fn line_at(&self, construct: Span) -> Option<Span> {
        let groups = self.of_file().map(|group| &group.conditional);
        let around = |group: &&Conditional| group.span.overlaps(construct);
        groups.rev().find(around).and_then(|group| group.lines().first().copied())
    }

    /// The first line of a group.
    pub fn first_line(&self) -> Option<Span> {
        self.of_file().next().and_then(|group| group.conditional.lines().first().copied())
    }

    /// The first line, for people, of a group in a header.
    pub fn first_place(&self) -> Option<&str> {
        self.groups.iter().find_map(|group| group.place.as_deref())
    }

    fn of_file(&self) -> impl DoubleEndedIterator<Item = &Group> {
        self.groups.iter().filter(|group| group.header.is_none())
    }

    /// The headers as the compiler sees them by these answers, or `None` if these are about the file alone.
    pub fn headers(&self, headers: &[SourceFile], answers: &[bool]) -> Option<Vec<SourceFile>> {
        self.groups.iter().any(|group| group.header.is_some()).then(|| {
            let read = |(index, header): (usize, &SourceFile)| {
                let spans = self.spans_left_out(Some(index), answers);
                without(header, &spans)
            };
            headers.iter().enumerate().map(read).collect()
        })
    }

    /// What the compiler does not see by these answers, blank: the lines of the groups, and the branches that are not taken.
    pub fn left_out(&self, file: &SourceFile, answers: &[bool]) -> Vec<Replacement> {
        let mut spans = self.spans_left_out(None, answers);
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

    fn spans_left_out(&self, header: Option<usize>, answers: &[bool]) -> Vec<Span> {
        let is_taken = |question: &Question| match question {
            Question::Condition(number, answer) => answers.get(*number) == Some(answer),
            Question::Constant(is_taken) => *is_taken,
        };
        let groups = self.groups.iter().filter(|group| group.header == header);
        groups.flat_map(|group| not_taken(&group.conditional, group.questions.iter().position(is_taken))).collect()
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

/// The groups of a file that cut through constructs for a device.
fn cutting(file: &SourceFile, parsed: &Parsed) -> Vec<Chosen> {
    let Parsed { scan, constructs, .. } = parsed;
    let cut: Vec<Span> = constructs
        .within(Span::new(0, file.text.len()))
        .filter(|(construct, _)| {
            construct.leaves.contains(&Leaf::Target) && matches!(construct.doubt, Some(Doubt::Conditional(_)))
        })
        .map(|(construct, directive)| Span::new(directive.span.start, construct.body_span.end))
        .collect();
    let cuts = |group: &Conditional| {
        let is_cut = |line: Span| cut.iter().any(|construct| construct.overlaps(line));
        group.lines().into_iter().any(is_cut)
    };
    let cutting = scan.conditionals.iter().enumerate().filter(|(_, group)| cuts(group));
    cutting.map(|(group, _)| Chosen { header: None, group }).collect()
}

/// The file and its headers, and the conditions by what they ask.
struct Texts<'a> {
    file: Text<'a>,
    headers: Vec<Text<'a>>,
    /// The names that may be defined otherwise where the device's code is compiled, or `None` if any may be.
    of_device: Option<BTreeSet<String>>,
    numbers: BTreeMap<(String, At), usize>,
}

/// One of them.
struct Text<'a> {
    file: &'a SourceFile,
    scan: &'a Scan,
    /// What it defines or takes back.
    defined: BTreeSet<String>,
    /// Is a file included between the groups, which may define anything?
    may_change: bool,
}

/// Where a condition has one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Text(Option<usize>),
    Group(Option<usize>, usize),
}

impl<'a> Text<'a> {
    fn of(file: &'a SourceFile, scan: &'a Scan, groups: impl Iterator<Item = usize>) -> Self {
        let places: Vec<usize> =
            groups.filter_map(|index| scan.conditionals.get(index)).map(|group| group.span.start).collect();
        let (first, last) = (places.iter().min(), places.iter().max());
        let is_between = |at: usize| first.is_some_and(|first| *first < at) && last.is_some_and(|last| at < *last);
        let may_change = scan.includes.iter().any(|include| is_between(include.span.start));
        let defined = scan.definitions.iter().map(|definition| file.show(definition.name).into_owned());
        let defined = defined.chain(names_taken_back(file)).collect();
        Self { file, scan, defined, may_change }
    }

    /// The branches of groups that ask for a word.
    fn asking(&self, is_asked: impl Fn(&str) -> bool) -> Vec<Span> {
        let asks = |group: &&Conditional| {
            let mut lines = group.branches.iter().map(|branch| self.file.show(branch.line));
            lines.any(|line| words(&line).any(&is_asked))
        };
        let asking = self.scan.conditionals.iter().filter(asks);
        asking.flat_map(|group| group.branches.iter().map(|branch| branch.content)).collect()
    }

    /// What is defined or taken back in a part, or defined by one of some names.
    fn names(&self, parts: &[Span], names: &BTreeSet<String>) -> Vec<String> {
        let is_made = |definition: &&MacroDefinition| {
            let is_inside = parts.iter().any(|part| part.contains(definition.span));
            is_inside || words(&self.file.show(definition.body)).any(|word| names.contains(word))
        };
        let made = self.scan.definitions.iter().filter(is_made);
        let mut found: Vec<String> = made.map(|definition| self.file.show(definition.name).into_owned()).collect();
        for part in parts {
            let text = self.file.show(*part);
            let taken_back = text.lines().filter_map(|line| line.split_once("undef"));
            found.extend(taken_back.filter_map(|(_, rest)| words(rest).next().map(str::to_owned)));
        }
        found
    }

    /// The lines `#error` in a group, and in no other one inside of it.
    fn errors(&self, group: &Conditional) -> Vec<Span> {
        let is_inner = |at: usize| {
            let inside = |other: &&Conditional| group.span.start < other.span.start && other.span.end <= group.span.end;
            let mut others = self.scan.conditionals.iter().filter(inside);
            others.any(|other| other.span.contains(Span::new(at, at)))
        };
        let mut found = Vec::new();
        for branch in &group.branches {
            let mut at = branch.content.start;
            for line in self.file.bytes(branch.content).split_inclusive(|byte| *byte == b'\n') {
                // What may be a part of a comment, or of the line before, is no line of its own.
                if line.windows(2).any(|two| two == b"/*" || two == b"R\"") || line.trim_ascii_end().ends_with(b"\\") {
                    break;
                }
                let rest = line.trim_ascii_start().strip_prefix(b"#").map(<[u8]>::trim_ascii_start);
                if rest.is_some_and(|rest| rest.starts_with(b"error")) && !is_inner(at) {
                    found.push(Span::new(at, at + line.trim_ascii_end().len()));
                }
                at += line.len();
            }
        }
        found
    }
}

impl<'a> Texts<'a> {
    fn of(file: &'a SourceFile, scan: &'a Scan, headers: &'a [(&'a SourceFile, Scan)], chosen: &[Chosen]) -> Self {
        let of_text = |header| chosen.iter().filter(move |it| it.header == header).map(|it| it.group);
        let file = Text::of(file, scan, of_text(None));
        let texts = headers.iter().enumerate().map(|(index, (file, scan))| Text::of(file, scan, of_text(Some(index))));
        let headers: Vec<Text<'a>> = texts.collect();
        let all: Vec<&Text<'_>> = std::iter::once(&file).chain(&headers).collect();
        let of_device = names_of_device(&all);
        Self { file, headers, of_device, numbers: BTreeMap::new() }
    }

    /// A group with what its lines ask, or `None` if that may hang on whether the device's code is compiled.
    fn group(&mut self, chosen: Chosen) -> Option<Group> {
        let text = self.text(chosen.header)?;
        let conditional = text.scan.conditionals.get(chosen.group)?.clone();
        let errors = text.errors(&conditional);
        let place = chosen.header.map(|_| {
            let line = text.file.lines.line_column(conditional.span.start).line;
            let name = text.file.path.file_name().unwrap_or_default().to_string_lossy();
            format!("{name}:{line}")
        });
        let questions = conditional.branches.iter().map(|branch| self.question(branch.line, chosen));
        let questions = questions.collect::<Option<Vec<_>>>()?;
        Some(Group { header: chosen.header, conditional, questions, place, errors })
    }

    fn text(&self, header: Option<usize>) -> Option<&Text<'a>> {
        header.map_or(Some(&self.file), |index| self.headers.get(index))
    }

    /// What a line asks, or `None` for what may hang on whether the device's code is compiled.
    fn question(&mut self, line: Span, group: Chosen) -> Option<Question> {
        let own = self.text(group.header)?;
        let text = own.file.show(line);
        let text = text.trim_start_matches(|c: char| matches!(c, '#' | '%' | ':') || c.is_whitespace());
        let (word, condition) = text.split_at(text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len()));
        let condition = condition.split("//").next().unwrap_or_default().split("/*").next().unwrap_or_default().trim();
        if word == "else" {
            return Some(Question::Constant(true));
        }
        if condition == "0" || condition == "1" {
            return Some(Question::Constant(condition == "1"));
        }
        let may_differ =
            |word: &str| word.starts_with('_') || self.of_device.as_ref().is_none_or(|names| names.contains(word));
        if condition.is_empty() || words(condition).any(may_differ) {
            return None;
        }
        let asked = match word.strip_suffix("def") {
            Some(word) => Some((word.ends_with('n'), condition.to_owned())),
            None => defined(condition),
        };
        let is_negated = asked.as_ref().is_some_and(|(is_negated, _)| *is_negated);
        let key = asked.map_or_else(|| condition.to_owned(), |(_, name)| format!("defined {name}"));
        // What the text defines or takes back may hold at one place and not at another.
        let is_fixed = !own.may_change && !words(&key).any(|word| own.defined.contains(word));
        let at = if is_fixed { At::Text(group.header) } else { At::Group(group.header, group.group) };
        let next = self.numbers.len();
        Some(Question::Condition(*self.numbers.entry((key, at)).or_insert(next), !is_negated))
    }
}

/// The names that hang on what a compiler defines for a device alone, or `None` where a file is included under such a condition.
fn names_of_device(all: &[&Text<'_>]) -> Option<BTreeSet<String>> {
    let is_own = |word: &str| all.iter().any(|text| text.defined.contains(word));
    let mut found = BTreeSet::new();
    loop {
        let mut more = BTreeSet::new();
        for text in all {
            let parts = text.asking(|word| found.contains(word) || may_tell_device(word) && !is_own(word));
            if text.scan.includes.iter().any(|include| parts.iter().any(|part| part.contains(include.span))) {
                return None;
            }
            more.extend(text.names(&parts, &found));
        }
        let before = found.len();
        found.extend(more);
        if found.len() == before {
            return Some(found);
        }
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
