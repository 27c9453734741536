//! From a checked region to edits.

mod arrays;
mod serial;
mod steering;

use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, indent_of, line_start, on_one_line, remove, replace};
use crate::region::construct::ConstructId;
use crate::region::target::TargetRegion;
use crate::source::Span;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseArgument, ClauseName, Directive, ListItem};
use crate::transforms::split_target::clauses::{KeptClause, RegionClauses};
use crate::transforms::split_target::data::DataEnvironment;
use crate::transforms::split_target::kernels::Kernel;
use crate::transforms::split_target::shape::{Form, Shape};
use crate::transforms::{Context, TEAM_THREADS};

mod own_copies;
mod task;

/// All that is known of a region that will be split.
pub(super) struct Split<'a> {
    pub cx: &'a Context<'a>,
    pub region: &'a TargetRegion,
    pub shape: &'a Shape,
    pub clauses: &'a RegionClauses,
    pub kernels: &'a [Kernel],
    pub data: &'a DataEnvironment,
}

impl Split<'_> {
    /// The edits: `target data` in place of the outermost directive, a kernel's directive in place of each loop's
    /// innermost one, all other directives of the chains taken away.
    pub(super) fn edits(&self) -> Vec<Edit> {
        let mut edits = Vec::new();
        let file = self.cx.file;
        let data = self.data_clauses();
        for (index, id) in self.shape.outer.iter().enumerate() {
            let directive = self.cx.constructs.directive(*id);
            let layout = Layout::of(file, directive);
            let task = if index == 0 { self.task_directive(&layout) } else { None };
            if let Some(task) = task {
                let rest = if data.is_empty() { String::new() } else { layout.write("target data", &data) };
                let between =
                    if data.is_empty() { String::new() } else { format!("{}{}", layout.newline, layout.indent) };
                edits.push(replace(file, directive, &format!("{task}{between}{rest}")));
            } else if index == 0 && !data.is_empty() {
                edits.push(self.data_directive(directive, &data));
            } else {
                edits.push(remove(file, directive));
            }
        }
        for id in &self.shape.dropped {
            edits.push(remove(file, self.cx.constructs.directive(*id)));
        }
        for id in self.shape.parallel.iter().filter(|id| !self.shape.outer.contains(id)) {
            edits.push(remove(file, self.cx.constructs.directive(*id)));
        }
        for (index, kernel) in self.kernels.iter().enumerate() {
            let Some(innermost) = kernel.directive() else {
                edits.extend(self.serial(index, kernel));
                edits.extend(self.steering(index, kernel));
                continue;
            };
            let own = kernel.chain.constructs.iter().filter(|id| !self.shape.parallel.contains(id));
            for id in own.filter(|id| **id != innermost) {
                edits.push(remove(file, self.cx.constructs.directive(*id)));
            }
            let directive = self.cx.constructs.directive(innermost);
            let text = Layout::of(file, directive)
                .write(kernel_name(&kernel.chain.leaves), &self.kernel_clauses(index, kernel));
            edits.push(replace(file, directive, &text));
        }
        self.own_copies(&mut edits);
        edits.extend(self.arrays());
        self.temporaries(&mut edits);
        together(edits)
    }

    /// The `target data` directive. Where its clauses are those of the original, only the name changes, so that the
    /// user's layout stays.
    fn data_directive(&self, directive: &Directive, clauses: &[String]) -> Edit {
        let same = |clause: &Clause| matches!(clause.name, ClauseName::Map | ClauseName::Device | ClauseName::If);
        let plain = |clause: &Clause| clause.name == ClauseName::Map || clause.modifiers.is_empty();
        let added = clauses.len() != directive.clauses.len();
        let commented = self.cx.file.show(directive.name_span).contains("/*");
        if added
            || commented
            || !self.data.temporaries.is_empty()
            || !directive.clauses.iter().all(|c| same(c) && plain(c))
        {
            let text = Layout::of(self.cx.file, directive).write("target data", clauses);
            return replace(self.cx.file, directive, &text);
        }
        Edit { span: directive.name_span, text: "target data".to_owned() }
    }

    /// Does the output have a `target data` construct?
    pub(super) fn has_data_construct(&self) -> bool {
        !self.data_clauses().is_empty()
    }

    /// The clauses of the `target data` construct; none where it would map nothing, or for a single loop.
    fn data_clauses(&self) -> Vec<String> {
        if self.shape.form == Form::OneLoop {
            return Vec::new();
        }
        let mut clauses: Vec<String> =
            self.data.maps.iter().map(|map| format!("map({}{})", map.prefix, self.items(&map.items))).collect();
        // The whole object stands before its members, or a compiler takes them for objects of their own.
        if self.maps_this() {
            clauses.insert(0, "map(tofrom: this[:1])".to_owned());
        }
        for map_type in ["to", "tofrom"] {
            let implicit = self.data.implicit.iter().filter(|(name, kind)| *kind == map_type && name != "this");
            let mut names: Vec<&str> = implicit.map(|(name, _)| name.as_str()).collect();
            if map_type == "tofrom" {
                names.extend(self.data.mapped_reductions.iter().map(String::as_str));
            }
            if !names.is_empty() {
                clauses.push(format!("map({map_type}: {})", names.join(", ")));
            }
        }
        if clauses.is_empty() {
            return clauses;
        }
        clauses.extend(self.where_it_runs("if"));
        clauses
    }

    /// The region's `if` and `device` clauses, the former by the name given.
    fn where_it_runs(&self, condition_name: &str) -> Vec<String> {
        let condition = self.clauses.condition.as_ref();
        let condition = condition.map(|clause| match condition_name {
            "if" => format!("if({})", self.expression(clause)),
            modifier => format!("if({modifier}: {})", self.expression(clause)),
        });
        let device = self.clauses.device.as_ref().map(|clause| format!("device({})", self.expression(clause)));
        condition.into_iter().chain(device).collect()
    }

    /// The clauses of one kernel: those of the region first, then the loop's own in their order.
    fn kernel_clauses(&self, index: usize, kernel: &Kernel) -> Vec<String> {
        let mut clauses = Vec::new();
        clauses.extend(self.where_it_runs("target"));
        self.kernel_maps(index, kernel, &mut clauses);
        for clause in &self.clauses.used_items {
            let items = clause.items().iter().filter(|item| self.restates(kernel, clause.name, item));
            let items: Vec<String> = items.map(|item| self.item(item)).collect();
            if !items.is_empty() {
                clauses.push(format!("{}({})", self.cx.file.show(clause.name_span), items.join(", ")));
            }
        }
        clauses.extend(self.clauses.defaultmap.iter().map(|clause| self.whole(clause)));
        clauses.extend(self.clauses.kernel.iter().map(|clause| self.with_temporary(clause)));
        if kernel.serial.is_some() {
            clauses.extend(self.private(index));
            return clauses;
        }
        // For a device the pass `geometry` chooses, once the loop stands alone.
        if !self.has_own_grid() && self.cx.device.is_none() {
            clauses.push(format!("thread_limit({TEAM_THREADS})"));
        }
        if self.clauses.default_none || kernel.clauses.default_none {
            clauses.push("default(none)".to_owned());
        }
        for kept in &kernel.clauses.kept {
            clauses.extend(self.kept(kernel, kept));
        }
        clauses.extend(self.private(index));
        clauses
    }

    /// The variables that become private to a kernel.
    fn private(&self, index: usize) -> Option<String> {
        let private = self.data.kernel_private.iter().filter(|(kernel, _)| *kernel == index);
        let names: Vec<&str> = private.map(|(_, name)| name.as_str()).collect();
        (!names.is_empty()).then(|| format!("private({})", names.join(", ")))
    }

    /// Does the original choose teams or threads itself?
    fn has_own_grid(&self) -> bool {
        let chooses = |clause: &Clause| matches!(clause.name, ClauseName::NumTeams | ClauseName::ThreadLimit);
        self.clauses.kernel.iter().any(chooses)
    }

    fn kernel_maps(&self, index: usize, kernel: &Kernel, clauses: &mut Vec<String>) {
        let whole = self.shape.form == Form::OneLoop;
        if self.maps_this() && kernel.uses("this") {
            clauses.push("map(tofrom: this[:1])".to_owned());
        }
        for map in &self.data.maps {
            let used = map.items.iter().filter(|item| whole || self.is_restated(kernel, item)).cloned();
            let used: Vec<ListItem> = used.filter(|item| !is_private(kernel, item)).collect();
            if used.is_empty() {
                continue;
            }
            let prefix = if whole { &map.prefix } else { &map.kernel_prefix };
            clauses.push(format!("map({prefix}{})", self.items(&used)));
        }
        for name in &self.data.mapped_reductions {
            if kernel.uses(name) {
                clauses.push(format!("map(tofrom: {name})"));
            }
        }
        for map_type in ["from", "tofrom"] {
            let own = self.data.kernel_maps.iter().filter(|(of, _, kind)| *of == index && *kind == map_type);
            let names: Vec<&str> = own.map(|(_, name, _)| name.as_str()).collect();
            if !names.is_empty() {
                clauses.push(format!("map({map_type}: {})", names.join(", ")));
            }
        }
    }

    /// Is `*this` mapped by rule, for the members that the region names?
    fn maps_this(&self) -> bool {
        self.data.implicit.iter().any(|(name, _)| name == "this")
    }

    fn is_restated(&self, kernel: &Kernel, item: &ListItem) -> bool {
        item.base.as_deref().is_none_or(|base| kernel.uses(base))
    }

    /// Does a kernel take this item of a region's list?
    fn restates(&self, kernel: &Kernel, clause: ClauseName, item: &ListItem) -> bool {
        let used = item.base.as_deref().is_some_and(|base| kernel.variables.contains_key(base));
        let reduced = clause == ClauseName::Shared
            && self.clauses.reductions.iter().any(|reduction| reduction.item.base == item.base);
        used && !is_private(kernel, item) && !reduced
    }

    fn kept(&self, kernel: &Kernel, kept: &KeptClause) -> Option<String> {
        match kept {
            KeptClause::Whole(clause) => Some(self.whole(clause)),
            KeptClause::Condition(span) => Some(format!("if(parallel: {})", on_one_line(self.cx.file, *span))),
            KeptClause::Shared(clause) => {
                let items = clause.items().iter().filter(|item| !is_private(kernel, item));
                let items = items.filter(|item| !self.listed_on_region(item));
                let items: Vec<String> = items.map(|item| self.item(item)).collect();
                (!items.is_empty()).then(|| format!("shared({})", items.join(", ")))
            }
            KeptClause::OfParallel(clause, items) => {
                let is_pointer = |item: &&ListItem| self.data.kept_pointers.contains(&item.span);
                let listed = |item: &&ListItem| clause.name == ClauseName::Shared && self.listed_on_region(item);
                let items: Vec<String> =
                    items.iter().filter(|i| !is_pointer(i) && !listed(i)).map(|item| self.item(item)).collect();
                let first = clause.items().first()?.span.start;
                let head = on_one_line(self.cx.file, Span::new(clause.span.start, first));
                (!items.is_empty()).then(|| format!("{head}{})", items.join(", ")))
            }
        }
    }

    /// Does a list of the region that stands on each kernel name the item already?
    fn listed_on_region(&self, item: &ListItem) -> bool {
        let same = |other: &ListItem| other.base == item.base;
        self.clauses.used_items.iter().any(|clause| {
            matches!(clause.name, ClauseName::Shared | ClauseName::Firstprivate) && clause.items().iter().any(same)
        })
    }

    fn whole(&self, clause: &Clause) -> String {
        on_one_line(self.cx.file, clause.span)
    }

    fn with_temporary(&self, clause: &Clause) -> String {
        match &clause.argument {
            ClauseArgument::Expression(span) if self.data.temporaries.contains_key(span) => {
                format!("{}({})", self.cx.file.show(clause.name_span), self.expression(clause))
            }
            _ => self.whole(clause),
        }
    }

    /// A clause's expression, or the constant that holds its value.
    fn expression(&self, clause: &Clause) -> String {
        match &clause.argument {
            ClauseArgument::Expression(span) => self.substituted(*span),
            _ => String::new(),
        }
    }

    fn items(&self, items: &[ListItem]) -> String {
        items.iter().map(|item| self.item(item)).collect::<Vec<_>>().join(", ")
    }

    fn item(&self, item: &ListItem) -> String {
        self.substituted(item.span)
    }

    /// The text of a span with the expressions in it that are evaluated before replaced by their constants.
    fn substituted(&self, span: Span) -> String {
        let file = self.cx.file;
        let mut out = String::new();
        let mut at = span.start;
        for (inner, temporary) in self.data.temporaries.range(Span::new(span.start, span.start)..) {
            if !span.contains(*inner) || inner.start < at {
                continue;
            }
            out.push_str(&on_one_line(file, Span::new(at, inner.start)));
            out.push_str(&temporary.name);
            at = inner.end;
        }
        out.push_str(&on_one_line(file, Span::new(at, span.end)));
        out
    }

    /// The constants before the region; in a block of their own where no declaration may stand.
    fn temporaries(&self, edits: &mut Vec<Edit>) {
        if self.data.temporaries.is_empty() {
            return;
        }
        let Some(first) = self.shape.outer.first() else { return };
        let file = self.cx.file;
        let directive = self.cx.constructs.directive(*first);
        let layout = Layout::of(file, directive);
        // Directives may stand at the start of their lines; declarations stand where statements do.
        let indent = indent_of(file, self.cx.constructs.construct(*first).body_span.start);
        let newline = layout.newline;
        let block = self.needs_block(*first);
        let mut text = if block { format!("{indent}{{{newline}") } else { String::new() };
        for (span, temporary) in &self.data.temporaries {
            let value = on_one_line(file, *span);
            let value =
                if temporary.name.starts_with("region_condition") { format!("({value}) ? 1 : 0") } else { value };
            let level = if block { layout.level.as_str() } else { "" };
            text.push_str(&format!(
                "{indent}{level}const {} {} = {value};{newline}",
                temporary.type_name, temporary.name
            ));
        }
        let start = line_start(&file.text, directive.span.start);
        edits.push(Edit { span: Span::new(start, start), text });
        if !block {
            return;
        }
        let end = Span::new(self.region.extent.end, self.region.extent.end);
        let text = format!("{newline}{indent}}}");
        match edits.iter_mut().find(|edit| edit.span == end) {
            Some(inner) => inner.text.push_str(&text),
            None => edits.push(Edit { span: end, text }),
        }
    }
}

