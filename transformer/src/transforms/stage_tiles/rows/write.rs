//! The loops of a team: one declares the sums, then for each part of the rows one loads it and one goes on with the sums, and a last one stores them.

mod lines;

use std::collections::BTreeSet;

use self::lines::Lines;
use super::carried::Carried;
use super::{OF_THREAD, Row, Rows, THREADS, TILE};
use crate::context::Context;
use crate::edit::Edit;
use crate::edit::directive_writer::{Layout, indent_of, text_end};
use crate::region::loop_nest::{CanonicalLoop, Relation};
use crate::source::Span;
use crate::syntax::{NodeId, NodeKind};
use crate::transforms::checks::heads;
use crate::transforms::stage_tiles::write::{Part, heads_of_teams, level_of, names};
use crate::transforms::two_forms::edited;

/// The edits. `None` where the text has a form that is not expected.
pub(super) fn edits(rows: &Rows<'_, '_, '_>) -> Option<Vec<Edit>> {
    let kernel = rows.kernel;
    let writer = Writer::of(rows)?;
    let mut edits = heads_of_teams(kernel, &writer.parts, THREADS)?;
    edits.push(writer.body()?);
    Some(edits)
}

/// Names that are new in the kernel.
struct Names {
    /// The arrays of the rows, and those of what is carried, in order.
    rows: Vec<String>,
    carried: Vec<String>,
    /// The variables of the loops of a thread, for both loops of the kernel: its first iteration, and one of its own.
    first: [String; 2],
    own: [String; 2],
    /// The end of a part.
    end: String,
}

struct Writer<'w, 'c, 'p> {
    rows: &'w Rows<'w, 'c, 'p>,
    cx: &'w Context<'p>,
    /// The loops of the kernel, and the serial one.
    parts: [Part<'w>; 2],
    serial: Part<'w>,
    names: Names,
    function: Option<NodeId>,
    layout: Layout,
    level: String,
}

impl<'w, 'c, 'p> Writer<'w, 'c, 'p> {
    fn of(rows: &'w Rows<'w, 'c, 'p>) -> Option<Self> {
        let (kernel, cx) = (rows.kernel, rows.kernel.cx);
        let [outer, inner] = kernel.loops() else { return None };
        let layout = Layout::of(cx.file, cx.constructs.directive(kernel.candidate.id));
        let body = cx.tree.span(kernel.body());
        Some(Self {
            rows,
            cx,
            parts: [Part::of(kernel, outer, TILE[0])?, Part::of(kernel, inner, TILE[1])?],
            serial: Part::of(kernel, &rows.inner, rows.part)?,
            names: new_names(rows),
            function: cx.function_of(body),
            level: level_of(kernel, &layout)?,
            layout,
        })
    }

    /// What stands in the place of the body.
    fn body(&self) -> Option<Edit> {
        let (cx, tree, kernel) = (self.cx, self.cx.tree, self.rows.kernel);
        let body = tree.span(kernel.body());
        let innermost = kernel.loops().last()?.node;
        let blanks = indent_of(cx.file, body.end - 1);
        let mut lines = Lines {
            cx,
            layout: &self.layout,
            function: self.function,
            level: &self.level,
            blanks: format!("{blanks}{}", self.level),
            text: "{".to_owned(),
        };
        let [height, width] = TILE;
        for (row, array) in self.rows.rows.iter().zip(&self.names.rows) {
            // One more element than a part has, so that neighbouring threads reach different banks.
            let length = TILE.get(row.axis)?;
            lines.line(&format!("{} {array}[{length}][{}];", row.load.ty, self.rows.part + 1));
        }
        for (one, array) in self.rows.carried.iter().zip(&self.names.carried) {
            lines.line(&format!("{} {array}[{height}][{width}];", one.ty));
        }
        let serial = cx.tree.span(self.rows.inner.node);
        let (before, behind) = self.around(body, serial)?;
        if !before.trim().is_empty() {
            let stored = self.values(|array, name| format!("{array} = {name};"), |_| true);
            self.each(&mut lines, &before, &[], &stored);
        }
        let head = self.counted(&heads::counting(cx, &self.rows.inner, &self.serial.first, self.rows.part)?)?;
        lines.open(&head);
        for (row, array) in self.rows.rows.iter().zip(&self.names.rows) {
            self.load(&mut lines, row, array)?;
        }
        self.compute(&mut lines)?;
        lines.close();
        if !behind.trim().is_empty() {
            let values = self.declared(|one| names(&behind, &one.name));
            self.each(&mut lines, &behind, &values, &[]);
        }
        lines.close();
        let gap = Span::new(tree.end_of_head(innermost)?, body.start);
        cx.file.bytes(gap).trim_ascii().is_empty().then_some(Edit { span: body, text: lines.text })
    }

