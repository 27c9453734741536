//! Whether `parallel sections` beside the loops of one team can stay a kernel of one team, as they are.
//!
//! The team of their own `target` construct executes them like the region's one team. Variables that they use and
//! change are handled as for serial statements.

use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::target::Chain;
use crate::semantics::Program;
use crate::source::{Span, Spelling};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{ClauseName, NodeId};

/// Sections that become a kernel of one team.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sections {
    pub construct: ConstructId,
    pub body: NodeId,
    /// With its directives.
    pub span: Span,
}

/// Does the chain lead to sections?
pub(super) fn are_sections(chain: &Chain) -> bool {
    chain.leaves == [Leaf::Parallel, Leaf::Sections]
}

/// The sections as a kernel of their own. The error holds the reason why they cannot be one.
pub(super) fn read(cx: &Program<'_>, chain: &Chain) -> Result<Sections, Reason> {
    let id = chain.innermost();
    let first = chain.constructs.first().copied().unwrap_or(id);
    let construct = cx.constructs.construct(id);
    let refuse = |code, span, message: String| Err(Reason::new(code, span, message));
    for id in &chain.constructs {
        let directive = cx.constructs.directive(*id);
        if directive.spelling != Spelling::Pragma {
            return refuse(ReasonCode::Spelling, directive.span, "only `#pragma` directives are rewritten".to_owned());
        }
        // A list may copy a value that the region has written.
        if let Some(clause) = directive.clauses.iter().find(|clause| clause.name != ClauseName::Nowait) {
            let name = cx.file.show(clause.name_span);
            let message = format!("the kernels that the split makes cannot take over `{name}`");
            return refuse(ReasonCode::ClauseWithoutRule, clause.span, message);
        }
    }
    if let Some((_, inner)) = cx.constructs.within(construct.body_span).find(|(_, inner)| inner.name != "section") {
        return Err(super::outside_loop(inner));
    }
    let start = cx.constructs.directive(first).span.start;
    let Some(body) = construct.body else {
        let message = "there is no statement behind this directive".to_owned();
        return refuse(ReasonCode::SyntaxError, construct.body_span, message);
    };
    let span = Span::new(start, construct.body_span.end);
    Ok(Sections { construct: id, body, span })
}

/// Do these leaves belong to the directive of such a kernel?
pub(super) fn holds(chain: &[Leaf]) -> bool {
    chain == [Leaf::Target, Leaf::Parallel, Leaf::Sections]
}