impl Split<'_> {
    /// May no declaration stand before the region: is it a body without braces, behind a label, or may a jump enter its
    /// block behind the declaration?
    fn needs_block(&self, first: ConstructId) -> bool {
        let tree = self.cx.tree;
        let Some(body) = self.cx.constructs.construct(first).body else { return true };
        let function = tree.ancestors(body).find(|node| tree.kind(*node) == "function_definition");
        let jumps = |node| matches!(tree.kind(node), "labeled_statement" | "goto_statement" | "case_statement");
        !self.is_in_block(first) || function.is_none_or(|function| tree.descendants(function).any(jumps))
    }

    /// Is the region a statement of a block, and no other directive's?
    pub(super) fn is_in_block(&self, first: ConstructId) -> bool {
        let tree = self.cx.tree;
        let Some(body) = self.cx.constructs.construct(first).body else { return false };
        let directive = self.cx.constructs.directive(first);
        // Behind another directive new declarations would become its statement.
        let index = self.cx.constructs.construct(first).directive;
        let before = index.checked_sub(1).and_then(|index| self.cx.constructs.directives.get(index));
        let behind_directive = before.is_some_and(|other| {
            let between = self.cx.file.bytes(Span::new(other.span.end, directive.span.start));
            between.iter().all(u8::is_ascii_whitespace)
        });
        !behind_directive && tree.parent(body).is_some_and(|parent| tree.kind(parent) == "compound_statement")
    }
}

