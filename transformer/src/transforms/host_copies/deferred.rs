//! Constructs whose mapping is deferred. They may map arrays while the tiles of another construct are copied. They
//! would then find arrays present that both map, but that are not copied yet, or only in part.
//!
//! Such a construct does no harm to a loop if the two map different arrays that are no pointers, or if it has certainly
//! ended when the loop begins: its block goes on to a `taskwait`, or it stands in a `taskgroup` or `parallel`
//! construct, and in between no host code can reach the loop. Tiles are never begun in an active parallel region, so
//! that no other thread does either.

use std::collections::BTreeSet;

use crate::context::Context;
use crate::region::construct::{Construct, ConstructId};
use crate::semantics::calls::is_pure;
use crate::semantics::evaluation::{Act, act};
use crate::semantics::symbols::DeclaredType;
use crate::semantics::uses::{Role, uses_below};
use crate::semantics::{Kind, Telling};
use crate::source::{Language, Span, words};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Call, Clause, ClauseName, Directive, NodeId, NodeKind};
use crate::transforms::host_copies::host_code;

/// A construct of the file that may map while the tiles of a region are copied.
pub(in crate::transforms) fn deferred(names: &Context<'_>, extent: Span) -> Option<Span> {
    let cx = names;
    let is_harmless = |id: ConstructId| {
        let directive = cx.constructs.directive(id);
        // The construct's own deferral is checked elsewhere; an enclosing task has already begun.
        let is_own = extent.contains(directive.span) || is_task(directive) && extent_of(cx, id).contains(extent);
        is_own || maps_other_arrays(names, id, extent) || has_ended(names, id, extent)
    };
    let unread =
        || [Telling::Nowait, Telling::Task, Telling::Taskloop].into_iter().find_map(|it| cx.unread_directive(it));
    let read = deferring(cx).into_iter().find(|(id, _)| !is_harmless(*id)).map(|(_, span)| span);
    read.or_else(unread)
}

/// The constructs that are tasks and map data, each with the directive or clause that makes it a task.
fn deferring(cx: &Context<'_>) -> Vec<(ConstructId, Span)> {
    let maps = |construct: &Construct, directive: &Directive| {
        let maps = |clause: &Clause| clause.name == ClauseName::Map && !clause.has_modifier("release");
        construct.leaves.contains(&Leaf::Target) || directive.clauses.iter().any(maps)
    };
    let found = cx.constructs.ids().filter_map(|id| {
        let (construct, directive) = (cx.constructs.construct(id), cx.constructs.directive(id));
        if is_task(directive) {
            let mut inside = cx.constructs.within(extent_of(cx, id));
            return inside.any(|(construct, directive)| maps(construct, directive)).then_some((id, directive.span));
        }
        let nowait = directive.clauses_of(ClauseName::Nowait).next().filter(|_| maps(construct, directive))?;
        Some((id, nowait.span))
    });
    found.collect()
}

fn is_task(directive: &Directive) -> bool {
    directive.name.split(' ').any(|word| matches!(word, "task" | "taskloop"))
}

fn extent_of(cx: &Context<'_>, id: ConstructId) -> Span {
    Span::new(cx.constructs.directive(id).span.start, cx.constructs.construct(id).body_span.end)
}

/// Are all arrays that the two constructs map different objects?
fn maps_other_arrays(names: &Context<'_>, id: ConstructId, extent: Span) -> bool {
    let cx = names;
    let (construct, directive) = (cx.constructs.construct(id), cx.constructs.directive(id));
    if is_task(directive) || directive.clauses_of(ClauseName::Defaultmap).next().is_some() {
        return false;
    }
    let maps = cx.constructs.within(extent).flat_map(|(_, directive)| directive.clauses_of(ClauseName::Map));
    let mut mapped = maps.flat_map(Clause::items);
    if !mapped.all(|item| item.base.as_ref().is_some_and(|name| is_object(names, name, item.span.start))) {
        return false;
    }
    let text = cx.file.show(extent);
    let named: BTreeSet<&str> = words(&text).collect();
    let is_other = |name: &str, at: usize| {
        let in_macro = |text: &str| words(text).any(|word| word == name);
        is_object(names, name, at) && !named.contains(name) && !names.uses_macro_with(extent, &in_macro)
    };
    let is_copied =
        |clause: &&Clause| matches!(clause.name, ClauseName::Firstprivate | ClauseName::Private | ClauseName::Depend);
    let items = directive.clauses.iter().filter(|clause| !is_copied(clause)).flat_map(Clause::items);
    let listed = items.map(|item| item.base.as_ref().is_some_and(|name| is_other(name, item.span.start)));
    let uses = construct.body.map(|body| uses_below(cx.file, cx.tree, body)).unwrap_or_default();
    let is_own = |name: &str, at: usize| {
        let variable = names.symbols().lookup(name, at);
        variable.is_some_and(|it| it.id().is_within(construct.body_span))
    };
    let is_number =
        |name: &str, at: usize| matches!(names.kind(name, at), Kind::Scalar { builtin: true, .. } | Kind::Constant);
    let used = uses.iter().map(|used| {
        let at = used.span.start;
        match (names.expansion(&used.name, at), used.role) {
            (Some(inner), _) => inner.is_some_and(|inner| inner.iter().all(|name| is_number(name, at))),
            (None, Role::Callee) => is_pure(&used.name),
            (None, Role::MethodCall) => false,
            (None, _) if is_own(&used.name, at) => is_object(names, &used.name, at),
            (None, _) => is_number(&used.name, at) || is_other(&used.name, at),
        }
    });
    listed.chain(used).all(|it| it)
}

