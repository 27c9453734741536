//! What is known of a region whose shape fits, or why it is refused: its clauses, what each loop does with the variables around it,
//! what the host can execute of the rest, and the data environment.
//!
//! Nothing here writes: the checks give facts or reasons.

pub(crate) mod cost;
pub(crate) mod data;
mod iterations;
pub(crate) mod local_arrays;
mod mappers;
pub(crate) mod pieces;
mod races;
pub(crate) mod serial;
mod written_first;

use std::collections::BTreeMap;

use crate::plan::Reason;
use crate::region::target::TargetRegion;
use crate::semantics::Program;
use crate::source::Span;
use crate::syntax::NodeId;
use crate::transforms::checks::excludes_directives;
use crate::transforms::split_target::shape::clauses::{self, RegionClauses};
use crate::transforms::split_target::shape::{HostPart, Shape};

use self::data::DataEnvironment;
use self::local_arrays::LocalArrays;
use self::pieces::Piece;
use self::serial::Runs;

/// What is known of a region that will be split.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub clauses: RegionClauses,
    /// The pieces that become kernels, in the order of the text.
    pub pieces: Vec<Piece>,
    /// The parts that move to the host.
    pub host: Vec<HostPart>,
    /// Arrays that the region declares and its loops use.
    pub arrays: Vec<LocalArrays>,
    pub data: DataEnvironment,
}

impl Facts {
    /// How many kernels with one thread there are.
    pub(super) fn of_one_thread(&self) -> usize {
        let runs = self.pieces.iter().filter_map(|piece| piece.serial.as_ref());
        runs.filter(|run| run.team.is_none()).count()
    }

    /// The assumptions, and notes for the user.
    pub(super) fn remarks(&self, cx: &Program<'_>, shape: &Shape) -> Vec<Reason> {
        let assumed = self.pieces.iter().find_map(|piece| piece.assumed.first());
        let races = races::between_loops(cx, shape, &self.pieces);
        self.data.remarks.iter().chain(assumed).cloned().chain(races).collect()
    }

    /// The statements between the loops, and who executes each in the output.
    pub(super) fn executed_by(&self, cx: &Program<'_>) -> Vec<(Span, String)> {
        let runs = self.pieces.iter().filter_map(|piece| piece.serial.as_ref()).map(|run| match run.steering {
            None if run.team.is_some() => (run.span, "sections: a kernel of one team"),
            Some(_) => (run.span, "condition on the device: a kernel of one thread"),
            None => (run.span, "serial on the device: a kernel of one thread"),
        });
        let host = self.host.iter().map(|part| (cx.tree.span(part.node()), "on the host"));
        let arrays = self.arrays.iter().map(|array| cx.tree.span(array.node));
        let arrays = arrays.map(|span| (span, "on the device for the rest of its block"));
        let all = runs.chain(host).chain(arrays).map(|(span, words)| (span, words.to_owned()));
        let mut all: Vec<(Span, String)> = all.collect();
        all.sort();
        all
    }
}

/// Checks a region whose shape fits. The error holds the reasons to refuse it.
pub(super) fn facts_of(cx: &Program<'_>, region: &TargetRegion, shape: &Shape) -> Result<Facts, Vec<Reason>> {
    let whole = cx.device_code(region).or_else(|| excludes_directives(cx, region));
    if let Some(reason) = whole.or_else(|| mappers::forbids_nested_maps(cx, region)) {
        return Err(vec![reason]);
    }
    let (clauses, loop_clauses, mut reasons) = clauses::read(cx, shape);
    reasons.extend(cx.named_in_two_ways(region));
    reasons.extend(cx.macro_lvalues(region));
    let loops = shape.loops.iter().zip(loop_clauses).map(|(chain, mut clauses)| {
        iterations::keep_last_uses(cx, chain, &mut clauses);
        pieces::read(cx, chain, clauses)
    });
    let sections = shape.sections.iter().map(|sections| pieces::read_serial(cx, sections.into()));
    let mut pieces = kept(loops.chain(sections), &mut reasons);
    let on_device: BTreeMap<NodeId, Vec<Reason>> = data::not_on_host(cx, shape, &clauses, &pieces);
    let found = serial::runs(cx, region, shape, &on_device).map_err(|more| [reasons.clone(), more].concat())?;
    let Runs { runs, arrays, host } = found;
    pieces.extend(kept(runs.into_iter().map(|run| pieces::read_serial(cx, run)), &mut reasons));
    pieces.sort_by_key(|piece| piece.extent.start);
    let data = data::build(cx, shape, &clauses, &pieces, &host, &arrays);
    let data = data.map_err(|more| [reasons.clone(), more].concat())?;
    reasons.extend(iterations::reasons(cx, region, &clauses, &pieces, &data));
    if reasons.is_empty() { Ok(Facts { clauses, pieces, host, arrays, data }) } else { Err(reasons) }
}

/// The pieces that can be kernels. The reasons against the others are collected.
fn kept(read: impl Iterator<Item = Result<Piece, Vec<Reason>>>, reasons: &mut Vec<Reason>) -> Vec<Piece> {
    read.filter_map(|piece| piece.map_err(|more| reasons.extend(more)).ok()).collect()
}
