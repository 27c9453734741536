//! Keep a sum of a serial loop in a variable instead of in memory.
//!
//! ## Input
//!
//! ```c
//! void product(int n, const double a[n][n], const double b[n][n], double c[n][n]) {
//!   #pragma omp target teams distribute parallel for collapse(2) \
//!       map(to: a[0:n][0:n], b[0:n][0:n]) map(from: c[0:n][0:n]) thread_limit(128)
//!   for (int i = 0; i < n; i++)
//!     for (int j = 0; j < n; j++) {
//!       c[i][j] = 0;
//!       for (int k = 0; k < n; k++)
//!         c[i][j] += a[i][k] * b[k][j];
//!     }
//! }
//! ```
//!
//! ## Output
//!
//! ```c
//! void product(int n, const double a[n][n], const double b[n][n], double c[n][n]) {
//!   #pragma omp target teams distribute parallel for collapse(2) \
//!       map(to: a[0:n][0:n], b[0:n][0:n]) map(from: c[0:n][0:n]) thread_limit(128)
//!   for (int i = 0; i < n; i++)
//!     for (int j = 0; j < n; j++) {
//!       double sum = 0;
//!       for (int k = 0; k < n; k++)
//!         sum += a[i][k] * b[k][j];
//!       c[i][j] = sum;
//!     }
//! }
//! ```
//!
//! The compiler cannot do this: for all that it knows, a store to `c` changes what `a` and `b` lead to, so that each term of the sum
//! waits for a store and a load of memory. Here it is known that they are apart: the construct maps them.
//!
//! ## Applies when
//!
//! - the kernel is one `distribute parallel for` loop of a league, and a serial loop in its body changes an element whose subscripts
//!   no iteration of that loop changes: numbers, and variables that only their names reach;
//! - the statement right before the loop assigns the same element, by `=` or another assignment; or a statement of the loop's body changes
//!   the element in each iteration, and it is certain that the loop runs, by numbers or by the bound that a loop around it has as well,
//!   or its first test can be asked in front of it and behind it (`float sum = 0 < m ? c[i] : 0;`);
//! - the element is an integer or a `float` or `double`, neither volatile nor atomic;
//! - the loop is in canonical form, ends by its test alone, and is not known to run fewer than four times; without the waiting the construct
//!   is predicted to be 1.05 times as fast, its launch of 30 microseconds included.
//!
//! ## Refuses when
//!
//! OMPS101 to OMPS104, OMPS125: the text cannot be read for certain. OMPS180: the loop may reach the element by another name or other
//! subscripts, or what it does is not followed. OMPS340: only an assumption says that other pointers lead elsewhere.
//!
//! ## Safety
//!
//! The statement before the loop stores the element, or each iteration does and there is one, so that the thread may load it in front of
//! the loop and store it behind. Where there may be none, it does so only if the loop's first test holds, which compares the same
//! numbers in the same type. No other thread accesses the element in between, since one of the two would have to write it without
//! synchronization (OpenMP 5.2, section 1.4.1): constructs stand nowhere in the body. The loop reaches it by this name and these
//! subscripts alone, whose variables keep their values. The variable has the element's type, so that each value is rounded as
//! it was when it was stored; each expression keeps its operands and its place, so that a compiler contracts what it contracted.
//!
//! ## References
//!
//! OpenMP 5.2, section 1.4.1; C17, section 6.5.16. Carr and Kennedy, "Scalar Replacement in the Presence of Conditional Control Flow"
//! (1994).

mod candidates;
mod gain;
mod runs;

use std::collections::BTreeSet;

use self::candidates::{Start, Sum, sums};
use crate::analysis::accesses::{Access, Accesses};
use crate::analysis::associated_loops::associated_loops;
use crate::analysis::independence::{self, Candidate, Nest, aliases, alone, clauses};
use crate::context::Context;
use crate::edit::directive_writer::{Layout, indent_of, text_end};
use crate::edit::{Edit, braces};
use crate::plan::{Change, Pass, Plan, Reason, ReasonCode, Verdict};
use crate::region::construct::ConstructId;
use crate::region::loop_nest::CanonicalLoopNest;
use crate::region::target::{TargetRegion, target_regions};
use crate::semantics::symbols::DeclaredType;
use crate::source::Span;
use crate::syntax::numbers::Format;
use crate::syntax::{Assignment, Field, NodeId, NodeKind, Number};
use crate::transforms::{Waiting, checks};

/// Decides for every kernel that is one loop with a serial loop inside.
pub(super) fn scalarize_sums(cx: &Context<'_>) -> Vec<Plan> {
    let regions = target_regions(cx.tree, cx.constructs);
    regions.iter().filter(|it| it.is_league_loop()).filter_map(|region| plan_region(cx, region)).collect()
}

/// The loops of a kernel are first what other passes make of them.
pub(super) fn waits_for(_: Waiting) -> &'static [Pass] {
    &[Pass::Split, Pass::Collapse, Pass::Pipeline]
}

