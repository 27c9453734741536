//! The data environment of the split region: what stands on `target data`, what each kernel restates, and which clause
//! expressions are evaluated once before.

use std::collections::{BTreeMap, BTreeSet};

use crate::edit::directive_writer::on_one_line;
use crate::plan::{Certainty, Reason, ReasonCode};
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseArgument, ListItem};
use crate::transforms::split_target::clauses::{ReductionItem, RegionClauses};
use crate::transforms::split_target::kernels::{Kernel, Variable};
use crate::transforms::split_target::names::{Class, Kind, Names};
use crate::transforms::split_target::shape::{Form, Shape};
use crate::transforms::split_target::write::is_private;

/// The data environment, ready to be written.
#[derive(Clone, Debug, Default)]
pub(super) struct DataEnvironment {
    /// The region's map clauses.
    pub maps: Vec<MapClause>,
    /// Arrays and structures that the original maps implicitly, with the map type they get.
    pub implicit: Vec<(String, &'static str)>,
    /// Scalars that a kernel's combined directive must map, with the type: kernel index, name, map type. Compilers differ
    /// in what they map by rule.
    pub reductions: Vec<(usize, String, &'static str)>,
    /// Reductions on the region's combined directive: mapped `tofrom` for the whole region.
    pub mapped_reductions: Vec<String>,
    /// Expressions that are evaluated once before the region: where they stand, their name.
    pub temporaries: BTreeMap<Span, Temporary>,
    /// What holds only under an assumption, and notes.
    pub remarks: Vec<Reason>,
}

/// An expression that is evaluated once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Temporary {
    /// The name of the new constant.
    pub name: String,
    /// `int`, `long long`.
    pub type_name: &'static str,
}

/// A map clause taken apart.
#[derive(Clone, Debug)]
pub(super) struct MapClause {
    /// What stands before the items, `always`, `present` and `close` among it.
    pub prefix: String,
    /// The same for a kernel, without them.
    pub kernel_prefix: String,
    pub items: Vec<ListItem>,
}

/// Works out the data environment; the reasons are those for which the region is refused.
pub(super) fn build(
    names: &Names<'_>,
    shape: &Shape,
    region: &RegionClauses,
    kernels: &[Kernel],
) -> Result<DataEnvironment, Vec<Reason>> {
    let mut builder = Builder {
        names,
        shape,
        region,
        kernels,
        data: DataEnvironment::default(),
        reasons: Vec::new(),
        mapped: BTreeSet::new(),
        scalars_are_mapped: false,
    };
    builder.maps();
    builder.check_region_lists();
    builder.defaultmap();
    for (index, kernel) in kernels.iter().enumerate() {
        builder.loop_items(index, kernel);
        builder.variables(kernel);
    }
    builder.aliases();
    builder.region_reductions();
    builder.expressions();
    if builder.reasons.is_empty() { Ok(builder.data) } else { Err(builder.reasons) }
}

struct Builder<'a, 'n> {
    names: &'a Names<'n>,
    shape: &'a Shape,
    region: &'a RegionClauses,
    kernels: &'a [Kernel],
    data: DataEnvironment,
    reasons: Vec<Reason>,
    /// The base names of explicitly mapped items.
    mapped: BTreeSet<String>,
    /// Does `defaultmap` map all scalars `tofrom`?
    scalars_are_mapped: bool,
}

impl Builder<'_, '_> {
    fn refuse(&mut self, code: ReasonCode, span: Span, message: impl Into<String>) {
        self.reasons.push(Reason::new(code, span, message));
    }

    fn maps(&mut self) {
        let file = self.names.cx.file;
        for clause in &self.region.maps {
            let items = clause.items().to_vec();
            self.mapped.extend(items.iter().filter_map(|item| item.base.clone()));
            let is_type = |name: &str| matches!(name, "to" | "from" | "tofrom" | "alloc");
            let map_type = clause.modifiers.iter().rfind(|m| is_type(&m.name)).map(|m| m.name.clone());
            let (prefix, kernel_prefix) = match (clause.modifiers.first(), clause.modifiers.last(), items.first()) {
                (Some(first), Some(last), Some(item)) => {
                    let colon = on_one_line(file, Span::new(last.span.end, item.span.start));
                    let all = on_one_line(file, Span::new(first.span.start, last.span.end));
                    (format!("{all}{colon}"), map_type.map_or(String::new(), |kind| format!("{kind}{colon}")))
                }
                _ => (String::new(), String::new()),
            };
            self.data.maps.push(MapClause { prefix, kernel_prefix, items });
        }
    }

