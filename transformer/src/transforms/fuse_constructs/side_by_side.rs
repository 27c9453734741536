//! Constructs that touch nothing of each other, each with iterations of its own in one kernel: a loop over the constructs stands around one over
//! the range of all.
//!
//! ```text
//! const int most = n > m ? n : m;
//! #pragma omp target teams distribute parallel for collapse(2)
//! for (int part = 0; part < 2; part++)
//!     for (int i = 0; i < most; i++) {
//!         if (part == 0 && i < n) {
//!             ..
//!         }
//!         if (part == 1 && i < m) {
//!             ..
//!         }
//!     }
//! ```
//!
//! What one computes is under way beside what another one does, which a thread that does both one after the other has not. Neighbouring threads keep
//! neighbouring elements, as the inner loop is that of the constructs.

use std::collections::BTreeSet;

use super::lists::Lists;
use super::members::Member;
use super::write::{Asked, Form};
use super::{Stopped, apart, heads, host_loop};
use crate::context::Context;
use crate::edit::Edit;
use crate::edit::directive_writer::{line_start, on_one_line, starts_line};
use crate::plan::Reason;
use crate::region::loop_nest::Relation;
use crate::source::{Span, words};
use crate::syntax::{ClauseName, NodeId, NodeKind};
use crate::transforms::checks::addresses::operand;
use crate::transforms::checks::heads::copied_variable;
use crate::transforms::two_forms::{edited, indented};

/// The one loop of constructs side by side.
pub(super) struct Beside {
    /// What makes an iteration one of each construct.
    pub asked: Vec<Asked>,
    /// The variable that tells the constructs apart.
    part: String,
    /// The head of the first construct's loop, and what it becomes.
    head: (Span, String),
    /// The name of its bound and the declaration, where the constructs have different ones.
    bound: Option<(String, String)>,
    /// The function that they stand in.
    function: Span,
    count: usize,
}

/// The bounds that are declared for other constructs, by the start of their function.
pub(super) type Bounds = BTreeSet<(usize, String)>;

impl Beside {
    /// Reads the heads of constructs with one loop each, that count up by one. `taken` are the names of others' bounds.
    ///
    /// # Errors
    /// The first one whose range cannot be a part of one for all, and why.
    pub(super) fn of(cx: &Context<'_>, members: &[&Member], taken: &Bounds) -> Result<Self, Stopped> {
        let mut ranges: Vec<Range> = Vec::new();
        for (at, member) in members.iter().enumerate() {
            let stop = |reason| Stopped { at, reason };
            let first = members.first().unwrap_or(member);
            ranges.push(Range::of(cx, first, member).map_err(stop)?);
            if different(&ranges).len() > 2 {
                return Err(stop(apart(member.directive, "the loops have more than two bounds")));
            }
        }
        let unread = || Stopped { at: 1, reason: apart(Span::default(), "the head of the loop is not understood") };
        let (first, own) = members.first().and_then(|it| Some((*it, it.loops.first()?))).ok_or_else(unread)?;
        let function = function_of(cx, first).map_or(Span::new(0, cx.file.text.len()), |node| cx.tree.span(node));
        let part = cx.fresh_in(function, "part");
        let keep_names = members.iter().all(|member| heads::names_stay_apart(cx, member, first).is_ok());
        let variable = if keep_names { own.variable.clone() } else { cx.fresh_in(function, "at") };
        let ty = own.declared_type.map_or("int".into(), |span| cx.file.show(span));
        let least = ranges.iter().map(|range| range.lower).min().unwrap_or_default();
        let uppers = different(&ranges);
        let known =
            |upper: &&&String| ranges.iter().find(|range| range.upper == ***upper).and_then(|range| range.known);
        let (upper, bound) = match uppers.as_slice() {
            all if all.iter().all(|upper| known(&upper).is_some()) => {
                (all.iter().max_by_key(|upper| known(upper)).map(|upper| (*upper).clone()).unwrap_or_default(), None)
            }
            [one, other] if !may_be_jumped_over(cx, first) => {
                let ([one, other], name) = ([operand(one), operand(other)], name_of_bound(cx, function, taken));
                let declared = format!("const {ty} {name} = {one} > {other} ? {one} : {other};");
                (name.clone(), Some((name, declared)))
            }
            [_, _] => return Err(Stopped { at: 1, reason: apart(first.directive, "a jump would pass a declaration") }),
            _ => (on_one_line(cx.file, own.upper), None),
        };
        let head = format!("for ({ty} {variable} = {least}; {variable} < {upper}; {variable}++)");
        let asked = |(at, (member, range)): (usize, (&&Member, &Range))| {
            let from = (range.lower > least).then(|| format!(" && {variable} >= {}", range.lower));
            let to = (uppers.len() > 1).then(|| format!(" && {variable} < {}", range.upper));
            let condition = format!("{part} == {at}{}{}", from.unwrap_or_default(), to.unwrap_or_default());
            let own = member.loops.first().map(|read| &read.variable).filter(|_| !keep_names);
            Asked { condition, copy: own.map(|own| copied_variable(cx, &ty, own, &variable)) }
        };
        let asked = members.iter().zip(&ranges).enumerate().map(asked).collect();
        let span = host_loop::head(cx, own).ok_or_else(unread)?;
        Ok(Self { asked, part, head: (span, head), bound, function, count: members.len() })
    }

