//! Variables of an iteration that last from the declarations in front of its serial loop to the statements behind it: sums.

use crate::region::loop_nest::CanonicalLoop;
use crate::semantics::symbols::VariableId;
use crate::semantics::uses::{Role, uses_below};
use crate::source::Span;
use crate::syntax::{Declaration, NodeId};
use crate::transforms::checks::restated;
use crate::transforms::stage_tiles::Kernel;

/// A number that an iteration carries through its serial loop.
pub(super) struct Carried {
    pub name: String,
    /// Its type, as written.
    pub ty: String,
    /// Its bytes.
    pub bytes: u32,
    /// Where the serial loop names it.
    pub places: Vec<Span>,
    /// Does the serial loop change it?
    pub is_changed: bool,
}

impl Carried {
    /// Does the serial loop name it?
    pub(super) fn is_inside(&self) -> bool {
        !self.places.is_empty()
    }
}

/// What the declarations in front of the loop leave to it, and to the statements behind it.
///
/// # Errors
/// Why a variable of these cannot stand in the memory of a team.
pub(super) fn carried(
    kernel: &Kernel<'_, '_>,
    inner: &CanonicalLoop,
    before: &[NodeId],
) -> Result<Vec<Carried>, (Span, String)> {
    let cx = kernel.cx;
    let uses = uses_below(cx.file, cx.tree, kernel.body());
    let mut all = Vec::new();
    for statement in before {
        let declared =
            uses.iter().filter(|used| used.role == Role::Declaration && cx.tree.span(*statement).contains(used.span));
        for own in declared {
            let id = cx.symbols().lookup(&own.name, own.span.end).map(|found| found.id());
            let named = uses.iter().filter(|used| {
                let found = cx.symbols().lookup(&used.name, used.span.start).map(|found| found.id());
                used.span.start > inner.span.start && used.name == own.name && found == id
            });
            let later: Vec<_> = named.collect();
            if later.is_empty() {
                continue;
            }
            let (ty, bytes) = id.and_then(|id| plain_type(kernel, *statement, &own.name, id)).ok_or_else(|| {
                (own.span, format!("`{}` is not declared as a number alone, of a type with one name", own.name))
            })?;
            let inside = later.iter().filter(|used| inner.span.contains(used.span));
            let is_changed = inside.clone().any(|used| used.role != Role::Read);
            let places = inside.map(|used| used.span).collect();
            all.push(Carried { name: own.name.clone(), ty, bytes, places, is_changed });
        }
    }
    Ok(all)
}

/// The type of a number in a declaration that says no more of it, and its bytes.
fn plain_type(kernel: &Kernel<'_, '_>, statement: NodeId, name: &str, id: VariableId) -> Option<(String, u32)> {
    let (cx, tree) = (kernel.cx, kernel.cx.tree);
    let declaration = Declaration::of(tree, statement)?;
    let ty = tree.span(declaration.ty()?);
    let first = declaration.declarators().next()?;
    let written = cx.file.show(Span::new(tree.span(statement).start, tree.span(first).start));
    let text = cx.file.show(ty);
    let found = cx.symbols().lookup(name, id.declared_at.end)?;
    let bits = found.ty.number().filter(|_| !found.ty.is_volatile()).and_then(|number| number.bits())?;
    let bytes = Some(bits.div_ceil(8)).filter(|bytes| (1..=8).contains(bytes))?;
    let says_no_more = written.trim().strip_prefix("const ").unwrap_or(written.trim()) == text;
    (restated::is_name_of_type(&text) && says_no_more).then(|| (text.into_owned(), bytes))
}