    /// `private` on the region's directives: one object that all threads share unless the loops make it private again.
    fn check_region_lists(&mut self) {
        self.check_private_maps();
        let listed = |items: &[ListItem]| -> Vec<(String, Span)> {
            items.iter().filter_map(|item| Some((item.base.clone()?, item.span))).collect()
        };
        for (name, span) in listed(&self.region.private) {
            if self.kernels.iter().any(|kernel| kernel.variables.contains_key(&name)) {
                let message = format!("`{name}` is one object for the whole region here, and a loop uses it");
                self.refuse(ReasonCode::SharingConflict, span, message);
            }
        }
        let firstprivate: Vec<(String, Span)> = self.firstprivate_items();
        for (name, span) in firstprivate {
            let kind = self.names.kind(&name, span.start);
            if self.shape.loops.len() > 1 && !matches!(kind, Kind::Scalar { .. } | Kind::Pointer { .. }) {
                let message = format!("`{name}` would be copied for each kernel, and may be written in between");
                self.refuse(ReasonCode::SharingConflict, span, message);
            }
            for kernel in self.kernels {
                let variable = kernel.variables.get(&name);
                let written = variable.and_then(|v| {
                    v.written.or(if matches!(v.kind, Kind::Pointer { .. }) { None } else { v.elements_written })
                });
                if let Some(at) = written {
                    self.reasons.push(scalar_written(&name, at));
                }
                let reduced = kernel.clauses.reductions.iter().any(|r| r.item.base.as_deref() == Some(name.as_str()));
                if reduced {
                    let message = format!("`{name}` is firstprivate on the region and combined by a loop");
                    self.refuse(ReasonCode::SharingConflict, span, message);
                }
            }
        }
    }

    /// A single loop has no data construct that could keep a map of what the loop makes private.
    fn check_private_maps(&mut self) {
        if self.shape.form != Form::OneLoop {
            return;
        }
        for item in self.region.maps.iter().flat_map(Clause::items) {
            if self.kernels.iter().any(|kernel| is_private(kernel, item)) {
                let message = "this item is mapped by the region and private in its loop";
                self.reasons.push(Reason::new(ReasonCode::SharingConflict, item.span, message));
            }
        }
    }

    fn firstprivate_items(&self) -> Vec<(String, Span)> {
        let clauses = self.region.used_items.iter();
        let clauses = clauses.filter(|clause| clause.name == crate::syntax::ClauseName::Firstprivate);
        clauses.flat_map(Clause::items).filter_map(|item| Some((item.base.clone()?, item.span))).collect()
    }

    /// Only what changes no implicit rule that matters here is followed; the clause stays on each kernel.
    fn defaultmap(&mut self) {
        for clause in &self.region.defaultmap {
            let words = self.names.cx.file.show(Span::new(clause.name_span.end, clause.span.end)).into_owned();
            let words: Vec<&str> =
                words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
            let unlisted_scalar = || {
                let variables = self.kernels.iter().flat_map(|kernel| &kernel.variables);
                let mut scalars = variables.filter(|(_, variable)| matches!(variable.kind, Kind::Scalar { .. }));
                scalars.any(|(name, _)| !self.is_listed(name))
            };
            match words.as_slice() {
                ["none" | "default", ..] | ["tofrom", "aggregate"] | ["firstprivate", "scalar"] => {}
                ["tofrom", "scalar"] => self.scalars_are_mapped = true,
                [_, "scalar"] if !unlisted_scalar() => {}
                _ => {
                    let message = "there is no safe rule for this default";
                    self.refuse(ReasonCode::ClauseWithoutRule, clause.span, message);
                }
            }
        }
        if self.scalars_are_mapped {
            self.map_scalars();
        }
    }

