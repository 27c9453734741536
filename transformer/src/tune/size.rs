//! The smallest problem that a device is saturated by, on which a search costs less and still tells what is best for larger ones.
//!
//! Magni, "Analysis and Parameter Prediction of Compiler Transformations for Graphics Processors" (2015), chapter 6: the throughput, which
//! is work by time, grows with the size of a problem until it reaches a plateau; from the smallest size on it the best configuration stays.

use serde::{Deserialize, Serialize};

/// The part of the greatest throughput that counts as saturated; Magni allows for a threshold without giving its number.
const SATURATED: f64 = 0.9;
/// An exponent of the work that lies so near to a whole number is that number.
const NEAR: f64 = 0.15;

/// A range with more doubled sizes than these is wide.
const MOST_SIZES: usize = 7;

/// `N in 256..8192`, or `N in 256..8192, work N^3`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeRange {
    /// The name that `{N}` in the command stands for.
    pub name: String,
    /// The smallest size.
    pub low: u64,
    /// The size that is tuned for.
    pub high: u64,
    /// The exponent of the work, if it is told.
    pub exponent: Option<f64>,
}

impl SizeRange {
    /// Reads it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not as `N in 256..8192` or `N in 256..8192, work N^3`");
        let (range, work) = text.split_once(',').map_or((text, None), |(range, work)| (range, Some(work)));
        let (name, range) = range.split_once(" in ").ok_or_else(wrong)?;
        let name = name.trim().to_owned();
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(wrong());
        }
        let (low, high) = range.split_once("..").ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
        let (low, high) = (number(low)?, number(high.trim_start_matches('='))?);
        if low == 0 || high < low {
            return Err(format!("`{text}`: the sizes begin above zero and end with the largest"));
        }
        let exponent = work.map(|work| {
            let rest = work.trim().strip_prefix("work").ok_or_else(wrong)?.trim();
            let rest = rest.strip_prefix(&name).ok_or_else(wrong)?;
            let exponent = if rest.is_empty() { "1" } else { rest.strip_prefix('^').ok_or_else(wrong)? };
            exponent.parse::<f64>().ok().filter(|power| power.is_finite() && *power > 0.0).ok_or_else(wrong)
        });
        Ok(Self { name, low, high, exponent: exponent.transpose()? })
    }

    /// The sizes that are tried: doubled from the smallest one, or in a wide range four times as large each, and the largest.
    #[must_use]
    pub fn sizes(&self) -> Vec<u64> {
        let grown = |factor: u64| {
            let sizes = std::iter::successors(Some(self.low), move |size| size.checked_mul(factor));
            sizes.take_while(|size| *size < self.high).chain([self.high]).collect::<Vec<u64>>()
        };
        Some(grown(2)).filter(|sizes| sizes.len() <= MOST_SIZES).unwrap_or_else(|| grown(4))
    }

    /// A command with the size in the place of `{N}`.
    #[must_use]
    pub fn substituted(&self, command: &str, size: u64) -> String {
        command.replace(&format!("{{{}}}", self.name), &size.to_string())
    }

    /// Is the size named in a command?
    #[must_use]
    pub fn is_named_in(&self, command: &str) -> bool {
        command.contains(&format!("{{{}}}", self.name))
    }
}

/// The throughput of sizes, and the one from which on the device is saturated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saturation {
    /// The size to search at.
    pub size: u64,
    /// The exponent of the work.
    pub exponent: f64,
    /// Each size with its time in microseconds and its part of the greatest throughput.
    pub curve: Vec<(u64, f64, f64)>,
}

/// The smallest size within 10 % of the greatest throughput. Where the exponent of the work is not told, it is that by which time grows at
/// last, but at least one, rounded up to a whole number unless it is near to one: too much work makes small sizes look worse than they are,
/// which only costs time. `None` without times.
#[must_use]
pub fn saturation(times: &[(u64, f64)], exponent: Option<f64>) -> Option<Saturation> {
    let exponent = exponent.unwrap_or_else(|| growth(times));
    let throughput = |(size, time): &(u64, f64)| number(*size).powf(exponent) / time.max(f64::MIN_POSITIVE);
    let greatest = times.iter().map(throughput).fold(0.0, f64::max);
    let part = |one: &(u64, f64)| if greatest > 0.0 { throughput(one) / greatest } else { 0.0 };
    let size = times.iter().find(|one| part(one) >= SATURATED)?.0;
    let curve = times.iter().map(|one| (one.0, one.1, part(one))).collect();
    Some(Saturation { size, exponent, curve })
}

fn growth(times: &[(u64, f64)]) -> f64 {
    let [.., (small, before), (large, after)] = times else { return 1.0 };
    let grown = (after / before).ln() / (number(*large) / number(*small)).ln();
    if !grown.is_finite() {
        return 1.0;
    }
    let whole = if (grown - grown.round()).abs() <= NEAR { grown.round() } else { grown.ceil() };
    whole.max(1.0)
}

#[expect(clippy::cast_precision_loss, reason = "sizes of problems")]
fn number(size: u64) -> f64 {
    size as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_read() {
        let range = SizeRange::parse("N in 256..8192").unwrap();
        assert_eq!((range.low, range.high, range.exponent), (256, 8192, None));
        assert_eq!(range.sizes(), [256, 512, 1024, 2048, 4096, 8192]);
        assert_eq!(SizeRange::parse("N in 64..16384").unwrap().sizes(), [64, 256, 1024, 4096, 16_384]);
        assert_eq!(range.substituted("./app {N} {N}", 512), "./app 512 512");
        assert!(range.is_named_in("./app {N}") && !range.is_named_in("./app {M}"));
        assert_eq!(SizeRange::parse("rows in 3..=10, work rows^2.5").unwrap().exponent, Some(2.5));
        assert_eq!(SizeRange::parse("rows in 3..10, work rows").unwrap().sizes(), [3, 6, 10]);
        for wrong in ["N 1..2", "N in 5", "N in 0..4", "N in 9..4", " in 1..2", "N in 1..2, work M", "N in 1..2, N^3"] {
            assert!(SizeRange::parse(wrong).is_err(), "{wrong}");
        }
    }

    /// A launch costs 10, and each element of a square matrix 0.001 from 512 on; smaller ones do not fill the device.
    #[test]
    fn the_plateau_is_found() {
        let time = |size: u64| 10.0 + number(size).powi(2) * if size < 512 { 0.01 } else { 0.001 };
        let times: Vec<(u64, f64)> = [64, 128, 256, 512, 1024, 2048].map(|size| (size, time(size))).to_vec();
        let found = saturation(&times, None).unwrap();
        assert!((found.exponent - 2.0).abs() < 1e-9);
        assert_eq!(found.size, 512);
        assert_eq!(found.curve.len(), 6);
        assert!(saturation(&[], None).is_none());
    }

    #[test]
    fn without_a_plateau_the_largest_is_taken() {
        // Time does not grow with the work that is told: each size has a greater throughput than those before.
        let times: Vec<(u64, f64)> = [64, 128, 256].map(|size| (size, 10.0)).to_vec();
        assert_eq!(saturation(&times, Some(1.0)).unwrap().size, 256);
    }
}
