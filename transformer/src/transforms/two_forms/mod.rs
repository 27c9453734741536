//! A region that is written twice, in two forms, under an `if` of the host.

use crate::edit::directive_writer::{Layout, WIDTH, indent_of, line_start};
use crate::edit::{Edit, EditSet};
use crate::region::construct::ConstructId;
use crate::region::target::{TargetRegion, target_regions};
use crate::semantics::Program;
use crate::source::pragma_scan::mask_part;
use crate::source::{Language, SourceFile, Span};
use crate::syntax::{Directive, If, NodeId, NodeKind};

/// The whole lines of a region.
pub(super) fn lines_of(file: &SourceFile, extent: Span) -> Span {
    Span::new(line_start(&file.text, extent.start), extent.end)
}

/// The lines behind a directive, up to the end of its construct. `None` if other text follows on the directive's own
/// line.
pub(super) fn lines_behind(file: &SourceFile, directive_end: usize, end: usize) -> Option<Span> {
    let rest = file.text.get(directive_end..end)?;
    let newline = rest.iter().position(|byte| *byte == b'\n')?;
    let is_blank = rest.get(..newline)?.iter().all(u8::is_ascii_whitespace);
    is_blank.then(|| Span::new(directive_end + newline + 1, end))
}

/// A part of the file with edits made to it. `None` if an edit lies outside.
pub(super) fn edited(file: &SourceFile, whole: Span, edits: &[Edit]) -> Option<String> {
    let moved: Option<Vec<Edit>> = edits.iter().map(|edit| within(whole, edit)).collect();
    String::from_utf8(EditSet::new(moved?).ok()?.apply(file.bytes(whole))).ok()
}

/// Code that would change its meaning, or not compile, if it stood twice in the function.
pub(super) fn cannot_stand_twice(
    names: &Program<'_>,
    first: ConstructId,
    extent: Span,
) -> Option<(Span, &'static str)> {
    match names.constructs.construct(first).body {
        Some(body) => statement_cannot_stand_twice(names, body, extent),
        None => Some((extent, "it has no statement")),
    }
}

/// The same of a statement, whose text with the directives before it is `extent`.
pub(super) fn statement_cannot_stand_twice(
    names: &Program<'_>,
    body: NodeId,
    extent: Span,
) -> Option<(Span, &'static str)> {
    let cx = names;
    for node in cx.tree.descendants(body) {
        let span = cx.tree.span(node);
        let what = match cx.tree.kind(node) {
            NodeKind::LabeledStatement => "a label is unique in a function",
            NodeKind::StorageClassSpecifier if cx.file.bytes(span) == b"static" => "each copy would have this variable",
            NodeKind::LambdaExpression => "each copy would have a closure type of its own",
            NodeKind::GnuAsmExpression => "a label in it would be defined twice",
            // Other pragmas may stand twice. The tree also has an `#endif` without an `#if` as such a node.
            NodeKind::PreprocCall if cx.file.show(span).contains("pragma") => continue,
            kind if kind.is_preprocessor() => "a preprocessor line stands in it",
            _ => continue,
        };
        return Some((span, what));
    }
    let words = ["__COUNTER__", "__LINE__", "__INCLUDE_LEVEL__"];
    let counted = |text: &str| words.iter().any(|word| text.contains(word));
    let text = cx.file.show(extent);
    let counts = counted(&text) || names.uses_macro_with(extent, &counted);
    if counts {
        return Some((extent, "a macro in it tells its place"));
    }
    let start = line_start(&cx.file.text, extent.start);
    let before = cx.file.bytes(Span::new(start, extent.start));
    if !before.iter().all(u8::is_ascii_whitespace) {
        return Some((extent, "its directive does not stand alone on its line"));
    }
    let is_text = std::str::from_utf8(cx.file.bytes(extent)).is_ok();
    (!is_text).then_some((extent, "its text is not UTF-8"))
}

