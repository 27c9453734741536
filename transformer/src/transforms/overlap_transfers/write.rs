//! The block in its two forms.

use crate::context::{Context, PinnedMemory};
use crate::edit::Edit;
use crate::edit::directive_writer::{line_start, on_one_line};
use crate::plan::{Reason, ReasonCode};
use crate::region::target::TargetRegion;
use crate::source::Span;
use crate::syntax::{Clause, ClauseName};
use crate::transforms::host_copies::include::include;
use crate::transforms::host_copies::lines::{self, Form, Line, Maps};
use crate::transforms::overlap_transfers::block::{Block, Wish};
use crate::transforms::overlap_transfers::items::{Item, Size, Transfer, Way};
use crate::transforms::overlap_transfers::stages::Stage;
use crate::transforms::two_forms;

/// What is to be written.
pub(super) struct Overlapped<'o, 'b> {
    pub region: &'o TargetRegion,
    pub block: &'o Block<'b>,
    pub stages: &'o [Stage],
    /// The least bytes of the largest array for which copies and kernels overlap.
    pub least_bytes: u64,
}

impl Overlapped<'_, '_> {
    /// The edits: the two forms, and the header's line where it is missing.
    ///
    /// # Errors
    /// Why they cannot be written here.
    pub(super) fn edits(&self, cx: &Context<'_>) -> Result<Vec<Edit>, Reason> {
        let extent = self.region.extent;
        let refuse = |span, message: String| Reason::new(ReasonCode::TransferPlace, span, message);
        if let Some((span, what)) = two_forms::cannot_stand_twice(cx, self.region.chain.innermost(), extent) {
            return Err(refuse(span, format!("the block cannot stand twice: {what}")));
        }
        for stage in self.stages {
            let span = self.span_of(stage);
            let before = Span::new(line_start(&cx.file.text, span.start), span.start);
            if !cx.file.bytes(before).iter().all(u8::is_ascii_whitespace) {
                return Err(refuse(span, "this statement does not begin its line".to_owned()));
            }
        }
        let mut edits = include(cx, extent.start).map_err(|message| refuse(extent, message))?;
        let no_form = || refuse(extent, "the block has no text that can be written in two forms".to_owned());
        edits.push(self.both_forms(cx).ok_or_else(no_form)?);
        Ok(edits)
    }

    /// The transfers that move, in the order of the stages.
    fn moving(&self) -> impl Iterator<Item = (&Wish, &Transfer)> {
        self.stages.iter().flat_map(|stage| &stage.transfers).filter_map(|(wish, _)| Some((wish, self.transfer(wish)?)))
    }

    fn transfer(&self, wish: &Wish) -> Option<&Transfer> {
        self.block.items.get(wish.item)?.transfer.as_ref().ok()
    }

    /// Their arrays, each once.
    fn arrays(&self) -> Vec<(usize, &Transfer)> {
        let mut found: Vec<(usize, &Transfer)> = self.moving().map(|(wish, transfer)| (wish.item, transfer)).collect();
        found.sort_by_key(|(item, _)| *item);
        found.dedup_by_key(|(item, _)| *item);
        found
    }

    fn both_forms(&self, cx: &Context<'_>) -> Option<Edit> {
        let construct = self.region.chain.innermost();
        let least = cx.fresh_in(self.region.extent, "LEAST_BYTES");
        let condition = self.condition(cx, &least);
        let needs_least = condition.iter().any(|term| term.contains(&least));
        let constants = if needs_least { vec![format!("{least} = {}", self.least_bytes)] } else { Vec::new() };
        let told = "Host threads copy beside the kernels that do not use what is copied";
        let form = Form { construct, extent: self.region.extent, told, constants, condition };
        let depth = form.depth();
        let arrays = self.arrays();
        let locked: Vec<(String, String)> =
            arrays.iter().filter_map(|(_, transfer)| transfer.locking(cx.pipeline.pin)).collect();
        let mut written: Vec<Line> = locked.iter().map(|(lock, _)| Line::Code(depth, lock.clone())).collect();
        written.push(Line::Directive(depth, "target data".to_owned(), self.maps()));
        written.push(Line::Original(depth, self.body(cx)?));
        written.extend(locked.into_iter().map(|(_, unlock)| Line::Code(depth, unlock)));
        form.write(cx, written)
    }

