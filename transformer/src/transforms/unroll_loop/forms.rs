//! In which form a serial loop is unrolled: as it stands, where the kernel finds it long enough, or with several elements for each load.

use super::loads::{Serial, changes};
use crate::analysis::accesses::Access;
use crate::context::Context;
use crate::device::{DeviceProfile, unrolled, unrolled_where_long, unrolled_wide};
use crate::edit::directive_writer::line_start;
use crate::region::loop_nest::{CanonicalLoop, Relation};
use crate::semantics::uses::{Use, uses_below};
use crate::source::Span;
use crate::syntax::{Binary, NodeId, NodeKind, Subscript};
use crate::transforms::checks::{element, heads};

/// Bytes of the widest load of a thread.
const WIDEST: u32 = 16;
/// Loop variables start at no more than this, so that it can be added to a length without a thought.
const LARGEST_START: i64 = 127;
/// Bits of the smallest type that holds all numbers that lengths are compared with.
const LENGTH_BITS: u32 = 32;

/// A serial loop that is unrolled.
pub(super) struct Unrolled {
    /// The `for` statement.
    pub node: NodeId,
    /// The name of its variable.
    pub variable: String,
    /// How many iterations become one.
    pub factor: u32,
    /// What the kernel asks before it takes the loop so; otherwise it takes the loop as it stands. Empty if it asks nothing.
    pub tests: Vec<String>,
    /// The rows that are loaded several elements at a time.
    pub rows: Vec<Row>,
    /// Is it sure that nothing is lost, whatever the lengths of the loops are?
    pub is_sure: bool,
}

/// A row whose elements are loaded several at a time.
pub(super) struct Row {
    /// The array, or the pointer to it.
    pub array: String,
    /// The type of an element.
    pub ty: String,
    /// The address of the first element.
    pub start: String,
    /// Where the loop names an element.
    pub places: Vec<Span>,
}

/// The form for a loop; `None` where none was measured, or where the loop is too short. `may_stand_twice` says whether its text means the
/// same in two places.
pub(super) fn form(
    cx: &Context<'_>,
    device: &DeviceProfile,
    serial: &Serial<'_>,
    may_stand_twice: bool,
) -> Option<Unrolled> {
    let (node, variable) = (serial.head.node, &serial.head.variable);
    let may_stand_twice = may_stand_twice && has_own_lines(cx, serial.head.span);
    if let Some(wide) = wide(cx, device, serial).filter(|_| may_stand_twice) {
        return Some(wide);
    }
    let asked = || {
        let is_unknown = serial.trips.is_none() && may_stand_twice;
        let (factor, least) = unrolled_where_long(device, serial.loads, serial.is_collapsed).filter(|_| is_unknown)?;
        let tests = vec![length_test(cx, serial, least)?];
        Some(Unrolled { node, variable: variable.clone(), factor, tests, rows: Vec::new(), is_sure: true })
    };
    let plain = || {
        let factor = unrolled(device, serial.loads, serial.trips)?;
        let is_sure = serial.trips.is_some();
        Some(Unrolled { node, variable: variable.clone(), factor, tests: Vec::new(), rows: Vec::new(), is_sure })
    };
    asked().or_else(plain)
}

/// Does a statement begin on a line of its own?
fn has_own_lines(cx: &Context<'_>, statement: Span) -> bool {
    let start = line_start(&cx.file.text, statement.start);
    cx.file.bytes(Span::new(start, statement.start)).iter().all(u8::is_ascii_whitespace)
}