    /// The text in front of the serial loop, and that behind it.
    fn around(&self, body: Span, serial: Span) -> Option<(String, String)> {
        let text = |span| edited(self.cx.file, span, &[]);
        Some((text(Span::new(body.start + 1, serial.start))?, text(Span::new(serial.end, body.end - 1))?))
    }

    /// The head of the serial loop with these edits.
    fn counted(&self, edits: &[Edit]) -> Option<String> {
        let inner = &self.rows.inner;
        edited(self.cx.file, Span::new(inner.span.start, self.cx.tree.end_of_head(inner.node)?), edits)
    }

    /// A line for each of what is carried, with its element in the team's array.
    fn values(&self, line: impl Fn(&str, &str) -> String, is_wanted: impl Fn(&Carried) -> bool) -> Vec<String> {
        let [i, j] = &self.parts;
        let all = self.rows.carried.iter().zip(&self.names.carried).filter(|(one, _)| is_wanted(one));
        all.map(|(one, array)| line(&format!("{array}[{}][{}]", i.offset, j.offset), &one.name)).collect()
    }

    /// What is carried, declared with its value, if it is named.
    fn declared(&self, is_named: impl Fn(&Carried) -> bool) -> Vec<String> {
        let types = self.rows.carried.iter().filter(|one| is_named(one)).map(|one| &one.ty);
        let values = self.values(|array, name| format!("{name} = {array};"), &is_named);
        types.zip(values).map(|(ty, value)| format!("{ty} {value}")).collect()
    }

    /// A loop of the team that runs statements for each iteration of the tile.
    fn each(&self, lines: &mut Lines<'_, '_>, text: &str, first: &[String], last: &[String]) {
        lines.pragma("parallel for", "collapse(2)");
        let [i, j] = &self.parts;
        lines.nest(&i.head());
        lines.nest(&j.head());
        lines.open(&format!("if ({} && {})", i.is_there(self.cx), j.is_there(self.cx)));
        self.variables(lines, &[text]);
        first.iter().for_each(|line| lines.line(line));
        lines.statements(text);
        last.iter().for_each(|line| lines.line(line));
        lines.close();
        lines.outdent(2);
    }

    /// The variables of the kernel's loops, where a text names them.
    fn variables(&self, lines: &mut Lines<'_, '_>, texts: &[&str]) {
        let is_named = |part: &&Part<'_>| texts.iter().any(|text| names(text, &part.own.variable));
        let values: Vec<String> = self.parts.iter().filter(is_named).map(|part| part.value(self.cx)).collect();
        values.iter().for_each(|value| lines.line(value));
    }

    /// The loop of the team that loads a part of some rows.
    fn load(&self, lines: &mut Lines<'_, '_>, row: &Row, array: &str) -> Option<()> {
        let own = self.parts.get(row.axis)?;
        let element = self.cx.file.show(*row.load.places.first()?).into_owned();
        lines.pragma("parallel for", "collapse(2)");
        lines.nest(&own.head());
        lines.nest(&self.serial.head());
        lines.open(&format!("if ({} && {})", own.is_there(self.cx), self.serial.is_there(self.cx)));
        for part in [own, &self.serial] {
            if names(&element, &part.own.variable) {
                lines.line(&part.value(self.cx));
            }
        }
        lines.line(&format!("{array}[{}][{}] = {element};", own.offset, self.serial.offset));
        lines.close();
        lines.outdent(2);
        Some(())
    }

