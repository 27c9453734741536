//! Which passes run.

use crate::cli::suggest;
use crate::engine;
use crate::plan::Pass;
use crate::transforms::{ByDefault, TRANSFORMS, Transform};

/// The chosen passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Passes {
    /// Those that run.
    pub passes: engine::Passes,
    /// Those that were named but are not built: they do nothing.
    pub unbuilt: Vec<Pass>,
}

/// What `--help` says of `--passes`.
pub(super) fn help() -> String {
    let names = |kind: ByDefault| {
        let chosen = TRANSFORMS.iter().filter(|transform| transform.default == kind);
        chosen.map(|transform| transform.pass.name()).collect::<Vec<_>>()
    };
    format!(
        "The passes to run, separated by commas, or `all`\n\nBy default: {}, which are safe and never slower by the cost model; with a device \
         also {} where they are sure to gain much. `default` stands for these; whoever names {} gets all that they can do. Further ones: {}.",
        names(ByDefault::Runs).join(","),
        names(ByDefault::WhereSure).join(" and "),
        names(ByDefault::WhereSure).join(" or "),
        names(ByDefault::Named).join(", "),
    )
}

impl Passes {
    /// The passes that run when none are named.
    pub(super) fn by_default() -> Self {
        Self { passes: engine::Passes::default(), unbuilt: Vec::new() }
    }

    /// These and one more.
    pub(super) fn with(self, pass: Pass) -> Self {
        Self { passes: self.passes.with(pass), ..self }
    }

    /// The named ones; `all` stands for every one, `default` for those that run when none are named.
    pub(super) fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let names: Vec<&str> = names.into_iter().map(str::trim).filter(|name| !name.is_empty()).collect();
        let known = || TRANSFORMS.iter().map(|transform| transform.pass.name());
        if let Some(name) = names.iter().find(|name| !WORDS.contains(name) && known().all(|pass| pass != **name)) {
            return Err(format!("there is no pass `{name}`{}", suggest::hint(name, known().chain(WORDS))));
        }
        if names.is_empty() {
            return Err("no pass is named".to_owned());
        }
        let is_named = |transform: &&Transform| names.contains(&transform.pass.name());
        let chosen = TRANSFORMS.iter().filter(|transform| names.contains(&ALL) || is_named(transform));
        let base = match names.contains(&engine::DEFAULT) {
            true => engine::Passes::default(),
            false => engine::Passes::from(Vec::new()),
        };
        let unbuilt = TRANSFORMS.iter().filter(|transform| transform.plan.is_none()).filter(is_named);
        Ok(Self {
            passes: chosen.fold(base, |passes, transform| passes.with(transform.pass)),
            unbuilt: unbuilt.map(|transform| transform.pass).collect(),
        })
    }
}

const ALL: &str = "all";
/// The words that stand for several passes.
const WORDS: [&str; 2] = [ALL, engine::DEFAULT];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_of_the_registry() {
        let names = |names: &[&str]| Passes::named(names.iter().copied()).unwrap().passes.names();
        assert_eq!(names(&["geometry", "split"]), ["split", "geometry"]);
        assert_eq!(names(&["all"]).len(), TRANSFORMS.len());
        assert_eq!(Passes::named(["default"]).unwrap(), Passes::by_default());
        assert_eq!(names(&["overlap", "default"]), ["default", "overlap"]);
        assert!(Passes::named(["all"]).unwrap().unbuilt.is_empty());
    }

    #[test]
    fn suggests_what_was_meant() {
        assert_eq!(Passes::named(["spilt"]).unwrap_err(), "there is no pass `spilt`; did you mean `split`?");
        assert_eq!(Passes::named([""]).unwrap_err(), "no pass is named");
    }
}
