//! From a checked loop to its pipeline.

use crate::analysis::polynomial::Polynomial;
use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, on_one_line};
use crate::plan::{Reason, ReasonCode};
use crate::source::{Language, Span};
use crate::syntax::ClauseName;
use crate::transforms::PinnedMemory;
use crate::transforms::pipeline_loop::head::Head;
use crate::transforms::pipeline_loop::maps::{Mapped, Tiled};
use crate::transforms::pipeline_loop::{Pipeline, text};
use crate::transforms::two_forms::{self, Indents, indented};

/// The header that page-locks memory.
const HEADER: &str = "ompsplit_pin.h";

/// The names that the output declares.
struct Fresh {
    tile: String,
    tiles: String,
    least: String,
    copied: String,
    computed: String,
    length: String,
    first: String,
    end: String,
}

/// A line of the output, or several as they were.
enum Line {
    /// A statement or a part of one, so deep in the new blocks.
    Code(usize, String),
    /// A directive: its name and clauses.
    Directive(usize, String, Vec<String>),
    /// Lines of the original with their own indentation.
    Original(usize, String),
}

/// What tells the tasks of a tile apart: the elements of an array of sentinels.
#[derive(Clone, Copy)]
struct Sentinels {
    /// One stands before that of the first tile, for what it reads behind its pieces.
    before: bool,
    /// One stands behind that of the last tile.
    behind: bool,
}

impl Pipeline<'_, '_> {
    /// The edits: the region's two forms, and the header's line where it is missing.
    ///
    /// # Errors
    /// Why both forms cannot stand here.
    pub(super) fn edits(&self, tiles: u32, least: u64) -> Result<Vec<Edit>, Vec<Reason>> {
        let region = self.values.region;
        let refuse = |span, message: String| vec![Reason::new(ReasonCode::LoopNotTiled, span, message)];
        if let Some((span, what)) = two_forms::cannot_stand_twice(self.values.names, region) {
            return Err(refuse(span, format!("the loop cannot stand twice: {what}")));
        }
        let mut edits = self.include().map_err(|message| refuse(region.extent, message))?;
        let no_text = || refuse(region.extent, "the pieces of its arrays have no short expression".to_owned());
        edits.push(self.both_forms(tiles, least).ok_or_else(no_text)?);
        Ok(edits)
    }

    /// The line that includes the header, behind the last include that no conditional encloses.
    fn include(&self) -> Result<Vec<Edit>, String> {
        let cx = self.values.cx();
        let is_header = |path: Span| cx.file.show(path).rsplit('/').next() == Some(HEADER);
        let start = self.values.region.extent.start;
        let before = cx.scan.includes.iter().filter(|include| include.span.end <= start);
        let free = |span: Span| !cx.scan.conditionals.iter().any(|group| group.span.contains(span));
        let usable: Vec<_> = before.filter(|include| free(include.span)).collect();
        if usable.iter().any(|include| is_header(include.path)) {
            return Ok(Vec::new());
        }
        let Some(last) = usable.last() else {
            return Err(format!("no `#include` stands before it that \"{HEADER}\" could follow"));
        };
        let rest = cx.file.text.get(last.span.end..).unwrap_or_default();
        let to_newline = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
        let at = last.span.end + if cx.file.bytes(last.span).ends_with(b"\n") { 0 } else { to_newline };
        let newline = if cx.file.bytes(Span::new(last.span.start, at)).ends_with(b"\r\n") { "\r\n" } else { "\n" };
        Ok(vec![Edit { span: Span::new(at, at), text: format!("#include \"{HEADER}\"{newline}") }])
    }

    fn fresh(&self) -> Fresh {
        let names = self.values.names;
        Fresh {
            tile: names.fresh("tile"),
            tiles: names.fresh("TILES"),
            least: names.fresh("LEAST_BYTES"),
            copied: names.fresh("tile_copied"),
            computed: names.fresh("tile_computed"),
            length: names.fresh("tile_length"),
            first: names.fresh("tile_first"),
            end: names.fresh("tile_end"),
        }
    }