/// What is inserted at one place becomes one edit. Braces that close there close the inner block first, and the edits
/// come from the outside inwards.
fn together(edits: Vec<Edit>) -> Vec<Edit> {
    let mut all: Vec<Edit> = Vec::new();
    for edit in edits {
        let same = all.iter_mut().find(|other| edit.span.is_empty() && other.span == edit.span);
        match same {
            Some(other) if edit.text.trim_start().starts_with('}') => other.text.insert_str(0, &edit.text),
            Some(other) => other.text.push_str(&edit.text),
            None => all.push(edit),
        }
    }
    all
}

/// The name of the directive that a loop's leaves become.
pub(super) fn kernel_name(leaves: &[Leaf]) -> &'static str {
    match leaves.last() {
        Some(Leaf::Loop) => "target teams loop",
        Some(Leaf::Simd) => "target teams distribute parallel for simd",
        _ => "target teams distribute parallel for",
    }
}

/// Does the loop make the item private to each thread, so that the kernel must not name it in another list?
pub(super) fn is_private(kernel: &Kernel, item: &ListItem) -> bool {
    let clauses = &kernel.clauses;
    let listed = clauses.private.iter().chain(&clauses.firstprivate).chain(&clauses.linear);
    let by_rule = kernel.nest.loops.iter().any(|l| item.base.as_deref() == Some(l.variable.as_str()) && item.is_name);
    by_rule || listed.into_iter().any(|other| other.base == item.base)
}
