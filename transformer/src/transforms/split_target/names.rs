//! What the names of a file stand for, as far as a split needs to know.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

mod bindings;
mod classes;
mod functions;
mod host_values;
mod kinds;
mod lambdas;
mod lvalues;
mod macros;
mod plain_uses;
mod storage;
mod value_uses;

use crate::analysis::calls::Calls;
use crate::analysis::symbols::{DeclaredType, NameKind, Scope, Symbols};
use crate::analysis::uses::Use;
use crate::plan::{Reason, ReasonCode};
use crate::region::loop_nest::canonical_nest;
use crate::region::target::TargetRegion;
use crate::source::{Span, words};
use crate::syntax::{Field, NodeId, NodeKind};
use crate::transforms::Context;

pub(in crate::transforms) use self::kinds::{Class, Kind};

pub(in crate::transforms) use self::macros::is_standard_constant;

/// The names of one file.
pub(in crate::transforms) struct Names<'a> {
    pub cx: &'a Context<'a>,
    symbols: Symbols<'a>,
    calls: Calls<'a>,
    /// Names in `threadprivate` directives.
    threadprivate: BTreeSet<String>,
    /// Names in `declare target` directives, and the ranges that such directives enclose.
    declare_target: BTreeSet<String>,
    device_ranges: Vec<Span>,
    /// What `declare variant` directives stand before or enclose.
    variant_ranges: Vec<Span>,
    address_taken: OnceCell<BTreeSet<String>>,
    file_uses: OnceCell<Vec<Use>>,
    /// The names given out for new constants.
    fresh: RefCell<BTreeSet<String>>,
    /// Which classes are like numbers, as far as asked.
    value_classes: RefCell<BTreeMap<String, bool>>,
}

impl<'a> Names<'a> {
    pub(in crate::transforms) fn new(cx: &'a Context<'a>) -> Self {
        let symbols = cx.symbols();
        let calls = Calls::new(cx.file, cx.tree, cx.constructs, cx.headers);
        let mut names = Self {
            cx,
            symbols,
            calls,
            threadprivate: BTreeSet::new(),
            declare_target: BTreeSet::new(),
            device_ranges: Vec::new(),
            variant_ranges: Vec::new(),
            address_taken: OnceCell::new(),
            file_uses: OnceCell::new(),
            fresh: RefCell::default(),
            value_classes: RefCell::default(),
        };
        names.read_declarations();
        names
    }

    /// `threadprivate` and `declare target` directives.
    fn read_declarations(&mut self) {
        // Blocks may stand in each other; where ends are missing, the rest of the file belongs to them.
        let mut open: Vec<usize> = Vec::new();
        for directive in &self.cx.constructs.directives {
            let listed = directive.argument.map(|span| self.words(span)).unwrap_or_default();
            match directive.name.as_str() {
                "threadprivate" => self.threadprivate.extend(listed),
                "declare target" if directive.argument.is_none() && directive.clauses.is_empty() => {
                    open.push(directive.span.start);
                }
                "begin declare target" => open.push(directive.span.start),
                "end declare target" => {
                    self.device_ranges.extend(open.pop().map(|start| Span::new(start, directive.span.end)));
                }
                "declare target" => {
                    self.declare_target.extend(listed);
                    let items = directive.clauses.iter().flat_map(|clause| clause.items());
                    self.declare_target.extend(items.filter_map(|item| item.base.clone()));
                }
                _ => {}
            }
        }
        for construct in &self.cx.constructs.constructs {
            if self.cx.constructs.directives[construct.directive].name.ends_with("declare variant") {
                self.variant_ranges.push(construct.body_span);
            }
        }
        let end = self.cx.file.text.len();
        self.device_ranges.extend(open.into_iter().map(|start| Span::new(start, end)));
    }

    fn words(&self, span: Span) -> Vec<String> {
        self.cx.file.show(span).split(',').map(|word| word.trim().to_owned()).collect()
    }

    /// Does the file have thread-private variables?
    pub(in crate::transforms) fn has_threadprivate(&self) -> bool {
        !self.threadprivate.is_empty()
    }

    /// Is it named in a `threadprivate` directive?
    pub(in crate::transforms) fn is_threadprivate(&self, name: &str) -> bool {
        self.threadprivate.contains(name)
    }

