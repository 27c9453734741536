//! Variables from before a region that its sequential loops count with, as C89 asks for: `for (t = 0; ..)`.
//!
//! The region has a copy of its own of such a variable. Where each use of it in the region stands in a `for` that assigns it
//! first, the copies of the output are variables of these loops, and the one before the region stays what it is.

use crate::analysis::symbols::DeclaredType;
use crate::analysis::uses::uses_below;
use crate::plan::{Reason, ReasonCode};
use crate::region::target::{Segment, TargetRegion};
use crate::source::Span;
use crate::syntax::NodeId;
use crate::syntax::spec_table::Leaf;
use crate::transforms::split_target::names::{Kind, Names};

/// A variable that becomes one of a sequential loop.
#[derive(Clone, Debug)]
pub(super) struct LoopVariable {
    pub name: String,
    /// Where the variable from before the region is declared.
    pub declared: Span,
    /// The `for` statement.
    pub extent: Span,
    /// Where the loop assigns it.
    pub assigned: Span,
    /// Its type, where the loop declares it anew. None where nothing else in the program uses it: the host may count with it.
    pub new_type: Option<String>,
}

/// The loop variables of a region.
pub(super) fn loop_variables(names: &Names<'_>, region: &TargetRegion) -> Vec<LoopVariable> {
    // Each thread of a `parallel` region may have a variable of its own, so what stands in one is left out.
    if region.chain.leaves.contains(&Leaf::Parallel) {
        return Vec::new();
    }
    let mut flows = Vec::new();
    let mut waiting: Vec<&Segment> = region.segments.iter().rev().collect();
    while let Some(segment) = waiting.pop() {
        if let Segment::Flow(flow) = segment {
            flows.push(flow.node);
            waiting.extend(flow.segments.iter().rev());
        }
    }
    let mut found: Vec<LoopVariable> =
        flows.into_iter().filter_map(|flow| loop_variable(names, region, flow)).collect();
    for index in 0..found.len() {
        let one = &found[index];
        let same: Vec<Span> = found.iter().filter(|l| l.declared == one.declared).map(|l| l.extent).collect();
        // A loop inside another that counts with the same variable changes that one's.
        let inner = same.iter().any(|extent| *extent != one.extent && extent.contains(one.extent));
        if inner || !is_used_elsewhere(names, region, one, &same) {
            found[index].new_type = None;
        }
    }
    found
}

/// A `for` around other statements that begins with an assignment to an integer from before the region.
fn loop_variable(names: &Names<'_>, region: &TargetRegion, flow: NodeId) -> Option<LoopVariable> {
    let cx = names.cx;
    let tree = cx.tree;
    let initializer = tree.child(flow, "initializer").filter(|node| tree.kind(*node) == "assignment_expression")?;
    let target = tree.child(initializer, "left").filter(|node| tree.kind(*node) == "identifier")?;
    let plain = tree.child(initializer, "operator").is_some_and(|operator| tree.kind(operator) == "=");
    let assigned = tree.span(target);
    let name = cx.file.show(assigned).into_owned();
    let value = tree.child(initializer, "right")?;
    let reads_itself = uses_below(cx.file, tree, value).iter().any(|used| used.name == name);
    let declared = names.declared_at(&name, assigned.start)?;
    let body = cx.constructs.construct(region.chain.innermost()).body_span;
    let is_number = matches!(names.kind(&name, assigned.start), Kind::Scalar { wide: false, builtin: true, .. });
    let Some(DeclaredType::Scalar { name: type_name, .. }) = names.declared_type(&name, assigned.start) else {
        return None;
    };
    let own = names.cannot_be_aliased(&name, assigned.start) && !names.is_threadprivate(&name);
    (plain && !reads_itself && is_number && own && !body.contains(declared)).then(|| LoopVariable {
        name,
        declared,
        extent: tree.span(flow),
        assigned,
        new_type: Some(type_name),
    })
}

/// Does anything but these loops, and the region's own directives, name the variable?
fn is_used_elsewhere(names: &Names<'_>, region: &TargetRegion, variable: &LoopVariable, loops: &[Span]) -> bool {
    let cx = names.cx;
    let inside = |span: Span| loops.iter().any(|extent| extent.contains(span));
    let in_code = names.uses_of(&variable.name).any(|span| {
        span != variable.declared
            && !inside(span)
            && names.declared_at(&variable.name, span.start) == Some(variable.declared)
    });
    let own = |span: Span| region.chain.constructs.iter().any(|id| cx.constructs.directive(*id).span == span);
    let mut directives = cx.constructs.directives.iter().filter(|other| !inside(other.span) && !own(other.span));
    in_code
        || directives.any(|directive| {
            let text = cx.file.show(directive.span);
            text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == variable.name)
        })
}

/// What the value of such a variable after its loop would be needed for.
pub(super) fn read_behind(variable: &LoopVariable, at: Span) -> Reason {
    let message = format!("`{}` may have the value here that a loop of the region left in it", variable.name);
    Reason::new(ReasonCode::ScalarWritten, at, message)
}