    /// The loop of the team that goes on with the sums: a thread has some iterations of both loops.
    fn compute(&self, lines: &mut Lines<'_, '_>) -> Option<()> {
        let cx = self.cx;
        let [i, j] = &self.parts;
        let Names { first: [group, lane], end, .. } = &self.names;
        let lanes = TILE[1] / OF_THREAD[1];
        lines.pragma("parallel for", "collapse(2)");
        lines.nest(&format!("for ({} {group} = 0; {group} < {}; {group} += {})", i.ty, TILE[0], OF_THREAD[0]));
        lines.open(&format!("for ({} {lane} = 0; {lane} < {lanes}; {lane}++)", j.ty));
        let (bound, first, part) = (heads::bound(cx, self.serial.own), &self.serial.first, self.rows.part);
        let last = if self.serial.own.relation == Relation::LessOrEqual { part - 1 } else { part };
        lines.line(&format!(
            "const {} {end} = {bound} - {first} < {part} ? {bound} : {first} + {last};",
            self.serial.ty
        ));
        lines.open(&format!("if ({} && {})", whole(cx, i), whole(cx, j)));
        self.in_registers(lines)?;
        lines.close_and("else");
        self.one_by_one(lines)?;
        lines.close();
        lines.close();
        lines.outdent(1);
        Some(())
    }

    /// All iterations of a thread together.
    fn in_registers(&self, lines: &mut Lines<'_, '_>) -> Option<()> {
        let [row, column] = &self.names.own;
        let [rows, columns] = OF_THREAD;
        let mut renamed: Vec<Edit> = Vec::new();
        for one in self.rows.carried.iter().filter(|one| one.is_inside()) {
            lines.line(&format!("{} {}[{rows}][{columns}];", one.ty, one.name));
            let text = format!("{}[{row}][{column}]", one.name);
            renamed.extend(one.places.iter().map(|span| Edit { span: *span, text: text.clone() }));
        }
        let loaded = self.values(|array, name| format!("{name}[{row}][{column}] = {array};"), Carried::is_inside);
        self.unrolled(lines, &loaded, &[]);
        lines.open(&self.part_of_loop()?);
        let statements = self.statements(renamed)?;
        self.unrolled(lines, &[], &[&statements]);
        lines.close();
        let stored = self.values(|array, name| format!("{array} = {name}[{row}][{column}];"), |one| one.is_changed);
        self.unrolled(lines, &stored, &[]);
        Some(())
    }

    /// Loops over a thread's iterations that are unrolled whole.
    fn unrolled(&self, lines: &mut Lines<'_, '_>, own: &[String], statements: &[&str]) {
        if own.is_empty() && statements.is_empty() {
            return;
        }
        let [row, column] = self.loops_of_thread();
        lines.pragma("unroll", "full");
        lines.nest(&row);
        lines.pragma("unroll", "full");
        lines.open(&column);
        let texts: Vec<&str> = own.iter().map(String::as_str).chain(statements.iter().copied()).collect();
        self.offsets(lines, &texts);
        self.variables(lines, &texts);
        own.iter().for_each(|line| lines.line(line));
        statements.iter().for_each(|text| lines.statements(text));
        lines.close();
        lines.outdent(1);
    }

    fn loops_of_thread(&self) -> [String; 2] {
        let [i, j] = &self.parts;
        let [row, column] = &self.names.own;
        let head = |ty: &str, own: &str, count: u32| format!("for ({ty} {own} = 0; {own} < {count}; {own}++)");
        [head(&i.ty, row, OF_THREAD[0]), head(&j.ty, column, OF_THREAD[1])]
    }

