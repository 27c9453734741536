//! Words of an output that a macro of the program would replace.

use std::collections::BTreeSet;

use crate::plan::{Decision, Pass, Plan, Reason, ReasonCode};
use crate::semantics::Program;
use crate::source::{self, SourceFile, Span, without_comments, words};
use crate::syntax::ClauseName;
use crate::syntax::spec_table::DirectiveSpec;

/// Words of clauses that name no clause or directive.
const MODIFIERS: &[&str] =
    &["always", "alloc", "from", "omp", "pragma", "present", "release", "static", "to", "tofrom"];

/// Refuses plans that would write a macro's name as a word of OpenMP, or as a word that the original does not use
/// there: the compiler replaces macros in directives too. A word of the original that is left over where macros were
/// replaced, since its macro could not be read, is none of OpenMP's either.
pub(super) fn refuse(plans: &mut [Plan], context: &Program<'_>) {
    if !plans.iter().any(|plan| matches!(plan.decision, Decision::Apply(_))) {
        return;
    }
    let macros = macros(context);
    if macros.is_empty() {
        return;
    }
    for plan in plans.iter_mut().filter(|plan| matches!(plan.decision, Decision::Apply(_))) {
        let unread =
            unread_word(context, plan.extent, &macros).map(|word| (word, "the compiler replaces in a directive here"));
        let written = || Some((hidden_word(context, plan, &macros)?, "would be replaced in what is to be written"));
        let Some((word, what)) = unread.or_else(written) else { continue };
        let message = format!("`{word}` is a macro, which {what}");
        let place = definition(context, &word).unwrap_or(plan.span);
        plan.refuse(Reason::new(ReasonCode::MacroDirective, plan.span, message).with_label(place, "here"));
    }
}

/// A macro that stands as a word of OpenMP in a directive of the original.
fn unread_word(context: &Program<'_>, extent: Span, macros: &BTreeSet<String>) -> Option<String> {
    context.constructs.within(extent).find_map(|(_, directive)| {
        let text = context.file.show(directive.span);
        words(&text).find(|word| macros.contains(*word) && is_of_output(word)).map(str::to_owned)
    })
}

/// The names of the macros of the file, of its project's headers and of the compiler's flags.
pub(super) fn macros(context: &Program<'_>) -> BTreeSet<String> {
    let name = |file: &SourceFile, span: Span| file.show(span).into_owned();
    let own = context.scan.definitions.iter().map(|it| name(context.file, it.name));
    let of_headers = context.compilation.headers.iter().flat_map(|header| {
        let definitions = source::scan(&header.text).definitions;
        definitions.into_iter().map(|it| name(header, it.name))
    });
    let of_flags =
        context.compilation.definitions.iter().filter(|flag| flag.body.is_some()).map(|flag| flag.name.clone());
    own.chain(of_headers).chain(of_flags).collect()
}

fn definition(context: &Program<'_>, word: &str) -> Option<Span> {
    let mut own = context.scan.definitions.iter();
    own.find(|it| context.file.show(it.name) == word).map(|it| it.name)
}

fn hidden_word(context: &Program<'_>, plan: &Plan, macros: &BTreeSet<String>) -> Option<String> {
    let has = |span: Span, word: &str| words(&context.file.show(span)).any(|own| own == word);
    // Around the call of a function its directives are told once more, of which `hoist` asks whether macros mean the same in both places.
    let told = |word: &str| {
        plan.pass == Pass::Hoist && context.constructs.directives.iter().any(|directive| has(directive.span, word))
    };
    let is_hidden =
        |word: &&str| macros.contains(*word) && (is_of_output(word) || !has(plan.extent, word) && !told(word));
    plan.edits.iter().find_map(|edit| {
        let code = without_comments(&edit.text);
        let is_include = code.trim_start().starts_with("#include");
        words(&code).filter(|_| !is_include).find(is_hidden).map(str::to_owned)
    })
}

/// Is it a word of directives, or of the code that is written beside them?
fn is_of_output(word: &str) -> bool {
    // Such names mean what the header of pipelines declares.
    MODIFIERS.contains(&word)
        || word.starts_with("ompsplit_")
        || ClauseName::of_name(word) != ClauseName::Unknown
        || DirectiveSpec::has_word(word)
}
