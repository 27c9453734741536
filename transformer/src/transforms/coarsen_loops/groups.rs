//! Which iterations a thread makes at once: of one loop, or of two.

use crate::plan::instructions::Group;

/// How far iterations of a group lie apart where neighbouring threads are to access neighbouring elements: the threads of a warp.
pub(super) const WARP: u32 = 32;
/// More iterations of one loop than these are not written: all of their values stay in registers.
pub(super) const LARGEST_GROUP: u32 = 32;
/// The same for the iterations of two loops together.
pub(super) const LARGEST_TILE: u32 = 64;

/// The iterations of one loop in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    /// Which of the kernel's loops, counted from 0.
    pub index: usize,
    /// How many there are.
    pub factor: u32,
    /// How far they lie apart: 1, or [`WARP`].
    pub apart: u32,
}

impl Axis {
    /// A group of one iteration.
    pub(super) fn single(index: usize, apart: u32) -> Self {
        Self { index, factor: 1, apart }
    }

    /// How many iterations lie between the first ones of two groups, or of two groups of a warp.
    pub(super) fn length(self) -> u32 {
        self.factor * self.apart
    }
}

/// How many iterations a group has.
pub(super) fn elements(axes: &[Axis]) -> u32 {
    axes.iter().map(|axis| axis.factor).product()
}

/// The iterations of a group in words: `4 x 2`.
pub(super) fn size(axes: &[Axis]) -> String {
    axes.iter().map(|axis| axis.factor.to_string()).collect::<Vec<_>>().join(" x ")
}

/// The groups that are told, where loops of the nest are grouped that a set lists, outermost first. `None` if it is another set.
pub(super) fn told(group: Group, set: &[usize], innermost: usize) -> Option<Vec<Axis>> {
    let Group { loop_index, factor, columns, apart } = group;
    let (first, rest) = set.split_first()?;
    if loop_index.is_some_and(|index| index != *first) {
        return None;
    }
    let axis = |index: usize, factor: u32| Axis { index, factor, apart: if index == innermost { apart } else { 1 } };
    let is_asked = |axes: &[Axis]| apart == 1 || axes.iter().any(|axis| axis.apart == apart);
    let axes = match rest {
        [] if columns == 1 => vec![axis(*first, factor)],
        [last] if columns > 1 && *last == innermost => vec![axis(*first, factor), axis(*last, columns)],
        _ => return None,
    };
    is_asked(&axes).then_some(axes)
}

/// Can groups of this size be written?
pub(super) fn is_writable(group: Group) -> bool {
    let Group { factor, columns, apart, .. } = group;
    let is_size = factor.is_power_of_two() && columns.is_power_of_two() && [1, WARP].contains(&apart);
    is_size
        && factor <= LARGEST_GROUP
        && columns <= LARGEST_GROUP
        && (columns == 1 || factor > 1 && factor * columns <= LARGEST_TILE)
}
