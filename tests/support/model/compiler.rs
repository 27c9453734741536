//! What clang's syntax tree says of the names of a file.
//!
//! libclang, which comes with clang, gives types as they are: with all names seen through, and with their sizes. It does not show what is
//! inside OpenMP constructs, so the file is read as one without: names in it mean the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

use clang::diagnostic::Severity;
use clang::{Clang, Entity, EntityKind, EntityVisitResult, EvaluationResult, Index, StorageClass, Unsaved};
use ompsplit::source::{SourceFile, Span, scan};

use super::words::types;
use super::{Answers, Question, TYPE};

/// What the names of the constants begin with that stand behind a text, to see the values of macros.
const PROBE: &str = "ompsplit_probe_";
/// The same of types.
const TYPE_PROBE: &str = "ompsplit_type_";

/// What a call of a function out of sight runs.
pub const NO_DEFINITION: &str = "no definition";

/// What clang knows of one file.
#[derive(Default)]
pub struct Known {
    /// For each place of the file where a name stands, what it is.
    pub names: BTreeMap<usize, Answers>,
    /// Where a macro stands that is no name of anything else.
    pub macros: BTreeSet<usize>,
    /// The first declaration of what is declared at a place.
    first: BTreeMap<String, String>,
}

impl Known {
    /// A declaration with the place of the first of the same thing; none where clang leaves the place out.
    pub fn complete(&self, declaration: &str) -> Option<String> {
        match declaration.split_once(" at ") {
            Some((sort, place)) => self.first.get(place).map(|first| format!("{sort} at {first}")),
            None => Some(declaration.to_owned()),
        }
    }
}

/// libclang is loaded by a thread, and reads one file at a time.
static READER: OnceLock<Sender<Job>> = OnceLock::new();

/// What the thread that has libclang is to do.
type Job = Box<dyn FnOnce(Result<&Clang, String>) + Send>;

fn reader() -> Sender<Job> {
    let start = || {
        let (sender, jobs) = channel::<Job>();
        std::thread::spawn(move || {
            let clang = Clang::new();
            jobs.into_iter().for_each(|job| job(clang.as_ref().map_err(Clone::clone)));
        });
        sender
    };
    READER.get_or_init(start).clone()
}

/// Reads a file.
///
/// # Errors
/// The first error that clang reports.
pub fn read(path: &Path, text: &[u8], flags: &[String], headers: &[SourceFile]) -> Result<Known, String> {
    let (path, text, flags) = (path.to_owned(), text.to_owned(), flags.to_owned());
    let probes = probes(&text, headers);
    let (sender, result) = channel();
    let job: Job = Box::new(move |clang| {
        // Who asked waits for the answer.
        drop(sender.send(clang.and_then(|clang| read_by(clang, &path, &text, &flags, &probes))));
    });
    reader().send(job).map_err(|_| "libclang gave up".to_owned())?;
    result.recv().map_err(|_| "libclang gave up".to_owned())?
}

fn read_by(clang: &Clang, path: &Path, text: &[u8], flags: &[String], probes: &[String]) -> Result<Known, String> {
    let index = Index::new(clang, false, false);
    // Places are bytes, so each byte that is no character of its own becomes one.
    let plain: String = text.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { '?' }).collect();
    // Each on a line of its own, so that an error tells which.
    let behind = probes.iter().flat_map(|name| {
        [format!("enum {{ {PROBE}{name} = ({name}) }};\n"), format!("typedef {name} {TYPE_PROBE}{name};\n")]
    });
    let behind: String = behind.collect();
    let mut parser = index.parser(path);
    let mut arguments = vec!["-D_OPENMP=202011", "-ferror-limit=0", "-w"];
    arguments.extend(flags.iter().map(String::as_str));
    parser.arguments(&arguments).detailed_preprocessing_record(true);
    parser.unsaved(&[Unsaved::new(path, format!("{plain}\n{behind}"))]);
    let unit = parser.parse().map_err(|error| format!("{error:?}"))?;
    let first_probe = plain.matches('\n').count() + 2;
    let mut refused = BTreeSet::new();
    for message in unit.get_diagnostics().iter().filter(|message| message.get_severity() >= Severity::Error) {
        // `omp.h` declares one function twice, in variants that nobody chooses between here.
        if message.get_location().is_in_system_header() {
            continue;
        }
        let at = message.get_location().get_file_location();
        let is_probe = at.file.is_some_and(|file| file.get_path() == path) && at.offset as usize > text.len();
        match (at.line as usize).checked_sub(first_probe).filter(|_| is_probe) {
            Some(line) => {
                refused.insert(line);
            }
            None => return Err(format!("{}: {}", at.line, message.get_text())),
        }
    }
    let name = |line: &usize| Some((probes.get(line / 2)?.clone(), line % 2 == 1));
    let refused = refused.iter().filter_map(name).collect();
    let (known, macros, paths) = (Known::default(), BTreeMap::new(), BTreeMap::new());
    let mut reader = Reader { path, text, refused, known, macros, paths };
    unit.get_entity().visit_children(|entity, _| reader.visit(entity));
    Ok(reader.finish())
}

