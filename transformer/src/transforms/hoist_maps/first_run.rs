//! Does a construct certainly run once a piece of the program is entered, and under which condition?
//!
//! An environment evaluates the sections of its items where it opens. That must happen only where the original evaluates them too.

use crate::context::Context;
use crate::region::loop_nest::{CanonicalLoop, Relation, canonical_head, canonical_nest, guarded_head};
use crate::semantics::effects::{HostEffects, Named, Storage, Touch};
use crate::semantics::evaluation::act;
use crate::semantics::symbols::{Scope, Variable};
use crate::semantics::{Act, Evaluation, Kind};
use crate::source::{Span, words};
use crate::syntax::{ClauseName, Field, NodeId, NodeKind};
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::items::{follows_nothing, is_object};
use crate::transforms::hoist_maps::templates::Template;

mod first_steps;

/// What a construct is looked for in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    /// The first statement of an environment.
    First,
    /// A later one, or the body of a loop.
    Later,
    /// The body of a called function. Its conditions are told in terms of the caller, whose values nothing in the function changes.
    Called,
}

impl Root {
    /// A statement of an environment, by its position there.
    pub(super) fn at(position: usize) -> Self {
        if position == 0 { Self::First } else { Self::Later }
    }
}

/// The conditions, in C, that must hold where `root` begins so that the construct runs, or `None` if it is not certain at all.
/// `host` is what the host does in all of the environment.
pub(super) fn conditions(
    cx: &Context<'_>,
    root: (NodeId, Root),
    mapping: &Mapping,
    host: &HostEffects,
) -> Option<Vec<String>> {
    Some(terms(cx, root, mapping, host)?.iter().map(|term| term.text(cx)).collect())
}

/// The same conditions, with the values in them.
pub(super) fn terms(
    cx: &Context<'_>,
    (root, kind): (NodeId, Root),
    mapping: &Mapping,
    host: &HostEffects,
) -> Option<Vec<Template>> {
    let tree = cx.tree;
    let is_first = kind == Root::First;
    // The last condition comes first here.
    let mut found: Vec<Template> = mapping.guards.iter().rev().cloned().collect();
    let mut values = mapping.guards.iter().flat_map(Template::expressions);
    values.all(|value| is_stable(cx, value, host)).then_some(())?;
    let mut node = mapping.body;
    while node != root {
        let parent = tree.parent(node)?;
        match tree.kind(parent) {
            NodeKind::CompoundStatement => {
                let before: Vec<NodeId> = tree.named_children(parent).take_while(|sibling| *sibling != node).collect();
                for sibling in before.into_iter().rev() {
                    if !cx.comes_to_its_end(sibling) && !waits_for_later_pass(cx, parent, sibling) {
                        found.extend(passed_conditions(cx, (root, kind), sibling)?.into_iter().rev());
                    }
                }
                is_always_opened(cx, parent).then_some(())?;
            }
            NodeKind::ForStatement if tree.field(node) == Some(Field::Body) => {
                // A loop that `break` may end early still begins like any other.
                let Some(read) = guarded_head(cx.file, tree, parent) else {
                    let is_bare = tree.child(parent, Field::Initializer).is_none();
                    if is_bare {
                        // `for (; test; i++)` begins as `while (test)` does, and `for (;;)` in any case.
                        if let Some(test) = tree.child(parent, Field::Condition) {
                            (parent == root && is_first).then_some(())?;
                            found.push(repeated_condition(cx, test)?);
                        }
                    } else {
                        found.extend(first_steps::condition(cx, (root, is_first), parent, host)?);
                    }
                    node = parent;
                    continue;
                };
                let is_guarded = !read.before.is_empty() || !read.behind.is_empty();
                let counter = &read.counting;
                let is_own =
                    || counter.declared_in_loop || cx.cannot_be_aliased(&counter.variable, counter.variable_span.end);
                (!is_guarded || parent == root && is_first && is_own()).then_some(())?;
                // The last part of the test comes first here.
                let repeated = |part: &NodeId| repeated_condition(cx, *part);
                found.extend(read.behind.iter().rev().map(repeated).collect::<Option<Vec<_>>>()?);
                found.extend(trip_condition(cx, counter, host)?);
                found.extend(read.before.iter().rev().map(repeated).collect::<Option<Vec<_>>>()?);
            }
            NodeKind::WhileStatement if tree.field(node) == Some(Field::Body) => {
                let condition = tree.child(parent, Field::Condition)?;
                let test = match tree.kind(condition) {
                    NodeKind::ParenthesizedExpression => tree.named_children(condition).next()?,
                    NodeKind::ConditionClause => tree.child(condition, Field::Value)?,
                    _ => return None,
                };
                // `while (1)`.
                if cx.constant(tree.span(test)).is_none_or(|value| value == 0) {
                    (parent == root && is_first).then_some(())?;
                    found.push(repeated_condition(cx, test)?);
                }
            }
            NodeKind::DoStatement => {}
            // What a test calls runs with the first test.
            NodeKind::IfStatement | NodeKind::WhileStatement if tree.field(node) == Some(Field::Condition) => {}
            _ => return None,
        }
        node = parent;
    }
    found.reverse();
    Some(found)
}

