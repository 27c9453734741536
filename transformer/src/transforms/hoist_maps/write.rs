//! The edits: one directive around the statements, in the style of the constructs inside.

mod unstructured;

use std::collections::BTreeMap;

use crate::context::Context;
use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, WIDTH, indent_of, line_start};
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::semantics::Origin;
use crate::source::{Span, Spelling};
use crate::syntax::{Clause, ClauseName, NodeId, NodeKind};
use crate::transforms::hoist_maps::blocks::Statement;
use crate::transforms::hoist_maps::environments::{Environment, Held};
use crate::transforms::hoist_maps::jumps::ways_out;
use crate::transforms::two_forms::{Indents, line_inserts};

/// What stands on a line of its own besides a condition.
const SHORT: usize = 8;

/// The edits for an environment around the statements.
///
/// # Errors
/// Why there is no place for it.
pub(super) fn edits(
    cx: &Context<'_>,
    environment: &mut Environment,
    inside: &[Statement],
    construct: ConstructId,
    given: &mut Vec<String>,
) -> Result<Vec<Edit>, Reason> {
    let (Some(first), Some(last)) = (inside.first(), inside.last()) else { return Ok(Vec::new()) };
    let extent = Span::new(first.extent.start, last.extent.end);
    let directive = cx.constructs.directive(construct);
    let refuse = |span, message: &str| Err(Reason::new(ReasonCode::EnvironmentPlace, span, message));
    if directive.spelling != Spelling::Pragma {
        return refuse(directive.span, "only `#pragma` directives are written");
    }
    if is_in_nest(cx, extent) {
        return refuse(extent, "a directive counts the loops around the place where the directive would stand");
    }
    let start = line_start(&cx.file.text, extent.start);
    if !cx.file.bytes(Span::new(start, extent.start)).iter().all(u8::is_ascii_whitespace) {
        return refuse(extent, "other text stands on the line where the directive would stand");
    }
    let layout = Layout::of(cx.file, directive);
    let mut indents = Indents::of(cx, extent, first.node, &layout);
    if !indents.level.is_empty() {
        indents.level = one_level(cx, first.node, &indents.indent).unwrap_or(indents.level);
    }
    let layout = layout.indented(indents.indent.clone());
    // Directives may stand in the first column, as clang-format puts them.
    let column =
        if indent_of(cx.file, directive.span.start).is_empty() { String::new() } else { indents.indent.clone() };
    let layout = layout.indented(column.clone());
    let nodes: Vec<NodeId> = inside.iter().map(|statement| statement.node).collect();
    let branches: Vec<_> = inside.iter().flat_map(|statement| &statement.branches).collect();
    let mut ways = ways_out(cx, &nodes, &branches);
    let is_known_here = |held: &Held| held.owner.origin == Origin::Allocation && !held.owner.is_shared;
    if !environment.held.iter().all(is_known_here) {
        ways.jumps.append(&mut ways.ends);
    }
    let is_alone = inside.len() == 1 && first.extent == cx.tree.span(first.node);
    let leaves = if is_alone { None } else { leaves_block(cx, inside, extent) };
    let is_structured = ways.first(cx).is_none() && leaves.is_none();
    environment.name(cx, !is_structured, given);
    let environment = &*environment;
    if !is_structured {
        let edits = unstructured::edits(cx, environment, inside, &ways, &layout, &indents.indent)?;
        return Ok(with_updates(cx, environment, &layout, "", edits));
    }
    let asked = environment.questions(&layout, &indents.indent);
    let opening = layout.write("target data", &clauses(environment, &layout));
    let text = format!("{asked}{column}{opening}{}", layout.newline);
    if is_alone {
        let edits = vec![Edit { span: Span::new(start, start), text }];
        return Ok(with_updates(cx, environment, &layout, "", edits));
    }
    let (newline, indent) = (layout.newline, &indents.indent);
    let open = format!("{text}{indent}{{{newline}");
    let mut edits = line_inserts(cx.file, Span::new(start, extent.end), &indents.level, open);
    edits.push(Edit { span: Span::new(extent.end, extent.end), text: format!("{newline}{indent}}}") });
    Ok(with_updates(cx, environment, &layout, &indents.level, edits))
}

