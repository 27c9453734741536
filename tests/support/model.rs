//! What the tool reads of a program's names, held to what clang says of the same bytes.

use std::collections::BTreeMap;
use std::path::Path;

use ompsplit::semantics::symbols::{DeclaredType, NameKind, ScalarKind, Scope, Symbols, Variable};
use ompsplit::semantics::uses::{Role, uses_below};
use ompsplit::source::{SourceFile, scan};
use ompsplit::syntax::{HostTree, Limits, NodeId};
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
    if let Some(size) = size(clang) {
        report.note("size", place, size_if(here, is_told), size);
    }
    // A reference has no qualifiers of its own.
    report.note("qualifier", place, is_told.then(|| qualifiers(here)), qualifiers(clang));
    lengths(report, place, here, clang);
}

fn size_if(ty: &DeclaredType, is_told: bool) -> Option<i64> {
    is_told.then(|| size(ty)).flatten()
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
        DeclaredType::Scalar { kind, name, .. } => scalar(*kind, name)
            .map_or_else(|| format!("{kind:?}"), |(bits, signed)| format!("{kind:?} {bits} {signed}")),
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
    (ty.is_const(), matches!(element, DeclaredType::Scalar { is_volatile: true, .. }))
}

/// The size in bytes, where the type alone tells it.
fn size(ty: &DeclaredType) -> Option<i64> {
    match ty {
        DeclaredType::Scalar { kind, name, .. } => Some(scalar(*kind, name)?.0 / 8),
        DeclaredType::Pointer { .. } | DeclaredType::ArrayParameter { .. } => Some(8),
        DeclaredType::Array { element, dimensions, .. } => {
            dimensions.iter().try_fold(size(element)?, |size, dimension| size.checked_mul(dimension.value?))
        }
        _ => None,
    }
}

/// The bits of a number on x86-64, and whether it has a sign; none for enumerations and complex numbers.
fn scalar(kind: ScalarKind, name: &str) -> Option<(i64, bool)> {
    let words: Vec<&str> = name.split_whitespace().collect();
    let has = |word: &str| words.contains(&word);
    if kind == ScalarKind::Bool {
        return Some((8, false));
    }
    if kind == ScalarKind::Floating {
        return match words.as_slice() {
            ["float" | "float_t" | "_Float32"] => Some((32, true)),
            ["double" | "double_t" | "_Float64"] => Some((64, true)),
            ["long", "double"] | ["double", "long"] | ["__float128"] => Some((128, true)),
            ["_Float16" | "__fp16"] => Some((16, true)),
            _ => None,
        };
    }
    if let [name] = words.as_slice()
        && let Some(found) = named_integer(name)
    {
        return Some(found);
    }
    let known = ["signed", "unsigned", "char", "short", "int", "long", "__int128"];
    if words.is_empty() || !words.iter().all(|word| known.contains(word)) {
        return None;
    }
    let bits = match () {
        () if has("__int128") => 128,
        () if has("long") => 64,
        () if has("short") => 16,
        () if has("char") => 8,
        () => 32,
    };
    Some((bits, !has("unsigned")))
}

fn named_integer(name: &str) -> Option<(i64, bool)> {
    match name {
        "size_t" | "uintptr_t" | "uintmax_t" | "uint64_t" | "ulong" => Some((64, false)),
        "ssize_t" | "ptrdiff_t" | "intptr_t" | "intmax_t" | "int64_t" | "off_t" | "time_t" | "clock_t" => {
            Some((64, true))
        }
        "int8_t" => Some((8, true)),
        "uint8_t" | "char8_t" => Some((8, false)),
        "int16_t" => Some((16, true)),
        "uint16_t" | "char16_t" | "ushort" => Some((16, false)),
        "int32_t" | "wchar_t" | "pid_t" => Some((32, true)),
        "uint32_t" | "char32_t" | "uint" => Some((32, false)),
        "__int128_t" => Some((128, true)),
        "__uint128_t" => Some((128, false)),
        _ => None,
    }
}