    fn both_forms(&self, tiles: u32, least: u64) -> Option<Edit> {
        let cx = self.values.cx();
        let region = self.values.region;
        let first = *region.chain.constructs.first()?;
        let layout = Layout::of(cx.file, cx.constructs.directive(first));
        let whole = two_forms::lines_of(cx.file, region);
        let original = std::str::from_utf8(cx.file.bytes(whole)).ok()?;
        let indents = Indents::of(cx, region, cx.constructs.construct(first).body?, &layout);
        let fresh = self.fresh();

        let size = self.size_condition(&fresh)?;
        let least_constant = if size.contains(&fresh.least) { format!(", {} = {least}", fresh.least) } else { String::new() };
        let absent = self.streams().map(|(item, _)| format!("ompsplit_is_absent({})", item.start()));
        let condition: Vec<String> = Some(size).filter(|size| !size.is_empty()).into_iter().chain(absent).collect();
        let mut lines = vec![
            Line::Code(0, "{".to_owned()),
            Line::Code(1, self.comment()),
            Line::Code(1, format!("enum {{ {} = {tiles}{least_constant} }};", fresh.tiles)),
            Line::Code(1, format!("if ({}) {{", condition.join(" && "))),
        ];
        self.pipeline(&fresh, &mut lines)?;
        lines.push(Line::Code(1, "} else {".to_owned()));
        lines.push(Line::Original(2, original.to_owned()));
        lines.push(Line::Code(1, "}".to_owned()));
        lines.push(Line::Code(0, "}".to_owned()));
        let text: Vec<String> = lines.into_iter().map(|line| line.write(&layout, &indents)).collect();
        Some(Edit { span: whole, text: text.join(layout.newline) })
    }

    fn comment(&self) -> String {
        let text = "The copies of a tile overlap the kernels of others, which pays from some size on (for an NVIDIA H200).";
        let is_c = self.values.cx().tree.language() == Language::C;
        if is_c { format!("/* {text} */") } else { format!("// {text}") }
    }

    /// Asks for what the text does not tell: that each tile is as long as the halo, and that enough is copied.
    fn size_condition(&self, fresh: &Fresh) -> Option<String> {
        if self.head.trips.is_some() && self.largest()?.1.stream.stride.as_constant().is_some() {
            return Some(String::new());
        }
        let (item, tiled) = self.largest()?;
        let trips = &self.head.trips_text;
        let least_trips = match self.halo() {
            0 | 1 => fresh.tiles.clone(),
            halo => format!("{halo} * {}", fresh.tiles),
        };
        let stride = text::sum(&tiled.stream.stride, &self.found.symbols)?;
        let mut terms = vec![format!("{trips} >= {least_trips}")];
        let pieces: &str = if stride == "1" { "" } else { &format!(" * {}", text::operand(&stride)) };
        if tiled.stream.stride.as_constant().is_none() {
            terms.push(format!("{stride} > 0"));
        }
        terms.push(format!("sizeof(*{}) * {}{pieces} >= {}", item.name, text::operand(trips), fresh.least));
        Some(terms.join(" && "))
    }