fn plan_region(cx: &Context<'_>, region: &TargetRegion) -> Option<Plan> {
    let (loops, promised) = associated_loops(cx, region)?;
    let body = loops.last()?.body;
    let sums = sums(cx, &loops);
    (!sums.is_empty()).then_some(())?;
    let doubts = checks::text_reasons(cx, region);
    let verdict = if doubts.is_empty() {
        let nest = Nest { loops: CanonicalLoopNest { loops, body }, between: Vec::new(), promised };
        let chain = region.chain.constructs.clone();
        let id = region.chain.innermost();
        let kernel = Kernel {
            cx,
            candidate: Candidate { cx, id, clauses: clauses::Clauses::of(cx, &chain), chain, nest, is_in_team: false },
        };
        kernel.decide(&sums)?
    } else {
        Verdict::Refuse(doubts)
    };
    let directive = region.chain.constructs.first().copied().unwrap_or(ConstructId(0));
    let span = cx.constructs.directive(directive).span;
    Some(verdict.into_plan(Pass::Scalarize, span, region.extent))
}

struct Kernel<'c, 'p> {
    cx: &'c Context<'p>,
    candidate: Candidate<'c, 'p>,
}

/// A sum that may be kept, under assumptions.
struct Kept<'s> {
    sum: &'s Sum,
    /// The type of the variable, as written.
    ty: String,
    assumptions: Vec<Reason>,
}

