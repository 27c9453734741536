//! How many tiles there are, and from how many bytes on they pay: by the model of `device/overlap` where a device is asked for, as
//! measured on an NVIDIA H200 otherwise.

use crate::analysis::accesses::accesses;
use crate::analysis::kernel_shape::kernel_shape;
use crate::device::choice::plain_launch;
use crate::device::overlap::Stages;
use crate::device::time::predict;
use crate::device::{DeviceProfile, KernelResources};
use crate::region::loop_nest::CanonicalLoopNest;
use crate::transforms::pipeline_loop::allocation::Locking;
use crate::transforms::pipeline_loop::decision::{assumed_elements, degree};
use crate::transforms::pipeline_loop::maps::Mapped;
use crate::transforms::pipeline_loop::{Pipeline, read};
use crate::transforms::{Context, PinnedMemory};

/// Tiles of a pipeline, and the bytes of its largest array from which on it pays, where no device is asked for.
const TILES: u32 = 16;
const LEAST_BYTES: u64 = 32 << 20;
/// Tiles for each that is on the device at a time.
const TILES_OF_SLOT: u32 = 4;
/// The array by which kernels are measured.
const REFERENCE_BYTES: u32 = 1 << 28;
/// What a kernel is taken to need, as for the choice of its grid.
const RESOURCES: KernelResources = KernelResources { registers: 32, shared_memory: 0 };
/// The array sizes that people are shown times for.
const SHOWN: [u64; 4] = [16 << 20, 64 << 20, 256 << 20, 1 << 30];

/// What is known of a loop that can be cut into tiles.
#[derive(Clone, Debug)]
pub struct PipelineFigures {
    /// The arrays that move in tiles, each with how it moves.
    pub streams: Vec<(String, String)>,
    /// How many tiles there are.
    pub tiles: u32,
    /// From how many bytes of the largest array on; none where tiles never pay.
    pub least_bytes: Option<u64>,
    /// The device that the sizes are for, where one is asked for.
    pub device: Option<String>,
    /// Bytes of the largest array, predicted milliseconds of the loop as it is, and in tiles; none without a device.
    pub times: Vec<(u64, f64, f64)>,
}

/// How many tiles there are, and from how many bytes of the largest array on: of a loop with an array that goes to the device and one
/// that comes back.
pub(super) fn usual(cx: &Context<'_>) -> (u32, u64) {
    let locked = if cx.pipeline.pin == PinnedMemory::None { 0 } else { 2 };
    let stages = Stages {
        to_device: 1.0,
        from_device: 1.0,
        locked: f64::from(locked),
        locked_arrays: locked,
        ..Stages::default()
    };
    chosen(cx, &stages, None)
}

/// What the flags say, otherwise what suits the stages of a loop. `u64::MAX` where tiles never pay.
fn chosen(cx: &Context<'_>, stages: &Stages, bytes: Option<u64>) -> (u32, u64) {
    let options = cx.pipeline;
    let (suited, least) = match cx.profile.map(|device| &device.transfer) {
        None => (TILES, Some(LEAST_BYTES)),
        Some(rates) => {
            let tiles = bytes.map_or_else(|| stages.usual_tiles(rates), |bytes| stages.tiles(rates, bytes));
            (tiles, stages.pays_from(rates))
        }
    };
    let in_window = options.window.map_or(0, |window| window.get().saturating_mul(TILES_OF_SLOT));
    let tiles = options.tiles.map_or(suited.max(in_window), |tiles| tiles.get());
    (tiles, options.least_bytes.or(least).unwrap_or(u64::MAX))
}

impl Pipeline<'_, '_> {
    /// The same with the sizes that suit its stages.
    pub(super) fn sized(self) -> Self {
        let stages = self.stages().unwrap_or_default();
        let (tiles, least_bytes) = chosen(self.values.cx(), &stages, self.known_bytes());
        Self { tiles, least_bytes, ..self }
    }

    /// Is it predicted that tiles pay for no size?
    pub(super) fn never_pays(&self) -> bool {
        self.least_bytes == u64::MAX
    }

    /// The device that the sizes are for.
    pub(super) fn asked_device(&self) -> Option<&DeviceProfile> {
        self.values.cx().profile
    }

