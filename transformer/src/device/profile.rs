//! Device profiles: data files with their sources, and those of a user.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::TransferRates;

/// What the heuristics need to know of a device. The words are CUDA's; on an AMD device a streaming multiprocessor (SM)
/// is a compute unit, a warp a wavefront, and shared memory the local data share.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceProfile {
    /// What `--device` takes.
    pub name: String,
    /// The product's name.
    pub title: String,
    /// Streaming multiprocessors.
    pub sm_count: u32,
    /// The most threads that an SM holds at once.
    pub threads_per_sm: u32,
    /// 32-bit registers of an SM.
    pub registers_per_sm: u32,
    /// Bytes of shared memory of an SM.
    pub shared_memory_per_sm: u32,
    /// The most blocks that an SM holds at once.
    pub blocks_per_sm: u32,
    /// Threads of a warp.
    pub warp_size: u32,
    /// The most threads of a block.
    pub threads_per_block_limit: u32,
    /// The threads of a block that suit most kernels. Measured if the file says so, otherwise the number that compilers
    /// take.
    pub preferred_threads_per_block: u32,
    /// Bytes of cache lines that uncoalesced accesses of the threads of an SM may keep in flight before they evict each
    /// other. `None` if it was not measured.
    #[serde(default)]
    pub uncoalesced_capacity: Option<u32>,
    /// A short loop with uncoalesced accesses is spread over this many blocks for each SM before a block gets more
    /// threads. By default one, as in Lloyd 2018.
    #[serde(default = "one")]
    pub short_loop_blocks_per_sm: u32,
    /// The threads of a block if its iterations do little but uncoalesced accesses. By default a warp.
    #[serde(default)]
    pub uncoalesced_threads_per_block: Option<u32>,
    /// The blocks for each SM that are enough for a loop that reads each element once. By default as many as are
    /// resident.
    #[serde(default)]
    pub memory_blocks_per_sm: Option<u32>,
    /// The threads of a block of a loop that does little but sum up. `None` if it was not measured.
    #[serde(default)]
    pub reduction_threads_per_block: Option<u32>,
    /// How many iterations of a serial loop become one if each loads one element of a row that the thread has for
    /// itself. `None` if it was not measured.
    #[serde(default)]
    pub unrolled_rows: Option<u32>,
    /// How many iterations become one if each loads one element of the thread's own and one that all threads of a warp
    /// share.
    #[serde(default)]
    pub unrolled_products: Option<u32>,
    /// How many iterations of an outer loop become one if each iteration of its inner loop, which may run only once,
    /// loads one element.
    #[serde(default)]
    pub unrolled_around: Option<u32>,
    /// Bytes of the cache that all SMs share.
    pub l2_bytes: u64,
    /// Bytes of the device's memory: for several products of one name, those of the smallest.
    #[serde(default)]
    pub memory_bytes: Option<u64>,
    /// Does the device work on the host's memory itself, so that nothing travels between them?
    #[serde(default)]
    pub shares_host_memory: bool,
    /// Peak rate of the device's memory in 10^9 bytes a second.
    pub memory_gb_per_s: f64,
    /// The bus between the host and the device. By default a common one.
    #[serde(default)]
    pub transfer: TransferRates,
}

fn one() -> u32 {
    1
}

/// The shipped files, oldest device first.
const FILES: &[&str] = &[
    include_str!("profiles/gtx-480.toml"),
    include_str!("profiles/k40.toml"),
    include_str!("profiles/titan-x-pascal.toml"),
    include_str!("profiles/p100.toml"),
    include_str!("profiles/v100.toml"),
    include_str!("profiles/a100.toml"),
    include_str!("profiles/l40s.toml"),
    include_str!("profiles/h100.toml"),
    include_str!("profiles/h200.toml"),
    include_str!("profiles/mi250x.toml"),
];

/// The device by which gains are predicted where none is given.
const STAND_IN: &str = "h200";