    /// `defaultmap(tofrom: scalar)`: each scalar that no clause names is mapped for the whole region.
    fn map_scalars(&mut self) {
        for kernel in self.kernels {
            let scalars = kernel.variables.iter().filter(|(_, v)| matches!(v.kind, Kind::Scalar { .. }));
            let reduced = kernel.clauses.reductions.iter().filter_map(|reduction| reduction.item.base.as_ref());
            for name in scalars.map(|(name, _)| name).chain(reduced) {
                if !self.is_listed(name) && self.mapped.insert(name.clone()) && self.shape.form != Form::OneLoop {
                    self.data.implicit.push((name.clone(), "tofrom"));
                }
            }
        }
        for (index, kernel) in self.kernels.iter().enumerate() {
            let own = |name: &String| self.data.implicit.iter().any(|(other, _)| other == name);
            let reduced = kernel.clauses.reductions.iter().filter_map(|reduction| reduction.item.base.clone());
            let items: Vec<String> = reduced.filter(own).collect();
            self.data.reductions.extend(items.into_iter().map(|name| (index, name, "tofrom")));
        }
    }

    /// Does a clause of the region say what the variable is in it?
    fn is_listed(&self, name: &str) -> bool {
        let named = |item: &ListItem| item.base.as_deref() == Some(name);
        self.is_on_device(name) || self.region.used_items.iter().any(|clause| clause.items().iter().any(named))
    }

    fn is_mapped(&self, name: &str) -> bool {
        self.mapped.contains(name)
    }

    /// Is the name one that no kernel gets a copy of its own of?
    fn is_on_device(&self, name: &str) -> bool {
        self.is_mapped(name)
            || self.names.is_declare_target(name)
            || self.region.used_items.iter().any(|clause| {
                matches!(clause.name, crate::syntax::ClauseName::HasDeviceAddr)
                    && clause.items().iter().any(|item| item.base.as_deref() == Some(name))
            })
    }

    /// The lists of a loop's own clauses.
    fn loop_items(&mut self, index: usize, kernel: &Kernel) {
        let clauses = &kernel.clauses;
        for item in &clauses.firstprivate {
            let name = item.base.clone().unwrap_or_default();
            let kind = self.names.kind(&name, item.span.start);
            // On the combined construct the clause copies the host's value, and translates no pointer.
            if !matches!(kind, Kind::Scalar { .. }) || self.is_on_device(&name) {
                let message = format!("`{name}` is on the device, or a pointer to it, and firstprivate in the loop");
                self.refuse(ReasonCode::SharingConflict, item.span, message);
            }
        }
        if let Some(span) = clauses.default_firstprivate {
            self.default_firstprivate(kernel, span);
        }
        for item in &clauses.linear {
            let name = item.base.clone().unwrap_or_default();
            if !kernel.nest.loops.iter().any(|l| l.variable == name && !l.declared_in_loop) {
                let message = "`linear` on a combined construct with `distribute` is for loop variables only";
                self.refuse(ReasonCode::SharingConflict, item.span, message);
            }
        }
        for reduction in &clauses.reductions {
            self.reduction(index, reduction);
        }
        self.last_values(index, kernel);
    }

    /// The variable of a `simd` loop, and what `linear` names, has its last value after the loop (OpenMP 5.2, section 5.4.6).
    fn last_values(&mut self, index: usize, kernel: &Kernel) {
        if kernel.chain.leaves.last() != Some(&Leaf::Simd) && kernel.clauses.linear.is_empty() {
            return;
        }
        for canonical in kernel.nest.loops.iter().filter(|canonical| !canonical.declared_in_loop) {
            let name = &canonical.variable;
            let others = self.kernels.iter().enumerate().filter(|(other, _)| *other != index);
            if self.is_on_device(name) || others.into_iter().any(|(_, other)| other.variables.contains_key(name)) {
                let message = format!("the last value of `{name}` is seen after the loop, and would be lost");
                self.refuse(ReasonCode::SharingConflict, canonical.variable_span, message);
            }
        }
    }

    /// `default(firstprivate)`: on a combined construct it must mean the same for what no clause names.
    fn default_firstprivate(&mut self, kernel: &Kernel, span: Span) {
        let unlisted = kernel.variables.iter().filter(|(name, _)| !kernel.shared.contains(*name));
        for (name, variable) in unlisted {
            let copied = matches!(variable.kind, Kind::Scalar { .. } | Kind::Pointer { .. });
            if !copied || self.is_on_device(name) {
                let message = format!("`{name}` is mapped or an array, and would be copied for each team as well");
                let reason = Reason::new(ReasonCode::SharingConflict, span, message);
                self.reasons.push(reason.with_label(variable.first, "used here"));
            }
        }
    }

