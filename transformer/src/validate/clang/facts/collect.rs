//! From the nodes of clang's tree to facts.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::json::{Node, Place, Referenced, Visitor, WrittenType};
use super::macros::Macros;
use crate::semantics::calls::is_pure;
use crate::semantics::facts::{Declared, Facts, Outside, TypeNames};
use crate::semantics::symbols::{DeclaredType, NameKind};

/// A declaration outside of the file that a name may refer to.
#[derive(Default, Deserialize, Serialize)]
struct Foreign {
    is_static: bool,
    is_constexpr: bool,
    /// Is it `threadprivate` or on the device, so that OpenMP treats it in a special way?
    is_special: bool,
}

/// The declarations that all uses of one name in the file refer to.
#[derive(Deserialize, Serialize)]
struct Reference {
    ids: BTreeSet<String>,
    found: Referenced,
}

/// A template whose declaration is being read.
#[derive(Default)]
struct Template {
    depth: usize,
    /// Where the names of its parameters start.
    parameters: Vec<Option<usize>>,
    names: Vec<String>,
    /// How many functions or classes were read in it: the first is the template itself.
    read: usize,
}

/// A function or class made from a template, and the index of its next argument.
struct Instance {
    depth: usize,
    arguments: usize,
}

/// What a name of a type is declared to be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
enum TypeName {
    Alias(String, String),
    Record(String),
    Enumeration(String),
    Parameter(String),
}

/// What the tree says, as written there.
#[derive(Default, Deserialize, Serialize)]
pub(super) struct Found {
    names: BTreeSet<TypeName>,
    declared: BTreeMap<usize, (Option<WrittenType>, bool)>,
    foreign: BTreeMap<String, Foreign>,
    uses: BTreeMap<usize, BTreeSet<Option<usize>>>,
    references: BTreeMap<String, Reference>,
    arguments: BTreeMap<usize, Vec<Option<WrittenType>>>,
}

/// Follows the tree.
pub(super) struct Collector<'t> {
    text: &'t [u8],
    /// How many bytes were put before the text for the compiler.
    shift: (usize, usize),
    /// The kinds and ids of the nodes that are being read.
    open: Vec<(String, String)>,
    functions: usize,
    templates: Vec<Template>,
    instances: Vec<Instance>,
    /// Where the declarations in the file are, by their ids.
    places: BTreeMap<String, usize>,
    found: Found,
}

