//! What the names of a file stand for, as far as a split needs to know.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;

use crate::analysis::calls::Calls;
use crate::analysis::symbols::{DeclaredType, Macro, NameKind, ScalarKind, Scope, Symbols};
use crate::analysis::uses::{Role, Use, member_of, uses_below};
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::loop_nest::canonical_nest;
use crate::region::target::TargetRegion;
use crate::source::{Language, SourceFile, Span};
use crate::syntax::host::parse_expression;
use crate::syntax::{ClauseName, HostTree, ListItem, NodeId};
use crate::transforms::Context;
use crate::transforms::split_target::data::written_member;

/// What an object holds, as far as it decides whether two names may stand for one object (C17, section 6.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// An integer, characters not.
    Integer,
    /// A real number.
    Floating,
    /// An address.
    Pointer,
    /// A character, which may alias anything, or something that is not known.
    Any,
}

impl Class {
    /// May an object of one class be accessed as one of the other?
    pub(super) fn may_alias(self, other: Self) -> bool {
        self == other || self == Self::Any || other == Self::Any
    }

    /// Of what is written through a pointer: known where it points to numbers, or to arrays of them.
    fn behind(pointer: &DeclaredType) -> Self {
        let mut element = pointer.dereferenced();
        while matches!(element, DeclaredType::Array { .. }) {
            element = element.dereferenced();
        }
        if element.is_scalar() { Self::of(&element) } else { Self::Any }
    }

    fn of(ty: &DeclaredType) -> Self {
        match ty {
            DeclaredType::Scalar { kind: ScalarKind::Floating, .. } => Self::Floating,
            DeclaredType::Scalar { name, .. } if ["char", "int8_t", "byte"].iter().any(|part| name.contains(part)) => {
                Self::Any
            }
            DeclaredType::Scalar { .. } => Self::Integer,
            DeclaredType::Pointer { .. } | DeclaredType::ArrayParameter { .. } => Self::Pointer,
            DeclaredType::Reference { to } => Self::of(to),
            _ => Self::Any,
        }
    }
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An arithmetic object.
    Scalar {
        /// Wider than 64 bits?
        wide: bool,
        /// What it holds.
        class: Class,
        /// Is it of a type of the language or its standard headers, for which nobody declares operators?
        builtin: bool,
    },
    /// Something `volatile` or atomic, or a pointer to it.
    Volatile,
    /// A pointer, an array parameter among them.
    Pointer {
        /// Does it point to arithmetic objects?
        plain: bool,
        /// What those hold.
        class: Class,
    },
    /// An array with storage of its own.
    Array { plain: bool, is_const: bool },
    /// A structure or class.
    Struct,
    /// A member of the class that the region's function belongs to.
    Member,
    /// A function.
    Function,
    /// A constant: an enumerator, a macro without side effects.
    Constant,
    /// A macro that is no plain expression.
    Macro,
    /// Declared nowhere in sight, or of a type that is not understood.
    Unknown,
}

impl Kind {
    /// In C++: may an operator on it be a function?
    pub(super) fn may_hide_code(&self) -> bool {
        match self {
            Self::Pointer { plain, .. } | Self::Array { plain, .. } => !plain,
            Self::Scalar { builtin, .. } => !builtin,
            Self::Struct | Self::Unknown => true,
            _ => false,
        }
    }

    /// Is it, or is what it holds, wider than 64 bits, or not known?
    pub(super) fn is_wide(&self) -> bool {
        match self {
            Self::Scalar { wide, .. } => *wide,
            Self::Pointer { plain, .. } | Self::Array { plain, .. } => !plain,
            _ => true,
        }
    }
}

/// The names of one file.
pub(super) struct Names<'a> {
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
}