/// The form in which each thread loads 16 bytes of its rows at a time, where these begin at addresses that allow it.
fn wide(cx: &Context<'_>, device: &DeviceProfile, serial: &Serial<'_>) -> Option<Unrolled> {
    let starts = cx.constant(serial.head.lower) == Some(0) && counts_up(cx, serial);
    let bytes = serial.own.iter().map(|access| element(cx, access).ok().map(|(_, bytes)| bytes));
    let bytes = bytes.reduce(|one, other| one.filter(|_| one == other)).flatten().filter(|_| starts)?;
    let (factor, least) = unrolled_wide(device, serial.loads, bytes)?;
    let elements = WIDEST / bytes;
    let mut tests = Vec::new();
    match serial.trips {
        Some(trips) => (trips >= least).then_some(())?,
        None => tests.push(length_test(cx, serial, least)?),
    }
    let mut rows: Vec<Row> = Vec::new();
    for access in &serial.own {
        tests.extend(distance_tests(cx, serial, access, elements)?);
        rows.push(row(cx, serial, access)?);
    }
    tests.dedup();
    tests.extend(rows.iter().map(|row| format!("(unsigned long long){} % {WIDEST} == 0", row.start)));
    let CanonicalLoop { node, variable, .. } = &serial.head;
    Some(Unrolled { node: *node, variable: variable.clone(), factor, tests, rows, is_sure: true })
}

/// Does the loop count up by one to a bound that it compares by `<` or `<=`?
fn counts_up(cx: &Context<'_>, serial: &Serial<'_>) -> bool {
    let step = serial.head.step.amount.is_none_or(|amount| cx.constant(amount) == Some(1));
    step && !serial.head.step.is_subtracted && matches!(serial.head.relation, Relation::Less | Relation::LessOrEqual)
}

/// Asks whether a loop runs at least so often. `None` where its bound is more than arithmetic with integers that hold such numbers.
fn length_test(cx: &Context<'_>, serial: &Serial<'_>, least: u64) -> Option<String> {
    let lower = cx.constant(serial.head.lower).filter(|lower| (0..=LARGEST_START).contains(lower))?;
    let upper = serial.head.upper;
    let is_wide = |(name, span): &(String, Span)| {
        let holds = |bits: u32| bits >= LENGTH_BITS;
        let integer = cx.integer_type(name, span.start).and_then(|number| number.integer());
        cx.expansion(name, span.start).is_none() && integer.is_some_and(|integer| holds(integer.bits))
    };
    let names = cx.names_in(upper);
    if !counts_up(cx, serial) || !cx.is_arithmetic(upper) || names.is_empty() || !names.iter().all(is_wide) {
        return None;
    }
    let least = i64::try_from(least).ok()? + lower - i64::from(serial.head.relation == Relation::LessOrEqual);
    Some(format!("{} >= {least}", heads::operand(&cx.file.show(upper))))
}

/// Asks whether the rows of neighbouring threads begin a multiple of so many elements apart, so that none of them takes the other loop. Empty
/// if the text tells; `None` where they do not, or nobody can ask.
fn distance_tests(cx: &Context<'_>, serial: &Serial<'_>, access: &Access, elements: u32) -> Option<Vec<String>> {
    let [only] = access.subscripts.as_slice() else { return None };
    let (distance, _) = only.form.linear_in(serial.lane)?;
    let mut terms = distance.terms();
    let (Some((atoms, factor)), None) = (terms.next(), terms.next()) else { return None };
    if factor % i128::from(elements) == 0 {
        return Some(Vec::new());
    }
    if !atoms.is_empty() && serial.length.as_ref() == Some(&distance) {
        return Some(vec![format!("{} % {elements} == 0", heads::operand(&cx.file.show(serial.head.upper)))]);
    }
    let [atom] = atoms else { return None };
    let name = serial.found.symbols.get(atom).filter(|_| factor == 1)?;
    is_named_in_kernel(cx, serial, name).then(|| vec![format!("{name} % {elements} == 0")])
}

/// Does the kernel name an integer already? Another name might be mapped where it was not, or have no place on a device.
fn is_named_in_kernel(cx: &Context<'_>, serial: &Serial<'_>, name: &str) -> bool {
    let at = serial.head.span.start;
    let meant = cx.symbols().lookup(name, at).map(|found| found.id());
    let is_same = |used: &Use| {
        used.name == name
            && meant.is_some()
            && cx.symbols().lookup(name, used.span.start).map(|found| found.id()) == meant
    };
    cx.integer_type(name, at).is_some() && uses_below(cx.file, cx.tree, serial.kernel).iter().any(is_same)
}

