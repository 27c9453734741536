//! What somebody chose for a kernel in the place of a pass: its grid, the iterations of a thread, or that it stays as it is.
//!
//! A kernel is known by its loop, whatever the clauses of its directive say: so a choice is found again in the text that it led to. What is
//! told is carried out only where the pass finds it legal; whether it pays is no question then.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Hexadecimal digits of a hash: 64 bits, so that two loops of a project do not share one by chance.
const DIGITS: usize = 16;

/// What tells the loop of a kernel: a hash of its text without blanks and line continuations. Loops with the same text are one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LoopHash(String);

impl LoopHash {
    /// The hash of a statement.
    #[must_use]
    pub fn of(text: &[u8]) -> Self {
        let told: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'\\').collect();
        let mut hash = blake3::hash(&told).to_hex().to_string();
        hash.truncate(DIGITS);
        Self(hash)
    }

    /// A hash as it was written down; whether any loop has it is another question.
    #[must_use]
    pub fn written(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for LoopHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How many teams a kernel has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Teams {
    /// As many as the runtime chooses.
    Runtime,
    /// One iteration for each thread, but at most this many teams.
    AtMost(u64),
    /// One for each iteration, and a number of threads that compilers do not see: for who chooses the grid at each launch.
    Open,
}

/// The threads of a grid that is open: the most that a block has on any device of NVIDIA's.
const MOST_THREADS: u32 = 1024;

/// A grid that is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Grid {
    /// The threads of a team, `thread_limit`; above zero.
    pub threads: u32,
    /// Its teams.
    pub teams: Teams,
}

impl Grid {
    /// The grid that is chosen anew at each launch.
    pub const OPEN: Self = Self { threads: MOST_THREADS, teams: Teams::Open };
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.teams {
            Teams::Runtime => write!(f, "{} threads", self.threads),
            Teams::AtMost(most) => write!(f, "{} threads, at most {most} teams", self.threads),
            Teams::Open => f.write_str("chosen at each launch"),
        }
    }
}

/// Groups of iterations that are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Group {
    /// Which of the loops that the kernel runs in parallel is grouped, counted from 0. `None` for that which gains most.
    pub loop_index: Option<usize>,
    /// How many iterations a thread makes at once; 1 for no groups.
    pub factor: u32,
    /// How many iterations of the innermost of these loops it makes for each of them; 1 where one loop alone is grouped.
    #[serde(default = "one")]
    pub columns: u32,
    /// How far those of the innermost loop lie apart in a group: 1, or the 32 threads of a warp.
    #[serde(default = "one")]
    pub apart: u32,
}

impl Group {
    /// Neighbouring iterations of one loop.
    #[must_use]
    pub const fn of(loop_index: Option<usize>, factor: u32) -> Self {
        Self { loop_index, factor, columns: 1, apart: 1 }
    }
}

const fn one() -> u32 {
    1
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "groups of {}", self.factor)?;
        if self.columns > 1 {
            write!(f, " x {}", self.columns)?;
        }
        if let Some(index) = self.loop_index {
            write!(f, " in loop {}", index + 1)?;
        }
        if self.apart > 1 {
            write!(f, ", {} apart", self.apart)?;
        }
        Ok(())
    }
}

/// What is told of one kernel; what is not, passes choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Instruction {
    /// Its grid.
    pub grid: Option<Grid>,
    /// Its groups.
    pub group: Option<Group>,
    /// Are its serial loops unrolled wherever they can be?
    pub is_unrolled: bool,
}

/// What is told of the kernels of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// What is chosen for kernels, by their loops as the pass that carries it out sees them.
    pub told: BTreeMap<LoopHash, Instruction>,
    /// Kernels that were measured and stay in this form, each with the words that say so.
    pub kept: BTreeMap<LoopHash, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_do_not_tell_loops_apart() {
        let one = LoopHash::of(b"for (int i = 0; i < n; i++)\n  a[i] = b[i];");
        assert_eq!(one, LoopHash::of(b"for (int i=0;i<n;i++) \\\r\n\ta[i] = b[i];"));
        assert_ne!(one, LoopHash::of(b"for (int i = 0; i < n; i++)\n  a[i] = c[i];"));
        assert_eq!(one.to_string().len(), DIGITS);
    }
}
