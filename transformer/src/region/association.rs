//! Which statement each directive stands before (OpenMP 5.2, section 3.1).
//!
//! The host text is parsed with its directives blanked, so a directive is no node of the tree. Its associated statement
//! is the outermost statement or declaration that starts at the first token behind it.

use std::collections::BTreeMap;

use crate::region::construct::{Construct, ConstructId, ConstructTree, Doubt};
use crate::source::{Scan, SourceFile, Span, Spelling};
use crate::syntax::spec_table::Association;
use crate::syntax::{Directive, HostTree, NodeId, NodeKind};

use self::gap::Gap;

mod gap;

/// Builds the construct tree: the associated statement is the outermost statement that starts at the first token after
/// the directive; directives stacked above each other share it.
///
/// Constructs that are no single statement have only [`Construct::body_span`]: a `section` reaches to the next one or
/// to the end of its block, a delimited directive to its `end`. A directive without a row in the table is taken to have
/// a body, so that no construct in that body is read as if the directive were not there.
#[must_use]
pub fn associate(file: &SourceFile, scan: &Scan, tree: &HostTree, directives: Vec<Directive>) -> ConstructTree {
    let extents: Vec<Extent> = directives.iter().map(|directive| extent_of(file, directive)).collect();
    let gaps = gap::gaps(file, scan, tree.inactive(), &directives, &extents);
    let reader = Reader { file, scan, tree, lines: conditional_lines(scan), gaps };
    let sequences = reader.section_ends(&directives, &extents);
    let ends = delimited_ends(&directives, &extents);
    let mut constructs: Vec<Construct> = Vec::with_capacity(directives.len());
    for (index, directive) in directives.iter().enumerate() {
        let body = match extents[index] {
            Extent::None => Body::default(),
            Extent::Statement => reader.statement(index),
            Extent::Sequence => reader.sequence(directive, sequences.get(&index).copied()),
            Extent::Delimited => reader.delimited(directive, ends.get(&index).map(|end| directives[*end].span)),
        };
        let doubt = reader.doubt(index, directive, &body);
        constructs.push(Construct {
            directive: index,
            leaves: directive.spec.map(|spec| spec.leaves.to_vec()).unwrap_or_default(),
            body: body.node,
            body_span: body.span.unwrap_or(Span::new(directive.span.end, directive.span.end)),
            parent: None,
            children: Vec::new(),
            stacked_under: None,
            doubt,
        });
    }
    link_stacks(&reader.gaps, &directives, &extents, &mut constructs);
    link_parents(&reader.gaps, &directives, &mut constructs);
    ConstructTree { directives, constructs }
}

/// What a directive covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// Nothing: it stands alone.
    None,
    /// The statement or declaration behind it.
    Statement,
    /// The statements up to the next separator of the same block.
    Sequence,
    /// All up to its `end` directive.
    Delimited,
}

/// What a directive covers by the table, its clauses and arguments.
fn extent_of(file: &SourceFile, directive: &Directive) -> Extent {
    let Some(spec) = directive.spec else {
        return if directive.name.starts_with("end ") { Extent::None } else { Extent::Statement };
    };
    match spec.association {
        Association::None => Extent::None,
        // `ordered` with these clauses stands alone (5.2, section 15.10.1).
        Association::Block if spec.name == "ordered" && has_clause(file, directive, &["depend", "doacross"]) => {
            Extent::None
        }
        Association::Block | Association::Loop | Association::Declaration => Extent::Statement,
        Association::Separator if spec.name == "section" => Extent::Sequence,
        // `scan` separates the two parts of a loop body. They belong to the loop, so `scan` has no body of its own.
        Association::Separator => Extent::None,
        // `declare target` with a list or a clause is complete (5.2, section 7.8.1).
        Association::Delimited
            if spec.name == "declare target" && (directive.argument.is_some() || !directive.clauses.is_empty()) =>
        {
            Extent::None
        }
        Association::Delimited => Extent::Delimited,
    }
}

/// Has the directive a clause of one of these names?
fn has_clause(file: &SourceFile, directive: &Directive, names: &[&str]) -> bool {
    directive.clauses.iter().any(|clause| names.contains(&&*file.show(clause.name_span)))
}

/// For each delimited directive the index of its `end`. Directives of the same name may be nested.
fn delimited_ends(directives: &[Directive], extents: &[Extent]) -> BTreeMap<usize, usize> {
    let mut open: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut ends = BTreeMap::new();
    for (index, directive) in directives.iter().enumerate() {
        if extents[index] == Extent::Delimited {
            let name = directive.name.strip_prefix("begin ").unwrap_or(&directive.name);
            open.entry(name).or_default().push(index);
        } else if let Some(name) = directive.name.strip_prefix("end ")
            && let Some(start) = open.get_mut(name).and_then(Vec::pop)
        {
            ends.insert(start, index);
        }
    }
    ends
}