    /// Is the variable one that lives on the device for the whole program? One declaration of several is enough.
    pub(in crate::transforms) fn is_declare_target(&self, name: &str) -> bool {
        self.declare_target.contains(name)
            || !self.device_ranges.is_empty() && self.symbols.is_declared_within(name, &self.device_ranges)
    }

    /// Where the name that is visible at byte `at` is declared, if in this file.
    pub(in crate::transforms) fn declared_at(&self, name: &str, at: usize) -> Option<Span> {
        self.symbols.lookup(name, at).filter(|variable| variable.header.is_none()).map(|variable| variable.declared_at)
    }

    /// What a name that stands at byte `at` is.
    pub(in crate::transforms) fn kind(&self, name: &str, at: usize) -> Kind {
        if name == "this" {
            return Kind::Struct;
        }
        if let Some(expanded) = self.expansion(name, at) {
            return expanded.map_or(Kind::Macro, |_| Kind::Constant);
        }
        let Some(variable) = self.symbols.lookup(name, at) else {
            return if is_standard_constant(name) { Kind::Constant } else { Kind::Unknown };
        };
        match variable.kind {
            NameKind::Enumerator => Kind::Constant,
            NameKind::Function => Kind::Function,
            NameKind::Variable if variable.is_static && variable.ty.is_const() => Kind::Constant,
            // A static member is a variable like those of a namespace.
            NameKind::Variable if variable.scope == Scope::Member && !variable.is_static => {
                // With its class before it, it may be a pointer to a member, or a member of a base.
                if name.contains("::") { Kind::Unknown } else { Kind::Member(Box::new(Kind::of_type(&variable.ty))) }
            }
            NameKind::TemplateParameter if variable.ty.is_scalar() && variable.ty.as_type_parameter().is_none() => {
                Kind::Constant
            }
            NameKind::Variable if is_deduced(&variable.ty) => self.kind_of_auto(&variable.declared_at),
            // The old way of declaring parameters, before the body: an array there is a pointer.
            NameKind::Variable if self.is_old_parameter(&variable.declared_at, variable.header) => Kind::Unknown,
            NameKind::Variable => Kind::of_type(&variable.ty),
            NameKind::Type | NameKind::TemplateParameter => Kind::Unknown,
        }
    }

    /// The declared type of the variable that is visible at byte `at`.
    pub(in crate::transforms) fn declared_type(&self, name: &str, at: usize) -> Option<DeclaredType> {
        self.symbols.lookup(name, at).map(|variable| variable.ty)
    }

    /// Is the name that is visible at byte `at` declared `const`?
    pub(in crate::transforms) fn is_const(&self, name: &str, at: usize) -> bool {
        self.symbols.lookup(name, at).is_some_and(|variable| variable.ty.is_const())
    }

    fn is_old_parameter(&self, declared_at: &Span, header: Option<usize>) -> bool {
        let tree = self.cx.tree;
        let node = tree.covering(*declared_at);
        let declaration =
            std::iter::once(node).chain(tree.ancestors(node)).find(|node| tree.kind(*node) == NodeKind::Declaration);
        let parent = declaration.and_then(|declaration| tree.parent(declaration));
        header.is_none() && parent.is_some_and(|parent| tree.kind(parent) == NodeKind::FunctionDefinition)
    }

    /// `auto` with an initialiser of operators, subscripts and calls that return numbers is of arithmetic type where its operands
    /// are; they are looked at as all other names of a loop are.
    fn kind_of_auto(&self, declared_at: &Span) -> Kind {
        if let Some(kind) = self.kind_of_range_variable(declared_at) {
            return kind;
        }
        let tree = self.cx.tree;
        let node = tree.covering(*declared_at);
        let declaration =
            std::iter::once(node).chain(tree.ancestors(node)).find(|n| tree.kind(*n) == NodeKind::InitDeclarator);
        let opaque = |node| match tree.kind(node) {
            NodeKind::LambdaExpression
            | NodeKind::InitializerList
            | NodeKind::PointerExpression
            | NodeKind::NewExpression => true,
            NodeKind::CallExpression => !self.returns_number(node),
            _ => false,
        };
        match declaration {
            Some(node) if !tree.descendants(node).any(opaque) => {
                Kind::Scalar { wide: true, class: Class::Any, builtin: true }
            }
            _ => Kind::Unknown,
        }
    }

