//! From a checked loop to its tiles.

use std::num::NonZeroU32;

use crate::analysis::polynomial::Polynomial;
use crate::edit::Edit;
use crate::edit::directive_writer::on_one_line;
use crate::plan::{Reason, ReasonCode};
use crate::source::Span;
use crate::syntax::ClauseName;
use crate::transforms::PinnedMemory;
use crate::transforms::pipeline_loop::head::Head;
use crate::transforms::pipeline_loop::lines::{Form, Line, Maps, include};
use crate::transforms::pipeline_loop::maps::{Mapped, Tiled};
use crate::transforms::pipeline_loop::{Pipeline, text};
use crate::transforms::two_forms;

/// Host threads that copy and launch: with fewer the stages overlap less, with more they overlap no better
/// (`bench/results/pipeline`).
const THREADS: u32 = 4;
/// One kernel at a time combines its results.
const CRITICAL: &str = "critical(ompsplit_reduction)";

/// The names that the output declares.
struct Fresh {
    tile: String,
    tiles: String,
    threads: String,
    least: String,
    length: String,
    first: String,
    end: String,
}

/// Pieces that are copied for a tile beyond its own: the section's first and last iteration, and how far ahead.
type Range<'r> = (&'r Polynomial, &'r Polynomial, u32);

impl Pipeline<'_, '_> {
    /// The edits: the region's two forms, and the header's line where it is missing.
    ///
    /// # Errors
    /// Why both forms cannot stand here.
    pub(super) fn edits(&self) -> Result<Vec<Edit>, Vec<Reason>> {
        let region = self.values.region;
        let refuse = |span, message: String| vec![Reason::new(ReasonCode::LoopNotTiled, span, message)];
        let first = region.chain.constructs.first();
        let obstacle = first.and_then(|first| two_forms::cannot_stand_twice(self.values.names, *first, region.extent));
        if let Some((span, what)) = obstacle {
            return Err(refuse(span, format!("the loop cannot stand twice: {what}")));
        }
        let mut edits =
            include(self.values.cx(), region.extent.start).map_err(|message| refuse(region.extent, message))?;
        let no_text = || refuse(region.extent, "the pieces of its arrays have no short expression".to_owned());
        edits.push(self.both_forms().ok_or_else(no_text)?);
        Ok(edits)
    }