    fn reduction(&mut self, index: usize, reduction: &ReductionItem) {
        let name = reduction.item.base.clone().unwrap_or_default();
        let region_wide = self.region.reductions.iter().any(|r| r.item.base.as_deref() == Some(name.as_str()));
        if self.is_mapped(&name) || region_wide {
            return;
        }
        if self.names.is_declare_target(&name) {
            let message = format!("`{name}` lives on the device already");
            return self.refuse(ReasonCode::ReductionNotMovable, reduction.item.span, message);
        }
        if reduction.on_target {
            self.data.reductions.push((index, name, "tofrom"));
            return;
        }
        // `map(to:)` would keep it lost on a device, but not where the region runs on the host.
        let message = format!("the result in `{name}` is lost at the end of the region; on the kernel it would not be");
        self.refuse(ReasonCode::ReductionNotMovable, reduction.item.span, message);
    }

    /// A scalar that no clause maps is copied when each kernel starts, once in the original. Where the region runs on the
    /// host (no device, `if(0)`, unified memory), an earlier kernel may have written it through another name by then.
    fn aliases(&mut self) {
        let mut reported = BTreeSet::new();
        for (index, kernel) in self.kernels.iter().enumerate() {
            for (name, variable) in &kernel.variables {
                let class = match variable.kind {
                    Kind::Scalar { class, .. } => class,
                    Kind::Pointer { .. } => Class::Pointer,
                    _ => continue,
                };
                let own = self.is_on_device(name) || self.names.cannot_be_aliased(name, variable.first.start);
                if own || reported.contains(name) {
                    continue;
                }
                let earlier = self.kernels[..index].iter().flat_map(|kernel| &kernel.variables);
                let written = earlier.filter(|(other, _)| *other != name).find_map(|(_, other)| match &other.kind {
                    Kind::Pointer { class: element, .. } if other.any_class || element.may_alias(class) => {
                        other.elements_written
                    }
                    Kind::Scalar { class: own, .. } if own.may_alias(class) => other.written,
                    // Members and elements may be pointers.
                    Kind::Struct | Kind::Array { plain: false, .. } => other.elements_written,
                    Kind::Array { .. } if self.names.is_reference(name, variable.first.start) => other.elements_written,
                    _ => None,
                });
                let combined =
                    || self.kernels[..index].iter().find_map(|kernel| self.combined_alias(kernel, class, name));
                if let Some(at) = written.or_else(combined) {
                    reported.insert(name.clone());
                    let message = format!("`{name}`, which no clause maps, is not what an earlier loop writes");
                    let mut reason = Reason::new(ReasonCode::NotAliased, variable.first, message);
                    reason.certainty = Certainty::Assumed;
                    self.data.remarks.push(reason.with_label(at, "this may be the same object"));
                }
            }
        }
    }

    /// An item that a loop's reduction writes and that may be the object `name`.
    fn combined_alias(&self, kernel: &Kernel, class: Class, name: &str) -> Option<Span> {
        let mut items = kernel.clauses.reductions.iter().map(|reduction| &reduction.item);
        let aliases = |item: &&ListItem| {
            let base = item.base.as_deref().unwrap_or_default();
            let own = match self.names.kind(base, item.span.start) {
                Kind::Scalar { class, .. } => class,
                _ => Class::Any,
            };
            base != name && own.may_alias(class)
        };
        items.find(aliases).map(|item| item.span)
    }

    /// `reduction` on the region's own directives: each loop must carry it itself, or not name the item.
    fn region_reductions(&mut self) {
        for reduction in &self.region.reductions {
            let name = reduction.item.base.clone().unwrap_or_default();
            let uses_it = |kernel: &Kernel| kernel.variables.contains_key(&name);
            let differs = |kernel: &Kernel| {
                kernel.clauses.reductions.iter().any(|other| {
                    other.item.base.as_deref() == Some(name.as_str()) && other.operator != reduction.operator
                })
            };
            if self.kernels.iter().any(|kernel| uses_it(kernel) || differs(kernel)) {
                let message = format!("a loop uses `{name}` without the same reduction");
                self.refuse(ReasonCode::ReductionNotMovable, reduction.item.span, message);
            } else if !self.is_mapped(&name) {
                if reduction.on_target {
                    self.data.mapped_reductions.push(name);
                } else {
                    let message = format!("the result in `{name}` is lost at the end of the region");
                    self.refuse(ReasonCode::ReductionNotMovable, reduction.item.span, message);
                }
            }
        }
    }