/// The macros without parameters of a file and its headers that nobody takes back, so that they are the same at the end.
fn probes(text: &[u8], headers: &[SourceFile]) -> Vec<String> {
    let (mut found, mut others) = (BTreeSet::new(), BTreeSet::new());
    for text in std::iter::once(text).chain(headers.iter().map(|header| header.text.as_slice())) {
        let name = |span: Span| String::from_utf8_lossy(&text[span.start..span.end]).into_owned();
        for span in scan(text).definitions.iter().map(|definition| definition.name) {
            let has_parameters = text.get(span.end) == Some(&b'(');
            if has_parameters { &mut others } else { &mut found }.insert(name(span));
        }
        for at in memchr::memmem::find_iter(text, "undef") {
            let rest = String::from_utf8_lossy(text[at..].split(|byte| *byte == b'\n').next().unwrap_or_default());
            others.extend(rest.split_whitespace().nth(1).map(str::to_owned));
        }
    }
    found.difference(&others).cloned().collect()
}

struct Reader<'t> {
    path: &'t Path,
    text: &'t [u8],
    /// The macros that stand for no constant, and for no type.
    refused: BTreeSet<(String, bool)>,
    known: Known,
    /// Where a macro stands, and its name.
    macros: BTreeMap<usize, String>,
    /// The paths of files, as the tool names them.
    paths: BTreeMap<PathBuf, PathBuf>,
}

impl Reader<'_> {
    fn visit(&mut self, entity: Entity<'_>) -> EntityVisitResult {
        let Some((path, at)) = self.place(entity) else { return EntityVisitResult::Recurse };
        if entity.is_in_system_header() {
            return EntityVisitResult::Continue;
        }
        let is_here = path == self.path && at < self.text.len();
        if entity.is_declaration() {
            self.declaration(entity);
        }
        match entity.get_kind() {
            EntityKind::MacroExpansion if is_here => {
                self.macros.insert(at, entity.get_name().unwrap_or_default());
                let is_library = entity.get_reference().is_some_and(|macro_| macro_.is_in_system_header());
                if is_library {
                    let answers = Answers::from([(Question::Callee, NO_DEFINITION.to_owned())]);
                    self.known.names.insert(at, answers);
                }
            }
            EntityKind::DeclRefExpr | EntityKind::MemberRefExpr if is_here => self.use_of(entity, at),
            EntityKind::VarDecl | EntityKind::ParmDecl | EntityKind::FunctionDecl if is_here => {
                self.note(at, entity, entity);
            }
            EntityKind::TypeRef if is_here => self.use_of(entity, at),
            EntityKind::EnumConstantDecl => self.probe(entity),
            EntityKind::TypedefDecl => self.type_probe(entity),
            _ => {}
        }
        EntityVisitResult::Recurse
    }

    /// The file and the byte at which an entity's name stands, or the macro that it comes from.
    fn place(&mut self, entity: Entity<'_>) -> Option<(PathBuf, usize)> {
        let at = entity.get_location()?.get_file_location();
        let path = at.file?.get_path();
        let known = self.paths.entry(path).or_insert_with_key(|path| {
            let is_main = path == self.path;
            if is_main { path.clone() } else { std::fs::canonicalize(path).unwrap_or_else(|_| path.clone()) }
        });
        Some((known.clone(), at.offset as usize))
    }

    fn shown_place(&mut self, entity: Entity<'_>) -> Option<String> {
        self.place(entity).map(|(path, at)| format!("{}:{at}", path.display()))
    }

    /// Keeps which declaration was the first of the same thing.
    fn declaration(&mut self, entity: Entity<'_>) {
        let first = entity.get_canonical_entity();
        if let (Some(place), Some(first)) = (self.shown_place(entity), self.shown_place(first)) {
            self.known.first.insert(place, first);
        }
    }

    fn use_of(&mut self, entity: Entity<'_>, at: usize) {
        if let Some(meant) = entity.get_reference() {
            self.note(at, entity, meant);
        }
    }

    /// Keeps what is known of the thing that an entity at a byte means, where its name stands there and not a macro's.
    fn note(&mut self, at: usize, entity: Entity<'_>, meant: Entity<'_>) {
        let Some(name) = meant.get_name() else { return };
        if !self.text.get(at..).is_some_and(|rest| rest.starts_with(name.as_bytes())) {
            return;
        }
        let mut answers = self.answers(entity, meant);
        if answers.is_empty() {
            return;
        }
        match self.known.names.get_mut(&at) {
            // In the arguments of macros a name may stand for several things.
            Some(known) => known.retain(|question, answer| answers.remove(question).as_ref() == Some(answer)),
            None => {
                self.known.names.insert(at, answers);
            }
        }
    }

    fn answers(&mut self, entity: Entity<'_>, meant: Entity<'_>) -> Answers {
        let mut answers = Answers::new();
        let sort = match meant.get_kind() {
            EntityKind::VarDecl | EntityKind::ParmDecl | EntityKind::FieldDecl => "variable",
            EntityKind::FunctionDecl | EntityKind::Method | EntityKind::FunctionTemplate => "function",
            EntityKind::EnumConstantDecl => "enumerator",
            EntityKind::NonTypeTemplateParameter | EntityKind::TemplateTypeParameter => "template parameter",
            EntityKind::TypedefDecl
            | EntityKind::TypeAliasDecl
            | EntityKind::StructDecl
            | EntityKind::UnionDecl
            | EntityKind::ClassDecl
            | EntityKind::EnumDecl => TYPE,
            _ => return answers,
        };
        if let Some(place) = self.shown_place(meant.get_canonical_entity()) {
            // Of functions that overload each other the one that runs is asked for, and of types what they are.
            let is_placed = !matches!(sort, "function" | TYPE);
            let declaration = if is_placed { format!("{sort} at {place}") } else { sort.to_owned() };
            answers.insert(Question::Declaration, declaration);
        }
        if let Some(ty) = meant.get_type() {
            types(&mut answers, ty.get_canonical_type(), meant);
        }
        match sort {
            "variable" => {
                answers.insert(Question::Storage, storage(meant).to_owned());
                answers.extend(value(meant).map(|value| (Question::Constant, value)));
            }
            "enumerator" => {
                answers.extend(enumerator(meant).map(|value| (Question::Constant, value)));
                answers.remove(&Question::Qualifier);
            }
            "function" if entity.get_kind() == EntityKind::DeclRefExpr => {
                let definition = meant.get_definition().filter(|definition| !definition.is_in_system_header());
                let defined = definition.and_then(|definition| self.shown_place(definition));
                answers.insert(Question::Callee, defined.unwrap_or_else(|| NO_DEFINITION.to_owned()));
            }
            _ => {}
        }
        answers
    }

    /// The value of a macro.
    fn probe(&mut self, entity: Entity<'_>) {
        let name = entity.get_name().unwrap_or_default();
        if let Some((name, value)) = name.strip_prefix(PROBE).zip(enumerator(entity)) {
            self.tell(name, false, &Answers::from([(Question::Constant, value)]));
        }
    }

    /// The type that a macro stands for.
    fn type_probe(&mut self, entity: Entity<'_>) {
        let name = entity.get_name().unwrap_or_default();
        if let Some((name, ty)) = name.strip_prefix(TYPE_PROBE).zip(entity.get_typedef_underlying_type()) {
            let mut answers = Answers::new();
            types(&mut answers, ty.get_canonical_type(), entity);
            self.tell(name, true, &answers);
        }
    }

    /// Says of every use of a macro what it stands for.
    fn tell(&mut self, name: &str, is_type: bool, answers: &Answers) {
        if !self.refused.contains(&(name.to_owned(), is_type)) {
            for (at, _) in self.macros.iter().filter(|(_, found)| *found == name) {
                self.known.names.entry(*at).or_default().extend(answers.clone());
            }
        }
    }

    fn finish(mut self) -> Known {
        let names = &self.known.names;
        let is_variable = |at: &usize| names.get(at).is_some_and(|it| it.contains_key(&Question::Declaration));
        self.known.macros = self.macros.into_keys().filter(|at| !is_variable(at)).collect();
        self.known
    }
}

