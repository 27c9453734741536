//! The text of neighbouring sums whose parts the threads of a team form: a loop over groups of columns, and the two loops of a team in each.

use std::collections::BTreeSet;

use super::{AT_ONCE, Columns, LANES, PARTS};
use crate::edit::directive_writer::{Layout, append_clauses, indent_of, line_start, text_end};
use crate::edit::{Edit, braces};
use crate::source::{Span, words};
use crate::transforms::checks::heads;
use crate::transforms::checks::team_rows::for_teams_alone;
use crate::transforms::reduce_rows::gain::can_be_unrolled;
use crate::transforms::reduce_rows::write::directive_of_teams;
use crate::transforms::two_forms::{edited, indented};

/// The edits. `None` where the text has a form that is not expected.
pub(super) fn edits(columns: &Columns<'_, '_, '_>) -> Option<Vec<Edit>> {
    let (cx, row) = (columns.row.cx, columns.row);
    let writer = Writer::of(columns)?;
    let directive = cx.constructs.directive(row.region.chain.innermost());
    let teams = directive_of_teams(row)?;
    let mut edits = vec![
        for_teams_alone(cx, directive)?,
        append_clauses(cx.file, teams, &[format!("thread_limit({})", LANES * PARTS)]),
    ];
    edits.extend(heads::counting(cx, columns.outer, &writer.first, LANES)?);
    edits.push(writer.body()?);
    Some(edits)
}

struct Writer<'w, 'r, 'c, 'p> {
    columns: &'w Columns<'r, 'c, 'p>,
    /// The first column of a team, a column in its group, and a part of it.
    first: String,
    offset: String,
    part: String,
    /// The parts of each sum.
    parts: Vec<String>,
    /// The blanks in front of a statement of the body, and of one more level of a block.
    inside: String,
    level: String,
    layout: Layout,
}

impl<'w, 'r, 'c, 'p> Writer<'w, 'r, 'c, 'p> {
    fn of(columns: &'w Columns<'r, 'c, 'p>) -> Option<Self> {
        let (cx, row) = (columns.row.cx, columns.row);
        let directive = cx.constructs.directive(row.region.chain.innermost());
        let construct = cx.constructs.construct(row.region.chain.innermost()).body_span;
        let fresh = |stem: &str| {
            let name = cx.fresh_in(construct, stem);
            cx.symbols().lookup(&name, construct.start).is_none().then_some(name)
        };
        let layout = Layout::of(cx.file, directive);
        let outer = indent_of(cx.file, columns.outer.span.start);
        let inside = indent_of(cx.file, columns.inner.span.start);
        let level = inside.strip_prefix(&outer).filter(|level| !level.is_empty())?.to_owned();
        Some(Self {
            columns,
            first: fresh("first")?,
            offset: fresh("offset")?,
            part: fresh("part")?,
            parts: columns.sums.iter().map(|sum| fresh(&format!("{}_of_part", sum.name))).collect::<Option<_>>()?,
            inside,
            level,
            layout,
        })
    }

    /// A line so many levels deeper than the statements of the body.
    fn line(&self, depth: usize, text: &str) -> String {
        format!("{}{}{}{text}", self.layout.newline, self.inside, self.level.repeat(depth))
    }

    /// The head of a block so many levels deeper.
    fn head(&self, depth: usize, text: &str) -> String {
        let cx = self.columns.row.cx;
        let blanks = format!("{}{}", self.inside, self.level.repeat(depth));
        let function = cx.function_of(self.columns.outer.span);
        self.line(depth, text) + &braces::opening(cx.file, cx.tree, function, self.layout.newline, &blanks)
    }

    fn body(&self) -> Option<Edit> {
        let (cx, row) = (self.columns.row.cx, self.columns.row);
        let body = cx.tree.span(row.nest.body);
        let mut text = String::new();
        for (sum, parts) in self.columns.sums.iter().zip(&self.parts) {
            text += &self.line(0, &format!("{} {parts}[{PARTS}][{LANES}];", sum.ty));
        }
        text += &self.found()?;
        text += &self.gathered()?;
        let closing = cx.file.show(Span::new(body.start, body.end - 1)).trim_end().len();
        Some(Edit { span: Span::new(body.start + 1, body.start + closing), text })
    }

