//! What the tool reads of a program's names, held to what clang says of the same bytes.
//!
//! Both sides put what they know of a name into the same plain words, one answer for each thing that may be asked, so that a comparison
//! is one of texts. What clang says is read by `model/compiler.rs`, what the tool says by `model/tool.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ompsplit::region::association::associate;
use ompsplit::semantics::symbols::{FlagDefinition, Symbols};
use ompsplit::source::{SourceFile, Span, scan};
use ompsplit::syntax::lower::DirectiveReader;
use ompsplit::syntax::{HostTree, Limits};

#[path = "model/compiler.rs"]
mod compiler;
#[path = "model/headers.rs"]
mod headers;
#[path = "model/tool.rs"]
mod tool;
#[path = "model/words.rs"]
mod words;

/// Stands in an answer of clang's for any one word.
const ANY: &str = "*";

/// The declaration of a name that means a type.
const TYPE: &str = "type";

/// What may be asked of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// What sort of thing it is, and which declaration declares it.
    Declaration,
    /// How long it lasts: as long as a call, a thread, the program, or the object that it is a member of.
    Storage,
    /// Its type without qualifiers.
    Type,
    /// The qualifiers of its type, and of what that points to.
    Qualifier,
    /// The bytes of an object of its type.
    Size,
    /// Is it a signed integer?
    Signedness,
    /// A length of an array in its type, from the outside in.
    Length(usize),
    /// The value of an integer constant.
    Constant,
    /// The definition that a call runs.
    Callee,
}

impl Question {
    fn name(self) -> &'static str {
        match self {
            Self::Declaration => "declaration",
            Self::Storage => "storage",
            Self::Type => "type",
            Self::Qualifier => "qualifier",
            Self::Size => "size",
            Self::Signedness => "signedness",
            Self::Length(_) => "length",
            Self::Constant => "constant",
            Self::Callee => "callee",
        }
    }
}

/// What is known of one name at one place.
pub type Answers = BTreeMap<Question, String>;

/// How many answers are the same, not known to the tool, and different.
pub type Counts = [usize; 3];

/// What a comparison found.
#[derive(Default)]
pub struct Report {
    /// For each kind of answer the counts of the whole file, and of its target regions.
    pub counts: BTreeMap<&'static str, [Counts; 2]>,
    /// File, line, column and both answers.
    pub different: Vec<String>,
    /// The same of what the tool does not know.
    pub unknown: Vec<String>,
    /// The files that are not compared, because clang reports an error there.
    pub rejected: Vec<String>,
}

impl Report {
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        for (kind, counts) in other.counts {
            let sums = self.counts.entry(kind).or_default().iter_mut().flatten();
            sums.zip(counts.iter().flatten()).for_each(|(sum, count)| *sum += count);
        }
        self.different.extend(other.different);
        self.unknown.extend(other.unknown);
        self.rejected.extend(other.rejected);
        self
    }

    fn note(&mut self, question: Question, place: &str, is_in_target: bool, here: Option<&str>, clang: Option<&str>) {
        let name = question.name();
        let index = match (here, clang) {
            (Some(here), Some(clang)) if is_same(here, clang) => 0,
            (Some(here), clang) => {
                let clang = clang.unwrap_or("nothing");
                self.different.push(format!("{place}: {name}: {here} here, {clang} in clang"));
                2
            }
            // Nobody knows, or nothing but a type could stand there.
            (None, Some(ANY | TYPE)) => return,
            (None, clang) => {
                let place_kind = if is_in_target { ", in a target region" } else { "" };
                self.unknown.push(format!("{place}: {name}: {} in clang{place_kind}", clang.unwrap_or_default()));
                1
            }
        };
        let [all, in_target] = self.counts.entry(name).or_default();
        all[index] += 1;
        in_target[index] += usize::from(is_in_target);
    }
}

/// Are two answers the same, where clang's may leave words open?
fn is_same(here: &str, clang: &str) -> bool {
    let mut rest = here;
    let mut pieces = clang.split(ANY);
    let is_begun = pieces.next().and_then(|piece| rest.strip_prefix(piece));
    let Some(begun) = is_begun else { return false };
    rest = begun;
    for piece in pieces {
        let word = rest.trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '@'));
        match word.strip_prefix(piece) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    rest.is_empty()
}

/// The macro that a flag defines.
fn definition(flag: &str) -> Option<FlagDefinition> {
    let text = flag.strip_prefix("-D")?;
    let (name, body) = text.split_once('=').unwrap_or((text, "1"));
    Some(FlagDefinition { name: name.to_owned(), parameters: None, body: Some(body.to_owned()) })
}

/// Compares all uses and declarations of names in a file.
pub fn compare(path: &Path, text: Vec<u8>, flags: &[String]) -> Report {
    let mut report = Report::default();
    let file = SourceFile::new(path, text);
    let headers = headers::load(&file, flags);
    let clang = match compiler::read(path, &file.text, flags, &headers) {
        Ok(clang) => clang,
        Err(error) => return Report { rejected: vec![format!("{}: {error}", path.display())], ..report },
    };
    let scan = scan(&file.text);
    let Ok(tree) = HostTree::parse(&file, &scan, &Limits::default()) else { return report };
    let mut reader = DirectiveReader::new();
    let directives = scan.directives.iter().map(|directive| reader.read(&file, directive)).collect();
    let constructs = associate(&file, &scan, &tree, directives);
    let is_target = |index: usize| constructs.directives[index].name.split(' ').next() == Some("target");
    let targets = constructs.constructs.iter().filter(|construct| is_target(construct.directive));
    let targets: Vec<Span> = targets.map(|construct| construct.body_span).collect();
    let definitions: Vec<FlagDefinition> = flags.iter().filter_map(|flag| definition(flag)).collect();
    let symbols = Symbols::new(&file, &tree, &headers).with_definitions(&definitions);
    let mut known = tool::read(&file, &tree, &symbols, &headers);
    let nothing = Answers::new();
    let macros = clang.macros.iter().map(|at| (at, &nothing)).filter(|(at, _)| !clang.names.contains_key(at));
    for (at, theirs) in clang.names.iter().chain(macros) {
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = file.text[*at..].iter().take_while(|byte| is_name(byte)).count();
        let word = file.show(Span::new(*at, at + length)).into_owned();
        let place = file.lines.line_column(*at);
        let place = format!("{}:{}:{}: `{word}`", path.display(), place.line, place.column);
        let is_in_target = targets.iter().any(|target| target.start <= *at && *at < target.end);
        let mut ours = known.remove(at).unwrap_or_default();
        let declaration = ours.remove(&Question::Declaration).and_then(|declaration| clang.complete(&declaration));
        ours.extend(declaration.map(|declaration| (Question::Declaration, declaration)));
        // What the text of a macro names is not told.
        let is_asked = |question: &Question| !clang.macros.contains(at) || *question == Question::Declaration;
        let questions: BTreeSet<Question> =
            theirs.keys().chain(ours.keys().filter(|it| is_asked(it))).copied().collect();
        for question in questions {
            let (ours, theirs) = (ours.get(&question), theirs.get(&question));
            report.note(question, &place, is_in_target, ours.map(String::as_str), theirs.map(String::as_str));
        }
    }
    report
}
