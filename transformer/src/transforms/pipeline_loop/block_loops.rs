//! The loops of a `target data` construct's block that become tiles: an array is copied to the device by the first statement that
//! names it, and back by the last one.

use std::collections::BTreeSet;

use crate::analysis::accesses::Accesses;
use crate::context::Context;
use crate::edit::Edit;
use crate::plan::{Change, Detail, Pass, Reason, ReasonCode, Verdict};
use crate::region::target::TargetRegion;
use crate::semantics::symbols::VariableId;
use crate::syntax::ClauseName;
use crate::transforms::host_copies::host_values::HostValues;
use crate::transforms::host_copies::include::include;
use crate::transforms::host_copies::lines::{self, Form, Line, Maps};
use crate::transforms::pipeline_loop::allocation::Locking;
use crate::transforms::pipeline_loop::data_block::{self, Statement};
use crate::transforms::pipeline_loop::decision::{length_rank, rank};
use crate::transforms::pipeline_loop::head::Head;
use crate::transforms::pipeline_loop::maps::{self, Mapped, Tiled};
use crate::transforms::pipeline_loop::read::{self, Loop};
use crate::transforms::pipeline_loop::sizes::Sequence;
use crate::transforms::pipeline_loop::write::{Fresh, TILES_TOLD};
use crate::transforms::pipeline_loop::{Pipeline, assumptions, check_text, compiler, is_league_loop, sizes};
use crate::transforms::two_forms;

/// A loop of the block.
struct BlockLoop<'n, 'a> {
    values: HostValues<'n, 'a>,
    head: Head,
    items: Vec<Mapped>,
    found: Accesses,
    /// How many tiles there are, and the least bytes of the block's largest array for which tiles run.
    sizes: (u32, u64),
}

impl<'a> BlockLoop<'_, 'a> {
    fn pipeline(&self) -> Pipeline<'_, 'a> {
        let Self { values, head, items, found, sizes: (tiles, least_bytes) } = self;
        let (tiles, least_bytes) = (*tiles, *least_bytes);
        Pipeline { values, head, items, found, tiles, least_bytes }
    }

    /// Chooses the arrays that move in this loop: those for which this statement is the first or the last one to name
    /// them.
    fn find_streams(&mut self, statements: &[Statement]) {
        let own = self.values.region.extent;
        let at = statements.iter().position(|statement| statement.extent == own);
        for item in self.items.iter_mut().filter(|item| item.is_array) {
            let names = |statement: &Statement| statement.items.contains(&item.key);
            let moves_in = item.copies_in() && at.is_some() && statements.iter().position(names) == at;
            let moves_out = item.copies_out() && at.is_some() && statements.iter().rposition(names) == at;
            item.map_type = match (moves_in, moves_out) {
                (true, true) => "tofrom",
                (true, false) => "to",
                (false, true) => "from",
                (false, false) => "alloc",
            }
            .to_owned();
        }
        maps::find_streams(&self.values, &mut self.items, &self.head, &self.found);
        if self.pipeline().is_heavy() {
            self.keep(|_| false);
        }
    }

    fn keep(&mut self, moves: impl Fn(VariableId) -> bool) {
        for item in self.items.iter_mut().filter(|item| !moves(item.key)) {
            item.tiled = None;
        }
    }

    fn moving_in(&self) -> impl Iterator<Item = VariableId> {
        self.items.iter().filter(|item| item.tiled.as_ref().is_some_and(|tiled| tiled.moves_in)).map(|item| item.key)
    }
}

/// Checks all preconditions of a `target data` construct.
///
/// # Errors
/// Why no array may move in tiles.
pub(super) fn checked<'a>(
    names: &Context<'a>,
    block: &TargetRegion,
    regions: &[TargetRegion],
    asked: impl FnOnce(&Block<'_, 'a>) -> Result<Verdict, Vec<Reason>>,
) -> Result<Verdict, Vec<Reason>> {
    check_text(names, block)?;
    let values = HostValues { names, region: block, extent: block.extent };
    let items = block_items(&values)?;
    let inside: Vec<&TargetRegion> = regions.iter().filter(|region| block.extent.contains(region.extent)).collect();
    let (mut loops, unread) = read_loops(&values, &items, &inside);
    let is_read = |region: &TargetRegion| loops.iter().any(|read| read.values.region.extent == region.extent);
    let statements = data_block::statements(names, block, &items, &inside, is_read)?;
    for read in &mut loops {
        read.find_streams(&statements);
    }
    let mut block = Block { values: &values, items, loops };
    block.settle();
    if block.loops.is_empty() && !unread.is_empty() {
        return Err(unread);
    }
    asked(&block)
}

