//! Arrays that constructs list as members: `g->u`, `d.x`, `this->u`, or `u` in a member function.
//!
//! What is decided of them is decided on another text, in which a pointer of the function's own stands for each of them. What is decided
//! there holds for the file where the members keep their values as long as the environment is open. The environment maps what such a
//! pointer leads to, so that no part of a structure is mapped. The constructs keep their maps: present data are found by their address.

pub(super) mod accesses;
pub(super) mod handed;
pub(super) mod paths;
pub(super) mod text;
mod unchanged;
mod write;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::context::Context;
use crate::edit::Edit;
use crate::plan::{Plan, Reason};
use crate::region::other_text::OtherText;
use crate::semantics::Program;
use crate::source::{Span, with_words};
use crate::syntax::{Field, NodeId};
use crate::transforms::hoist_maps::decide_file;
use crate::transforms::hoist_maps::decided::{Decided, Planned};
use accesses::{Access, Key, accesses};
use handed::Needs;
use paths::paths;
use text::Changed;

/// A member that constructs of a function list, or that their sections are computed from.
pub(super) struct Path {
    key: Key,
    /// As the function names it: `g->u`.
    pub text: String,
    /// What a variable of its type is declared with: `double *`.
    pub ty: String,
    pub is_pointer: bool,
    /// The variable that stands for it in the other text.
    pub local: String,
    /// How many environments have a pointer for it already.
    pub given: Cell<usize>,
    /// Where in the function such a variable can be declared.
    pub declared_at: usize,
}

/// The functions whose constructs list members.
struct Listing {
    function: NodeId,
    paths: Vec<Path>,
    accesses: Vec<Access>,
}

/// What is decided where constructs list members; what was decided of the text as it is stays, but for the functions with such constructs.
pub(super) fn with_members(cx: &Context<'_>, mut known: Decided) -> Decided {
    // What a compiler told is about the text as it is.
    if cx.compilation.facts.is_some() {
        return known;
    }
    let listings = listings(cx);
    if listings.is_empty() {
        return known;
    }
    let Some(changed) = changed(cx, &listings) else { return known };
    let Some((found, unnamed)) = decided_on(cx, &changed) else { return known };
    for listing in &listings {
        let extent = cx.tree.span(listing.function);
        let own = found.environments.iter().filter(|one| extent.contains(changed.origin_of(one.plan.extent)));
        let plans: Option<Vec<Plan>> = own.map(|one| write::plan(cx, listing, &changed, one)).collect();
        let Some(plans) = plans else { continue };
        // Where the caller has names for what is handed, nothing stands against it.
        let is_unnamed = |span: Span| !extent.contains(span) || unnamed.contains(&span.start);
        known.unnamed.retain(|(call, _)| is_unnamed(cx.tree.span(*call)));
        known.environments.retain(|one| !extent.contains(one.plan.extent));
        known.environments.extend(plans.into_iter().map(|plan| Planned { plan, opened: None }));
    }
    known
}

fn listings(cx: &Context<'_>) -> Vec<Listing> {
    let mut functions: BTreeSet<NodeId> = BTreeSet::new();
    for id in cx.constructs.ids().filter(|id| cx.constructs.is_target(*id)) {
        functions.extend(cx.function_of(cx.constructs.directive(id).span));
    }
    let calls = handed::calls(cx, &functions);
    functions.extend(calls.iter().filter_map(|call| cx.function_of(cx.tree.span(*call))));
    functions.retain(|function| (cx.is_wanted)(cx.tree.span(*function)));
    let mut needs = Needs::new(cx, &calls);
    functions.into_iter().filter_map(|function| listing(cx, function, &calls, &mut needs)).collect()
}

fn listing(cx: &Context<'_>, function: NodeId, calls: &[NodeId], needs: &mut Needs<'_, '_>) -> Option<Listing> {
    let body = cx.tree.child(function, Field::Body)?;
    let arguments = handed::arguments(cx, body, calls);
    let mut paths = paths(cx, function, body, &arguments);
    paths::add_handed(cx, function, body, needs.handed_by(function), &mut paths);
    paths::add_handed(cx, function, body, needs.found_by(function), &mut paths);
    paths.iter().any(|path| path.is_pointer).then_some(())?;
    let mut accesses = accesses(cx, cx.tree.span(body));
    accesses.retain(|access| paths.iter().any(|path| path.key == access.key));
    Some(Listing { function, paths, accesses })
}

/// The other text.
fn changed(cx: &Context<'_>, listings: &[Listing]) -> Option<Changed> {
    let mut edits: Vec<Edit> = Vec::new();
    for Listing { paths, accesses, .. } in listings {
        let held = paths::held(cx, paths);
        for access in accesses {
            let Some(path) = paths.iter().find(|path| path.key == access.key) else { continue };
            let own = held.iter().find(|held| held.key == access.key && held.extent.contains(access.span));
            let text = own.map_or(path.local.clone(), |held| held.local.clone());
            edits.push(Edit { span: access.span, text });
        }
        let mut declared: BTreeMap<usize, String> = BTreeMap::new();
        for path in paths {
            // A number is named once more, so that a section can be told by that.
            let named = if path.is_pointer { String::new() } else { format!(" (void){};", path.local) };
            let text = format!(" {}{} = {};{named}", path.ty, path.local, path.text);
            declared.entry(path.declared_at).or_default().push_str(&text);
        }
        edits.extend(declared.into_iter().map(|(at, text)| Edit::insertion(at, text)));
    }
    Changed::new(&cx.file.text, edits)
}

/// What is decided of the other text, and where in the file calls stand that hand over what has no name there either.
fn decided_on(cx: &Context<'_>, changed: &Changed) -> Option<(Decided, Vec<usize>)> {
    let OtherText { file, scan, tree, constructs } = OtherText::read(changed.text.clone(), cx.file, cx.tree)?;
    let program = Program::new(&file, &scan, &tree, &constructs, cx.compilation).with_added(changed.added());
    let found = decide_file(&cx.of_other(program), Some(changed));
    let unnamed = found.unnamed.iter().map(|(call, _)| changed.origin(tree.span(*call).start)).collect();
    Some((found, unnamed))
}

/// A text of the other program in terms of the file.
fn told(text: &str, paths: &[Path]) -> String {
    with_words(text, &|word| paths.iter().find(|path| path.local == word).map(|path| path.text.clone()))
}

/// A reason in terms of the file.
fn reason(changed: &Changed, paths: &[Path], reason: &Reason) -> Reason {
    let labels = reason.labels.iter().map(|(at, text)| (changed.origin_of(*at), told(text, paths)));
    Reason {
        span: changed.origin_of(reason.span),
        message: told(&reason.message, paths),
        labels: labels.collect(),
        ..reason.clone()
    }
}