    /// Is it the variable of a loop below `body` that does not declare it?
    pub(in crate::transforms) fn is_inner_loop_variable(&self, name: &str, body: NodeId) -> bool {
        let cx = self.cx;
        let loops = cx.tree.descendants(body).filter(|node| cx.tree.kind(*node) == NodeKind::ForStatement);
        let nests = loops.filter_map(|node| canonical_nest(cx.file, cx.tree, node, 1).ok());
        let mut variables = nests.flat_map(|nest| nest.loops);
        variables.any(|canonical| canonical.variable == name && !canonical.declared_in_loop)
    }

    /// Is the region in a function or construct that runs on the device, or in no function at all?
    pub(in crate::transforms) fn device_code(&self, region: &TargetRegion) -> Option<Reason> {
        let tree = self.cx.tree;
        let first = region.chain.constructs.first().copied()?;
        let span = self.cx.constructs.directive(first).span;
        let refuse = |message: &str| Some(Reason::new(ReasonCode::DeviceCode, span, message));
        let body = self.cx.constructs.construct(first).body?;
        if let Some(lambda) = tree.ancestors(body).find(|node| tree.kind(*node) == NodeKind::LambdaExpression) {
            let message = "the captures of the lambda around this construct are not followed";
            return Some(
                Reason::new(ReasonCode::HiddenCode, span, message).with_label(tree.span(lambda), "the lambda"),
            );
        }
        let mut functions = tree.ancestors(body).filter(|node| tree.kind(*node) == NodeKind::FunctionDefinition);
        let Some(function) = functions.next() else { return refuse("this construct stands in no function") };
        if self.device_ranges.iter().any(|range| range.contains(span)) {
            return refuse("the function is compiled for the device");
        }
        if self.function_name(function).is_some_and(|name| self.declare_target.contains(&name)) {
            return refuse("the function is named in a `declare target` directive");
        }
        let mut enclosing = std::iter::successors(self.cx.constructs.construct(first).parent, |id| {
            self.cx.constructs.construct(*id).parent
        });
        if enclosing.any(|id| super::is_target(self.cx, id)) {
            return refuse("another target region encloses this construct");
        }
        None
    }

    fn function_name(&self, function: NodeId) -> Option<String> {
        let tree = self.cx.tree;
        let declarator = tree.child(function, Field::Declarator)?;
        let name = tree.descendants(declarator).find(|node| tree.kind(*node) == NodeKind::Identifier)?;
        Some(self.cx.file.show(tree.span(name)).into_owned())
    }

    pub(in crate::transforms) fn symbols(&self) -> &Symbols<'a> {
        &self.symbols
    }

    /// The value of an integer constant expression of the file.
    pub(in crate::transforms) fn constant(&self, span: Span) -> Option<i64> {
        self.symbols.constant(&self.cx.file.show(span), span.start)
    }

    /// A name for a block of its own that holds a part of the file: nothing there is called so, and no macro.
    pub(in crate::transforms) fn fresh_in(&self, span: Span, stem: &str) -> String {
        let text = self.cx.file.show(span);
        let is_free = |name: &String| {
            !words(&text).any(|word| word == name)
                && self.symbols.macro_definition(name, span.start).is_none()
                && !self.uses_macro_with(span, &|body| words(body).any(|word| word == name))
        };
        let numbered = (2..).map(|number| format!("{stem}_{number}"));
        std::iter::once(stem.to_owned()).chain(numbered).find(is_free).unwrap_or_default()
    }

    /// A name that stands nowhere in the file and was not given out before.
    pub(in crate::transforms) fn fresh(&self, stem: &str) -> String {
        let text = String::from_utf8_lossy(&self.cx.file.text);
        let mut taken = self.fresh.borrow_mut();
        let numbered = (2..).map(|number| format!("{stem}_{number}"));
        let mut names = std::iter::once(stem.to_owned()).chain(numbered);
        let name = names.find(|name| !taken.contains(name) && !text.contains(name.as_str())).unwrap_or_default();
        taken.insert(name.clone());
        name
    }
}

/// `auto`, or a reference to what it stands for.
fn is_deduced(ty: &DeclaredType) -> bool {
    match ty {
        DeclaredType::Auto => true,
        DeclaredType::Reference { to } => **to == DeclaredType::Auto,
        _ => false,
    }
}
