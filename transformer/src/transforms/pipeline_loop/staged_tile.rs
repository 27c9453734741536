//! A tile whose copies go through page-locked buffers: functions of the header are called before and after its kernel,
//! and the kernel finds all its data on the device.

use crate::context::PinnedMemory;
use crate::transforms::host_copies::lines::{Line, comment};
use crate::transforms::host_copies::text;
use crate::transforms::pipeline_loop::Pipeline;
use crate::transforms::pipeline_loop::maps::{Mapped, Tiled};
use crate::transforms::pipeline_loop::write::Fresh;

impl Pipeline<'_, '_> {
    /// Do the copies of tiles pass through buffers?
    pub(super) fn is_staged(&self) -> bool {
        self.values.cx().pipeline.pin == PinnedMemory::Stage
    }

    /// The statements of a tile after its bounds.
    pub(super) fn staged_tile(&self, fresh: &Fresh, depth: usize, lines: &mut Vec<Line>) -> Option<()> {
        let directive = |name: &str, clauses| Line::Directive(depth, name.to_owned(), clauses);
        if self.window().is_some() {
            lines.push(directive("target enter data", self.tile_maps(fresh, |_| "alloc")?));
        }
        for (item, tiled) in self.streams().filter(|(_, tiled)| tiled.moves_in) {
            let bounds = self.bounds(fresh, self.range_in(item, tiled));
            lines.push(Line::Code(depth, self.copy("ompsplit_to_device", (item, tiled), &bounds)?));
        }
        if self.reads_neighbours() {
            // Pieces of neighbouring tiles that a tile reads are copied with those tiles. A tile comes here after its
            // own have been copied.
            lines.push(directive("ordered", Vec::new()));
            lines.push(Line::Code(depth, "{".to_owned()));
            let text = "The tiles before this one have been copied to the device.";
            lines.push(Line::Code(depth + 1, comment(self.values.cx(), text)));
            lines.push(Line::Code(depth, "}".to_owned()));
        }
        self.kernel_alone(fresh, depth, lines)?;
        for (item, tiled) in self.streams().filter(|(_, tiled)| tiled.moves_out) {
            let bounds = self.bounds(fresh, self.range_out(item, tiled));
            lines.push(Line::Code(depth, self.copy("ompsplit_from_device", (item, tiled), &bounds)?));
        }
        if self.window().is_some() {
            lines.push(directive("target exit data", self.tile_maps(fresh, |_| "release")?));
        }
        Some(())
    }

    /// Copies the section of an array between two iterations.
    fn copy(&self, function: &str, (item, tiled): (&Mapped, &Tiled), (from, to): &(String, String)) -> Option<String> {
        let stride = text::operand(&text::sum(&tiled.stream.stride, &self.found.symbols)?);
        let name = &item.name;
        Some(match stride.as_str() {
            "1" => format!("{function}(&{name}[{from}], sizeof(*{name}) * ({to} - {from}));"),
            stride => {
                format!(
                    "{function}(&{name}[(ompsplit_size){from} * {stride}], sizeof(*{name}) * ({to} - {from}) * {stride});"
                )
            }
        })
    }
}
