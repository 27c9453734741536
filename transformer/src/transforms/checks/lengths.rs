//! What lengths of loops the host, or a kernel, may be asked for: variables compared with constants, so that nothing overflows, traps or has an
//! effect.

use crate::analysis::accesses::Accesses;
use crate::context::Context;
use crate::region::construct::ConstructId;
use crate::region::loop_nest::CanonicalLoop;
use crate::region::target::TargetRegion;
use crate::syntax::ClauseName;

/// A kernel's own loops, and how often each runs if the text tells it.
pub(in crate::transforms) struct Lengths<'l, 'c, 'p> {
    pub cx: &'c Context<'p>,
    pub region: &'l TargetRegion,
    pub loops: &'l [CanonicalLoop],
    pub found: &'l Accesses,
}

impl Lengths<'_, '_, '_> {
    /// `None` for each length that the text does not tell.
    pub(in crate::transforms) fn trips(&self) -> impl Iterator<Item = Option<i128>> + '_ {
        self.found.loops.iter().take(self.loops.len()).map(|one| one.trips)
    }

    /// Are there lengths that the text does not tell, and can the host read all of them, and compare them with each other?
    pub(in crate::transforms) fn can_be_asked(&self) -> bool {
        let at = self.region.extent.start;
        let unknown = self.loops.iter().zip(self.trips()).filter(|(_, trips)| trips.is_none());
        let types: Option<Vec<_>> =
            unknown.map(|(own, _)| self.length(own).and_then(|name| self.cx.integer_type(&name, at))).collect();
        types.is_some_and(|types| !types.is_empty() && types.windows(2).all(|pair| pair.first() == pair.last()))
    }

    /// The condition that the loops have at least so many iterations together. `None` where the text tells all lengths, or one of them is no variable
    /// that the host can read.
    pub(in crate::transforms) fn at_least(&self, mut least: u64) -> Option<String> {
        let mut names = Vec::new();
        for (own, trips) in self.loops.iter().zip(self.trips()) {
            match trips {
                Some(trips) => least = least.div_ceil(u64::try_from(trips).ok()?.max(1)),
                None => names.push(self.length(own)?),
            }
        }
        let (last, others) = names.split_last()?;
        if others.iter().all(|other| other == last) {
            let power = u32::try_from(names.len()).ok()?;
            let is_enough = |length: &u64| length.checked_pow(power).is_none_or(|product| product >= least);
            return (1..=u64::from(u32::MAX)).find(is_enough).map(|from| format!("{last} >= {from}"));
        }
        let positive: String = others.iter().map(|name| format!("{name} > 0 && ")).collect();
        let divided: String = others.iter().map(|name| format!(" / {name}")).collect();
        Some(format!("{positive}{last} > {}{divided}", least.saturating_sub(1)))
    }

    /// The variable that says how long a loop is, but for numbers that are added and taken away.
    pub(in crate::transforms) fn length(&self, own: &CanonicalLoop) -> Option<String> {
        let cx = self.cx;
        let mut names = cx.names_in(own.upper).into_iter().filter(|(_, at)| cx.constant(*at).is_none());
        let (Some((name, at)), None) = (names.next(), names.next()) else { return None };
        let text = cx.file.show(own.upper);
        let is_sum = !text.contains(['*', '/', '%']) && text.starts_with(&name);
        let before = self.region.extent.start;
        let kernel = &self.region.chain.constructs;
        (is_sum && cx.means_the_same(at, before) && has_hosts_value(cx, kernel, &name, before)).then_some(name)
    }
}

/// Is it an integer of which a kernel, by its constructs, gets the value that it has on the host at a place in front of them?
pub(in crate::transforms) fn has_hosts_value(cx: &Context<'_>, kernel: &[ConstructId], name: &str, at: usize) -> bool {
    let mut clauses = kernel.iter().flat_map(|id| &cx.constructs.directive(*id).clauses);
    let on_device = clauses.any(|clause| {
        clause.name == ClauseName::Defaultmap || clause.name != ClauseName::Firstprivate && clause.lists(name)
    });
    cx.integer_type(name, at).is_some()
        && cx.holds_32_bits(name, at)
        && !on_device
        && !cx.is_declare_target(name)
        && !cx.may_be_declared_for_device(name, at)
        && !cx.is_threadprivate(name)
}
