//! How many tiles there are, and from how many bytes on they pay: by the model of `device/overlap` if a device is
//! given, otherwise as measured on an NVIDIA H200.

use std::collections::BTreeSet;

use crate::analysis::accesses::accesses;
use crate::analysis::kernel_shape::kernel_shape;
use crate::context::{Context, PinnedMemory};
use crate::device::choice::plain_launch;
use crate::device::overlap::{Copies, LoopStages, Stages};
use crate::device::time::predict;
use crate::device::{DeviceProfile, KernelResources};
use crate::plan::{Detail, Reason, ReasonCode};
use crate::region::loop_nest::CanonicalLoopNest;
use crate::transforms::host_copies::host_values::HostValues;
use crate::transforms::pipeline_loop::allocation::Locking;
use crate::transforms::pipeline_loop::decision::{assumed_elements, degree, rank};
use crate::transforms::pipeline_loop::maps::{Mapped, Tiled};
use crate::transforms::pipeline_loop::{Pipeline, read};

/// Tiles of a pipeline, and the least bytes of its largest array, if no device is given.
const TILES: u32 = 16;
const LEAST_BYTES: u64 = 32 << 20;
/// Tiles for each tile that is on the device at a time.
const TILES_OF_SLOT: u32 = 4;
/// The array size for which the time of kernels is predicted.
const REFERENCE_BYTES: u32 = 1 << 28;
/// Assumed resources of a kernel, as in the choice of its grid.
const RESOURCES: KernelResources = KernelResources { registers: 32, shared_memory: 0 };
/// The array sizes for which `explain` shows times.
const SHOWN: [u64; 4] = [16 << 20, 64 << 20, 256 << 20, 1 << 30];

/// The number of tiles and the least bytes of the largest array, for a loop with one array that goes to the device and
/// one that comes back.
pub(super) fn usual(cx: &Context<'_>) -> (u32, u64) {
    let both_ways = LoopStages { to_device: 1.0, from_device: 1.0, ..LoopStages::default() };
    let copies = match cx.pipeline.pin {
        PinnedMemory::Stage => Copies::Staged,
        PinnedMemory::Register | PinnedMemory::Allocate => Copies::Registered { bytes: 2.0, arrays: 2 },
        PinnedMemory::None => Copies::Locked,
    };
    let stages = Stages { loops: vec![both_ways], copies, ..Stages::default() };
    chosen(cx, &stages, None)
}

/// The numbers of the options, otherwise those that suit the stages of a loop. `u64::MAX` if tiles never pay.
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

/// Loops that are cut into tiles one after the other, and the other copies.
pub(super) struct Sequence<'s, 'p, 'a> {
    /// The region for which all of them copy.
    pub values: &'s HostValues<'p, 'a>,
    pub loops: Vec<Pipeline<'s, 'a>>,
    /// Arrays that move as a whole: is each copied in, is it copied back?
    pub whole: Vec<(&'s Mapped, bool, bool)>,
}

