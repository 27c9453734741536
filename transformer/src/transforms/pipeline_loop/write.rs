//! From a checked loop to its tiles.

use std::num::NonZeroU32;

use crate::edit::Edit;
use crate::plan::{Reason, ReasonCode};
use crate::transforms::host_copies::include::include;
use crate::transforms::host_copies::lines::{Form, Line, Maps};
use crate::transforms::host_copies::text;
use crate::transforms::pipeline_loop::allocation::Locking;
use crate::transforms::pipeline_loop::head::Head;
use crate::transforms::pipeline_loop::maps::{Mapped, Place};
use crate::transforms::pipeline_loop::{Pipeline, compiler};
use crate::transforms::two_forms;

/// Host threads that copy and launch: with fewer the stages overlap less, with more they overlap no better
/// (`bench/results/pipeline`).
const THREADS: u32 = 4;
/// Host threads if each also copies its tiles into a buffer and out of it.
const STAGING_THREADS: u32 = 16;

/// What a comment says of the tiles.
pub(super) const TILES_TOLD: &str =
    "Host threads copy and launch, so that copies and kernels of different tiles overlap";

/// The names that the output declares.
pub(super) struct Fresh {
    pub tile: String,
    pub tiles: String,
    pub threads: String,
    pub least: String,
    pub length: String,
    pub first: String,
    pub end: String,
}

impl Pipeline<'_, '_> {
    /// The edits: the region's two forms, and the header's line where it is missing.
    ///
    /// # Errors
    /// Why both forms cannot be written here.
    pub(super) fn edits(&self) -> Result<Vec<Edit>, Vec<Reason>> {
        let region = self.values.region;
        let refuse = |span, message: String| vec![Reason::new(ReasonCode::LoopNotTiled, span, message)];
        let first = region.chain.constructs.first();
        let obstacle = first.and_then(|first| two_forms::cannot_stand_twice(self.values.names, *first, region.extent));
        if let Some((span, what)) = obstacle {
            return Err(refuse(span, format!("the loop cannot stand twice: {what}")));
        }
        compiler::translated(self.values.cx(), region.extent)?;
        let mut edits =
            include(self.values.cx(), region.extent.start).map_err(|message| refuse(region.extent, message))?;
        let no_text = || refuse(region.extent, "the pieces of its arrays have no short expression".to_owned());
        edits.push(self.both_forms().ok_or_else(no_text)?);
        edits.extend(self.locking().edits);
        Ok(edits)
    }

    /// Where the arrays are page-locked.
    pub(super) fn locking(&self) -> Locking {
        Locking::of(self.values, self.streams().map(|(item, _)| item), self.least_bytes)
    }

    pub(super) fn fresh(&self) -> Fresh {
        let fresh = |stem| self.values.names.fresh_in(self.values.extent, stem);
        Fresh {
            tile: fresh("tile"),
            tiles: fresh("TILES"),
            threads: fresh(if self.window().is_some() { "WINDOW" } else { "THREADS" }),
            least: fresh("LEAST_BYTES"),
            length: fresh("tile_length"),
            first: fresh("tile_first"),
            end: fresh("tile_end"),
        }
    }

    pub(super) fn window(&self) -> Option<NonZeroU32> {
        self.values.cx().pipeline.window
    }

    fn both_forms(&self) -> Option<Edit> {
        let construct = *self.values.region.chain.constructs.first()?;
        let fresh = self.fresh();
        let condition = self.condition(&fresh)?;
        let constants = self.constants(&fresh, &condition);
        let form = Form { construct, extent: self.values.region.extent, told: TILES_TOLD, constants, condition };
        let mut lines = Vec::new();
        self.tiles(&fresh, form.depth(), &mut lines)?;
        form.write(self.values.cx(), lines)
    }

    /// The constants of the output.
    pub(super) fn constants(&self, fresh: &Fresh, condition: &[String]) -> Vec<String> {
        let suited = if self.is_staged() { STAGING_THREADS } else { THREADS };
        let threads = self.window().map_or(suited, NonZeroU32::get);
        let mut constants = vec![format!("{} = {}", fresh.tiles, self.tiles), format!("{} = {threads}", fresh.threads)];
        if condition.iter().any(|term| term.contains(&fresh.least)) {
            constants.push(format!("{} = {}", fresh.least, self.least_bytes));
        }
        constants
    }

    /// The conditions that cannot be decided from the text: each tile is as long as the halo, enough is copied, and the
    /// arrays are not on the device already. In a window each tile is mapped, which checks the last condition itself if
    /// it copies. Other threads of a team may map the same arrays: they would find arrays present whose tiles are not
    /// copied yet, or only a part of them.
    fn condition(&self, fresh: &Fresh) -> Option<Vec<String>> {
        let mut terms = self.enough_iterations(fresh)?;
        terms.extend(self.enough_bytes(fresh)?);
        if self.window().is_none() || self.is_staged() {
            terms.extend(self.streams().map(|(item, _)| item.is_absent()));
        } else {
            terms.push("ompsplit_is_alone()".to_owned());
        }
        Some(terms)
    }