/// How the lines of both forms are indented.
pub(super) struct Indents {
    /// The blanks before the region's statement.
    pub indent: String,
    /// The blanks of one more level of a block. Empty if the lines must not be moved.
    pub level: String,
}

impl Indents {
    pub(super) fn of(cx: &Program<'_>, extent: Span, body: NodeId, layout: &Layout) -> Self {
        let indent = statement_indent(cx.file, cx.tree.span(body).start, &layout.indent);
        let level =
            if can_be_indented(cx, extent) { one_level(cx, body, &indent, &layout.level) } else { String::new() };
        Self { indent, level }
    }
}

/// What is written twice: a statement of the host, or several that follow each other.
pub(super) struct Twice<'d> {
    /// The first of the statements.
    pub statement: NodeId,
    /// All of them, with the directives before them.
    pub extent: Span,
    /// The first directive in them, whose style the text between them has.
    pub directive: &'d Directive,
    /// Are they statements of a block?
    pub is_in_block: bool,
}

impl<'d> Twice<'d> {
    /// A region.
    pub(super) fn of_region(cx: &Program<'d>, (first, extent): (ConstructId, Span)) -> Option<Self> {
        let statement = cx.constructs.construct(first).body?;
        let directive = cx.constructs.directive(first);
        Some(Self { statement, extent, directive, is_in_block: is_in_block(cx, first) })
    }
}

/// One edit that writes a region in both forms: where the host finds a condition true as the edits make it, otherwise as it is.
///
/// # Errors
/// What keeps it from standing twice.
pub(super) fn of_region(
    cx: &Program<'_>,
    region: &TargetRegion,
    edits: &[Edit],
    condition: &str,
    comment: &str,
) -> Result<Edit, (Span, &'static str)> {
    let first = region.chain.constructs.first().copied().unwrap_or(ConstructId(0));
    cannot_stand_twice(cx, first, region.extent).map_or(Ok(()), Err)?;
    let twice = Twice::of_region(cx, (first, region.extent));
    let both = twice.and_then(|twice| both(cx, &twice, edits, &[condition.to_owned()], comment));
    both.ok_or((region.extent, "there is no place for both forms"))
}

/// One edit that writes both forms under a host `if`: where all of `conditions` hold as the edits make them, otherwise as they are. `None` if
/// the edits do not lie within them.
pub(super) fn both(
    cx: &Program<'_>,
    twice: &Twice<'_>,
    edits: &[Edit],
    conditions: &[String],
    comment: &str,
) -> Option<Edit> {
    let file = cx.file;
    let Twice { statement, extent, directive, is_in_block } = *twice;
    let layout = Layout::of(file, directive);
    let whole = lines_of(file, extent);
    let original = std::str::from_utf8(file.bytes(whole)).ok()?;
    let text = edited(file, whole, edits)?;
    let Indents { indent, level } = Indents::of(cx, extent, statement, &layout);
    let block = !is_in_block;
    let newline = layout.newline;
    let (open, outer) = if block {
        (format!("{indent}{{{newline}"), format!("{indent}{level}"))
    } else {
        (String::new(), indent.clone())
    };
    let inside = |text: &str| indented(text, &if block { level.repeat(2) } else { level.clone() });
    let comment = commented(cx, comment);
    let close = if block { format!("{newline}{indent}}}") } else { String::new() };
    let head = asked(conditions, &outer, newline);
    let text = format!(
        "{open}{outer}{comment}{newline}{outer}{head} {{{newline}{}{newline}{outer}}} else {{{newline}{}{newline}{outer}}}{close}",
        inside(&text),
        inside(original),
    );
    Some(Edit { span: whole, text })
}

/// A comment in the style of the language.
pub(super) fn commented(cx: &Program<'_>, text: &str) -> String {
    if cx.tree.language() == Language::C { format!("/* {text} */") } else { format!("// {text}") }
}