    /// The branch in tiles.
    fn pipeline(&self, fresh: &Fresh, lines: &mut Vec<Line>) -> Option<()> {
        let Fresh { tile, tiles, copied, computed, length, .. } = fresh;
        let sentinels = self.sentinels();
        let slots = match u32::from(sentinels.before) + u32::from(sentinels.behind) {
            0 => tiles.clone(),
            more => format!("{tiles} + {more}"),
        };
        let moves_in = self.moving(Mapped::copies_in).next().is_some();
        let moves_out = self.moving(Mapped::copies_out).next().is_some();
        let arrays = [(moves_in, format!("{copied}[{slots}]")), (moves_out, format!("{computed}[{tiles}]"))];
        let arrays: Vec<String> = arrays.into_iter().filter(|(is_used, _)| *is_used).map(|(_, text)| text).collect();
        lines.push(Line::Code(2, format!("char {};", arrays.join(", "))));
        let trips = text::operand(&self.head.trips_text);
        lines.push(Line::Code(2, format!("const {} {length} = {trips} / {tiles};", self.head.ty)));
        let pins = self.values.cx().pipeline.pin == PinnedMemory::Register;
        let pinned: Vec<&Mapped> = self.streams().map(|(item, _)| item).filter(|_| pins).collect();
        lines.extend(pinned.iter().map(|item| Line::Code(2, format!("ompsplit_pin({}, {});", item.start(), item.bytes()))));
        lines.push(Line::Directive(2, "target data".to_owned(), self.data()));
        lines.push(Line::Directive(2, "taskgroup".to_owned(), Vec::new()));
        let head = || Line::Code(2, format!("for (int {tile} = 0; {tile} < {tiles}; {tile}++) {{"));
        // A task depends on earlier ones only: what a tile reads of the next one's pieces must have been asked for.
        let two_loops = sentinels.behind;
        if two_loops {
            lines.push(Line::Code(2, "{".to_owned()));
        }
        lines.push(head());
        lines.extend(self.bounds(fresh).into_iter().map(|text| Line::Code(3, text)));
        let own = if sentinels.before { format!("{copied}[{tile} + 1]") } else { format!("{copied}[{tile}]") };
        lines.extend(self.update(fresh, "to", &format!("depend(out: {own})"))?);
        if two_loops {
            lines.push(Line::Code(2, "}".to_owned()));
            lines.push(head());
            lines.extend(self.tile_bounds(fresh).into_iter().map(|text| Line::Code(3, text)));
        }
        self.kernel(fresh, sentinels, lines)?;
        lines.extend(self.update(fresh, "from", &format!("depend(in: {computed}[{tile}])"))?);
        lines.push(Line::Code(2, "}".to_owned()));
        if two_loops {
            lines.push(Line::Code(2, "}".to_owned()));
        }
        lines.extend(pinned.iter().map(|item| Line::Code(2, format!("ompsplit_unpin({});", item.start()))));
        Some(())
    }

    fn moving(&self, moves: fn(&Mapped) -> bool) -> impl Iterator<Item = (&Mapped, &Tiled)> {
        self.streams().filter(move |(item, _)| moves(item))
    }

    fn sentinels(&self) -> Sentinels {
        Sentinels {
            before: self.moving(Mapped::copies_in).any(|(_, tiled)| tiled.stream.behind > 0),
            behind: self.moving(Mapped::copies_in).any(|(_, tiled)| tiled.stream.ahead > 0),
        }
    }