impl<'a> Names<'a> {
    pub(super) fn new(cx: &'a Context<'a>) -> Self {
        let symbols = Symbols::new(cx.file, cx.tree, cx.headers);
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
        };
        names.read_declarations();
        names
    }

    /// `threadprivate` and `declare target` directives.
    fn read_declarations(&mut self) {
        let mut open: Option<usize> = None;
        for directive in &self.cx.constructs.directives {
            let listed = directive.argument.map(|span| self.words(span)).unwrap_or_default();
            match directive.name.as_str() {
                "threadprivate" => self.threadprivate.extend(listed),
                "declare target" if directive.argument.is_none() && directive.clauses.is_empty() => {
                    open = open.or(Some(directive.span.start));
                }
                "begin declare target" => open = open.or(Some(directive.span.start)),
                "end declare target" => {
                    self.device_ranges.extend(open.take().map(|start| Span::new(start, directive.span.end)));
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
        self.device_ranges.extend(open.map(|start| Span::new(start, end)));
    }

    fn words(&self, span: Span) -> Vec<String> {
        self.cx.file.show(span).split(',').map(|word| word.trim().to_owned()).collect()
    }

    pub(super) fn is_threadprivate(&self, name: &str) -> bool {
        self.threadprivate.contains(name)
    }

    /// Is the variable one that lives on the device for the whole program?
    pub(super) fn is_declare_target(&self, name: &str) -> bool {
        let declared = || self.symbols.lookup(name, self.cx.file.text.len()).map(|variable| variable.declared_at);
        self.declare_target.contains(name)
            || (!self.device_ranges.is_empty()
                && declared().is_some_and(|at| self.device_ranges.iter().any(|range| range.contains(at))))
    }

    /// Where the name that is visible at byte `at` is declared, if in this file.
    pub(super) fn declared_at(&self, name: &str, at: usize) -> Option<Span> {
        self.symbols.lookup(name, at).filter(|variable| variable.header.is_none()).map(|variable| variable.declared_at)
    }

    /// What a name that stands at byte `at` is.
    pub(super) fn kind(&self, name: &str, at: usize) -> Kind {
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
            // A member of `*this`, whose map would have to stand before the member's.
            NameKind::Variable if variable.scope == Scope::Member => Kind::Member,
            NameKind::TemplateParameter if variable.ty.is_scalar() => Kind::Constant,
            NameKind::Variable if variable.ty == DeclaredType::Auto => self.kind_of_auto(&variable.declared_at),
            // The old way of declaring parameters, before the body: an array there is a pointer.
            NameKind::Variable if self.is_old_parameter(&variable.declared_at, variable.header) => Kind::Unknown,
            NameKind::Variable => Self::kind_of_type(&variable.ty),
            NameKind::Type | NameKind::TemplateParameter => Kind::Unknown,
        }
    }

    fn is_old_parameter(&self, declared_at: &Span, header: Option<usize>) -> bool {
        let tree = self.cx.tree;
        let node = tree.covering(*declared_at);
        let declaration =
            std::iter::once(node).chain(tree.ancestors(node)).find(|node| tree.kind(*node) == "declaration");
        let parent = declaration.and_then(|declaration| tree.parent(declaration));
        header.is_none() && parent.is_some_and(|parent| tree.kind(parent) == "function_definition")
    }

    /// `auto` with an initialiser of operators and subscripts alone is of arithmetic type where its operands are; they are
    /// looked at as all other names of a loop are.
    fn kind_of_auto(&self, declared_at: &Span) -> Kind {
        let tree = self.cx.tree;
        let node = tree.covering(*declared_at);
        let declaration =
            std::iter::once(node).chain(tree.ancestors(node)).find(|n| tree.kind(*n) == "init_declarator");
        let opaque =
            ["call_expression", "lambda_expression", "initializer_list", "pointer_expression", "new_expression"];
        match declaration {
            Some(node) if !tree.descendants(node).any(|inner| opaque.contains(&tree.kind(inner))) => {
                Kind::Scalar { wide: true, class: Class::Any, builtin: true }
            }
            _ => Kind::Unknown,
        }
    }

    /// The variables that a macro's text names, where it is an expression without side effects; `None` inside where it is
    /// anything else, and outside where the name is no macro.
    pub(super) fn expansion(&self, name: &str, at: usize) -> Option<Option<Vec<String>>> {
        let definition = self.symbols.macro_definition(name, at)?;
        let mut names = BTreeSet::new();
        let plain = self.expand(&definition, at, MACRO_DEPTH, &mut names);
        Some(plain.then(|| names.into_iter().collect()))
    }

    fn expand(&self, definition: &Macro, at: usize, depth: usize, into: &mut BTreeSet<String>) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let text = SourceFile::new("macro", definition.body.clone().into_bytes());
        let whole = Span::new(0, text.text.len());
        let Some(tree) = parse_expression(&text, whole, self.cx.tree.language()) else { return false };
        if !tree.descendants(tree.root()).all(|node| is_plain_node(&tree, node)) {
            return false;
        }
        let parameters = definition.parameters.as_deref().unwrap_or_default();
        uses_below(&text, &tree, tree.root()).into_iter().all(|used| {
            if parameters.contains(&used.name) {
                return used.role != Role::Callee;
            }
            match (used.role, self.symbols.macro_definition(&used.name, at)) {
                (_, Some(inner)) => self.expand(&inner, at, depth, into),
                (Role::Read | Role::Argument, None) => {
                    into.insert(used.name);
                    true
                }
                (Role::Callee, None) => crate::analysis::calls::is_pure(&used.name),
                _ => false,
            }
        })
    }

    fn kind_of_type(ty: &DeclaredType) -> Kind {
        match ty {
            _ if is_volatile(ty) => Kind::Volatile,
            DeclaredType::Scalar { .. } => {
                Kind::Scalar { wide: is_wide(ty), class: Class::of(ty), builtin: is_builtin(ty) }
            }
            DeclaredType::Pointer { .. } | DeclaredType::ArrayParameter { .. } => {
                let element = innermost(ty);
                let class = Class::behind(ty);
                Kind::Pointer { plain: is_builtin(element) && !is_wide(element), class }
            }
            DeclaredType::Array { element, .. } => {
                let element = innermost(element);
                Kind::Array {
                    plain: is_builtin(element) && !is_wide(element) && !is_pointed(ty),
                    is_const: ty.is_const(),
                }
            }
            DeclaredType::Reference { to } => Self::kind_of_type(to),
            DeclaredType::Record { .. } => Kind::Struct,
            DeclaredType::Function { .. } => Kind::Function,
            DeclaredType::Auto | DeclaredType::Void | DeclaredType::Unknown => Kind::Unknown,
        }
    }

    /// Why a call keeps the region from being split.
    pub(super) fn call_reason(&self, used: &Use) -> Option<Reason> {
        if let Some(expanded) = self.expansion(&used.name, used.span.start) {
            let message = format!("the macro `{}` is no plain expression", used.name);
            return expanded.is_none().then(|| Reason::new(ReasonCode::OpaqueMacro, used.span, message));
        }
        if self.variant_ranges.iter().any(|range| self.declares(*range, &used.name)) {
            let message = format!("`{}` has variants, chosen by the constructs around the call", used.name);
            return Some(Reason::new(ReasonCode::TeamDependent, used.span, message));
        }
        if self.cx.tree.language() == Language::Cpp && self.returns_class(&used.name) {
            let message =
                format!("what `{}` returns may be of class type, whose operators are not followed", used.name);
            return Some(Reason::new(ReasonCode::HiddenCode, used.span, message));
        }
        if let Some(word) = self.replaceable(&used.name) {
            let message =
                format!("the function `{}` is {word}: what is called may be another, or may change", used.name);
            return Some(Reason::new(ReasonCode::UnknownCall, used.span, message));
        }
        let effects = self.calls.effects(&self.symbols, &used.name, used.span.start);
        let reason = |code, message: String| Some(Reason::new(code, used.span, message));
        if effects.openmp.is_some() {
            return reason(ReasonCode::TeamDependent, format!("`{}` reaches an OpenMP construct or query", used.name));
        }
        if let Some((name, _)) = effects.unknown_callee {
            return reason(ReasonCode::UnknownCall, format!("the body of `{name}` is not in sight"));
        }
        if effects.writes_globals || effects.output {
            return reason(ReasonCode::UnknownCall, format!("`{}` writes what is not its own", used.name));
        }
        None
    }

    /// May a function of the file return an object of class type?
    fn returns_class(&self, name: &str) -> bool {
        self.symbols.function_definitions(name).into_iter().any(|(header, node)| {
            let Some((file, tree)) = self.symbols.source_of(header) else { return true };
            let ty = tree.child(node, "type").map(|ty| file.show(tree.span(ty)).into_owned());
            ty.is_none_or(|ty| ty != "void" && !self.is_builtin_text(&ty, tree.span(node).start))
        })
    }

    /// In C every type; in C++ one whose operators are the language's own.
    pub(super) fn is_builtin_type(&self, descriptor: Span) -> bool {
        let text = self.cx.file.show(descriptor);
        self.cx.tree.language() == Language::C || self.is_builtin_text(&text, descriptor.start)
    }

    fn is_builtin_text(&self, text: &str, at: usize) -> bool {
        let names =
            text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).filter(|word| !word.is_empty());
        names.filter(|word| !matches!(*word, "const" | "constexpr" | "inline" | "static")).all(|word| {
            let named = DeclaredType::scalar(ScalarKind::Integer, word);
            let known = self.symbols.lookup(word, at).filter(|variable| variable.kind == NameKind::Type);
            is_builtin(&named) || known.is_some_and(|variable| is_builtin(&variable.ty))
        })
    }

    /// A word in a function's definition that keeps its body from being trusted.
    fn replaceable(&self, name: &str) -> Option<&'static str> {
        let definitions = self.symbols.function_definitions(name);
        definitions.into_iter().find_map(|(header, node)| {
            let (file, tree) = self.symbols.source_of(header)?;
            let text = file.show(tree.span(node)).into_owned();
            let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.find_map(|word| match word {
                "weak" | "__weak__" => Some("weak"),
                "volatile" | "__volatile__" | "_Atomic" | "atomic" => Some("not deterministic"),
                _ => None,
            })
        })
    }

    /// In C++: a constant of an enumeration, where operators are declared somewhere?
    pub(super) fn constant_may_hide_code(&self, used: &Use) -> bool {
        let is_enumerator =
            self.symbols.lookup(&used.name, used.span.start).is_some_and(|v| v.kind == NameKind::Enumerator);
        is_enumerator && self.cx.tree.language() == Language::Cpp && self.declares_operators()
    }

    fn declares_operators(&self) -> bool {
        let word = b"operator";
        let holds = |text: &[u8]| text.windows(word.len()).any(|window| window == word);
        holds(&self.cx.file.text) || self.cx.headers.iter().any(|header| holds(&header.text))
    }

    /// Does a piece of the file name the function?
    fn declares(&self, range: Span, name: &str) -> bool {
        let text = self.cx.file.show(range);
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| word == name)
    }

    /// Is the argument handed to a function that takes it by value and only looks at it?
    pub(super) fn argument_is_only_read(&self, used: &Use) -> bool {
        let tree = self.cx.tree;
        let call = tree.ancestors(used.node).find(|node| tree.kind(*node) == "call_expression");
        let Some(function) = call.and_then(|call| tree.child(call, "function")) else { return false };
        let name = self.cx.file.show(tree.span(function)).into_owned();
        if self.expansion(&name, used.span.start).is_some() {
            return true;
        }
        let by_value = match self.symbols.lookup(&name, used.span.start).map(|variable| variable.ty) {
            Some(DeclaredType::Function { parameters, is_variadic }) => {
                !is_variadic && parameters.iter().all(DeclaredType::is_scalar)
            }
            _ => false,
        };
        by_value || crate::analysis::calls::is_pure(&name)
    }

    /// Every name that an expression of a clause uses.
    pub(super) fn names_in(&self, span: Span) -> Vec<(String, Span)> {
        let Some(tree) = parse_expression(self.cx.file, span, self.cx.tree.language()) else { return Vec::new() };
        uses_below(self.cx.file, &tree, tree.root()).into_iter().map(|used| (used.name, used.span)).collect()
    }

    /// The first place in an expression that the host may not be able to evaluate to the value that the device would: a
    /// load from memory, a call, a side effect, a variable in `written`.
    pub(super) fn not_on_host(&self, span: Span, written: &BTreeSet<String>) -> Option<Span> {
        let Some(tree) = parse_expression(self.cx.file, span, self.cx.tree.language()) else { return Some(span) };
        let node = tree.descendants(tree.root()).find(|node| !self.is_host_node(&tree, *node, span.start));
        if let Some(node) = node {
            return Some(tree.span(node));
        }
        let uses = uses_below(self.cx.file, &tree, tree.root());
        uses.into_iter().find(|used| !self.is_host_value(&tree, used, written)).map(|used| used.span)
    }

    fn is_host_node(&self, tree: &HostTree, node: NodeId, at: usize) -> bool {
        match tree.kind(node) {
            "call_expression" => {
                let function = tree.child(node, "function");
                function.is_some_and(|f| self.expansion(&self.cx.file.show(tree.span(f)), at).flatten().is_some())
            }
            "field_expression" => tree.children(node).any(|child| tree.kind(child) == "."),
            "subscript_expression" | "pointer_expression" => false,
            _ => is_plain_node(tree, node),
        }
    }

    fn is_host_value(&self, tree: &HostTree, used: &Use, written: &BTreeSet<String>) -> bool {
        let at = used.span.start;
        if let Some(member) = member_of(self.cx.file, tree, used.node)
            && written.contains(&written_member(&used.name, &member))
        {
            return false;
        }
        match self.expansion(&used.name, at) {
            Some(None) => return false,
            Some(Some(names)) => {
                return names.iter().all(|name| self.is_host_object(name, at) && !written.contains(name));
            }
            None => {}
        }
        used.role != Role::Callee && self.is_host_object(&used.name, at) && !written.contains(&used.name)
    }

    fn is_host_object(&self, name: &str, at: usize) -> bool {
        matches!(
            self.kind(name, at),
            // An array without a subscript is its address.
            Kind::Scalar { .. } | Kind::Pointer { .. } | Kind::Array { .. } | Kind::Struct | Kind::Constant
        )
    }

    /// Has an expression the same value wherever the host evaluates it while the region runs? `writes_integers`: may the
    /// region write integers through pointers?
    pub(super) fn is_stable(&self, span: Span, written: &BTreeSet<String>, writes_integers: bool) -> bool {
        if self.not_on_host(span, written).is_some() {
            return false;
        }
        !writes_integers || self.names_in(span).iter().all(|(name, at)| self.cannot_be_aliased(name, at.start))
    }

    /// Is it a constant, or a variable that only its name reaches?
    pub(super) fn cannot_be_aliased(&self, name: &str, at: usize) -> bool {
        match self.symbols.lookup(name, at) {
            Some(variable) => {
                variable.ty.is_const() || variable.kind == NameKind::Enumerator || self.is_own_object(name, at)
            }
            None => self.kind(name, at) == Kind::Constant,
        }
    }

    /// Is it a variable that only its name reaches: of a function, or `static` in the file, and its address never taken?
    fn is_own_object(&self, name: &str, at: usize) -> bool {
        let variable = self.symbols.lookup(name, at);
        variable.is_some_and(|variable| {
            let in_function = matches!(variable.scope, Scope::Local | Scope::Parameter) && !variable.is_extern;
            (in_function || (variable.scope == Scope::File && variable.is_static))
                && !matches!(variable.ty, DeclaredType::Reference { .. })
                && !self.address_taken().contains(name)
        })
    }

    /// The names of which some object's address is taken anywhere in the file, by `&` or a C++ reference.
    fn address_taken(&self) -> &BTreeSet<String> {
        self.address_taken.get_or_init(|| {
            let tree = self.cx.tree;
            let cpp = tree.language() == Language::Cpp;
            let taken = |used: &Use| {
                used.role == Role::Address || (cpp && used.role == Role::Argument && !self.argument_is_only_read(used))
            };
            self.file_uses().iter().filter(|used| taken(used)).map(|used| used.name.clone()).collect()
        })
    }

    /// Is it a C++ reference?
    pub(super) fn is_reference(&self, name: &str, at: usize) -> bool {
        self.symbols.lookup(name, at).is_some_and(|variable| matches!(variable.ty, DeclaredType::Reference { .. }))
    }

    /// A directive of the file that may make a part of an array present, but not the whole of it: one that maps a section
    /// of it, by its own name or through a pointer that it was handed to.
    pub(super) fn partial_map(&self, name: &str, outer: Option<ConstructId>) -> Option<Span> {
        let own = outer.map(|id| self.cx.constructs.directive(id).span);
        let directives = self.cx.constructs.directives.iter().filter(|directive| Some(directive.span) != own);
        let clauses = directives.flat_map(|directive| directive.clauses.iter().map(move |clause| (directive, clause)));
        let maps = clauses.filter(|(_, clause)| clause.name == ClauseName::Map);
        let mut items = maps.flat_map(|(directive, clause)| clause.items().iter().map(move |item| (directive, item)));
        let found = items.find(|(directive, item)| {
            let lasts = matches!(directive.name.as_str(), "target data" | "target enter data");
            !item.sections.is_empty()
                && (item.base.as_deref() == Some(name) || (lasts && self.may_point_to(item, name)))
        });
        found.map(|(_, item)| item.span).or_else(|| self.associated(name))
    }

    /// May a mapped item's pointer point to the array `name`?
    fn may_point_to(&self, item: &ListItem, name: &str) -> bool {
        let Some(base) = item.base.as_deref() else { return true };
        let Some(variable) = self.symbols.lookup(base, item.span.start) else { return true };
        let mut uses = self.file_uses().iter().filter(|used| used.name == name);
        if variable.scope != Scope::Parameter {
            return variable.ty.is_pointer() && uses.any(|used| self.decays(used));
        }
        let tree = self.cx.tree;
        let node = tree.covering(item.span);
        let around = std::iter::once(node).chain(tree.ancestors(node));
        let function = around.into_iter().find(|node| tree.kind(*node) == "function_definition");
        let function = function.and_then(|function| self.function_name(function));
        uses.any(|used| used.role == Role::Argument && self.called_with(used) == function)
    }

    /// A call of `omp_target_associate_ptr` that names the array.
    fn associated(&self, name: &str) -> Option<Span> {
        let mut uses = self.file_uses().iter().filter(|used| used.name == name && used.role == Role::Argument);
        uses.find(|used| self.called_with(used).as_deref() == Some("omp_target_associate_ptr")).map(|used| used.span)
    }

    /// Does an array stand where its address becomes a pointer's value?
    fn decays(&self, used: &Use) -> bool {
        let parent = self.cx.tree.parent(used.node).map(|parent| self.cx.tree.kind(parent));
        matches!(used.role, Role::Read | Role::Address | Role::Argument) && parent != Some("subscript_expression")
    }

    /// The function that a use is an argument for.
    fn called_with(&self, used: &Use) -> Option<String> {
        let tree = self.cx.tree;
        let call = tree.ancestors(used.node).find(|node| tree.kind(*node) == "call_expression")?;
        Some(self.cx.file.show(tree.span(tree.child(call, "function")?)).into_owned())
    }

    /// Every use of a name in the file.
    fn file_uses(&self) -> &[Use] {
        self.file_uses.get_or_init(|| uses_below(self.cx.file, self.cx.tree, self.cx.tree.root()))
    }

    /// Is it the variable of a loop below `body` that does not declare it?
    pub(super) fn is_inner_loop_variable(&self, name: &str, body: NodeId) -> bool {
        let cx = self.cx;
        let loops = cx.tree.descendants(body).filter(|node| cx.tree.kind(*node) == "for_statement");
        let nests = loops.filter_map(|node| canonical_nest(cx.file, cx.tree, node, 1).ok());
        let mut variables = nests.flat_map(|nest| nest.loops);
        variables.any(|canonical| canonical.variable == name && !canonical.declared_in_loop)
    }

    /// Is the region in a function or construct that runs on the device, or in no function at all?
    pub(super) fn device_code(&self, region: &TargetRegion) -> Option<Reason> {
        let tree = self.cx.tree;
        let first = region.chain.constructs.first().copied()?;
        let span = self.cx.constructs.directive(first).span;
        let refuse = |message: &str| Some(Reason::new(ReasonCode::DeviceCode, span, message));
        let body = self.cx.constructs.construct(first).body?;
        let mut functions = tree.ancestors(body).filter(|node| tree.kind(*node) == "function_definition");
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
        let declarator = tree.child(function, "declarator")?;
        let name = tree.descendants(declarator).find(|node| tree.kind(*node) == "identifier")?;
        Some(self.cx.file.show(tree.span(name)).into_owned())
    }

    /// The value of an integer constant expression of the file.
    pub(super) fn constant(&self, span: Span) -> Option<i64> {
        self.symbols.constant(&self.cx.file.show(span), span.start)
    }

    /// A name that stands nowhere in the file and was not given out before.
    pub(super) fn fresh(&self, stem: &str) -> String {
        let text = String::from_utf8_lossy(&self.cx.file.text);
        let mut taken = self.fresh.borrow_mut();
        let numbered = (2..).map(|number| format!("{stem}_{number}"));
        let mut names = std::iter::once(stem.to_owned()).chain(numbered);
        let name = names.find(|name| !taken.contains(name) && !text.contains(name.as_str())).unwrap_or_default();
        taken.insert(name.clone());
        name
    }
}

