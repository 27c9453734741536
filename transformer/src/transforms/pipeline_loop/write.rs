//! From a checked loop to its pipeline.

use crate::analysis::polynomial::Polynomial;
use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, WIDTH, on_one_line};
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::source::{Language, Span};
use crate::syntax::{Clause, ClauseName};
use crate::transforms::pipeline_loop::head::Head;
use crate::transforms::pipeline_loop::maps::{Mapped, Tiled};
use crate::transforms::pipeline_loop::{Pipeline, text};
use crate::transforms::two_forms::{self, Indents, indented};
use crate::transforms::{Context, PinnedMemory};

/// The header that page-locks memory.
const HEADER: &str = "ompsplit_pin.h";

/// The names that the output declares.
struct Fresh {
    tile: String,
    tiles: String,
    least: String,
    window: String,
    slot: String,
    copied: String,
    computed: String,
    length: String,
    first: String,
    end: String,
}

/// Chooses the map type of an array's pieces.
type MapType = fn(&Mapped, &Tiled) -> &'static str;

/// A line of the output, or several as they were.
enum Line {
    /// A statement or a part of one, so deep in the new blocks.
    Code(usize, String),
    /// `if` with terms that must all hold.
    Condition(usize, Vec<String>),
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
    pub(super) fn edits(&self) -> Result<Vec<Edit>, Vec<Reason>> {
        let region = self.values.region;
        let refuse = |span, message: String| vec![Reason::new(ReasonCode::LoopNotTiled, span, message)];
        let first = region.chain.constructs.first();
        let obstacle = first.and_then(|first| two_forms::cannot_stand_twice(self.values.names, *first, self.extent));
        if let Some((span, what)) = obstacle {
            return Err(refuse(span, format!("the loop cannot stand twice: {what}")));
        }
        let mut edits =
            include(self.values.cx(), self.extent.start).map_err(|message| refuse(region.extent, message))?;
        let no_text = || refuse(region.extent, "the pieces of its arrays have no short expression".to_owned());
        edits.push(self.both_forms().ok_or_else(no_text)?);
        Ok(edits)
    }

    fn fresh(&self) -> Fresh {
        let fresh = |stem| self.values.names.fresh_in(self.extent, stem);
        Fresh {
            tile: fresh("tile"),
            tiles: fresh("TILES"),
            least: fresh("LEAST_BYTES"),
            window: fresh("WINDOW"),
            slot: fresh("tile_slot"),
            copied: fresh("tile_copied"),
            computed: fresh("tile_computed"),
            length: fresh("tile_length"),
            first: fresh("tile_first"),
            end: fresh("tile_end"),
        }
    }

    fn both_forms(&self) -> Option<Edit> {
        let first = *self.values.region.chain.constructs.first()?;
        let fresh = self.fresh();
        let condition = self.condition(&fresh)?;
        let form =
            Form { construct: first, extent: self.extent, constants: self.constants(&fresh, &condition), condition };
        let mut lines = Vec::new();
        self.pipeline(&fresh, form.depth(), &mut lines)?;
        form.write(self.values.cx(), lines)
    }

    fn constants(&self, fresh: &Fresh, condition: &[String]) -> Vec<String> {
        let mut constants = vec![format!("{} = {}", fresh.tiles, self.tiles)];
        if condition.iter().any(|term| term.contains(&fresh.least)) {
            constants.push(format!("{} = {}", fresh.least, self.least_bytes));
        }
        constants.extend(self.window().map(|window| format!("{} = {window}", fresh.window)));
        constants
    }

    fn window(&self) -> Option<std::num::NonZeroU32> {
        self.values.cx().pipeline.window
    }