impl<'s, 'a> Sequence<'s, '_, 'a> {
    /// The number of tiles and the least bytes of the largest array.
    pub(super) fn sizes(&self) -> (u32, u64) {
        let known = self.largest().and_then(|(pipeline, ..)| pipeline.known_bytes());
        chosen(self.values.cx(), &self.stages().unwrap_or_default(), known)
    }

    /// The details for `explain`, with descriptions of the arrays. Empty if no array moves in tiles.
    pub(super) fn details(&self, streams: &[(String, String)]) -> Vec<Detail> {
        if streams.is_empty() {
            return Vec::new();
        }
        let mut details = vec![Detail::head("streams:")];
        details.extend(streams.iter().map(|(name, how)| Detail::inner(format!("{name}: {how}"))));
        let (tiles, least_bytes) = self.sizes();
        let device = self.values.cx().profile;
        let title = device.map_or("an NVIDIA H200, since no device is asked for", |device| device.title.as_str());
        details.push(Detail::head(match least_bytes {
            u64::MAX => format!("sizes for {title}: tiles pay for no size"),
            bytes => format!("sizes for {title}: {tiles} tiles, from {bytes} bytes of the largest array on"),
        }));
        let time = |(device, stages): (&DeviceProfile, Stages)| {
            let rates = &device.transfer;
            SHOWN.map(|bytes| (bytes, stages.whole_ms(rates, bytes), stages.tiled_ms(rates, bytes, tiles)))
        };
        details.extend(device.zip(self.stages()).map(time).into_iter().flatten().map(|(bytes, whole, tiled)| {
            let mib = bytes >> 20;
            Detail::inner(format!(
                "{mib} MiB: {whole:.1} ms as it is, {tiled:.1} ms in tiles, with the page-locking that each run takes"
            ))
        }));
        details
    }

    /// The array with the longest pieces, and its loop.
    fn largest(&self) -> Option<(&Pipeline<'s, 'a>, &Mapped, &Tiled)> {
        let largest = self.loops.iter().rev().filter_map(|pipeline| {
            let (item, tiled) = pipeline.largest()?;
            Some((pipeline, item, tiled))
        });
        largest.max_by_key(|(_, _, tiled)| rank(tiled))
    }

    /// The copies and the computation for each byte of the largest array. Arrays whose length has fewer unknown factors
    /// are neglected, and so are kernels that are not cut into tiles.
    fn stages(&self) -> Option<Stages> {
        let (first, largest, tiled) = self.largest()?;
        let unit = of_piece(tiled, largest);
        let mut stages = Stages::default();
        // Memory that is locked where it is allocated is locked for the original loop, too.
        let moving = || self.loops.iter().flat_map(|pipeline| pipeline.streams());
        let locking = Locking::of(self.values, moving().map(|(item, _)| item), 0);
        let mut locked = BTreeSet::new();
        let mut locked_bytes = 0.0;
        for pipeline in &self.loops {
            // All loops are assumed to have as many iterations, if their numbers are unknown.
            let trips = pipeline.head.trips.zip(first.head.trips).map_or(1.0, |(own, all)| ratio(own, all));
            let mut of_loop = LoopStages::default();
            for (item, tiled) in pipeline.streams() {
                let share = trips * ratio(of_piece(tiled, item), unit);
                of_loop.to_device += if tiled.moves_in { share } else { 0.0 };
                of_loop.from_device += if tiled.moves_out { share } else { 0.0 };
                if locking.is_here(item) && locked.insert(item.key) {
                    locked_bytes += share;
                }
            }
            let kernel = self.values.cx().profile.and_then(|device| pipeline.kernel_ms_per_gb(device, unit));
            of_loop.kernel_ms_per_gb = trips * kernel.unwrap_or(0.0);
            stages.loops.push(of_loop);
        }
        stages.copies = match u32::try_from(locked.len()).unwrap_or(u32::MAX) {
            _ if first.is_staged() => Copies::Staged,
            0 => Copies::Locked,
            arrays => Copies::Registered { bytes: locked_bytes, arrays },
        };
        let most = 1 + degree(&tiled.stream.stride);
        for (item, copied_in, copied_out) in &self.whole {
            let is_large = item.length.as_ref().is_some_and(|length| degree(length) >= most);
            let share = if is_large { ratio(element_bytes(item), element_bytes(largest)) } else { 0.0 };
            stages.shared_to_device += if *copied_in { share } else { 0.0 };
            stages.shared_from_device += if *copied_out { share } else { 0.0 };
        }
        Some(stages)
    }
}

impl<'p, 'a> Pipeline<'p, 'a> {
    /// The pipeline with the sizes that suit its stages.
    pub(super) fn sized(self) -> Self {
        let (tiles, least_bytes) = self.alone().sizes();
        Self { tiles, least_bytes, ..self }
    }

