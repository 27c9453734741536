//! Which passes run.

use crate::cli::suggest;
use crate::plan::Pass;
use crate::transforms::TRANSFORMS;

/// The chosen passes in the registry's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Passes {
    /// In this order they run.
    pub passes: Vec<Pass>,
    /// Those that were named but are not built: they do nothing.
    pub unbuilt: Vec<Pass>,
}

/// What `--help` says of `--passes`.
pub(super) fn help() -> String {
    let names = |default: bool| {
        let chosen = TRANSFORMS.iter().filter(|transform| transform.default == default);
        chosen.map(|transform| transform.pass.name()).collect::<Vec<_>>()
    };
    format!(
        "The passes to run, separated by commas, or `all`\n\nBy default: {}, which are safe and never slower by the cost model. \
         Further ones: {}; unroll needs a device.",
        names(true).join(","),
        names(false).join(", "),
    )
}

impl Passes {
    /// The passes that run when none are named.
    pub(super) fn by_default() -> Self {
        let passes = TRANSFORMS.iter().filter(|transform| transform.default).map(|transform| transform.pass).collect();
        Self { passes, unbuilt: Vec::new() }
    }

    /// These and one more.
    pub(super) fn with(mut self, pass: Pass) -> Self {
        self.passes.push(pass);
        self.passes.sort();
        self.passes.dedup();
        self
    }

    /// The named ones; `all` stands for every one.
    pub(super) fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut wanted = Vec::new();
        let mut all = false;
        for name in names.into_iter().map(str::trim).filter(|name| !name.is_empty()) {
            let known = TRANSFORMS.iter().map(|transform| transform.pass.name());
            if name == "all" {
                all = true;
            } else if known.clone().any(|pass| pass == name) {
                wanted.push(name);
            } else {
                return Err(format!("there is no pass `{name}`{}", suggest::hint(name, known.chain(["all"]))));
            }
        }
        if wanted.is_empty() && !all {
            return Err("no pass is named".to_owned());
        }
        let named = |pass: Pass| wanted.contains(&pass.name());
        let chosen = TRANSFORMS.iter().filter(|transform| all || named(transform.pass));
        let unbuilt = chosen.clone().filter(|transform| transform.plan.is_none() && named(transform.pass));
        Ok(Self {
            passes: chosen.clone().map(|transform| transform.pass).collect(),
            unbuilt: unbuilt.map(|transform| transform.pass).collect(),
        })
    }

    /// Do all passes that run by default run?
    pub(super) fn cover_default(&self) -> bool {
        Self::by_default().passes.iter().all(|pass| self.passes.contains(pass))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_of_the_registry() {
        assert_eq!(Passes::named(["geometry", "split"]).unwrap().passes, [Pass::Split, Pass::Geometry]);
        assert_eq!(Passes::named(["all"]).unwrap().passes.len(), TRANSFORMS.len());
        assert!(Passes::named(["all"]).unwrap().unbuilt.is_empty());
    }

    #[test]
    fn suggests_what_was_meant() {
        assert_eq!(Passes::named(["spilt"]).unwrap_err(), "there is no pass `spilt`; did you mean `split`?");
        assert_eq!(Passes::named([""]).unwrap_err(), "no pass is named");
    }
}