/// How deep macros are followed into each other.
const MACRO_DEPTH: usize = 16;

/// Is the node one that has no side effect and calls nothing?
fn is_plain_node(tree: &HostTree, node: NodeId) -> bool {
    !tree.is_problem(node)
        && !matches!(
            tree.kind(node),
            "assignment_expression"
                | "update_expression"
                | "lambda_expression"
                | "new_expression"
                | "delete_expression"
                | "gnu_asm_expression"
                | "compound_statement"
                | "compound_literal_expression"
                | "initializer_list"
                | "co_await_expression"
                | "throw_expression"
                | "this"
        )
}

/// What is at the end of pointers and arrays.
fn innermost(ty: &DeclaredType) -> &DeclaredType {
    let mut at = ty;
    loop {
        at = match at {
            DeclaredType::Pointer { pointee, .. } => pointee,
            DeclaredType::Array { element, .. } | DeclaredType::ArrayParameter { element, .. } => element,
            DeclaredType::Reference { to } => to,
            _ => return at,
        }
    }
}

/// Is there a pointer in an array's elements?
fn is_pointed(array: &DeclaredType) -> bool {
    matches!(array, DeclaredType::Array { element, .. } if element.is_pointer())
}

/// May another thread change it at any time: `volatile` or atomic, or what it points to?
fn is_volatile(ty: &DeclaredType) -> bool {
    let mut at = ty;
    loop {
        at = match at {
            DeclaredType::Scalar { is_volatile, .. } => return *is_volatile,
            DeclaredType::Pointer { pointee, .. } => pointee,
            DeclaredType::Array { element, .. } | DeclaredType::ArrayParameter { element, .. } => element,
            DeclaredType::Reference { to } => to,
            _ => return false,
        }
    }
}

