//! The text of a file with those of its project's headers in the place of the lines that include them, as the preprocessor makes it.
//!
//! A pass that goes by the whole program sees functions of headers like those of the file, then. What it decides is told of the file, and
//! the headers stay as they are. A header's text is put in only where it is certain which file a line includes, and that its text stands
//! there and nowhere else: outside of functions' bodies and of other conditions than guards, once or behind a guard.

pub(super) mod guard;

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::edit::{Edit, EditSet, Origins};
use crate::engine::joined::guard::{Guard, guard, is_only_comments};
use crate::plan::Plan;
use crate::semantics::symbols::FlagDefinition;
use crate::source::{Include, Language, Scan, SourceFile, Span, scan};
use crate::syntax::{HostTree, Limits, NodeKind};

/// A file together with headers.
pub(super) struct Joined {
    pub file: SourceFile,
    /// The headers whose text is not in it.
    pub others: Vec<SourceFile>,
    origins: Origins,
}

impl Joined {
    /// `None` where no header's text is certain to stand at one place.
    pub fn of(
        file: &SourceFile,
        headers: &[SourceFile],
        definitions: &[FlagDefinition],
        limits: &Limits,
    ) -> Option<Self> {
        let units = Units::of(file, headers, limits)?;
        let joined = units.joined(definitions);
        joined.contains(&true).then_some(())?;
        let edits = EditSet::new(units.edits(0, &joined, &mut BTreeSet::new())).ok()?;
        let mut whole = SourceFile::new(file.path.clone(), edits.apply(&file.text));
        whole.language = file.language;
        let others = headers.iter().zip(joined.iter().skip(1)).filter(|(_, joined)| !**joined);
        let others = others.map(|(header, _)| header.clone()).collect();
        Some(Self { file: whole, others, origins: edits.origins() })
    }

    /// A place in terms of the file: the line that includes it, for what stands in a header.
    pub fn place(&self, span: Span) -> Span {
        let start = self.origins.place(span.start);
        if span.is_empty() { Span::new(start, start) } else { self.origins.of(span) }
    }

    /// Does a place stand in a header?
    pub fn is_of_header(&self, span: Span) -> bool {
        self.origins.is_written(span.start)
    }

    /// A plan in terms of the file; `None` where it is about a header, whose text is not changed here.
    pub fn plan(&self, plan: Plan) -> Option<Plan> {
        (!self.is_of_header(plan.extent)).then_some(())?;
        let edits: Option<Vec<Edit>> = plan.edits.iter().map(|edit| self.edit(edit)).collect();
        Some(Plan { edits: edits?, ..plan.placed(|span| self.place(span)) })
    }

    fn edit(&self, edit: &Edit) -> Option<Edit> {
        let Span { start, end } = edit.span;
        let span = Span::new(self.origins.place(start), self.origins.place(end));
        let is_kept = self.origins.is_between(start) && self.origins.is_between(end) && span.len() == edit.span.len();
        is_kept.then(|| Edit { span, text: edit.text.clone() })
    }
}

/// A file, and what the byte scan finds in it.
struct Unit<'a> {
    file: &'a SourceFile,
    scan: Scan,
    /// The host program, unless it cannot be read.
    tree: Option<HostTree>,
    guard: Guard,
    /// Which unit each of its includes leads to, where that is certain.
    targets: Vec<Option<usize>>,
}

/// Where a unit is included.
struct Place {
    from: usize,
    /// Which of the includes it is.
    number: usize,
    target: usize,
    /// Is it certain that this unit is included there?
    is_certain: bool,
}

/// The file, which comes first, and its headers.
struct Units<'a> {
    all: Vec<Unit<'a>>,
}

