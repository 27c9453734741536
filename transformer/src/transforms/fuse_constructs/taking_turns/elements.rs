//! Which elements of two arrays a step computes and copies, and where the next step finds each element that it reads.

use std::collections::BTreeMap;

use super::super::apart;
use super::super::lists::Lists;
use super::super::members::Member;
use super::Order;
use super::steps::Steps;
use crate::analysis::accesses::{Access, Accesses, Subscript};
use crate::analysis::independence::aliases::{self, Evidence};
use crate::analysis::independence::{self, Candidate, pairs};
use crate::analysis::polynomial::{Atom, Polynomial};
use crate::context::Context;
use crate::plan::Reason;
use crate::semantics::symbols::DeclaredType;
use crate::semantics::uses::{Role, uses_below};
use crate::source::{Span, words};
use crate::syntax::{NodeId, NodeKind};
use crate::transforms::checks::heads;

/// The farthest that an element lies from that of its iteration, in each loop.
const FARTHEST: i128 = 2;

/// An access of an array that is computed by one construct and copied by the other one.
pub(super) struct Read {
    /// `a[i * n + j - 1]`
    pub span: Span,
    /// By how much the element lies apart from the one that the iteration computes, in iterations of each loop.
    pub apart: Vec<i128>,
}

impl Read {
    /// Does it hang on the iteration whether the step before has computed the element?
    pub(super) fn asks(&self) -> bool {
        self.apart.iter().any(|steps| *steps != 0)
    }
}

/// What both constructs do to two arrays.
pub(super) struct Exchange {
    /// The array that is computed, and the one to which it is copied.
    pub computed: String,
    pub copied_to: String,
    /// Where an element is computed.
    pub written: Span,
    /// Where it is read again.
    pub read_again: Vec<Span>,
    /// Where elements of the other array are read.
    pub reads: Vec<Read>,
    /// Where the copy reads an element, and where it writes one; the statement that does, and the type of an element.
    pub copied: [Span; 2],
    pub assignment: NodeId,
    pub element: String,
    /// All that both constructs access.
    pub sweep: Accesses,
    pub copy: Accesses,
}

/// A construct that copies one array to another one: the accesses of its body.
pub(super) struct CopiedBack {
    found: Accesses,
    /// The last statement of the body.
    assignment: NodeId,
    /// The type of an element.
    element: String,
}

/// Does a construct write the first of two arrays, and read the other one?
pub(super) fn computes_from_copy(cx: &Context<'_>, sweep: &Member, [computed, copied_to]: &[String; 2]) -> bool {
    let (_, found) = read(cx, sweep);
    let does = |name: &str, writes: bool| {
        found.accesses.iter().any(|access| access.root.name == name && access.writes == writes)
    };
    does(computed, true) && does(copied_to, false)
}

/// Is the body one assignment of an element of one array to an element of another one?
pub(super) fn copied_back(cx: &Context<'_>, copy: &Member) -> Option<CopiedBack> {
    let tree = cx.tree;
    let statements: Vec<NodeId> = match copy.is_block {
        true => tree.named_children(copy.body).filter(|node| tree.kind(*node) != NodeKind::Comment).collect(),
        false => vec![copy.body],
    };
    let (last, before) = statements.split_last()?;
    let are_declarations = before.iter().all(|node| tree.kind(*node) == NodeKind::Declaration);
    let assignment =
        tree.named_children(*last).next().filter(|node| tree.kind(*node) == NodeKind::AssignmentExpression)?;
    let mut sides = tree.named_children(assignment).map(|node| tree.span(node));
    let (left, right) = (sides.next()?, sides.next()?);
    let operator = cx.file.show(Span::new(left.end, right.start));
    let (_, found) = read(cx, copy);
    let [one, other] = found.accesses.as_slice() else { return None };
    let (to, from) = if one.writes { (one, other) } else { (other, one) };
    let is_copy = to.writes && !from.writes && to.span == left && from.span == right && operator.trim() == "=";
    let is_plain = are_declarations && found.troubles.is_empty() && found.scalars.iter().all(|used| !used.writes);
    let Some(DeclaredType::Scalar { spelling, is_volatile: false, .. }) = to.element.clone() else { return None };
    let is_alike = to.element == from.element && to.root != from.root;
    (is_copy && is_plain && is_alike).then(|| CopiedBack { found, assignment: *last, element: spelling.to_string() })
}

impl CopiedBack {
    /// The array that is copied, and the one that it is copied to.
    pub(super) fn names(&self) -> [String; 2] {
        let name = |writes: bool| {
            let mut own = self.found.accesses.iter().filter(|access| access.writes == writes);
            own.next().map(|access| access.root.name.clone()).unwrap_or_default()
        };
        [name(false), name(true)]
    }
}

