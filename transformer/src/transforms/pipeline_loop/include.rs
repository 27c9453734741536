//! The line that includes the header of page-locked memory.

use crate::syntax::NodeKind;
use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::context::Context;
use crate::edit::Edit;
use crate::source::file_scope::{Ending, FileScope};
use crate::source::{Include, SourceFile, Span, scan};

/// The header that page-locks memory.
const HEADER: &str = "ompsplit_pin.h";

/// Includes the header before `start`, behind the last include at file scope before which nothing is open that changes what
/// follows.
///
/// # Errors
/// There is no such include.
pub(super) fn include(cx: &Context<'_>, start: usize) -> Result<Vec<Edit>, String> {
    let is_free = |span: Span| !cx.scan.conditionals.iter().any(|group| group.span.contains(span));
    let mut before = cx.scan.includes.iter().filter(|include| include.span.end <= start && is_free(include.span));
    if before.any(|include| name_of(cx.file, include) == HEADER) {
        return Ok(Vec::new());
    }
    let endings = Endings { headers: cx.compilation.headers, known: RefCell::new(BTreeMap::new()) };
    let scope = FileScope::of(&cx.file.text, cx.scan, start, &|include| endings.of(cx.file, include));
    let mut places = scope.free.iter().rev().filter_map(|index| cx.scan.includes.get(*index));
    let Some(place) = places.find(|include| stands_at_file_scope(cx, include)) else {
        return Err(format!("no `#include` at file scope stands before it that \"{HEADER}\" could follow"));
    };
    Ok(vec![line_behind(cx.file, place.span)])
}

fn line_behind(file: &SourceFile, span: Span) -> Edit {
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let rest = file.text.get(span.end..).unwrap_or_default();
    let end = rest.get(rest.iter().position(is_end).unwrap_or(rest.len())..).unwrap_or_default();
    let newline = if end.starts_with(b"\r\n") { "\r\n" } else { "\n" };
    let at = file.text.len() - end.len() + newline.len().min(end.len());
    Edit { span: Span::new(at, at), text: format!("#include \"{HEADER}\"{newline}") }
}

/// Does the tree, too, show an include outside of everything, with nothing before it that could not be read?
fn stands_at_file_scope(cx: &Context<'_>, include: &Include) -> bool {
    let tree = cx.tree;
    let line = Span::new(include.span.start, include.path.end);
    let is_readable = tree.problems().first().is_none_or(|problem| include.span.end <= tree.span(*problem).start);
    let node = tree.covering(line);
    let outermost =
        std::iter::once(node).chain(tree.ancestors(node)).find(|node| tree.parent(*node) == Some(tree.root()));
    is_readable
        && outermost.is_some_and(|node| matches!(tree.kind(node), NodeKind::PreprocInclude | NodeKind::PreprocCall))
}

/// The included file's name, without folders.
fn name_of(file: &SourceFile, include: &Include) -> String {
    let path = file.show(include.path);
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// How the headers that are in sight end.
struct Endings<'a> {
    headers: &'a [SourceFile],
    known: RefCell<BTreeMap<String, Option<Ending>>>,
}

impl Endings<'_> {
    /// What all headers of that name leave behind; none where none is in sight, or it is being followed.
    fn of(&self, file: &SourceFile, include: &Include) -> Option<Ending> {
        let name = name_of(file, include);
        if let Some(known) = self.known.borrow().get(&name) {
            return *known;
        }
        self.known.borrow_mut().insert(name.clone(), None);
        let mut ending: Option<Ending> = None;
        for header in self.headers.iter().filter(|header| header.path.file_name().is_some_and(|it| *it == *name)) {
            let scan = scan(&header.text);
            let scope = FileScope::of(&header.text, &scan, header.text.len(), &|include| self.of(header, include));
            let before = ending.unwrap_or(Ending { is_closed: true, is_whole: true });
            ending = Some(Ending {
                is_closed: before.is_closed && scope.ending.is_closed,
                is_whole: before.is_whole && scope.ending.is_whole,
            });
        }
        self.known.borrow_mut().insert(name, ending);
        ending
    }
}
