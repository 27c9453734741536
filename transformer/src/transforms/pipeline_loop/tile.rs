//! One tile of a loop: its copies and its kernel.

use crate::analysis::polynomial::Polynomial;
use crate::edit::Edit;
use crate::edit::directive_writer::on_one_line;
use crate::syntax::ClauseName;
use crate::transforms::host_copies::lines::{Line, Maps};
use crate::transforms::host_copies::text;
use crate::transforms::pipeline_loop::Pipeline;
use crate::transforms::pipeline_loop::head::Head;
use crate::transforms::pipeline_loop::maps::{Mapped, Place, Tiled};
use crate::transforms::pipeline_loop::write::Fresh;
use crate::transforms::two_forms;

/// Only one kernel at a time combines its results.
const CRITICAL: &str = "critical(ompsplit_reduction)";

/// Pieces that are copied for a tile in addition to its own: the section's first and last iteration, and how far ahead.
type Range<'r> = (&'r Polynomial, &'r Polynomial, u32);

impl Pipeline<'_, '_> {
    /// One tile: copies to the device, the kernel, copies back. If nothing has to happen in between, the maps of the
    /// kernel do all copies.
    pub(super) fn tile(&self, fresh: &Fresh, depth: usize, lines: &mut Vec<Line>) -> Option<()> {
        let bounds = self.tile_bounds(fresh).into_iter().chain(self.copy_bounds(fresh)?);
        lines.extend(bounds.map(|text| Line::Code(depth, text)));
        if self.is_staged() {
            return self.staged_tile(fresh, depth, lines);
        }
        let is_reduced = !self.reductions().is_empty();
        let directive = |name: &str, clauses| Line::Directive(depth, name.to_owned(), clauses);
        if self.window().is_some() && is_reduced {
            let enter = |tiled: &Tiled| if tiled.moves_in { "to" } else { "alloc" };
            lines.push(directive("target enter data", self.tile_maps(fresh, enter)?));
        } else if self.copies_before() && self.reads_neighbours() {
            // Pieces of neighbouring tiles that a tile reads are copied with those tiles: first the tiles before it,
            // then some ahead.
            lines.push(directive("ordered", Vec::new()));
            lines.push(Line::Code(depth, "{".to_owned()));
            lines.push(Line::Directive(depth + 1, "target update".to_owned(), self.update(fresh)?));
            lines.push(Line::Code(depth, "}".to_owned()));
        } else if self.copies_before() {
            lines.push(directive("target update", self.update(fresh)?));
        }
        self.kernel_alone(fresh, depth, lines)?;
        if self.window().is_some() && is_reduced {
            let exit = |tiled: &Tiled| if tiled.moves_out { "from" } else { "release" };
            lines.push(directive("target exit data", self.tile_maps(fresh, exit)?));
        }
        Some(())
    }

    /// The kernel of a tile, never at the same time as another one that combines the same results.
    pub(super) fn kernel_alone(&self, fresh: &Fresh, depth: usize, lines: &mut Vec<Line>) -> Option<()> {
        if !self.reductions().is_empty() {
            lines.push(Line::Directive(depth, CRITICAL.to_owned(), Vec::new()));
        }
        self.kernel(fresh, depth, lines)
    }

    /// Does a separate directive copy what a tile reads, before the kernel?
    fn copies_before(&self) -> bool {
        let moves_in = self.streams().any(|(_, tiled)| tiled.moves_in);
        self.window().is_none() && moves_in && (self.reads_neighbours() || !self.reductions().is_empty())
    }

    pub(super) fn reads_neighbours(&self) -> bool {
        self.streams().any(|(_, tiled)| tiled.moves_in && tiled.has_halo())
    }

    /// A construct maps its reduction items `tofrom` (OpenMP 5.2, section 5.8.1).
    pub(super) fn reductions_without_map(&self) -> Vec<String> {
        self.reductions().into_iter().filter(|name| !self.items.iter().any(|item| item.name == *name)).collect()
    }

    fn reductions(&self) -> Vec<String> {
        let cx = self.values.cx();
        let directives = self.values.region.chain.constructs.iter().map(|id| cx.constructs.directive(*id));
        let clauses = directives.flat_map(|directive| directive.clauses_of(ClauseName::Reduction));
        clauses.flat_map(|clause| clause.items()).filter_map(|item| item.base.clone()).collect()
    }

