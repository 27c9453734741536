//! What the tool reads of a program's names, held to what clang says of the same bytes.

use std::collections::BTreeMap;
use std::path::Path;

use ompsplit::semantics::symbols::{DeclaredType, NameKind, Scope, Symbols, Variable};
use ompsplit::semantics::uses::{Role, uses_below};
use ompsplit::source::{SourceFile, scan};
use ompsplit::syntax::{HostTree, Integer, Limits, NodeId};
use ompsplit::validate::clang::facts;

/// For each kind of answer: how many are the same, not known to the tool, and different.
pub type Counts = BTreeMap<&'static str, [usize; 3]>;

/// What a comparison found.
#[derive(Default)]
pub struct Report {
    pub counts: Counts,
    /// File, line, column and both answers.
    pub different: Vec<String>,
    /// The files that are not compared, because clang reports an error there.
    pub rejected: Vec<String>,
}

impl Report {
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        for (kind, counts) in other.counts {
            let sums = self.counts.entry(kind).or_default();
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        self.different.extend(other.different);
        self.rejected.extend(other.rejected);
        self
    }

    fn note<T: PartialEq + std::fmt::Debug>(&mut self, kind: &'static str, place: &str, here: Option<T>, clang: T) {
        let counts = self.counts.entry(kind).or_default();
        match here {
            Some(here) if here == clang => counts[0] += 1,
            None => counts[1] += 1,
            Some(here) => {
                counts[2] += 1;
                self.different.push(format!("{place}: {kind}: {here:?} here, {clang:?} in clang"));
            }
        }
    }
}

/// Compares all uses and declarations of names in a file.
pub fn compare(path: &Path, text: Vec<u8>, flags: &[String]) -> Report {
    let mut report = Report::default();
    let known = match facts(path, &text, flags) {
        Ok(known) => known,
        Err(error) => return Report { rejected: vec![format!("{}: {error}", path.display())], ..report },
    };
    let file = SourceFile::new(path, text);
    let Ok(tree) = HostTree::parse(&file, &scan(&file.text), &Limits::default()) else { return report };
    let symbols = Symbols::new(&file, &tree, &[]);
    let conditionals = scan(&file.text).conditionals;
    for found in uses_below(&file, &tree, tree.root()) {
        let start = found.span.start;
        // clang sees one branch, the tool all of them.
        let is_chosen = |at: usize| conditionals.iter().any(|group| group.span.start <= at && at < group.span.end);
        let is_declaration = found.role == Role::Declaration;
        let to = if is_declaration { Some(Some(start)) } else { known.uses.get(&start).copied() };
        let Some(to) = to.filter(|to| !is_chosen(start) && !to.is_some_and(is_chosen)) else { continue };
        let at = file.lines.line_column(start);
        let place = format!("{}:{}:{}: `{}`", path.display(), at.line, at.column, found.name);
        if found.role == Role::Callee {
            callee(&mut report, &place, &symbols, &found.name, start, to);
        }
        let Some((to, declared)) = to.and_then(|to| Some((to, known.declarations.get(&to)?))) else { continue };
        let look_at = if is_declaration { declared_from(&tree, found.node) } else { start };
        let variable = symbols.lookup(&found.name, look_at).filter(|it| it.kind == NameKind::Variable);
        storage(&mut report, &place, variable.as_ref(), to, declared.is_local);
        let ty = variable.map_or(DeclaredType::Unknown, |variable| variable.ty);
        types(&mut report, &place, &ty, &declared.ty);
    }
    report
}

/// A name is visible behind its whole declarator (C17, section 6.2.1).
fn declared_from(tree: &HostTree, node: NodeId) -> usize {
    let around = tree.ancestors(node).take_while(|node| tree.kind(*node).is_declarator());
    around.last().map_or_else(|| tree.span(node).end, |whole| tree.span(whole).end)
}

/// Where it lives, and for what is declared in functions, by which declaration.
fn storage(report: &mut Report, place: &str, here: Option<&Variable>, to: usize, is_local: bool) {
    let of_model = |variable: &Variable| {
        let is_local = matches!(variable.scope, Scope::Local | Scope::Parameter);
        (is_local, is_local.then_some(variable.declared_at.start))
    };
    report.note("storage", place, here.map(of_model), (is_local, is_local.then_some(to)));
}

/// The function that runs, where its body is in sight.
fn callee(report: &mut Report, place: &str, symbols: &Symbols<'_>, name: &str, at: usize, to: Option<usize>) {
    let is_function = !symbols.is_variable_in(None, name, at) && symbols.calls_function_in(None, name, at);
    let definitions = if is_function { symbols.function_definitions(name) } else { Vec::new() };
    // clang may name the prototype before the definition; both are in the file.
    let is_here = (!definitions.is_empty()).then_some(true);
    report.note("callee", place, is_here, to.is_some());
}

fn types(report: &mut Report, place: &str, here: &DeclaredType, clang: &DeclaredType) {
    if !clang.is_known() {
        return;
    }
    let is_told = here.is_known() && here.as_type_parameter().is_none();
    report.note("type", place, is_told.then(|| shape(here)), shape(clang));
    if let Some(bytes) = clang.bytes() {
        report.note("size", place, Some(here).filter(|_| is_told).and_then(DeclaredType::bytes), bytes);
    }
    // A reference has no qualifiers of its own.
    report.note("qualifier", place, is_told.then(|| qualifiers(here)), qualifiers(clang));
    lengths(report, place, here, clang);
}

/// The constant lengths of an array.
fn lengths(report: &mut Report, place: &str, here: &DeclaredType, clang: &DeclaredType) {
    let DeclaredType::Array { dimensions: of_clang, .. } = clang else { return };
    let of_model = match here {
        DeclaredType::Array { dimensions, .. } => dimensions.as_slice(),
        _ => &[],
    };
    for (index, length) in of_clang.iter().enumerate() {
        if let Some(value) = length.value {
            report.note("constant", place, of_model.get(index).and_then(|it| it.value), value);
        }
    }
}

/// A type without qualifiers, in a form in which both sides write it alike.
fn shape(ty: &DeclaredType) -> String {
    match ty {
        DeclaredType::Scalar { number, .. } => match number.integer() {
            Some(Integer { bits, signed }) => format!("integer of {bits} bits, signed {signed}"),
            None if number.is_enumeration() => "enumeration".to_owned(),
            None => format!("{number:?}"),
        },
        DeclaredType::TypeParameter { name, .. } => name.clone(),
        DeclaredType::Array { element, dimensions, .. } => format!("{} array of {}", dimensions.len(), shape(element)),
        DeclaredType::ArrayParameter { element, dimensions } if dimensions.len() > 1 => {
            format!("pointer to {} array of {}", dimensions.len() - 1, shape(element))
        }
        DeclaredType::ArrayParameter { element, .. } => format!("pointer to {}", shape(element)),
        DeclaredType::Pointer { pointee, .. } => format!("pointer to {}", shape(pointee)),
        DeclaredType::Reference { to } => format!("reference to {}", shape(to)),
        DeclaredType::Record { .. } => "record".to_owned(),
        DeclaredType::Function { .. } => "function".to_owned(),
        DeclaredType::Void => "void".to_owned(),
        DeclaredType::Auto | DeclaredType::Unknown => "unknown".to_owned(),
    }
}

fn qualifiers(ty: &DeclaredType) -> (bool, bool) {
    let element = match ty {
        DeclaredType::Array { element, .. } => element,
        other => other,
    };
    (ty.is_const(), element.is_volatile())
}