impl Kernel<'_, '_> {
    /// What is done about the sums of the kernel, or `None` where nothing is worth a word.
    fn decide(&self, sums: &[Sum]) -> Option<Verdict> {
        let candidate = &self.candidate;
        let (found, sections) = independence::read(candidate);
        let worth = sums.iter().filter(|sum| gain::pays(self.cx, &self.candidate, sum, &found));
        let (kept, refused): (Vec<_>, Vec<_>) =
            worth.filter_map(|sum| self.kept(sum, &found, &sections).transpose()).partition(Result::is_ok);
        let (proved, assumed): (Vec<_>, Vec<_>) =
            kept.into_iter().flatten().partition(|one: &Kept<'_>| one.assumptions.is_empty());
        match (proved.is_empty(), assumed.is_empty()) {
            (false, _) => Some(Verdict::Change(self.change(&proved))),
            (true, false) => Some(Verdict::Change(self.change(&assumed))),
            (true, true) => refused.into_iter().find_map(Result::err).map(|reason| Verdict::Refuse(vec![reason])),
        }
    }

    /// The sum if it may be kept, or `None` where it is no memory that threads share.
    ///
    /// # Errors
    /// What else may reach the element.
    fn kept<'s>(
        &self,
        sum: &'s Sum,
        found: &Accesses,
        sections: &aliases::Sections,
    ) -> Result<Option<Kept<'s>>, Reason> {
        let cx = self.cx;
        let no = |span: Span, message: String| Err(Reason::new(ReasonCode::AccumulatorReached, span, message));
        if let Some(trouble) = found.troubles.first() {
            return no(trouble.span, trouble.message.clone());
        }
        let inside = cx.tree.span(sum.serial);
        let is_own = |access: &Access| sum.uses.iter().any(|node| cx.tree.span(*node).contains(access.span));
        let all: Vec<&Access> = found.accesses.iter().filter(|access| inside.contains(access.span)).collect();
        let Some(own) = all.iter().find(|access| is_own(access) && access.writes) else {
            return Ok(None);
        };
        let is_other =
            |access: &&&Access| access.root == own.root && (!is_own(access) || access.subscripts != own.subscripts);
        if let Some(other) = all.iter().find(is_other) {
            let message = format!("the loop may reach the element of `{}` by other subscripts as well", own.root.name);
            return no(other.span, message);
        }
        if let Some(assignment) = self.assigned_to_itself(sum) {
            return no(
                assignment,
                "assigns the element to itself, of which compilers warn where it is a variable".to_owned(),
            );
        }
        let Some(ty) = own.element.as_ref().and_then(type_text) else {
            return no(own.span, format!("`{}` does not hold plain numbers", own.root.name));
        };
        let assumptions = alone::assumptions(&self.candidate, (found, sections), inside, own).map_err(|reasons| {
            let message = format!("what this leads to may be the element of `{}`", own.root.name);
            let span = reasons.first().map_or(own.span, |reason| reason.span);
            Reason::new(ReasonCode::AccumulatorReached, span, message)
        })?;
        Ok(Some(Kept { sum, ty, assumptions }))
    }

    /// Where the loop assigns the element to itself.
    fn assigned_to_itself(&self, sum: &Sum) -> Option<Span> {
        let cx = self.cx;
        let is_element = |node: NodeId| sum.uses.contains(&node);
        let assignments = cx.tree.descendants(sum.serial).filter_map(|node| Assignment::of(cx.tree, node));
        let mut own =
            assignments.filter(|it| it.target().is_some_and(is_element) && it.value().is_some_and(is_element));
        own.find_map(Assignment::value).map(|value| cx.tree.span(value))
    }

    fn change(&self, kept: &[Kept<'_>]) -> Change {
        let cx = self.cx;
        let mut taken = BTreeSet::new();
        let mut edits = Vec::new();
        let mut reasons: Vec<Reason> = Vec::new();
        for one in kept {
            let name = self.name(one.sum, &mut taken);
            edits.extend(self.edits(one, &name));
            let new =
                one.assumptions.iter().filter(|reason| !reasons.iter().any(|known| known.message == reason.message));
            reasons.extend(new.cloned().collect::<Vec<_>>());
        }
        let texts: Vec<String> =
            kept.iter().map(|one| format!("`{}`", cx.file.show(cx.tree.span(one.sum.target)))).collect();
        let what = if texts.len() == 1 { "a variable" } else { "variables" };
        let summary = format!("{} kept in {what} by the serial loop, and stored once", texts.join(", "));
        Change { edits, summary, reasons, ..Change::default() }
    }

    /// A name that means nothing in the block, nor was given to another sum.
    fn name(&self, sum: &Sum, taken: &mut BTreeSet<String>) -> String {
        let block = self.cx.tree.parent(sum.serial).map_or(self.cx.tree.span(sum.serial), |it| self.cx.tree.span(it));
        let mut stems = std::iter::once("sum".to_owned()).chain((2..).map(|number| format!("sum{number}")));
        let name = stems.find_map(|stem| {
            let name = self.cx.fresh_in(block, &stem);
            let is_free = self.cx.symbols().lookup(&name, block.start).is_none();
            (is_free && taken.insert(name.clone())).then_some(name)
        });
        name.unwrap_or_default()
    }

    /// The blanks that one more level of a block takes: as the serial loop's body has them, if it stands on lines of its own.
    fn level(&self, sum: &Sum, layout: &Layout) -> String {
        let cx = self.cx;
        let is_block = |body: &NodeId| cx.tree.kind(*body) == NodeKind::CompoundStatement;
        let body = cx.tree.child(sum.serial, Field::Body);
        let first =
            body.and_then(|body| if is_block(&body) { cx.tree.named_children(body).next() } else { Some(body) });
        let [outer, inner] =
            [Some(sum.serial), first].map(|node| node.map(|node| indent_of(cx.file, cx.tree.span(node).start)));
        let level = inner.and_then(|inner| inner.strip_prefix(&outer?).map(str::to_owned));
        level.filter(|level| !level.is_empty()).unwrap_or_else(|| layout.level.clone())
    }

    fn edits(&self, kept: &Kept<'_>, name: &str) -> Vec<Edit> {
        let (cx, sum) = (self.cx, kept.sum);
        let layout = Layout::of(cx.file, cx.constructs.directive(self.candidate.id));
        let span = |node: NodeId| cx.tree.span(node);
        let blanks = indent_of(cx.file, span(sum.serial).start);
        let line = |text: String| format!("{}{blanks}{text}", layout.newline);
        let element = cx.file.show(span(sum.target)).into_owned();
        let (declared, stored) = match &sum.start {
            Start::Where(runs) => (
                format!("{} {name} = {runs} ? {element} : 0;", kept.ty),
                line(format!("if ({runs})")) + &line(format!("{}{element} = {name};", self.level(sum, &layout))),
            ),
            _ => (format!("{} {name} = {element};", kept.ty), line(format!("{element} = {name};"))),
        };
        let mut edits = vec![match sum.start {
            Start::Declared => Edit { span: span(sum.target), text: format!("{} {name}", kept.ty) },
            Start::Behind(statement) => Edit::insertion(text_end(cx.file, span(statement).end), line(declared)),
            Start::InFront | Start::Where(_) => {
                Edit::insertion(span(sum.serial).start, format!("{declared}{}{blanks}", layout.newline))
            }
        }];
        edits.extend(sum.uses.iter().map(|node| Edit { span: span(*node), text: name.to_owned() }));
        let mut behind = stored;
        if let Some(head) = sum.head {
            let outer = indent_of(cx.file, span(head).start);
            let function = cx.function_of(span(sum.serial));
            let opening = braces::opening(cx.file, cx.tree, function, layout.newline, &outer);
            edits.push(Edit::insertion(cx.tree.end_of_head(head).unwrap_or(span(sum.serial).start), opening));
            behind += &format!("{}{outer}}}", layout.newline);
        }
        edits.push(Edit::insertion(text_end(cx.file, span(sum.serial).end), behind));
        edits
    }
}

/// The type of a variable that holds what an element of the type holds.
fn type_text(element: &DeclaredType) -> Option<String> {
    match element {
        DeclaredType::Scalar { number, spelling, is_volatile: false, .. } => {
            let is_plain = match number {
                Number::Floating(format) => matches!(format, Format::Single | Format::Double),
                Number::Integer { .. } => true,
                _ => false,
            };
            is_plain.then(|| spelling.to_string())
        }
        _ => None,
    }
}
