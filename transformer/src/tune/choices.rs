//! What can be chosen for a file: a form and a grid for each of its kernels.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::plan::instructions::{Grid, Group};

/// How the loop of a kernel is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// As the passes before leave it.
    Plain,
    /// Each thread makes a group of iterations.
    Groups(Group),
    /// Its serial loop is unrolled.
    Unrolled,
}

/// What is chosen for one kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// What the passes choose by themselves.
    #[default]
    Passes,
    /// A form, and a grid in its clauses; without one no clauses of this tool.
    Told {
        /// The form.
        form: Form,
        /// The grid.
        grid: Option<Grid>,
    },
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Told { form, grid } = self else { return f.write_str("as the passes choose") };
        match form {
            Form::Plain => {}
            Form::Groups(group) => write!(f, "{group}, ")?,
            Form::Unrolled => f.write_str("unrolled, ")?,
        }
        match grid {
            Some(grid) => write!(f, "{grid}"),
            None => f.write_str("no grid"),
        }
    }
}

/// A text that the file can have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plan {
    /// As it stands.
    Original,
    /// After the passes, with a choice for each group of kernels that have the same loop.
    Chosen(Vec<Choice>),
}

impl Plan {
    /// What the passes make of the file by themselves.
    #[must_use]
    pub fn passes(kernels: usize) -> Self {
        Self::Chosen(vec![Choice::Passes; kernels])
    }

    /// The choice for a kernel; `None` in the original.
    #[must_use]
    pub fn choice(&self, kernel: usize) -> Option<Choice> {
        match self {
            Self::Original => None,
            Self::Chosen(choices) => choices.get(kernel).copied(),
        }
    }
}