fn read<'c, 'p>(cx: &'c Context<'p>, member: &Member) -> (Candidate<'c, 'p>, Accesses) {
    let candidate = Candidate::of_kernel(cx, &member.region, member.loops.clone(), 0);
    let (found, _) = independence::read(&candidate);
    (candidate, found)
}

impl Exchange {
    /// Reads what both constructs do.
    ///
    /// # Errors
    /// Why a step cannot read what the one before has computed.
    pub(super) fn of<'c>(
        cx: &Context<'c>,
        (sweep, copy): (&Member, &Member),
        (steps, own, order): (&Steps<'_, 'c>, &Lists, Order),
        copied_back: &CopiedBack,
    ) -> Result<Self, Reason> {
        let [computed, copied_to] = &copied_back.names();
        let candidate = Candidate::of_kernel(cx, &sweep.region, sweep.loops.clone(), 0);
        let (found, sections) = independence::read(&candidate);
        let no = |span: Span, message: String| Err(apart(span, message));
        if let Some(trouble) = found.troubles.first() {
            return no(trouble.span, trouble.message.clone());
        }
        let is_reduced = |name: &str| own.reduced().any(|(reduced, _)| reduced == name);
        if let Some(used) = found.scalars.iter().find(|used| used.writes && !is_reduced(&used.name)) {
            return no(used.span, format!("`{}` is no element of an array", used.name));
        }
        let depth = sweep.loops.len();
        let of = |name: &str| found.accesses.iter().filter(|access| access.root.name == name).collect::<Vec<_>>();
        let (mut own_reads, reads) = (of(computed), of(copied_to));
        let written: Vec<&Access> = own_reads.extract_if(.., |access| access.writes).collect();
        let [write] = written.as_slice() else {
            return no(sweep.directive, format!("`{computed}` is written more than once in an iteration"));
        };
        let is_always = write.guards.is_whole && write.guards.rows.is_empty();
        let is_whole = write.is_target && write.writes && is_always;
        if !is_whole || !write.loops.iter().copied().eq(0..depth) {
            return no(write.span, format!("not each iteration computes one element of `{computed}`"));
        }
        let (copying, copied) = read(cx, copy);
        let known = Known { cx, steps, depth };
        known.has_steps_of_one(&found, sweep)?;
        known.is_copied_whole(&found, write, &copied)?;
        let mut places = Vec::new();
        for access in reads {
            let apart = known.distance(write, access, &found);
            let Some(apart) = apart.filter(|_| !access.writes) else {
                return no(
                    access.span,
                    format!("it is not known which iteration computes this element of `{computed}`"),
                );
            };
            if places.iter().all(|known: &Read| known.span != access.span) {
                places.push(Read { span: access.span, apart });
            }
        }
        let read_again = known.read_again(write, &own_reads, &found)?;
        let own_places: Vec<Span> = read_again.iter().copied().chain([write.span]).collect();
        known.are_spelled_out(sweep, (computed, &own_places))?;
        let spans: Vec<Span> = places.iter().map(|read| read.span).collect();
        known.are_spelled_out(sweep, (copied_to, &spans))?;
        let of_copy = |writes: bool| copied.accesses.iter().find(|it| it.writes == writes).map(|it| it.span);
        let [Some(from), Some(to)] = [of_copy(false), of_copy(true)] else {
            return no(copy.directive, "the copy is not understood".to_owned());
        };
        known.are_spelled_out(copy, (computed, &[from]))?;
        known.are_spelled_out(copy, (copied_to, &[to]))?;
        match order {
            Order::ComputesFirst => known.tells_by_iteration(&places, (&copying, &copied), copy)?,
            Order::CopiesFirst => {
                known.are_copied(&found, &copied, &places, sweep)?;
                // Both arrays have all that is read.
                places.iter_mut().flat_map(|read| &mut read.apart).for_each(|steps| *steps = 0);
            }
        }
        // In turns either array is written, whatever else is read.
        let mut both = found.clone();
        for access in &mut both.accesses {
            access.writes |= [computed, copied_to].contains(&&access.root.name);
        }
        let shared = match aliases::may_meet(Evidence::OfAccesses, &candidate, &both, &sections) {
            Ok(pairs) => pairs.into_iter().next().map(|pair| pair.assumption),
            Err(reasons) => reasons.into_iter().next(),
        };
        if let Some(reason) = shared {
            return no(reason.span, format!("in turns, {}", reason.message));
        }
        Ok(Self {
            computed: computed.clone(),
            copied_to: copied_to.clone(),
            written: write.span,
            read_again,
            reads: places,
            copied: [from, to],
            assignment: copied_back.assignment,
            element: copied_back.element.clone(),
            sweep: found,
            copy: copied,
        })
    }
}

