//! Writes both forms of a region, the split one and the original, under a host `if`.

use crate::edit::Edit;
use crate::transforms::split_target::facts::cost::condition::Condition;
use crate::transforms::split_target::write::Output;
use crate::transforms::two_forms::{self, Twice};

/// One edit that writes both forms. `None` if the split form's edits do not lie within the region.
pub(crate) fn write(output: &Output<'_, '_>, edits: &[Edit], condition: &Condition) -> Option<Edit> {
    let first = *output.shape.outer.first()?;
    let now = if output.shape.form.widens() { "the one team" } else { "the one kernel" };
    let comment = format!("Shorter loops are faster in {now}: each kernel is a launch (estimate for an NVIDIA H200).");
    let region = Twice::of_region(output.cx, (first, output.region.extent))?;
    two_forms::both(output.cx, &region, edits, &[condition.to_string()], &comment)
}