    /// The places of an iteration in the tile, where a text or the loops' variables in it name them.
    fn offsets(&self, lines: &mut Lines<'_, '_>, texts: &[&str]) {
        let Names { first: [group, lane], own: [row, column], .. } = &self.names;
        let values = [format!("{group} + {row}"), format!("{lane} + {column} * {}", TILE[1] / OF_THREAD[1])];
        for (part, value) in self.parts.iter().zip(values) {
            let is_named = |text: &&str| names(text, &part.offset) || names(text, &part.own.variable);
            if texts.iter().any(is_named) {
                lines.line(&heads::copied_variable(self.cx, &part.ty, &part.offset, &value));
            }
        }
    }

    /// Each iteration of a thread for itself, if there is one.
    fn one_by_one(&self, lines: &mut Lines<'_, '_>) -> Option<()> {
        let [i, j] = &self.parts;
        let [row, column] = self.loops_of_thread();
        lines.nest(&row);
        lines.open(&column);
        self.offsets(lines, &[&i.offset, &j.offset]);
        lines.open(&format!("if ({} && {})", i.is_there(self.cx), j.is_there(self.cx)));
        let statements = self.statements(Vec::new())?;
        self.variables(lines, &[&statements]);
        self.declared(Carried::is_inside).iter().for_each(|line| lines.line(line));
        lines.open(&self.part_of_loop()?);
        lines.statements(&statements);
        lines.close();
        let stored = self.values(|array, name| format!("{array} = {name};"), |one| one.is_changed);
        stored.iter().for_each(|line| lines.line(line));
        lines.close();
        lines.close();
        lines.outdent(1);
        Some(())
    }

    /// The head of the serial loop, from the first element of a part to its end.
    fn part_of_loop(&self) -> Option<String> {
        let inner: &CanonicalLoop = &self.rows.inner;
        let edit = |span: Span, text: &String| Edit { span, text: text.clone() };
        self.counted(&[edit(inner.lower, &self.serial.first), edit(inner.upper, &self.names.end)])
    }

    /// The statements of the serial loop, with elements of the team's arrays in the place of loads.
    fn statements(&self, mut edits: Vec<Edit>) -> Option<String> {
        let cx = self.cx;
        let body = self.rows.inner.body;
        let span = cx.tree.span(body);
        let content = match cx.tree.kind(body) {
            NodeKind::CompoundStatement => Span::new(span.start + 1, span.end - 1),
            _ => Span::new(span.start, text_end(cx.file, span.end)),
        };
        for (row, array) in self.rows.rows.iter().zip(&self.names.rows) {
            let offset = &self.parts.get(row.axis)?.offset;
            let text = format!("{array}[{offset}][{} - {}]", self.serial.own.variable, self.serial.first);
            edits.extend(row.load.places.iter().map(|span| Edit { span: *span, text: text.clone() }));
        }
        edits.sort_by_key(|edit| edit.span.start);
        edited(cx.file, content, &edits)
    }
}

/// Are all iterations of a tile there?
fn whole(cx: &Context<'_>, part: &Part<'_>) -> String {
    let last = if part.own.relation == Relation::LessOrEqual { part.length - 1 } else { part.length };
    format!("{} - {} >= {last}", heads::bound(cx, part.own), part.first)
}

fn new_names(rows: &Rows<'_, '_, '_>) -> Names {
    let cx = rows.kernel.cx;
    let construct = cx.constructs.construct(rows.kernel.candidate.id).body_span;
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut fresh = |stem: String| {
        let mut stems = std::iter::once(stem.clone()).chain((2..).map(|number| format!("{stem}{number}")));
        let name = stems.find_map(|stem| Some(cx.fresh_in(construct, &stem)).filter(|name| taken.insert(name.clone())));
        name.unwrap_or_default()
    };
    let variable = |axis: usize| rows.kernel.loops().get(axis).map_or("", |own| own.variable.as_str());
    Names {
        rows: rows.rows.iter().map(|row| fresh(format!("{}_of_{}", row.load.array, variable(row.axis)))).collect(),
        carried: rows.carried.iter().map(|one| fresh(format!("{}_of_team", one.name))).collect(),
        first: [fresh("group".to_owned()), fresh("lane".to_owned())],
        own: [fresh("row".to_owned()), fresh("column".to_owned())],
        end: fresh(format!("end_{}", rows.inner.variable)),
    }
}
