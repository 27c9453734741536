//! Which part of a section an update moves: all of it, or the elements that a statement certainly accesses.

use crate::context::Context;
use crate::edit::directive_writer::on_one_line;
use crate::semantics::effects::{HostEffects, Storage, Touch};
use crate::source::Span;
use crate::syntax::{Field, NodeId, NodeKind, Subscript};
use crate::transforms::hoist_maps::absence::Absence;
use crate::transforms::hoist_maps::blocks::Statement;
use crate::transforms::hoist_maps::first_run::is_stable;
use crate::transforms::hoist_maps::updates::Wanted;

/// What comes back and what goes to the device, as list items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::transforms::hoist_maps) struct Piece {
    pub from: Vec<String>,
    pub to: Vec<String>,
    /// The elements that the host gives a value without reading them.
    pub(super) assigned: Vec<String>,
    /// The expressions in the list items.
    pub(in crate::transforms::hoist_maps) indices: Vec<Span>,
}

impl Piece {
    pub(in crate::transforms::hoist_maps) fn copies(&self) -> usize {
        self.from.len() + self.to.len()
    }

    /// How many of the copies are of single elements: `a[i:1]`, `a[i:1][j:1]`.
    pub(in crate::transforms::hoist_maps) fn count_elements(&self) -> usize {
        let is_element = |item: &&String| {
            item.ends_with(":1]") && item.split("][").all(|one| one.trim_end_matches(']').ends_with(":1"))
        };
        self.from.iter().chain(&self.to).filter(is_element).count()
    }

    /// The piece that serves this one's statement and a later one's.
    pub(super) fn with(&self, later: &Self, section: &str) -> Self {
        let mut both = self.clone();
        let add = |list: &mut Vec<String>, items: &[String], known: &[String]| {
            list.extend(items.iter().filter(|item| !known.contains(item)).cloned());
        };
        let known: Vec<String> = [&self.from[..], &self.assigned[..]].concat();
        add(&mut both.from, &later.from, &known);
        add(&mut both.to, &later.to, &self.to);
        add(&mut both.assigned, &later.assigned, &self.assigned);
        both.indices.extend(&later.indices);
        for list in [&mut both.from, &mut both.to] {
            if list.iter().any(|item| item == section) {
                *list = vec![section.to_owned()];
            }
        }
        both
    }

    /// Are its elements the same wherever among these statements they are named?
    pub(super) fn is_stable(&self, cx: &Context<'_>, host: &HostEffects, places: [usize; 2]) -> bool {
        let is_stable = |span: &Span| cx.constant(*span).is_some() || is_stable(cx, *span, host);
        self.indices.iter().all(is_stable) && self.is_named_at(cx, places)
    }

    /// Do the names in its subscripts mean there what they mean where they stand?
    pub(super) fn is_named_at(&self, cx: &Context<'_>, places: [usize; 2]) -> bool {
        means_the_same(cx, &self.indices, places)
    }
}

/// Do the names in expressions mean at other places what they mean in these?
fn means_the_same(cx: &Context<'_>, expressions: &[Span], places: [usize; 2]) -> bool {
    expressions.iter().all(|span| places.into_iter().all(|at| cx.means_the_same(*span, at)))
}

impl Wanted<'_, '_> {
    /// The whole section, where its names mean the same at the places.
    pub(super) fn section(&self, places: [usize; 2], writes: bool) -> Option<Piece> {
        self.is_named_at(places).then_some(())?;
        // The rest of the section goes to the device too, so the host must have it before.
        let section = |is_moved: bool| if is_moved { vec![self.item.text.clone()] } else { Vec::new() };
        Some(Piece { from: section(self.candidate.in_block.is_written), to: section(writes), ..Piece::default() })
    }

    /// Are the variable and its section what they are where a construct maps them?
    pub(super) fn is_named_at(&self, places: [usize; 2]) -> bool {
        let named = &self.item.named;
        let is_own = |at: &usize| self.cx.named(&named.name, *at).is_some_and(|(found, _)| found.id == named.id);
        places.iter().all(is_own) && means_the_same(self.cx, &self.item.expressions, places)
    }

    /// The elements that a part of a statement certainly accesses, where there is nothing else that it accesses.
    /// Beside them what must hold where the environment opens, so that they lie in the section; nothing where that cannot be asked.
    pub(super) fn elements(&self, statement: &Statement, part: NodeId, accesses: &[&Touch]) -> Option<Elements> {
        let is_certain = matches!(
            self.cx.tree.kind(part),
            NodeKind::ExpressionStatement
                | NodeKind::Declaration
                | NodeKind::ParenthesizedExpression
                | NodeKind::ConditionClause
        );
        is_certain.then_some(())?;
        self.elements_below(statement, part, accesses)
    }

