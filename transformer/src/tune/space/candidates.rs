//! Which forms and grids a kernel may have, and in which order they are worth a try.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::writing::{UNROLLED, applied, for_all, run};
use super::{Candidate, Source, TunableKernel, device};
use crate::device::launch::DEFAULT_THREADS;
use crate::device::occupancy::resident_blocks;
use crate::device::{DeviceProfile, KernelResources};
use crate::edit::Edit;
use crate::engine::{self, EngineError, Kernel, Options};
use crate::plan::instructions::{Grid, Group, Instruction, Instructions, Teams};
use crate::plan::{Decision, Pass, Plan, Times};
use crate::source::SourceFile;
use crate::tune::choices::{Choice, Form};

/// Iterations of a group.
const FACTORS: [u32; 3] = [2, 4, 8];
/// Threads of a team.
const THREADS: [u32; 5] = [32, 64, 128, 256, 512];
/// The most teams, for each multiprocessor.
const TEAMS_PER_SM: [u64; 2] = [4, 16];
/// More teams than these are never asked for.
const MOST_TEAMS: u64 = 1 << 16;

/// Predictions that differ by less than this factor are alike.
const ALIKE: f64 = 1.01;
/// Assumed resources of a kernel, as for the grids that passes choose.
const ESTIMATE: KernelResources = KernelResources { registers: 32, shared_memory: 0 };

/// Why a kernel is not launched in many grids within one run.
const REDUCES: &str = "it has a `reduction`, for which its teams work together";
/// The same of a kernel of which no expression says for how many teams there is work.
const UNKNOWN_ITERATIONS: &str = "its bounds are no simple expressions, which would tell how many iterations there are";

/// A form, with the text in which all kernels that may have it have it.
struct Shaped {
    form: Form,
    file: SourceFile,
    kernels: Vec<Kernel>,
    /// How long each kernel is predicted to take in this form, as a part of the plain one; `None` where it may not have it.
    shares: Vec<Option<f64>>,
}

/// The kernels of a text for which something can be chosen, with all candidates.
pub(super) fn find(source: Source<'_>, base: &SourceFile) -> Result<Vec<TunableKernel>, EngineError> {
    let Some(device) = device(source.options) else { return Ok(Vec::new()) };
    let grids = grids(device);
    // The kernels are asked about the grids for the iterations that groups leave.
    let questions: Vec<_> = std::iter::once(1)
        .chain(FACTORS.map(u64::from))
        .flat_map(|share| grids.iter().map(move |grid| (share, *grid)))
        .collect();
    let options = Options { resources: None, ..source.options.clone() };
    let kernels = engine::kernels(base, source.headers, &options, &questions)?;
    let shapes = shapes(source, base, &kernels)?;
    let tries: Vec<(&Shaped, Option<Grid>)> =
        shapes.iter().flat_map(|shaped| grids.iter().map(move |grid| (shaped, *grid))).collect();
    let texts = tries.par_iter().map(|(shaped, grid)| legal(source, shaped, *grid));
    let texts = texts.collect::<Result<Vec<Vec<Option<String>>>, EngineError>>()?;
    let open = open_forms(source, &shapes)?;
    let mut found: Vec<TunableKernel> = Vec::new();
    for (index, kernel) in kernels.iter().enumerate().filter(|(_, kernel)| kernel.is_league_loop) {
        if let Some(other) = found.iter_mut().find(|other| other.hash == kernel.hash) {
            other.members.push(index);
            continue;
        }
        let mut seen: BTreeSet<(Form, &str)> = BTreeSet::new();
        let mut candidates = Vec::new();
        for ((shaped, grid), texts) in tries.iter().zip(&texts) {
            let text = texts.get(index).and_then(Option::as_deref);
            if text.is_some_and(|text| seen.insert((shaped.form, text))) {
                let predicted = shaped.predicted(kernel, index, &questions, *grid);
                candidates.push(Candidate { choice: Choice::Told { form: shaped.form, grid: *grid }, predicted });
            }
        }
        candidates.sort_by_key(|candidate| rank(device, candidate));
        let forms: BTreeSet<Form> = candidates.iter().filter_map(Candidate::form).collect();
        let is_open = |form: &Form| open.get(form).is_some_and(|of_kernels| of_kernels.get(index) == Some(&true));
        let has_grids = candidates.iter().any(|one| matches!(one.choice, Choice::Told { grid: Some(_), .. }));
        let closed = match (kernel.reduces, forms.iter().all(is_open)) {
            (true, _) => Some(REDUCES),
            (_, false) => Some(UNKNOWN_ITERATIONS),
            _ => None,
        };
        let open = if closed.is_none() { forms.into_iter().collect() } else { Vec::new() };
        let (hash, line) = (kernel.hash.clone(), kernel.line);
        let closed = closed.filter(|_| has_grids);
        found.push(TunableKernel { hash, closed, members: vec![index], line, candidates, open });
    }
    found.retain(|kernel| !kernel.candidates.is_empty());
    Ok(found)
}