/// The `if` that asks all conditions, each on a line of its own where one line would be too long, and each side of `||` where that still is.
fn asked(conditions: &[String], indent: &str, newline: &str) -> String {
    let line = format!("if ({})", conditions.join(" && "));
    if indent.len() + line.len() + " {".len() <= WIDTH {
        return line;
    }
    let inner = indent.len() + "if (".len();
    let broken = |one: &String| match inner + one.len() + " &&".len() <= WIDTH {
        true => one.clone(),
        false => one.replace(" || ", &format!(" ||{newline}{indent}     ")),
    };
    let conditions: Vec<String> = conditions.iter().map(broken).collect();
    format!("if ({})", conditions.join(&format!(" &&{newline}{indent}    ")))
}

/// Is the region a statement of a block, and not the statement of another directive?
pub(super) fn is_in_block(cx: &Program<'_>, first: ConstructId) -> bool {
    let tree = cx.tree;
    let Some(body) = cx.constructs.construct(first).body else { return false };
    let directive = cx.constructs.directive(first);
    // Behind another directive new declarations would become its statement.
    let index = cx.constructs.construct(first).directive;
    let before = index.checked_sub(1).and_then(|index| cx.constructs.directives.get(index));
    let behind_directive = before.is_some_and(|other| {
        let between = cx.file.bytes(Span::new(other.span.end, directive.span.start));
        between.iter().all(u8::is_ascii_whitespace)
    });
    !behind_directive && tree.parent(body).is_some_and(|parent| tree.kind(parent) == NodeKind::CompoundStatement)
}

fn within(whole: Span, edit: &Edit) -> Option<Edit> {
    let start = edit.span.start.checked_sub(whole.start)?;
    let end = edit.span.end.checked_sub(whole.start)?;
    (edit.span.end <= whole.end).then(|| Edit { span: Span::new(start, end), text: edit.text.clone() })
}

/// The blanks before the region's statement. If its directive stands on a line with other text, those before the
/// statement's line.
fn statement_indent(file: &SourceFile, body: usize, directive: &str) -> String {
    let start = line_start(&file.text, body);
    let blank = file.bytes(Span::new(start, body)).iter().all(u8::is_ascii_whitespace);
    if blank { indent_of(file, body) } else { directive.to_owned() }
}

/// The indentation of one level: of the region's own block, or of the block around it.
fn one_level(cx: &Program<'_>, body: NodeId, indent: &str, otherwise: &str) -> String {
    let indent_at = |node| statement_indent(cx.file, cx.tree.span(node).start, indent);
    let inner = cx.tree.named_children(body).next().filter(|_| cx.tree.kind(body) == NodeKind::CompoundStatement);
    let inside = inner.map(indent_at).and_then(|inner| inner.strip_prefix(indent).map(str::to_owned));
    let around = cx.tree.parent(body).map(|above| indent_of(cx.file, cx.tree.span(above).start));
    let outside = || around.and_then(|outer| indent.strip_prefix(&outer).map(str::to_owned));
    let told = |level: &String| !level.is_empty();
    inside.filter(told).or_else(|| outside().filter(told)).unwrap_or_else(|| otherwise.to_owned())
}

/// May blanks be put before the region's lines? Not if a string may continue over the end of a line.
fn can_be_indented(cx: &Program<'_>, extent: Span) -> bool {
    let text = cx.file.bytes(extent);
    let code = mask_part(&cx.file.text, extent, &cx.scan.masked);
    let spliced = code.windows(2).any(|pair| pair == b"\\\n" || pair == b"\\\r");
    !spliced && !text.windows(2).any(|pair| pair == b"R\"")
}