/// Is it a number or an array of numbers with storage of its own?
fn is_object(names: &Context<'_>, name: &str, at: usize) -> bool {
    let ty = names.symbols().lookup(name, at).map(|variable| variable.ty.clone());
    match ty {
        Some(DeclaredType::Array { element, .. }) => element.is_scalar(),
        Some(ty) => ty.number().is_some(),
        None => false,
    }
}

/// Has a task certainly ended when a region begins?
fn has_ended(names: &Context<'_>, id: ConstructId, extent: Span) -> bool {
    let cx = names;
    // Teams of the host run at the same time without a parallel region.
    let is_host_league = |it: &Construct| it.leaves.contains(&Leaf::Teams) && !it.leaves.contains(&Leaf::Target);
    let is_alone = |id: ConstructId| {
        let mut around = std::iter::successors(Some(id), |id| cx.constructs.enclosing(*id));
        around.any(|id| cx.constructs.construct(id).leaves.contains(&Leaf::Target))
            || !is_host_league(cx.constructs.construct(id))
    };
    if !cx.constructs.ids().all(is_alone) {
        return false;
    }
    // At a scheduling point a thread may begin any task that is waiting.
    let tasks = cx.constructs.ids().filter(|id| is_task(cx.constructs.directive(*id)));
    let mut tasks = tasks.map(|id| extent_of(cx, id));
    if tasks.any(|task| task.overlaps(extent) || !is_quiet(names, task)) {
        return false;
    }
    let is_over = |stretch: Span| !stretch.overlaps(extent) && is_quiet(names, stretch);
    let around = std::iter::successors(cx.constructs.enclosing(id), |id| cx.constructs.enclosing(*id));
    let mut waiting = around.filter(|id| {
        let leaves = &cx.constructs.construct(*id).leaves;
        let is_host_team = leaves.contains(&Leaf::Parallel) && !leaves.contains(&Leaf::Target);
        is_host_team || cx.constructs.directive(*id).name == "taskgroup"
    });
    waiting.any(|id| is_over(extent_of(cx, id))) || stretch_to_wait(cx, id).is_some_and(is_over)
}

/// From the statement of a block that holds a construct to the next `taskwait` of the block, in the same task.
fn stretch_to_wait(cx: &Context<'_>, id: ConstructId) -> Option<Span> {
    let own = extent_of(cx, id);
    let task = cx.constructs.enclosing(id);
    let around = task.map(|task| cx.constructs.construct(task).body_span);
    let is_wait = |other: &ConstructId| {
        let directive = cx.constructs.directive(*other);
        let is_behind = directive.span.start >= own.end && cx.constructs.enclosing(*other) == task;
        is_behind && directive.name == "taskwait" && directive.clauses.is_empty()
    };
    let waits: Vec<Span> =
        cx.constructs.ids().filter(is_wait).map(|other| cx.constructs.directive(other).span).collect();
    let waits_in = |block: NodeId| waits.iter().find(|wait| cx.tree.covering(**wait) == block);
    let mut child = cx.tree.covering(own);
    let mut start = own.start;
    for node in std::iter::once(child).chain(cx.tree.ancestors(child)) {
        let span = cx.tree.span(node);
        if around.is_some_and(|around| !around.contains(span))
            || matches!(cx.tree.kind(node), NodeKind::LambdaExpression)
        {
            return None;
        }
        if node != child {
            start = start.min(cx.tree.span(child).start);
        }
        let wait = waits_in(node).filter(|_| cx.tree.kind(node) == NodeKind::CompoundStatement);
        if let Some(wait) = wait {
            return Some(Span::new(start, wait.end));
        }
        child = node;
    }
    None
}