/// When the first pass goes past an `if` that leads out of the statements, `if (error < limit) break;`, as a condition, in C, that has the
/// same value where the environment opens: it hangs on numbers of the function alone, which nothing before it changes. Of a called function
/// each part of `n < 1 || k > 3` is asked for itself, since the caller may know some of them.
fn passed_conditions(cx: &Context<'_>, (root, kind): (NodeId, Root), statement: NodeId) -> Option<Vec<Template>> {
    let test = passed_test(cx, statement)?;
    let is_same = match kind {
        Root::First => is_same_at_start(cx, root, statement, test),
        Root::Later => false,
        Root::Called => true,
    };
    let parts = if kind == Root::Called { alternatives(cx, test) } else { vec![test] };
    let negated = |part: NodeId| Template::of_test(cx, part).negated(cx);
    (is_same && is_repeatable(cx, test)).then(|| parts.into_iter().map(negated).collect())
}

/// The parts of a test of which one must hold, in their order.
fn alternatives(cx: &Context<'_>, test: NodeId) -> Vec<NodeId> {
    let tree = cx.tree;
    let is_made_of_parts = match tree.kind(test) {
        NodeKind::ParenthesizedExpression => true,
        NodeKind::BinaryExpression => matches!(tree.operator(test), Some(NodeKind::BarBar | NodeKind::Or)),
        _ => false,
    };
    match is_made_of_parts {
        true => tree.named_children(test).flat_map(|part| alternatives(cx, part)).collect(),
        false => vec![test],
    }
}

/// The test of an `if` that leads out of the statements.
fn passed_test(cx: &Context<'_>, statement: NodeId) -> Option<NodeId> {
    let tree = cx.tree;
    let has_else = tree.child(statement, Field::Alternative).is_some();
    (tree.kind(statement) == NodeKind::IfStatement && !has_else).then_some(())?;
    let branch = tree.child(statement, Field::Consequence)?;
    let last = match tree.kind(branch) {
        NodeKind::CompoundStatement => tree.named_children(branch).last()?,
        _ => branch,
    };
    let leads_out =
        matches!(tree.kind(last), NodeKind::BreakStatement | NodeKind::ReturnStatement | NodeKind::GotoStatement);
    leads_out.then_some(())?;
    let condition = tree.child(statement, Field::Condition)?;
    match tree.kind(condition) {
        NodeKind::ParenthesizedExpression => tree.named_children(condition).next(),
        NodeKind::ConditionClause => tree.child(condition, Field::Value),
        _ => None,
    }
}

/// Has a test the same value where `root` begins: does it hang on numbers of the function alone, which nothing up to its statement changes?
fn is_same_at_start(cx: &Context<'_>, root: NodeId, statement: NodeId, test: NodeId) -> bool {
    let tree = cx.tree;
    let at = tree.span(root).start;
    let so_far = Span::new(at, tree.span(statement).start);
    let is_same = |(name, span): &(String, Span)| {
        let is_number = cx.named(name, span.start).is_some_and(|(_, variable)| {
            let is_of_call =
                matches!(variable.scope, Scope::Local | Scope::Parameter) && !variable.has_static_storage();
            is_of_call && variable.ty.is_scalar()
        });
        cx.constant(*span).is_some()
            || cx.is_function_of_library(name, span.start)
            || is_number
                && cx.expansion(name, span.start).is_none()
                && cx.cannot_be_aliased(name, span.start)
                && cx.symbols().written_in(name, span.start, so_far).is_empty()
    };
    let span = tree.span(test);
    // Constructs copy numbers back without a word in the text of the host.
    let is_bare = cx.constructs.within(so_far).next().is_none();
    is_bare && cx.means_the_same(span, at) && cx.names_in(span).iter().all(is_same)
}

/// Is it an `if` in the body of a loop that the first pass does not enter: `if (i == 1)`, where `i` starts from 0?
fn waits_for_later_pass(cx: &Context<'_>, body: NodeId, statement: NodeId) -> bool {
    differs_at_first(cx, body, statement).unwrap_or(false)
}

