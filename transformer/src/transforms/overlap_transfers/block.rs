//! The block of a data construct: its statements, what each of them uses, and beside which of them a copy may run.

use std::ops::Range;

use crate::context::Context;
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::target::TargetRegion;
use crate::source::Span;
use crate::syntax::{Clause, ClauseName, NodeId, NodeKind};
use crate::transforms::host_copies::host_code;
use crate::transforms::host_copies::host_values::HostValues;
use crate::transforms::overlap_transfers::items::{self, Item, Way};

/// A statement of the block, or a standalone directive between two of them.
pub(super) struct Statement {
    /// Its bytes, including the directives before it.
    pub extent: Span,
    /// `None` for a directive.
    pub node: Option<NodeId>,
    /// Which of the items it names.
    named: Vec<usize>,
    /// The constructs for the device in it, by their numbers in [`Block::kernels`].
    pub kernels: Range<usize>,
    /// What in it may reach memory without naming it; a copy runs neither beside it nor on the far side of it.
    pub obstacle: Option<Span>,
    /// May it stand in a block of its own, which another thread executes?
    pub may_move: bool,
}

/// The block.
pub(super) struct Block<'b> {
    pub items: &'b [Item],
    /// The constructs for the device in it, in the order of the text.
    pub kernels: Vec<&'b TargetRegion>,
    /// In the order of the text.
    pub statements: Vec<Statement>,
}

/// A transfer that may move away from where the block begins or ends.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    /// Its item's number.
    pub item: usize,
    pub way: Way,
    /// Beside which statements the array is not used: those before the first use, or behind the last one.
    pub idle: Range<usize>,
}

impl<'b> Block<'b> {
    /// Reads the block.
    pub(super) fn read(
        cx: &Context<'_>,
        region: &TargetRegion,
        items: &'b [Item],
        regions: &'b [TargetRegion],
    ) -> Result<Self, Reason> {
        let kernels: Vec<&TargetRegion> = regions.iter().filter(|inner| region.extent.contains(inner.extent)).collect();
        let directives = standalone(cx, region, &kernels)?;
        let mut block = Self { items, kernels, statements: Vec::new() };
        let nodes = host_code::statements(cx, region);
        let mut statements: Vec<Statement> = nodes.iter().map(|node| block.statement(cx, region, *node)).collect();
        let outside = |span: &&Span| !statements.iter().any(|statement| statement.extent.contains(**span));
        let between: Vec<Statement> =
            directives.iter().filter(outside).map(|span| block.directive(cx, *span)).collect();
        for statement in &mut statements {
            let inside = directives.iter().find(|span| statement.extent.contains(**span)).copied();
            statement.obstacle = statement.obstacle.or(inside);
        }
        statements.extend(between);
        statements.sort_by_key(|statement| statement.extent.start);
        block.statements = statements;
        Ok(block)
    }

    fn statement(&self, cx: &Context<'_>, region: &TargetRegion, node: NodeId) -> Statement {
        let body_of = |kernel: &&&TargetRegion| {
            let first = kernel.chain.constructs.first();
            first.is_some_and(|first| cx.constructs.construct(*first).body == Some(node))
        };
        let extent = self.kernels.iter().find(body_of).map_or(cx.tree.span(node), |kernel| kernel.extent);
        let is_inside = |kernel: &&TargetRegion| extent.contains(kernel.extent);
        let first = self.kernels.iter().position(is_inside).unwrap_or(0);
        let number = self.kernels.iter().filter(|kernel| is_inside(kernel)).count();
        let kernels = first..first + number;
        let reached = self.kernels.get(kernels.clone()).unwrap_or_default().iter();
        let reached = reached.filter_map(|kernel| self.reach(cx, region, kernel)).next();
        let on_host = host_code::obstacle(cx, region.extent, &self.kernels, node);
        let may_move = !matches!(cx.tree.kind(node), NodeKind::Declaration);
        Statement {
            extent,
            node: Some(node),
            named: self.named(cx, extent),
            kernels,
            obstacle: reached.or(on_host),
            may_move,
        }
    }

    fn directive(&self, cx: &Context<'_>, span: Span) -> Statement {
        let named = self.named(cx, span);
        Statement { extent: span, node: None, named, kernels: 0..0, obstacle: Some(span), may_move: false }
    }

    /// The items that a part of the text names.
    fn named(&self, cx: &Context<'_>, extent: Span) -> Vec<usize> {
        let numbered = self.items.iter().enumerate();
        numbered.filter(|(_, item)| host_code::names_variable(cx, extent, &item.name)).map(|(at, _)| at).collect()
    }