/// Does the host stay in a part of the file until its end, without calls that may lead to another part?
pub(in crate::transforms) fn is_quiet(names: &Context<'_>, stretch: Span) -> bool {
    let cx = names;
    let is_doubtful = cx.tree.problem_in(stretch).is_some() || cx.tree.inactive().iter().any(|it| it.overlaps(stretch));
    let on_device = |span: Span| {
        let mut inside = cx.constructs.within(stretch);
        inside.any(|(it, _)| it.leaves.contains(&Leaf::Target) && it.body.is_some() && it.body_span.contains(span))
    };
    let nodes = cx.tree.descendants(cx.tree.covering(stretch));
    let mut nodes = nodes.filter(|node| stretch.contains(cx.tree.span(*node)) && !on_device(cx.tree.span(*node)));
    let mut clauses = cx.constructs.within(stretch).flat_map(|(_, directive)| &directive.clauses);
    !is_doubtful
        && nodes.all(|node| !cx.tree.is_named(node) || stays(names, stretch, node))
        && clauses.all(|clause| calls_nothing(names, clause.span))
}

fn stays(names: &Context<'_>, stretch: Span, node: NodeId) -> bool {
    let tree = names.tree;
    let is_c = tree.language() == Language::C;
    match tree.kind(node) {
        NodeKind::Identifier => {
            let span = tree.span(node);
            host_code::is_harmless_function(names, node) || is_plain(names, &names.file.show(span), span.start)
        }
        NodeKind::CallExpression => {
            let function = Call::of(tree, node).and_then(Call::function);
            function.is_some_and(|function| host_code::is_harmless_function(names, function))
        }
        NodeKind::BreakStatement | NodeKind::ContinueStatement => {
            let mut around = tree.ancestors(node).take_while(|node| stretch.contains(tree.span(*node)));
            around.any(|node| {
                matches!(
                    tree.kind(node),
                    NodeKind::ForStatement
                        | NodeKind::WhileStatement
                        | NodeKind::DoStatement
                        | NodeKind::SwitchStatement
                )
            })
        }
        kind if STATEMENTS.contains(&kind) => true,
        kind if is_c && IN_C.contains(&kind) => true,
        // Names of types and of namespaces lead to functions in C++: constructors, operators.
        NodeKind::QualifiedIdentifier | NodeKind::NamespaceIdentifier | NodeKind::TemplateFunction => false,
        NodeKind::TypeIdentifier | NodeKind::FieldIdentifier => is_c,
        NodeKind::This | NodeKind::NewExpression | NodeKind::DeleteExpression => false,
        _ => !matches!(act(names.file, tree, node), Some(Act::Call | Act::Unknown)),
    }
}

/// Statements and declarations that call nothing by themselves and end where their text ends, in both languages.
const STATEMENTS: [NodeKind; 10] = [
    NodeKind::CompoundStatement,
    NodeKind::Declaration,
    NodeKind::InitDeclarator,
    NodeKind::ArrayDeclarator,
    NodeKind::PointerDeclarator,
    NodeKind::ForStatement,
    NodeKind::WhileStatement,
    NodeKind::DoStatement,
    NodeKind::IfStatement,
    NodeKind::ElseClause,
];

/// More of them in C, where no initializer calls a function unless a call is written.
const IN_C: [NodeKind; 6] = [
    NodeKind::LabeledStatement,
    NodeKind::StatementIdentifier,
    NodeKind::SwitchStatement,
    NodeKind::CaseStatement,
    NodeKind::InitializerList,
    NodeKind::FieldExpression,
];

/// Is it a name whose use calls no function?
fn is_plain(names: &Context<'_>, name: &str, at: usize) -> bool {
    if let Some(inner) = names.expansion(name, at) {
        return inner.is_some_and(|inner| inner.iter().all(|name| is_plain(names, name, at)));
    }
    if names.kind(name, at) == Kind::Constant {
        return true;
    }
    let Some(variable) = names.symbols().lookup(name, at) else { return false };
    names.tree.language() == Language::C || is_of_numbers(&variable.ty)
}

fn is_of_numbers(ty: &DeclaredType) -> bool {
    match ty {
        DeclaredType::Array { element, .. } | DeclaredType::ArrayParameter { element, .. } => is_of_numbers(element),
        DeclaredType::Pointer { pointee, .. } => is_of_numbers(pointee),
        ty => ty.number().is_some(),
    }
}

/// Does the text of a clause hold no call, and nothing that may hide one?
fn calls_nothing(names: &Context<'_>, clause: Span) -> bool {
    let text = names.file.show(clause);
    let Some((_, argument)) = text.split_once('(') else { return true };
    let is_call = argument.match_indices('(').any(|(at, _)| {
        let before = argument.get(..at).unwrap_or_default().trim_end();
        before.ends_with(|last: char| last == '_' || last.is_alphanumeric() || last == ')' || last == ']')
    });
    let is_hidden = |word: &str| {
        let at = clause.start;
        let is_macro = names.expansion(word, at).is_some();
        let is_variable = names.symbols().lookup(word, at).is_some();
        (is_macro || is_variable) && !is_plain(names, word, at)
    };
    !is_call && !words(argument).any(is_hidden)
}