/// The row that an access walks along by the loop's variable, if all places that name its elements do so by the same text.
fn row(cx: &Context<'_>, serial: &Serial<'_>, access: &Access) -> Option<Row> {
    let same = |other: &&&Access| other.root == access.root && other.subscripts == access.subscripts;
    let places: Vec<Span> = serial.inside.iter().filter(same).map(|other| other.span).collect();
    let mut starts = places.iter().map(|place| start(cx, serial, *place));
    let (array, start) = starts.next().flatten()?;
    let is_one = starts.all(|other| other.as_ref().is_some_and(|(_, other)| *other == start));
    let (ty, _) = element(cx, access).ok().filter(|_| is_one)?;
    Some(Row { array, ty, start, places })
}

/// The name of the array of which the text at a place is an element, and the address of the first element of its row: `&a[i * n]` for
/// `a[i * n + j]`, `row` for `row[j]`.
fn start(cx: &Context<'_>, serial: &Serial<'_>, place: Span) -> Option<(String, String)> {
    let tree = cx.tree;
    let node = tree.covering(place);
    let subscript = Subscript::of(tree, node).filter(|_| tree.span(node) == place)?;
    let (base, index) = (subscript.base()?, subscript.index()?);
    let array = cx.file.show(tree.span(base)).into_owned();
    let is_plain = tree.kind(base) == NodeKind::Identifier && cx.expansion(&array, place.start).is_none();
    if !is_plain || !is_always_loaded(cx, serial, node) || !is_outer(cx, serial, tree.span(base)) {
        return None;
    }
    if is_variable(cx, serial, index) {
        return Some((array.clone(), array));
    }
    let sum = Binary::of(tree, index).filter(|sum| sum.operator() == Some(NodeKind::Plus))?;
    let [left, right] = [sum.left()?, sum.right()?];
    let rest =
        if is_variable(cx, serial, right) { left } else { Some(right).filter(|_| is_variable(cx, serial, left))? };
    let rest = tree.span(rest);
    let names_variable = cx.names_in(rest).iter().any(|(name, _)| *name == serial.head.variable);
    let stays = cx.is_arithmetic_with_casts(rest) && !names_variable && !changes(cx, rest, serial.head.body);
    let stays = stays && is_outer(cx, serial, rest);
    stays.then(|| (array.clone(), format!("&{array}[{}]", cx.file.show(rest))))
}

/// Does each iteration load it, whatever it finds?
fn is_always_loaded(cx: &Context<'_>, serial: &Serial<'_>, node: NodeId) -> bool {
    let tree = cx.tree;
    let mut above = tree.ancestors(node).take_while(|above| *above != serial.head.body);
    above.all(|above| {
        let operator = Binary::of(tree, above).and_then(Binary::operator);
        let is_lazy = matches!(operator, Some(NodeKind::AmpersandAmpersand | NodeKind::BarBar));
        !is_lazy && tree.kind(above) != NodeKind::ConditionalExpression
    })
}

/// Do all names in an expression mean something that is declared outside of the loop?
fn is_outer(cx: &Context<'_>, serial: &Serial<'_>, part: Span) -> bool {
    let is_inside = |(name, at): &(String, Span)| {
        let found = cx.symbols().lookup(name, at.start);
        found.is_none_or(|found| found.id().is_within(serial.head.span))
    };
    cx.names_in(part).iter().all(|named| cx.constant(named.1).is_some() || !is_inside(named))
}

fn is_variable(cx: &Context<'_>, serial: &Serial<'_>, node: NodeId) -> bool {
    cx.tree.kind(node) == NodeKind::Identifier && cx.file.show(cx.tree.span(node)) == serial.head.variable
}