impl<'a> Units<'a> {
    /// `None` where a file says by a macro which other it includes.
    fn of(file: &'a SourceFile, headers: &'a [SourceFile], limits: &Limits) -> Option<Self> {
        let own = file.language;
        let language = |file: &SourceFile| if file.language == Language::Either { own } else { file.language };
        let files: Vec<&SourceFile> = std::iter::once(file).chain(headers).collect();
        let paths: Vec<PathBuf> = files.iter().map(|file| plain(&file.path)).collect();
        let unit = |file: &'a SourceFile| {
            let scan = scan(&file.text);
            let of_language = SourceFile { language: language(file), ..file.clone() };
            let tree = HostTree::parse(&of_language, &scan, limits).ok().filter(|_| !file.text.contains(&0));
            let folder = file.path.parent().unwrap_or(Path::new(""));
            // The folder of the file that includes comes first in every compiler's search.
            let target = |include: &Include| {
                let path = plain(&folder.join(&*file.show(include.path)));
                let mut found = paths.iter().enumerate().filter(|(_, other)| **other == path);
                found.next().map(|(index, _)| index).filter(|_| include.quoted)
            };
            let targets = scan.includes.iter().map(target).collect();
            let guard = guard(file, &scan);
            (!includes_by_macro(file)).then_some(Unit { file, scan, tree, guard, targets })
        };
        Some(Self { all: files.into_iter().map(unit).collect::<Option<Vec<_>>>()? })
    }

    /// Which units' texts stand in the file.
    fn joined(&self, definitions: &[FlagDefinition]) -> Vec<bool> {
        let mut places = Vec::new();
        self.follow(0, &mut BTreeSet::new(), &mut places);
        let place = |index: usize| {
            let place = self.only_place(index, &places, definitions)?;
            let is_certain = places.iter().all(|place| place.is_certain || place.target != index);
            (is_certain && self.is_readable(index)).then_some(place.from)
        };
        let from: Vec<Option<usize>> = (0..self.all.len()).map(place).collect();
        // What a header includes that is not put in stands where that header does.
        let stands = |mut index: usize| {
            for _ in 0..self.all.len() {
                match from.get(index).copied().flatten() {
                    Some(0) => return true,
                    Some(outer) => index = outer,
                    None => return false,
                }
            }
            false
        };
        (0..self.all.len()).map(stands).collect()
    }

    /// The places where units are included, in the order of the preprocessor, which reads each unit below `from` once here.
    fn follow(&self, from: usize, seen: &mut BTreeSet<usize>, places: &mut Vec<Place>) {
        let Some(unit) = self.all.get(from).filter(|_| seen.insert(from)) else { return };
        for (number, (include, target)) in unit.scan.includes.iter().zip(&unit.targets).enumerate() {
            let targets = target.map_or_else(|| self.perhaps(&unit.file.show(include.path)), |target| vec![target]);
            for index in targets {
                places.push(Place { from, number, target: index, is_certain: target.is_some() });
                self.follow(index, seen, places);
            }
        }
    }

    /// The units that an include may lead to which is searched for in other folders.
    fn perhaps(&self, path: &str) -> Vec<usize> {
        let name = Path::new(path).file_name();
        let is_named = |unit: &Unit<'_>| name.is_some() && unit.file.path.file_name() == name;
        (0..self.all.len()).filter(|index| self.all.get(*index).is_some_and(is_named)).collect()
    }

    /// Where the text of a header stands, outside of conditions; behind a guard it does so where it is included first.
    fn only_place<'p>(&self, index: usize, places: &'p [Place], definitions: &[FlagDefinition]) -> Option<&'p Place> {
        let unit = self.all.get(index).filter(|_| index != 0)?;
        let mut own = places.iter().filter(|place| place.target == index);
        let first = own.next()?;
        let is_guarded = match &unit.guard {
            Guard::Name { name, .. } => self.is_defined_there_alone(name, definitions),
            Guard::Once => true,
            Guard::None => own.next().is_none(),
        };
        let outer = self.all.get(first.from)?;
        let include = outer.scan.includes.get(first.number)?;
        (is_guarded && outer.includes_in_any_case(include)).then_some(first)
    }

    /// Is a guard's name defined in this place and nowhere taken back?
    fn is_defined_there_alone(&self, name: &str, definitions: &[FlagDefinition]) -> bool {
        let of_unit = |unit: &Unit<'_>| {
            unit.scan.definitions.iter().filter(|definition| unit.file.show(definition.name) == name).count()
        };
        self.all.iter().map(of_unit).sum::<usize>() == 1
            && !definitions.iter().any(|flag| flag.name == name)
            && !self.all.iter().any(|unit| super::readings::names_taken_back(unit.file).iter().any(|it| it == name))
    }

    /// Is a header a text of its own, with nothing in it that the grammar does not read?
    fn is_readable(&self, index: usize) -> bool {
        let tree = self.all.get(index).and_then(|unit| unit.tree.as_ref());
        tree.is_some_and(|tree| tree.problems().is_empty())
    }

    /// What makes of a unit the text that the preprocessor makes of it. `seen` has the units whose text is put in already.
    fn edits(&self, index: usize, joined: &[bool], seen: &mut BTreeSet<usize>) -> Vec<Edit> {
        let Some(unit) = self.all.get(index) else { return Vec::new() };
        let guard = if index == 0 { &[] } else { unit.guard.lines() };
        let mut edits: Vec<Edit> = guard.iter().map(|line| on_own_lines(*line, "")).collect();
        for (include, target) in unit.scan.includes.iter().zip(&unit.targets) {
            let Some(target) = target.filter(|target| joined.get(*target) == Some(&true)) else { continue };
            let text = if seen.insert(target) { self.text(target, joined, seen) } else { String::new() };
            edits.push(on_own_lines(include.span, &text));
        }
        edits
    }

    /// The text of a header, with that of those that it includes.
    fn text(&self, index: usize, joined: &[bool], seen: &mut BTreeSet<usize>) -> String {
        let Some(unit) = self.all.get(index) else { return String::new() };
        let edits = EditSet::new(self.edits(index, joined, seen)).unwrap_or_default();
        let text = String::from_utf8_lossy(&edits.apply(&unit.file.text)).replace("\r\n", "\n");
        // What is written beside it has the line ends of the file.
        let end = self.all.first().map_or("\n", |own| own.file.line_ending().bytes());
        text.replace('\n', end)
    }
}

