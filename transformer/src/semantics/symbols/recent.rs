//! What was looked up last: passes ask for one name at one place several times in a row.

use std::sync::Arc;

use super::Variable;

/// A power of two. The table stays within a few hundred kilobytes.
const SLOTS: usize = 1 << 10;

/// The last answer for each slot, which a place and the length of the name decide.
#[derive(Default)]
pub(super) struct Recent {
    slots: Vec<Option<Answer>>,
}

struct Answer {
    name: String,
    at: usize,
    found: Option<Arc<Variable>>,
}

impl Recent {
    /// What a name means at a byte, if that is still known.
    pub fn get(&self, name: &str, at: usize) -> Option<&Option<Arc<Variable>>> {
        let answer = self.slots.get(slot(name, at))?.as_ref()?;
        (answer.at == at && answer.name == name).then_some(&answer.found)
    }

    pub fn put(&mut self, name: &str, at: usize, found: Option<Arc<Variable>>) {
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS, || None);
        }
        self.slots[slot(name, at)] = Some(Answer { name: name.to_owned(), at, found });
    }
}

fn slot(name: &str, at: usize) -> usize {
    (at + name.len()) % SLOTS
}