    /// The condition that each tile is as long as the halo, and each piece has elements, if that does not follow from
    /// the text.
    pub(super) fn enough_iterations(&self, fresh: &Fresh) -> Option<Vec<String>> {
        let mut terms = Vec::new();
        let Head { first, first_text, end_text, trips_text: trips, named_start, .. } = self.head;
        let asks_start = self.streams().any(|(_, tiled)| self.head.is_asked_to_start(&tiled.from));
        if asks_start {
            terms.push(match named_start {
                Some(true) => format!("{first_text} >= 0"),
                // An end that is computed may have overflowed to a small number.
                _ => format!("{end_text} >= {first_text}"),
            });
        }
        let Some(stride) = self.unknown_stride()? else { return Some(terms) };
        let halo = if self.halo() > 1 { format!("{} * ", self.halo()) } else { String::new() };
        let least = format!("{halo}{}", fresh.tiles);
        // The difference of unsigned bounds is a large number if the loop does not run.
        match !first.is_zero() && trips.contains('-') {
            false => terms.push(format!("{trips} >= {least}")),
            true if first.as_constant().is_some() => {
                terms.push(format!("{end_text} >= {} + {least}", text::operand(first_text)));
            }
            // So the end is first compared with the first value, unless another term already does so.
            true => {
                let is_asked = asks_start && *named_start != Some(true);
                terms.extend((!is_asked).then(|| format!("{end_text} >= {first_text}")));
                terms.push(format!("{trips} >= {least}"));
            }
        }
        if stride.parse::<u64>().is_err() {
            terms.push(format!("{stride} > 0"));
        }
        Some(terms)
    }

    /// The condition that the largest array is large enough, if that does not follow from the text.
    pub(super) fn enough_bytes(&self, fresh: &Fresh) -> Option<Option<String>> {
        let (item, _) = self.largest()?;
        let Some(stride) = self.unknown_stride()? else { return Some(None) };
        let pieces = if stride == "1" { String::new() } else { format!(" * {}", text::operand(&stride)) };
        let trips = text::operand(&self.head.trips_text);
        Some(Some(format!("sizeof(*{}) * {trips}{pieces} >= {}", item.name, fresh.least)))
    }

    /// The stride of the largest array in C, unless the stride and the number of iterations are known.
    fn unknown_stride(&self) -> Option<Option<String>> {
        let (_, tiled) = self.largest()?;
        let stride = &tiled.stream.stride;
        if self.head.trips.is_some() && stride.as_constant().is_some() {
            return Some(None);
        }
        text::sum(stride, &self.found.symbols).map(Some)
    }

    /// The branch in tiles.
    fn tiles(&self, fresh: &Fresh, depth: usize, lines: &mut Vec<Line>) -> Option<()> {
        let code = |text: String| Line::Code(depth, text);
        lines.push(code(self.tile_length(fresh)));
        let locking = self.locking();
        let pinned: Vec<&Mapped> = self.streams().map(|(item, _)| item).filter(|item| locking.is_here(item)).collect();
        lines.extend(pinned.iter().map(|item| code(item.pin())));
        self.tile_loop(fresh, depth, lines)?;
        lines.extend(pinned.iter().map(|item| code(item.unpin())));
        Some(())
    }

    /// How many iterations a tile has.
    pub(super) fn tile_length(&self, fresh: &Fresh) -> String {
        let trips = text::operand(&self.head.trips_text);
        format!("const {} {} = {trips} / {};", self.head.ty, fresh.length, fresh.tiles)
    }

    /// The loop over the tiles.
    pub(super) fn tile_loop(&self, fresh: &Fresh, depth: usize, lines: &mut Vec<Line>) -> Option<()> {
        let code = |text: String| Line::Code(depth, text);
        let Fresh { tile, tiles, threads, .. } = fresh;
        let data = self.data();
        if !data.is_empty() {
            lines.push(Line::Directive(depth, "target data".to_owned(), data));
        }
        let ordered = if self.reads_neighbours() { "ordered " } else { "" };
        let has_choice = self.is_staged() && self.window().is_none();
        let threads = if has_choice { format!("ompsplit_threads({threads})") } else { threads.clone() };
        let clauses = [format!("num_threads({threads})"), format!("{ordered}schedule(static, 1)")];
        lines.push(Line::Directive(depth, "parallel for".to_owned(), clauses.to_vec()));
        lines.push(code(format!("for (int {tile} = 0; {tile} < {tiles}; {tile}++) {{")));
        self.tile(fresh, depth + 1, lines)?;
        lines.push(code("}".to_owned()));
        Some(())
    }

    /// The clauses of the data environment around all tiles.
    fn data(&self) -> Vec<String> {
        let mut maps = Maps::default();
        for item in self.items {
            match &item.tiled {
                _ if item.place != Place::Loop => {}
                Some(_) if self.window().is_some() => {}
                Some(_) => maps.add("alloc", item.text.clone()),
                None => maps.add(&item.map_type, item.text.clone()),
            }
        }
        for name in self.reductions_without_map() {
            maps.add("tofrom", name);
        }
        maps.clauses()
    }
}
