//! The search against a simulated machine, whose times are known.

use super::*;

/// A machine: the true time of each candidate of each kernel, and builds that fail or hang.
struct Machine {
    arms: Vec<Arms>,
    /// The true microseconds, by kernel and candidate.
    truth: Vec<Vec<f64>>,
    /// How far a run may lie from the truth, as a part of it.
    spread: f64,
    /// Builds that fail, and in which of their runs.
    failing: BTreeMap<usize, usize>,
    /// How many runs there may be.
    budget: usize,
    is_blind: bool,
    /// How many times as long each device takes.
    devices: Vec<f64>,
    /// Runs that were made, each with its device.
    on: Vec<(usize, usize)>,
    runs: Vec<usize>,
    state: u64,
}

impl Machine {
    fn new(truth: Vec<Vec<f64>>, spread: f64) -> Self {
        let builds = truth.iter().map(Vec::len).max().unwrap_or(0);
        let arm = |times: &Vec<f64>, build: usize| Some(if build < times.len() { build } else { 0 });
        let mut arms: Vec<Arms> =
            (0..builds).map(|build| truth.iter().map(|times| arm(times, build)).collect()).collect();
        // The twin of the present form, which is build 0.
        arms.push(vec![Some(0); truth.len()]);
        let (failing, on, runs) = Default::default();
        let devices = vec![1.0];
        Self { arms, truth, spread, failing, budget: usize::MAX, is_blind: false, devices, on, runs, state: 7 }
    }

    /// A number from -1 to 1 that nobody can tell beforehand, but the same in each run of the test.
    fn chance(&mut self) -> f64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        f64::from(u32::try_from(self.state >> 33).unwrap()) / f64::from(1_u32 << 30) - 1.0
    }

    fn present(&self) -> Present {
        Present { build: 0, twin: self.arms.len() - 1 }
    }

    /// The search and its choice for each kernel.
    fn search(&mut self) -> (Measured, Vec<Option<usize>>) {
        let arms = self.arms.clone();
        let present = self.present();
        let mut measured = Measured::beside(present);
        let mut last = halve(self, &arms, (0..present.twin).collect(), &mut measured).unwrap();
        last.retain(|build| *build != present.build);
        last.extend([present.build, present.twin]);
        let mut end = Measured { failed: measured.failed.clone(), runs: measured.runs, ..Measured::beside(present) };
        rounds(self, &last, FINAL_ROUNDS, &mut end).unwrap();
        let noise = present.noise(&end, |sample| sample.whole);
        let kernels = 0..arms[0].len();
        let chosen = kernels.map(|kernel| best_arm(&end, &arms, kernel, 0, noise)).collect();
        (end, chosen)
    }
}

impl Machine {
    fn ran(&mut self, build: usize, device: usize) -> Ran {
        let earlier = self.runs.iter().filter(|run| **run == build).count();
        self.runs.push(build);
        self.on.push((build, device));
        if self.failing.get(&build).is_some_and(|fails| earlier >= *fails) {
            return Ran::Failed("no end after 1 s".to_owned());
        }
        let arms = self.arms[build].clone();
        let mut kernels = Vec::new();
        for (kernel, arm) in arms.iter().enumerate() {
            let factor = self.devices[device] * (1.0 + self.spread * self.chance());
            kernels.push(self.truth[kernel][arm.unwrap()] * factor);
        }
        let all: f64 = kernels.iter().sum();
        let kernels = (!self.is_blind).then_some(kernels);
        Ran::Done(Sample { kernels, all_kernels: all, whole: all, device })
    }
}

impl Bench for Machine {
    fn lanes(&self) -> usize {
        self.devices.len()
    }

    fn run(&mut self, jobs: &[Job]) -> Result<Vec<(usize, Ran)>, String> {
        let mut ended = Vec::new();
        for (at, job) in jobs.iter().enumerate() {
            if self.is_over() {
                break;
            }
            let device = job.lane.unwrap_or(at % self.devices.len());
            ended.push((job.build, self.ran(job.build, device)));
        }
        Ok(ended)
    }

    fn is_over(&self) -> bool {
        self.runs.len() >= self.budget
    }
}

fn times(count: u32, best: usize, gain: f64) -> Vec<f64> {
    (0..count).map(|at| if at as usize == best { 100.0 * gain } else { 100.0 + f64::from(at) }).collect()
}

/// How many times as long as a candidate of the first kernel the present form takes.
fn gain(machine: &Machine, measured: &Measured, arm: usize) -> f64 {
    let time = |arm: usize| median(&measured.of_arm(&machine.arms, 0, arm)).unwrap();
    time(0) / time(arm)
}

#[test]
fn the_best_is_found_with_few_runs() {
    let mut machine = Machine::new(vec![times(40, 23, 0.8)], 0.02);
    let (_, chosen) = machine.search();
    assert_eq!(chosen, [Some(23)]);
    let exhaustive = 41 * FINAL_ROUNDS;
    assert!(machine.runs.len() * 2 < exhaustive, "{} of {exhaustive}", machine.runs.len());
}

#[test]
fn kernels_in_one_build_are_told_apart() {
    let mut machine = Machine::new(vec![times(16, 3, 0.7), times(9, 8, 0.5), times(2, 0, 1.0)], 0.01);
    let (_, chosen) = machine.search();
    assert_eq!(chosen, [Some(3), Some(8), None]);
}