    /// The loop in which each thread finds its part of its sums.
    fn found(&self) -> Option<String> {
        let Columns { sums, inner, .. } = self.columns;
        let cx = self.columns.row.cx;
        let mut changed: Vec<Edit> = sums.iter().map(|sum| Edit { span: sum.value, text: "0".to_owned() }).collect();
        let lower = match cx.constant(inner.lower)? {
            0 => self.part.clone(),
            _ => format!("{} + {}", cx.file.show(inner.lower), self.part),
        };
        changed.extend(self.unrolled());
        changed.push(Edit { span: inner.lower, text: lower });
        changed.push(Edit { span: inner.step.span, text: format!("{} += {PARTS}", inner.variable) });
        let [idle, _] = self.idle()?;
        changed.extend(idle);
        let statements = self.statements(Span::new(self.content().start, inner.span.end), changed, 3)?;
        let mut text = self.pragma("parallel for", &["collapse(2)".to_owned()]);
        text += &self.line(0, &counting("int", &self.part, PARTS));
        text += &self.line(1, &counting(&self.ty(), &self.offset, LANES));
        text += &self.head(2, &self.is_there());
        text += &self.column(3, &statements);
        text += &statements;
        for (sum, parts) in sums.iter().zip(&self.parts) {
            text += &self.line(3, &format!("{parts}[{}][{}] = {};", self.part, self.offset, sum.name));
        }
        Some(text + &self.line(2, "}"))
    }

    /// The edits that leave declarations out of the one and the other loop, which do not name what they declare. `None` where a declaration would have to be cut.
    fn idle(&self) -> Option<[Vec<Edit>; 2]> {
        let Columns { declared, sums, inner, row, .. } = self.columns;
        let file = row.cx.file;
        let words_of = |span: Span| words(&file.show(span)).map(str::to_owned).collect::<BTreeSet<String>>();
        let mut used = [inner.span, Span::new(inner.span.end, self.content().end)].map(words_of);
        let mut idle = [Vec::new(), Vec::new()];
        for one in declared.iter().rev() {
            let mut is_named = [false, false];
            for (used, is_named) in used.iter_mut().zip(&mut is_named) {
                let is_used = |name: &String| used.contains(name) || sums.iter().any(|sum| sum.name == *name);
                *is_named = one.names.iter().any(is_used);
                (!*is_named || one.names.iter().all(is_used)).then_some(())?;
            }
            // Where neither names it, it stays in one of them.
            is_named[1] |= !is_named[0];
            for (at, is_named) in is_named.into_iter().enumerate() {
                if is_named {
                    // The parts begin with zero.
                    let values = sums.iter().map(|sum| sum.value).filter(|value| at == 0 && one.span.contains(*value));
                    let ends = values.clone().map(|value| value.start).chain([one.span.end]);
                    let starts = [one.span.start].into_iter().chain(values.map(|value| value.end));
                    used[at].extend(starts.zip(ends).flat_map(|(start, end)| words_of(Span::new(start, end))));
                } else {
                    idle[at].push(self.without(one.span));
                }
            }
        }
        Some(idle)
    }

    /// Leaves a statement out, with its lines where it has these for itself.
    fn without(&self, statement: Span) -> Edit {
        let file = self.columns.row.cx.file;
        let start = line_start(&file.text, statement.start);
        let is_first = file.bytes(Span::new(start, statement.start)).iter().all(u8::is_ascii_whitespace);
        let end = text_end(file, statement.end);
        let is_last = file.text.get(end).is_none_or(|byte| matches!(byte, b'\r' | b'\n'));
        let before = file.bytes(Span::new(0, start)).trim_ascii_end().len();
        let span = if is_first && is_last { Span::new(before.max(self.content().start), end) } else { statement };
        Edit { span, text: String::new() }
    }