    /// The variables that a kernel takes from outside.
    fn variables(&mut self, kernel: &Kernel) {
        for (name, variable) in &kernel.variables {
            match &variable.kind {
                Kind::Scalar { .. } | Kind::Pointer { .. } => self.scalar(kernel, name, variable),
                Kind::Array { .. } | Kind::Struct => self.aggregate(name, variable),
                _ => {}
            }
        }
    }

    fn scalar(&mut self, kernel: &Kernel, name: &str, variable: &Variable) {
        let Some(written) = variable.written else { return };
        let own_copy = kernel.clauses.default_firstprivate.is_some() && !kernel.shared.contains(name);
        if own_copy || self.is_on_device(name) {
            return;
        }
        let reason = if self.names.is_inner_loop_variable(name, kernel.nest.body) {
            let message = format!("all threads share `{name}`, the variable of an inner loop: the original has a race");
            Reason::new(ReasonCode::SharedByAccident, written, message)
        } else {
            scalar_written(name, written)
        };
        self.reasons.push(reason);
    }

    fn aggregate(&mut self, name: &str, variable: &Variable) {
        let listed = self.region.used_items.iter().any(|clause| {
            clause.name != crate::syntax::ClauseName::Shared
                && clause.items().iter().any(|item| item.base.as_deref() == Some(name))
        });
        let known = self.data.implicit.iter().any(|(other, _)| other == name);
        if self.is_on_device(name) || listed || known || self.shape.form == Form::OneLoop {
            return;
        }
        let constant = matches!(variable.kind, Kind::Array { is_const: true, .. });
        self.data.implicit.push((name.to_owned(), if constant { "to" } else { "tofrom" }));
        if let Some(place) = self.names.partial_map(name, self.shape.outer.first().copied()) {
            let message = format!("`{name}` is mapped as a whole, and no part of it alone is on the device before");
            let mut reason = Reason::new(ReasonCode::PartlyPresent, variable.first, message)
                .with_label(place, "a part of it may be mapped here");
            reason.certainty = Certainty::Assumed;
            self.data.remarks.push(reason);
        }
    }

    /// Bounds of the loops, clause expressions that move to the host, and those that several directives would evaluate.
    fn expressions(&mut self) {
        let written = self.written_names();
        for kernel in self.kernels {
            let steps = kernel.nest.loops.iter().filter_map(|canonical| canonical.step.amount);
            for step in steps {
                let mut named = self.names.names_in(step).into_iter();
                if let Some((_, at)) = named.find(|(name, at)| self.may_differ(name, *at)) {
                    let message = "a step that is zero on the host would trap there, whatever it is on the device";
                    self.refuse(ReasonCode::BoundNotOnHost, at, message);
                }
            }
            for bound in kernel.nest.loops.iter().flat_map(|l| [Some(l.lower), Some(l.upper), l.step.amount]).flatten()
            {
                if let Some(at) = self.names.not_on_host(bound, &written).or_else(|| self.may_trap(bound)) {
                    let message = "the compiler evaluates this bound on the host as well, which may not be able to";
                    self.refuse(ReasonCode::BoundNotOnHost, at, message);
                }
            }
            self.moved_expressions(kernel, &written);
        }
        if self.shape.loops.len() > 1 {
            self.shared_expressions(&written);
        }
    }

    /// A mapped variable in a bound that divides: on the host it may be zero.
    fn may_trap(&self, bound: Span) -> Option<Span> {
        let divides = self.names.cx.file.bytes(bound).iter().any(|byte| matches!(byte, b'/' | b'%'));
        let mut names = self.names.names_in(bound).into_iter();
        names.find(|(name, at)| divides && self.may_differ(name, *at)).map(|(_, at)| at)
    }

    /// May the device's copy of a variable hold something else than the host's when the region begins?
    fn may_differ(&self, name: &str, at: Span) -> bool {
        self.is_on_device(name) || matches!(self.names.kind(name, at.start), Kind::Struct | Kind::Array { .. })
    }