impl<'t> Collector<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self {
            text,
            shift: (0, 0),
            open: Vec::new(),
            functions: 0,
            templates: Vec::new(),
            instances: Vec::new(),
            places: BTreeMap::new(),
            found: Found::default(),
        }
    }

    /// Sets how many bytes were put before the text for the compiler, and how many of its own were left out.
    pub(super) fn start(&mut self, shift: (usize, usize)) {
        self.shift = shift;
    }

    /// The byte of the text at a place that does not come from a macro.
    fn byte(&self, place: Place) -> Option<usize> {
        let offset = place.offset.filter(|_| place.in_file && !place.in_macro)?;
        Some(offset.checked_sub(self.shift.0)? + self.shift.1)
    }

    fn declaration(&mut self, node: &Node) {
        let Some(at) = self.byte(node.loc) else { return self.foreign(node) };
        self.places.insert(node.id.clone(), at);
        let is_variable = matches!(node.kind.as_str(), "VarDecl" | "ParmVarDecl" | "FieldDecl");
        if !is_variable || node.is_implicit || node.name.is_empty() || !self.instances.is_empty() {
            return;
        }
        let named =
            |template: &Template| template.names.iter().any(|name| words(&node.ty.written).any(|word| word == name));
        let ty = (!self.templates.iter().any(named)).then(|| node.ty.clone());
        let is_local = self.functions > 0;
        self.found
            .declared
            .entry(at)
            .and_modify(|(known, _)| {
                if *known != ty {
                    *known = None;
                }
            })
            .or_insert((ty, is_local));
    }

    fn foreign(&mut self, node: &Node) {
        if self.functions > 0 || node.kind == "FieldDecl" || node.kind == "ParmVarDecl" {
            return;
        }
        let foreign = Foreign {
            is_static: node.storage == "static",
            is_constexpr: node.is_constexpr,
            is_special: node.is_thread_local,
        };
        self.found.foreign.insert(node.id.clone(), foreign);
    }

    /// A name of a type.
    fn type_name(&mut self, node: &Node) {
        if node.name.is_empty() {
            return;
        }
        match node.kind.as_str() {
            "TypedefDecl" | "TypeAliasDecl" if self.templates.is_empty() => {
                self.name(TypeName::Alias(node.name.clone(), node.ty.written.clone()));
            }
            "TypedefDecl" | "TypeAliasDecl" | "TypeAliasTemplateDecl" => {
                self.name(TypeName::Parameter(node.name.clone()));
            }
            "RecordDecl" | "CXXRecordDecl" => self.name(TypeName::Record(node.name.clone())),
            "EnumDecl" => self.name(TypeName::Enumeration(node.name.clone())),
            _ => {}
        }
    }

    fn name(&mut self, name: TypeName) {
        self.found.names.insert(name);
    }

    fn use_of(&mut self, node: &Node) {
        let Some(found) = &node.referenced else { return };
        let known = ["VarDecl", "ParmVarDecl", "EnumConstantDecl", "FunctionDecl"];
        let at = self.byte(node.begin);
        // A qualified name begins with its qualifiers.
        let is_named = |at| self.text.get(at..).is_some_and(|rest| rest.starts_with(found.name.as_bytes()));
        let is_plain = node.begin.in_macro || (node.begin.length == found.name.len() && at.is_some_and(is_named));
        if !known.contains(&found.kind.as_str()) || !node.begin.in_file || !is_plain {
            return;
        }
        let to = self.places.get(&found.id).copied();
        if let Some(at) = at {
            self.found.uses.entry(at).or_default().insert(to);
        }
        if to.is_none() {
            let new = || Reference { ids: BTreeSet::new(), found: found.clone() };
            self.found.references.entry(found.name.clone()).or_insert_with(new).ids.insert(found.id.clone());
        }
    }

    /// The parameters and instances of templates.
    fn template(&mut self, node: &Node) {
        let depth = self.open.len();
        let at = self.byte(node.loc);
        match node.kind.as_str() {
            "FunctionTemplateDecl" | "ClassTemplateDecl" => {
                self.templates.push(Template { depth, ..Template::default() });
            }
            "TemplateTypeParmDecl" | "NonTypeTemplateParmDecl" | "TemplateTemplateParmDecl" => {
                if let Some(template) = self.templates.last_mut().filter(|template| template.depth + 1 == depth) {
                    template.parameters.push(at);
                    template.names.push(node.name.clone());
                }
                self.name(TypeName::Parameter(node.name.clone()));
            }
            "FunctionDecl" | "CXXMethodDecl" | "CXXRecordDecl" | "ClassTemplateSpecializationDecl" => {
                let Some(template) = self.templates.last_mut().filter(|template| template.depth + 1 == depth) else {
                    return;
                };
                template.read += 1;
                if template.read > 1 {
                    self.instances.push(Instance { depth, arguments: 0 });
                }
            }
            "TemplateArgument" => {
                let Some(instance) = self.instances.last_mut().filter(|instance| instance.depth + 1 == depth) else {
                    return;
                };
                let index = instance.arguments;
                instance.arguments += 1;
                let parameter =
                    self.templates.last().and_then(|template| template.parameters.get(index).copied()).flatten();
                if let Some(at) = parameter {
                    let ty = Some(node.ty.clone()).filter(|ty| !ty.written.is_empty());
                    self.found.arguments.entry(at).or_default().push(ty);
                }
            }
            _ => {}
        }
    }

    /// What was found. Of declarations outside of the file only those count that it uses.
    pub(super) fn finish(self) -> Found {
        let mut found = self.found;
        let used: BTreeSet<&String> = found.references.values().flat_map(|reference| &reference.ids).collect();
        found.foreign.retain(|id, _| used.contains(id));
        found
    }
}

impl Found {
    /// The facts about a text, with the macros that the preprocessor knows. Is it of a header, whose templates others use too?
    pub(super) fn facts(&self, text: &[u8], is_header: bool, macros: Macros) -> Facts {
        let names = &self.type_names();
        let declared = self.declared.iter().map(|(at, (ty, is_local))| {
            let ty = ty.as_ref().map_or(DeclaredType::Unknown, |ty| read(names, ty));
            (*at, Declared { ty, is_local: *is_local })
        });
        let only = |all: &BTreeSet<Option<usize>>| all.first().copied().filter(|_| all.len() == 1);
        let uses = self.uses.iter().filter_map(|(at, all)| Some((*at, only(all)?)));
        let is_arithmetic = |ty: &Option<WrittenType>| {
            let ty = ty.as_ref().map(|ty| read(names, ty)).filter(|ty| !ty.is_volatile());
            ty.is_some_and(|ty| ty.number().is_some_and(|number| !number.is_enumeration()))
        };
        let arithmetic = self.arguments.iter().filter(|(_, all)| !is_header && all.iter().all(is_arithmetic));
        Facts {
            declarations: declared.collect(),
            uses: uses.collect(),
            outside: self.outside(text, names, &macros),
            arithmetic: arithmetic.map(|(at, _)| *at).collect(),
            redefined: macros.names.iter().filter(|name| is_keyword(name)).cloned().collect(),
            // A macro whose name is used as if it were declared stays unknown: `isnan` is a macro of C's `math.h`.
            macros: macros.known.into_iter().filter(|(name, _)| !is_keyword(name) && !is_pure(name)).collect(),
        }
    }