    /// Asks for what the text does not tell: that each tile is as long as the halo, that enough is copied, and that it is not on the
    /// device already. In a window each tile is mapped, which asks for itself.
    fn condition(&self, fresh: &Fresh) -> Option<Vec<String>> {
        let (item, tiled) = self.largest()?;
        let mut terms = Vec::new();
        if self.head.trips.is_none() || tiled.stream.stride.as_constant().is_none() {
            let trips = &self.head.trips_text;
            let stride = text::sum(&tiled.stream.stride, &self.found.symbols)?;
            let pieces = if stride == "1" { String::new() } else { format!(" * {}", text::operand(&stride)) };
            let halo = if self.halo() > 1 { format!("{} * ", self.halo()) } else { String::new() };
            terms.push(format!("{trips} >= {halo}{}", fresh.tiles));
            if tiled.stream.stride.as_constant().is_none() {
                terms.push(format!("{stride} > 0"));
            }
            terms.push(format!("sizeof(*{}) * {}{pieces} >= {}", item.name, text::operand(trips), fresh.least));
        }
        if self.window().is_none() {
            terms.extend(self.streams().map(|(item, _)| format!("ompsplit_is_absent({})", item.start())));
        }
        Some(terms)
    }

    /// The branch in tiles.
    fn pipeline(&self, fresh: &Fresh, depth: usize, lines: &mut Vec<Line>) -> Option<()> {
        let code = |text: String| Line::Code(depth, text);
        let Fresh { tiles, length, .. } = fresh;
        lines.push(code(format!("char {};", self.sentinel_arrays(fresh))));
        let trips = text::operand(&self.head.trips_text);
        lines.push(code(format!("const {} {length} = {trips} / {tiles};", self.head.ty)));
        let pins = self.values.cx().pipeline.pin == PinnedMemory::Register;
        let pinned: Vec<&Mapped> = self.streams().map(|(item, _)| item).filter(|_| pins).collect();
        lines.extend(pinned.iter().map(|item| code(format!("ompsplit_pin({}, {});", item.start(), item.bytes()))));
        let data = self.data();
        if !data.is_empty() {
            lines.push(Line::Directive(depth, "target data".to_owned(), data));
        }
        lines.push(Line::Directive(depth, "taskgroup".to_owned(), Vec::new()));
        match self.window() {
            Some(_) => self.windowed(fresh, depth, lines)?,
            None => self.resident(fresh, depth, lines)?,
        }
        lines.extend(pinned.iter().map(|item| code(format!("ompsplit_unpin({});", item.start()))));
        Some(())
    }