fn differs_at_first(cx: &Context<'_>, body: NodeId, statement: NodeId) -> Option<bool> {
    let tree = cx.tree;
    let has_else = tree.child(statement, Field::Alternative).is_some();
    (tree.kind(statement) == NodeKind::IfStatement && !has_else).then_some(())?;
    let condition = tree.child(statement, Field::Condition)?;
    let test =
        tree.named_children(condition).next().filter(|test| tree.operator(*test) == Some(NodeKind::EqualEqual))?;
    let [left, right] = [Field::Left, Field::Right].map(|side| tree.child(test, side));
    let (left, right) = (tree.span(left?), tree.span(right?));
    let above = tree.parent(body).filter(|above| tree.kind(*above) == NodeKind::ForStatement)?;
    let head = canonical_head(cx.file, tree, above)?;
    let (variable, _) = cx.named(&head.variable, head.variable_span.end)?;
    let (compared, _) = cx.named(&cx.file.show(left), left.start)?;
    let so_far = Span::new(tree.span(body).start, tree.span(statement).start);
    let is_first = cx.symbols().written_in(&compared.name, compared.at, so_far).is_empty()
        && cx.cannot_be_aliased(&compared.name, compared.at);
    let (first, later) = (cx.constant(head.lower)?, cx.constant(right)?);
    let is_small = |value: i64| (0..=127).contains(&value);
    Some(variable.id == compared.id && is_first && first != later && is_small(first) && is_small(later))
}

/// Is a block no body of a `target data` that its `if` may leave out?
fn is_always_opened(cx: &Context<'_>, block: NodeId) -> bool {
    let mut own = cx.constructs.ids().filter(|id| cx.constructs.construct(*id).body == Some(block));
    own.all(|id| cx.constructs.directive(id).clauses_of(ClauseName::If).next().is_none())
}

/// When a `for` statement certainly runs its body so many times from beginning to end: empty where it does so in any case.
pub(super) fn runs_often(cx: &Context<'_>, node: NodeId, host: &HostEffects, times: usize) -> Option<Option<String>> {
    let read = canonical_nest(cx.file, cx.tree, node, 1).ok()?.loops.into_iter().next()?;
    let counts_by_one = read.step.amount.is_none();
    (counts_by_one && cx.comes_to_its_end(read.body)).then_some(())?;
    let more = i64::try_from(times).ok()? - 1;
    let asked = if read.step.is_subtracted {
        counts_down(cx, &read, host, more).map(Some)
    } else {
        least_trips(cx, &read, host, more)
    };
    asked.map(|term| term.map(|term| term.text(cx)))
}

/// When a loop that nothing leaves early makes so many passes: empty where that cannot be asked, nothing where it makes fewer.
pub(super) fn may_run_often(
    cx: &Context<'_>,
    node: NodeId,
    host: &HostEffects,
    times: usize,
) -> Option<Option<String>> {
    // The host may leave it early.
    let Some(read) = canonical_head(cx.file, cx.tree, node) else { return Some(None) };
    let more = i64::try_from(times).ok()? - 1;
    let asked = least_trips(cx, &read, host, more).or_else(|| counts_down(cx, &read, host, more).map(Some));
    let asked = asked.map(|term| term.map(|term| term.text(cx)));
    let is_constant = [read.lower, read.upper].iter().all(|span| cx.constant(*span).is_some());
    asked.or_else(|| (!is_constant).then_some(None))
}

/// When a loop runs at all; empty where it certainly does.
fn trip_condition(cx: &Context<'_>, read: &CanonicalLoop, host: &HostEffects) -> Option<Option<Template>> {
    least_trips(cx, read, host, 0).or_else(|| counts_down(cx, read, host, 0).map(Some))
}

/// When the test of a loop that counts down to a small number still holds after its variable has become so much smaller: `n - 1 >= 0`.
/// Where it starts from has the value that its variable gets, as all in it is of the variable's type.
fn counts_down(cx: &Context<'_>, read: &CanonicalLoop, host: &HostEffects, more: i64) -> Option<Template> {
    let relation = match read.relation {
        Relation::Greater => ">",
        Relation::GreaterOrEqual => ">=",
        _ => return None,
    };
    let last = cx.constant(read.upper).filter(|value| (0..=127).contains(value))? + more;
    let (_, variable) = cx.named(&read.variable, read.variable_span.end)?;
    let ty = variable.ty.number()?.integer()?;
    let is_of_type = |(name, span): &(String, Span)| {
        cx.constant(*span).is_some_and(|value| (0..=127).contains(&value))
            || cx.expansion(name, span.start).is_none()
                && cx.named(name, span.start).and_then(|(_, other)| other.ty.number()?.integer()) == Some(ty)
    };
    let start = cx.file.show(read.lower).split_whitespace().collect::<Vec<_>>().join(" ");
    let is_plain = |word: &str| !word.starts_with(|c: char| c.is_ascii_digit()) || word.parse::<u8>().is_ok();
    let is_same = ty.bits >= 32 && ty.signed && cx.is_arithmetic(read.lower) && words(&start).all(is_plain);
    let names = cx.names_in(read.lower);
    (is_same && !names.is_empty() && names.iter().all(is_of_type) && is_stable(cx, read.lower, host)).then_some(())?;
    Some(Template::compared(read.lower, &format!("{relation} {last}")))
}

