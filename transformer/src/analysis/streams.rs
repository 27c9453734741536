//! Which arrays a parallel loop walks along: each iteration touches one contiguous piece, and the next iteration the next one.
//!
//! A piece is `stride` elements long, or `stride` rows for arrays of several dimensions. An iteration may read some of
//! its neighbours' pieces too: the halo of a stencil.

use crate::analysis::accesses::{Access, Accesses, RootKind};
use crate::analysis::dependence::{Range, Space};
use crate::analysis::polynomial::{Atom, Polynomial};
use crate::source::Span;

mod overwrites;

pub use overwrites::overwrites;

/// The widest halo that is looked for, in iterations to each side.
const WIDEST_HALO: u32 = 16;

/// How the iterations of a loop touch an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The elements of the first dimension from one iteration's piece to the next one's. At least one if the loop runs.
    pub stride: Polynomial,
    /// How many pieces of iterations before its own an iteration reads.
    pub behind: u32,
    /// How many pieces of iterations after its own it reads.
    pub ahead: u32,
    /// Is it written, each element by the iteration whose piece it lies in?
    pub writes: bool,
}

/// Why an array is no stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoStream {
    /// All iterations read the same elements.
    Shared,
    /// Its subscripts depend on data, or are not understood.
    Indirect,
    /// Iterations go through it backwards.
    Reversed,
    /// The accesses of an iteration do not form one contiguous piece.
    Scattered,
    /// An iteration writes an element of another one's piece, or reads one that another iteration writes.
    Crossing,
}

impl NoStream {
    /// The end of a sentence about the array.
    #[must_use]
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Shared => "is the same for all iterations",
            Self::Indirect => "is accessed by subscripts that are not known in advance",
            Self::Reversed => "is gone through backwards",
            Self::Scattered => "is not accessed in one contiguous piece for each iteration",
            Self::Crossing => "is written beside what other iterations read or write",
        }
    }
}

/// How an array is touched. `touching` are all accesses of the array. `found` was read with one promised loop, the
/// parallel one.
///
/// # Errors
/// The first access that does not fit a stream, and why.
pub fn stream(found: &Accesses, touching: &[&Access]) -> Result<Stream, (Span, NoStream)> {
    let Some((parallel, first)) = found.loops.first().zip(touching.first()) else {
        return Err((Span::default(), NoStream::Shared));
    };
    let mut stream: Option<Stream> = None;
    for access in touching {
        let no = |why| (access.span, why);
        let (stride, offset) = parts(access, parallel.atom).map_err(no)?;
        if stride.is_zero() {
            return Err(no(if is_opaque(found, &offset) { NoStream::Indirect } else { NoStream::Shared }));
        }
        if varies(found, &stride) {
            return Err(no(NoStream::Scattered));
        }
        let known = stream.get_or_insert(Stream { stride: stride.clone(), behind: 0, ahead: 0, writes: false });
        if known.stride != stride {
            return Err(no(NoStream::Scattered));
        }
        let (behind, ahead) = halo(found, access, &stride, &offset).ok_or_else(|| no(unbounded(found, &offset)))?;
        known.behind = known.behind.max(behind);
        known.ahead = known.ahead.max(ahead);
        known.writes |= access.writes;
        if access.writes && (behind, ahead) != (0, 0) {
            return Err(no(NoStream::Crossing));
        }
    }
    match stream {
        Some(stream) if stream.writes && (stream.behind, stream.ahead) != (0, 0) => {
            Err((first.span, NoStream::Crossing))
        }
        Some(stream) => Ok(stream),
        None => Err((first.span, NoStream::Shared)),
    }
}

/// The first subscript as `stride * variable + offset`.
fn parts(access: &Access, variable: Atom) -> Result<(Polynomial, Polynomial), NoStream> {
    let subscript = access.subscripts.first().filter(|it| !it.wraps && access.root.kind != RootKind::Loaded);
    let subscript = subscript.ok_or(NoStream::Indirect)?;
    let (stride, offset) = subscript.form.linear_in(variable).ok_or(NoStream::Scattered)?;
    if access.subscripts.len() > 1 && stride.as_constant().is_none_or(|stride| stride > 1) {
        return Err(NoStream::Scattered);
    }
    match stride.as_constant() {
        Some(number) if number < 0 => Err(NoStream::Reversed),
        _ => Ok((stride, offset)),
    }
}

fn varies(found: &Accesses, value: &Polynomial) -> bool {
    let is_variable = |atom: &Atom| found.opaque.contains(atom) || found.loops.iter().any(|l| l.atom == *atom);
    value.atoms().iter().any(is_variable)
}

fn unbounded(found: &Accesses, offset: &Polynomial) -> NoStream {
    if is_opaque(found, offset) { NoStream::Indirect } else { NoStream::Scattered }
}

fn is_opaque(found: &Accesses, value: &Polynomial) -> bool {
    value.atoms().iter().any(|atom| found.opaque.contains(atom))
}

/// How far an access reaches into the pieces before and behind: the least numbers with
/// `-behind * stride <= offset < (1 + ahead) * stride`.
fn halo(found: &Accesses, access: &Access, stride: &Polynomial, offset: &Polynomial) -> Option<(u32, u32)> {
    let space = space(found, access, stride);
    let pieces = |number: u32| stride.times(&Polynomial::constant(i128::from(number)));
    let reaches_behind = |number: &u32| {
        let above = pieces(*number).and_then(|pieces| offset.plus(&pieces));
        above.is_some_and(|above| space.is_nonnegative(&above))
    };
    let reaches_ahead = |number: &u32| {
        let room = || pieces(*number + 1)?.minus(offset)?.minus(&Polynomial::constant(1));
        room().is_some_and(|room| space.is_nonnegative(&room))
    };
    let behind = (0..=WIDEST_HALO).find(reaches_behind)?;
    let ahead = (0..=WIDEST_HALO).find(reaches_ahead)?;
    Some((behind, ahead))
}

/// What is known if the access happens: the loops around it have an iteration, and a piece has at least one element.
fn space(found: &Accesses, access: &Access, stride: &Polynomial) -> Space {
    let mut space = Space::default();
    space.varying.extend(found.opaque.iter().map(|atom| (*atom, Range::default())));
    space.varying.extend(found.loops.iter().map(|l| (l.atom, l.range.clone())));
    for range in access.loops.iter().filter_map(|index| found.loops.get(*index)).map(|l| l.range.clone()) {
        space.runs(&range);
    }
    space.runs(&Range { lower: Some(Polynomial::constant(1)), upper: Some(stride.clone()) });
    space
}

#[cfg(test)]
mod tests;
