//! Had others mapped a variable before? Only where nobody had, an update shows the host what the original would have copied.
//!
//! Where that is not certain, the program asks before the environment opens, and opens it only if all data that updates move are absent.
//! Where they are present, the constructs find them there, and copy nothing either. `use_device_ptr` gives the address that an address has
//! on the device. What is absent has none: LLVM gives a null pointer then; GCC, and OpenMP 6.0 (section 7.5.8), leave the pointer as it is.
//! LLVM 19 also gives an address for what stands before a section that is mapped (`map(a[n:n])` for `a`): then the constructs copy as they did.

use crate::context::Context;
use crate::edit::directive_writer::{Layout, WIDTH};
use crate::region::construct::ConstructId;
use crate::semantics::{Origin, Telling};
use crate::source::{Language, Span};
use crate::syntax::{NodeId, NodeKind};
use crate::transforms::hoist_maps::blocks::{Candidate, Statement};
use crate::transforms::hoist_maps::environments::{Environment, Held};
use crate::transforms::hoist_maps::items::Item;
use crate::transforms::hoist_maps::updates::Update;
use crate::transforms::hoist_maps::write::without_parentheses;

/// How it is known that nobody had mapped a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absence {
    /// Nobody can have.
    Certain,
    /// The program asks, and updates only if so.
    Asked,
}

/// What the program asks before an environment opens.
pub(super) struct Question {
    /// The variable that tells whether the environment opens, and brings all of these.
    pub stays: String,
    /// The variables that are asked about.
    about: Vec<Asked>,
}

/// What is asked about one variable.
struct Asked {
    name: String,
    /// The variable that is given its address, for that on the device.
    there: String,
    /// May its address be read where no construct runs?
    is_known: bool,
}

/// Whether a variable was absent where an environment opens in front of a statement, or earlier in its block.
pub(super) fn absence(cx: &Context<'_>, candidate: &Candidate, item: &Item, opens: &Statement) -> Option<Absence> {
    let extent = opens.extent;
    // Threads of the host may each be in the environment at another place.
    let is_by_threads = |id: ConstructId| {
        cx.constructs.construct(id).body_span.contains(extent) && !cx.constructs.directive(id).is("target data")
    };
    if cx.constructs.ids().any(is_by_threads) || cx.unread_directive(Telling::EnterData).is_some() {
        return None;
    }
    let may_stay = |id: ConstructId| cx.constructs.directive(id).is("target enter data");
    if is_own(cx, candidate, extent) && !cx.constructs.ids().any(may_stay) {
        return Some(Absence::Certain);
    }
    (starts_at_first(item) && may_declare_before(cx, opens.node)).then_some(Absence::Asked)
}

/// Is it memory of the function's own that nobody else knows?
fn is_own(cx: &Context<'_>, candidate: &Candidate, extent: Span) -> bool {
    let owner = candidate.owner;
    matches!(owner.origin, Origin::Allocation | Origin::AutomaticArray) && !owner.is_shared
        || cx.leads_to_unshared_memory(&candidate.named)
        || owner.origin == Origin::StaticArray && !owner.is_shared && is_in_main(cx, extent)
}

/// Does a place stand in `main`, which is called once, while no environment of the file is open?
fn is_in_main(cx: &Context<'_>, extent: Span) -> bool {
    let Some(main) = cx.function_of(extent) else { return false };
    let span = cx.tree.span(main);
    let mut data = cx.constructs.ids().filter(|id| cx.constructs.directive(*id).is("target data"));
    cx.is_main_alone(main) && data.all(|id| span.contains(cx.constructs.directive(id).span))
}

/// Is the address of the section that of the variable's first element?
fn starts_at_first(item: &Item) -> bool {
    item.section.is_empty() || item.section.starts_with("[:")
}

/// May declarations stand before a statement, where no jump leads past them?
pub(super) fn may_declare_before(cx: &Context<'_>, statement: NodeId) -> bool {
    let tree = cx.tree;
    let Some(block) = tree.parent(statement).filter(|it| tree.kind(*it) == NodeKind::CompoundStatement) else {
        return false;
    };
    // A label behind the statement is reached past the declarations, and past all that they are for.
    let at = tree.span(statement).start;
    let is_jumped_to = |node: NodeId| match tree.kind(node) {
        NodeKind::LabeledStatement => tree.span(node).start < at,
        kind => kind == NodeKind::CaseStatement,
    };
    // C lets a jump pass a declaration with a value.
    let function = cx.function_of(tree.span(statement)).filter(|_| tree.language() == Language::Cpp);
    let has_labels = function
        .is_some_and(|function| tree.descendants(function).any(|node| tree.kind(node) == NodeKind::LabeledStatement));
    tree.parent(block).is_none_or(|above| tree.kind(above) != NodeKind::SwitchStatement)
        && !tree.named_children(block).any(is_jumped_to)
        && !has_labels
}

