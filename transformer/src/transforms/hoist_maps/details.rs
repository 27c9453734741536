//! What `explain` says of an environment: how often each of its variables was copied, how often it still is, and how many bytes that is.

use crate::plan::Detail;
use crate::transforms::hoist_maps::environments::{Block, Environment, Held};
use crate::transforms::hoist_maps::storage::{bytes, total};

/// The lines, for an environment around one loop or around neighbouring constructs.
pub(super) fn details(block: &Block<'_, '_>, environment: &Environment) -> Vec<Detail> {
    let is_loop = environment.statements.0 == environment.statements.1;
    let before = if is_loop { "copied {} x in each pass" } else { "copied {} x" };
    let mut lines = vec![Detail::head("data that stay:")];
    for held in &environment.held {
        let size = bytes(block.cx, &held.item);
        let was = before.replace("{}", &held.copies.to_string());
        let text = format!("{}: {size} bytes, {was} until now; now {}", held.item.named.name, now(held));
        lines.push(Detail::inner(text).at(held.item.span));
    }
    let sum = total(block, &environment.held);
    lines.push(Detail::head(format!("on the device at once: {sum} bytes; until now, what one construct maps")));
    lines
}

/// How a variable travels in the environment.
fn now(held: &Held) -> String {
    let ends = match (held.to, held.from) {
        (true, true) => "brought once and back once",
        (true, false) => "brought once",
        (false, true) => "brought back once",
        (false, false) => "only allocated",
    };
    let pieces: Vec<String> = held
        .updates
        .iter()
        .flat_map(|update| {
            let to = update.piece.to.iter().map(|item| format!("`{item}` brought"));
            to.chain(update.piece.from.iter().map(|item| format!("`{item}` brought back")))
        })
        .collect();
    if pieces.is_empty() { ends.to_owned() } else { format!("{ends}; in between {}", pieces.join(", ")) }
}
