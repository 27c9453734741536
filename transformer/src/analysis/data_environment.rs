//! The device data environment of a target region: which variables it names, and what each is in it.

use std::collections::BTreeMap;

use crate::region::construct::ConstructTree;
use crate::region::target::TargetRegion;
use crate::semantics::symbols::{DeclaredType, NameKind, Symbols};
use crate::semantics::uses::{Role, uses_below};
use crate::source::{SourceFile, Span};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{Clause, ClauseName, HostTree};

/// How a variable comes to be in the data environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A clause of the target construct names it.
    Explicit,
    /// The rules for variables that no clause names (OpenMP 5.2, section 5.8.1).
    Implicit,
}

/// What the device has of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// A corresponding object, with the clause's words or the implicit map type: `map(to: a[0:n])`.
    Mapped(String),
    /// A copy of the host's value.
    Firstprivate,
    /// An object without a value.
    Private,
    /// A pointer with an implicit map of no elements: it gets the device address if the data it points to are present.
    PointerTranslated,
    /// An address that is valid on the device (`is_device_ptr`, `has_device_addr`).
    DeviceAddress,
    /// Not known, because the type of the variable is not known.
    Unknown,
}

/// One variable of a data environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The variable.
    pub name: String,
    /// Its declared type; `Unknown` if no declaration is found.
    pub ty: DeclaredType,
    /// What the device has of it.
    pub treatment: Treatment,
    /// How it came into the data environment.
    pub origin: Origin,
    /// The clause's item, or the first use.
    pub span: Span,
}

/// The data environment of a target region, the variables in the order of their names. `defaultmap` is not followed; the
/// variables of called functions, and those declared inside the region, are left out.
#[must_use]
pub fn data_environment(
    file: &SourceFile,
    tree: &HostTree,
    constructs: &ConstructTree,
    symbols: &Symbols<'_>,
    region: &TargetRegion,
) -> Vec<Entry> {
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    for id in &region.chain.constructs {
        let construct = constructs.construct(*id);
        if !construct.leaves.contains(&Leaf::Target) {
            continue;
        }
        for clause in &constructs.directive(*id).clauses {
            explicit(file, symbols, clause, &mut entries);
        }
    }
    let Some(body) = constructs.construct(region.chain.innermost()).body else { return Vec::new() };
    for used in uses_below(file, tree, body) {
        let Some(variable) = symbols.lookup(&used.name, used.span.start) else { continue };
        let inside = variable.id().is_within(tree.span(body));
        let counts = variable.kind == NameKind::Variable && !inside && used.role != Role::Declaration;
        if counts && !entries.contains_key(&used.name) {
            let treatment = implicit(&variable.ty);
            let entry = Entry {
                name: used.name.clone(),
                ty: variable.ty.clone(),
                treatment,
                origin: Origin::Implicit,
                span: used.span,
            };
            entries.insert(used.name, entry);
        }
    }
    entries.into_values().collect()
}

fn explicit(file: &SourceFile, symbols: &Symbols<'_>, clause: &Clause, into: &mut BTreeMap<String, Entry>) {
    for item in clause.items() {
        let Some(name) = item.base.clone() else { continue };
        let modifiers: Vec<&str> = clause.modifiers.iter().map(|modifier| modifier.name.as_str()).collect();
        let kind = if modifiers.is_empty() { "tofrom".to_owned() } else { modifiers.join(", ") };
        let treatment = match clause.name {
            ClauseName::Map => Treatment::Mapped(format!("map({kind}: {})", file.show(item.span))),
            ClauseName::Firstprivate => Treatment::Firstprivate,
            ClauseName::Private => Treatment::Private,
            ClauseName::IsDevicePtr | ClauseName::HasDeviceAddr => Treatment::DeviceAddress,
            // Items of a reduction on a combined target construct are mapped (OpenMP 5.2, section 5.8.3).
            ClauseName::Reduction => Treatment::Mapped(format!("map(tofrom: {name})")),
            _ => continue,
        };
        let ty = symbols.lookup(&name, item.span.start).map_or(DeclaredType::Unknown, |variable| variable.ty.clone());
        into.entry(name.clone()).or_insert(Entry { name, ty, treatment, origin: Origin::Explicit, span: item.span });
    }
}

/// The rule for a variable that no clause names.
fn implicit(ty: &DeclaredType) -> Treatment {
    match ty {
        DeclaredType::Scalar { .. } | DeclaredType::TypeParameter { .. } => Treatment::Firstprivate,
        DeclaredType::Pointer { .. } | DeclaredType::ArrayParameter { .. } => Treatment::PointerTranslated,
        DeclaredType::Array { .. } | DeclaredType::Record { .. } => Treatment::Mapped("map(tofrom)".to_owned()),
        DeclaredType::Reference { to } => implicit(to),
        _ => Treatment::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::association::associate;
    use crate::region::target::target_regions;
    use crate::source::scan;
    use crate::syntax::Limits;
    use crate::syntax::lower::DirectiveReader;

    fn environment(text: &str) -> Vec<(String, Treatment, Origin)> {
        let file = SourceFile::new("t.c", text.as_bytes().to_vec());
        let scan = scan(&file.text);
        let tree = HostTree::parse(&file, &scan, &Limits::default()).unwrap();
        let mut reader = DirectiveReader::new();
        let directives = scan.directives.iter().map(|text| reader.read(&file, text)).collect();
        let constructs = associate(&file, &scan, &tree, directives);
        let symbols = Symbols::new(&file, &tree, &[]);
        let regions = target_regions(&tree, &constructs);
        data_environment(&file, &tree, &constructs, &symbols, &regions[0])
            .into_iter()
            .map(|entry| (entry.name, entry.treatment, entry.origin))
            .collect()
    }

    #[test]
    fn each_type_has_its_rule() {
        let found = environment(
            "struct s { int x; };\nvoid f(int n, double *p, int row[10], double *q) {\n  double a[8]; struct s r;\n\
             #pragma omp target map(to: q[0:n]) private(r)\n  { int own = n; p[0] = a[own] + row[0] + q[0]; r.x = 1; }\n}\n",
        );
        let expected = [
            ("a", Treatment::Mapped("map(tofrom)".to_owned()), Origin::Implicit),
            ("n", Treatment::Firstprivate, Origin::Implicit),
            ("p", Treatment::PointerTranslated, Origin::Implicit),
            ("q", Treatment::Mapped("map(to: q[0:n])".to_owned()), Origin::Explicit),
            ("r", Treatment::Private, Origin::Explicit),
            ("row", Treatment::PointerTranslated, Origin::Implicit),
        ];
        assert_eq!(found, expected.map(|(name, treatment, origin)| (name.to_owned(), treatment, origin)));
    }
}
