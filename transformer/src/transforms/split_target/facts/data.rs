//! The data environment of the split region: what is mapped for the whole region, what each kernel needs in addition,
//! and which clause expressions are evaluated once before.

mod aliases;
mod expressions;
mod host_parts;
mod lists;
mod own_copies;
mod parallel;
mod reductions;
mod region_variables;
mod task;

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Certainty, Reason, ReasonCode};
use crate::semantics::{Kind, Program};
use crate::source::Span;
use crate::syntax::{ClauseName, NodeId};
use crate::transforms::split_target::facts::local_arrays::LocalArrays;
use crate::transforms::split_target::facts::pieces::{Piece, Variable};
use crate::transforms::split_target::shape::clauses::RegionClauses;
use crate::transforms::split_target::shape::{Form, HostPart, Shape};

pub(crate) use self::own_copies::OwnCopy;
pub(crate) use self::task::TaskLists;

/// The data environment, ready to be written.
#[derive(Clone, Debug, Default)]
pub(crate) struct DataEnvironment {
    /// Arrays and structures that the original maps implicitly, with the map type they get.
    pub implicit: Vec<(String, &'static str)>,
    /// Scalars that a kernel's directive must map itself: kernel index, name, map type. They are variables of the
    /// region, and items of reductions on a combined directive, for which the implicit maps of compilers differ.
    pub kernel_maps: Vec<(usize, String, &'static str)>,
    /// Variables that the output declares in the region.
    pub own_copies: Vec<OwnCopy>,
    /// Variables that a kernel makes private: those of a `parallel` region, and those from outside that serial statements
    /// assign before they use them. Kernel index, name.
    pub kernel_private: Vec<(usize, String)>,
    /// Pointers in a `firstprivate` clause of a `parallel` region. No kernel may name them in such a clause, because it
    /// copies the host's value.
    pub kept_pointers: BTreeSet<Span>,
    /// Reductions on the region's combined directive: mapped `tofrom` for the whole region.
    pub mapped_reductions: Vec<String>,
    /// Expressions that are evaluated once before the region: their places and their constants.
    pub temporaries: BTreeMap<Span, Temporary>,
    /// What the task around the kernels captures, if there is one.
    pub task: TaskLists,
    /// Assumptions and notes.
    pub remarks: Vec<Reason>,
}

impl DataEnvironment {
    /// Is `*this` mapped implicitly, because the region names members?
    pub(crate) fn maps_this(&self) -> bool {
        self.implicit.iter().any(|(name, _)| name == "this")
    }
}

/// An expression that is evaluated once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Temporary {
    /// The name of the new constant.
    pub name: String,
    /// `int`, `long long`; the type of the variable whose value it holds.
    pub type_name: String,
}

/// Determines the data environment. The error holds the reasons to refuse the region.
pub(super) fn build(
    names: &Program<'_>,
    shape: &Shape,
    region: &RegionClauses,
    pieces: &[Piece],
    host: &[HostPart],
    arrays: &[LocalArrays],
) -> Result<DataEnvironment, Vec<Reason>> {
    let mut builder = Builder::new(names, shape, region, pieces, host, arrays);
    builder.own_copies();
    builder.name_copies();
    builder.parallel_regions();
    builder.check_region_lists();
    for (index, piece) in pieces.iter().enumerate() {
        builder.loop_items(index, piece);
        if let Some(steering) = piece.serial.as_ref().and_then(|run| run.steering.as_ref()) {
            builder.data.kernel_maps.push((index, steering.result.clone(), "from"));
        }
        builder.variables(index, piece);
    }
    builder.host_parts();
    builder.hoisted();
    builder.arrays();
    builder.aliases();
    builder.region_reductions();
    builder.expressions();
    builder.task();
    if builder.reasons.is_empty() { Ok(builder.data) } else { Err(builder.reasons) }
}

/// The parts of a region that the host cannot execute, each with the reasons. `kernels` are the loops.
pub(super) fn not_on_host(
    names: &Program<'_>,
    shape: &Shape,
    region: &RegionClauses,
    pieces: &[Piece],
) -> BTreeMap<NodeId, Vec<Reason>> {
    let mut builder = Builder::new(names, shape, region, pieces, &shape.host, &[]);
    builder.own_copies();
    let found = builder.parts_not_on_host();
    // A variable that no loop uses stays on the device with the statements that use it.
    if builder.leave_copies_to(&found) { builder.parts_not_on_host() } else { found }
}

struct Builder<'a, 'n> {
    names: &'a Program<'n>,
    shape: &'a Shape,
    region: &'a RegionClauses,
    pieces: &'a [Piece],
    host: &'a [HostPart],
    arrays: &'a [LocalArrays],
    data: DataEnvironment,
    reasons: Vec<Reason>,
    /// The base names of explicitly mapped items.
    mapped: BTreeSet<String>,
    /// Does `defaultmap` map all scalars `tofrom`?
    scalars_are_mapped: bool,
}

impl<'a, 'n> Builder<'a, 'n> {
    fn new(
        names: &'a Program<'n>,
        shape: &'a Shape,
        region: &'a RegionClauses,
        pieces: &'a [Piece],
        host: &'a [HostPart],
        arrays: &'a [LocalArrays],
    ) -> Self {
        let mut builder = Builder {
            names,
            shape,
            region,
            pieces,
            host,
            arrays,
            data: DataEnvironment::default(),
            reasons: Vec::new(),
            mapped: BTreeSet::new(),
            scalars_are_mapped: false,
        };
        builder.maps();
        builder.defaultmap();
        builder
    }
}

impl Builder<'_, '_> {
    fn refuse(&mut self, code: ReasonCode, span: Span, message: impl Into<String>) {
        self.reasons.push(Reason::new(code, span, message));
    }

