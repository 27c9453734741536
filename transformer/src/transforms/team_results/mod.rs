//! Results that each team combines with the whole by an atomic update: of reductions for `combine`, of updates in each iteration for `reduce`.

mod clauses;
mod grid;
mod result;
mod write;

pub(super) use self::result::{Combiner, Origin, TeamResult, part, start};

use crate::analysis::accesses::Accesses;
use crate::analysis::associated_loops::associated_loops;
use crate::analysis::independence::{self, Candidate, aliases::Sections};
use crate::context::Context;
use crate::device::DeviceProfile;
use crate::edit::Edit;
use crate::region::construct::Construct;
use crate::region::target::TargetRegion;
use crate::semantics::symbols::DeclaredType;
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseName, Directive, ListItem, NodeId, Number};
use crate::transforms::checks;

/// Why something stays as it is, and where that shows.
pub(super) type Problem = (Span, String);

/// A kernel that is one loop, whose iterations are followed.
pub(super) struct Kernel<'c, 'p> {
    pub cx: &'c Context<'p>,
    pub region: &'c TargetRegion,
    /// Its directives, which stand on top of each other, outermost first.
    pub directives: Vec<&'c Directive>,
    pub candidate: Candidate<'c, 'p>,
    pub found: Accesses,
    pub sections: Sections,
    /// The statement of the outermost loop.
    pub statement: NodeId,
}

impl<'c, 'p> Kernel<'c, 'p> {
    /// Reads it. `are_allowed` says of which other directives in the loop the caller knows what they do.
    ///
    /// # Errors
    /// What the two directives of a team and its threads cannot stand for, or is not followed.
    pub(super) fn read(
        cx: &'c Context<'p>,
        region: &'c TargetRegion,
        are_allowed: &dyn Fn(&Construct, &Directive) -> bool,
    ) -> Result<Self, Problem> {
        let no = |span: Span, message: &str| (span, message.to_owned());
        let directives: Vec<&Directive> =
            region.chain.constructs.iter().map(|id| cx.constructs.directive(*id)).collect();
        let directive = cx.constructs.directive(region.chain.innermost());
        if region.chain.leaves.last() != Some(&Leaf::For) {
            return Err(no(directive.span, "the loop has `simd` too"));
        }
        let between = directives.iter().zip(directives.iter().skip(1));
        let mut between = between.map(|(one, next)| Span::new(one.span.end, next.span.start));
        if let Some(gap) = between.find(|gap| !cx.file.bytes(*gap).iter().all(u8::is_ascii_whitespace)) {
            return Err(no(gap, "something stands between the directives"));
        }
        let not_read = || no(directive.span, "the loop is not read");
        let (loops, promised) = associated_loops(cx, region).ok_or_else(not_read)?;
        let statement = loops.first().ok_or_else(not_read)?.node;
        let inside = Span::new(directive.span.end, cx.tree.span(statement).end);
        let is_other =
            |(construct, found): &(&Construct, &Directive)| !found.transforms_loop() && !are_allowed(construct, found);
        if let Some((_, other)) = cx.constructs.within(inside).find(is_other) {
            return Err(no(other.span, "another directive stands in the loop"));
        }
        let candidate = Candidate::of_kernel(cx, region, loops, promised);
        let (found, sections) = independence::read(&candidate);
        match found.troubles.first() {
            Some(trouble) => Err((trouble.span, trouble.message.clone())),
            None => Ok(Self { cx, region, directives, candidate, found, sections, statement }),
        }
    }

    /// Teams with their parts of the results around the loop, in which others edits are made as well.
    ///
    /// # Errors
    /// What has no place in the two directives.
    pub(super) fn edit(
        &self,
        device: &DeviceProfile,
        results: &[TeamResult],
        others: Vec<Edit>,
    ) -> Result<Edit, Problem> {
        let cx = self.cx;
        let loops = &self.candidate.nest.loops.loops;
        let heads: Vec<Span> = loops.iter().flat_map(|one| [one.lower, one.condition, one.step.span]).collect();
        let mut names = results.iter().flat_map(|one| &one.names);
        if let Some(named) = names.find(|name| heads.iter().any(|head| head.contains(**name))) {
            return Err((*named, "how often the loop runs depends on what it combines".to_owned()));
        }
        let Some(turns) = grid::Turns::of(cx, self.region, loops) else {
            let message =
                "there may be too many iterations for several teams to take turns at, and the host cannot ask";
            return Err((cx.tree.span(self.statement), message.to_owned()));
        };
        let mut shared = clauses::share(cx, &self.directives, results)?;
        shared.reduce(results);
        let body = self.candidate.nest.loops.body;
        let has_loop = cx.tree.descendants(body).any(|node| cx.tree.kind(node).is_loop());
        grid::complete(cx, (&self.directives, has_loop), device, &turns, &mut shared);
        let edit = write::edit(self, shared, results, others);
        edit.ok_or_else(|| (self.region.extent, "directive and loop do not stand on lines of their own".to_owned()))
    }
}

/// The device whose teams combine results by atomic updates, or why that is not known to gain anything; with it the directive that says so, if one does.
pub(super) fn device<'c>(cx: &Context<'c>) -> Result<&'c DeviceProfile, (&'static str, Option<Span>)> {
    let Some(device) = cx.profile else {
        return Err(("no device is asked for, for which atomic updates are measured", None));
    };
    if device.shares_host_memory || checks::unified_memory(cx).is_some() {
        return Err(("not measured where host and device share their memory", None));
    }
    if !cx.pipeline.transforms_loops() {
        return Err(("not measured with the compiler that the output is for", None));
    }
    if cx.pipeline.without_extensions {
        return Err(("`atomic` in `teams` is an extension, which the flags forbid", None));
    }
    let other = cx.constructs.directives.iter().find(|directive| are_in_memory(&types_listed(cx, directive)));
    other.map_or(Ok(device), |other| {
        let message =
            "clang would keep so many results as this file has in one loop in memory, and then does so all the more";
        Err((message, Some(other.span)))
    })
}

/// The types of all that the `reduction` clauses of a directive list, as far as they are known.
fn types_listed(cx: &Context<'_>, directive: &Directive) -> Vec<Option<DeclaredType>> {
    let items = directive.clauses_of(ClauseName::Reduction).flat_map(Clause::items);
    let ty = |item: &ListItem| {
        let name = item.base.as_deref().filter(|_| item.is_name);
        name.and_then(|name| cx.symbols().lookup(name, item.span.start)).map(|variable| variable.ty.clone())
    };
    items.map(ty).collect()
}

/// Has a loop more results than the compiler keeps in registers? What combines the threads of a team exchanges 32 bits at a time. clang 19 calls it as a function where it is
/// large, and then keeps the values in memory: with five of `double` always in a large file, and with eight of `float`. A loop with five took 2.3 times as long.
pub(super) fn are_in_memory(types: &[Option<DeclaredType>]) -> bool {
    let bits =
        |ty: &Option<DeclaredType>| ty.as_ref().and_then(DeclaredType::number).and_then(Number::bits).unwrap_or(64);
    types.len() > 7 || types.iter().map(bits).map(|bits| bits.div_ceil(32)).sum::<u32>() > 8
}