/// When a loop's test still holds after its variable has grown by so much.
fn least_trips(cx: &Context<'_>, read: &CanonicalLoop, host: &HostEffects, more: i64) -> Option<Option<Template>> {
    // Both sides of a test are converted to one type: small numbers are the same in each.
    let [lower, upper] = [read.lower, read.upper].map(|span| cx.constant(span));
    let is_small = |value: &i64| (0..=127).contains(value);
    let lower = lower.filter(is_small)? + more;
    if let Some(upper) = upper {
        let is_known = (0..=i64::from(i32::MAX)).contains(&upper)
            && (upper <= 127 || read.declared_type.is_none_or(|ty| holds_more(cx, ty)));
        let runs = match read.relation {
            Relation::Less => lower < upper,
            Relation::LessOrEqual => lower <= upper,
            Relation::Greater => lower > upper,
            Relation::GreaterOrEqual => lower >= upper,
            Relation::NotEqual => lower != upper,
        };
        return (is_known && runs).then_some(None);
    }
    // A negative bound becomes a large one where the variable is unsigned; `bound > lower` then only leaves out loops that would run.
    matches!(read.relation, Relation::Less | Relation::LessOrEqual).then_some(())?;
    is_stable(cx, read.upper, host).then_some(())?;
    let relation = if read.relation == Relation::Less { ">" } else { ">=" };
    Some(Some(Template::compared(read.upper, &format!("{relation} {lower}"))))
}

/// Is a loop's variable declared with a type that is no character?
fn holds_more(cx: &Context<'_>, ty: Span) -> bool {
    !cx.file.bytes(ty).windows(4).any(|word| word == b"char" || word == b"bool" || word == b"Bool")
}

/// Does an expression have the same value wherever in the environment it is evaluated, and nothing else?
pub(super) fn is_stable(cx: &Context<'_>, expression: Span, host: &HostEffects) -> bool {
    let names = cx.names_in(expression);
    !cx.may_have_effect(expression)
        && names.iter().all(|(name, span)| {
            if cx.expansion(name, span.start).is_some() {
                return cx.constant(*span).is_some();
            }
            let Some((named, variable)) = cx.named(name, span.start) else { return cx.constant(*span).is_some() };
            (variable.ty.is_scalar() || is_object(cx, &variable.ty, span.start) && follows_nothing(cx, expression))
                && (cx.cannot_be_aliased(name, span.start)
                    || cx.is_lent_for_calls_alone(name, span.start)
                    || keeps_its_value(cx, &named, &variable, host))
                && host.writes_variable(named.id).is_none()
        })
}

/// Is it a number of the file, or of others, that nothing in the environment can write, since all that is done there is in sight?
fn keeps_its_value(cx: &Context<'_>, named: &Named, variable: &Variable, host: &HostEffects) -> bool {
    let own = Storage::Variable(named.clone());
    let is_apart = |pointer: &Named| cx.is_apart(&own, pointer, cx.owner(pointer));
    let is_other = |touch: &Touch| match &touch.storage {
        Storage::Variable(other) => other.id != named.id,
        Storage::Behind(pointer) => is_apart(pointer),
        Storage::Memory => false,
    };
    let is_plain = variable.ty.is_scalar()
        && matches!(variable.scope, Scope::File)
        && cx.kind(&named.name, named.at) != Kind::Volatile
        && !cx.is_declare_target(&named.name)
        && !cx.may_be_declared_for_device(&named.name, named.at);
    let is_written_back = || host.written_back.as_ref().is_none_or(|all| !all.iter().all(is_apart));
    is_plain
        && host.unknown.is_empty()
        && host.touches.iter().filter(|touch| touch.writes).all(is_other)
        && !is_written_back()
        && cx.runs_together(named, cx.owner(named)).is_none()
}

/// A condition that is evaluated once more, at the same place.
fn repeated_condition(cx: &Context<'_>, test: NodeId) -> Option<Template> {
    // `while (1)` always runs.
    let is_comparison = act(cx.file, cx.tree, test) == Some(Act::Test);
    let condition = Template::of_test(cx, test);
    is_repeatable(cx, test).then(|| if is_comparison { condition } else { condition.into_operand(cx) })
}

/// Does a test nothing but give a value?
fn is_repeatable(cx: &Context<'_>, test: NodeId) -> bool {
    let evaluation = Evaluation::of(cx.file, cx.tree, test);
    evaluation.only_gives_value() && cx.calls_only_compute(test) && cx.host_effects(test, &[]).unknown.is_empty()
}
