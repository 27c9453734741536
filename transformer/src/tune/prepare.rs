//! Finds the candidates of a source and builds those that are worth it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::Watch;
use super::build::{self, Builder, Recipe};
use super::choices::Plan;
use super::clock::{Clock, FileId};
use super::lane::Lane;
use super::project::{self, Product, Project};
use super::replay;
use super::runner::Runner;
use super::space::{Source, Space, Written};
use super::task::{Build, ClockKind, Task, TunedLoop, apart, arms, loops, plans, tuned_lines};

/// What is prepared, and how much of it.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// How the project is built.
    pub recipe: Recipe,
    /// The project's folder.
    pub project: PathBuf,
    /// Folders in it that are not copied.
    pub without: Vec<PathBuf>,
    /// The part of the candidates that is built, those that are predicted to be fastest.
    pub part: f64,
    /// The most candidates of a kernel.
    pub most: Option<usize>,
    /// Which clock will count, if that is not to be found out by a run.
    pub clock: Option<ClockKind>,
    /// Are candidates built only when it is known which are needed? Where nothing can be built later, all are built.
    pub builds_later: bool,
}

/// Where things are put: folders that do not exist yet.
#[derive(Clone, Debug)]
pub struct Places {
    /// The copy of the project that is worked in.
    pub work: PathBuf,
    /// What it is restored from.
    pub base: PathBuf,
    /// The compiled clock.
    pub clock: PathBuf,
}

/// At least so many candidates of a kernel are built.
const LEAST: usize = 4;

/// What can be measured.
pub struct Prepared {
    /// The copy of the project.
    pub project: Project,
    /// The kernels and their choices.
    pub loops: Vec<TunedLoop>,
    /// The builds; the first is the original.
    pub builds: Vec<Build>,
    /// Builds whose grids are chosen at their launches.
    pub replays: Vec<Build>,
    /// Candidates that could not be built, each with the reason.
    pub dropped: Vec<(Plan, String)>,
    /// The device's clock, if it could be compiled, or why not.
    pub clock: Result<Clock, String>,
    /// By which clock the builds are made.
    pub kind: ClockKind,
    /// Is nothing chosen in the original that passes would change, so that it tells of its own kernels?
    pub is_plain: bool,
}

/// Everything that is known of one source while it is prepared, and of its later builds.
pub struct Workshop<'a> {
    source: Source<'a>,
    space: Space,
    recipe: &'a Recipe,
    hash: blake3::Hash,
}

impl Workshop<'_> {
    /// What can be chosen.
    #[must_use]
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Builds a plan that nobody built before.
    ///
    /// # Errors
    /// Why it cannot be written or built.
    pub fn build(&self, project: &Project, plan: &Plan) -> Result<Build, String> {
        let written = self.space.text(self.source, plan).map_err(|error| error.to_string())?;
        let builder = Builder::new(project, self.recipe, self.hash);
        let (product, id) = builder.build(&written.text)?;
        Ok(self.finished(plan, written, (product, id)))
    }

    /// Builds plans whose texts are not built yet; what cannot be built together is built apart.
    fn build_all(
        &self,
        project: &Project,
        mut plans: VecDeque<Plan>,
        builds: &mut Vec<Build>,
        dropped: &mut Vec<(Plan, String)>,
        watch: &Watch<'_>,
    ) -> Result<(), String> {
        let builder = Builder::new(project, self.recipe, self.hash);
        while let Some(plan) = plans.pop_front() {
            let written = self.space.text(self.source, &plan).map_err(|error| error.to_string())?;
            if builds.iter().any(|other| other.text == written.text) {
                continue;
            }
            watch(&format!("building candidate {}, {} are left", builds.len(), plans.len()));
            match builder.build(&written.text) {
                Ok(built) => builds.push(self.finished(&plan, written, built)),
                Err(why) => match apart(&plan) {
                    alone if alone.is_empty() => dropped.push((plan, why)),
                    alone => plans.extend(alone),
                },
            }
        }
        Ok(())
    }

    fn finished(&self, plan: &Plan, written: Written, (product, id): (Product, FileId)) -> Build {
        let is_like_base = *plan != Plan::Original || self.is_plain();
        Build {
            tuned: tuned_lines(&self.space, &written, is_like_base),
            lines: written.kernels.iter().map(|(line, _)| *line).collect(),
            plan: plan.clone(),
            text: written.text,
            id,
            is_assumed: written.is_assumed,
            arms: Vec::new(),
            product,
        }
    }

    fn is_plain(&self) -> bool {
        self.space.is_base(&self.source.file.text)
    }
}

