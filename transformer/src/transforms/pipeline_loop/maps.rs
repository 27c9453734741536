//! What the construct maps, and which arrays move in tiles.

use crate::analysis::accesses::{Access, Accesses, RootKind};
use crate::analysis::independence::clauses::Clauses;
use crate::analysis::polynomial::Polynomial;
use crate::analysis::streams::{NoStream, Stream, overwrites, stream};
use crate::edit::directive_writer::on_one_line;
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::semantics::symbols::{DeclaredType, VariableId};
use crate::source::Span;
use crate::syntax::{ClauseName, ListItem};
use crate::transforms::host_copies::host_values::HostValues;
use crate::transforms::pipeline_loop::head::Head;

/// A list item of a `map` clause.
#[derive(Clone)]
pub(super) struct Mapped {
    /// Which construct creates its storage on the device.
    pub place: Place,
    /// As written, on one line.
    pub text: String,
    /// The variable.
    pub name: String,
    pub key: VariableId,
    pub span: Span,
    /// `to`, `from`, `tofrom`, `alloc`.
    pub map_type: String,
    /// Is it an array, or memory that a pointer points to?
    pub is_array: bool,
    /// The first element and the number of elements of the first dimension: spans of their expressions.
    lower_span: Option<Span>,
    length_span: Option<Span>,
    /// The number of elements of the first dimension, if a whole array is named.
    whole: Option<Polynomial>,
    /// The sections of the other dimensions, as written.
    rest: String,
    /// How many elements of the first dimension are mapped, if it is known.
    pub length: Option<Polynomial>,
    /// Bytes of one of them, if they are known.
    pub element_bytes: Option<i128>,
    /// How it moves in tiles. `None` if it is mapped whole.
    pub tiled: Option<Tiled>,
    /// Why it does not move in tiles.
    pub no_stream: Option<(Span, NoStream)>,
}

/// The construct that creates an item's storage on the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The loop's own.
    Loop,
    /// A `target data` construct around it. The loop's own item for the same array has this map type and text.
    Around(Option<(String, String)>),
}

/// How an array moves in tiles.
#[derive(Clone)]
pub(super) struct Tiled {
    pub stream: Stream,
    /// Are its pieces copied to the device before the tiles that read them?
    pub moves_in: bool,
    /// Are they copied back behind the tiles that write them?
    pub moves_out: bool,
    /// The piece of the first iteration in the mapped section, and the piece behind the last one.
    pub from: Polynomial,
    pub to: Polynomial,
    /// The length of the section, in C, if it is not the whole array.
    pub length_text: Option<String>,
    /// The first element's expression, if it is not zero.
    pub lower_text: Option<String>,
}

impl Tiled {
    /// Do iterations read pieces other than their own?
    pub(super) fn has_halo(&self) -> bool {
        (self.stream.behind, self.stream.ahead) != (0, 0)
    }
}

impl Mapped {
    /// The item of an enclosing construct. Only the text of the loop's own item for it is kept.
    pub(super) fn around(&self, own: &[Self]) -> Self {
        let listed = own.iter().find(|item| item.key == self.key);
        let listed = listed.map(|item| (item.map_type.clone(), item.text.clone()));
        Self { place: Place::Around(listed), ..self.clone() }
    }

    /// What the loop's own construct maps of it: the map type and the item.
    pub(super) fn listed(&self) -> Option<(&str, &str)> {
        match &self.place {
            Place::Loop => Some((&self.map_type, &self.text)),
            Place::Around(listed) => listed.as_ref().map(|(map_type, text)| (map_type.as_str(), text.as_str())),
        }
    }

    /// Is it copied to the device before the loop?
    pub(super) fn copies_in(&self) -> bool {
        matches!(self.map_type.as_str(), "to" | "tofrom")
    }

    /// Is it copied back after the loop?
    pub(super) fn copies_out(&self) -> bool {
        matches!(self.map_type.as_str(), "from" | "tofrom")
    }

    /// The section from one iteration's piece to before another one's.
    pub(super) fn section(&self, from: &str, to: &str, stride: &str) -> String {
        let Self { name, rest, .. } = self;
        match stride {
            "1" => format!("{name}[{from}:{to} - {from}]{rest}"),
            stride => {
                format!("{name}[(ompsplit_size){from} * {stride}:(ompsplit_size)({to} - {from}) * {stride}]{rest}")
            }
        }
    }

    /// The first element of its mapped part.
    fn start(&self) -> String {
        match self.tiled.as_ref().and_then(|tiled| tiled.lower_text.as_ref()) {
            None => self.name.clone(),
            Some(lower) => format!("&{}[{lower}]", self.name),
        }
    }

