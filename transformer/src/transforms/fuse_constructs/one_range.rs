//! Constructs whose ranges differ by numbers, as those of neighbouring points of a grid do: one loop over the range of all, in which each asks
//! whether an iteration is one of its own.

use super::host_loop;
use super::lists::Lists;
use super::members::Member;
use super::write::Asked;
use super::{Stopped, apart, heads};
use crate::analysis::accesses::accesses_in;
use crate::context::Context;
use crate::edit::Edit;
use crate::edit::directive_writer::on_one_line;
use crate::plan::Reason;
use crate::region::loop_nest::{CanonicalLoop, Relation};
use crate::source::Span;
use crate::transforms::checks::heads::operand;

/// The loops over the ranges of several constructs.
pub(super) struct OneRange {
    /// The heads of the first construct's loops, and what they become.
    heads: Vec<(Span, String)>,
    /// What makes an iteration one of each construct; nothing where all are.
    pub asked: Vec<Option<Asked>>,
    /// The bounds of which one is the largest, and others are asked for.
    bounds: Vec<Span>,
}

/// Where a loop begins and ends: from a number up to a bound, which lies so much behind the first construct's.
struct Range {
    lower: i64,
    upper: Span,
    behind: i128,
}

impl OneRange {
    /// Reads the heads of constructs of several loops, which count up by one in variables of equal names.
    ///
    /// # Errors
    /// The first one whose ranges cannot be parts of those of all, and why.
    pub(super) fn of(cx: &Context<'_>, members: &[&Member]) -> Result<Self, Stopped> {
        let unread = || Stopped { at: 1, reason: apart(Span::default(), "the head of the loop is not understood") };
        let first = members.first().ok_or_else(unread)?;
        let mut ranges = Vec::new();
        for (at, member) in members.iter().enumerate() {
            ranges.push(ranges_of(cx, first, member).map_err(|reason| Stopped { at, reason })?);
        }
        let mut found = Self { heads: Vec::new(), asked: Vec::new(), bounds: Vec::new() };
        let mut asked: Vec<Vec<String>> = vec![Vec::new(); members.len()];
        for (depth, own) in first.loops.iter().enumerate() {
            let all: Vec<&Range> = ranges.iter().filter_map(|of_member| of_member.get(depth)).collect();
            let lower = all.iter().map(|range| range.lower).min().unwrap_or_default();
            let last = all.iter().max_by_key(|range| range.behind).ok_or_else(unread)?;
            let name = &own.variable;
            for (asked, range) in asked.iter_mut().zip(&all) {
                asked.extend((range.lower > lower).then(|| format!("{name} >= {}", range.lower)));
                if range.behind < last.behind {
                    asked.push(format!("{name} < {}", operand(&on_one_line(cx.file, range.upper))));
                }
            }
            if all.iter().any(|range| range.behind < last.behind) {
                found.bounds.extend(all.iter().map(|range| range.upper));
            }
            let ty = own.declared_type.map_or("int".into(), |span| cx.file.show(span));
            let upper = operand(&on_one_line(cx.file, last.upper));
            let span = host_loop::head(cx, own).ok_or_else(unread)?;
            found.heads.push((span, format!("for ({ty} {name} = {lower}; {name} < {upper}; {name}++)")));
        }
        let condition = |all: Vec<String>| Asked { condition: all.join(" && "), copy: None };
        found.asked = asked.into_iter().map(|all| (!all.is_empty()).then(|| condition(all))).collect();
        Ok(found)
    }

    /// Has the one kernel the values of all bounds that it asks for?
    ///
    /// # Errors
    /// A name that a clause of this construct lists, or that is on the device all along.
    pub(super) fn is_asked_alike(&self, cx: &Context<'_>, (member, own): (&Member, &Lists)) -> Result<(), Reason> {
        let mut names = self.bounds.iter().flat_map(|bound| cx.names_in(*bound));
        match names.find(|(name, at)| !own.leave_a_copy_of(cx, name, *at)) {
            Some((name, _)) => Err(apart(member.directive, format!("`{name}` may have another value in the kernel"))),
            None => Ok(()),
        }
    }

    /// The edits of the heads.
    pub(super) fn heads(&self) -> impl Iterator<Item = Edit> + '_ {
        self.heads.iter().map(|(span, text)| Edit { span: *span, text: text.clone() })
    }
}

/// The ranges of a construct's loops, if its iterations can be some of loops like the first construct's.
fn ranges_of(cx: &Context<'_>, first: &Member, member: &Member) -> Result<Vec<Range>, Reason> {
    let no = |message: &str| Err(apart(member.directive, message));
    if member.guard.is_some() || member.loops.len() < 2 {
        return no("only constructs of several loops, without conditions of their own, get one range");
    }
    heads::same_kind(cx, first, member)?;
    let both: Vec<CanonicalLoop> = first.loops.iter().chain(&member.loops).cloned().collect();
    let known = accesses_in(cx.file, cx.tree, cx.symbols(), (&both, member.body), both.len(), &[]).loops;
    let depth = first.loops.len();
    let mut ranges = Vec::new();
    for (index, own) in member.loops.iter().enumerate() {
        let (Some(one), Some(two)) = (known.get(index), known.get(depth + index)) else {
            return no("the variable of a loop is no integer");
        };
        let behind = || two.range.upper.as_ref()?.minus(one.range.upper.as_ref()?)?.as_constant();
        let is_alike = first.loops.get(index).is_some_and(|other| other.variable == own.variable);
        let is_counted = own.declared_in_loop && own.relation == Relation::Less && two.step == Some(1);
        let lower = cx.constant(own.lower).filter(|lower| (0..=127).contains(lower));
        let (Some(lower), Some(behind), true) = (lower, behind(), is_alike && is_counted) else {
            return no("the ranges of the loops are not known to differ by numbers");
        };
        ranges.push(Range { lower, upper: own.upper, behind });
    }
    Ok(ranges)
}
