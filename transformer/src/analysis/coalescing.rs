//! How many 32-byte sectors of memory the 32 threads of a warp touch at once, as the symbolic execution of Magni's thesis
//! (section 4.6) counts them: neighbouring threads differ by one in the variable that the thread index drives.

use crate::analysis::accesses::{Access, Accesses, Loop};
use crate::analysis::numbers::{Numbers, touched};
use crate::analysis::polynomial::{Atom, Polynomial};
use crate::semantics::symbols::DeclaredType;

/// Threads of a warp.
pub const WARP: i128 = 32;
/// Bytes of a sector, the least that is moved between memory and a processor.
pub const SECTOR: i128 = 32;

/// How the threads of a warp access memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pattern {
    /// All the same element.
    Uniform,
    /// Elements this many bytes apart, less than a sector.
    Near(u8),
    /// Elements at least a sector apart.
    Strided,
    /// Not known. Counted like the worst case.
    Unknown,
}

impl Pattern {
    /// Sectors for each access of a warp.
    #[must_use]
    pub fn sectors(self) -> f64 {
        match self {
            Self::Uniform => 1.0,
            Self::Near(bytes) => f64::from(bytes).max(1.0),
            Self::Strided | Self::Unknown => 32.0,
        }
    }
}

/// The access pattern of a warp whose thread index drives `lane`. `varying` are the atoms that may change from thread
/// to thread in unknown ways.
#[must_use]
pub fn pattern(access: &Access, lane: Atom, varying: &[Atom]) -> Pattern {
    // An unknown element size is taken for the most common one.
    let size = access.element.as_ref().and_then(DeclaredType::bytes).map_or(8, i128::from);
    let mut found = Pattern::Uniform;
    for (index, subscript) in access.subscripts.iter().enumerate() {
        if subscript.form.atoms().iter().any(|atom| varying.contains(atom)) {
            return Pattern::Unknown;
        }
        let Some((coefficient, _)) = subscript.form.linear_in(lane) else { return Pattern::Unknown };
        let is_last = index + 1 == access.subscripts.len();
        let distance = coefficient.as_constant().and_then(|elements| elements.checked_abs()?.checked_mul(size));
        found = found.max(match distance {
            Some(0) => Pattern::Uniform,
            Some(bytes) if is_last && bytes < SECTOR => Pattern::Near(u8::try_from(bytes).unwrap_or(u8::MAX)),
            _ => Pattern::Strided,
        });
    }
    found
}

/// The access pattern of a warp whose thread index drives `lane`, by the addresses of its threads, where subscripts have parts of that loop's
/// variable, or of others that no pattern is known of. `None` where they have none, or where these hang on data.
#[must_use]
pub fn pattern_of_parts(found: &Accesses, access: &Access, lane: &Loop) -> Option<Pattern> {
    let size = access.element.as_ref().and_then(DeclaredType::bytes).map(i128::from)?;
    let atoms = || access.subscripts.iter().flat_map(|one| one.form.atoms());
    let is_unknown = |atom| found.opaque.contains(&atom);
    if atoms().any(|atom| is_unknown(atom) && found.made_of(atom).is_none()) {
        return None;
    }
    let matters = |atom| atom == lane.atom || is_unknown(atom);
    let warps = Numbers::of(found, access, (std::slice::from_ref(lane), WARP), matters)?.places(size)?;
    let is_one = warps.iter().all(|warp| warp.iter().all(|place| Some(place) == warp.first()));
    let is_fewer = |sectors: &u8| f64::from(*sectors) + 0.5 > touched(&warps, &[0]);
    Some(if is_one { Pattern::Uniform } else { (1..32).find(is_fewer).map_or(Pattern::Strided, Pattern::Near) })
}

/// An access with the distance from the loop's first iteration in the place of its variable: threads of neighbouring rows are as far into
/// their rows, which may begin elsewhere.
#[must_use]
pub fn from_start(access: &Access, own: &Loop) -> Option<Access> {
    let start = if own.step.is_some_and(|step| step < 0) { &own.range.upper } else { &own.range.lower };
    let mut shifted = access.clone();
    for subscript in shifted.subscripts.iter_mut().filter(|subscript| subscript.form.mentions(own.atom)) {
        let place = start.as_ref()?.plus(&Polynomial::atom(own.atom))?;
        subscript.form = subscript.form.with(own.atom, &place)?;
    }
    Some(shifted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::accesses::{Guards, Root, RootKind, Subscript};
    use crate::semantics::symbols::VariableId;
    use crate::source::Span;
    use crate::syntax::Number;

    const I: Atom = Atom(1);
    const N: Atom = Atom(2);

    fn access(element: &str, subscripts: &[Polynomial]) -> Access {
        let root = Root {
            name: "a".to_owned(),
            key: VariableId { header: None, declared_at: Span::default() },
            kind: RootKind::Pointer,
        };
        let subscripts = subscripts.iter().map(|form| Subscript { form: form.clone(), wraps: false }).collect();
        Access {
            root,
            subscripts,
            writes: false,
            is_target: false,
            element: Number::read(element).map(|number| DeclaredType::scalar(number, element)),
            span: Span::default(),
            loops: vec![],
            guards: Guards::default(),
        }
    }

    /// Computes the addresses of 32 threads, with all atoms but the lane set to 0, and counts the sectors that they
    /// touch.
    fn counted(size: i128, stride: i128) -> usize {
        let sectors = (0..WARP).map(|lane| (lane * stride * size).div_euclid(SECTOR));
        sectors.collect::<std::collections::BTreeSet<_>>().len()
    }

    #[test]
    fn constant_strides_are_counted_exactly() {
        for (name, size) in [("char", 1), ("short", 2), ("float", 4), ("double", 8)] {
            for stride in 0..40_i128 {
                let form = Polynomial::atom(I).times(&Polynomial::constant(stride)).unwrap();
                let sectors = pattern(&access(name, &[form]), I, &[]).sectors();
                let expected = u32::try_from(counted(size, stride)).unwrap();
                assert!((sectors - f64::from(expected)).abs() <= 1.0, "{name} {stride}: {sectors} {expected}");
            }
        }
    }

    #[test]
    fn rows_and_columns() {
        let i = Polynomial::atom(I);
        let row = i.times(&Polynomial::atom(N)).unwrap();
        assert_eq!(pattern(&access("float", &[row]), I, &[]), Pattern::Strided);
        assert_eq!(pattern(&access("float", &[Polynomial::atom(N)]), I, &[]), Pattern::Uniform);
        assert_eq!(pattern(&access("float", &[i.clone(), Polynomial::atom(N)]), I, &[]), Pattern::Strided);
        assert_eq!(pattern(&access("float", &[Polynomial::atom(N), i]), I, &[]), Pattern::Near(4));
        assert_eq!(pattern(&access("float", &[Polynomial::atom(N)]), I, &[N]), Pattern::Unknown);
    }
}
