//! A counted loop of the host around one construct alone goes inside of its kernel, where no iteration of the kernel meets another one in
//! any pass of that loop.

use super::lists::Lists;
use super::members::{self, Member};
use super::texts::Texts;
use super::{left_alone, steady};
use crate::analysis::accesses::{Accesses, accesses_in};
use crate::context::Context;
use crate::plan::{Change, Pass, Plan, Reason, ReasonCode, Verdict};
use crate::region::loop_nest::{CanonicalLoop, VariableKind, canonical_nest};
use crate::semantics::uses::{Role, uses_below};
use crate::source::{Span, words};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{ClauseName, Field, NodeId, NodeKind};
use crate::transforms::checks::{self, asked, type_parameters};

mod first_pass;
mod inside;
mod write;

/// A loop of the host whose body is one construct.
pub(super) struct HostLoop {
    /// Its head, in canonical form.
    read: CanonicalLoop,
    /// The head as it stands, `for (int t = 0; t < n; t++)`.
    head: Span,
    /// How often it runs, if that follows from the text.
    trips: Option<i128>,
}

/// What becomes of the loop of the host around a construct. `None` where there is none.
pub(super) fn plan(cx: &Context<'_>, texts: &Texts<'_, '_>, member: &Member) -> Option<Plan> {
    let around = HostLoop::around(cx, (member, member))?;
    // `continue` goes on with the next pass of the same iteration, as it did. What keeps the text from being read is told by the passes that ask for nothing else.
    members::doubts_alone(cx, member).is_empty().then_some(())?;
    let verdict = match decide(cx, texts, member, &around) {
        Ok(change) => Verdict::Change(change?),
        Err(reason) => left_alone(vec![reason]),
    };
    Some(verdict.into_plan(Pass::Fuse, member.directive, around.read.span))
}

/// The change that puts the loop inside. `None` where that would only make the same again and again in another place.
fn decide(
    cx: &Context<'_>,
    texts: &Texts<'_, '_>,
    member: &Member,
    around: &HostLoop,
) -> Result<Option<Change>, Reason> {
    let own = lists(cx, member)?;
    around.declares(cx)?;
    around.is_free_of_launches(cx, member, &own)?;
    around.is_asked_for_again(cx, member, &own)?;
    around.counts(cx)?;
    let asked = match around.trips {
        Some(trips) if trips < 2 => return Ok(None),
        Some(_) => None,
        None => {
            Some(first_pass::condition(cx, around)?).filter(|test| !asked::holds_at(cx, around.read.span.start, test))
        }
    };
    let edits = write::edits(cx, member, around, asked.as_deref())
        .ok_or_else(|| stays(around.head, "there is no place for the loop inside"))?;
    let found = inside::assumptions((cx, texts), member, &own, around, edits.clone())?;
    let Some(mut reasons) = found else { return Ok(None) };
    reasons.extend(checks::other_rounding(cx, member.directive));
    reasons.extend(type_parameters::assumption(cx, member.body));
    let summary =
        format!("the loop over `{}` runs inside of the kernel, which one launch starts", around.read.variable);
    Ok(Some(Change { edits, summary, reasons, ..Change::default() }))
}

/// The clauses of the construct, if each means the same for one launch as for many.
fn lists(cx: &Context<'_>, member: &Member) -> Result<Lists, Reason> {
    let of_one = |reason: Reason| {
        let name = cx.file.show(reason.span).split(['(', ' ']).next().unwrap_or_default().to_owned();
        stays(reason.span, format!("there is no rule for `{name}` with one launch in the place of several"))
    };
    if member.region.chain.leaves.contains(&Leaf::Simd) {
        return Err(stays(member.directive, "compilers do not vectorise loops with a loop inside"));
    }
    let own = Lists::of(cx, member).map_err(of_one)?;
    let clauses = &cx.constructs.directive(member.id).clauses;
    if let Some(clause) = clauses.iter().find(|clause| clause.name == ClauseName::Default) {
        return Err(stays(clause.span, "`default` would say something of the names in the head of the loop as well"));
    }
    let is_own = |key| member.variables.contains(&Some(key));
    let of_launch = own.listed.iter().find(|one| match one.clause {
        ClauseName::Reduction => true,
        ClauseName::Private => !is_own(one.key),
        // What a kernel brings back may be part of an array or structure that the next launch would copy.
        ClauseName::Firstprivate => {
            let ty = cx.declared_type(&one.text, one.span.start);
            !ty.is_some_and(|ty| ty.number().is_some() || ty.is_pointer())
        }
        _ => false,
    });
    match of_launch {
        Some(one) => {
            Err(stays(one.span, format!("`{}` is combined, copied or without a value anew in each launch", one.text)))
        }
        None => Ok(own),
    }
}