    /// The clauses of the data environment around all tiles.
    fn data(&self) -> Vec<String> {
        let mut maps: Vec<(&str, Vec<String>)> = Vec::new();
        let mut add = |map_type, text: String| match maps.iter_mut().find(|(known, _)| *known == map_type) {
            Some((_, items)) => items.push(text),
            None => maps.push((map_type, vec![text])),
        };
        for item in self.items {
            let is_streamed = self.streams().any(|(streamed, _)| std::ptr::eq(streamed, item));
            add(if is_streamed { "alloc" } else { &item.map_type }, item.text.clone());
        }
        // A construct maps its reduction items `tofrom` (OpenMP 5.2, section 5.8.1).
        for name in self.reductions().into_iter().filter(|name| !self.items.iter().any(|item| item.name == *name)) {
            add("tofrom", name);
        }
        maps.into_iter().map(|(map_type, items)| format!("map({map_type}: {})", items.join(", "))).collect()
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

    /// The tile's bounds, and those of what is copied for it where mapped sections reach beyond the loop.
    fn bounds(&self, fresh: &Fresh) -> Vec<String> {
        let Fresh { tile, tiles, first, end, .. } = fresh;
        let ty = &self.head.ty;
        let wider = self.wider_ranges().into_iter().flat_map(|range| {
            let (from, to) = self.names_of_range(fresh, range);
            let text = |value| text::sum(value, &self.found.symbols).unwrap_or_default();
            [
                format!("const {ty} {from} = {tile} > 0 ? {first} : {};", text(range.0)),
                format!("const {ty} {to} = {tile} + 1 < {tiles} ? {end} : {};", text(range.1)),
            ]
        });
        self.tile_bounds(fresh).into_iter().chain(wider).collect()
    }

    /// The ranges of iterations whose pieces are copied in, other than the loop's own.
    fn wider_ranges(&self) -> Vec<(&Polynomial, &Polynomial)> {
        let mut ranges = Vec::new();
        for (_, tiled) in self.moving(Mapped::copies_in) {
            let range = (&tiled.from, &tiled.to);
            if range != (&self.head.first, &self.head.end) && !ranges.contains(&range) {
                ranges.push(range);
            }
        }
        ranges
    }

    /// The names of the bounds of such a range for a tile; the tile's own for the loop's range.
    fn names_of_range(&self, fresh: &Fresh, range: (&Polynomial, &Polynomial)) -> (String, String) {
        let Some(index) = self.wider_ranges().into_iter().position(|other| other == range) else {
            return (fresh.first.clone(), fresh.end.clone());
        };
        let number = if index == 0 { String::new() } else { format!("_{}", index + 1) };
        (format!("{}_from{number}", fresh.tile), format!("{}_to{number}", fresh.tile))
    }

    /// The update of a tile's pieces, if there are any.
    fn update(&self, fresh: &Fresh, motion: &str, order: &str) -> Option<Option<Line>> {
        let is_in = motion == "to";
        let mut sections = Vec::new();
        for (item, tiled) in self.moving(if is_in { Mapped::copies_in } else { Mapped::copies_out }) {
            let stride = text::operand(&text::sum(&tiled.stream.stride, &self.found.symbols)?);
            let own = (&self.head.first, &self.head.end);
            let (from, to) = self.names_of_range(fresh, if is_in { (&tiled.from, &tiled.to) } else { own });
            sections.push(item.section(&from, &to, &stride));
        }
        let clauses = vec![format!("{motion}({})", sections.join(", ")), order.to_owned(), "nowait".to_owned()];
        Some((!sections.is_empty()).then(|| Line::Directive(3, "target update".to_owned(), clauses)))
    }

    /// The kernel of a tile: the original with its place in the order of tasks, over the tile's iterations.
    fn kernel(&self, fresh: &Fresh, sentinels: Sentinels, lines: &mut Vec<Line>) -> Option<()> {
        let cx = self.values.cx();
        let region = self.values.region;
        let first = region.chain.constructs.first().copied()?;
        let directive = cx.constructs.directive(first);
        let Fresh { tile, copied, computed, .. } = fresh;
        let mut clauses: Vec<String> = directive.clauses.iter().map(|clause| on_one_line(cx.file, clause.span)).collect();
        if self.moving(Mapped::copies_in).next().is_some() {
            let last = u32::from(sentinels.before) + u32::from(sentinels.behind);
            let index = |offset: u32| if offset == 0 { tile.clone() } else { format!("{tile} + {offset}") };
            let reads: Vec<String> = (0..=last).map(|offset| format!("{copied}[{}]", index(offset))).collect();
            clauses.push(format!("depend(in: {})", reads.join(", ")));
        }
        if self.moving(Mapped::copies_out).next().is_some() {
            clauses.push(format!("depend(out: {computed}[{tile}])"));
        }
        let reduced = self.reductions();
        if !reduced.is_empty() {
            clauses.push(format!("depend(inout: {})", reduced.join(", ")));
        }
        clauses.push("nowait".to_owned());
        lines.push(Line::Directive(3, on_one_line(cx.file, directive.name_span), clauses));
        lines.push(Line::Original(3, self.tile_loop(fresh, directive.span.end)?));
        Some(())
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

impl Line {
    fn write(self, layout: &Layout, indents: &Indents) -> String {
        let deeper = |depth: usize| indents.level.repeat(depth);
        match self {
            Self::Code(depth, text) => format!("{}{}{text}", indents.indent, deeper(depth)),
            Self::Directive(depth, name, clauses) => {
                // Directives that do not stand with the statements keep their column.
                let follows = layout.indent == indents.indent;
                let indent = if follows { format!("{}{}", indents.indent, deeper(depth)) } else { layout.indent.clone() };
                format!("{indent}{}", layout.indented(indent.clone()).write(&name, &clauses))
            }
            Self::Original(depth, text) => indented(&text, &deeper(depth)),
        }
    }
}