/// The body that was found for one directive.
#[derive(Clone, Copy, Debug, Default)]
struct Body {
    node: Option<NodeId>,
    span: Option<Span>,
    /// Is the statement missing, although the directive must have one?
    missing: bool,
}

impl Body {
    const MISSING: Self = Self { node: None, span: None, missing: true };
}

/// Where the lines of conditionals stand: each line's first and last byte, in order.
fn conditional_lines(scan: &Scan) -> Vec<Span> {
    let mut lines: Vec<Span> = Vec::new();
    for conditional in &scan.conditionals {
        lines.extend(conditional.branches.iter().map(|branch| branch.line));
        // The last branch's content ends where the `#endif` line starts.
        let end = conditional.branches.last().map_or(conditional.span.start, |branch| branch.content.end);
        lines.push(Span::new(end, conditional.span.end));
    }
    lines.sort_unstable();
    lines
}

struct Reader<'a> {
    file: &'a SourceFile,
    scan: &'a Scan,
    tree: &'a HostTree,
    lines: Vec<Span>,
    gaps: Vec<Gap>,
}

impl Reader<'_> {
    /// The outermost statement at the first token behind a directive. A stand-alone directive in between is the
    /// statement itself, and no statement of the host language.
    fn statement(&self, index: usize) -> Body {
        let gap = &self.gaps[index];
        if gap.behind_stand_alone {
            return Body::MISSING;
        }
        let Some(node) = gap.token.and_then(|token| self.tree.statement_at(token)) else { return Body::MISSING };
        Body { node: Some(node), span: Some(self.tree.span(node)), missing: false }
    }

    /// The statements of a `section` up to `limit`.
    fn sequence(&self, directive: &Directive, limit: Option<(NodeId, usize)>) -> Body {
        let Some((block, limit)) = limit else { return Body::MISSING };
        let all = Span::new(directive.span.end, limit);
        let text = self.file.bytes(all);
        let blank_before = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let blank_after = text.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
        let span = Span::new(all.start + blank_before, all.end.saturating_sub(blank_after));
        let mut inside = self.tree.named_children(block).filter(|child| all.contains(self.tree.span(*child)));
        let (first, second) = (inside.next(), inside.next());
        // A lone statement is the whole section unless directives of its own stand before it.
        let node = first.filter(|node| second.is_none() && self.tree.span(*node) == span);
        Body { node, span: Some(span), missing: span.is_empty() }
    }

    /// For each `section` its block and where it ends: at the next `section` of the same block, or at its brace.
    fn section_ends(&self, directives: &[Directive], extents: &[Extent]) -> BTreeMap<usize, (NodeId, usize)> {
        let mut starts: BTreeMap<NodeId, usize> = BTreeMap::new();
        let mut ends = BTreeMap::new();
        for (index, directive) in directives.iter().enumerate().rev() {
            if extents[index] != Extent::Sequence {
                continue;
            }
            let Some(block) = self.block_around(directive.span) else { continue };
            let brace = self.tree.span(block).end.saturating_sub(1);
            let limit = starts.insert(block, directive.span.start).unwrap_or(brace);
            ends.insert(index, (block, limit));
        }
        ends
    }

    /// The innermost block that holds a span.
    fn block_around(&self, span: Span) -> Option<NodeId> {
        let at = self.tree.covering(span);
        std::iter::once(at)
            .chain(self.tree.ancestors(at))
            .find(|node| self.tree.kind(*node) == NodeKind::CompoundStatement)
    }

    /// The text between a delimited directive and its `end`.
    fn delimited(&self, directive: &Directive, end: Option<Span>) -> Body {
        match end {
            Some(end) => Body { node: None, span: Some(Span::new(directive.span.end, end.start)), missing: false },
            None => Body::MISSING,
        }
    }

    /// Why the association must not be trusted.
    fn doubt(&self, index: usize, directive: &Directive, body: &Body) -> Option<Doubt> {
        if directive.spelling == Spelling::Macro {
            return Some(Doubt::Macro(directive.span));
        }
        let gap = &self.gaps[index];
        if let Some(include) = gap.include.filter(|_| body.missing || body.node.is_some()) {
            return Some(Doubt::Macro(include));
        }
        let whole = Span::new(directive.span.start, body.span.map_or(directive.span.end, |span| span.end));
        if let Some(line) = self.conditional_in(whole).or_else(|| directive.alternative.map(|_| directive.span)) {
            return Some(match self.is_alternative(directive, body) {
                true => Doubt::Alternative(line),
                false => Doubt::Conditional(line),
            });
        }
        if let Some(blanked) = first_overlapping(self.tree.inactive(), whole) {
            return Some(Doubt::Conditional(blanked));
        }
        if let Some(problem) = self.tree.problem_in(whole) {
            return Some(Doubt::SyntaxError(self.tree.span(problem)));
        }
        body.missing.then_some(Doubt::NoStatement)
    }

    /// Is it the only directive in a branch of directives, with its statement right behind them?
    fn is_alternative(&self, directive: &Directive, body: &Body) -> bool {
        let group = directive.alternative.and_then(|(group, branch)| {
            let group = self.scan.conditionals.get(group)?;
            Some((group.span, group.branches.get(branch)?.content))
        });
        let (Some((group, branch)), Some(statement)) = (group, body.span.filter(|_| body.node.is_some())) else {
            return false;
        };
        let is_masked = |span: Span| first_overlapping(&self.scan.masked, span).is_some();
        let rest = [Span::new(branch.start, directive.span.start), Span::new(directive.span.end, branch.end)];
        let whole = Span::new(group.start, statement.end);
        group.end <= statement.start
            && !rest.into_iter().any(is_masked)
            && !is_masked(Span::new(group.end, statement.start))
            && self.conditional_in(Span::new(group.end, statement.end)).is_none()
            && first_overlapping(self.tree.inactive(), whole).is_none()
            && self.tree.problem_in(whole).is_none()
    }

    /// The first line of a conditional in a span.
    fn conditional_in(&self, span: Span) -> Option<Span> {
        let first = self.lines.partition_point(|line| line.start < span.start);
        self.lines.get(first).copied().filter(|line| line.start < span.end)
    }
}