impl DeviceProfile {
    /// The device by which gains are predicted where none is given: the one on which the times were measured.
    #[must_use]
    pub fn stand_in() -> Option<&'static Self> {
        static PROFILE: OnceLock<Option<DeviceProfile>> = OnceLock::new();
        PROFILE.get_or_init(|| Self::named(STAND_IN)).as_ref()
    }

    /// Reads a profile.
    ///
    /// # Errors
    ///
    /// What is wrong with the text: its syntax, a key that is missing or unknown, or a number that no device has.
    pub fn parse(text: &str) -> Result<Self, String> {
        let profile: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        let counts = [
            ("sm_count", profile.sm_count),
            ("threads_per_sm", profile.threads_per_sm),
            ("registers_per_sm", profile.registers_per_sm),
            ("shared_memory_per_sm", profile.shared_memory_per_sm),
            ("blocks_per_sm", profile.blocks_per_sm),
            ("warp_size", profile.warp_size),
            ("threads_per_block_limit", profile.threads_per_block_limit),
            ("preferred_threads_per_block", profile.preferred_threads_per_block),
            ("short_loop_blocks_per_sm", profile.short_loop_blocks_per_sm),
            ("uncoalesced_threads_per_block", profile.uncoalesced_threads_per_block.unwrap_or(1)),
            ("memory_blocks_per_sm", profile.memory_blocks_per_sm.unwrap_or(1)),
            ("unrolled_rows", profile.unrolled_rows.unwrap_or(1)),
            ("unrolled_products", profile.unrolled_products.unwrap_or(1)),
            ("unrolled_around", profile.unrolled_around.unwrap_or(1)),
            ("reduction_threads_per_block", profile.reduction_threads_per_block.unwrap_or(1)),
        ];
        if let Some((key, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(format!("`{key}` must be at least 1"));
        }
        if profile.preferred_threads_per_block > profile.threads_per_block_limit {
            return Err("`preferred_threads_per_block` is more than `threads_per_block_limit`".to_owned());
        }
        if let Some(key) = profile.transfer.wrong_key() {
            return Err(format!("`{key}` in [transfer] must be a number above zero"));
        }
        Ok(profile)
    }

    /// Every shipped profile, oldest device first.
    #[must_use]
    pub fn shipped() -> Vec<Self> {
        FILES.iter().filter_map(|text| Self::parse(text).ok()).collect()
    }

    /// The shipped profile with this name, in upper or lower case.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::shipped().into_iter().find(|profile| profile.name.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_file_is_a_profile_with_a_source() {
        for text in FILES {
            let profile = DeviceProfile::parse(text);
            assert!(profile.is_ok(), "{profile:?}\n{text}");
            assert!(text.starts_with("# "), "{text}");
        }
        assert_eq!(DeviceProfile::shipped().len(), FILES.len());
    }

    #[test]
    fn names_are_unique_and_found_in_any_case() {
        let names: std::collections::BTreeSet<_> = DeviceProfile::shipped().into_iter().map(|it| it.name).collect();
        assert_eq!(names.len(), FILES.len());
        assert!(names.iter().all(|name| DeviceProfile::named(&name.to_uppercase()).is_some()));
        assert_eq!(DeviceProfile::named("h201"), None);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let text = FILES[0];
        let error = |text: &str| DeviceProfile::parse(text).map(|profile| profile.name).unwrap_or_else(|error| error);
        assert!(error(&text.replace("sm_count = 15", "sm_count = 0")).contains("`sm_count`"));
        assert!(error(&text.replace("sm_count", "sms")).contains("sms"));
        assert!(error(&text.replace("sm_count = 15\n", "")).contains("sm_count"));
        assert!(
            error(&text.replace("preferred_threads_per_block = 128", "preferred_threads_per_block = 4096"))
                .contains("more")
        );
        assert!(error(&text.replace("pin_us = 120.0", "pin_us = -1.0")).contains("`pin_us` in [transfer]"));
        assert!(error(&text.replace("pin_us = 120.0", "pin_us = nan")).contains("`pin_us`"));
        assert!(error(&text.replace("pin_us = 120.0\n", "")).contains("pin_us"));
    }
}