/// An arithmetic type of the language or its standard headers; an enumeration may have operators of its own in C++.
fn is_builtin(ty: &DeclaredType) -> bool {
    let words = ["unsigned", "signed", "int", "long", "short", "char", "float", "double", "bool", "_Bool", "_Complex"];
    let headers = ["size_t", "ptrdiff_t", "ssize_t", "wchar_t", "char8_t", "char16_t", "char32_t", "__int128"];
    let is_sized = |word: &str| word.ends_with("_t") && word.trim_start_matches('u').starts_with("int");
    match ty {
        DeclaredType::Scalar { name, .. } => name.split_whitespace().all(|word| {
            let word = word.trim_start_matches("std::");
            words.contains(&word) || headers.contains(&word) || is_sized(word)
        }),
        _ => false,
    }
}

/// Wider than 64 bits: `long double`, complex numbers, 128-bit integers.
fn is_wide(ty: &DeclaredType) -> bool {
    match ty {
        DeclaredType::Scalar { name, .. } => ["long double", "omplex", "128"].iter().any(|wide| name.contains(wide)),
        _ => false,
    }
}

/// Macros of the standard headers that are constants.
fn is_standard_constant(name: &str) -> bool {
    let named =
        ["NULL", "RAND_MAX", "EXIT_SUCCESS", "EXIT_FAILURE", "INFINITY", "NAN", "HUGE_VAL", "BUFSIZ", "true", "false"];
    let prefixed = ["M_PI", "M_E", "M_SQRT", "M_LN", "M_LOG", "M_1_", "M_2_", "INT", "UINT", "FLT_", "DBL_", "LDBL_"];
    let limits = [
        "CHAR_BIT",
        "CHAR_MAX",
        "CHAR_MIN",
        "SCHAR_MAX",
        "SCHAR_MIN",
        "UCHAR_MAX",
        "SHRT_MAX",
        "SHRT_MIN",
        "USHRT_MAX",
        "LONG_MAX",
        "LONG_MIN",
        "ULONG_MAX",
        "LLONG_MAX",
        "LLONG_MIN",
        "ULLONG_MAX",
        "SIZE_MAX",
        "PTRDIFF_MAX",
    ];
    let limited = |name: &str| name.ends_with("_MAX") || name.ends_with("_MIN");
    named.contains(&name)
        || limits.contains(&name)
        || prefixed[..8].iter().any(|prefix| name.starts_with(prefix))
        || (prefixed[8..].iter().any(|prefix| name.starts_with(prefix)) && (limited(name) || name.ends_with("EPSILON")))
}