impl HostLoop {
    /// The loop of which constructs that follow each other are the whole body, from the first to the last: in a block, or one alone.
    pub(super) fn around(cx: &Context<'_>, (first, last): (&Member, &Member)) -> Option<Self> {
        let tree = cx.tree;
        let statement = cx.constructs.construct(first.id).body?;
        let above = tree.parent(statement)?;
        let body = if tree.kind(above) == NodeKind::CompoundStatement { above } else { statement };
        let node = tree.parent(body).filter(|_| tree.field(body) == Some(Field::Body))?;
        let is_statement = tree.parent(node).is_some_and(|block| tree.kind(block) == NodeKind::CompoundStatement);
        (is_statement && tree.kind(node) == NodeKind::ForStatement).then_some(())?;
        let read = canonical_nest(cx.file, tree, node, 1).ok()?.loops.into_iter().next()?;
        (are_alone(cx, (first, last), &read) && is_plain_statement(cx, node)).then_some(())?;
        let head = head(cx, &read)?;
        let mut found = Self { read, head, trips: None };
        found.trips = found.accesses(cx).loops.first().and_then(|known| known.trips);
        Some(found)
    }

    fn accesses(&self, cx: &Context<'_>) -> Accesses {
        accesses_in(cx.file, cx.tree, cx.symbols(), (std::slice::from_ref(&self.read), self.read.body), 1, &[])
    }

    /// The expressions in its head, whose values are its range.
    fn bounds(&self) -> impl Iterator<Item = Span> {
        [Some(self.read.lower), Some(self.read.upper), self.read.step.amount].into_iter().flatten()
    }

    /// Its statement.
    pub(super) fn statement(&self) -> NodeId {
        self.read.node
    }

    /// When it runs at all, if the text does not tell that it does; nothing where it certainly does. The condition has no effects, and no
    /// construct in the loop changes it.
    ///
    /// # Errors
    /// Why it cannot be asked before.
    pub(super) fn first_pass(&self, cx: &Context<'_>, members: &[&Member]) -> Result<Option<String>, Reason> {
        self.declares(cx)?;
        let bounds: Vec<Span> = self.bounds().collect();
        steady::evaluated(cx, members, &bounds)?;
        match self.trips {
            Some(trips) if trips > 0 => Ok(None),
            _ => first_pass::condition(cx, self).map(Some),
        }
    }

    /// Does it count in a variable of its own?
    fn declares(&self, cx: &Context<'_>) -> Result<(), Reason> {
        let read = &self.read;
        let ty = cx.declared_type(&read.variable, read.variable_span.end);
        let is_plain = ty.is_some_and(|ty| !ty.is_volatile() && ty.number().is_some_and(|it| it.integer().is_some()));
        if !read.declared_in_loop || read.kind != VariableKind::Integer || !is_plain {
            let message = format!("`{}` is not declared in the loop as an integer", read.variable);
            return Err(stays(read.variable_span, message));
        }
        Ok(())
    }

    /// Does it count by a constant?
    fn counts(&self, cx: &Context<'_>) -> Result<(), Reason> {
        let known = self.accesses(cx).loops.into_iter().next().filter(|known| known.span == self.read.span);
        match known.and_then(|known| known.step) {
            Some(step) if step != 0 => Ok(()),
            _ => Err(stays(self.read.step.span, "the loop is not known to count by a constant")),
        }
    }

    /// Does the loop's variable decide nothing but what the iterations of the kernel do?
    fn is_free_of_launches(&self, cx: &Context<'_>, member: &Member, own: &Lists) -> Result<(), Reason> {
        let name = self.read.variable.as_str();
        let names_it = |text: &str| words(text).any(|word| word == name);
        let head = Span::new(member.directive.start, member.content.start);
        if names_it(&cx.file.show(head)) || cx.uses_macro_with(head, &names_it) {
            return Err(stays(member.directive, format!("`{name}` decides what each launch maps or runs")));
        }
        let key = cx.symbols().lookup(name, self.read.variable_span.end).map(|it| it.id());
        let is_changed = |used: &Role| *used != Role::Read;
        let mut outside = member.outside.iter();
        if let Some((_, used)) = outside.find(|(it, used)| Some(*it) == key && is_changed(&used.role)) {
            return Err(stays(used.span, format!("`{name}` is more than read in the kernel")));
        }
        let mut uses = uses_below(cx.file, cx.tree, member.body).into_iter();
        if let Some(used) = uses.find(|used| used.role == Role::Declaration && used.name == name) {
            return Err(stays(used.span, format!("`{name}` is declared again in the kernel")));
        }
        let written = member.written();
        let lost = own.mapped.iter().find(|item| item.copies.to && !item.copies.from && written.contains(&item.key));
        match lost {
            Some(item) => Err(brought_anew(item.span, &item.name)),
            None => Ok(()),
        }
    }

