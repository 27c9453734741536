//! What the statements of a kernel of one thread do with the variables around them.

use crate::plan::{Reason, ReasonCode};
use crate::region::loop_nest::CanonicalLoopNest;
use crate::region::target::Chain;
use crate::semantics::uses::{Role, uses_below};
use crate::semantics::{Class, Kind, Program};
use crate::syntax::{Cast, NodeId, Subscript};
use crate::transforms::split_target::facts::pieces::{Piece, Reader, Variable};
use crate::transforms::split_target::facts::serial::Run;
use crate::transforms::split_target::facts::written_first::written_first;
use crate::transforms::split_target::shape::clauses::LoopClauses;

/// Reads serial statements that become a kernel of one thread. The error holds the reasons to refuse the region.
pub(crate) fn read_serial(cx: &Program<'_>, run: Run) -> Result<Piece, Vec<Reason>> {
    let nodes = run.nodes.clone();
    let body = nodes.first().copied().unwrap_or(cx.tree.root());
    let chain = Chain { constructs: Vec::new(), leaves: Vec::new() };
    let nest = CanonicalLoopNest { loops: Vec::new(), body };
    let span = run.span;
    let mut piece = Piece::new(chain, LoopClauses::default(), nest, Some(run), span);
    let mut reader = Reader { names: cx, piece: &mut piece, reasons: Vec::new() };
    for node in &nodes {
        reader.statements(*node);
        for used in uses_below(cx.file, cx.tree, *node) {
            reader.name(&used);
        }
    }
    reader.kept_addresses(&nodes);
    let reasons = reader.reasons;
    piece.follow_own_pointers();
    let written = written_first(cx, &nodes);
    for (name, variable) in &mut piece.variables {
        variable.written_first = variable.written.is_some() && written.contains(name);
    }
    if reasons.is_empty() { Ok(piece) } else { Err(reasons) }
}

impl Reader<'_, '_> {
    /// Refuses serial statements that may keep the address of a variable of the region or of their own: in another
    /// kernel that variable has another address. They can keep it if they write something that can hold pointers.
    fn kept_addresses(&mut self, nodes: &[NodeId]) {
        let (tree, file) = (self.names.tree, self.names.file);
        let holds = |variable: &Variable| match variable.kind {
            Kind::Pointer { plain, class } => {
                let pointers = !plain || class != Class::Integer && class != Class::Floating;
                variable.written.is_some() || (pointers && variable.elements_written.is_some())
            }
            Kind::Struct | Kind::Member(_) | Kind::Array { plain: false, .. } => {
                variable.written.or(variable.elements_written).is_some()
            }
            _ => false,
        };
        let casts = nodes.iter().flat_map(|node| tree.descendants(*node)).any(|node| {
            let ty = Cast::of(tree, node).and_then(Cast::ty);
            ty.is_some_and(|ty| file.bytes(tree.span(ty)).contains(&b'*'))
        });
        if !casts && !self.piece.variables.values().any(holds) {
            return;
        }
        for used in nodes.iter().flat_map(|node| uses_below(file, tree, *node)) {
            let subscripted = tree.parent(used.node).is_some_and(|parent| Subscript::of(tree, parent).is_some());
            let decays = matches!(self.names.kind(&used.name, used.span.start), Kind::Array { .. }) && !subscripted;
            let taken = used.role == Role::Address || (used.role != Role::Declaration && decays);
            if taken && self.names.is_of_function(&used.name, used.span.start) {
                let message = format!("the address of `{}` may be kept, and is another in each kernel", used.name);
                self.refuse(ReasonCode::LocalDeclaration, used.span, message);
            }
        }
    }
}