    pub(super) fn figures(&self) -> PipelineFigures {
        let tiles = self.tiles;
        let streams = self.streams().map(|(item, tiled)| {
            let direction = match (tiled.moves_in, tiled.moves_out) {
                (true, true) => "in and back",
                (true, false) => "in",
                _ => "back",
            };
            let stride = super::text::sum(&tiled.stream.stride, &self.found.symbols).unwrap_or_default();
            let halo = match (tiled.stream.behind, tiled.stream.ahead) {
                (0, 0) => String::new(),
                (behind, ahead) => format!(", halo of {behind} before and {ahead} behind"),
            };
            let elements = if stride == "1" { "1 element".to_owned() } else { format!("{stride} elements") };
            (item.name.clone(), format!("{direction}, {elements} for each iteration{halo}"))
        });
        let time = |(device, stages): (&DeviceProfile, Stages)| {
            let rates = &device.transfer;
            let of_size = |bytes| (bytes, stages.whole_ms(rates, bytes), stages.tiled_ms(rates, bytes, tiles));
            SHOWN.into_iter().map(of_size).collect()
        };
        PipelineFigures {
            streams: streams.collect(),
            tiles,
            least_bytes: Some(self.least_bytes).filter(|_| !self.never_pays()),
            device: self.asked_device().map(|device| device.title.clone()),
            times: self.asked_device().zip(self.stages()).map(time).unwrap_or_default(),
        }
    }

    /// Bytes of the largest array, where the text tells.
    fn known_bytes(&self) -> Option<u64> {
        let (largest, tiled) = self.largest()?;
        let bytes = self.head.trips?.checked_mul(tiled.stream.stride.as_constant()?)?;
        u64::try_from(bytes.checked_mul(largest.element_bytes?)?).ok()
    }

    /// What is copied for each byte of the largest array. Arrays of a lower degree of unknown sizes count as nothing.
    fn stages(&self) -> Option<Stages> {
        let (largest, tiled) = self.largest()?;
        let bytes = |item: &Mapped| item.element_bytes.unwrap_or(8);
        let of_piece = |elements: i128, item: &Mapped| elements.saturating_mul(bytes(item));
        let unit = of_piece(assumed_elements(&tiled.stream.stride), largest);
        let mut stages = Stages::default();
        // Memory that is locked where it is allocated is locked for the loop as it is, too.
        let locking = Locking::of(self.values, self.streams().map(|(item, _)| item), 0);
        for (item, tiled) in self.streams() {
            let share = ratio(of_piece(assumed_elements(&tiled.stream.stride), item), unit);
            stages.to_device += if tiled.moves_in { share } else { 0.0 };
            stages.from_device += if tiled.moves_out { share } else { 0.0 };
            if locking.is_here(item) {
                stages.locked += share;
                stages.locked_arrays += 1;
            }
        }
        let most = 1 + degree(&tiled.stream.stride);
        for item in self.items.iter().filter(|item| item.tiled.is_none()) {
            let is_large = item.length.as_ref().is_some_and(|length| degree(length) >= most);
            let share = if is_large { ratio(bytes(item), bytes(largest)) } else { 0.0 };
            stages.shared_to_device += if item.copies_in() { share } else { 0.0 };
            stages.shared_from_device += if item.copies_out() { share } else { 0.0 };
        }
        stages.kernel_ms_per_gb =
            self.asked_device().and_then(|device| self.kernel_ms_per_gb(device, unit)).unwrap_or(0.0);
        Some(stages)
    }

    /// Milliseconds of the kernel for 10^9 bytes of the largest array, of which an iteration has so many.
    fn kernel_ms_per_gb(&self, device: &DeviceProfile, bytes_of_iteration: i128) -> Option<f64> {
        let cx = self.values.cx();
        let CanonicalLoopNest { loops, .. } = read::nest(self.values).ok()?;
        let promised = loops.len();
        let found = accesses(cx.file, cx.tree, self.values.symbols(), &loops, promised, &[]);
        let shape = kernel_shape(cx.tree, loops.last()?.body, &found, promised)?;
        // A nest that is taken together has an iteration for each element.
        let (largest, _) = self.largest()?;
        let bytes = if promised > 1 { largest.element_bytes.unwrap_or(8) } else { bytes_of_iteration };
        let iterations = u64::from(REFERENCE_BYTES) / u64::try_from(bytes).ok()?.max(1);
        let microseconds = predict(device, RESOURCES, &shape, iterations.max(1), plain_launch(iterations.max(1)));
        Some(microseconds / 1e3 / (f64::from(REFERENCE_BYTES) / 1e9))
    }
}

#[allow(clippy::cast_precision_loss, reason = "an estimate")]
fn ratio(one: i128, other: i128) -> f64 {
    one as f64 / other.max(1) as f64
}
