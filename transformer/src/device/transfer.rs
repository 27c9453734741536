//! How fast data move between the host and a device, and how long it takes to page-lock memory.

use serde::{Deserialize, Serialize};

/// Rates in 10^9 bytes a second and costs of one device on the bus of its machine.
///
/// Memory that is not page-locked is first copied by the processor into page-locked memory, one copy at a time and
/// never while a kernel runs.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TransferRates {
    /// From page-locked memory to the device.
    pub to_device_gb_per_s: f64,
    /// From the device to page-locked memory.
    pub from_device_gb_per_s: f64,
    /// The rate in each direction if page-locked memory is copied in both at the same time, as pipelines of 16 tiles
    /// reach it.
    pub both_ways_gb_per_s: f64,
    /// From memory that is not page-locked to the device.
    pub pageable_to_device_gb_per_s: f64,
    /// From the device to memory that is not page-locked.
    pub pageable_from_device_gb_per_s: f64,
    /// Milliseconds to register 10^9 bytes that are in memory already.
    pub pin_ms_per_gb: f64,
    /// Milliseconds to unregister 10^9 bytes.
    pub unpin_ms_per_gb: f64,
    /// Microseconds to register and unregister memory, however small it is.
    pub pin_us: f64,
    /// Microseconds that each tile of a pipeline adds where the copies are short; they vanish behind long ones.
    pub tile_us: f64,
    /// Both directions together if the threads of the host copy through page-locked buffers; the host's memory limits
    /// it. By default what was measured with 16 threads beside an NVIDIA H200.
    #[serde(default = "staged_gb_per_s")]
    pub staged_gb_per_s: f64,
    /// `tile_us` for tiles that pass through buffers.
    #[serde(default = "staged_tile_us")]
    pub staged_tile_us: f64,
}

fn staged_gb_per_s() -> f64 {
    45.0
}

fn staged_tile_us() -> f64 {
    60.0
}

impl Default for TransferRates {
    /// A bus of PCI Express 4.0 with 16 lanes.
    fn default() -> Self {
        Self {
            to_device_gb_per_s: 26.0,
            from_device_gb_per_s: 26.0,
            both_ways_gb_per_s: 20.0,
            pageable_to_device_gb_per_s: 8.0,
            pageable_from_device_gb_per_s: 10.0,
            pin_ms_per_gb: 40.0,
            unpin_ms_per_gb: 17.0,
            pin_us: 120.0,
            tile_us: 32.0,
            staged_gb_per_s: staged_gb_per_s(),
            staged_tile_us: staged_tile_us(),
        }
    }
}

impl TransferRates {
    /// The first key with a value that no bus has.
    pub(super) fn wrong_key(&self) -> Option<&'static str> {
        let rates = [
            ("to_device_gb_per_s", self.to_device_gb_per_s),
            ("from_device_gb_per_s", self.from_device_gb_per_s),
            ("both_ways_gb_per_s", self.both_ways_gb_per_s),
            ("pageable_to_device_gb_per_s", self.pageable_to_device_gb_per_s),
            ("pageable_from_device_gb_per_s", self.pageable_from_device_gb_per_s),
            ("staged_gb_per_s", self.staged_gb_per_s),
        ];
        let costs = [
            ("pin_ms_per_gb", self.pin_ms_per_gb),
            ("unpin_ms_per_gb", self.unpin_ms_per_gb),
            ("pin_us", self.pin_us),
            ("tile_us", self.tile_us),
            ("staged_tile_us", self.staged_tile_us),
        ];
        let no_rate = rates.iter().find(|(_, rate)| !(rate.is_finite() && *rate > 0.0));
        let no_cost = costs.iter().find(|(_, cost)| !(cost.is_finite() && *cost >= 0.0));
        no_rate.or(no_cost).map(|(key, _)| *key)
    }
}
