//! Neighbouring elements that a loop of the host accesses one after the other: `for (j = 0; j < n; j++) a[i * n + j] = ..`.

use crate::edit::directive_writer::on_one_line;
use crate::region::loop_nest::{CanonicalLoop, Relation, canonical_head, counter_change};
use crate::semantics::effects::{Named, Storage, Touch};
use crate::semantics::symbols::DeclaredType;
use crate::source::Span;
use crate::syntax::{Field, NodeId, NodeKind, Number, Subscript};
use crate::transforms::checks::addresses::{integer_of_address, operand};
use crate::transforms::hoist_maps::blocks::Statement;
use crate::transforms::hoist_maps::updates::Wanted;
use crate::transforms::hoist_maps::updates::elements::{Piece, happens_always};

/// The part of a section that a loop certainly accesses, all of it.
pub(in crate::transforms::hoist_maps) struct Row {
    pub piece: Piece,
    /// When the loop runs at all, in C.
    pub condition: Option<String>,
    /// What must hold where the environment opens, so that the part lies in the section.
    pub fits: Vec<String>,
}

impl Wanted<'_, '_> {
    /// What a loop of the host accesses of the variable, where that is one element after the other from each pass to the next.
    pub(super) fn row(&self, statement: &Statement, accesses: &[&Touch]) -> Option<Row> {
        let (cx, tree) = (self.cx, self.cx.tree);
        (!self.choice.whole && tree.kind(statement.node) == NodeKind::ForStatement).then_some(())?;
        let head = canonical_head(cx.file, tree, statement.node)?;
        let counts_by_one = head.step.amount.is_none() && !head.step.is_subtracted && head.relation == Relation::Less;
        let is_whole = counter_change(cx.file, tree, &head).is_none() && !leaves(self, head.body);
        (counts_by_one && is_whole && self.counts_in_wide_integer(&head)).then_some(())?;
        let bases: Option<Vec<Option<NodeId>>> = accesses.iter().map(|touch| self.base(&head, touch)).collect();
        let bases = bases?;
        let base = *bases.first()?;
        let text = |base: Option<NodeId>| base.map(|node| on_one_line(cx.file, tree.span(node)));
        bases.iter().all(|other| text(*other) == text(base)).then_some(())?;
        let assigned = accesses.iter().all(|touch| self.assigns(touch));
        let writes = accesses.iter().any(|touch| touch.writes);
        let [lower, upper] = [head.lower, head.upper].map(|span| operand(&on_one_line(cx.file, span)));
        let is_from_zero = cx.constant(head.lower) == Some(0);
        let start = match (text(base), is_from_zero) {
            (Some(base), true) => base,
            (Some(base), false) => format!("{base} + {lower}"),
            (None, _) => lower.clone(),
        };
        let length = if is_from_zero { upper.clone() } else { format!("{upper} - {lower}") };
        let is_all = base.is_none() && is_from_zero && self.is_length_of_array(head.upper);
        let row = || format!("{}[{start}:{length}]", self.item.named.name);
        let item = if is_all { self.item.text.clone() } else { row() };
        let runs = [head.lower, head.upper].map(|span| cx.constant(span));
        let certain = matches!(runs, [Some(lower), Some(upper)] if lower < upper);
        let indices: Vec<Span> = base.map(|node| tree.span(node)).into_iter().chain([head.lower, head.upper]).collect();
        let moved = |is_moved: bool| if is_moved { vec![item.clone()] } else { Vec::new() };
        let piece = Piece {
            from: moved(self.candidate.in_block.is_written && !assigned),
            to: moved(writes),
            assigned: moved(assigned),
            indices,
        };
        let condition = (!certain).then(|| format!("{upper} > {lower}"));
        Some(Row { piece, condition, fits: self.fits(text(base), &lower, &upper)? })
    }

    /// Is it the number of elements of a whole array that is mapped?
    fn is_length_of_array(&self, upper: Span) -> bool {
        let (Named { name, at, .. }, upper) = (&self.item.named, self.cx.constant(upper));
        let is_it = |ty| match ty {
            DeclaredType::Array { dimensions, .. } => {
                matches!(dimensions.as_slice(), [one] if one.value.is_some() && one.value == upper)
            }
            _ => false,
        };
        self.item.section.is_empty() && self.cx.declared_type(name, *at).is_some_and(is_it)
    }

