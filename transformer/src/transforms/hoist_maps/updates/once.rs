//! What a loop of the host reads, and no construct in it changes, comes back once, before the loop.

use crate::syntax::NodeId;
use crate::transforms::hoist_maps::blocks::Statement;
use crate::transforms::hoist_maps::updates::Wanted;
use crate::transforms::hoist_maps::updates::elements::Piece;
use crate::transforms::hoist_maps::updates::places::{self, Place, Update};

impl Wanted<'_, '_> {
    /// The updates in a loop, those that may be made before it as one. Where the environment has just opened, the host needs none of them.
    pub(super) fn brought_once(
        &self,
        statement: &Statement,
        around: Option<NodeId>,
        found: Vec<Update>,
        opens_here: bool,
    ) -> Vec<Update> {
        let Some(place) = places::around(self.cx, statement.node) else { return found };
        let place = Place { behind: place.before, ..place };
        let is_changed = found.iter().any(|update| !update.piece.to.is_empty()) || self.is_changed_in(statement);
        if is_changed || !self.is_named_at(place.both()) {
            return found;
        }
        let (free, mut others): (Vec<Update>, Vec<Update>) =
            found.into_iter().partition(|update| self.may_move_before(update, statement, place));
        let Some((first, rest)) = free.split_first() else { return others };
        let once = rest.iter().fold(first.clone(), |all, update| all.with(update, &self.item.text));
        let (fits, piece) = if opens_here {
            (Vec::new(), Piece::default())
        } else {
            (once.lies.clone().unwrap_or_default(), once.piece.clone())
        };
        others.insert(0, Update { around, fits, piece, place, is_closed: true, ..once });
        others
    }

    fn may_move_before(&self, update: &Update, statement: &Statement, place: Place) -> bool {
        update.condition.is_none()
            && update.lies.is_some()
            && update.piece.is_stable(self.cx, &statement.host, place.both())
    }

    /// May a construct in the loop change what the variable leads to, or the host make it lead elsewhere?
    fn is_changed_in(&self, statement: &Statement) -> bool {
        statement.changes(self.cx, self.all, self.item.named.id)
            || statement.host.writes_variable(self.item.named.id).is_some()
            || !statement.exchanges.is_empty()
    }
}