    /// The arrays that only one kernel of the block maps and names, if nothing else in the block may reach them: then it does not matter
    /// when they are copied. Of several such kernels the first, so that no more is on the device at once than before.
    pub(super) fn of_one_kernel(&self, cx: &Context<'_>, values: &HostValues<'_, '_>) -> Vec<Item> {
        let alone = self.statements.iter().enumerate().filter_map(|(at, statement)| {
            let kernel = self.kernels.get(statement.kernels.start).filter(|_| statement.kernels.len() == 1)?;
            let others = || self.statements.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, it)| it);
            let is_whole = kernel.extent == statement.extent && has_plain_clauses(cx, kernel);
            if !is_whole || others().any(|other| other.obstacle.is_some()) {
                return None;
            }
            let construct = *kernel.chain.constructs.first()?;
            let mut found = items::of_kernel(cx, values, construct, self.items);
            found.retain(|item| !others().any(|other| host_code::names_variable(cx, other.extent, &item.name)));
            (!found.is_empty()).then_some(found)
        });
        alone.into_iter().next().unwrap_or_default()
    }

    /// Where a kernel may reach memory that it does not name, or does more than a kernel does.
    fn reach(&self, cx: &Context<'_>, region: &TargetRegion, kernel: &TargetRegion) -> Option<Span> {
        if let Some(clause) = further_clause(cx, kernel) {
            return Some(clause);
        }
        let is_mapped = |key| self.items.iter().any(|item| item.key == key && item.has_numbers);
        host_code::unlisted(cx, (region.extent, kernel), &is_mapped).map(|used| used.span)
    }

    /// The transfers of arrays that no kernel at the beginning of the block uses, or none at its end.
    pub(super) fn wishes(&self) -> Vec<Wish> {
        let has_kernel = |range: &Range<usize>| {
            self.statements.get(range.clone()).unwrap_or_default().iter().any(|statement| !statement.kernels.is_empty())
        };
        let of_item = |item: usize| {
            let uses = |statement: &Statement| statement.named.contains(&item);
            let first = self.statements.iter().position(uses)?;
            let last = self.statements.iter().rposition(uses)?;
            Some([(Way::In, 0..first), (Way::Out, last + 1..self.statements.len())])
        };
        let mut wishes = Vec::new();
        for (number, item) in self.items.iter().enumerate() {
            for (way, idle) in of_item(number).into_iter().flatten() {
                if item.is_copied(way) && has_kernel(&idle) {
                    wishes.push(Wish { item: number, way, idle });
                }
            }
        }
        wishes
    }

    /// The statements of a wish that nothing unknown separates from the block's beginning or end.
    pub(super) fn open(&self, wish: &Wish) -> Range<usize> {
        let Range { start, end } = wish.idle;
        let is_closed = |statement: &Statement| statement.obstacle.is_some();
        let within = self.statements.get(wish.idle.clone()).unwrap_or_default();
        match wish.way {
            Way::In => start..within.iter().position(is_closed).map_or(end, |at| start + at),
            Way::Out => within.iter().rposition(is_closed).map_or(start, |at| start + at + 1)..end,
        }
    }

    /// Stretches of these statements that may run beside a copy, cut at some places.
    pub(super) fn stretches(&self, cuts: &[usize]) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for (at, statement) in self.statements.iter().enumerate() {
            if !statement.may_move || statement.obstacle.is_some() {
                continue;
            }
            match found.last_mut().filter(|last| last.end == at && !cuts.contains(&at)) {
                Some(last) => last.end = at + 1,
                None => found.push(at..at + 1),
            }
        }
        found
    }

    /// The kernels in some statements.
    pub(super) fn kernels_in(&self, range: &Range<usize>) -> usize {
        let statements = self.statements.get(range.clone()).unwrap_or_default();
        statements.iter().map(|statement| statement.kernels.len()).sum()
    }

    /// Why a wish has no kernel beside which the array may travel.
    pub(super) fn obstacle(&self, wish: &Wish) -> Reason {
        let name = self.items.get(wish.item).map_or("", |item| item.name.as_str());
        let statements = self.statements.get(wish.idle.clone()).unwrap_or_default();
        let found = match wish.way {
            Way::In => statements.iter().find_map(|statement| statement.obstacle),
            Way::Out => statements.iter().rev().find_map(|statement| statement.obstacle),
        };
        let span = found.or_else(|| statements.first().map(|statement| statement.extent)).unwrap_or_default();
        let message = format!("this may reach `{name}` without its name while it is copied");
        Reason::new(ReasonCode::TransferReach, span, message)
    }
}

/// A clause of a kernel that says more than what a kernel computes, and which way data are copied.
fn further_clause(cx: &Context<'_>, kernel: &TargetRegion) -> Option<Span> {
    let is_plain_map = |clause: &Clause| {
        clause.modifiers.iter().all(|it| matches!(it.name.as_str(), "to" | "from" | "tofrom" | "alloc"))
    };
    // `atomic compare` says how the kernel computes.
    let is_plain = |clause: &&Clause| {
        host_code::is_plain(clause) && (clause.name != ClauseName::Map || is_plain_map(clause))
            || clause.name == ClauseName::Compare
    };
    let directives = cx.constructs.within(kernel.extent).filter(|(_, directive)| !directive.transforms_loop());
    let mut clauses = directives.flat_map(|(_, directive)| &directive.clauses);
    clauses.find(|clause| !is_plain(clause)).map(|clause| clause.span)
}

fn has_plain_clauses(cx: &Context<'_>, kernel: &TargetRegion) -> bool {
    further_clause(cx, kernel).is_none()
}

/// The standalone directives of the block.
fn standalone(cx: &Context<'_>, region: &TargetRegion, kernels: &[&TargetRegion]) -> Result<Vec<Span>, Reason> {
    let mut found = Vec::new();
    let own = region.chain.innermost();
    for id in cx.constructs.ids_within(region.extent).filter(|id| *id != own) {
        let directive = cx.constructs.directive(id);
        let in_kernel = kernels.iter().any(|kernel| kernel.extent.contains(directive.span));
        let is_deferred = |name: &ClauseName| matches!(name, ClauseName::Nowait | ClauseName::Depend);
        let clause = directive.clauses.iter().find(|clause| is_deferred(&clause.name));
        if let Some(clause) = clause.filter(|_| !in_kernel || is_kernel(cx, id)) {
            let message = "the construct is a task, which may still run when the block goes on";
            return Err(Reason::new(ReasonCode::TransferClause, clause.span, message));
        }
        if in_kernel {
            continue;
        }
        if directive.name != "target update" {
            let message = "this construct may map the arrays of the block, or wait for their copies";
            return Err(Reason::new(ReasonCode::TransferReach, directive.span, message));
        }
        found.push(directive.span);
    }
    Ok(found)
}

fn is_kernel(cx: &Context<'_>, id: ConstructId) -> bool {
    cx.constructs.is_target(id)
}
