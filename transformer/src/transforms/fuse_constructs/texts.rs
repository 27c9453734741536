//! What constructs would become, read as any other text: one text for all that ask at the same time, since reading a file takes longer than
//! deciding on a loop of it.
//!
//! All are asked in turns. In the first one nothing is read, and each tells which edits it wants to see made. Those are made together, so that in
//! the next turn each finds its own loop in that text. Who then wants to see other edits waits for another turn.
//!
//! What is found of a loop does not hang on the edits of others: these move statements and directives, and lose none but heads of loops, whose
//! variables are their own or stand in another head too. So whatever the file assigns, calls and declares is in that text as well.

use std::cell::{Cell, OnceCell, RefCell};

use crate::context::Context;
use crate::edit::{EditSet, Origins};
use crate::semantics::edited_text::EditedText;
use crate::semantics::{Compilation, Program};

/// How many texts are read for all. What is wanted then is read for each alone.
const MOST_TURNS: usize = 8;

/// The texts that can be asked in one turn.
pub(super) struct Texts<'t, 'p> {
    known: &'t [Known<'p>],
    wanted: RefCell<Vec<EditSet>>,
    waits: Cell<bool>,
    is_last_turn: bool,
}

/// A text with edits of several places.
struct Made {
    /// The edits, by who wanted them.
    sets: Vec<EditSet>,
    /// Nothing, if it cannot be read.
    text: Option<EditedText>,
}

struct Known<'p> {
    made: &'p Made,
    program: Option<(Program<'p>, &'p Origins)>,
}

/// Decides again and again, until no text is wanted any more.
pub(super) fn until_all_are_read(cx: &Context<'_>, mut decide: impl FnMut(&Texts<'_, '_>)) {
    let texts: [OnceCell<Made>; MOST_TURNS] = Default::default();
    let mut known = Vec::new();
    for place in &texts {
        let turn = Texts { known: &known, wanted: RefCell::default(), waits: Cell::new(false), is_last_turn: false };
        decide(&turn);
        let wanted = turn.wanted.into_inner();
        if wanted.is_empty() {
            return;
        }
        known.push(place.get_or_init(|| Made::of(cx, wanted)).known(cx.compilation));
    }
    decide(&Texts { known: &known, wanted: RefCell::default(), waits: Cell::new(false), is_last_turn: true });
}

impl Texts<'_, '_> {
    /// What the text with these edits answers. Nothing where it cannot be read, or has to be waited for.
    pub(super) fn ask<R>(
        &self,
        cx: &Context<'_>,
        edits: EditSet,
        question: impl FnOnce(&Program<'_>, &Origins) -> R,
    ) -> Option<R> {
        if let Some(known) = self.known.iter().find(|known| known.made.sets.contains(&edits)) {
            return known.program.as_ref().map(|(program, origins)| question(program, origins));
        }
        if self.is_last_turn {
            let made = Made::of(cx, vec![edits]);
            return made.known(cx.compilation).program.map(|(program, origins)| question(&program, origins));
        }
        if !self.waits.replace(true) {
            self.wanted.borrow_mut().push(edits);
        }
        None
    }

    /// Does something wait for a text since this was last forgotten? Then nothing that is decided counts.
    pub(super) fn waits(&self) -> bool {
        self.waits.get()
    }

    /// Goes on with something else.
    pub(super) fn forget(&self) {
        self.waits.set(false);
    }
}

impl Made {
    /// The text with what is wanted, but for what is wanted at a place that other edits change.
    fn of(cx: &Context<'_>, mut wanted: Vec<EditSet>) -> Self {
        let ends = |set: &EditSet| {
            let (first, last) = (set.edits().first(), set.edits().last());
            (first.map_or(0, |edit| edit.span.start), last.map_or(0, |edit| edit.span.end))
        };
        wanted.sort_by_key(ends);
        let mut sets: Vec<EditSet> = Vec::new();
        for set in wanted {
            if sets.last().is_none_or(|before| ends(before).1 < ends(&set).0) {
                sets.push(set);
            }
        }
        let all = sets.iter().flat_map(EditSet::edits).cloned().collect();
        let edits = EditSet::new(all).unwrap_or_default();
        Self { text: EditedText::of(cx, &edits), sets }
    }

    fn known<'p>(&'p self, of_file: Compilation<'p>) -> Known<'p> {
        let program = self.text.as_ref().map(|text| (text.program(of_file), &text.origins));
        Known { made: self, program }
    }
}
