//! Why the compiler may read a text otherwise than this tool, for every pass: split words, standard types with another
//! meaning, attributes that are not known to be harmless.

use std::collections::BTreeSet;

use crate::engine::hidden_declarations::{self, Found};
use crate::engine::hidden_words;
use crate::plan::{Decision, Plan, Reason, ReasonCode};
use crate::semantics::Program;
use crate::semantics::symbols::{DeclaredType, is_attribute};
use crate::source::{SourceFile, Span, Unclear, scan, unclear, words};
use crate::syntax::Number;
use crate::syntax::numbers::integer_names;

/// Refuses plans for constructs whose text the compiler may read otherwise.
pub(super) fn refuse(plans: &mut [Plan], context: &Program<'_>) {
    let mut written = plans.iter_mut().filter(|plan| matches!(plan.decision, Decision::Apply(_))).peekable();
    if written.peek().is_none() {
        return;
    }
    // In most texts no such name is declared, so nothing has to be looked up.
    let of_file =
        cut_words(context).or_else(|| attribute_pragma(context)).or_else(|| hidden_declarations::find(context));
    let others = other_types(context);
    let differing = context.symbols().device_dependent();
    for plan in written {
        let other = || other_type(context, &others, plan.extent);
        let attribute = || attribute(context, plan.extent);
        let differs = || differs_on_device(context, differing.as_ref(), plan.extent);
        let found = of_file.clone().or_else(other).or_else(attribute).or_else(differs);
        let Some((code, place, message)) = found else { continue };
        let reason = Reason::new(code, plan.span, message);
        plan.refuse(match place {
            Some(place) => reason.with_label(place, "here"),
            None => reason,
        });
    }
}

/// A name in a construct that may mean something else where the device's code is compiled.
fn differs_on_device(context: &Program<'_>, differing: Option<&BTreeSet<String>>, extent: Span) -> Option<Found> {
    let text = context.file.show(extent);
    let name = match differing {
        None => "a file that is included",
        Some(names) => words(&text).find(|word| names.contains(*word))?,
    };
    let message = format!("`{name}` depends on a macro that may differ between host and device, such as `__NVPTX__`");
    Some((ReasonCode::PreprocessorConditional, None, message))
}

/// A word that is split by a line continuation or holds a trigraph, in the file or a header.
fn cut_words(context: &Program<'_>) -> Option<Found> {
    let own = unclear(&context.file.text, &context.scan.masked).map(|found| (found, None));
    let of_header = |header: &SourceFile| {
        Some((unclear(&header.text, &scan(&header.text).masked)?, Some(header.path.display().to_string())))
    };
    let (found, header) = own.or_else(|| context.compilation.headers.iter().find_map(of_header))?;
    let (span, message) = match found {
        Unclear::Splice(span) => (span, "a line ends in a backslash inside of a word, an operator or a comment"),
        Unclear::Trigraph(span) => (span, "a trigraph means something or nothing, as the compiler's flags say"),
    };
    let message = header.as_ref().map_or(message.to_owned(), |header| format!("in `{header}` {message}"));
    Some((ReasonCode::CutWord, Some(span).filter(|_| header.is_none()), message))
}

/// Words of the language that no macro may replace, since this tool reads them as keywords.
const KEYWORDS: &[&str] = &[
    "auto",
    "break",
    "case",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "int",
    "long",
    "namespace",
    "operator",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "typedef",
    "union",
    "unsigned",
    "using",
    "void",
    "volatile",
    "while",
];

/// The names of standard types that the program gives to other types, and whether that holds only within functions.
fn other_types(context: &Program<'_>) -> Vec<(&'static str, bool)> {
    let macros = hidden_words::macros(context);
    let is_flag = |name: &str| context.compilation.definitions.iter().any(|flag| flag.name == name);
    let replaced = KEYWORDS.iter().copied().filter(|name| macros.contains(*name) || is_flag(name));
    let declared = integer_names().filter_map(|name| {
        let may_be = is_declared(context.file, name)
            || context.compilation.headers.iter().any(|header| is_declared(header, name));
        let types = if may_be { context.symbols().types_named(name) } else { Vec::new() };
        let mut others =
            types.iter().filter(|(ty, _)| !is_standard(name, ty)).map(|(_, is_local)| *is_local).peekable();
        let is_other = is_flag(name) || others.peek().is_some();
        is_other.then(|| (name, !is_flag(name) && others.all(|is_local| is_local)))
    });
    replaced.map(|name| (name, false)).chain(declared).collect()
}

/// Such a name, if it matters for a construct: the construct itself or a function that it calls may use it.
fn other_type(context: &Program<'_>, others: &[(&'static str, bool)], extent: Span) -> Option<Found> {
    let text = context.file.show(extent);
    let matters = |(name, is_local): &&(&'static str, bool)| !is_local || words(&text).any(|word| word == *name);
    let (found, _) = others.iter().find(matters)?;
    let message = format!("`{found}` means something else here");
    Some((ReasonCode::OtherType, None, message))
}

/// May a file declare a name as a type or a macro? A quick test that is true too often.
fn is_declared(file: &SourceFile, name: &str) -> bool {
    let text = file.text.as_slice();
    let is_end = |at: Option<usize>| {
        !at.and_then(|at| text.get(at)).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    memchr::memmem::find_iter(text, name).any(|at| {
        let start = text[..at].iter().rposition(|byte| matches!(byte, b';' | b'}' | b'{')).map_or(0, |at| at + 1);
        let is_word = is_end(at.checked_sub(1)) && is_end(Some(at + name.len()));
        let before = || String::from_utf8_lossy(&text[start..at]).into_owned();
        is_word && words(&before()).any(|word| DECLARING.contains(&word))
    })
}

/// Words that stand before the name of a new type or macro.
const DECLARING: &[&str] = &["typedef", "define", "using", "struct", "class", "union", "enum", "typename"];

/// Is it the type that this name has in the standard?
fn is_standard(name: &str, ty: &DeclaredType) -> bool {
    let both = ty.number().zip(Number::read(name)).filter(|_| !ty.is_const() && !ty.is_volatile());
    both.is_some_and(|(number, standard)| number.holds_the_same(&standard) == Some(true))
}

/// `#pragma clang attribute`: it adds attributes to declarations that do not mention them.
fn attribute_pragma(context: &Program<'_>) -> Option<Found> {
    let gives_attributes = |file: &SourceFile, span: &Span| {
        let text = file.show(*span);
        let mut words = words(&text).skip_while(|word| *word != "clang");
        words.next().is_some() && words.next() == Some("attribute")
    };
    let own = context.scan.masked.iter().copied().find(|span| gives_attributes(context.file, span));
    let of_header = |header: &SourceFile| scan(&header.text).masked.iter().any(|span| gives_attributes(header, span));
    let is_given = own.is_some() || context.compilation.headers.iter().any(of_header);
    is_given.then(|| (ReasonCode::UnknownAttribute, own, "a pragma gives attributes to declarations".to_owned()))
}

/// An attribute in a construct that may change the meaning of what it belongs to, or run a function.
fn attribute(context: &Program<'_>, extent: Span) -> Option<Found> {
    let tree = context.tree;
    let mut inside = tree.descendants(tree.covering(extent)).filter(|node| extent.contains(tree.span(*node)));
    let node = inside.find(|node| is_attribute(tree.kind(*node)) && context.symbols().is_unknown_attribute(*node))?;
    let message = "this attribute may change what it stands at";
    Some((ReasonCode::UnknownAttribute, Some(tree.span(node)), message.to_owned()))
}
