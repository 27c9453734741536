//! Arrays that are page-locked where they are allocated, until they are freed (`--pin alloc`).
//!
//! This is done for a local pointer that is initialised by `malloc`, `calloc`, `aligned_alloc` or `new T[n]`, is never
//! assigned, and is only used for elements, comparisons, `free` and in functions whose text is known and that do no
//! more. Then every place where its memory is freed is known. If memory were freed while it is locked, copies of
//! whatever is allocated there next would go wrong.
//!
//! It is registered with the driver like other memory, right behind the allocation: drivers take as long to allocate locked memory
//! as to lock new memory (`bench/results/pipeline`), and like this alignment, contents and `free` stay as they are.

use std::sync::Arc;

use crate::context::PinnedMemory;
use crate::edit::Edit;
use crate::edit::directive_writer::on_one_line;
use crate::semantics::symbols::{Scope, Variable};
use crate::semantics::uses::{Role, is_element_address, uses_below};
use crate::source::Span;
use crate::syntax::{Binary, Call, Cast, Function, New, NodeId, NodeKind, Parameter, Pointer, Subscript, Unary};
use crate::transforms::host_copies::host_values::HostValues;
use crate::transforms::pipeline_loop::maps::Mapped;

/// Library functions that do not keep the pointers they are given.
const KEEPERS_OF_NOTHING: [&str; 6] = ["memset", "memcpy", "memmove", "memcmp", "fread", "fwrite"];
/// What the header of page-locked memory declares.
const OF_HEADER: [&str; 4] = ["ompsplit_pin", "ompsplit_pin_large", "ompsplit_unpin", "ompsplit_is_absent"];
/// How many levels of calls are followed.
const DEPTH: usize = 4;

/// Which arrays the pipeline locks itself, and the edits that lock the others elsewhere.
pub(super) struct Locking {
    /// Names of the arrays that are locked before the loop and unlocked after it.
    here: Vec<String>,
    /// The edits that lock the other arrays where they are allocated. Empty if that is done already.
    pub edits: Vec<Edit>,
    is_asked: bool,
}

impl Locking {
    /// Determines where arrays are locked, if they have at least `least` bytes.
    pub(super) fn of<'m>(values: &HostValues<'_, '_>, items: impl Iterator<Item = &'m Mapped>, least: u64) -> Self {
        let pin = values.cx().pipeline.pin;
        let is_asked = pin == PinnedMemory::Allocate;
        let mut locking = Self { here: Vec::new(), edits: Vec::new(), is_asked };
        for item in items {
            match pin {
                PinnedMemory::Stage | PinnedMemory::None => {}
                PinnedMemory::Register => locking.here.push(item.name.clone()),
                PinnedMemory::Allocate => match allocation(values, item, least) {
                    Some(edits) => locking.add(edits),
                    None => locking.here.push(item.name.clone()),
                },
            }
        }
        locking
    }

    /// Is an array locked before the loop?
    pub(super) fn is_here(&self, item: &Mapped) -> bool {
        self.here.contains(&item.name)
    }

    /// A remark about arrays that the pipeline locks although the option asks for their allocation.
    pub(super) fn remark(&self) -> String {
        if !self.is_asked || self.here.is_empty() {
            return String::new();
        }
        let names: Vec<String> = self.here.iter().map(|name| format!("`{name}`")).collect();
        format!("; {} page-locked by the loop, since not all of the memory's life is in sight", names.join(", "))
    }

    /// Several variables may be declared by one statement.
    fn add(&mut self, edits: Vec<Edit>) {
        for edit in edits {
            match self.edits.iter_mut().find(|other| other.span == edit.span) {
                Some(other) if other.text != edit.text => other.text.push_str(&edit.text),
                Some(_) => {}
                None => self.edits.push(edit),
            }
        }
    }
}