/// In which forms the grid of each kernel can be chosen at its launch.
fn open_forms(source: Source<'_>, shapes: &[Shaped]) -> Result<BTreeMap<Form, Vec<bool>>, EngineError> {
    let open = shapes.par_iter().map(|shaped| {
        let texts = legal(source, shaped, Some(Grid::OPEN))?;
        Ok((shaped.form, texts.iter().map(Option::is_some).collect()))
    });
    open.collect()
}

/// Faster ones come first, as predicted; of those that are predicted to take as long, within a hundredth, those that leave more threads
/// resident, and then those whose teams are nearest to the usual size. What has no prediction comes last.
fn rank(device: &DeviceProfile, candidate: &Candidate) -> (i64, Reverse<u32>, u32) {
    #[expect(clippy::cast_possible_truncation, reason = "the logarithm of a time")]
    let time = candidate.predicted.map_or(i64::MAX, |time| (time.max(1e-9).ln() / ALIKE.ln()).round() as i64);
    let grid = if let Choice::Told { grid, .. } = candidate.choice { grid } else { None };
    let threads = grid.map_or(DEFAULT_THREADS, |grid| grid.threads);
    let resident = resident_blocks(device, ESTIMATE, threads).saturating_mul(threads);
    (time, Reverse(resident), threads.ilog2().abs_diff(DEFAULT_THREADS.ilog2()))
}

/// Puts those first that are likely to be fast, and gives their number; then there are at most `most`.
pub(super) fn sort(candidates: &mut Vec<Candidate>, part: f64, least: usize, most: Option<usize>) -> usize {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small counts"
    )]
    let kept = ((candidates.len() as f64 * part).ceil() as usize).max(least);
    let plain = Choice::Told { form: Form::Plain, grid: None };
    let mut forms = BTreeSet::new();
    let (mut likely, mut others) = (Vec::new(), Vec::new());
    for (index, candidate) in candidates.drain(..).enumerate() {
        let is_first = candidate.form().is_some_and(|form| forms.insert(form));
        if index < kept || is_first { likely.push(candidate) } else { others.push(candidate) }
    }
    likely.truncate(most.unwrap_or(usize::MAX));
    let left = most.map_or(usize::MAX, |most| most.saturating_sub(likely.len()));
    let at = others.iter().position(|candidate| candidate.choice == plain).map(|at| others.remove(at));
    others.truncate(left);
    if !likely.iter().any(|candidate| candidate.choice == plain) {
        likely.push(at.unwrap_or(Candidate { choice: plain, predicted: None }));
    }
    let count = likely.len();
    candidates.extend(likely.into_iter().chain(others));
    count
}

/// The grids that are tried on a device; `None` is that without clauses.
fn grids(device: &DeviceProfile) -> Vec<Option<Grid>> {
    let own = device.uncoalesced_threads_per_block.filter(|threads| !THREADS.contains(threads));
    let threads = own.into_iter().chain(THREADS).filter(|threads| *threads <= device.threads_per_block_limit);
    let of_sms = TEAMS_PER_SM.map(|each| Teams::AtMost(each * u64::from(device.sm_count)));
    let teams: Vec<Teams> = [Teams::Runtime, Teams::AtMost(MOST_TEAMS)].into_iter().chain(of_sms).collect();
    let all = threads.flat_map(|threads| teams.clone().into_iter().map(move |teams| Some(Grid { threads, teams })));
    std::iter::once(None).chain(all).collect()
}

/// The forms that some kernel may have.
fn shapes(source: Source<'_>, base: &SourceFile, kernels: &[Kernel]) -> Result<Vec<Shaped>, EngineError> {
    let plain = Shaped {
        form: Form::Plain,
        file: base.clone(),
        kernels: kernels.to_vec(),
        shares: kernels.iter().map(|kernel| kernel.is_league_loop.then_some(1.0)).collect(),
    };
    let deepest = kernels.iter().map(|kernel| kernel.loops).max().unwrap_or(0);
    let groups = (0..deepest).flat_map(|index| FACTORS.map(|factor| Group::of(Some(index), factor)));
    let mut asked: Vec<(Form, Pass, Instructions)> = groups
        .map(|group| {
            let told = Instruction { group: Some(group), ..Instruction::default() };
            (Form::Groups(group), Pass::Coarsen, for_all(kernels, told))
        })
        .collect();
    asked.push((Form::Unrolled, Pass::Unroll, for_all(kernels, UNROLLED)));
    let shaped = asked.into_par_iter().map(|(form, pass, told)| shaped(source, base, kernels, (form, pass, told)));
    let shaped = shaped.collect::<Result<Vec<Option<Shaped>>, EngineError>>()?;
    Ok(std::iter::once(plain).chain(shaped.into_iter().flatten()).collect())
}

fn shaped(
    source: Source<'_>,
    base: &SourceFile,
    kernels: &[Kernel],
    (form, pass, told): (Form, Pass, Instructions),
) -> Result<Option<Shaped>, EngineError> {
    let outcome = run(source, base, pass, told)?;
    let consent = source.options.consent();
    let is_of = |plan: &&Plan, kernel: &Kernel| plan.pass == pass && plan.extent == kernel.extent && !plan.follows;
    let share = |kernel: &Kernel| {
        let plan = outcome.plans.iter().find(|plan| is_of(plan, kernel))?;
        plan.decision.is_written(consent).then(|| plan.times.map_or(1.0, share_of))
    };
    let shares: Vec<Option<f64>> = kernels.iter().map(share).collect();
    if shares.iter().all(Option::is_none) {
        return Ok(None);
    }
    let file = applied(base, outcome);
    let kernels = super::writing::kernels(source, &file)?;
    Ok((kernels.len() == shares.len()).then_some(Shaped { form, file, kernels, shares }))
}