    /// A condition that is true if it is not on the device.
    pub(super) fn is_absent(&self) -> String {
        format!("ompsplit_is_absent({})", self.start())
    }

    /// A statement that page-locks the mapped memory.
    pub(super) fn pin(&self) -> String {
        format!("ompsplit_pin({}, {});", self.start(), self.bytes())
    }

    /// A statement that unlocks it.
    pub(super) fn unpin(&self) -> String {
        format!("ompsplit_unpin({});", self.start())
    }

    /// How many bytes are mapped, in C.
    fn bytes(&self) -> String {
        let name = &self.name;
        match self.tiled.as_ref().and_then(|tiled| tiled.length_text.as_ref()) {
            None => format!("sizeof({name})"),
            Some(length) => format!("sizeof(*{name}) * {}", crate::transforms::host_copies::text::operand(length)),
        }
    }
}

/// The expressions in the items whose values are needed, in order.
pub(super) fn expressions(items: &[Mapped]) -> Vec<Span> {
    items.iter().flat_map(|item| [item.lower_span, item.length_span]).flatten().collect()
}

/// Reads the `map` clauses of some constructs.
///
/// # Errors
/// Why items are not understood.
pub(super) fn read(values: &HostValues<'_, '_>, constructs: &[ConstructId]) -> Result<Vec<Mapped>, Vec<Reason>> {
    let cx = values.cx();
    let mut items = Vec::new();
    let mut reasons = Vec::new();
    for id in constructs {
        for clause in cx.constructs.directive(*id).clauses_of(ClauseName::Map) {
            let words: Vec<&str> = clause.modifiers.iter().map(|modifier| modifier.name.as_str()).collect();
            let map_type = match words.as_slice() {
                [] => "tofrom",
                [word @ ("to" | "from" | "tofrom" | "alloc")] => word,
                _ => {
                    let message = "only plain map types go with tiles";
                    reasons.push(Reason::new(ReasonCode::TileClause, clause.span, message));
                    continue;
                }
            };
            for item in clause.items() {
                match read_item(values, item, map_type) {
                    Some(mapped) => items.push(mapped),
                    // `split` writes `this` if the program has mapped it by naming a member.
                    None if item.base.as_deref() == Some("this") && !item.has_member => {
                        let message = "members of an object do not go with tiles";
                        reasons.push(Reason::new(ReasonCode::TileClause, cx.constructs.directive(*id).span, message));
                    }
                    None => {
                        let message = "only variables and sections of their arrays go with tiles";
                        reasons.push(Reason::new(ReasonCode::TileClause, item.span, message));
                    }
                }
            }
        }
    }
    if reasons.is_empty() { Ok(items) } else { Err(reasons) }
}

fn read_item(values: &HostValues<'_, '_>, item: &ListItem, map_type: &str) -> Option<Mapped> {
    let cx = values.cx();
    let name = item.base.clone().filter(|name| name != "this" && !item.has_member)?;
    let variable = values.symbols().lookup(&name, item.span.start)?;
    let first = item.sections.first();
    let is_plain = item.sections.iter().all(|section| section.is_section && section.stride.is_none());
    if !(item.is_name || first.is_some()) || !is_plain {
        return None;
    }
    let dimension = match &variable.ty {
        DeclaredType::Array { dimensions, .. } => dimensions.first().and_then(|dimension| dimension.value),
        _ => None,
    };
    let is_array = first.is_some() || matches!(variable.ty, DeclaredType::Array { .. });
    if item.is_name && variable.ty.is_pointer() {
        return None;
    }
    let rest = item.sections.get(1..).unwrap_or_default();
    Some(Mapped {
        place: Place::Loop,
        text: on_one_line(cx.file, item.span),
        name,
        key: variable.id(),
        span: item.span,
        map_type: map_type.to_owned(),
        is_array,
        lower_span: first.and_then(|section| section.lower_bound),
        length_span: first.and_then(|section| section.length),
        whole: dimension.map(|value| Polynomial::constant(i128::from(value))),
        rest: rest.iter().map(|section| on_one_line(cx.file, section.span)).collect(),
        length: None,
        element_bytes: variable.ty.dereferenced().bytes().map(i128::from),
        tiled: None,
        no_stream: None,
    })
}