    fn sentinel_arrays(&self, fresh: &Fresh) -> String {
        let Fresh { tiles, window, slot, copied, computed, .. } = fresh;
        if self.window().is_some() {
            return format!("{slot}[{window}]");
        }
        let slots = match self.sentinels().further() {
            0 => tiles.clone(),
            more => format!("{tiles} + {more}"),
        };
        let arrays = [
            self.moving_in().next().map(|_| format!("{copied}[{slots}]")),
            self.moving_out().next().map(|_| format!("{computed}[{tiles}]")),
        ];
        arrays.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn head_of_tiles(&self, fresh: &Fresh, depth: usize) -> Line {
        let Fresh { tile, tiles, .. } = fresh;
        Line::Code(depth, format!("for (int {tile} = 0; {tile} < {tiles}; {tile}++) {{"))
    }

    /// All tiles of an array have their place on the device for the whole time.
    fn resident(&self, fresh: &Fresh, depth: usize, lines: &mut Vec<Line>) -> Option<()> {
        let Fresh { tile, copied, computed, .. } = fresh;
        let sentinels = self.sentinels();
        // A task depends on earlier ones only: what a tile reads of the next one's pieces must have been asked for.
        let block = sentinels.behind;
        let inner = depth + usize::from(block);
        if block {
            lines.push(Line::Code(depth, "{".to_owned()));
        }
        lines.push(self.head_of_tiles(fresh, inner));
        lines.extend(self.bounds(fresh).into_iter().map(|text| Line::Code(inner + 1, text)));
        let own = if sentinels.before { format!("{copied}[{tile} + 1]") } else { format!("{copied}[{tile}]") };
        lines.extend(self.update(fresh, inner + 1, "to", &format!("depend(out: {own})"))?);
        if block {
            lines.push(Line::Code(inner, "}".to_owned()));
            lines.push(self.head_of_tiles(fresh, inner));
            lines.extend(self.tile_bounds(fresh).into_iter().map(|text| Line::Code(inner + 1, text)));
        }
        self.kernel(fresh, inner + 1, self.order(fresh), lines)?;
        lines.extend(self.update(fresh, inner + 1, "from", &format!("depend(in: {computed}[{tile}])"))?);
        lines.push(Line::Code(inner, "}".to_owned()));
        if block {
            lines.push(Line::Code(depth, "}".to_owned()));
        }
        Some(())
    }

    /// A tile is mapped, computed and unmapped before another one takes its slot.
    fn windowed(&self, fresh: &Fresh, depth: usize, lines: &mut Vec<Line>) -> Option<()> {
        let Fresh { tile, window, slot, .. } = fresh;
        let order = || vec![format!("depend(inout: {slot}[{tile} % {window}])"), "nowait".to_owned()];
        lines.push(self.head_of_tiles(fresh, depth));
        lines.extend(self.tile_bounds(fresh).into_iter().map(|text| Line::Code(depth + 1, text)));
        let enter: MapType = |_, tiled| if tiled.moves_in { "to" } else { "alloc" };
        let exit: MapType = |_, tiled| if tiled.moves_out { "from" } else { "release" };
        let maps = [self.tile_maps(fresh, enter)?, self.tile_maps(fresh, exit)?];
        let [enters, exits] = maps.map(|maps| maps.into_iter().chain(order()).collect());
        lines.push(Line::Directive(depth + 1, "target enter data".to_owned(), enters));
        self.kernel(fresh, depth + 1, order(), lines)?;
        lines.push(Line::Directive(depth + 1, "target exit data".to_owned(), exits));
        lines.push(Line::Code(depth, "}".to_owned()));
        Some(())
    }

    /// The clauses that map a tile's pieces of each array.
    fn tile_maps(&self, fresh: &Fresh, map_type: MapType) -> Option<Vec<String>> {
        let mut maps = Maps::default();
        for (item, tiled) in self.streams() {
            maps.add(map_type(item, tiled), self.piece(fresh, item, tiled, (&self.head.first, &self.head.end))?);
        }
        Some(maps.clauses())
    }

    /// A tile's place in the order of tasks, where whole arrays are on the device.
    fn order(&self, fresh: &Fresh) -> Vec<String> {
        let Fresh { tile, copied, computed, .. } = fresh;
        let mut clauses = Vec::new();
        if self.moving_in().next().is_some() {
            let index = |offset: u32| if offset == 0 { tile.clone() } else { format!("{tile} + {offset}") };
            let reads = (0..=self.sentinels().further()).map(|offset| format!("{copied}[{}]", index(offset)));
            clauses.push(format!("depend(in: {})", reads.collect::<Vec<_>>().join(", ")));
        }
        if self.moving_out().next().is_some() {
            clauses.push(format!("depend(out: {computed}[{tile}])"));
        }
        clauses.push("nowait".to_owned());
        clauses
    }

    fn moving_in(&self) -> impl Iterator<Item = (&Mapped, &Tiled)> {
        self.streams().filter(|(_, tiled)| tiled.moves_in)
    }

    fn moving_out(&self) -> impl Iterator<Item = (&Mapped, &Tiled)> {
        self.streams().filter(|(_, tiled)| tiled.moves_out)
    }

    fn sentinels(&self) -> Sentinels {
        Sentinels {
            before: self.moving_in().any(|(_, tiled)| tiled.stream.behind > 0),
            behind: self.moving_in().any(|(_, tiled)| tiled.stream.ahead > 0),
        }
    }

    /// The clauses of the data environment around all tiles.
    fn data(&self) -> Vec<String> {
        let mut maps = Maps::default();
        for item in self.items {
            match self.is_streamed(item) {
                true if self.window().is_some() => {}
                true => maps.add("alloc", item.text.clone()),
                false => maps.add(&item.map_type, item.text.clone()),
            }
        }
        // A construct maps its reduction items `tofrom` (OpenMP 5.2, section 5.8.1).
        for name in self.reductions().into_iter().filter(|name| !self.items.iter().any(|item| item.name == *name)) {
            maps.add("tofrom", name);
        }
        maps.clauses()
    }

    fn is_streamed(&self, item: &Mapped) -> bool {
        self.streams().any(|(streamed, _)| std::ptr::eq(streamed, item))
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
        for (_, tiled) in self.moving_in() {
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
    fn update(&self, fresh: &Fresh, depth: usize, motion: &str, order: &str) -> Option<Option<Line>> {
        let is_in = motion == "to";
        let mut sections = Vec::new();
        for (item, tiled) in self.streams().filter(|(_, tiled)| if is_in { tiled.moves_in } else { tiled.moves_out }) {
            let range = if is_in { (&tiled.from, &tiled.to) } else { (&self.head.first, &self.head.end) };
            sections.push(self.piece(fresh, item, tiled, range)?);
        }
        let clauses = vec![format!("{motion}({})", sections.join(", ")), order.to_owned(), "nowait".to_owned()];
        Some((!sections.is_empty()).then(|| Line::Directive(depth, "target update".to_owned(), clauses)))
    }

    /// A tile's section of an array, for what moves with a range of iterations.
    fn piece(&self, fresh: &Fresh, item: &Mapped, tiled: &Tiled, range: (&Polynomial, &Polynomial)) -> Option<String> {
        let stride = text::operand(&text::sum(&tiled.stream.stride, &self.found.symbols)?);
        let (from, to) = self.names_of_range(fresh, range);
        Some(item.section(&from, &to, &stride))
    }

    /// The kernel of a tile: the original with its place in the order of tasks, over the tile's iterations.
    fn kernel(&self, fresh: &Fresh, depth: usize, order: Vec<String>, lines: &mut Vec<Line>) -> Option<()> {
        let cx = self.values.cx();
        let first = self.values.region.chain.constructs.first().copied()?;
        let directive = cx.constructs.directive(first);
        let is_map = |clause: &&Clause| clause.name == ClauseName::Map;
        let windowed = self.window().is_some();
        let kept = directive.clauses.iter().filter(|clause| !(windowed && is_map(clause)));
        let mut clauses: Vec<String> = kept.map(|clause| on_one_line(cx.file, clause.span)).collect();
        if windowed {
            clauses.extend(self.window_maps(fresh)?);
        }
        let reduced = self.reductions();
        if !reduced.is_empty() {
            clauses.push(format!("depend(inout: {})", reduced.join(", ")));
        }
        clauses.extend(order);
        lines.push(Line::Directive(depth, on_one_line(cx.file, directive.name_span), clauses));
        lines.push(Line::Original(depth, self.tile_loop(fresh, directive.span.end)?));
        Some(())
    }

    /// What the kernel of a tile maps in a window: its pieces, by which pointers find them, and what is there for all tiles.
    fn window_maps(&self, fresh: &Fresh) -> Option<Vec<String>> {
        let mut maps = Maps::default();
        for item in self.items {
            let piece = match item.tiled.as_ref().filter(|_| self.is_streamed(item)) {
                Some(tiled) => self.piece(fresh, item, tiled, (&self.head.first, &self.head.end))?,
                None => item.text.clone(),
            };
            maps.add(&item.map_type, piece);
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

/// The line that includes the header, behind the last include that no conditional encloses.
pub(super) fn include(cx: &Context<'_>, start: usize) -> Result<Vec<Edit>, String> {
    let is_header = |path: Span| cx.file.show(path).rsplit('/').next() == Some(HEADER);
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

/// A construct that is written in two forms: in tiles, and as it was.
pub(super) struct Form {
    pub construct: ConstructId,
    pub extent: Span,
    /// The constants that the tiles need.
    pub constants: Vec<String>,
    /// When the tiles are right and pay; always where there is nothing to ask.
    pub condition: Vec<String>,
}

impl Form {
    /// How deep the lines of the tiles stand in the new blocks.
    pub(super) fn depth(&self) -> usize {
        if self.condition.is_empty() { 1 } else { 2 }
    }

    /// The edit, from the lines of the tiles.
    fn write(self, cx: &Context<'_>, tiles: Vec<Line>) -> Option<Edit> {
        let layout = Layout::of(cx.file, cx.constructs.directive(self.construct));
        let whole = two_forms::lines_of(cx.file, self.extent);
        let original = std::str::from_utf8(cx.file.bytes(whole)).ok()?;
        let indents = Indents::of(cx, self.extent, cx.constructs.construct(self.construct).body?, &layout);
        let comment = "Copies of some tiles overlap the kernels of others, which pays from some size on (NVIDIA H200).";
        let is_c = cx.tree.language() == Language::C;
        let mut lines = vec![
            Line::Code(0, "{".to_owned()),
            Line::Code(1, if is_c { format!("/* {comment} */") } else { format!("// {comment}") }),
            Line::Code(1, format!("enum {{ {} }};", self.constants.join(", "))),
        ];
        let has_condition = !self.condition.is_empty();
        if has_condition {
            lines.push(Line::Condition(1, self.condition));
        }
        lines.extend(tiles);
        if has_condition {
            lines.push(Line::Code(1, "} else {".to_owned()));
            lines.push(Line::Original(2, original.to_owned()));
            lines.push(Line::Code(1, "}".to_owned()));
        }
        lines.push(Line::Code(0, "}".to_owned()));
        let text: Vec<String> = lines.into_iter().map(|line| line.write(&layout, &indents)).collect();
        Some(Edit { span: whole, text: text.join(layout.newline) })
    }
}

/// `map` clauses, one for each map type.
#[derive(Default)]
struct Maps(Vec<(String, Vec<String>)>);

impl Maps {
    fn add(&mut self, map_type: &str, item: String) {
        match self.0.iter_mut().find(|(known, _)| known == map_type) {
            Some((_, items)) => items.push(item),
            None => self.0.push((map_type.to_owned(), vec![item])),
        }
    }

    fn clauses(self) -> Vec<String> {
        self.0.into_iter().map(|(map_type, items)| format!("map({map_type}: {})", items.join(", "))).collect()
    }
}

impl Sentinels {
    fn further(self) -> u32 {
        u32::from(self.before) + u32::from(self.behind)
    }
}

impl Line {
    fn write(self, layout: &Layout, indents: &Indents) -> String {
        let at = |depth: usize| format!("{}{}", indents.indent, indents.level.repeat(depth));
        match self {
            Self::Code(depth, text) => format!("{}{text}", at(depth)),
            Self::Condition(depth, terms) => {
                let own = at(depth);
                let text = format!("{own}if ({}) {{", terms.join(" && "));
                if text.len() <= WIDTH {
                    text
                } else {
                    text.replace(" && ", &format!(" &&{}{own}    ", layout.newline))
                }
            }
            Self::Directive(depth, name, clauses) => {
                // Directives that do not stand with the statements keep their column.
                let indent = if layout.indent == indents.indent { at(depth) } else { layout.indent.clone() };
                format!("{indent}{}", layout.indented(indent.clone()).write(&name, &clauses))
            }
            Self::Original(depth, text) => indented(&text, &indents.level.repeat(depth)),
        }
    }
}