/// A `target update` directive, in the order in which those at one place stand.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct UpdateLine {
    /// The line before which it stands.
    at: usize,
    /// 0 to the device, 1 from it.
    way: u8,
    condition: String,
    /// Which of the elements of a variable it lists.
    index: usize,
    /// A byte of a line with its blanks.
    like: usize,
}

/// Adds the updates of what is held, each on lines of its own, which are indented by `level` more than those around them.
fn with_updates(
    cx: &Context<'_>,
    environment: &Environment,
    layout: &Layout,
    level: &str,
    mut edits: Vec<Edit>,
) -> Vec<Edit> {
    // Where data go to the device behind one statement, they go there before others come back for the next.
    // One directive lists no variable twice.
    let mut lines: BTreeMap<UpdateLine, Vec<&str>> = BTreeMap::new();
    for update in environment.held.iter().flat_map(|held| &held.updates) {
        let condition = environment.condition_of(update);
        let ways = [(update.place.behind, 0, &update.piece.to), (update.place.before, 1, &update.piece.from)];
        for (at, way, items) in ways {
            for (index, item) in items.iter().enumerate() {
                let line = UpdateLine { at, way, condition: condition.clone(), index, like: update.place.like };
                lines.entry(line).or_default().push(item);
            }
        }
    }
    let mut texts: BTreeMap<usize, String> = BTreeMap::new();
    for (UpdateLine { at, way, condition, like, .. }, items) in lines {
        let is_in_first_column = layout.indent.is_empty();
        let column = if is_in_first_column { String::new() } else { format!("{level}{}", indent_of(cx.file, like)) };
        let layout = layout.indented(column.clone());
        let items = format!("{}({})", if way == 0 { "to" } else { "from" }, items.join(", "));
        let clauses = [items, format!("if({condition})")];
        let clauses = clauses.get(..if condition.is_empty() { 1 } else { 2 }).unwrap_or_default();
        let text = layout.write("target update", clauses);
        texts.entry(at).or_default().push_str(&format!("{column}{text}{}", layout.newline));
    }
    for (at, text) in texts {
        match edits.iter_mut().find(|edit| edit.span == Span::new(at, at)) {
            Some(edit) => edit.text.insert_str(0, &text),
            None => edits.push(Edit { span: Span::new(at, at), text }),
        }
    }
    edits
}

/// Does a directive that is associated with several loops stand around a place, so that nothing may come between them?
fn is_in_nest(cx: &Context<'_>, extent: Span) -> bool {
    let counts = |clause: &Clause| {
        matches!(clause.name, ClauseName::Collapse | ClauseName::Ordered | ClauseName::Sizes | ClauseName::Permutation)
    };
    cx.constructs.ids().any(|id| {
        cx.constructs.construct(id).body_span.contains(extent) && cx.constructs.directive(id).clauses.iter().any(counts)
    })
}

/// By how much the lines of a block are indented against those that it stands in.
fn one_level(cx: &Context<'_>, node: NodeId, indent: &str) -> Option<String> {
    let mut around = cx.tree.ancestors(node).map(|above| indent_of(cx.file, cx.tree.span(above).start));
    around.find_map(|outer| indent.strip_prefix(&outer).filter(|level| !level.is_empty()).map(str::to_owned))
}

/// `map` clauses by type, in the order in which the items come.
fn maps(environment: &Environment, kind: impl Fn(&Held) -> &'static str) -> Vec<String> {
    let mut maps: Vec<(&str, Vec<&str>)> = Vec::new();
    for held in &environment.held {
        let kind = kind(held);
        match maps.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, items)) => items.push(&held.item.text),
            None => maps.push((kind, vec![&held.item.text])),
        }
    }
    maps.into_iter().map(|(kind, items)| format!("map({kind}: {})", items.join(", "))).collect()
}