    /// When the part lies in the section. Beyond a whole array the host may not access anything.
    fn fits(&self, base: Option<String>, lower: &str, upper: &str) -> Option<Vec<String>> {
        if self.item.section.is_empty() {
            return Some(Vec::new());
        }
        let number = integer_of_address(self.cx);
        let length = &self.item.length.as_ref()?.text;
        let mut terms = Vec::new();
        if !lower.bytes().all(|byte| byte.is_ascii_digit()) {
            terms.push(format!("{lower} >= 0"));
        }
        let end = match base {
            Some(base) => {
                terms.push(format!("{} >= 0", operand(&base)));
                format!("({number}){} + ({number}){upper}", operand(&base))
            }
            None => format!("({number}){upper}"),
        };
        let end_of_section = format!("({number}){length}");
        if end != end_of_section {
            terms.push(format!("({upper} <= 0 || {end} <= {end_of_section})"));
        }
        Some(terms)
    }

    /// What is added to the counter in the only subscript of an access that each pass certainly makes; nothing where it is the counter alone.
    fn base(&self, head: &CanonicalLoop, touch: &Touch) -> Option<Option<NodeId>> {
        let (cx, tree) = (self.cx, self.cx.tree);
        let name = tree.covering(touch.span);
        let is_own =
            matches!(&touch.storage, Storage::Variable(it) | Storage::Behind(it) if it.id == self.item.named.id);
        let access = tree.parent(name).filter(|it| tree.kind(*it) == NodeKind::SubscriptExpression)?;
        let ty = cx.declared_type(&self.item.named.name, self.item.named.at)?;
        let is_element = is_own && tree.child(access, Field::Argument) == Some(name) && ty.dereferenced().is_scalar();
        (is_element && self.is_in_each_pass(head.body, access)).then_some(())?;
        let counter = |node: NodeId| {
            let span = tree.span(node);
            let found = cx.named(&cx.file.show(span), span.start).filter(|_| tree.kind(node) == NodeKind::Identifier);
            let own = cx.named(&head.variable, head.variable_span.end);
            found.zip(own).is_some_and(|((found, _), (own, _))| found.id == own.id)
        };
        let index = Subscript::of(cx.tree, access)?.index()?;
        if counter(index) {
            return Some(None);
        }
        (tree.operator(index) == Some(NodeKind::Plus)).then_some(())?;
        let [left, right] = [Field::Left, Field::Right].map(|side| tree.child(index, side));
        match (left?, right?) {
            (base, last) if counter(last) => Some(Some(base)),
            (first, base) if counter(first) => Some(Some(base)),
            _ => None,
        }
    }

    fn is_in_each_pass(&self, body: NodeId, access: NodeId) -> bool {
        let tree = self.cx.tree;
        let mut above = std::iter::once(access).chain(tree.ancestors(access));
        let statement =
            above.find(|node| matches!(tree.kind(*node), NodeKind::ExpressionStatement | NodeKind::Declaration));
        let is_of_block = |node| tree.kind(body) == NodeKind::CompoundStatement && tree.parent(node) == Some(body);
        statement.is_some_and(|statement| {
            (statement == body || is_of_block(statement)) && happens_always(self.cx, statement, access)
        })
    }

    /// Does an access only give its element a value?
    fn assigns(&self, touch: &Touch) -> bool {
        let tree = self.cx.tree;
        let access = tree.parent(tree.covering(touch.span));
        access.and_then(|access| Some((access, tree.parent(access)?))).is_some_and(|(access, above)| {
            tree.kind(above) == NodeKind::AssignmentExpression
                && tree.child(above, Field::Left) == Some(access)
                && tree.operator(above) == Some(NodeKind::Equal)
        })
    }

    fn counts_in_wide_integer(&self, head: &CanonicalLoop) -> bool {
        let ty = self.cx.declared_type(&head.variable, head.variable_span.end);
        ty.and_then(|ty| ty.number().and_then(Number::integer)).is_some_and(|integer| integer.bits >= 32)
    }
}

/// May a pass of the loop end early?
fn leaves(wanted: &Wanted<'_, '_>, body: NodeId) -> bool {
    let tree = wanted.cx.tree;
    tree.descendants(body).any(|node| {
        matches!(
            tree.kind(node),
            NodeKind::BreakStatement
                | NodeKind::ContinueStatement
                | NodeKind::ReturnStatement
                | NodeKind::GotoStatement
                | NodeKind::LabeledStatement
                | NodeKind::ThrowStatement
        )
    })
}