    /// Where the region's statements stand.
    fn body(&self) -> Option<Span> {
        self.shape.outer.last().map(|id| self.names.constructs.construct(*id).body_span)
    }

    fn parts_not_on_host(&mut self) -> BTreeMap<NodeId, Vec<Reason>> {
        let mut found = BTreeMap::new();
        for part in self.host {
            self.reasons.clear();
            match part {
                HostPart::Flow(node) => self.condition(*node),
                _ => self.host_part(*part),
            }
            if !self.reasons.is_empty() {
                found.insert(part.node(), std::mem::take(&mut self.reasons));
            }
        }
        found
    }

    fn maps(&mut self) {
        let region = self.region;
        for clause in &region.maps {
            let mut items = clause.items().iter();
            if let Some(member) = items.find(|item| item.is_of("this") && item.has_member) {
                self.refuse(ReasonCode::HiddenCode, member.span, "name the member without `this->` in a clause");
            }
            self.mapped.extend(clause.items().iter().filter_map(|item| item.base.clone()));
        }
    }

    /// Does a clause of the region list the variable?
    fn is_listed(&self, name: &str) -> bool {
        self.is_on_device(name) || self.region.used_items.iter().any(|clause| clause.lists(name))
    }

    fn is_mapped(&self, name: &str) -> bool {
        self.mapped.contains(name)
    }

    /// Is the variable on the device, so that kernels get no copy of their own?
    fn is_on_device(&self, name: &str) -> bool {
        self.is_mapped(name) || self.is_on_device_itself(name)
    }

    /// Is the variable itself on the device, not only the data it points to?
    fn is_on_device_itself(&self, name: &str) -> bool {
        self.names.is_declare_target(name)
            || self.region.used_items_of(ClauseName::HasDeviceAddr).any(|item| item.is_of(name))
    }

    /// Checks the variables from outside that a kernel uses.
    fn variables(&mut self, index: usize, piece: &Piece) {
        for (name, variable) in &piece.variables {
            match &variable.kind {
                _ if self.thread_region(name, variable.first.start).is_some() => {
                    self.thread_variable(index, name, variable);
                }
                Kind::Scalar { .. } if self.is_local(name, variable.first.start) => {
                    self.local(index, name, variable.first.start, variable.written);
                }
                Kind::Scalar { .. } | Kind::Pointer { .. } => self.scalar(index, piece, name, variable),
                Kind::Array { .. } | Kind::Struct => self.aggregate(name, variable),
                _ => {}
            }
        }
    }

    /// A variable that the region declares moves to the host. A kernel that writes it gets its value and returns it.
    fn local(&mut self, index: usize, name: &str, at: usize, written: Option<Span>) {
        let Some(written) = written else { return };
        if self.shape.form == Form::League {
            let message = format!("each team has a `{name}` of its own");
            return self.refuse(ReasonCode::LocalDeclaration, written, message);
        }
        let hoists = |piece: &Piece| self.names.declared_at(name, at).is_some_and(|place| piece.hoists(place));
        let map_type = if self.pieces.get(index).is_some_and(hoists) { "from" } else { "tofrom" };
        self.data.kernel_maps.push((index, name.to_owned(), map_type));
    }