struct Known<'a, 'c> {
    cx: &'a Context<'c>,
    /// The loop of the host.
    steps: &'a Steps<'a, 'c>,
    depth: usize,
}

impl Known<'_, '_> {
    /// Do the loops count up by one from numbers, to bounds that the kernel can ask for?
    fn has_steps_of_one(&self, found: &Accesses, sweep: &Member) -> Result<(), Reason> {
        for (own, known) in sweep.loops.iter().zip(&found.loops) {
            if known.step != Some(1) || self.cx.constant(own.lower).is_none() {
                return Err(apart(own.span, "the loop does not count up by one from a number"));
            }
            heads::check(self.cx, own, sweep.body).map_err(|(span, message)| apart(span, message))?;
        }
        Ok(())
    }

    /// Are the elements that are copied just those that are computed, to places of the same number?
    fn is_copied_whole(&self, found: &Accesses, write: &Access, copied: &Accesses) -> Result<(), Reason> {
        let renamed = self.renamed(found, copied);
        let alike = |own: &Subscript, other: &Subscript| own.form == other.form.renamed(&renamed) && !other.wraps;
        for access in &copied.accesses {
            let is_same = access.subscripts.len() == write.subscripts.len()
                && write.subscripts.iter().zip(&access.subscripts).all(|(own, other)| alike(own, other));
            if !is_same || !self.is_steady(found, write) || !self.is_steady(copied, access) {
                let message = format!(
                    "this is not known to be the element that the same iteration computes of `{}`",
                    write.root.name
                );
                return Err(apart(access.span, message));
            }
        }
        Ok(())
    }

    /// The atoms of the first construct that mean what those of the copy do.
    fn renamed<'f>(&self, found: &'f Accesses, copied: &'f Accesses) -> impl Fn(Atom) -> Atom + 'f {
        let names: BTreeMap<&str, Atom> = found.symbols.iter().map(|(atom, name)| (name.as_str(), *atom)).collect();
        let depth = self.depth;
        move |atom: Atom| {
            let of_loop = copied.loops.iter().take(depth).position(|own| own.atom == atom);
            let of_loop = of_loop.and_then(|index| found.loops.get(index)).map(|own| own.atom);
            let of_name = || copied.symbols.get(&atom).and_then(|name| names.get(name.as_str())).copied();
            of_loop.or_else(of_name).unwrap_or(Atom(u32::MAX))
        }
    }

    /// Has the copy all elements that are computed from others, and all that are read?
    fn are_copied(&self, found: &Accesses, copied: &Accesses, reads: &[Read], sweep: &Member) -> Result<(), Reason> {
        let renamed = self.renamed(found, copied);
        for (index, own) in sweep.loops.iter().enumerate() {
            let steps = || reads.iter().filter_map(|read| read.apart.get(index)).copied();
            let (before, behind) = (steps().min().unwrap_or_default().min(0), steps().max().unwrap_or_default().max(0));
            let is_within = || {
                let (one, other) = (&found.loops.get(index)?.range, &copied.loops.get(index)?.range);
                let [lower, upper] = [&other.lower, &other.upper].map(|end| Some(end.as_ref()?.renamed(&renamed)));
                let below = one.lower.as_ref()?.minus(&lower?)?.as_constant()? + before;
                let above = upper?.minus(one.upper.as_ref()?)?.as_constant()? - behind;
                Some(below >= 0 && above >= 0 && copied.loops.get(index)?.step == Some(1))
            };
            if is_within() != Some(true) {
                return Err(apart(own.span, "the range is not known to lie within that of the copy"));
            }
        }
        Ok(())
    }

    /// Is the number of the element made of the loops' variables, numbers and variables that stay, and so the same in each step?
    fn is_steady(&self, found: &Accesses, access: &Access) -> bool {
        let is_loop = |atom: &Atom| found.loops.iter().take(self.depth).any(|own| own.atom == *atom);
        let stays = |atom: &Atom| {
            let name = found.symbols.get(atom).map(String::as_str).unwrap_or_default();
            let is_name = words(name).next() == Some(name);
            is_name
                && self.cx.integer_type(name, access.span.start).is_some()
                && self.cx.cannot_be_aliased(name, access.span.start)
                && self.steps.keep(name, access.span)
        };
        let forms =
            access.subscripts.iter().filter(|subscript| !subscript.wraps).map(|subscript| subscript.form.atoms());
        forms.clone().count() == access.subscripts.len() && forms.flatten().all(|atom| is_loop(&atom) || stays(&atom))
    }

