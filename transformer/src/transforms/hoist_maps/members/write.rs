//! An environment of the other text, written into the file.

use super::{Listing, Path, paths, reason, told, unchanged};
use crate::context::Context;
use crate::edit::Edit;
use crate::edit::directive_writer::indent_of;
use crate::plan::{Plan, Reason, ReasonCode, Verdict};
use crate::semantics::symbols::DeclaredType;
use crate::source::{Span, with_words};
use crate::syntax::NodeId;
use crate::transforms::hoist_maps::absence::may_declare_before;
use crate::transforms::hoist_maps::decided::{Opened, Planned};
use crate::transforms::hoist_maps::members::text::Changed;

/// A plan for the other text in terms of the file; `None` where it cannot be told.
pub(super) fn plan(cx: &Context<'_>, listing: &Listing, changed: &Changed, planned: &Planned) -> Option<Plan> {
    let paths = &listing.paths;
    let plan = &planned.plan;
    let (span, extent) = (changed.origin_of(plan.span), changed.origin_of(plan.extent));
    let reasons = plan.reasons.iter().map(|known| reason(changed, paths, known)).collect();
    let found = Plan { span, extent, reasons, summary: told(&plan.summary, paths), ..plan.clone() };
    let Some(opened) = planned.opened.as_ref() else { return Some(found) };
    let refuse = |(span, message): (Span, String)| {
        let reason = Reason::new(ReasonCode::MapNotUnited, span, message);
        Some(Verdict::Refuse(vec![reason]).into_plan(plan.pass, found.span, extent))
    };
    // Those that are named there, and those that called functions find there.
    let is_accessed = |path: &&Path| listing.accesses.iter().any(|it| it.key == path.key && extent.contains(it.span));
    let is_written =
        |path: &&Path| plan.edits.iter().any(|edit| crate::source::words(&edit.text).any(|word| word == path.local));
    let inside: Vec<&Path> = paths.iter().filter(|path| is_accessed(path) || is_written(path)).collect();
    if inside.is_empty() {
        return edits(cx, listing, changed, plan, &[]).map(|edits| Plan { edits, ..found });
    }
    let is_handed = inside.iter().any(|path| !is_accessed(path));
    let listed = lists_object(cx, extent, &inside).or_else(|| is_handed.then(|| lists_some_object(cx))?);
    if let Some(trouble) = listed.or_else(|| unchanged::change(cx, extent, &inside)) {
        return refuse(trouble);
    }
    let held: Vec<&Path> = inside.iter().filter(|path| opened.held.contains(&path.local)).copied().collect();
    let Some(values) = held.iter().map(|path| value(cx, path, paths, opened)).collect::<Option<Vec<String>>>() else {
        return refuse((span, "where its data would be mapped is not known where they are needed".to_owned()));
    };
    let is_in_block = first_statement(cx, extent).is_some_and(|node| may_declare_before(cx, node));
    if !is_in_block && !held.is_empty() {
        return refuse((span, "there is no place for a pointer before the environment".to_owned()));
    }
    let declared: Vec<(&Path, String)> = held.into_iter().zip(values).collect();
    edits(cx, listing, changed, plan, &declared).map(|edits| Plan { edits, ..found })
}

/// Does a construct list the object itself, so that more than what the member leads to is mapped?
fn lists_object(cx: &Context<'_>, extent: Span, inside: &[&Path]) -> Option<(Span, String)> {
    let directives = cx.constructs.ids().map(|id| cx.constructs.directive(id)).filter(|it| extent.contains(it.span));
    let mut items = directives.flat_map(|directive| &directive.clauses).flat_map(|clause| clause.items());
    items.find_map(|item| {
        let base = item.base.as_deref().filter(|_| !item.has_member)?;
        let id = cx.named(base, item.span.start).map(|(named, _)| named.id);
        let is_it =
            |path: &&Path| if base == "this" { path.key.base.is_none() } else { id.is_some() && path.key.base == id };
        inside.iter().any(is_it).then(|| (item.span, format!("a construct lists `{base}` itself")))
    })
}

