//! What the data construct maps, and which of it may travel by itself.

use crate::context::{Context, PinnedMemory};
use crate::edit::directive_writer::on_one_line;
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::semantics::Act;
use crate::semantics::effects::Named;
use crate::semantics::symbols::{DeclaredType, Variable, VariableId};
use crate::source::Span;
use crate::syntax::{Clause, ClauseName, ListItem};
use crate::transforms::host_copies::host_values::HostValues;
use crate::transforms::host_copies::text;

/// The direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// To the device.
    In,
    /// Back to the host.
    Out,
}

/// How large an array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// So many bytes.
    Known(u64),
    /// A product of so many lengths that the text does not tell, of elements with so many bytes.
    Unknown { lengths: u32, element: u64 },
}

/// A list item of the construct's `map` clauses.
pub(super) struct Item {
    pub key: VariableId,
    pub name: String,
    pub span: Span,
    /// As written, on one line.
    pub text: String,
    /// Is it copied to the device where the block begins, and back where it ends?
    pub copies: (bool, bool),
    /// Does a kernel of the block map it, and not the construct itself?
    pub of_kernel: bool,
    /// Is it a number, or an array of numbers? Then no pointer in it leads to other items.
    pub has_numbers: bool,
    /// How it is copied by itself; otherwise why it cannot be.
    pub transfer: Result<Transfer, &'static str>,
}

/// What the copy of an array needs.
pub(super) struct Transfer {
    /// The address of its first byte, and how many there are, in C.
    start: String,
    pub bytes: String,
    pub size: Size,
}

impl Item {
    /// Is it copied in this direction?
    pub(super) fn is_copied(&self, way: Way) -> bool {
        match way {
            Way::In => self.copies.0,
            Way::Out => self.copies.1,
        }
    }
}

impl Transfer {
    /// A condition that is true if the array is not on the device.
    pub(super) fn is_absent(&self) -> String {
        format!("ompsplit_is_absent({})", self.start)
    }

    /// Statements that page-lock the array before the block and unlock it behind it, where that is asked for.
    pub(super) fn locking(&self, pin: PinnedMemory) -> Option<(String, String)> {
        let (start, bytes) = (&self.start, &self.bytes);
        pin.locks().then(|| (format!("ompsplit_pin({start}, {bytes});"), format!("ompsplit_unpin({start});")))
    }

    /// The call that copies it through page-locked buffers.
    pub(super) fn call(&self, way: Way) -> String {
        let function = match way {
            Way::In => "ompsplit_to_device",
            Way::Out => "ompsplit_from_device",
        };
        format!("{function}({}, {});", self.start, self.bytes)
    }
}

/// Reads the items.
///
/// # Errors
/// A clause or an item that is not understood.
pub(super) fn read(cx: &Context<'_>, values: &HostValues<'_, '_>, construct: ConstructId) -> Result<Vec<Item>, Reason> {
    let mut items = Vec::new();
    for clause in &cx.constructs.directive(construct).clauses {
        match clause.name {
            ClauseName::Map => {}
            ClauseName::If if clause.expression().is_some_and(|span| is_repeatable(cx, span)) => continue,
            _ => {
                let message = format!("`{}` does not go with copies by themselves", cx.file.show(clause.name_span));
                return Err(Reason::new(ReasonCode::TransferClause, clause.span, message));
            }
        }
        let message = "only plain map types go with copies by themselves";
        let unread = || Reason::new(ReasonCode::TransferClause, clause.span, message);
        let copies = ways(clause).ok_or_else(unread)?;
        for item in clause.items() {
            // `split` writes `this` if the program has mapped it by naming a member.
            let (span, message) = match item.base.as_deref() {
                Some("this") => (cx.constructs.directive(construct).span, "members of an object stay where they are"),
                _ => (item.span, "this item does not begin with a variable in sight"),
            };
            let unread = || Reason::new(ReasonCode::TransferClause, span, message);
            items.push(read_item(cx, values, copies, item).ok_or_else(unread)?);
        }
    }
    Ok(items)
}