/// The edits that lock an array from its allocation on. Empty if that is done already, `None` if it is impossible.
fn allocation(values: &HostValues<'_, '_>, item: &Mapped, least: u64) -> Option<Vec<Edit>> {
    let cx = values.cx();
    let tree = cx.tree;
    let variable = values.symbols().lookup(&item.name, item.span.start)?;
    let is_own = variable.scope == Scope::Local && variable.header.is_none() && variable.ty.is_pointer();
    let is_plain = !(variable.is_static || variable.is_extern || variable.is_thread_local);
    if !is_own || !is_plain || values.symbols().is_address_taken(&item.name, item.span.start) {
        return None;
    }
    let declared = tree.covering(variable.declared_at);
    let declaration = tree.ancestors(declared).find(|node| tree.kind(*node) == NodeKind::Declaration)?;
    let block = tree.parent(declaration).filter(|block| tree.kind(*block) == NodeKind::CompoundStatement)?;
    // Another declarator may change variables in the length.
    let changes = |node: NodeId| {
        matches!(
            tree.kind(node),
            NodeKind::AssignmentExpression | NodeKind::UpdateExpression | NodeKind::LambdaExpression
        )
    };
    if tree.descendants(declaration).any(changes) {
        return None;
    }
    let bytes = allocated(values, &variable)?;
    let uses = Uses { values, variable: &variable, depth: DEPTH };
    let found = uses.of(block)?;
    if found.is_locked {
        return Some(Vec::new());
    }
    let end = tree.span(declaration).end;
    let (newline, indent) = line_of(values, tree.span(declaration).start);
    let name = &item.name;
    let lock = format!("{newline}{indent}ompsplit_pin_large({name}, {bytes}, {least});");
    let mut edits = vec![Edit { span: Span::new(end, end), text: lock }];
    for free in &found.frees {
        let start = tree.span(*free).start;
        let statement = tree.parent(*free).filter(|parent| tree.kind(*parent) == NodeKind::ExpressionStatement);
        let in_block =
            statement.and_then(|node| tree.parent(node)).is_some_and(|it| tree.kind(it) == NodeKind::CompoundStatement);
        let (newline, indent) = line_of(values, start);
        let begins_line = cx.file.text.get(..start).unwrap_or_default().ends_with(indent.as_bytes())
            && cx.file.lines.line_start(cx.file.lines.line_column(start).line) == Some(start - indent.len());
        let text = match in_block && begins_line {
            true => format!("ompsplit_unpin({name});{newline}{indent}"),
            false => format!("ompsplit_unpin({name}), "),
        };
        edits.push(Edit { span: Span::new(start, start), text });
    }
    (!found.frees.is_empty()).then_some(edits)
}

/// The line end at a place, and the blanks that its line begins with.
fn line_of(values: &HostValues<'_, '_>, at: usize) -> (&'static str, String) {
    let text = &values.cx().file.text;
    let start =
        text.get(..at).unwrap_or_default().iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let line = text.get(start..).unwrap_or_default();
    let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let end = line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len());
    let newline = if line.get(..end).is_some_and(|line| line.ends_with(b"\r")) { "\r\n" } else { "\n" };
    (newline, String::from_utf8_lossy(line.get(..blanks).unwrap_or_default()).into_owned())
}