    /// Lets the loop of a part load several elements at once: the compiler leaves it as it is.
    fn unrolled(&self) -> Option<Edit> {
        can_be_unrolled(self.columns.row, self.columns.inner.node).then_some(())?;
        let (cx, start) = (self.columns.row.cx, self.columns.inner.span.start);
        let before = cx.file.bytes(Span::new(0, start)).trim_ascii_end().len();
        let pragma = self.pragma("unroll", &[format!("partial({AT_ONCE}) /* {} */", self.columns.device)]);
        let text = format!("{pragma}{}{}", self.layout.newline, self.inside);
        Some(Edit { span: Span::new(before, start), text })
    }

    /// The loop in which a thread of each column adds them, and does all that follows.
    fn gathered(&self) -> Option<String> {
        let Columns { sums, inner, .. } = self.columns;
        let content = self.content();
        let [_, idle] = self.idle()?;
        let before = self.statements(Span::new(content.start, inner.span.start), idle, 2)?;
        let behind = self.statements(Span::new(inner.span.end, content.end), Vec::new(), 2)?;
        let mut text = self.pragma("parallel for", &[]);
        text += &self.line(0, &counting(&self.ty(), &self.offset, LANES));
        text += &self.head(1, &self.is_there());
        text += &self.column(2, &format!("{before} {behind}"));
        text += &before;
        let adds = sums.iter().zip(&self.parts);
        let adds = adds.map(|(sum, parts)| format!("{} += {parts}[{}][{}];", sum.name, self.part, self.offset));
        let adds: Vec<String> = adds.collect();
        let head = counting("int", &self.part, PARTS);
        match adds.as_slice() {
            [only] => text += &(self.line(2, &head) + &self.line(3, only)),
            all => {
                text += &self.head(2, &head);
                text.extend(all.iter().map(|add| self.line(3, add)));
                text += &self.line(2, "}");
            }
        }
        Some(text + &behind + &self.line(1, "}"))
    }

    fn pragma(&self, name: &str, clauses: &[String]) -> String {
        let column = if self.layout.indent.is_empty() { "" } else { &self.inside };
        let pragma = self.layout.indented(column.to_owned()).write(name, clauses);
        format!("{}{column}{pragma}", self.layout.newline)
    }

    /// Is there such a column?
    fn is_there(&self) -> String {
        let (cx, outer) = (self.columns.row.cx, self.columns.outer);
        format!("if ({} {} {} - {})", self.offset, heads::relation(outer), heads::bound(cx, outer), self.first)
    }

    /// The type of the kernel's variable, in which columns of a team are counted too.
    fn ty(&self) -> String {
        let ty = self.columns.outer.declared_type;
        ty.map_or_else(|| "int".to_owned(), |ty| self.columns.row.cx.file.show(ty).into_owned())
    }

    /// The variable of the kernel's loop, where statements name it.
    fn column(&self, depth: usize, statements: &str) -> String {
        let (cx, outer) = (self.columns.row.cx, self.columns.outer);
        if !words(statements).any(|word| word == outer.variable) {
            return String::new();
        }
        let value = format!("{} + {}", self.first, self.offset);
        self.line(depth, &heads::copied_variable(cx, &self.ty(), &outer.variable, &value))
    }

    /// The text between the braces of the body.
    fn content(&self) -> Span {
        let body = self.columns.row.cx.tree.span(self.columns.row.nest.body);
        Span::new(body.start + 1, body.end - 1)
    }

    /// Statements of the body, so many levels deeper, with edits.
    fn statements(&self, span: Span, mut edits: Vec<Edit>, depth: usize) -> Option<String> {
        edits.sort_by_key(|edit| edit.span.start);
        let text = edited(self.columns.row.cx.file, span, &edits)?;
        let text = text.trim_end();
        let is_inline = !text.split('\n').next().unwrap_or_default().trim().is_empty();
        let own_line = if is_inline { self.line(0, text.trim_start()) } else { text.to_owned() };
        Some(indented(&own_line, &self.level.repeat(depth)))
    }
}

fn counting(ty: &str, variable: &str, length: u32) -> String {
    format!("for ({ty} {variable} = 0; {variable} < {length}; {variable}++)")
}