    /// Would each iteration of the kernel find the same values in the head, and each launch the same clauses and bounds?
    fn is_asked_for_again(&self, cx: &Context<'_>, member: &Member, own: &Lists) -> Result<(), Reason> {
        let in_passes = |reason: Reason| stays(reason.span, format!("in a later pass: {}", reason.message));
        let bounds: Vec<Span> = self.bounds().collect();
        steady::handed(cx, &[member], (member, own)).map_err(in_passes)?;
        steady::evaluated(cx, &[member], &bounds).map_err(in_passes)?;
        for (name, at) in bounds.iter().flat_map(|span| cx.names_in(*span)) {
            if !own.leave_a_copy_of(cx, &name, at) {
                return Err(stays(at, format!("`{name}` may have another value in the kernel")));
            }
        }
        let mut parts = bounds.into_iter().chain(self.read.declared_type);
        match parts.find(|part| !cx.means_the_same(*part, member.content.start)) {
            None => Ok(()),
            Some(part) => Err(stays(part, "a name means something else in the kernel")),
        }
    }
}

/// Do nothing but blanks and comments stand beside the constructs?
fn are_alone(cx: &Context<'_>, (first, last): (&Member, &Member), read: &CanonicalLoop) -> bool {
    let tree = cx.tree;
    let body = tree.span(read.body);
    let is_block = tree.kind(read.body) == NodeKind::CompoundStatement;
    if !is_block {
        let Some(head) = head(cx, read) else { return false };
        return members::is_blank(cx, Span::new(head.end, first.directive.start), Some(read.node));
    }
    let text = cx.file.bytes(body);
    let braces = text.starts_with(b"{") && text.ends_with(b"}");
    let before = Span::new(body.start + 1, first.directive.start.max(body.start + 1));
    let behind = Span::new(last.region.extent.end, (body.end - 1).max(last.region.extent.end));
    braces && [before, behind].into_iter().all(|gap| members::is_blank(cx, gap, Some(read.body)))
}

/// Does no directive but `target data` belong to the statement, and stands no other pragma before it?
pub(super) fn is_plain_statement(cx: &Context<'_>, node: NodeId) -> bool {
    let tree = cx.tree;
    let mut own = cx.constructs.ids().filter(|id| cx.constructs.construct(*id).body == Some(node));
    let start = tree.span(node).start;
    let block = tree.parent(node).map(|block| tree.span(block).start).unwrap_or_default();
    let siblings = tree.parent(node).into_iter().flat_map(|block| tree.named_children(block));
    let before = siblings.map(|sibling| tree.span(sibling)).filter(|span| span.end <= start).last();
    let gap = Span::new(before.map_or(block, |span| span.start), start);
    let is_directive = |span: &Span| cx.constructs.directives.iter().any(|known| known.span.overlaps(*span));
    let mut masked = cx.scan.masked.iter().filter(|span| gap.contains(**span) && !is_directive(span));
    own.all(|id| cx.constructs.directive(id).is("target data")) && masked.next().is_none()
}

/// The head of the loop up to its closing parenthesis, where that follows its last part.
pub(super) fn head(cx: &Context<'_>, read: &CanonicalLoop) -> Option<Span> {
    let body = cx.tree.span(read.body).start;
    let rest = cx.file.bytes(Span::new(read.step.span.end, body));
    let blanks = rest.len() - rest.trim_ascii_start().len();
    let head = Span::new(read.span.start, read.step.span.end + blanks + 1);
    let text = cx.file.show(head);
    let is_plain = rest.get(blanks) == Some(&b')') && !text.contains("/*") && !text.contains("//");
    (is_plain && text.starts_with("for") && !text.contains(['#', '\\'])).then_some(head)
}

/// Is nothing behind a place on its line but a comment that ends with it?
pub(super) fn is_last_on_line(cx: &Context<'_>, at: usize) -> bool {
    let rest = cx.file.text.get(at..).unwrap_or_default();
    let rest = rest.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    rest.is_empty() || rest.starts_with(b"//")
}

/// What the host maps to the device in each pass would undo what the kernel wrote.
fn brought_anew(span: Span, name: &str) -> Reason {
    stays(span, format!("each launch brings the values of `{name}` anew, and the kernel changes them"))
}

/// A reason to leave the loop where it is.
fn stays(span: Span, message: impl Into<String>) -> Reason {
    Reason::new(ReasonCode::HostLoopStays, span, message)
}