    /// What must hold for that form: the construct maps, there is enough to copy, and nothing of it is on the device.
    fn condition(&self, cx: &Context<'_>, least: &str) -> Vec<String> {
        let clauses = cx.constructs.directive(self.region.chain.innermost()).clauses_of(ClauseName::If);
        let mut terms: Vec<String> =
            clauses.filter_map(Clause::expression).map(|span| format!("({})", on_one_line(cx.file, span))).collect();
        let rank = |transfer: &Transfer| match transfer.size {
            Size::Known(bytes) => (0, bytes),
            Size::Unknown { lengths, element } => (lengths, element),
        };
        let arrays = self.arrays();
        // Of arrays that are as long, the first.
        let largest = arrays.iter().rev().max_by_key(|(_, transfer)| rank(transfer));
        if let Some((_, transfer)) = largest.filter(|(_, transfer)| matches!(transfer.size, Size::Unknown { .. })) {
            terms.push(format!("{} >= {least}", transfer.bytes));
        }
        terms.extend(arrays.iter().map(|(_, transfer)| transfer.is_absent()));
        terms
    }

    /// The clauses of the data construct: what moves by itself is not copied by it.
    fn maps(&self) -> Vec<String> {
        let moves = |item: usize, way: Way| self.moving().any(|(wish, _)| wish.item == item && wish.way == way);
        let mut maps = Maps::default();
        let is_mapped =
            |number: usize, item: &Item| !item.of_kernel || self.moving().any(|(wish, _)| wish.item == number);
        let items = self.block.items.iter().enumerate();
        for (number, item) in items.filter(|(number, item)| is_mapped(*number, item)) {
            let stays = |way: Way| item.is_copied(way) && !moves(number, way);
            let map_type = match (stays(Way::In), stays(Way::Out)) {
                (true, true) => "tofrom",
                (true, false) => "to",
                (false, true) => "from",
                (false, false) => "alloc",
            };
            maps.add(map_type, item.text.clone());
        }
        maps.clauses()
    }

    /// From the first statement of a stage to the end of its last one.
    fn span_of(&self, stage: &Stage) -> Span {
        let statements = self.block.statements.get(stage.statements.clone()).unwrap_or_default();
        let start = statements.first().map_or(0, |statement| statement.extent.start);
        Span::new(start, statements.last().map_or(start, |statement| statement.extent.end))
    }

    /// The text behind the construct's directive, with the stages instead of their statements.
    fn body(&self, cx: &Context<'_>) -> Option<String> {
        let directive = cx.constructs.directive(self.region.chain.innermost());
        let rest = two_forms::lines_behind(cx.file, directive.span.end, self.region.extent.end)?;
        let edits: Option<Vec<Edit>> = self.stages.iter().map(|stage| self.stage(cx, stage)).collect();
        two_forms::edited(cx.file, rest, &edits?)
    }

    fn stage(&self, cx: &Context<'_>, stage: &Stage) -> Option<Edit> {
        let span = self.span_of(stage);
        let whole = two_forms::lines_of(cx.file, span);
        let original = std::str::from_utf8(cx.file.bytes(whole)).ok()?;
        let threads = format!("num_threads(ompsplit_threads({}))", stage.transfers.len() + 1);
        let section = || Line::Directive(1, "section".to_owned(), Vec::new());
        let mut written = vec![
            Line::Directive(0, "parallel sections".to_owned(), vec![threads]),
            Line::Code(0, "{".to_owned()),
            section(),
            Line::Code(1, "{".to_owned()),
            Line::Original(2, original.to_owned()),
            Line::Code(1, "}".to_owned()),
        ];
        for (wish, _) in &stage.transfers {
            written.push(section());
            written.extend(self.copy(cx, wish)?);
        }
        written.push(Line::Code(0, "}".to_owned()));
        let statements = self.block.statements.get(stage.statements.clone())?;
        let first = statements.first()?.node?;
        let kernel =
            statements.iter().flat_map(|statement| self.block.kernels.get(statement.kernels.clone())).flatten();
        let kernel = kernel.copied().next()?;
        let construct = *kernel.chain.constructs.first()?;
        Some(Edit { span: whole, text: lines::text_at(cx, construct, (span, first), written)? })
    }

    /// The statement that copies.
    fn copy(&self, cx: &Context<'_>, wish: &Wish) -> Option<Vec<Line>> {
        let item = self.block.items.get(wish.item)?;
        if cx.pipeline.pin == PinnedMemory::Stage {
            return Some(vec![Line::Code(1, self.transfer(wish)?.call(wish.way))]);
        }
        let way = match wish.way {
            Way::In => "to",
            Way::Out => "from",
        };
        // A directive alone is no statement of a section.
        let update = Line::Directive(2, "target update".to_owned(), vec![format!("{way}({})", item.text)]);
        Some(vec![Line::Code(1, "{".to_owned()), update, Line::Code(1, "}".to_owned())])
    }
}
