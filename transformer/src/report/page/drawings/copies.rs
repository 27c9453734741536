//! Which data are copied how often, before and after they stay on the device.

use std::fmt::Write;

use crate::plan::{Pass, Plan};
use crate::report::page::drawings::read::{self, Held};
use crate::report::page::drawings::{rectangle, svg};
use crate::report::page::html::escape;

/// How many passes of a loop are drawn.
const PASSES: u64 = 3;
/// The width of a pass, and of each end.
const PASS: u64 = 60;
const END: u64 = 16;
const HEIGHT: u64 = 22;
/// More copies in one pass are not drawn, but told.
const MOST: u64 = 6;

/// How often data are copied that stay on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::report::page) struct Copies {
    /// Before: in each pass of a loop, or in all.
    pub before: u64,
    /// Afterwards, those in between once for each pass.
    pub after: u64,
}

impl Copies {
    /// The copies of a plan of `hoist`.
    pub(in crate::report::page) fn of(plan: &Plan) -> Self {
        let lines = plan.details.iter().filter(|_| plan.pass == Pass::Hoist);
        lines
            .filter_map(|detail| read::held(&detail.text))
            .fold(Self::default(), |sum, held| Self { before: sum.before + held.copies, after: sum.after + now(&held) })
    }
}

fn now(held: &Held) -> u64 {
    u64::from(held.ends.0) + u64::from(held.ends.1) + held.between
}

/// A table with a line for each variable.
pub(super) fn drawing<'a>(lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let held: Vec<Held> = lines.filter_map(read::held).collect();
    let is_loop = held.first()?.is_in_each_pass;
    let heads = if is_loop {
        ("Copies before, three passes", "Copies now, three passes")
    } else {
        ("Copies before", "Copies now")
    };
    let mut table = format!(
        "<div class=\"wide\"><table><tr><th>Data</th><th>Bytes</th><th>{}</th><th>{}</th></tr>",
        heads.0, heads.1
    );
    for held in &held {
        let (before, after) = (row(held, false), row(held, true));
        // Writing to a string never fails.
        let _written = write!(
            table,
            "<tr><td><code>{}</code></td><td><code>{}</code></td><td>{before}</td><td>{after}</td></tr>",
            escape(&held.name),
            escape(&held.bytes)
        );
    }
    Some(table + "</table></div>")
}

/// The copies of a variable along time.
fn row(held: &Held, is_after: bool) -> String {
    let passes = if held.is_in_each_pass { PASSES } else { 1 };
    let width = 2 * END + passes * PASS;
    let mut drawn = String::new();
    let inside = if is_after { held.between } else { held.copies };
    for pass in 0..passes {
        let from = END + pass * PASS;
        drawn += &rectangle("pass", (from + 1, 3), (PASS - 2, HEIGHT - 6));
        for copy in 0..inside.min(MOST) {
            drawn += &rectangle("copy", (from + 5 + copy * 9, 1), (4, HEIGHT - 2));
        }
    }
    if is_after {
        drawn += &rectangle("held", (END, HEIGHT / 2 - 2), (passes * PASS, 4));
        let ends = [(held.ends.0, END / 2), (held.ends.1, END + passes * PASS + END / 2 - 4)];
        let copies = ends.into_iter().filter(|(is_there, _)| *is_there);
        drawn.extend(copies.map(|(_, at)| rectangle("copy", (at, 1), (4, HEIGHT - 2))));
    }
    let all = if is_after { now(held) } else { held.copies };
    let when = if is_after || !held.is_in_each_pass { "" } else { " in each pass" };
    let says = format!("{all} copies{when}");
    format!("{}<br><span class=\"soft\">{says}</span>", svg(width, HEIGHT, &says, &drawn))
}