/// Copies the project, builds it as it stands, and builds the candidates of a source.
///
/// # Errors
/// When the project cannot be copied or built, or the source not be processed.
pub fn prepare<'a>(
    source: Source<'a>,
    wanted: &'a Wanted,
    task: &Task,
    places: &Places,
    watch: &Watch<'_>,
) -> Result<(Prepared, Workshop<'a>), String> {
    watch("looking for candidates");
    let mut space = Space::read(source).map_err(|error| error.to_string())?;
    let totals: Vec<usize> = space.kernels.iter().map(|kernel| kernel.candidates.len()).collect();
    let likely = space.sort(wanted.part, LEAST, wanted.most);
    let mut loops = loops(&space, &totals, &likely);

    watch("copying the project");
    let without: Vec<&Path> = wanted.without.iter().map(PathBuf::as_path).collect();
    let hash = build::hash(&wanted.project, &without)?;
    let failed = |error: std::io::Error| format!("{}: {error}", wanted.project.display());
    project::copy(&wanted.project, &places.work, &without).map_err(failed)?;
    watch("building the program as it stands");
    wanted.recipe.run(&places.work)?;
    let project = Project::settle(&places.work, &places.base).map_err(failed)?;
    let clock = match wanted.clock {
        Some(ClockKind::Wall) => Err("the time of the whole program was asked for".to_owned()),
        _ => Clock::compile(&places.clock),
    };

    let workshop = Workshop { source, space, recipe: &wanted.recipe, hash };
    let text = workshop.space.text(source, &Plan::Original).map_err(|error| error.to_string())?;
    let id = FileId::of(&places.work.join(&wanted.recipe.file));
    let nothing = project.product().map_err(failed)?;
    let mut builds = vec![workshop.finished(&Plan::Original, text, (nothing, id))];
    let kind = match wanted.clock {
        Some(kind) => kind,
        None => detected(task, &project, builds.clone(), clock.as_ref().ok(), watch)?,
    };
    if kind == ClockKind::Wall || !task.replays {
        loops.iter_mut().for_each(TunedLoop::keep_likely);
    }
    let (mut replays, mut dropped) = Default::default();
    let open = replay::plans(&loops);
    // Where the grids can be tried in a few runs, these tell what has to be built.
    let own = if open.is_empty() || !wanted.builds_later { plans(&loops, kind) } else { Vec::new() };
    let all = std::iter::once(Plan::passes(loops.len())).chain(own);
    workshop.build_all(&project, all.collect(), &mut builds, &mut dropped, watch)?;
    workshop.build_all(&project, open.into(), &mut replays, &mut dropped, watch)?;
    project.restore().map_err(failed)?;
    let is_plain = workshop.is_plain();
    for build in &mut builds {
        build.arms = arms(&loops, &build.plan, kind, is_plain);
    }
    Ok((Prepared { project, loops, builds, replays, dropped, clock, kind, is_plain }, workshop))
}

/// Which clock sees the kernels of the original.
fn detected(
    task: &Task,
    project: &Project,
    original: Vec<Build>,
    clock: Option<&Clock>,
    watch: &Watch<'_>,
) -> Result<ClockKind, String> {
    watch("running the program as it stands");
    let size = task.size.as_ref().map(|range| range.low);
    Runner::new(task, &[Lane::only(project)], original, clock, watch).begin(size)
}