    fn fresh(&self) -> Fresh {
        let fresh = |stem| self.values.names.fresh_in(self.values.region.extent, stem);
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

    fn window(&self) -> Option<NonZeroU32> {
        self.values.cx().pipeline.window
    }

    fn both_forms(&self) -> Option<Edit> {
        let construct = *self.values.region.chain.constructs.first()?;
        let fresh = self.fresh();
        let condition = self.condition(&fresh)?;
        let threads = self.window().map_or(THREADS, NonZeroU32::get);
        let mut constants = vec![format!("{} = {}", fresh.tiles, self.tiles), format!("{} = {threads}", fresh.threads)];
        if condition.iter().any(|term| term.contains(&fresh.least)) {
            constants.push(format!("{} = {}", fresh.least, self.least_bytes));
        }
        let form = Form { construct, extent: self.values.region.extent, constants, condition };
        let mut lines = Vec::new();
        self.tiles(&fresh, form.depth(), &mut lines)?;
        form.write(self.values.cx(), lines)
    }

    /// Asks for what the text does not tell: that each tile is as long as the halo, that enough is copied, and that it is not on the
    /// device already. In a window each tile is mapped, which asks for itself. Other threads of a team may map the same arrays: they
    /// would find them present before their tiles are copied, or a part of them.
    fn condition(&self, fresh: &Fresh) -> Option<Vec<String>> {
        let (item, tiled) = self.largest()?;
        let mut terms = Vec::new();
        if self.head.trips.is_none() || tiled.stream.stride.as_constant().is_none() {
            let trips = &self.head.trips_text;
            let stride = text::sum(&tiled.stream.stride, &self.found.symbols)?;
            let pieces = if stride == "1" { String::new() } else { format!(" * {}", text::operand(&stride)) };
            let halo = if self.halo() > 1 { format!("{} * ", self.halo()) } else { String::new() };
            let least = format!("{halo}{}", fresh.tiles);
            // The difference of unsigned bounds is a large number where the loop does not run.
            terms.push(match !self.head.first.is_zero() && trips.contains('-') {
                false => format!("{trips} >= {least}"),
                true => format!("{} >= {} + {least}", self.head.end_text, text::operand(&self.head.first_text)),
            });
            if tiled.stream.stride.as_constant().is_none() {
                terms.push(format!("{stride} > 0"));
            }
            terms.push(format!("sizeof(*{}) * {}{pieces} >= {}", item.name, text::operand(trips), fresh.least));
        }
        if self.window().is_none() {
            terms.extend(self.streams().map(|(item, _)| format!("ompsplit_is_absent({})", item.start())));
        } else {
            terms.push("ompsplit_is_alone()".to_owned());
        }
        Some(terms)
    }

    /// The branch in tiles.
    fn tiles(&self, fresh: &Fresh, depth: usize, lines: &mut Vec<Line>) -> Option<()> {
        let code = |text: String| Line::Code(depth, text);
        let Fresh { tile, tiles, threads, length, .. } = fresh;
        let trips = text::operand(&self.head.trips_text);
        lines.push(code(format!("const {} {length} = {trips} / {tiles};", self.head.ty)));
        let pins = self.values.cx().pipeline.pin == PinnedMemory::Register;
        let pinned: Vec<&Mapped> = self.streams().map(|(item, _)| item).filter(|_| pins).collect();
        lines.extend(pinned.iter().map(|item| code(format!("ompsplit_pin({}, {});", item.start(), item.bytes()))));
        let data = self.data();
        if !data.is_empty() {
            lines.push(Line::Directive(depth, "target data".to_owned(), data));
        }
        let ordered = if self.reads_neighbours() { "ordered " } else { "" };
        let clauses = [format!("num_threads({threads})"), format!("{ordered}schedule(static, 1)")];
        lines.push(Line::Directive(depth, "parallel for".to_owned(), clauses.to_vec()));
        lines.push(code(format!("for (int {tile} = 0; {tile} < {tiles}; {tile}++) {{")));
        self.tile(fresh, depth + 1, lines)?;
        lines.push(code("}".to_owned()));
        lines.extend(pinned.iter().map(|item| code(format!("ompsplit_unpin({});", item.start()))));
        Some(())
    }

    /// One tile: copies to the device, the kernel, copies back. Where nothing has to happen in between, the kernel's own maps
    /// do both.
    fn tile(&self, fresh: &Fresh, depth: usize, lines: &mut Vec<Line>) -> Option<()> {
        lines.extend(self.tile_bounds(fresh).into_iter().map(|text| Line::Code(depth, text)));
        let is_reduced = !self.reductions().is_empty();
        let directive = |name: &str, clauses| Line::Directive(depth, name.to_owned(), clauses);
        if self.window().is_some() && is_reduced {
            let enter = |tiled: &Tiled| if tiled.moves_in { "to" } else { "alloc" };
            lines.push(directive("target enter data", self.tile_maps(fresh, enter)?));
        } else if self.copies_before() && self.reads_neighbours() {
            // What a tile reads of its neighbours' pieces is copied with theirs: those before it first, and so far ahead.
            lines.extend(self.copy_bounds(fresh)?.into_iter().map(|text| Line::Code(depth, text)));
            lines.push(directive("ordered", Vec::new()));
            lines.push(Line::Code(depth, "{".to_owned()));
            lines.push(Line::Directive(depth + 1, "target update".to_owned(), self.update(fresh)?));
            lines.push(Line::Code(depth, "}".to_owned()));
        } else if self.copies_before() {
            lines.push(directive("target update", self.update(fresh)?));
        }
        if is_reduced {
            lines.push(directive(CRITICAL, Vec::new()));
        }
        self.kernel(fresh, depth, lines)?;
        if self.window().is_some() && is_reduced {
            let exit = |tiled: &Tiled| if tiled.moves_out { "from" } else { "release" };
            lines.push(directive("target exit data", self.tile_maps(fresh, exit)?));
        }
        Some(())
    }

    /// Is what a tile reads copied by a directive of its own, before the kernel?
    fn copies_before(&self) -> bool {
        let moves_in = self.streams().any(|(_, tiled)| tiled.moves_in);
        self.window().is_none() && moves_in && (self.reads_neighbours() || !self.reductions().is_empty())
    }

    fn reads_neighbours(&self) -> bool {
        self.streams().any(|(_, tiled)| tiled.moves_in && tiled.has_halo())
    }

    /// The clauses of the data environment around all tiles.
    fn data(&self) -> Vec<String> {
        let mut maps = Maps::default();
        for item in self.items {
            match &item.tiled {
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

    /// A construct maps its reduction items `tofrom` (OpenMP 5.2, section 5.8.1).
    fn reductions_without_map(&self) -> Vec<String> {
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

    /// The bounds of what is copied for a tile of a loop that reads its neighbours' pieces.
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

    /// The different ranges of what is copied in.
    fn ranges(&self) -> Vec<Range<'_>> {
        let mut ranges = Vec::new();
        for (_, tiled) in self.streams().filter(|(_, tiled)| tiled.moves_in) {
            let range = (&tiled.from, &tiled.to, tiled.stream.ahead);
            if !ranges.contains(&range) {
                ranges.push(range);
            }
        }
        ranges
    }

    fn names_of_range(&self, fresh: &Fresh, range: Range<'_>) -> (String, String) {
        let index = self.ranges().into_iter().position(|other| other == range).unwrap_or_default();
        let name = |stem: &str| {
            let free = |stem: &str| self.values.names.fresh_in(self.values.region.extent, stem);
            let first = free(&format!("{}_{stem}", fresh.tile));
            if index == 0 { first } else { free(&format!("{first}_{}", index + 1)) }
        };
        (name("from"), name("to"))
    }

    /// The update before a tile's kernel.
    fn update(&self, fresh: &Fresh) -> Option<Vec<String>> {
        let mut sections = Vec::new();
        for (item, tiled) in self.streams().filter(|(_, tiled)| tiled.moves_in) {
            sections.push(match self.reads_neighbours() {
                true => {
                    let range = (&tiled.from, &tiled.to, tiled.stream.ahead);
                    self.piece(item, tiled, self.names_of_range(fresh, range))?
                }
                false => self.own_piece(fresh, item, tiled)?,
            });
        }
        Some(vec![format!("to({})", sections.join(", "))])
    }

    fn own_piece(&self, fresh: &Fresh, item: &Mapped, tiled: &Tiled) -> Option<String> {
        self.piece(item, tiled, (fresh.first.clone(), fresh.end.clone()))
    }

    /// The section of an array between two iterations.
    fn piece(&self, item: &Mapped, tiled: &Tiled, (from, to): (String, String)) -> Option<String> {
        let stride = text::operand(&text::sum(&tiled.stream.stride, &self.found.symbols)?);
        Some(item.section(&from, &to, &stride))
    }

    fn tile_maps(&self, fresh: &Fresh, map_type: fn(&Tiled) -> &'static str) -> Option<Vec<String>> {
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
        clauses.extend(self.kernel_maps(fresh)?);
        lines.push(Line::Directive(depth, on_one_line(cx.file, directive.name_span), clauses));
        lines.push(Line::Original(depth, self.tile_loop(fresh, directive.span.end)?));
        Some(())
    }

    /// What the kernel of a tile maps. Where the whole array has its place on the device, `always` copies; a pointer finds its
    /// place by the section that the kernel names.
    fn kernel_maps(&self, fresh: &Fresh) -> Option<Vec<String>> {
        let mut maps = Maps::default();
        for item in self.items {
            let Some(tiled) = &item.tiled else {
                maps.add(&item.map_type, item.text.clone());
                continue;
            };
            let piece = self.own_piece(fresh, item, tiled)?;
            match (tiled.moves_in && !self.copies_before(), tiled.moves_out) {
                _ if self.window().is_some() => maps.add(&item.map_type, piece),
                (true, true) => maps.add("always, tofrom", piece),
                (true, false) => maps.add("always, to", piece),
                (false, true) => maps.add("always, from", piece),
                (false, false) => maps.add("to", item.text.clone()),
            }
        }
        for name in self.reductions_without_map() {
            maps.add("tofrom", name);
        }
        Some(maps.clauses())
    }

    /// What stands behind the construct's directive, with the head of a tile; from the next line on.
    fn tile_loop(&self, fresh: &Fresh, directive_end: usize) -> Option<String> {
        let file = self.values.cx().file;
        let rest = file.text.get(directive_end..self.values.region.extent.end)?;
        let newline = rest.iter().position(|byte| *byte == b'\n')?;
        if !rest.get(..newline)?.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let lines = Span::new(directive_end + newline + 1, self.values.region.extent.end);
        let head = self.head;
        let edits = [
            Edit { span: head.lower, text: fresh.first.clone() },
            Edit { span: head.condition, text: format!("{} < {}", head.variable, fresh.end) },
        ];
        two_forms::edited(file, lines, &edits)
    }
}