/// Is all that the loop reaches in memory mapped by the construct, or a thread's own?
///
/// # Errors
/// Other memory that it reaches: it may be part of an array whose tiles are mapped only for a time.
pub(super) fn check_reach(items: &[Mapped], clauses: &Clauses, found: &Accesses) -> Result<(), Vec<Reason>> {
    let is_own = |access: &Access| access.root.kind == RootKind::Object && clauses.is_private(access.root.key);
    let is_mapped = |access: &Access| {
        let direct = matches!(access.root.kind, RootKind::Object | RootKind::Pointer);
        direct
            && items
                .iter()
                .any(|item| item.key == access.root.key && (item.is_array || access.root.kind == RootKind::Object))
    };
    let other = found.accesses.iter().find(|access| !is_own(access) && !is_mapped(access));
    if let Some(access) = other {
        let message = format!("no clause of the construct maps what `{}` leads to", access.root.name);
        return Err(vec![Reason::new(ReasonCode::TileReach, access.span, message)]);
    }
    let is_reduced = |key: VariableId| clauses.reductions.contains_key(&key) || clauses.is_private(key);
    if let Some(used) = found.scalars.iter().find(|used| used.writes && !is_reduced(used.key)) {
        let message = format!("`{}` is shared by all iterations and written", used.name);
        return Err(vec![Reason::new(ReasonCode::TileReach, used.span, message)]);
    }
    Ok(())
}

/// Determines which items move in tiles. `evaluated` are the values of [`expressions`].
pub(super) fn find_streams(values: &HostValues<'_, '_>, items: &mut [Mapped], head: &Head, found: &Accesses) {
    let mut evaluated = found.expressions.iter();
    for item in items.iter_mut() {
        let mut value = |span: Option<Span>| span.map(|_| evaluated.next().cloned().flatten());
        let (lower, length) = (value(item.lower_span), value(item.length_span));
        if !item.is_array {
            continue;
        }
        item.length = length.clone().flatten().or_else(|| item.whole.clone());
        if !item.copies_in() && !item.copies_out() {
            continue;
        }
        let touching: Vec<&Access> = found.accesses.iter().filter(|access| access.root.key == item.key).collect();
        match stream(found, &touching) {
            Err(no) => item.no_stream = Some(no),
            Ok(found_stream) => {
                let is_overwritten = item.place == Place::Loop
                    && item.rest.is_empty()
                    && overwrites(values.cx().tree, found, &touching, &found_stream.stride);
                item.tiled = tiled(values, item, head, found_stream, lower, length);
                if let Some(tiled) = &mut item.tiled {
                    // An array that the tiles overwrite completely need not be copied to the device.
                    tiled.moves_in &= !(is_overwritten && tiled.moves_out);
                }
                match &item.tiled {
                    None => item.no_stream = Some((item.span, NoStream::Scattered)),
                    // An array that is not copied does not move.
                    Some(tiled) if !tiled.moves_in && !tiled.moves_out => item.tiled = None,
                    Some(_) => {}
                }
            }
        }
    }
}

/// The section, counted in pieces of iterations. `None` if it does not certainly consist of the whole pieces of all
/// iterations.
fn tiled(
    values: &HostValues<'_, '_>,
    item: &Mapped,
    head: &Head,
    stream: Stream,
    lower: Option<Option<Polynomial>>,
    length: Option<Option<Polynomial>>,
) -> Option<Tiled> {
    let lower = lower.map_or(Some(Polynomial::default()), |value| value)?;
    let length = match length {
        Some(value) => value?,
        None => item.whole.clone()?.minus(&lower)?,
    };
    let whole_pieces = |value: &Polynomial| {
        let (quotient, rest) = value.divided_by(&stream.stride)?;
        rest.is_zero().then_some(quotient)
    };
    let from = whole_pieces(&lower)?;
    let to = whole_pieces(&lower.plus(&length)?)?;
    let is_number = |value: Option<Polynomial>| value.and_then(|value| value.as_constant()).is_some_and(|it| it >= 0);
    let starts_inside = is_number(head.first.minus(&from)) || head.is_asked_to_start(&from);
    if !starts_inside || !is_number(to.minus(&head.end)) {
        return None;
    }
    let shown = |span: Span| values.spelled(span);
    let is_checked = [item.lower_span, item.length_span].into_iter().flatten().all(|span| values.check(span).is_ok());
    let lower_text = item.lower_span.filter(|_| !lower.is_zero()).map(shown);
    let length_text = match item.length_span {
        Some(span) => Some(shown(span)),
        None if item.lower_span.is_some() => return None,
        None => None,
    };
    // An array that another loop has written comes back with the last loop that uses it.
    let moves_out = item.copies_out() && (stream.writes || item.place != Place::Loop);
    let moves_in = item.copies_in();
    is_checked.then_some(Tiled { stream, moves_in, moves_out, from, to, length_text, lower_text })
}