#[test]
fn a_tie_keeps_what_is_there() {
    for seed in 1..40 {
        let mut machine = Machine::new(vec![vec![100.0; 12]], 0.03);
        machine.state = u64::wrapping_mul(seed, 0x9e37_79b9_7f4a_7c15);
        let (measured, chosen) = machine.search();
        let Some(arm) = chosen[0] else { continue };
        // By chance one of many may pass a test of one in twenty; not by more than the noise of single runs.
        let ratio = gain(&machine, &measured, arm);
        assert!(ratio < 1.04, "{ratio}");
    }
}

#[test]
fn noise_hides_a_small_gain_and_not_a_large_one() {
    let mut machine = Machine::new(vec![times(8, 5, 0.995)], 0.3);
    assert_eq!(machine.search().1, [None]);
    let mut machine = Machine::new(vec![times(8, 5, 0.3)], 0.2);
    assert_eq!(machine.search().1, [Some(5)]);
}

#[test]
fn what_fails_or_hangs_is_dropped_and_never_run_again() {
    let mut machine = Machine::new(vec![times(12, 4, 0.5)], 0.01);
    machine.failing = [(4, 0), (7, 2)].into();
    machine.truth[0][9] = 80.0;
    let (measured, chosen) = machine.search();
    assert_eq!(chosen, [Some(9)], "the fastest one hangs");
    assert_eq!(measured.failed.keys().copied().collect::<Vec<_>>(), [4]);
    assert_eq!(machine.runs.iter().filter(|build| **build == 4).count(), 1);
    assert!(measured.failed[&4].contains("no end"));
}

#[test]
fn a_build_that_fails_late_does_not_win() {
    let mut machine = Machine::new(vec![times(6, 2, 0.5)], 0.01);
    machine.failing = [(2, 5)].into();
    assert_eq!(machine.search().1, [None]);
}

/// Devices that differ by more than the candidates do: each time counts in terms of the present form on the same device.
#[test]
fn several_devices_find_what_one_does() {
    for devices in [vec![1.0, 1.25], vec![1.0, 0.8, 1.1, 1.02]] {
        let mut machine = Machine::new(vec![times(40, 23, 0.9), times(12, 0, 1.0)], 0.01);
        machine.devices.clone_from(&devices);
        let (measured, chosen) = machine.search();
        assert_eq!(chosen, [Some(23), None]);
        let ratio = gain(&machine, &measured, 23);
        assert!((ratio * 0.9 - 1.0).abs() < 0.02, "{ratio}");
        let noise = machine.present().noise(&measured, |sample| sample.whole);
        assert!(noise < 0.03, "devices differ, and that is no noise: {noise}");
        for device in 0..devices.len() {
            for present in [machine.present().build, machine.present().twin] {
                let own = machine.on.iter().filter(|run| **run == (present, device)).count();
                assert!(own >= FINAL_ROUNDS, "the present form runs on each device in each round: {own}");
            }
            let is_candidate = |build: usize| !machine.present().is_one(build);
            assert!(machine.on.iter().any(|(build, on)| *on == device && is_candidate(*build)), "all share the work");
        }
        assert_eq!(measured.rounds_of(0), FINAL_ROUNDS);
    }
}

/// A tie between devices of different speed stays a tie.
#[test]
fn several_devices_find_no_gain_where_there_is_none() {
    for seed in 1..20 {
        let mut machine = Machine::new(vec![vec![100.0; 12]], 0.02);
        machine.devices = vec![1.0, 1.4];
        machine.state = u64::wrapping_mul(seed, 0x9e37_79b9_7f4a_7c15);
        let (measured, chosen) = machine.search();
        let Some(arm) = chosen[0] else { continue };
        let ratio = gain(&machine, &measured, arm);
        assert!(ratio < 1.04, "{ratio}");
    }
}

#[test]
fn the_time_is_kept_on_several_devices() {
    let mut machine = Machine::new(vec![times(30, 3, 0.5)], 0.01);
    machine.devices = vec![1.0, 1.0, 1.0];
    machine.budget = 20;
    let (measured, _) = machine.search();
    assert!(measured.is_cut && measured.runs == 20, "{}", measured.runs);
}

#[test]
fn the_time_is_kept() {
    let mut machine = Machine::new(vec![times(30, 3, 0.5)], 0.01);
    machine.budget = 20;
    let arms = machine.arms.clone();
    let mut measured = Measured::default();
    let left = halve(&mut machine, &arms, (0..30).collect(), &mut measured).unwrap();
    assert!(measured.is_cut && measured.runs == 20, "{}", measured.runs);
    assert!(left.contains(&3), "what was measured to be best is left: {left:?}");
}

#[test]
fn without_a_clock_of_kernels_the_whole_counts() {
    let mut machine = Machine::new(vec![times(6, 2, 0.5), vec![50.0]], 0.01);
    machine.is_blind = true;
    assert_eq!(machine.search().1, [Some(2), None]);
}

#[test]
fn a_whole_is_better_only_if_nothing_is_slower() {
    let sample = |kernels: f64, whole: f64| Sample { kernels: None, all_kernels: kernels, whole, device: 0 };
    let runs = |kernels: f64, whole: f64| (0..8).map(|at| sample(kernels + f64::from(at) * 0.01, whole)).collect();
    let samples = BTreeMap::from([
        (0, runs(10.0, 20.0)),
        (1, runs(10.0, 20.0)),
        (2, runs(5.0, 20.0)),
        (3, runs(5.0, 30.0)),
        (4, runs(12.0, 15.0)),
    ]);
    let measured = Measured { samples, ..Measured::default() };
    let present = Present { build: 0, twin: 1 };
    let better: Vec<bool> = (1..=4).map(|new| is_better(&measured, present, 0, new)).collect();
    assert_eq!(better, [false, true, false, true]);
}