    /// The elements that the test of a loop certainly accesses, where it accesses no others.
    pub(super) fn elements_of_test(&self, statement: &Statement, accesses: &[&Touch]) -> Option<Elements> {
        self.elements_below(statement, statement.node, accesses)
    }

    fn elements_below(&self, statement: &Statement, part: NodeId, accesses: &[&Touch]) -> Option<Elements> {
        let mut piece = Piece::default();
        let mut fits = Some(Vec::new());
        (!self.choice.whole).then_some(())?;
        for touch in accesses {
            let element = self.element(statement, part, touch)?;
            let terms = self.item.certainly_holds(self.cx, touch);
            fits = fits
                .zip(terms)
                .map(|(known, more): (Vec<String>, Option<String>)| known.into_iter().chain(more).collect());
            // Beyond its section the variable may be present, with other values.
            (fits.is_some() || self.absence() != Some(Absence::Asked)).then_some(())?;
            piece.indices.extend(element.indices);
            if element.is_assigned {
                piece.assigned.push(element.text.clone());
            } else if self.candidate.in_block.is_written && !piece.from.contains(&element.text) {
                piece.from.push(element.text.clone());
            }
            if touch.writes && !piece.to.contains(&element.text) {
                piece.to.push(element.text);
            }
        }
        // What is both read and assigned may be read first.
        let from = std::mem::take(&mut piece.from);
        piece.assigned.retain(|item| !from.contains(item));
        piece.from = from;
        Some((piece, fits))
    }

    /// The one element that an access by the variable's name reaches.
    fn element(&self, statement: &Statement, part: NodeId, touch: &Touch) -> Option<Element> {
        let (cx, tree) = (self.cx, self.cx.tree);
        let name = tree.covering(touch.span);
        let is_own =
            matches!(&touch.storage, Storage::Variable(it) | Storage::Behind(it) if it.id == self.item.named.id);
        (is_own && tree.kind(name) == NodeKind::Identifier).then_some(())?;
        let (mut node, mut ty) = (name, cx.declared_type(&self.item.named.name, self.item.named.at)?);
        let mut element = Element { text: self.item.named.name.clone(), indices: Vec::new(), is_assigned: false };
        while !ty.is_scalar() {
            let access = tree.parent(node).filter(|parent| tree.kind(*parent) == NodeKind::SubscriptExpression)?;
            (tree.child(access, Field::Argument) == Some(node)).then_some(())?;
            let index = tree.span(Subscript::of(tree, access)?.index()?);
            (cx.constant(index).is_some() || is_stable(cx, index, &statement.host)).then_some(())?;
            element.indices.push(index);
            element.text += &format!("[{}:1]", on_one_line(cx.file, index));
            (node, ty) = (access, ty.dereferenced());
        }
        // The first element may come back whether it is read or not: it is the variable's own storage.
        let is_first = element.indices.iter().all(|index| cx.constant(*index) == Some(0));
        let is_certain = happens_always(cx, part, node) || is_first && !touch.writes;
        (node != name && is_certain).then_some(())?;
        let parent = tree.parent(node)?;
        element.is_assigned = tree.kind(parent) == NodeKind::AssignmentExpression
            && tree.child(parent, Field::Left) == Some(node)
            && tree.operator(parent) == Some(NodeKind::Equal);
        Some(element)
    }
}

/// What is moved, and what must hold where the environment opens.
type Elements = (Piece, Option<Vec<String>>);

struct Element {
    text: String,
    indices: Vec<Span>,
    /// Does it only get a value?
    is_assigned: bool,
}

/// Is an expression evaluated whenever the part of the program is? A loop's test may be one of several operands.
pub(super) fn happens_always(cx: &Context<'_>, part: NodeId, expression: NodeId) -> bool {
    let tree = cx.tree;
    let above: Vec<NodeId> = tree.ancestors(expression).take_while(|above| *above != part).collect();
    above.into_iter().all(|above| match tree.kind(above) {
        NodeKind::BinaryExpression => {
            !matches!(tree.operator(above), Some(NodeKind::AmpersandAmpersand | NodeKind::BarBar))
        }
        NodeKind::ParenthesizedExpression
        | NodeKind::AssignmentExpression
        | NodeKind::UnaryExpression
        | NodeKind::CastExpression
        | NodeKind::UpdateExpression
        | NodeKind::ArgumentList
        | NodeKind::InitDeclarator => true,
        // A macro need not evaluate what it is handed.
        NodeKind::CallExpression => tree.child(above, Field::Function).is_some_and(|function| {
            let span = tree.span(function);
            cx.expansion(&cx.file.show(span), span.start).is_none()
        }),
        _ => false,
    })
}