impl Unit<'_> {
    /// Does a line include its file whatever the preprocessor chooses, with nothing else on the line?
    fn includes_in_any_case(&self, include: &Include) -> bool {
        let guard = self.guard.span();
        let mut around = self.scan.conditionals.iter().filter(|group| group.span.overlaps(include.span));
        around.all(|group| Some(group.span) == guard)
            && is_only_comments(&self.file.text, Span::new(include.path.end + 1, include.span.end))
            && self.tree.as_ref().is_some_and(|tree| stands_outside(tree, include.span))
    }
}

/// A text on lines of its own in the place of a line.
fn on_own_lines(line: Span, text: &str) -> Edit {
    Edit { span: line, text: format!("\n{text}\n") }
}

/// Does a line stand outside of functions, classes and namespaces?
fn stands_outside(tree: &HostTree, line: Span) -> bool {
    let node = tree.covering(Span::new(line.start, line.start + 1));
    std::iter::once(node).chain(tree.ancestors(node)).all(|around| match tree.kind(around) {
        NodeKind::TranslationUnit | NodeKind::LinkageSpecification | NodeKind::DeclarationList => true,
        kind => kind.is_preprocessor() || !tree.is_named(around),
    })
}

/// A path without steps to and fro, so that one file has one path.
fn plain(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        let is_named = matches!(found.components().next_back(), Some(Component::Normal(_)));
        match part {
            Component::CurDir => {}
            Component::ParentDir if is_named => _ = found.pop(),
            other => found.push(other),
        }
    }
    found
}

/// Is there a line `#include NAME`, `#include_next` or `#import`? It may bring any file.
fn includes_by_macro(file: &SourceFile) -> bool {
    let brings_any = |line: &[u8]| {
        let Some(rest) = line.trim_ascii_start().strip_prefix(b"#") else { return false };
        let rest = rest.trim_ascii_start();
        let length = rest.iter().position(|byte| !byte.is_ascii_alphabetic() && *byte != b'_').unwrap_or(rest.len());
        let (word, path) = rest.split_at(length);
        match word {
            b"include" => !matches!(path.trim_ascii_start().first(), Some(b'"' | b'<')),
            word => matches!(word, b"include_next" | b"import"),
        }
    };
    file.text.split(|byte| *byte == b'\n').any(brings_any)
}

#[cfg(test)]
mod tests;