/// The first span that shares a byte with `span`. The spans are disjoint and sorted.
fn first_overlapping(spans: &[Span], span: Span) -> Option<Span> {
    let first = spans.partition_point(|other| other.end <= span.start);
    spans.get(first).copied().filter(|other| other.overlaps(span))
}

/// Connects each directive with the one stacked directly above it. Directives in other branches of the same
/// conditional are alternatives, not stacked: both stand under what is above the conditional.
fn link_stacks(gaps: &[Gap], directives: &[Directive], extents: &[Extent], constructs: &mut [Construct]) {
    let mut group_starts: BTreeMap<usize, usize> = BTreeMap::new();
    for (index, directive) in directives.iter().enumerate() {
        if let Some((group, _)) = directive.alternative {
            group_starts.entry(group).or_insert(index);
        }
        let mut above = index.checked_sub(1);
        if let (Some(at), Some((group, branch))) = (above, directive.alternative)
            && directives[at].alternative.is_some_and(|(other, at_branch)| other == group && at_branch != branch)
        {
            above = group_starts.get(&group).and_then(|first| first.checked_sub(1));
        }
        let Some(above) = above.filter(|above| (*above..index).all(|at| gaps[at].next_directive.is_some())) else {
            continue;
        };
        let shares = [above, index].iter().all(|at| extents[*at] == Extent::Statement);
        if shares && constructs[above].body == constructs[index].body {
            constructs[index].stacked_under = u32::try_from(above).ok().map(ConstructId);
        }
    }
}

/// Gives each construct its parent: the innermost one whose body holds its directive. Constructs come in the order of
/// the text, so those that may still hold something form a stack.
fn link_parents(gaps: &[Gap], directives: &[Directive], constructs: &mut [Construct]) {
    let mut open: Vec<usize> = Vec::new();
    let mut parents: Vec<Option<usize>> = Vec::with_capacity(constructs.len());
    for (index, directive) in directives.iter().enumerate() {
        while open.last().is_some_and(|top| constructs[*top].body_span.end <= directive.span.start) {
            open.pop();
        }
        // If no token stands between two directives, both have the same parent, unless the second is inside the first.
        let above = index.checked_sub(1).filter(|above| gaps[*above].next_directive == Some(index));
        let holds = |at: usize| constructs[at].body_span.contains(directive.span);
        parents.push(match above {
            Some(above) if !holds(above) => parents[above].filter(|parent| holds(*parent)),
            _ => open.iter().rev().copied().find(|at| holds(*at)),
        });
        if !constructs[index].body_span.is_empty() {
            open.push(index);
        }
    }
    for (index, parent) in parents.into_iter().enumerate() {
        let (Some(parent), Ok(id)) = (parent, u32::try_from(index)) else { continue };
        constructs[index].parent = u32::try_from(parent).ok().map(ConstructId);
        constructs[parent].children.push(ConstructId(id));
    }
}

#[cfg(test)]
mod tests;
