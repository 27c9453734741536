//! `target enter data` with the `target exit data` that end it on each way out: a data environment like `target data`.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;

use crate::context::Context;
use crate::edit::directive_writer::on_one_line;
use crate::region::construct::ConstructId;
use crate::source::Span;
use crate::syntax::{ClauseName, Directive, NodeId, NodeKind};
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::items::normal;
use crate::transforms::hoist_maps::jumps::{leaving_branches, ways_out};

/// The environments of this kind in a function.
pub(super) fn pairs(cx: &Context<'_>, function: Span) -> Vec<Mapping> {
    let ids: Vec<ConstructId> = cx.constructs.ids_within(function).collect();
    let enters = ids.iter().filter(|id| cx.constructs.directive(**id).is("target enter data"));
    enters.filter_map(|id| pair(cx, *id, &ids)).collect()
}

/// The functions that open data environments.
pub(super) fn with_environments(cx: &Context<'_>) -> BTreeSet<NodeId> {
    let opens = |directive: &&Directive| directive.is("target data") || directive.is("target enter data");
    let directives = cx.constructs.ids().map(|id| cx.constructs.directive(id));
    directives.filter(opens).filter_map(|directive| cx.function_of(directive.span)).collect()
}

/// The data environments of a function, `target data` and those of this kind: which construct opens each, and from where to where.
pub(super) fn environments(cx: &Context<'_>, function: Span) -> Vec<(ConstructId, Span)> {
    let data = cx.constructs.ids_within(function).filter(|id| cx.constructs.directive(*id).is("target data"));
    let data = data.map(|id| (id, cx.constructs.construct(id).body_span));
    data.chain(pairs(cx, function).into_iter().map(|pair| (pair.id, pair.extent))).collect()
}

fn pair(cx: &Context<'_>, enter: ConstructId, ids: &[ConstructId]) -> Option<Mapping> {
    let directive = cx.constructs.directive(enter);
    let block = block_around(cx, directive.span)?;
    let listed = listed(cx, directive)?;
    let is_its = |id: &&ConstructId| {
        let other = cx.constructs.directive(**id);
        other.is("target exit data")
            && other.span.start > directive.span.end
            && self::listed(cx, other).as_ref() == Some(&listed)
            && condition(cx, other) == condition(cx, directive)
    };
    let mut exits: Vec<&Directive> = Vec::new();
    for id in ids.iter().filter(is_its) {
        let exit = cx.constructs.directive(*id);
        exits.push(exit);
        if block_around(cx, exit.span) == Some(block) {
            break;
        }
    }
    let last = exits.last().filter(|exit| block_around(cx, exit.span) == Some(block))?;
    let extent = Span::new(directive.span.start, last.span.end);
    let statements: Vec<NodeId> =
        cx.tree.named_children(block).filter(|node| extent.contains(cx.tree.span(*node))).collect();
    let branches: Vec<_> = statements.iter().flat_map(|statement| leaving_branches(cx, *statement)).collect();
    let ways = ways_out(cx, &statements, &branches.iter().collect::<Vec<_>>());
    let is_closed = |jump: &NodeId| exits.iter().any(|exit| stands_before(cx, exit.span, cx.tree.span(*jump)));
    (ways.blocked.is_none() && ways.jumps.iter().all(is_closed)).then_some(())?;
    let mut found = Mapping {
        id: enter,
        body: block,
        extent,
        is_data: true,
        // What stands before it in its block is not looked at.
        is_conditional: true,
        guards: Vec::new(),
        exits: exits.iter().map(|exit| exit.span).collect(),
        items: Vec::new(),
        touches: Vec::new(),
        called: None,
        path: Vec::new(),
        inside: OnceCell::new(),
        own_items: RefCell::default(),
        only_read: Vec::new(),
        trouble: None,
    };
    directive.clauses.iter().for_each(|clause| found.read_clause(cx, clause));
    let back = last
        .clauses_of(ClauseName::Map)
        .filter(|clause| clause.modifiers.iter().any(|modifier| matches!(modifier.name.as_str(), "from" | "tofrom")));
    let back: BTreeSet<String> = back.flat_map(|clause| clause.items()).map(|item| text(cx, item.span)).collect();
    for item in &mut found.items {
        item.from = back.contains(&normal(&item.text));
    }
    Some(found)
}

fn text(cx: &Context<'_>, span: Span) -> String {
    normal(&on_one_line(cx.file, span))
}

/// What a directive lists, where it has no clauses but `map` and `if`.
fn listed(cx: &Context<'_>, directive: &Directive) -> Option<BTreeSet<String>> {
    let is_plain = |name: ClauseName| matches!(name, ClauseName::Map | ClauseName::If);
    directive.clauses.iter().all(|clause| is_plain(clause.name)).then_some(())?;
    let items = directive.clauses_of(ClauseName::Map).flat_map(|clause| clause.items());
    Some(items.map(|item| text(cx, item.span)).collect())
}

fn condition(cx: &Context<'_>, directive: &Directive) -> Vec<String> {
    directive.clauses_of(ClauseName::If).map(|clause| text(cx, clause.span)).collect()
}

fn block_around(cx: &Context<'_>, span: Span) -> Option<NodeId> {
    let node = cx.tree.covering(span);
    let mut around = std::iter::once(node).chain(cx.tree.ancestors(node));
    around.find(|node| cx.tree.kind(*node) == NodeKind::CompoundStatement)
}

/// Stands nothing but blanks between a directive and a statement?
fn stands_before(cx: &Context<'_>, directive: Span, statement: Span) -> bool {
    directive.end <= statement.start
        && cx.file.bytes(Span::new(directive.end, statement.start)).iter().all(u8::is_ascii_whitespace)
}
