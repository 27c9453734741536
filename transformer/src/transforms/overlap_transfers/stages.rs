//! Beside which statements each array travels.
//!
//! The copies of a stage and its statements begin together, and the block goes on when all of them have ended. So the block is cut where
//! an array is used first or last, and each transfer is given to the stretch in between whose kernels hide most of it.

use std::ops::Range;

use crate::context::Context;
use crate::transforms::overlap_transfers::block::{Block, Wish};
use crate::transforms::overlap_transfers::gain::{THREADS_MS, Times};
use crate::transforms::overlap_transfers::items::Way;

/// The least part of a transfer that kernels must hide.
const LEAST_HIDDEN: f64 = 0.1;

/// Statements with the copies that run beside them.
pub(super) struct Stage {
    pub statements: Range<usize>,
    /// Each with the milliseconds of it that the kernels hide.
    pub transfers: Vec<(Wish, f64)>,
}

/// The stages, in the order of the text. Transfers of which kernels hide too little stay where they are.
pub(super) fn stages(cx: &Context<'_>, block: &Block<'_>, wishes: &[Wish], times: &Times) -> Vec<Stage> {
    let is_forced = cx.pipeline.least_bytes.is_some();
    let mut wishes: Vec<Wish> = wishes.to_vec();
    loop {
        let stages = assigned(block, &wishes, times, is_forced);
        let is_given = |wish: &Wish| {
            let mut all = stages.iter().flat_map(|stage| &stage.transfers);
            all.any(|(given, _)| given.item == wish.item && given.way == wish.way)
        };
        let count = wishes.len();
        // What a kernel maps travels by itself both ways, or the kernel copies it.
        let lacks = |item: usize| wishes.iter().any(|wish| wish.item == item && !is_given(wish));
        let is_whole = |wish: &Wish| {
            let item = block.items.get(wish.item).filter(|item| item.of_kernel);
            item.is_none_or(|item| {
                let ways = [Way::In, Way::Out].into_iter().filter(|way| item.is_copied(*way));
                let own = wishes.iter().filter(|other| other.item == wish.item).count();
                ways.count() == own && !lacks(wish.item)
            })
        };
        let kept: Vec<Wish> = wishes.iter().filter(|wish| is_given(wish) && is_whole(wish)).cloned().collect();
        wishes = kept;
        // What stays cuts the block no more.
        if wishes.len() == count {
            return stages;
        }
    }
}

fn assigned(block: &Block<'_>, wishes: &[Wish], times: &Times, is_forced: bool) -> Vec<Stage> {
    let cuts: Vec<usize> = wishes
        .iter()
        .map(|wish| match wish.way {
            Way::In => wish.idle.end,
            Way::Out => wish.idle.start,
        })
        .collect();
    let stretches = block.stretches(&cuts);
    let with_kernels = stretches.into_iter().filter(|stretch| block.kernels_in(stretch) > 0);
    let mut stages: Vec<Stage> = with_kernels.map(|statements| Stage { statements, transfers: Vec::new() }).collect();
    let mut order: Vec<&Wish> = wishes.iter().collect();
    order.sort_by(|one, other| times.of_copy(other).total_cmp(&times.of_copy(one)));
    for wish in order {
        let copy = times.of_copy(wish);
        let open = block.open(wish);
        let mut best: Option<(f64, &mut Stage)> = None;
        for stage in stages.iter_mut() {
            if stage.statements.start < open.start || stage.statements.end > open.end {
                continue;
            }
            let taken: f64 =
                stage.transfers.iter().filter(|(other, _)| other.way == wish.way).map(|(_, hidden)| hidden).sum();
            let hidden = copy.min(times.of_kernels(&stage.statements) - taken).max(0.0);
            if best.as_ref().is_none_or(|(most, _)| hidden > *most) {
                best = Some((hidden, stage));
            }
        }
        if let Some((hidden, stage)) =
            best.filter(|(hidden, _)| is_forced || *hidden >= (LEAST_HIDDEN * copy).max(THREADS_MS))
        {
            stage.transfers.push((wish.clone(), hidden));
        }
    }
    stages.retain(|stage| !stage.transfers.is_empty());
    for stage in &mut stages {
        // In the order of the clauses, those to the device first.
        stage.transfers.sort_by_key(|(wish, _)| (wish.way == Way::Out, wish.item));
    }
    stages
}