/// A construct of the file that lists an object, which may be one that called functions find.
fn lists_some_object(cx: &Context<'_>) -> Option<(Span, String)> {
    let clauses = cx.constructs.ids().flat_map(|id| &cx.constructs.directive(id).clauses);
    clauses.flat_map(|clause| clause.items()).find_map(|item| {
        let base = item.base.as_deref().filter(|_| !item.has_member)?;
        let (_, variable) = cx.named(base, item.span.start)?;
        let is_object = |ty: &DeclaredType| ty.class().is_some();
        let may_be = is_object(&variable.ty) || is_object(&variable.ty.dereferenced());
        may_be.then(|| (item.span, format!("a construct lists `{base}` itself")))
    })
}

/// What a pointer that stands for a member is given: where no construct may need the member, it is not read.
fn value(cx: &Context<'_>, path: &Path, paths: &[Path], opened: &Opened) -> Option<String> {
    let names_pointer = |term: &String| {
        paths.iter().any(|path| path.is_pointer && crate::source::words(term).any(|word| word == path.local))
    };
    let is_comparison = |term: &String| term.contains(" <= (") || term.contains("sizeof(");
    let (with_pointers, terms): (Vec<&String>, Vec<&String>) =
        opened.conditions.iter().partition(|term| names_pointer(term));
    with_pointers.into_iter().all(is_comparison).then_some(())?;
    // Where a vector has its memory can be asked in any case.
    if terms.is_empty() || path.key.of_vector().is_some() {
        return Some(path.text.clone());
    }
    let terms: Vec<String> = terms.into_iter().map(|term| told(term, paths)).collect();
    Some(format!("{} ? {} : {}", terms.join(" && "), path.text, paths::null(cx)))
}

fn first_statement(cx: &Context<'_>, extent: Span) -> Option<NodeId> {
    let at = cx.constructs.ids().map(|id| cx.constructs.construct(id));
    let body =
        at.filter(|it| cx.constructs.directives.get(it.directive).is_some_and(|own| own.span.start == extent.start));
    let found = body.filter_map(|it| it.body).next();
    found.or_else(|| {
        let node = cx.tree.covering(Span::new(extent.start, extent.start + 1));
        let mut around = std::iter::once(node).chain(cx.tree.ancestors(node));
        around.find(|node| cx.tree.kind(*node).is_statement_or_declaration())
    })
}

/// The edits, in which each held member goes by a pointer with a name of its own.
fn edits(
    cx: &Context<'_>,
    listing: &Listing,
    changed: &Changed,
    plan: &Plan,
    declared: &[(&Path, String)],
) -> Option<Vec<Edit>> {
    let names: Vec<(&str, String)> =
        declared.iter().map(|(path, _)| (path.local.as_str(), name(cx, listing.function, path))).collect();
    let word = |word: &str| {
        let own = names.iter().find(|(local, _)| *local == word).map(|(_, name)| name.clone());
        own.or_else(|| listing.paths.iter().find(|path| path.local == word).map(|path| path.text.clone()))
    };
    let mut found: Vec<Edit> = Vec::new();
    for edit in &plan.edits {
        let Span { start, end } = edit.span;
        (changed.is_kept(start) && changed.is_kept(end)).then_some(())?;
        let span = changed.origin_of(edit.span);
        found.push(Edit { span, text: with_words(&edit.text, &word) });
    }
    let opens = |edit: &&mut Edit| ["omp target data", "omp target enter data"].iter().any(|it| edit.text.contains(it));
    let opening = found.iter_mut().find(opens);
    let opening = opening.filter(|_| !declared.is_empty());
    if let Some(edit) = opening {
        let newline = if edit.text.contains("\r\n") { "\r\n" } else { "\n" };
        // Directives may stand in the first column.
        let start = plan_start(changed, plan);
        let statement = first_statement(cx, Span::new(start, start + 1));
        let indent = indent_of(cx.file, statement.map_or(start, |node| cx.tree.span(node).start));
        let lines = declared
            .iter()
            .zip(&names)
            .map(|((path, value), (_, name))| format!("{indent}{}{name} = {value};{newline}", path.ty));
        edit.text = format!("{}{}", lines.collect::<String>(), edit.text);
    }
    Some(found)
}

/// A name for one environment: for the first the one in the other text.
fn name(cx: &Context<'_>, function: NodeId, path: &Path) -> String {
    path.given.set(path.given.get() + 1);
    match path.given.get() {
        1 => path.local.clone(),
        count => cx.fresh_in(cx.tree.span(function), &format!("{}_{count}", path.local)),
    }
}

fn plan_start(changed: &Changed, plan: &Plan) -> usize {
    changed.origin(plan.extent.start)
}
