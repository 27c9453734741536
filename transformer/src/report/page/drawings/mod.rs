//! Drawings of what passes decided: the grid on the device, the copies of data that stay there, the timeline of a pipeline. They are SVG
//! inside the page and take their colours from it, so that they suit light and dark.

mod copies;
mod grid;
mod read;
mod timeline;

use crate::analysis::data_environment::{Entry, Treatment};
use crate::device::DeviceProfile;
use crate::plan::{Pass, Plan};
use crate::report::page::html::escape;

pub(super) use copies::Copies;
pub(super) use timeline::{SIZE, times_of_size};

/// The drawing of a plan that is written, if its pass has one.
pub(super) fn of(plan: &Plan, device: Option<&DeviceProfile>) -> Option<String> {
    let lines = || plan.details.iter().map(|detail| detail.text.as_str());
    match plan.pass {
        Pass::Geometry => grid::drawing(lines(), device?),
        Pass::Hoist => copies::drawing(lines()),
        Pass::Pipeline => timeline::drawing(lines(), device),
        _ => None,
    }
}

/// What the maps of a region copy, by its data environment: one line.
pub(super) fn own_copies(data: &[Entry]) -> Option<String> {
    let (mut to, mut from) = (Vec::new(), Vec::new());
    for entry in data {
        let Treatment::Mapped(words) = &entry.treatment else { continue };
        let Some(item) = read::mapped(words) else { continue };
        if item.to {
            to.push(item.words.clone());
        }
        if item.from {
            from.push(item.words);
        }
    }
    let side = |items: &[String], way: &str| match items.len() {
        0 => format!("nothing {way}"),
        count => format!("{count} {way} (<code>{}</code>)", escape(&items.join(", "))),
    };
    (!to.is_empty() || !from.is_empty())
        .then(|| format!("Its maps copy {}, {}", side(&to, "to the device"), side(&from, "back")))
}

/// An SVG of this size with a description for those who cannot see it.
fn svg(width: u64, height: u64, says: &str, body: &str) -> String {
    let says = escape(says);
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{says}\">{body}</svg>"
    )
}

/// A text in a drawing.
fn text(x: u64, y: u64, words: &str) -> String {
    format!("<text x=\"{x}\" y=\"{y}\">{}</text>", escape(words))
}

/// A rectangle of a class of `style.css`.
fn rectangle(class: &str, (x, y): (u64, u64), (width, height): (u64, u64)) -> String {
    format!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>")
}
