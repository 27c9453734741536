//! What takes the time of a construct in which nothing is left to do.

use crate::device::GridGeometry;

/// What takes the most time of a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedBy {
    /// Its launch takes longer than its kernel.
    Launch,
    /// The memory and arithmetic of the device, which all threads use together.
    Device,
    /// What a thread does one after the other.
    Thread,
    /// The one thread that runs all of it.
    OneThread,
}

impl LimitedBy {
    /// Its name in machine-readable output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Device => "device",
            Self::Thread => "thread",
            Self::OneThread => "one-thread",
        }
    }

    /// A few words about it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Launch => "the launch takes longer than the kernel",
            Self::Device => "all threads share the memory and arithmetic of the device",
            Self::Thread => "each thread does so much one after the other",
            Self::OneThread => "one thread runs all of it",
        }
    }
}

/// How long a construct is predicted to take as it stands. Microseconds are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What takes the most of it.
    pub by: LimitedBy,
    /// Microseconds of its launch.
    pub launch: u64,
    /// Microseconds of its kernel.
    pub kernel: u64,
    /// Its grid, by its clauses or else as the runtime starts it; `None` if it is no loop of a league, or clauses are no numbers.
    pub grid: Option<GridGeometry>,
    /// How many iterations its threads share.
    pub iterations: u64,
    /// Does that number follow from the text?
    pub is_known: bool,
    /// Is it the prediction for the construct's grid on the given device?
    pub on_device: bool,
    /// Does its body call functions whose work is not counted?
    pub calls: bool,
}