    /// Has the one kernel the values of all bounds that it asks for, and that the host takes the largest of?
    ///
    /// # Errors
    /// A name that a clause of this construct lists, or that is on the device all along.
    pub(super) fn is_asked_alike(
        &self,
        cx: &Context<'_>,
        members: &[&Member],
        (member, own): (&Member, &Lists),
    ) -> Result<(), Reason> {
        let uppers = members.iter().flat_map(|it| &it.loops).map(|read| read.upper).filter(|_| self.bound.is_some());
        match uppers.flat_map(|upper| cx.names_in(upper)).find(|(name, at)| !own.leave_a_copy_of(cx, name, *at)) {
            Some((name, _)) => Err(apart(member.directive, format!("`{name}` may have another value in the kernel"))),
            None => Ok(()),
        }
    }

    /// Notes the name of its bound.
    pub(super) fn take_name(self, taken: &mut Bounds) {
        taken.extend(self.bound.map(|(name, _)| (self.function.start, name)));
    }

    /// The head of the loop over the constructs.
    fn outer(&self) -> String {
        let name = &self.part;
        format!("for (int {name} = 0; {name} < {}; {name}++)", self.count)
    }

    /// The edits for a text that is read alone, in which each construct has its own loop, and the one loop is that over the constructs: of two
    /// of its iterations, each executes all that a construct does.
    pub(super) fn to_be_read(&self, members: &[&Member]) -> Vec<Edit> {
        let part = |at: usize| format!("if ({} == {at}) ", self.part);
        let (Some((_, others)), Some(last)) = (members.split_first(), members.last()) else { return Vec::new() };
        let directives = others.iter().zip(1..).map(|(other, at)| Edit { span: other.directive, text: part(at) });
        let open = Edit::insertion(self.head.0.start, format!("{} {{ {}", self.outer(), part(0)));
        let close = Edit::insertion(last.whole().end, " }".to_owned());
        [open, close].into_iter().chain(directives).collect()
    }

    /// The edits that make one loop of all, whose lines stand a level further inside. `None` where they may be parts of strings, or do not begin with the loop.
    pub(super) fn written(&self, cx: &Context<'_>, members: &[&Member], mut loops: Vec<Edit>) -> Option<Vec<Edit>> {
        let first = members.first()?;
        let form = Form::of(cx, first);
        let (span, head) = &self.head;
        let whole = Span::new(line_start(&cx.file.text, span.start), members.last()?.whole().end);
        let texts: Vec<_> = members.iter().map(|member| cx.file.show(member.content)).collect();
        let is_kept = texts.iter().any(|text| ["\\\n", "\\\r", "R\""].iter().any(|part| text.contains(part)));
        (starts_line(cx.file, span.start) && !is_kept).then_some(())?;
        loops.push(Edit { span: *span, text: head.clone() });
        let lines = indented(&edited(cx.file, whole, &loops)?, &form.level);
        let line = |text: &str| format!("{}{text}{}", form.outside, form.newline);
        let start = line_start(&cx.file.text, first.directive.start);
        let declared = self.bound.iter().map(|(_, bound)| Edit::insertion(start, line(bound)));
        let lines = Edit { span: whole, text: format!("{}{lines}", line(&self.outer())) };
        Some(declared.chain([lines]).collect())
    }
}