/// How many bytes a variable's initialiser allocates, in C.
fn allocated(values: &HostValues<'_, '_>, variable: &Variable) -> Option<String> {
    let (cx, tree) = (values.cx(), values.cx().tree);
    let initializer = variable.initializer?;
    let mut node = tree.covering(initializer);
    loop {
        node = match tree.kind(node) {
            NodeKind::CastExpression => Cast::of(tree, node)?.value()?,
            NodeKind::ParenthesizedExpression => tree.named_children(node).last()?,
            NodeKind::CallExpression => match Call::of(tree, node).filter(|call| is_cast(values, *call)) {
                Some(cast) => cast.arguments().next()?,
                None => break,
            },
            _ => break,
        };
    }
    let shown = |node: NodeId| is_repeatable(values, node).then(|| on_one_line(cx.file, tree.span(node)));
    match tree.kind(node) {
        NodeKind::CallExpression => {
            let call = Call::of(tree, node)?;
            let function = cx.file.show(tree.span(call.function()?)).into_owned();
            let function = function.strip_prefix("std::").unwrap_or(&function);
            let is_own = !values.symbols().function_definitions(function).is_empty()
                || values.symbols().macro_definition(function, initializer.start).is_some();
            let arguments: Vec<NodeId> = call.arguments().collect();
            match (function, arguments.as_slice()) {
                _ if is_own => None,
                ("malloc", [bytes]) | ("aligned_alloc", [_, bytes]) => shown(*bytes),
                ("calloc", [count, bytes]) => Some(format!("({}) * ({})", shown(*count)?, shown(*bytes)?)),
                _ => None,
            }
        }
        _ => {
            let length = New::of(tree, node).filter(|new| new.placement().is_none())?.length()?;
            Some(format!("sizeof(*{}) * ({})", variable.name, shown(length)?))
        }
    }
}

/// `static_cast<T *>(..)`
fn is_cast(values: &HostValues<'_, '_>, call: Call<'_>) -> bool {
    let cx = values.cx();
    let function = call.function().map(|node| cx.file.show(cx.tree.span(node)));
    function.is_some_and(|text| ["static_cast<", "reinterpret_cast<"].iter().any(|cast| text.starts_with(cast)))
}

/// Does an expression have the same value when it is evaluated again at once, without other effects?
fn is_repeatable(values: &HostValues<'_, '_>, node: NodeId) -> bool {
    let tree = values.cx().tree;
    tree.descendants(node).all(|inner| {
        let measured = tree.ancestors(inner).take_while(|above| *above != node).chain([node]);
        let is_measured = measured.into_iter().any(|above| tree.kind(above) == NodeKind::SizeofExpression);
        match tree.kind(inner) {
            NodeKind::CallExpression
            | NodeKind::AssignmentExpression
            | NodeKind::UpdateExpression
            | NodeKind::LambdaExpression => false,
            NodeKind::FieldExpression | NodeKind::SubscriptExpression | NodeKind::PointerExpression => is_measured,
            NodeKind::Identifier => {
                let name = values.cx().file.show(tree.span(inner)).into_owned();
                is_measured || values.is_lasting(&name, tree.span(inner).start)
            }
            _ => true,
        }
    })
}

/// The result of following the uses of a pointer.
#[derive(Default)]
struct Found {
    /// The expressions that free its memory.
    frees: Vec<NodeId>,
    /// Is it locked already?
    is_locked: bool,
}

/// Follows the uses of a pointer in a part of the program.
struct Uses<'v, 'n, 'a> {
    values: &'v HostValues<'n, 'a>,
    variable: &'v Variable,
    depth: usize,
}