fn share_of(Times { before, after }: Times) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "microseconds of a kernel")]
    let share = after.max(1) as f64 / before.max(1) as f64;
    share
}

/// Of each kernel the edits that give it a grid in this form; `None` where it may not have it.
fn legal(source: Source<'_>, shaped: &Shaped, grid: Option<Grid>) -> Result<Vec<Option<String>>, EngineError> {
    let has_form = |index: usize| shaped.shares.get(index).is_some_and(Option::is_some);
    let Some(grid) = grid else {
        return Ok((0..shaped.kernels.len()).map(|index| has_form(index).then(String::new)).collect());
    };
    let told = Instruction { grid: Some(grid), ..Instruction::default() };
    let outcome = run(source, &shaped.file, Pass::Geometry, for_all(&shaped.kernels, told))?;
    let consent = source.options.consent();
    let text = |(index, kernel): (usize, &Kernel)| {
        let is_of = |plan: &&Plan| plan.pass == Pass::Geometry && plan.extent == kernel.extent && !plan.follows;
        let plan = outcome.plans.iter().find(is_of).filter(|_| has_form(index))?;
        match plan.decision {
            decision if decision.is_written(consent) => Some(words(&plan.edits)),
            // It is written there already.
            Decision::NothingToDo => Some(String::new()),
            _ => None,
        }
    };
    Ok(shaped.kernels.iter().enumerate().map(text).collect())
}

fn words(edits: &[Edit]) -> String {
    edits.iter().map(|edit| edit.text.as_str()).collect::<Vec<_>>().join(" ")
}

impl Candidate {
    /// Its form; `None` for what the passes choose.
    fn form(&self) -> Option<Form> {
        if let Choice::Told { form, .. } = self.choice { Some(form) } else { None }
    }
}

impl Shaped {
    /// The predicted microseconds of a kernel: what is predicted for the plain form with the iterations that are left, each of which takes
    /// longer.
    fn predicted(
        &self,
        kernel: &Kernel,
        index: usize,
        questions: &[(u64, Option<Grid>)],
        grid: Option<Grid>,
    ) -> Option<f64> {
        let factor = if let Form::Groups(group) = self.form { group.factor } else { 1 };
        let at = questions.iter().position(|question| *question == (u64::from(factor), grid))?;
        let plain = kernel.predicted.get(at).copied().flatten()?;
        let share = self.shares.get(index).copied().flatten()?;
        Some(plain * share * f64::from(factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(form: Form, predicted: f64) -> Candidate {
        Candidate { choice: Choice::Told { form, grid: None }, predicted: Some(predicted) }
    }

    #[test]
    fn the_best_quarter_comes_first_with_one_of_each_form() {
        let plain = candidate(Form::Plain, 50.0);
        let grid = Some(Grid { threads: 32, teams: Teams::Runtime });
        let at = |time: f64| Candidate { choice: Choice::Told { form: Form::Plain, grid }, predicted: Some(time) };
        let mut all: Vec<Candidate> = (0..15).map(|time| at(f64::from(time))).collect();
        all.extend([plain, candidate(Form::Unrolled, 99.0), candidate(Form::Unrolled, 100.0)]);
        let mut sorted = all.clone();
        assert_eq!(sort(&mut sorted, 0.25, 2, None), 7, "five of eighteen, the first unrolled one, and the plain one");
        assert_eq!(sorted.len(), 18);
        assert_eq!(sorted[..7], [&all[..5], &[all[16], plain]].concat());
        assert_eq!((sort(&mut all, 0.01, 3, Some(2)), all.len()), (3, 3), "two, and the plain one");
    }

    #[test]
    fn of_equal_predictions_the_fuller_device_comes_first() {
        let h200 = DeviceProfile::named("h200").unwrap();
        let at = |threads: u32, predicted: f64| Candidate {
            choice: Choice::Told { form: Form::Plain, grid: Some(Grid { threads, teams: Teams::Runtime }) },
            predicted: Some(predicted),
        };
        let mut all = [at(16, 100.0), at(512, 100.2), at(128, 100.1), at(32, 90.0)];
        all.sort_by_key(|one| rank(&h200, one));
        assert_eq!(all, [at(32, 90.0), at(128, 100.1), at(512, 100.2), at(16, 100.0)]);
    }

    #[test]
    fn a_device_gives_the_grids() {
        let h200 = DeviceProfile::named("h200").unwrap();
        let grids = grids(&h200);
        assert_eq!(grids.len(), 25);
        assert!(grids.contains(&Some(Grid { threads: 16, teams: Teams::AtMost(132 * 4) })));
        assert!(grids.contains(&None));
    }
}