fn block_items(values: &HostValues<'_, '_>) -> Result<Vec<Mapped>, Vec<Reason>> {
    let cx = values.cx();
    let refuse = |span, message: String| Err(vec![Reason::new(ReasonCode::TileClause, span, message)]);
    let clauses = values.region.chain.constructs.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
    if let Some(other) = clauses.into_iter().find(|clause| clause.name != ClauseName::Map) {
        return refuse(other.span, format!("`{}` does not go with tiles", cx.file.show(other.name_span)));
    }
    if cx.pipeline.window.is_some() {
        return refuse(values.region.extent, "a window has room for the arrays of one loop alone".to_owned());
    }
    maps::read(values, &values.region.chain.constructs)
}

/// The loops that are understood and reach only memory that the block maps, and the reasons against the others.
fn read_loops<'n, 'a>(
    values: &HostValues<'n, 'a>,
    items: &[Mapped],
    inside: &[&'n TargetRegion],
) -> (Vec<BlockLoop<'n, 'a>>, Vec<Reason>) {
    let (mut loops, mut unread) = (Vec::new(), Vec::new());
    for region in inside.iter().filter(|region| is_league_loop(region)) {
        let values = HostValues { names: values.names, region, extent: values.extent };
        let is_known = |item: &Mapped| !item.is_array || item.place != maps::Place::Loop;
        match read::read(&values, items) {
            Ok(Loop { of_grid, .. }) if !of_grid.is_empty() => unread.extend(of_grid),
            Ok(Loop { head, items, found, .. }) if items.iter().all(is_known) => {
                let sizes = sizes::usual(values.cx());
                loops.push(BlockLoop { values, head, items, found, sizes });
            }
            Ok(_) => {}
            Err(reasons) => unread.extend(reasons),
        }
    }
    (loops, unread)
}

/// A `target data` construct with the loops that become tiles.
pub(super) struct Block<'n, 'a> {
    values: &'n HostValues<'n, 'a>,
    items: Vec<Mapped>,
    loops: Vec<BlockLoop<'n, 'a>>,
}

impl<'a> Block<'_, 'a> {
    /// Keeps the loops in which an array moves, with sizes that suit all of them: each has an iteration for every tile.
    fn settle(&mut self) {
        loop {
            self.keep_pinned();
            self.loops.retain(|read| read.items.iter().any(|item| item.tiled.is_some()));
            let sizes = self.sequence().sizes();
            self.loops.iter_mut().for_each(|read| read.sizes = sizes);
            let count = self.loops.len();
            self.loops.retain(|read| !read.pipeline().is_too_short());
            if self.loops.len() == count {
                return;
            }
        }
    }

    /// Arrays that only come back are as fast from memory that is not page-locked, unless other copies run meanwhile.
    fn keep_pinned(&mut self) {
        if !self.values.cx().pipeline.pin.locks() {
            return;
        }
        let pinned: BTreeSet<VariableId> = self.loops.iter().flat_map(BlockLoop::moving_in).collect();
        for read in self.loops.iter_mut().filter(|read| read.moving_in().next().is_none()) {
            read.keep(|key| pinned.contains(&key));
        }
    }

    /// The loops one after the other, and the arrays that move in none of them.
    fn sequence(&self) -> Sequence<'_, '_, 'a> {
        let whole = self.items.iter().filter_map(|item| {
            let (moves_in, moves_out) = self.moves(item);
            let evaluated = self.evaluated(item.key)?;
            Some((evaluated, item.copies_in() && !moves_in, item.copies_out() && !moves_out))
        });
        let loops = self.loops.iter().map(BlockLoop::pipeline).collect();
        Sequence { values: self.values, loops, whole: whole.collect() }
    }

    /// The details for `explain`.
    fn details(&self) -> Vec<Detail> {
        let file = self.values.cx().file;
        let of_loop = |read: &BlockLoop<'_, '_>| {
            let line = file.lines.line_column(read.values.region.extent.start).line;
            let of_line = move |(name, how): (String, String)| (name, format!("{how} of the loop in line {line}"));
            read.pipeline().described().into_iter().map(of_line).collect::<Vec<_>>()
        };
        self.sequence().details(&self.loops.iter().flat_map(of_loop).collect::<Vec<_>>())
    }

    /// The item as a loop has it, including its length.
    fn evaluated(&self, key: VariableId) -> Option<&Mapped> {
        self.loops.iter().flat_map(|read| &read.items).find(|other| other.key == key)
    }

    /// Is an item copied in tiles of some loop, to the device and back?
    fn moves(&self, item: &Mapped) -> (bool, bool) {
        let of_item = self.loops.iter().flat_map(|read| &read.items).filter(|other| other.key == item.key);
        let tiled: Vec<&Tiled> = of_item.filter_map(|other| other.tiled.as_ref()).collect();
        (tiled.iter().any(|tiled| tiled.moves_in), tiled.iter().any(|tiled| tiled.moves_out))
    }

    /// Decides whether tiles pay, and writes them.
    pub(super) fn decide(&self) -> Result<Verdict, Vec<Reason>> {
        self.values.cx().explain(Pass::Pipeline, self.values.extent, || self.details());
        let Some((largest, item)) = self.largest() else { return Err(vec![self.no_stream()]) };
        if let Some(reason) = self.does_not_pay(&largest, item) {
            return Ok(Verdict::DoesNotPay(vec![reason]));
        }
        let edits = self.edits(&largest)?;
        let names: Vec<String> = self.moving().map(|item| format!("`{}`", item.name)).collect();
        let tiles = largest.tiles as usize;
        let loops = self.loops.len();
        let each = if loops == 1 { String::new() } else { format!(" of each of {loops} loops") };
        let summary = format!("{tiles} tiles{each}, whose copies of {} overlap the kernels", names.join(", "));
        let summary = summary + &self.locking(&largest).remark();
        let (kernels, reasons) = (Some((loops, loops * tiles)), assumptions(self.values));
        Ok(Verdict::Change(Change { edits, summary, reasons, kernels, ..Change::default() }))
    }

    /// The arrays that move in some loop, each once.
    fn moving(&self) -> impl Iterator<Item = &Mapped> {
        self.items.iter().filter_map(|item| {
            let mut streams = self.loops.iter().flat_map(|read| &read.items);
            streams.find(|other| other.key == item.key && other.tiled.is_some())
        })
    }

    /// The loop with the longest pieces, and their array.
    fn largest(&self) -> Option<(Pipeline<'_, 'a>, &Mapped)> {
        let mut found: Option<(&BlockLoop<'_, '_>, &Mapped)> = None;
        for read in &self.loops {
            for item in &read.items {
                let rank_of = |item: &Mapped| item.tiled.as_ref().map(rank);
                if rank_of(item) > found.and_then(|(_, item)| rank_of(item)) {
                    found = Some((read, item));
                }
            }
        }
        found.map(|(read, item)| (read.pipeline(), item))
    }

    /// Why no array moves in tiles.
    fn no_stream(&self) -> Reason {
        let copied = self.items.iter().find(|item| item.copies_in() || item.copies_out());
        let message = match copied {
            Some(item) => {
                format!("`{}` is first or last used by no loop that goes through it piece by piece", item.name)
            }
            None => "no array is copied".to_owned(),
        };
        let reason = Reason::new(ReasonCode::NoPieces, self.values.region.extent, message);
        match copied {
            Some(item) => reason.with_label(item.span, "mapped here"),
            None => reason,
        }
    }

    fn does_not_pay(&self, largest: &Pipeline<'_, '_>, item: &Mapped) -> Option<Reason> {
        let tiled = item.tiled.as_ref()?;
        let stays = |item: &&Mapped| {
            (item.copies_in() || item.copies_out()) && !self.moving().any(|moving| moving.key == item.key)
        };
        let length_rank = |item: &Mapped| self.evaluated(item.key).and_then(length_rank);
        if let Some(other) = self.items.iter().filter(stays).find(|other| length_rank(other) > Some(rank(tiled).0)) {
            let message = format!("most of what is copied moves in no tiles: `{}` does not", other.name);
            return Some(Reason::new(ReasonCode::TooLittleToCopy, other.span, message));
        }
        largest.never_pays().or_else(|| largest.too_little())
    }

    /// The edits: the block in two forms, and the `#include` line if it is missing.
    fn edits(&self, largest: &Pipeline<'_, '_>) -> Result<Vec<Edit>, Vec<Reason>> {
        let extent = self.values.region.extent;
        let refuse = |span, message: String| vec![Reason::new(ReasonCode::LoopNotTiled, span, message)];
        let construct = self.values.region.chain.innermost();
        if let Some((span, what)) = two_forms::cannot_stand_twice(self.values.names, construct, extent) {
            return Err(refuse(span, format!("the block cannot stand twice: {what}")));
        }
        compiler::translated(self.values.cx(), extent)?;
        let mut edits = include(self.values.cx(), extent.start).map_err(|message| refuse(extent, message))?;
        let no_text = || refuse(extent, "the pieces of its arrays have no short expression".to_owned());
        edits.push(self.both_forms(largest).ok_or_else(no_text)?);
        edits.extend(self.locking(largest).edits);
        Ok(edits)
    }

    /// Where the arrays are page-locked.
    fn locking(&self, largest: &Pipeline<'_, '_>) -> Locking {
        Locking::of(self.values, self.moving(), largest.least_bytes)
    }

    fn both_forms(&self, largest: &Pipeline<'_, '_>) -> Option<Edit> {
        let cx = self.values.cx();
        let construct = self.values.region.chain.innermost();
        let fresh = largest.fresh();
        let condition = self.condition(largest, &fresh)?;
        let constants = largest.constants(&fresh, &condition);
        let form = Form { construct, extent: self.values.region.extent, told: TILES_TOLD, constants, condition };
        let depth = form.depth();
        let locking = self.locking(largest);
        let pinned: Vec<&Mapped> = self.moving().filter(|item| locking.is_here(item)).collect();
        let mut lines: Vec<Line> = pinned.iter().map(|item| Line::Code(depth, item.pin())).collect();
        lines.push(Line::Directive(depth, "target data".to_owned(), self.data()));
        lines.push(Line::Original(depth, self.body(&fresh)?));
        lines.extend(pinned.iter().map(|item| Line::Code(depth, item.unpin())));
        form.write(cx, lines)
    }

    fn condition(&self, largest: &Pipeline<'_, '_>, fresh: &Fresh) -> Option<Vec<String>> {
        let mut terms: Vec<String> = Vec::new();
        for read in &self.loops {
            let iterations = read.pipeline().enough_iterations(fresh)?;
            terms.extend(iterations.into_iter().filter(|term| !terms.contains(term)).collect::<Vec<_>>());
        }
        terms.extend(largest.enough_bytes(fresh)?);
        terms.extend(self.moving().map(Mapped::is_absent));
        Some(terms)
    }

    /// The clauses of the data environment: arrays that move in tiles are not copied by it.
    fn data(&self) -> Vec<String> {
        let mut maps = Maps::default();
        for item in &self.items {
            let (moves_in, moves_out) = self.moves(item);
            let map_type = match (item.copies_in() && !moves_in, item.copies_out() && !moves_out) {
                (true, true) => "tofrom",
                (true, false) => "to",
                (false, true) => "from",
                (false, false) => "alloc",
            };
            maps.add(map_type, item.text.clone());
        }
        maps.clauses()
    }

    /// The text behind the construct's directive, with tiles instead of its loops.
    fn body(&self, fresh: &Fresh) -> Option<String> {
        let cx = self.values.cx();
        let region = self.values.region;
        let directive = cx.constructs.directive(region.chain.innermost());
        let rest = two_forms::lines_behind(cx.file, directive.span.end, region.extent.end)?;
        let own = cx.constructs.construct(region.chain.innermost()).body;
        let is_body = |read: &BlockLoop<'_, '_>| {
            let first = read.values.region.chain.constructs.first();
            first.and_then(|first| cx.constructs.construct(*first).body) == own
        };
        let has_blocks = self.loops.len() > 1 || self.loops.iter().any(is_body);
        let mut edits = Vec::new();
        for read in &self.loops {
            let extent = read.values.region.extent;
            let mut lines = Vec::new();
            let pipeline = read.pipeline();
            // Several loops use the same names for the bounds of their tiles.
            let depth = if has_blocks { 1 } else { 0 };
            if has_blocks {
                lines.push(Line::Code(0, "{".to_owned()));
            }
            lines.push(Line::Code(depth, pipeline.tile_length(fresh)));
            pipeline.tile_loop(fresh, depth, &mut lines)?;
            if has_blocks {
                lines.push(Line::Code(0, "}".to_owned()));
            }
            let construct = *read.values.region.chain.constructs.first()?;
            edits.push(Edit {
                span: two_forms::lines_of(cx.file, extent),
                text: lines::text(cx, construct, extent, lines)?,
            });
        }
        two_forms::edited(cx.file, rest, &edits)
    }
}