impl Uses<'_, '_, '_> {
    /// Returns `None` if the pointer's value is passed on to code that is not followed, or if a macro decides which
    /// code is compiled.
    fn of(&self, root: NodeId) -> Option<Found> {
        let (cx, tree) = (self.values.cx(), self.values.cx().tree);
        if cx.scan.conditionals.iter().any(|group| tree.span(root).contains(group.span)) {
            return None;
        }
        let mut found = Found::default();
        let name = &self.variable.name;
        for one in uses_below(cx.file, tree, root).into_iter().filter(|one| one.name == *name) {
            let same = self.values.symbols().lookup(name, one.span.start);
            if same.is_none_or(|same| same.declared_at != self.variable.declared_at) {
                continue;
            }
            if tree.ancestors(one.node).any(|above| tree.kind(above) == NodeKind::LambdaExpression) {
                return None;
            }
            match one.role {
                Role::Declaration | Role::ElementWrite => {}
                Role::Read if self.stays(one.node) => {}
                Role::Read => found.frees.push(self.deleted(one.node)?),
                Role::Argument if !is_element_address(tree, one.node) => self.handed(one.node, &mut found)?,
                _ => return None,
            }
        }
        Some(found)
    }

    /// Is only an element read, or the pointer compared?
    fn stays(&self, node: NodeId) -> bool {
        let tree = self.values.cx().tree;
        if is_element_address(tree, node) {
            return false;
        }
        let Some(parent) = tree.parent(node) else { return false };
        match tree.kind(parent) {
            NodeKind::SubscriptExpression => Subscript::of(tree, parent).and_then(Subscript::base) == Some(node),
            NodeKind::PointerExpression => Pointer::of(tree, parent).is_some_and(Pointer::is_followed),
            NodeKind::BinaryExpression => matches!(
                Binary::of(tree, parent).and_then(Binary::operator),
                Some(NodeKind::EqualEqual | NodeKind::ExclamationEqual)
            ),
            NodeKind::UnaryExpression => {
                Unary::of(tree, parent).and_then(Unary::operator) == Some(NodeKind::Exclamation)
            }
            NodeKind::ParenthesizedExpression | NodeKind::ConditionClause => {
                tree.parent(parent).is_some_and(|above| tree.kind(above) == NodeKind::IfStatement)
            }
            _ => tree.ancestors(node).any(|above| tree.kind(above) == NodeKind::SizeofExpression),
        }
    }

    /// The `delete` expression of the pointer.
    fn deleted(&self, node: NodeId) -> Option<NodeId> {
        let tree = self.values.cx().tree;
        tree.parent(node).filter(|parent| tree.kind(*parent) == NodeKind::DeleteExpression)
    }

    /// Follows the pointer as an argument of a call.
    fn handed(&self, node: NodeId, found: &mut Found) -> Option<()> {
        let (cx, tree) = (self.values.cx(), self.values.cx().tree);
        let list = tree.parent(node).filter(|parent| tree.kind(*parent) == NodeKind::ArgumentList)?;
        let call = Call::of(tree, tree.parent(list)?)?;
        let function = cx.file.show(tree.span(call.function()?)).into_owned();
        let function = function.strip_prefix("std::").unwrap_or(&function);
        let definitions = self.values.symbols().function_definitions(function);
        if self.values.symbols().macro_definition(function, tree.span(call.node).start).is_some() {
            return None;
        }
        if OF_HEADER.contains(&function) {
            found.is_locked |= function == "ompsplit_pin_large";
            return Some(());
        }
        match definitions.as_slice() {
            [] if function == "free" => found.frees.push(call.node),
            [] if KEEPERS_OF_NOTHING.contains(&function) => {}
            [(None, definition)] if self.depth > 0 => {
                let place = tree.named_children(list).position(|argument| argument == node)?;
                let function = Function::of(tree, *definition)?;
                let inner = self.parameter(function, place)?;
                let uses = Uses { variable: &inner, depth: self.depth - 1, ..*self };
                if values_escape(&uses, function.body()?) {
                    return None;
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// The parameter of a function with this index.
    fn parameter(&self, function: Function<'_>, place: usize) -> Option<Arc<Variable>> {
        let (cx, tree) = (self.values.cx(), self.values.cx().tree);
        let declarator = Parameter::of(tree, function.parameters().nth(place)?)?.declarator()?;
        let identifier = tree.descendants(declarator).find(|it| tree.kind(*it) == NodeKind::Identifier)?;
        let body = tree.span(function.body()?);
        let name = cx.file.show(tree.span(identifier)).into_owned();
        let variable = self.values.symbols().lookup(&name, body.start + 1)?;
        let is_value = variable.ty.is_pointer() && variable.declared_at == tree.span(identifier);
        (is_value && !self.values.symbols().is_address_taken(&name, body.start + 1)).then_some(variable)
    }
}

/// May a function keep or free what a parameter points to?
fn values_escape(uses: &Uses<'_, '_, '_>, body: NodeId) -> bool {
    uses.of(body).is_none_or(|found| !found.frees.is_empty())
}
