//! Is the storage of one access reached in no other way?

use crate::analysis::accesses::{Access, Accesses, ScalarUse};
use crate::analysis::independence::Candidate;
use crate::analysis::independence::aliases::{self, Sections};
use crate::plan::Reason;
use crate::source::Span;

/// The assumptions under which nothing else in a piece of the loop reaches what `own` does, but accesses through the same name. An error if it is not certain even with
/// assumptions.
pub(crate) fn assumptions(
    candidate: &Candidate<'_, '_>,
    (found, sections): (&Accesses, &Sections),
    inside: Span,
    own: &Access,
) -> Result<Vec<Reason>, Vec<Reason>> {
    aliases::assumptions(candidate, &as_if_written(found, inside, own), sections)
}

/// What the piece accesses, as if it wrote the storage of one access alone: only that must not be reached in another way.
fn as_if_written(found: &Accesses, inside: Span, own: &Access) -> Accesses {
    let accesses = found.accesses.iter().filter(|access| inside.contains(access.span));
    let scalars = found.scalars.iter().filter(|used| inside.contains(used.span));
    Accesses {
        accesses: accesses.map(|it| Access { writes: it.root == own.root, ..it.clone() }).collect(),
        scalars: scalars.map(|used| ScalarUse { writes: false, ..used.clone() }).collect(),
        loops: found.loops.clone(),
        opaque: found.opaque.clone(),
        near: found.near.clone(),
        symbols: found.symbols.clone(),
        ..Accesses::default()
    }
}