/// Puts blanks before each line that has text. Preprocessor lines in the first column stay there, with their
/// continuation lines.
pub(super) fn indented(text: &str, level: &str) -> String {
    let mut continues = false;
    let line = |line: &str| {
        let stays = continues || line.starts_with('#');
        continues = stays && line.trim_end_matches('\r').ends_with('\\');
        if stays || line.trim().is_empty() { line.to_owned() } else { format!("{level}{line}") }
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The deeper indentation as edits, so that they can be combined with other edits of these lines. `before` is inserted
/// before the first line; `lines` begins at the start of a line.
pub(super) fn line_inserts(file: &SourceFile, lines: Span, level: &str, before: String) -> Vec<Edit> {
    let mut edits = vec![Edit { span: Span::new(lines.start, lines.start), text: before }];
    let (mut at, mut continues) = (lines.start, false);
    for line in file.bytes(lines).split_inclusive(|byte| *byte == b'\n') {
        let stays = continues || line.starts_with(b"#");
        continues = stays && line.trim_ascii_end().ends_with(b"\\");
        if !stays && !line.trim_ascii().is_empty() && !level.is_empty() {
            match edits.last_mut().filter(|last| last.span.start == at) {
                Some(last) => last.text.push_str(level),
                None => edits.push(Edit { span: Span::new(at, at), text: level.to_owned() }),
            }
        }
        at += line.len();
    }
    edits
}

/// A region of one team in the same `if`: `split` may have written it in two forms, and knows that by the loops of both.
pub(super) fn other_form(cx: &Program<'_>, body: NodeId) -> Option<Span> {
    let tree = cx.tree;
    let is_choice = |node: &NodeId| If::of(tree, *node).is_some_and(|one| one.alternative().is_some());
    let choices: Vec<Span> = tree.ancestors(body).filter(is_choice).map(|node| tree.span(node)).collect();
    let outermost = *choices.last()?;
    let regions = target_regions(tree, cx.constructs);
    let is_of_league = |region: &TargetRegion| {
        region.is_league_loop() || region.shares_rows(cx.constructs) || region.combines_teams(cx.constructs)
    };
    let mut others = regions.iter().filter(|region| outermost.contains(region.extent) && !is_of_league(region));
    others.next().map(|region| region.extent)
}

/// Does a place stand where an `if` of the host has asked a question, among others, and the answer was no?
pub(super) fn was_denied(cx: &Program<'_>, place: Span, question: &str) -> bool {
    let words = |text: &str| text.split_ascii_whitespace().collect::<String>();
    let is_denied = |one: If<'_>| {
        let stands = one.alternative().is_some_and(|branch| cx.tree.span(branch).contains(place));
        let condition = one.condition().filter(|_| stands);
        condition.is_some_and(|condition| words(&cx.file.show(cx.tree.span(condition))).contains(&words(question)))
    };
    cx.tree.ancestors(cx.tree.covering(place)).filter_map(|above| If::of(cx.tree, above)).any(is_denied)
}

/// The other branch of each `if` around a statement.
pub(super) fn other_branches(cx: &Program<'_>, statement: NodeId) -> Vec<Span> {
    let tree = cx.tree;
    let own = tree.span(statement);
    let choices = tree.ancestors(statement).filter_map(|above| If::of(tree, above));
    let branches = choices.filter_map(|one| {
        let [one, other] = [one.consequence()?, one.alternative()?].map(|branch| tree.span(branch));
        if one.contains(own) { Some(other) } else { other.contains(own).then_some(one) }
    });
    branches.collect()
}

/// The other branch of the `if` that has this statement as a branch.
pub(super) fn other_branch(cx: &Program<'_>, statement: NodeId) -> Option<NodeId> {
    let tree = cx.tree;
    let mut at = statement;
    loop {
        let parent = tree.parent(at)?;
        match tree.kind(parent) {
            NodeKind::CompoundStatement if tree.named_children(parent).count() == 1 => at = parent,
            NodeKind::ElseClause => return If::of(tree, tree.parent(parent)?)?.consequence(),
            NodeKind::IfStatement => {
                let otherwise = If::of(tree, parent)?.alternative().filter(|other| *other != at)?;
                return tree.named_children(otherwise).last();
            }
            _ => return None,
        }
    }
}