    fn scalar(&mut self, index: usize, piece: &Piece, name: &str, variable: &Variable) {
        let Some(written) = variable.written else { return };
        let own_copy = piece.clauses.default_firstprivate.is_some() && !piece.shared.contains(name);
        let is_pointer = matches!(variable.kind, Kind::Pointer { .. });
        // The array section is on the device; the pointer that names it is a copy.
        let translated = is_pointer && self.is_section_base(name);
        if own_copy || (self.is_on_device(name) && !translated) {
            return;
        }
        let elsewhere = self.names.may_be_declared_for_device(name, variable.first.start);
        if !translated && !elsewhere && self.is_temporary(name) {
            if !self.is_listed(name) {
                self.data.kernel_private.push((index, name.to_owned()));
            }
            self.shared_by_threads(piece, name, written);
            return;
        }
        let reason = if self.names.is_inner_loop_variable(name, piece.nest.body) {
            let message = format!(
                "all threads share `{name}`, the variable of an inner loop, which is a race: declare it in the loop"
            );
            Reason::new(ReasonCode::SharedByAccident, written, message)
        } else {
            scalar_written(name, written)
        };
        self.reasons.push(reason);
    }

    /// Is no value of the variable from outside passed from one part of the region to another? Each kernel that uses it
    /// writes it first, each iteration of a loop anew, and nothing else uses it.
    pub(super) fn is_temporary(&self, name: &str) -> bool {
        let users = self.pieces.iter().filter_map(|piece| Some((piece, piece.variables.get(name)?)));
        let mut users = users.filter(|(_, variable)| !self.is_local(name, variable.first.start));
        users.all(|(piece, variable)| {
            variable.written_first && (piece.serial.is_some() || !self.is_shared_by_clause(name))
        }) && !self.pieces.iter().any(|piece| piece.takes_value(name))
            && !self.read_by_host().iter().any(|(other, _, at)| other == name && !self.is_local(name, at.start))
    }

    fn is_shared_by_clause(&self, name: &str) -> bool {
        self.region.used_items_of(ClauseName::Shared).any(|item| item.is_of(name))
    }

    /// Notes that the threads of the original share a variable that each iteration of a loop assigns.
    fn shared_by_threads(&mut self, piece: &Piece, name: &str, written: Span) {
        if piece.serial.is_none() {
            let message = format!(
                "all threads share `{name}`, which each iteration sets: the original may race; each thread gets its own"
            );
            if !self.data.remarks.iter().any(|known| known.message == message) {
                self.data.remarks.push(Reason::new(ReasonCode::OriginalRaces, written, message));
            }
        }
    }

    fn is_section_base(&self, name: &str) -> bool {
        self.region.mapped_items().any(|item| item.is_of(name) && !item.is_name)
    }

    fn aggregate(&mut self, name: &str, variable: &Variable) {
        let mut lists = self.region.used_items.iter();
        let listed = lists.any(|clause| clause.name != ClauseName::Shared && clause.lists(name));
        let known = self.data.implicit.iter().any(|(other, _)| other == name);
        // The array has a data construct of its own.
        let local = self.is_local(name, variable.first.start);
        if self.is_on_device(name) || listed || known || local || self.shape.form == Form::OneLoop {
            return;
        }
        let constant = matches!(variable.kind, Kind::Array { is_const: true, .. });
        let kind = self.aggregate_default();
        self.data.implicit.push((name.to_owned(), if constant && kind == "tofrom" { "to" } else { kind }));
        if let Some(place) = self.names.partial_map(name, self.shape.outer.first().copied()) {
            let message = format!("assumes that no part of `{name}` alone is on the device before this region");
            let mut reason = Reason::new(ReasonCode::PartlyPresent, variable.first, message)
                .with_label(place, "a part of it may be mapped here");
            reason.certainty = Certainty::Assumed;
            self.data.remarks.push(reason);
        }
    }
}

fn scalar_written(name: &str, at: Span) -> Reason {
    let message = format!(
        "`{name}` is written here but not mapped: each kernel would write a copy of its own; map it if its value is to last"
    );
    Reason::new(ReasonCode::ScalarWritten, at, message)
}