    fn written_names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for kernel in self.kernels {
            let variables = kernel.variables.iter();
            names.extend(variables.filter(|(_, v)| v.written.is_some()).map(|(name, _)| name.clone()));
            for (name, variable) in kernel.variables.iter().filter(|(_, v)| matches!(v.kind, Kind::Struct)) {
                names.extend(variable.members_written.iter().map(|member| written_member(name, member)));
            }
            names.extend(kernel.clauses.reductions.iter().filter_map(|r| r.item.base.clone()));
        }
        names
    }

    /// Expressions of inner clauses were evaluated on the device.
    fn moved_expressions(&mut self, kernel: &Kernel, written: &BTreeSet<String>) {
        let cx = self.names.cx;
        for id in self.shape.outer.iter().skip(1).chain(&kernel.chain.constructs) {
            let directive = cx.constructs.directive(*id);
            for clause in &directive.clauses {
                let spans: Vec<Span> = match &clause.argument {
                    ClauseArgument::Expression(span) => vec![*span],
                    ClauseArgument::Words(words) => words.iter().skip(1).copied().collect(),
                    _ => Vec::new(),
                };
                let on_target = cx.constructs.construct(*id).leaves.first() == Some(&Leaf::Target);
                for span in spans.into_iter().filter(|_| !on_target) {
                    if let Some(at) = self.names.not_on_host(span, written) {
                        let message = "this was evaluated on the device; on a combined construct the host evaluates it";
                        self.refuse(ReasonCode::ExpressionNotMovable, at, message);
                    }
                }
            }
        }
    }

    /// Expressions that would be evaluated once by each construct of the output.
    fn shared_expressions(&mut self, written: &BTreeSet<String>) {
        let writes_integers = self.kernels.iter().flat_map(|kernel| kernel.variables.values()).any(|variable| {
            variable.elements_written.is_some()
                && matches!(variable.kind, Kind::Pointer { class, .. } if class.may_alias(Class::Integer))
        });
        let region = self.region;
        let mut wanted: Vec<(Span, &'static str, &'static str)> = Vec::new();
        let single = |clause: &Clause| match clause.argument {
            ClauseArgument::Expression(span) => Some(span),
            _ => None,
        };
        wanted.extend(region.device.as_ref().and_then(single).map(|span| (span, "region_device", "int")));
        wanted.extend(region.condition.as_ref().and_then(single).map(|span| (span, "region_condition", "int")));
        for clause in region.kernel.iter().filter(|clause| !clause.modifiers.is_empty()) {
            let argument = Span::new(clause.name_span.end, clause.span.end);
            if clause.modifiers.iter().any(|modifier| !self.names.is_stable(modifier.span, written, writes_integers)) {
                let message = "the bounds of this clause may have another value for each kernel";
                self.refuse(ReasonCode::ExpressionNotMovable, argument, message);
            }
        }
        for clause in &region.kernel {
            let name = self.names.cx.file.show(clause.name_span).replace(' ', "_");
            let name = if name == "num_teams" { "region_num_teams" } else { "region_thread_limit" };
            wanted.extend(single(clause).map(|span| (span, name, "int")));
        }
        for clause in &region.maps {
            for section in clause.items().iter().flat_map(|item| &item.sections) {
                wanted.extend(section.lower_bound.map(|span| (span, "map_start", "long long")));
                wanted.extend(section.length.map(|span| (span, "map_length", "long long")));
                wanted.extend(section.stride.map(|span| (span, "map_stride", "long long")));
            }
        }
        for (span, stem, type_name) in wanted {
            if !self.names.is_stable(span, written, writes_integers) {
                let name = self.names.fresh(stem);
                self.data.temporaries.insert(span, Temporary { name, type_name });
            }
        }
    }
}

/// A member of a structure as it stands among the written names; an empty one is the whole object.
pub(super) fn written_member(name: &str, member: &str) -> String {
    if member.is_empty() { name.to_owned() } else { format!("{name}.{member}") }
}

fn scalar_written(name: &str, at: Span) -> Reason {
    let message = format!("`{name}` is written here, and each kernel would have a copy of its own of it");
    Reason::new(ReasonCode::ScalarWritten, at, message)
}
