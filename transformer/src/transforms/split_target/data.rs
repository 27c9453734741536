//! The data environment of the split region: what stands on `target data`, what each kernel restates, and which clause
//! expressions are evaluated once before.

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

use crate::edit::directive_writer::on_one_line;
use crate::plan::{Certainty, Reason, ReasonCode};
use crate::semantics::{Kind, Program};
use crate::source::Span;
use crate::syntax::{ListItem, NodeId};
use crate::transforms::split_target::clauses::RegionClauses;
use crate::transforms::split_target::kernels::{Kernel, Variable};
use crate::transforms::split_target::shape::{Form, HostPart, Shape};

pub(super) use self::own_copies::OwnCopy;
pub(super) use self::task::TaskLists;

/// The data environment, ready to be written.
#[derive(Clone, Debug, Default)]
pub(super) struct DataEnvironment {
    /// The region's map clauses.
    pub maps: Vec<MapClause>,
    /// Arrays and structures that the original maps implicitly, with the map type they get.
    pub implicit: Vec<(String, &'static str)>,
    /// Scalars that a kernel's directive must map itself, with the type: kernel index, name, map type. They are items of
    /// reductions on a combined directive, where compilers differ in what they map by rule, and variables of the region.
    pub kernel_maps: Vec<(usize, String, &'static str)>,
    /// Variables that the output declares in the region.
    pub own_copies: Vec<OwnCopy>,
    /// Variables that a kernel makes private: those of a `parallel` region, and those from outside that serial statements
    /// assign before they use them. Kernel index, name.
    pub kernel_private: Vec<(usize, String)>,
    /// Pointers in a `firstprivate` clause of a `parallel` region: no kernel may name them there, because the clause
    /// copies the host's value.
    pub kept_pointers: BTreeSet<Span>,
    /// Reductions on the region's combined directive: mapped `tofrom` for the whole region.
    pub mapped_reductions: Vec<String>,
    /// Expressions that are evaluated once before the region: where they stand, their name.
    pub temporaries: BTreeMap<Span, Temporary>,
    /// What the task around the kernels captures, where there is one.
    pub task: TaskLists,
    /// What holds only under an assumption, and notes.
    pub remarks: Vec<Reason>,
}

/// An expression that is evaluated once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Temporary {
    /// The name of the new constant.
    pub name: String,
    /// `int`, `long long`; the type of the variable whose value it holds.
    pub type_name: String,
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
    names: &Program<'_>,
    shape: &Shape,
    region: &RegionClauses,
    kernels: &[Kernel],
) -> Result<DataEnvironment, Vec<Reason>> {
    let mut builder = Builder::new(names, shape, region, kernels);
    builder.own_copies();
    builder.name_copies();
    builder.parallel_regions();
    builder.check_region_lists();
    for (index, kernel) in kernels.iter().enumerate() {
        builder.loop_items(index, kernel);
        if let Some(steering) = kernel.serial.as_ref().and_then(|run| run.steering.as_ref()) {
            builder.data.kernel_maps.push((index, steering.result.clone(), "from"));
        }
        builder.variables(index, kernel);
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

/// What of a region the host cannot execute, each statement with the reasons. `kernels` are the loops.
pub(super) fn not_on_host(
    names: &Program<'_>,
    shape: &Shape,
    region: &RegionClauses,
    kernels: &[Kernel],
) -> BTreeMap<NodeId, Vec<Reason>> {
    let mut builder = Builder::new(names, shape, region, kernels);
    builder.own_copies();
    let found = builder.parts_not_on_host();
    // A variable that no loop needs stays with the statements on the device that use it.
    if builder.leave_copies_to(&found) { builder.parts_not_on_host() } else { found }
}

struct Builder<'a, 'n> {
    names: &'a Program<'n>,
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

impl<'a, 'n> Builder<'a, 'n> {
    fn new(names: &'a Program<'n>, shape: &'a Shape, region: &'a RegionClauses, kernels: &'a [Kernel]) -> Self {
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
        builder.defaultmap();
        builder
    }
}

impl Builder<'_, '_> {
    fn refuse(&mut self, code: ReasonCode, span: Span, message: impl Into<String>) {
        self.reasons.push(Reason::new(code, span, message));
    }

    fn parts_not_on_host(&mut self) -> BTreeMap<NodeId, Vec<Reason>> {
        let mut found = BTreeMap::new();
        for part in &self.shape.host {
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
        let file = self.names.file;
        for clause in &self.region.maps {
            let items = clause.items().to_vec();
            let member = items.iter().find(|item| item.base.as_deref() == Some("this") && item.has_member);
            if let Some(member) = member {
                self.refuse(ReasonCode::HiddenCode, member.span, "name the member without `this->` in a clause");
            }
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

    /// The variables that a kernel takes from outside.
    fn variables(&mut self, index: usize, kernel: &Kernel) {
        for (name, variable) in &kernel.variables {
            match &variable.kind {
                _ if self.thread_region(name, variable.first.start).is_some() => {
                    self.thread_variable(index, name, variable);
                }
                Kind::Scalar { .. } if self.is_local(name, variable.first.start) => {
                    self.local(index, name, variable.first.start, variable.written);
                }
                Kind::Scalar { .. } | Kind::Pointer { .. } => self.scalar(index, kernel, name, variable),
                Kind::Array { .. } | Kind::Struct => self.aggregate(name, variable),
                _ => {}
            }
        }
    }

    /// A variable that the region declares becomes the host's. A kernel that writes it gets it and gives it back.
    fn local(&mut self, index: usize, name: &str, at: usize, written: Option<Span>) {
        let Some(written) = written else { return };
        if self.shape.form == Form::League {
            let message = format!("each team has a `{name}` of its own");
            return self.refuse(ReasonCode::LocalDeclaration, written, message);
        }
        let hoists = |kernel: &Kernel| self.names.declared_at(name, at).is_some_and(|place| kernel.hoists(place));
        let map_type = if self.kernels.get(index).is_some_and(hoists) { "from" } else { "tofrom" };
        self.data.kernel_maps.push((index, name.to_owned(), map_type));
    }

    fn scalar(&mut self, index: usize, kernel: &Kernel, name: &str, variable: &Variable) {
        let Some(written) = variable.written else { return };
        let own_copy = kernel.clauses.default_firstprivate.is_some() && !kernel.shared.contains(name);
        let is_pointer = matches!(variable.kind, Kind::Pointer { .. });
        // What a section names is on the device; the pointer to it is a copy.
        let translated = is_pointer && self.is_section_base(name);
        if own_copy || (self.is_on_device(name) && !translated) {
            return;
        }
        let elsewhere = self.names.may_be_declared_for_device(name, variable.first.start);
        if !translated && !elsewhere && self.is_temporary(name) {
            if !self.is_listed(name) {
                self.data.kernel_private.push((index, name.to_owned()));
            }
            self.shared_by_threads(kernel, name, written);
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

    /// Does no part of the region see what another part writes to a variable from outside? Each kernel that uses it
    /// writes it first, each iteration of a loop anew, and nothing else uses it.
    pub(super) fn is_temporary(&self, name: &str) -> bool {
        let users = self.kernels.iter().filter_map(|kernel| Some((kernel, kernel.variables.get(name)?)));
        let mut users = users.filter(|(_, variable)| !self.is_local(name, variable.first.start));
        users.all(|(kernel, variable)| {
            variable.written_first && (kernel.serial.is_some() || !self.is_shared_by_clause(name))
        }) && !self.kernels.iter().any(|kernel| kernel.takes_value(name))
            && !self.read_by_host().iter().any(|(other, _, at)| other == name && !self.is_local(name, at.start))
    }

    fn is_shared_by_clause(&self, name: &str) -> bool {
        let clauses = self.region.used_items.iter();
        let shared = clauses.filter(|clause| clause.name == crate::syntax::ClauseName::Shared);
        shared.flat_map(|clause| clause.items()).any(|item| item.base.as_deref() == Some(name))
    }

    /// Says that the threads of the original share what each iteration of a loop assigns.
    fn shared_by_threads(&mut self, kernel: &Kernel, name: &str, written: Span) {
        if kernel.serial.is_none() {
            let message = format!(
                "all threads share `{name}`, which each iteration sets: the original may race; each thread gets its own"
            );
            if !self.data.remarks.iter().any(|known| known.message == message) {
                self.data.remarks.push(Reason::new(ReasonCode::OriginalRaces, written, message));
            }
        }
    }

    fn is_section_base(&self, name: &str) -> bool {
        let items = self.region.maps.iter().flat_map(|clause| clause.items());
        items.into_iter().any(|item| item.base.as_deref() == Some(name) && !item.is_name)
    }

    fn aggregate(&mut self, name: &str, variable: &Variable) {
        let listed = self.region.used_items.iter().any(|clause| {
            clause.name != crate::syntax::ClauseName::Shared
                && clause.items().iter().any(|item| item.base.as_deref() == Some(name))
        });
        let known = self.data.implicit.iter().any(|(other, _)| other == name);
        // Its own data construct has it.
        let local = self.is_local(name, variable.first.start);
        if self.is_on_device(name) || listed || known || local || self.shape.form == Form::OneLoop {
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
}

fn scalar_written(name: &str, at: Span) -> Reason {
    let message = format!("`{name}` is written here, and each kernel would have a copy of its own of it");
    Reason::new(ReasonCode::ScalarWritten, at, message)
}