    /// Where elements are read again that an iteration has computed: its own, behind the statement that writes it.
    fn read_again(&self, write: &Access, reads: &[&Access], found: &Accesses) -> Result<Vec<Span>, Reason> {
        let tree = self.cx.tree;
        let written = tree.covering(write.span);
        let above = tree.ancestors(written).find(|above| tree.kind(*above) == NodeKind::ExpressionStatement);
        let end = above.map(|statement| tree.span(statement).end);
        for access in reads {
            let is_own = self.distance(write, access, found).is_some_and(|apart| apart.iter().all(|steps| *steps == 0));
            if !is_own || end.is_none_or(|end| access.span.start < end) {
                let message = format!("`{}` is read before the iteration has computed it", write.root.name);
                return Err(apart(access.span, message));
            }
        }
        let mut spans: Vec<Span> = reads.iter().map(|access| access.span).collect();
        spans.sort_by_key(|span| span.start);
        spans.dedup();
        Ok(spans)
    }

    /// By how many iterations of each loop an element lies apart from the one that is computed.
    fn distance(&self, write: &Access, access: &Access, found: &Accesses) -> Option<Vec<i128>> {
        let is_plain = self.is_steady(found, access) && access.subscripts.len() == write.subscripts.len();
        let atoms: Vec<Atom> = found.loops.iter().take(self.depth).map(|own| own.atom).collect();
        let moved = |form: &Polynomial, steps: &[i128]| {
            let shift = |form: Polynomial, (atom, steps): (&Atom, &i128)| {
                form.with(*atom, &Polynomial::atom(*atom).plus(&Polynomial::constant(*steps))?)
            };
            atoms.iter().zip(steps).try_fold(form.clone(), shift)
        };
        let is_there = |steps: &Vec<i128>| {
            let mut forms = write.subscripts.iter().zip(&access.subscripts);
            is_plain && forms.all(|(own, other)| moved(&own.form, steps).as_ref() == Some(&other.form))
        };
        self.nearby().find(is_there)
    }

    /// The places around an iteration, itself first.
    fn nearby(&self) -> impl Iterator<Item = Vec<i128>> {
        let side = usize::try_from(2 * FARTHEST + 1).unwrap_or(1);
        let depth = self.depth;
        let place = move |mut number: usize| {
            let mut steps = Vec::with_capacity(depth);
            for _ in 0..depth {
                let step = i128::try_from(number % side).unwrap_or_default();
                // 0, 1, -1, 2, -2
                steps.push(if step % 2 == 1 { (step + 1) / 2 } else { -step / 2 });
                number /= side;
            }
            steps
        };
        (0..side.pow(u32::try_from(depth).unwrap_or_default())).map(place)
    }

    /// Is each use of an array in the body one of these places, which begin with its name?
    fn are_spelled_out(&self, sweep: &Member, (name, places): (&str, &[Span])) -> Result<(), Reason> {
        let cx = self.cx;
        let uses = uses_below(cx.file, cx.tree, sweep.body).into_iter().filter(|used| used.name == name);
        let uses: Vec<_> = uses.collect();
        let begins = |span: &Span| {
            let text = cx.file.show(*span);
            text.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('[')) && text.ends_with(']')
        };
        let is_place = |span: &Span| places.iter().filter(|place| place.start == span.start).count() == 1;
        let is_known = uses.len() == places.len()
            && uses.iter().all(|used| used.role != Role::Declaration && is_place(&used.span))
            && places.iter().all(begins);
        match is_known {
            true => Ok(()),
            false => Err(apart(
                sweep.directive,
                format!("`{name}` is used in the body by more than its name and subscripts"),
            )),
        }
    }

    /// Does an element that an iteration next to the range would compute lie behind all that are computed? Then the number of the iteration
    /// tells where an element is found.
    fn tells_by_iteration(
        &self,
        reads: &[Read],
        (candidate, copied): (&Candidate<'_, '_>, &Accesses),
        copy: &Member,
    ) -> Result<(), Reason> {
        let mut wider = copied.clone();
        for (index, own) in wider.loops.iter_mut().take(self.depth).enumerate() {
            let steps = || reads.iter().filter_map(|read| read.apart.get(index)).copied();
            let (before, behind) = (steps().min().unwrap_or_default().min(0), steps().max().unwrap_or_default().max(0));
            let moved = |bound: &Option<Polynomial>, by: i128| bound.as_ref()?.plus(&Polynomial::constant(by));
            own.range.lower = moved(&own.range.lower, before);
            own.range.upper = moved(&own.range.upper, behind);
            own.trips = None;
        }
        let mut writes = copied.accesses.iter().filter(|access| access.writes);
        let is_told = writes.all(|access| pairs::are_independent(candidate, &wider, self.depth, access, access));
        match is_told {
            true => Ok(()),
            false => Err(apart(copy.directive, "elements beside those that are copied may be the same ones")),
        }
    }
}