/// Which ways the items of a `map` clause are copied; `None` where it says more.
fn ways(clause: &Clause) -> Option<(bool, bool)> {
    let words: Vec<&str> = clause.modifiers.iter().map(|modifier| modifier.name.as_str()).collect();
    match words.as_slice() {
        [] | ["tofrom"] => Some((true, true)),
        ["to"] => Some((true, false)),
        ["from"] => Some((false, true)),
        ["alloc"] => Some((false, false)),
        _ => None,
    }
}

/// The arrays that a kernel maps and the construct around it does not, as far as they are apart from all that the construct maps.
pub(super) fn of_kernel(
    cx: &Context<'_>,
    values: &HostValues<'_, '_>,
    kernel: ConstructId,
    around: &[Item],
) -> Vec<Item> {
    let clauses: Vec<&Clause> = cx.constructs.directive(kernel).clauses_of(ClauseName::Map).collect();
    let lists = |one: &Item| {
        let mut all = clauses.iter().flat_map(|clause| clause.items());
        all.any(|item| on_one_line(cx.file, item.span) == one.text && item.base.as_deref() == Some(&one.name))
    };
    let owner = |item: &Item| cx.owner(&Named { name: item.name.clone(), at: item.span.start, id: item.key });
    // List items of one construct share no storage.
    let is_apart = |item: &Item| around.iter().all(|other| lists(other) || owner(item).is_apart_from(owner(other)));
    let read = |clause: &&Clause| {
        let ways = ways(clause).filter(|(to, from)| *to || *from);
        clause.items().iter().filter_map(move |item| read_item(cx, values, ways?, item)).collect::<Vec<Item>>()
    };
    let found = clauses.iter().flat_map(read);
    let is_new = |item: &Item| item.transfer.is_ok() && !around.iter().any(|other| other.key == item.key);
    found.filter(|item| is_new(item) && is_apart(item)).map(|item| Item { of_kernel: true, ..item }).collect()
}

/// May an expression be evaluated twice, one time right behind the other?
fn is_repeatable(cx: &Context<'_>, span: Span) -> bool {
    let evaluation = cx.evaluation(span);
    let computes = || cx.calls_only_compute_in(span);
    evaluation.is_some_and(|it| {
        ![Act::Effect, Act::Unknown].iter().any(|act| it.does(*act)) && (!it.does(Act::Call) || computes())
    })
}

fn read_item(cx: &Context<'_>, values: &HostValues<'_, '_>, copies: (bool, bool), item: &ListItem) -> Option<Item> {
    let name = item.base.clone().filter(|name| name != "this")?;
    let variable = cx.symbols().lookup(&name, item.span.start)?;
    Some(Item {
        key: variable.id(),
        span: item.span,
        text: on_one_line(cx.file, item.span),
        copies,
        of_kernel: false,
        has_numbers: !item.has_member && element(&variable.ty).is_some_and(|ty| ty.number().is_some()),
        transfer: transfer(cx, values, item, &variable),
        name,
    })
}

/// What an array is made of, or what a pointer leads to.
fn element(ty: &DeclaredType) -> Option<&DeclaredType> {
    match ty {
        DeclaredType::Array { element, .. } | DeclaredType::ArrayParameter { element, .. } => Some(element),
        DeclaredType::Pointer { pointee, .. } => match &**pointee {
            DeclaredType::Array { element, .. } => Some(element),
            pointee => Some(pointee),
        },
        DeclaredType::Scalar { .. } => Some(ty),
        _ => None,
    }
}

