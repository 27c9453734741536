//! What the tables and the chart show: speed-ups, limits and the noise.

use crate::results::{CaseResult, Limits, Results, VariantResult};
use crate::statistics::{deviation, geometric_mean, is_larger};

/// Which of the two times is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// From host memory to host memory, by the host's clock.
    Total,
    /// The kernels alone, by the device's clock.
    Kernels,
}

impl Clock {
    /// The median time of a variant, in milliseconds.
    pub fn of(self, variant: &VariantResult) -> Option<f64> {
        match self {
            Self::Total => variant.total(),
            Self::Kernels => variant.kernels(),
        }
    }
}

impl Clock {
    /// The times of all runs of a variant, in milliseconds.
    fn runs(self, variant: &VariantResult) -> &[f64] {
        match self {
            Self::Total => &variant.total_ms,
            Self::Kernels => &variant.kernel_ms,
        }
    }
}

/// How many times as quick as `base` the variant is; a wrong variant has no speed.
pub fn speed_up(case: &CaseResult, base: &str, variant: &str, clock: Clock) -> Option<f64> {
    let (base, variant) = (case.measured(base)?, case.measured(variant)?);
    if is_wrong(base) || is_wrong(variant) {
        return None;
    }
    Some(clock.of(base)? / clock.of(variant)?)
}

/// A loss that counts.
const LOSS: f64 = 0.02;

/// Whether `variant` takes more than 2 % longer than `base`, and more than noise: of one binary in two processes, and among the
/// runs of each.
pub fn is_slower(results: &Results, case: &CaseResult, base: &str, variant: &str, clock: Clock) -> bool {
    let longer = speed_up(case, base, variant, clock).map_or(0.0, |speed| speed.recip() - 1.0);
    let runs = |name: &str| case.measured(name).map_or(&[][..], |found| clock.runs(found));
    longer > LOSS.max(threshold(results, case, clock)) && is_larger(runs(base), runs(variant))
}

/// Whether any run of it gave a wrong result.
pub fn is_wrong(variant: &VariantResult) -> bool {
    variant.wrong > 0 || variant.failure.is_some()
}

/// The least time that the machine's limits allow, in milliseconds; nothing where the work is not known.
pub fn limit(case: &CaseResult, limits: &Limits, clock: Clock) -> Option<f64> {
    let work = case.work;
    let memory = work.device_bytes / limits.device_memory_gb_s / 1e6;
    let arithmetic = work.operations / limits.float_tflop_s / 1e9;
    let mut least = memory.max(arithmetic);
    if clock == Clock::Total {
        let to = work.bytes_in / limits.to_device_gb_s / 1e6;
        let from = work.bytes_out / limits.from_device_gb_s / 1e6;
        let both = (work.bytes_in + work.bytes_out) / limits.both_ways_gb_s / 1e6;
        least = least.max(to).max(from).max(both);
    }
    (least > 0.0).then_some(least)
}

/// How far the medians of the same binary in two processes lie apart in one case.
pub fn noise(case: &CaseResult, clock: Clock) -> Option<f64> {
    let again = case.again.as_ref()?;
    let first = case.variants.iter().find(|variant| variant.variant == again.variant)?;
    Some(deviation(clock.of(first)?, clock.of(again)?))
}

/// What a difference must exceed to count: the case's own noise, or the suite's typical one where that is larger.
pub fn threshold(results: &Results, case: &CaseResult, clock: Clock) -> f64 {
    noise(case, clock).unwrap_or(0.0).max(typical_noise(results, clock))
}

/// The noise that nine of ten cases stay under.
pub fn typical_noise(results: &Results, clock: Clock) -> f64 {
    nine_of_ten(results.cases.iter().filter_map(|case| noise(case, clock)).collect())
}

/// What nine of ten values do not exceed; 0 of none.
pub fn nine_of_ten(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let index = (values.len() * 9).div_ceil(10).saturating_sub(1);
    values.get(index).copied().unwrap_or(0.0)
}

/// A set of speed-ups over all cases that have them.
pub struct Summary {
    /// The geometric mean over the programs; a program with several cases counts once, by their geometric mean.
    pub mean: f64,
    /// How many programs there are.
    pub programs: usize,
    /// The least, and its case.
    pub worst: (f64, String),
    /// The greatest, and its case.
    pub best: (f64, String),
}

/// Sums up a figure that some cases have.
pub fn summarise(results: &Results, figure: impl Fn(&CaseResult) -> Option<f64>) -> Option<Summary> {
    let mut by_program: Vec<(&str, Vec<f64>)> = Vec::new();
    let mut all: Vec<(f64, String)> = Vec::new();
    for case in &results.cases {
        let Some(value) = figure(case) else { continue };
        all.push((value, format!("{} {}", case.program, case.case)));
        match by_program.iter_mut().find(|(program, _)| *program == case.program) {
            Some((_, values)) => values.push(value),
            None => by_program.push((&case.program, vec![value])),
        }
    }
    let means: Vec<f64> = by_program.iter().filter_map(|(_, values)| geometric_mean(values)).collect();
    let by_value = |one: &&(f64, String), other: &&(f64, String)| one.0.total_cmp(&other.0);
    Some(Summary {
        mean: geometric_mean(&means)?,
        programs: means.len(),
        worst: all.iter().min_by(by_value)?.clone(),
        best: all.iter().max_by(by_value)?.clone(),
    })
}