    fn type_names(&self) -> TypeNames {
        let mut names = TypeNames::default();
        for name in &self.names {
            match name {
                TypeName::Alias(name, ty) => names.alias(name, ty),
                TypeName::Record(name) => names.record(name),
                TypeName::Enumeration(name) => names.enumeration(name),
                TypeName::Parameter(name) => names.parameter(name),
            }
        }
        names
    }

    /// The names of declarations outside of the file, without those that are macros anywhere or have several meanings.
    fn outside(&self, text: &[u8], names: &TypeNames, macros: &Macros) -> BTreeMap<String, Outside> {
        let types = names.alias_names().filter_map(|name| {
            let ty = names.alias_type(name)?;
            let is_used = memchr::memmem::find(text, name.as_bytes()).is_some();
            let outside = Outside { kind: NameKind::Type, ty, is_static: false, is_constexpr: false };
            is_used.then(|| (name.to_owned(), outside))
        });
        let values = self.references.iter().filter_map(|(name, reference)| {
            let id = reference.ids.first().filter(|_| reference.ids.len() == 1)?;
            let foreign = self.foreign.get(id).filter(|foreign| !foreign.is_special)?;
            let ty = read(names, &reference.found.ty);
            let kind = match reference.found.kind.as_str() {
                "VarDecl" if ty.is_known() => NameKind::Variable,
                "EnumConstantDecl" => NameKind::Enumerator,
                // Only the body of a function tells more about it.
                _ => return None,
            };
            let Foreign { is_static, is_constexpr, .. } = *foreign;
            Some((name.clone(), Outside { kind, ty, is_static, is_constexpr }))
        });
        types.chain(values).filter(|(name, _)| !macros.names.contains(name)).collect()
    }
}

impl Visitor for Collector<'_> {
    fn enter(&mut self, node: &Node) {
        self.open.push((node.kind.clone(), node.id.clone()));
        let kind = node.kind.as_str();
        self.template(node);
        match kind {
            "VarDecl" | "ParmVarDecl" | "FieldDecl" | "EnumConstantDecl" => self.declaration(node),
            "FunctionDecl" | "CXXMethodDecl" => self.declaration(node),
            "DeclRefExpr" => self.use_of(node),
            _ => self.type_name(node),
        }
        if is_function(kind) {
            self.functions += 1;
        }
        if kind.starts_with("OMP") && kind.ends_with("Attr") {
            let parent = self.open.iter().rev().nth(1).map(|(_, id)| id.as_str()).unwrap_or_default();
            if let Some(foreign) = self.found.foreign.get_mut(parent) {
                foreign.is_special = true;
            }
        }
    }

    fn leave(&mut self) {
        let depth = self.open.len();
        if let Some((kind, _)) = self.open.pop() {
            self.functions -= usize::from(is_function(&kind));
        }
        self.templates.pop_if(|template| template.depth == depth);
        self.instances.pop_if(|instance| instance.depth == depth);
    }
}

fn is_function(kind: &str) -> bool {
    let all =
        ["FunctionDecl", "CXXMethodDecl", "CXXConstructorDecl", "CXXDestructorDecl", "CXXConversionDecl", "LambdaExpr"];
    all.contains(&kind) || kind == "CapturedDecl"
}

/// Is it a keyword that changes the meaning of a statement?
fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

const KEYWORDS: &[&str] = &[
    "auto",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "constexpr",
    "continue",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "float",
    "for",
    "goto",
    "if",
    "int",
    "long",
    "namespace",
    "new",
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
    "throw",
    "try",
    "typedef",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
];

/// Reads a type by its own words; if they say too little, with its typedef resolved.
fn read(names: &TypeNames, ty: &WrittenType) -> DeclaredType {
    let found = names.read(&ty.written);
    match &ty.seen_through {
        Some(text) if !found.is_known() => names.read(text),
        _ => found,
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}