/// The range of a construct's loop: from a number up to a bound.
struct Range {
    lower: i64,
    /// As it is written, on one line.
    upper: String,
    /// Its value, if that is a constant.
    known: Option<i64>,
}

impl Range {
    /// That of a construct whose iterations can be some of a loop like the first construct's.
    fn of(cx: &Context<'_>, first: &Member, member: &Member) -> Result<Self, Reason> {
        let no = |message: &str| Err(apart(member.directive, message));
        let ([own], [other]) = (member.loops.as_slice(), first.loops.as_slice()) else {
            return no("only constructs of one loop are set side by side");
        };
        if member.guard.is_some() {
            return no("a construct with a condition of its own is not set side by side with others");
        }
        let clauses = &cx.constructs.directive(member.id).clauses;
        let is_of_all = |name: ClauseName| {
            matches!(name, ClauseName::Collapse | ClauseName::Schedule | ClauseName::DistSchedule | ClauseName::Order)
        };
        let has_sums = |name: ClauseName| matches!(name, ClauseName::Reduction | ClauseName::Private);
        if clauses.iter().any(|clause| is_of_all(clause.name) || has_sums(clause.name)) {
            return no("a clause says something of the loop that would be said of all");
        }
        heads::same_kind(cx, first, member)?;
        let ty = cx.integer_type(&own.variable, cx.tree.span(own.body).start);
        let is_counted = own.declared_in_loop
            && own.relation == Relation::Less
            && !own.step.is_subtracted
            && own.step.amount.is_none_or(|amount| cx.constant(amount) == Some(1));
        let lower = cx.constant(own.lower).filter(|lower| (0..=127).contains(lower));
        let (Some(lower), true, Some(ty)) = (lower, is_counted, ty) else {
            return no("the loop does not count up by one from a small number");
        };
        let names = cx.names_in(own.upper);
        let is_of_type = names.iter().all(|(name, at)| {
            let known = cx.integer_type(name, at.start);
            cx.constant(*at).is_some_and(|number| i32::try_from(number).is_ok()) || known.as_ref() == Some(&ty)
        });
        let hidden = [other.variable.as_str(), own.variable.as_str()];
        let text = on_one_line(cx.file, own.upper);
        let is_hidden = words(&text).any(|word| hidden.contains(&word));
        if !cx.is_arithmetic(own.upper) || !is_of_type || is_hidden || !is_sum(&text) {
            return no("the bound of the loop is no sum of numbers and variables of its own type");
        }
        Ok(Self { lower, upper: text, known: cx.constant(own.upper) })
    }
}

/// The bounds that are written otherwise, in the order of the constructs.
fn different(ranges: &[Range]) -> Vec<&String> {
    let mut found: Vec<&String> = Vec::new();
    for Range { upper, .. } in ranges {
        if !found.contains(&upper) {
            found.push(upper);
        }
    }
    found
}

/// A name that the function has not yet, and no other construct in it gets.
fn name_of_bound(cx: &Context<'_>, function: Span, taken: &Bounds) -> String {
    let stems = std::iter::once("most".to_owned()).chain((2..).map(|number| format!("most_{number}")));
    let mut names = stems.map(|stem| cx.fresh_in(function, &stem));
    names.find(|name| !taken.contains(&(function.start, name.clone()))).unwrap_or_default()
}

/// Has the function a label, so that a jump might pass a declaration before the construct?
fn may_be_jumped_over(cx: &Context<'_>, member: &Member) -> bool {
    let is_label = |node: NodeId| matches!(cx.tree.kind(node), NodeKind::LabeledStatement | NodeKind::GotoStatement);
    function_of(cx, member).is_none_or(|function| cx.tree.descendants(function).any(is_label))
}

/// The function that a construct stands in.
fn function_of(cx: &Context<'_>, member: &Member) -> Option<NodeId> {
    let is_function = |node: &NodeId| cx.tree.kind(*node) == NodeKind::FunctionDefinition;
    cx.tree.ancestors(member.body).find(is_function)
}

/// Is it made of names and numbers by `+`, `-` and `*`? What is compared with it binds less.
fn is_sum(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_ +-*()".contains(&byte))
}