/// The value of a constant of an enumeration.
fn enumerator(constant: Entity<'_>) -> Option<String> {
    let (signed, unsigned) = constant.get_enum_constant_value()?;
    let ty = constant.get_semantic_parent().and_then(|parent| parent.get_enum_underlying_type());
    let is_unsigned = ty.is_some_and(|ty| ty.get_canonical_type().is_unsigned_integer());
    Some(if is_unsigned { unsigned.to_string() } else { signed.to_string() })
}

/// How long an object lasts.
fn storage(variable: Entity<'_>) -> &'static str {
    let is_of = |wanted: &[EntityKind]| {
        variable.get_semantic_parent().is_some_and(|parent| wanted.contains(&parent.get_kind()))
    };
    // The wrapper does not know the kind that newer versions give the whole file.
    let outside = [EntityKind::NotImplemented, EntityKind::Namespace, EntityKind::LinkageSpec];
    let records = [EntityKind::StructDecl, EntityKind::ClassDecl, EntityKind::UnionDecl, EntityKind::ClassTemplate];
    let is_kept = matches!(variable.get_storage_class(), Some(StorageClass::Static | StorageClass::Extern));
    match variable.get_kind() {
        EntityKind::FieldDecl => "member",
        _ if variable.get_tls_kind().is_some() => "thread",
        EntityKind::VarDecl if is_kept || is_of(&outside) || is_of(&records) => "static",
        _ => "automatic",
    }
}

/// The value of a constant integer that is initialised with one.
fn value(variable: Entity<'_>) -> Option<String> {
    let ty = variable.get_type()?.get_canonical_type();
    let is_constant = ty.is_const_qualified() && !ty.is_volatile_qualified() && ty.is_integer();
    let definition = variable.get_definition().filter(|_| is_constant && variable.get_kind() == EntityKind::VarDecl)?;
    match definition.evaluate()? {
        EvaluationResult::SignedInteger(value) => Some(value.to_string()),
        EvaluationResult::UnsignedInteger(value) => Some(value.to_string()),
        _ => None,
    }
}
