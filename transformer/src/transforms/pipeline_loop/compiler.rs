//! Which compilers tiles are written for.
//!
//! - LLVM: whatever is checked. This is what was run and measured.
//! - GCC: nothing but on demand (`--pipeline-from`). It takes the same text and honours `always`, but its runtime lets nothing
//!   overlap: the plugin for NVIDIA's GPUs copies under a lock of the device by `cuMemcpyHtoD` and `cuMemcpyDtoH`, launches on the
//!   default stream and waits for the whole context, holding another lock (`libgomp/target.c`, `libgomp/plugin/plugin-nvptx.c`). A
//!   `nowait` there is ignored as well.
//! - NVIDIA's HPC compilers: under an assumption, since nobody has run tiles with them.

use crate::context::{Context, OutputCompiler};
use crate::plan::{Change, Reason, ReasonCode, Verdict};
use crate::source::Span;

/// Checks that compilers can translate tiles at a place. clang 19 crashes on `parallel for` with `schedule` or
/// `num_threads` in a loop under `tile`.
///
/// # Errors
/// The directive under which it would crash.
pub(super) fn translated(cx: &Context<'_>, extent: Span) -> Result<(), Vec<Reason>> {
    let around = cx.constructs.ids().filter(|id| cx.constructs.construct(*id).body_span.contains(extent));
    match around.map(|id| cx.constructs.directive(id)).find(|directive| directive.is("tile")) {
        Some(directive) => {
            let message = "clang 19 crashes on the loop over tiles in a loop under this directive";
            Err(vec![Reason::new(ReasonCode::LoopNotTiled, directive.span, message)])
        }
        None => Ok(()),
    }
}

/// The verdict for a loop that could be cut into tiles.
pub(super) fn judged(cx: &Context<'_>, span: Span, mut change: Change) -> Verdict {
    let on_demand = cx.pipeline.least_bytes.is_some();
    match cx.pipeline.compiler {
        OutputCompiler::Gcc if !on_demand => {
            let message = "GCC's runtime copies and launches one after the other, from whichever threads: tiles would \
                           overlap nothing";
            let reason = Reason::new(ReasonCode::TooLittleToCopy, span, message)
                .with_label(span, "`--pipeline-from BYTES` cuts it all the same");
            return Verdict::DoesNotPay([vec![reason], change.reasons].concat());
        }
        OutputCompiler::Llvm | OutputCompiler::Gcc => {}
        OutputCompiler::Nvhpc => {
            let message = "assumes that NVIDIA's HPC compilers translate tiles as the specification has them";
            change.reasons.insert(0, Reason::new(ReasonCode::UntriedCompiler, span, message));
        }
    }
    Verdict::Change(change)
}
