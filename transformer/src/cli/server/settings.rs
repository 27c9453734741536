//! What a client configures, in the words of `.ompsplit.toml`.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use crate::cli::arguments::{Assume, ContextArguments, PassArguments};

/// What the editor's settings say under `ompsplit`; they win over `.ompsplit.toml` as flags do.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ClientSettings {
    /// The passes to run.
    pub passes: Option<Vec<String>>,
    /// Also write edits that rest on an assumption?
    pub assume: bool,
    /// Also form floating-point sums in another order?
    pub reassociation: bool,
    /// The device to choose grids for.
    pub device: Option<String>,
    /// How many iterations a loop is taken to have where the text does not tell.
    pub assumed_iterations: Option<u32>,
    /// The folder of `compile_commands.json`.
    pub compile_commands: Option<PathBuf>,
    /// Further compiler flags.
    pub flags: Vec<String>,
    /// The configuration file, in the place of the nearest one.
    pub config: Option<PathBuf>,
    /// Are only constructs marked that change?
    pub quiet: bool,
}

impl ClientSettings {
    /// Reads the settings, which some clients send under the server's name and others alone.
    pub(super) fn read(value: &Value) -> Result<Self, String> {
        let own = value.get("ompsplit").unwrap_or(value);
        if own.is_null() {
            return Ok(Self::default());
        }
        serde_json::from_value(own.clone()).map_err(|error| format!("the settings of ompsplit: {error}"))
    }

    /// The flags that say the same.
    pub(super) fn flags(&self) -> (ContextArguments, PassArguments) {
        let context = ContextArguments {
            config: self.config.clone(),
            compile_commands: self.compile_commands.clone(),
            flags: self.flags.clone(),
            ..ContextArguments::default()
        };
        let assume = [self.assume.then_some(Assume::Stated), self.reassociation.then_some(Assume::Reassociation)];
        let passes = PassArguments {
            passes: self.passes.as_ref().map(|names| names.join(",")),
            assume: assume.into_iter().flatten().collect(),
            device: self.device.clone(),
            assumed_iterations: self.assumed_iterations,
            ..PassArguments::default()
        };
        (context, passes)
    }
}