impl Environment {
    /// Gives names to what is asked, and to its condition where several directives have it (`is_open`). `given` are names of other
    /// environments of the function.
    pub(super) fn name(&mut self, cx: &Context<'_>, is_open: bool, given: &mut Vec<String>) {
        let asks = |held: &&Held| held.updates.iter().any(|update| update.asks);
        let asked: Vec<&Held> = self.held.iter().filter(asks).collect();
        let Some(first) = self.held.first().filter(|_| !asked.is_empty() || is_open && !self.conditions.is_empty())
        else {
            return;
        };
        let function = cx.function_of(first.item.span).map_or(first.item.span, |function| cx.tree.span(function));
        let mut fresh = |stem: String| {
            let numbers = std::iter::once(String::new()).chain((2..).map(|number| format!("_{number}")));
            let mut names = numbers.map(|number| cx.fresh_in(function, &format!("{stem}{number}")));
            let name = names.find(|name| !given.contains(name)).unwrap_or_default();
            given.push(name.clone());
            name
        };
        let about = asked.iter().map(|held| Asked {
            name: held.item.named.name.clone(),
            there: fresh(format!("{}_there", held.item.named.name)),
            is_known: held.owner.origin != Origin::Other,
        });
        let about = about.collect();
        self.question = Some(Question { stays: fresh("data_stay".to_owned()), about });
    }

    /// What must hold so that an update of a variable moves something.
    pub(super) fn condition_of(&self, update: &Update) -> String {
        let stays = self.question.as_ref().filter(|_| update.asks).map(|question| question.stays.as_str());
        match (stays, update.condition.as_deref()) {
            (Some(stays), Some(own)) if own.contains(['|', '?', '=', ',']) => format!("{stays} && ({own})"),
            (Some(stays), Some(own)) => format!("{stays} && {own}"),
            (stays, own) => stays.or(own).unwrap_or_default().to_owned(),
        }
    }

    /// The lines that ask, before the environment opens.
    pub(super) fn questions(&self, layout: &Layout, indent: &str) -> String {
        let Some(Question { stays, about }) = &self.question else { return String::new() };
        let newline = layout.newline;
        if about.is_empty() {
            let all = broken(&self.conditions, layout, &format!("{indent}{}", " ".repeat(stays.len() + 13)));
            return format!("{indent}const int {stays} = {all};{newline}");
        }
        let condition = self.conditions.join(" && ");
        let address = |asked: &Asked| match condition.as_str() {
            condition if !condition.is_empty() && !asked.is_known => format!("{condition} ? {} : 0", asked.name),
            _ => asked.name.clone(),
        };
        let list = |text: &dyn Fn(&Asked) -> String| about.iter().map(text).collect::<Vec<_>>();
        let declared = list(&|it| format!("*{} = {}", it.there, address(it))).join(", ");
        let clause = format!("use_device_ptr({})", list(&|it| it.there.clone()).join(", "));
        let directive = layout.write("target data", &[clause]);
        let mut terms = list(&|it| format!("(!{0} || {0} == {1})", it.there, it.name));
        terms.extend(self.conditions.iter().cloned());
        let assigned = match terms.as_slice() {
            [only] => without_parentheses(only).to_owned(),
            several => broken(several, layout, &format!("{indent}{}", " ".repeat(stays.len() + 3))),
        };
        let lines = [
            format!("{indent}const void {declared};"),
            format!("{indent}int {stays};"),
            format!("{}{directive}", layout.indent),
            format!("{indent}{stays} = {assigned};"),
        ];
        lines.map(|line| line + newline).concat()
    }
}

/// Terms that all must hold, in as many lines as they need.
fn broken(terms: &[String], layout: &Layout, indent: &str) -> String {
    let mut text = String::new();
    let mut column = indent.len();
    for (index, term) in terms.iter().enumerate() {
        if index > 0 && column + term.len() + 4 > WIDTH {
            text += &format!(" &&{}{indent}", layout.newline);
            column = indent.len();
        } else if index > 0 {
            text += " && ";
            column += 4;
        }
        text += term;
        column += term.len();
    }
    text
}