impl Environment {
    /// The clauses of the `target enter data` that opens it.
    fn clauses_of_enter(&self) -> Vec<String> {
        let maps = maps(self, |held| if held.to { "to" } else { "alloc" });
        maps.into_iter().chain(self.if_it_stays()).collect()
    }

    /// The clauses of a `target exit data` that closes it.
    fn clauses_of_exit(&self) -> Vec<String> {
        let maps = maps(self, |held| if held.from { "from" } else { "release" });
        maps.into_iter().chain(self.if_it_stays()).collect()
    }

    fn if_it_stays(&self) -> Option<String> {
        self.question.as_ref().map(|question| format!("if({})", question.stays))
    }
}

/// The clauses of the `target data` that it is.
fn clauses(environment: &Environment, layout: &Layout) -> Vec<String> {
    let maps = maps(environment, |held| match (held.to, held.from) {
        (true, true) => "tofrom",
        (true, false) => "to",
        (false, true) => "from",
        (false, false) => "alloc",
    });
    let mut condition = match (&environment.question, environment.conditions.as_slice()) {
        (Some(question), _) => question.stays.clone(),
        (None, [only]) => without_parentheses(only).to_owned(),
        (None, several) => several.join(" && "),
    };
    if environment.question.is_none() && layout.indent.len() + condition.len() + SHORT > WIDTH {
        condition = environment.conditions.join(&format!(" && \\{}{}       ", layout.newline, layout.indent));
    }
    maps.into_iter().chain((!condition.is_empty()).then(|| format!("if({condition})"))).collect()
}

/// A condition without the parentheses around all of it.
pub(super) fn without_parentheses(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else { return text };
    let mut open = 0_i32;
    let closes_early = inner.chars().any(|c| {
        open += i32::from(c == '(') - i32::from(c == ')');
        open < 0
    });
    if closes_early || inner.contains(['"', '\'']) { text } else { inner }
}

/// What a new block would cut: declarations that later statements use, jumps and labels.
fn leaves_block(cx: &Context<'_>, inside: &[Statement], extent: Span) -> Option<(Span, &'static str)> {
    let tree = cx.tree;
    for statement in inside {
        if matches!(tree.kind(statement.node), NodeKind::CaseStatement | NodeKind::LabeledStatement) {
            return Some((statement.extent, "a jump may lead between the constructs"));
        }
        if tree.kind(statement.node).is_preprocessor() {
            return Some((statement.extent, "a preprocessor line stands between the constructs"));
        }
        let declares = tree.kind(statement.node) == NodeKind::Declaration;
        if declares && is_used_behind(cx, statement.node, extent.end) {
            return Some((statement.extent, "what is declared between the constructs is used behind them"));
        }
        if !declares
            && tree.kind(statement.node).is_statement_or_declaration()
            && is_definition(tree.kind(statement.node))
        {
            return Some((statement.extent, "a type is declared between the constructs"));
        }
    }
    None
}

fn is_definition(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::TypeDefinition
            | NodeKind::StructSpecifier
            | NodeKind::UnionSpecifier
            | NodeKind::EnumSpecifier
            | NodeKind::AliasDeclaration
            | NodeKind::UsingDeclaration
    )
}

/// Is a word that a declaration declares found behind the block, in its function?
fn is_used_behind(cx: &Context<'_>, declaration: NodeId, end: usize) -> bool {
    let tree = cx.tree;
    let names = tree.descendants(declaration).filter(|node| {
        tree.kind(*node) == NodeKind::Identifier
            && crate::semantics::uses::role_of_expression(tree, *node) == crate::semantics::uses::Role::Declaration
    });
    let behind =
        cx.function_of(tree.span(declaration)).map(|function| Span::new(end, tree.span(function).end.max(end)));
    let text = behind.map(|span| cx.file.show(span).into_owned()).unwrap_or_default();
    names.into_iter().any(|name| {
        let name = cx.file.show(tree.span(name));
        crate::source::words(&text).any(|word| word == name)
    })
}