    fn tile_bounds(&self, fresh: &Fresh) -> Vec<String> {
        let Fresh { tile, tiles, length, first, end, .. } = fresh;
        let Head { ty, first_text, end_text, .. } = self.head;
        let start = if self.head.first.is_zero() { String::new() } else { format!("{} + ", text::operand(first_text)) };
        vec![
            format!("const {ty} {first} = {start}{tile} * {length};"),
            format!("const {ty} {end} = {tile} + 1 < {tiles} ? {first} + {length} : {end_text};"),
        ]
    }

    /// The bounds of the copies for a tile, if they are not those of its iterations.
    fn copy_bounds(&self, fresh: &Fresh) -> Option<Vec<String>> {
        let Fresh { tile, tiles, first, end, .. } = fresh;
        let ty = &self.head.ty;
        let of_range = |range: Range<'_>| {
            let (from, to) = self.names_of_range(fresh, range);
            let text = |value| text::narrow_sum(value, &self.found.symbols);
            let ahead = if range.2 == 0 { String::new() } else { format!(" + {}", range.2) };
            Some([
                format!("const {ty} {from} = {tile} > 0 ? {first}{ahead} : {};", text(range.0)?),
                format!("const {ty} {to} = {tile} + 1 < {tiles} ? {end}{ahead} : {};", text(range.1)?),
            ])
        };
        let bounds = self.ranges().into_iter().map(of_range).collect::<Option<Vec<_>>>()?;
        Some(bounds.into_iter().flatten().collect())
    }

    /// The different ranges of the copies.
    fn ranges(&self) -> Vec<Range<'_>> {
        let mut ranges = Vec::new();
        for (item, tiled) in self.streams() {
            for range in [self.range_in(item, tiled), self.range_out(item, tiled)].into_iter().flatten() {
                if !ranges.contains(&range) {
                    ranges.push(range);
                }
            }
        }
        ranges
    }

    /// The range that is copied to the device, if it is larger than the tile's own pieces.
    pub(super) fn range_in<'r>(&self, item: &Mapped, tiled: &'r Tiled) -> Option<Range<'r>> {
        let is_wider = tiled.moves_in && (self.reads_neighbours() || self.leaves_elements(item, tiled));
        is_wider.then_some((&tiled.from, &tiled.to, tiled.stream.ahead))
    }

    /// The range that is copied back, if it is larger than the tile's own pieces.
    pub(super) fn range_out<'r>(&self, item: &Mapped, tiled: &'r Tiled) -> Option<Range<'r>> {
        (tiled.moves_out && self.leaves_elements(item, tiled)).then_some((&tiled.from, &tiled.to, 0))
    }

    /// Are there elements that belong to no iteration, and that other loops may have read or written?
    fn leaves_elements(&self, item: &Mapped, tiled: &Tiled) -> bool {
        item.place != Place::Loop && (tiled.from != self.head.first || tiled.to != self.head.end)
    }

    fn names_of_range(&self, fresh: &Fresh, range: Range<'_>) -> (String, String) {
        let index = self.ranges().into_iter().position(|other| other == range).unwrap_or_default();
        let name = |stem: &str| {
            let free = |stem: &str| self.values.names.fresh_in(self.values.extent, stem);
            let first = free(&format!("{}_{stem}", fresh.tile));
            if index == 0 { first } else { free(&format!("{first}_{}", index + 1)) }
        };
        (name("from"), name("to"))
    }

    /// The update before a tile's kernel.
    fn update(&self, fresh: &Fresh) -> Option<Vec<String>> {
        let moving = self.streams().filter(|(_, tiled)| tiled.moves_in);
        let sections: Option<Vec<String>> = moving
            .map(|(item, tiled)| self.piece(item, tiled, self.bounds(fresh, self.range_in(item, tiled))))
            .collect();
        Some(vec![format!("to({})", sections?.join(", "))])
    }

    fn own_piece(&self, fresh: &Fresh, item: &Mapped, tiled: &Tiled) -> Option<String> {
        self.piece(item, tiled, self.bounds(fresh, None))
    }

    /// The names of a range's bounds. Without a range, those of the tile's iterations.
    pub(super) fn bounds(&self, fresh: &Fresh, range: Option<Range<'_>>) -> (String, String) {
        range.map_or((fresh.first.clone(), fresh.end.clone()), |range| self.names_of_range(fresh, range))
    }

    /// The section of an array between two iterations.
    fn piece(&self, item: &Mapped, tiled: &Tiled, (from, to): (String, String)) -> Option<String> {
        let stride = text::operand(&text::sum(&tiled.stream.stride, &self.found.symbols)?);
        Some(item.section(&from, &to, &stride))
    }

    pub(super) fn tile_maps(&self, fresh: &Fresh, map_type: fn(&Tiled) -> &'static str) -> Option<Vec<String>> {
        let mut maps = Maps::default();
        for (item, tiled) in self.streams() {
            maps.add(map_type(tiled), self.own_piece(fresh, item, tiled)?);
        }
        Some(maps.clauses())
    }

    /// The kernel of a tile: the original over the tile's iterations, with maps of its pieces.
    fn kernel(&self, fresh: &Fresh, depth: usize, lines: &mut Vec<Line>) -> Option<()> {
        let cx = self.values.cx();
        let directive = cx.constructs.directive(*self.values.region.chain.constructs.first()?);
        let kept = directive.clauses.iter().filter(|clause| clause.name != ClauseName::Map);
        let mut clauses: Vec<String> = kept.map(|clause| on_one_line(cx.file, clause.span)).collect();
        if directive.clauses_of(ClauseName::Default).next().is_some() {
            clauses.push(format!("firstprivate({}, {})", fresh.first, fresh.end));
        }
        clauses.extend(self.kernel_maps(fresh)?);
        lines.push(Line::Directive(depth, on_one_line(cx.file, directive.name_span), clauses));
        lines.push(Line::Original(depth, self.loop_text(fresh, directive.span.end)?));
        Some(())
    }

    /// The maps of a tile's kernel. If the whole array has storage on the device, only `always` makes a map copy. The
    /// device finds the storage of a pointer by the section that the kernel names.
    fn kernel_maps(&self, fresh: &Fresh) -> Option<Vec<String>> {
        let mut maps = Maps::default();
        for item in self.items {
            let Some(tiled) = &item.tiled else {
                if let Some((map_type, text)) = item.listed() {
                    maps.add(map_type, text.to_owned());
                }
                continue;
            };
            let copied_in = tiled.moves_in && !self.copies_before();
            let range = if tiled.moves_out { self.range_out(item, tiled) } else { self.range_in(item, tiled) };
            let piece = self.piece(item, tiled, self.bounds(fresh, range))?;
            let always = if self.is_staged() { "" } else { "always, " };
            match (copied_in, tiled.moves_out) {
                _ if self.window().is_some() && item.copies_in() && !tiled.moves_in => maps.add("from", piece),
                _ if self.window().is_some() => maps.add(&item.map_type, piece),
                // The kernel reads more than its own piece, and copies nothing.
                (false, true) if self.is_staged() && tiled.has_halo() => maps.add("from", item.text.clone()),
                (true, true) => maps.add(&format!("{always}tofrom"), piece),
                (true, false) => maps.add(&format!("{always}to"), piece),
                (false, true) => maps.add(&format!("{always}from"), piece),
                (false, false) => maps.add("to", item.text.clone()),
            }
        }
        for name in self.reductions_without_map() {
            maps.add("tofrom", name);
        }
        Some(maps.clauses())
    }

    /// The text behind the construct's directive with the head of a tile, from the next line on.
    fn loop_text(&self, fresh: &Fresh, directive_end: usize) -> Option<String> {
        let file = self.values.cx().file;
        let lines = two_forms::lines_behind(file, directive_end, self.values.region.extent.end)?;
        let head = self.head;
        let edits = [
            Edit { span: head.lower, text: fresh.first.clone() },
            Edit { span: head.condition, text: format!("{} < {}", head.variable, fresh.end) },
        ];
        two_forms::edited(file, lines, &edits)
    }
}