fn transfer(
    cx: &Context<'_>,
    values: &HostValues<'_, '_>,
    item: &ListItem,
    variable: &Variable,
) -> Result<Transfer, &'static str> {
    let name = &variable.name;
    let at = item.span.start;
    if item.has_member {
        return Err("it is a member, whose object may lead to it in other ways");
    }
    let is_number = |ty: &DeclaredType| ty.number().is_some();
    if is_number(&variable.ty) || element(&variable.ty).is_none_or(|ty| !is_number(ty)) {
        return Err("it is no array of numbers");
    }
    let is_own = |variable: &Variable| variable.is_thread_local || cx.is_threadprivate(name);
    if is_own(variable) || cx.is_declare_target(name) || cx.may_be_declared_for_device(name, at) {
        return Err("the device, or each thread of the host, may have a variable of this name");
    }
    if cx.expansion(name, at).is_some() {
        return Err("its name is a macro");
    }
    match item.sections.as_slice() {
        [] => whole(item, variable),
        [section] => {
            let first = section.lower_bound;
            let length = section.length.filter(|_| section.is_section && section.stride.is_none());
            let length = length.ok_or("its section has no length")?;
            let has_storage = matches!(variable.ty, DeclaredType::Array { .. });
            if !has_storage && !is_steady(cx, values, variable, at) {
                return Err("the pointer may lead somewhere else before the copy");
            }
            let steady = |span: &Span| values.check(*span).is_ok();
            if ![first, Some(length)].iter().flatten().all(steady) {
                return Err("the bounds of its section may change before the copy");
            }
            let zero = |span: &Span| cx.constant(*span) == Some(0);
            let lower = first.filter(|span| !zero(span)).map(|span| values.spelled(span));
            let start = lower.map_or_else(|| name.clone(), |lower| format!("&{name}[{lower}]"));
            let bytes = format!("sizeof(*{name}) * {}", text::operand(&values.spelled(length)));
            Ok(Transfer { start, bytes, size: size(cx, variable, length)? })
        }
        _ => Err("only a section of its first dimension is one piece of memory"),
    }
}

/// A whole array with storage of its own.
fn whole(item: &ListItem, variable: &Variable) -> Result<Transfer, &'static str> {
    let DeclaredType::Array { element, dimensions, is_vla: false } = &variable.ty else {
        return Err("its length does not stand in its declaration");
    };
    let lengths = dimensions.iter().map(|dimension| dimension.value.and_then(|value| u64::try_from(value).ok()));
    let bytes = element.bytes().and_then(|bytes| u64::try_from(bytes).ok());
    let all = lengths.chain([bytes]).try_fold(1_u64, |product, one| product.checked_mul(one?));
    let size = all.filter(|_| item.is_name).ok_or("its size is not known")?;
    let name = &variable.name;
    Ok(Transfer { start: name.clone(), bytes: format!("sizeof({name})"), size: Size::Known(size) })
}

/// Does a pointer keep its value in the block?
fn is_steady(cx: &Context<'_>, values: &HostValues<'_, '_>, variable: &Variable, at: usize) -> bool {
    let symbols = cx.symbols();
    let name = &variable.name;
    symbols.written_in(name, at, values.extent).is_empty() && !symbols.is_address_taken(name, at)
}

fn size(cx: &Context<'_>, variable: &Variable, length: Span) -> Result<Size, &'static str> {
    let element = variable.ty.dereferenced().bytes().and_then(|bytes| u64::try_from(bytes).ok());
    let element = element.filter(|bytes| *bytes > 0).ok_or("the size of its elements is not known")?;
    if let Some(length) = cx.constant(length) {
        let length = u64::try_from(length).map_err(|_| "the length of its section is no length")?;
        return Ok(Size::Known(length.saturating_mul(element)));
    }
    let names = cx.evaluation(length).map_or(0, |evaluation| evaluation.names.len());
    let is_product = cx.evaluation(length).is_some_and(|evaluation| evaluation.does(Act::Arithmetic)) && names > 1;
    Ok(Size::Unknown { lengths: if is_product { u32::try_from(names).unwrap_or(1).clamp(1, 3) } else { 1 }, element })
}