    /// A sequence of this loop only.
    fn alone(&self) -> Sequence<'p, 'p, 'a> {
        let whole = self.items.iter().filter(|item| item.tiled.is_none());
        let whole = whole.map(|item| (item, item.copies_in(), item.copies_out()));
        Sequence { values: self.values, whole: whole.collect(), loops: vec![*self] }
    }

    /// The reason if tiles are predicted to pay for no size.
    pub(super) fn never_pays(&self) -> Option<Reason> {
        let (largest, _) = self.largest().filter(|_| self.least_bytes == u64::MAX)?;
        let device = self.values.cx().profile.map_or("the device", |device| device.title.as_str());
        let much = if self.values.cx().pipeline.pin.locks() { "less than page-locking takes" } else { "too little" };
        let message = format!("on {device} tiles gain {much}, however much is copied");
        Some(Reason::new(ReasonCode::TooLittleToCopy, largest.span, message))
    }

    /// The details for `explain`.
    pub(super) fn details(&self) -> Vec<Detail> {
        self.alone().details(&self.described())
    }

    /// The arrays that move in tiles, each with how it moves.
    pub(super) fn described(&self) -> Vec<(String, String)> {
        let described = self.streams().map(|(item, tiled)| {
            let direction = match (tiled.moves_in, tiled.moves_out) {
                (true, true) => "in and back",
                (true, false) => "in",
                _ => "back",
            };
            let stride = crate::transforms::host_copies::text::sum(&tiled.stream.stride, &self.found.symbols)
                .unwrap_or_default();
            let halo = match (tiled.stream.behind, tiled.stream.ahead) {
                (0, 0) => String::new(),
                (behind, ahead) => format!(", halo of {behind} before and {ahead} behind"),
            };
            let elements = if stride == "1" { "1 element".to_owned() } else { format!("{stride} elements") };
            (item.name.clone(), format!("{direction}, {elements} for each iteration{halo}"))
        });
        described.collect()
    }

    /// Bytes of the largest array, if they are known.
    fn known_bytes(&self) -> Option<u64> {
        let (largest, tiled) = self.largest()?;
        let bytes = self.head.trips?.checked_mul(tiled.stream.stride.as_constant()?)?;
        u64::try_from(bytes.checked_mul(largest.element_bytes?)?).ok()
    }

    /// Milliseconds of the kernel for 10^9 bytes of the largest array, of which an iteration has `bytes_of_iteration`.
    fn kernel_ms_per_gb(&self, device: &DeviceProfile, bytes_of_iteration: i128) -> Option<f64> {
        let cx = self.values.cx();
        let CanonicalLoopNest { loops, .. } = read::nest(self.values).ok()?;
        let promised = loops.len();
        let found = accesses(cx.file, cx.tree, self.values.symbols(), &loops, promised, &[]);
        let shape = kernel_shape(cx.tree, loops.last()?.body, &found, promised)?;
        // A nest that is collapsed has an iteration for each element.
        let (_, tiled) = self.largest()?;
        let elements = if promised > 1 { assumed_elements(&tiled.stream.stride) } else { 1 };
        let bytes = bytes_of_iteration / elements.max(1);
        let iterations = u64::from(REFERENCE_BYTES) / u64::try_from(bytes).ok()?.max(1);
        let microseconds = predict(device, RESOURCES, &shape, iterations.max(1), plain_launch(iterations.max(1)));
        Some(microseconds / 1e3 / (f64::from(REFERENCE_BYTES) / 1e9))
    }
}

fn element_bytes(item: &Mapped) -> i128 {
    item.element_bytes.unwrap_or(8)
}

/// Bytes of an iteration's piece.
fn of_piece(tiled: &Tiled, item: &Mapped) -> i128 {
    assumed_elements(&tiled.stream.stride).saturating_mul(element_bytes(item))
}

#[allow(clippy::cast_precision_loss, reason = "an estimate")]
fn ratio(one: i128, other: i128) -> f64 {
    one as f64 / other.max(1) as f64
}
