//! One round's text as a program: its trees, what else belongs to its compilation, and what its names mean. Every pass of the round
//! shares it, and what one of them asked for is there for the next.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructTree;
use crate::region::loop_nest::canonical_nest;
use crate::region::target::TargetRegion;
use crate::semantics::Owner;
use crate::semantics::Telling;
use crate::semantics::calls::Calls;
use crate::semantics::facts::Facts;
use crate::semantics::owners::Reached;
use crate::semantics::symbols::{FlagDefinition, Symbols, VariableId};
use crate::semantics::uses::Use;
use crate::source::{Scan, SourceFile, Span};
use crate::syntax::{Field, HostTree, NodeId, NodeKind};

/// What a file is compiled with.
#[derive(Clone, Copy, Default)]
pub struct Compilation<'a> {
    /// Files of the project that the file includes with `#include ".."`: path and text.
    pub headers: &'a [SourceFile],
    /// The macros that the compiler's flags define or take back.
    pub definitions: &'a [FlagDefinition],
    /// What a compiler knows of the file's names, or `None` if it is not asked.
    pub facts: Option<&'a Facts>,
    /// May the compiler take it that objects of different types do not share storage (C17, section 6.5)?
    pub strict_aliasing: bool,
    /// Do signed integers wrap around, as with `-fwrapv`?
    pub signed_wraps: bool,
}

/// One file of a program.
pub struct Program<'a> {
    /// The file.
    pub file: &'a SourceFile,
    /// What the byte scan found.
    pub scan: &'a Scan,
    /// The host program.
    pub tree: &'a HostTree,
    /// The constructs.
    pub constructs: &'a ConstructTree,
    /// What it is compiled with.
    pub compilation: Compilation<'a>,
    /// What a pass added to the text so that it can be told in other terms. It counts as doing nothing.
    pub(super) added: Vec<Span>,
    symbols: OnceCell<Symbols<'a>>,
    calls: OnceCell<Calls<'a>>,
    declared: OnceCell<DeviceDeclarations>,
    pub(super) address_taken: OnceCell<BTreeMap<String, Vec<(String, usize)>>>,
    pub(super) operators_on_numbers: OnceCell<bool>,
    /// May functions of the libraries run code or use memory of the program, as streams with buffers of its own do?
    pub(super) library_is_extended: OnceCell<bool>,
    /// Does it name functions that act on signals?
    pub(super) handles_signals: OnceCell<bool>,
    pub(super) file_uses: OnceCell<Vec<Use>>,
    /// Where macros stand in the code.
    pub(super) macro_uses: OnceCell<Vec<Span>>,
    /// The texts that macros in the file stand for, and the macros in these.
    pub(super) macro_bodies: OnceCell<Vec<String>>,
    /// Does the name `main` stand in the file once, and in no macro?
    pub(super) names_main_once: OnceCell<bool>,
    /// May macros make names of parts of names?
    pub(super) pastes: OnceCell<bool>,
    /// Do pragmas let a compiler round otherwise?
    pub(super) rounds_freely: OnceCell<bool>,
    /// The names given out for new constants.
    pub(super) fresh: RefCell<BTreeSet<String>>,
    /// Which classes are like numbers, for those that were asked for.
    pub(super) value_classes: RefCell<BTreeMap<String, bool>>,
    /// Which type parameters stand for numbers in all uses of their templates, for those that were asked for.
    pub(super) number_parameters: RefCell<BTreeMap<Span, bool>>,
    /// Whose storage variables lead to, for those that were asked for.
    pub(super) owners: RefCell<BTreeMap<VariableId, Owner>>,
    /// All calls of functions that nothing else names, for those that were asked for.
    pub(super) function_calls: RefCell<BTreeMap<NodeId, Option<Vec<NodeId>>>>,
    /// Who reaches variables beside their names, for those that were asked for.
    pub(super) reached: RefCell<BTreeMap<(VariableId, Reached), bool>>,
    /// Where directives may stand that are not read, for what was asked.
    pub(super) unread_directives: RefCell<BTreeMap<Telling, Option<Span>>>,
    /// A piece of the file that is included in a function, and a macro that may make any directive.
    pub(super) included_code: OnceCell<Option<Span>>,
    pub(super) pasted_directive: OnceCell<Option<Span>>,
    /// What may run constructs at the same time.
    pub(super) concurrent: OnceCell<Vec<Span>>,
}

/// What directives declare for the whole file.
#[derive(Default)]
pub(super) struct DeviceDeclarations {
    /// Names in `threadprivate` directives.
    pub threadprivate: BTreeSet<String>,
    /// Names in `declare target` directives, and the ranges that such directives enclose.
    pub declare_target: BTreeSet<String>,
    pub device_ranges: Vec<Span>,
    /// What `declare variant` directives stand before or enclose.
    pub variant_ranges: Vec<Span>,
}

impl DeviceDeclarations {
    fn read(file: &SourceFile, constructs: &ConstructTree) -> Self {
        let mut found = Self::default();
        let words = |span| file.show(span).split(',').map(|word| word.trim().to_owned()).collect::<Vec<_>>();
        // Blocks may stand in each other; where ends are missing, the rest of the file belongs to them.
        let mut open: Vec<usize> = Vec::new();
        for directive in &constructs.directives {
            let listed = directive.argument.map(words).unwrap_or_default();
            match directive.name.as_str() {
                "threadprivate" => found.threadprivate.extend(listed),
                "declare target" if directive.argument.is_none() && directive.clauses.is_empty() => {
                    open.push(directive.span.start);
                }
                "begin declare target" => open.push(directive.span.start),
                "end declare target" => {
                    found.device_ranges.extend(open.pop().map(|start| Span::new(start, directive.span.end)));
                }
                "declare target" => {
                    found.declare_target.extend(listed);
                    let items = directive.clauses.iter().flat_map(|clause| clause.items());
                    found.declare_target.extend(items.filter_map(|item| item.base.clone()));
                }
                _ => {}
            }
        }
        for construct in &constructs.constructs {
            if constructs.directives[construct.directive].name.ends_with("declare variant") {
                found.variant_ranges.push(construct.body_span);
            }
        }
        let end = file.text.len();
        found.device_ranges.extend(open.into_iter().map(|start| Span::new(start, end)));
        found
    }
}

impl<'a> Program<'a> {
    /// A file that has been read.
    #[must_use]
    pub fn new(
        file: &'a SourceFile,
        scan: &'a Scan,
        tree: &'a HostTree,
        constructs: &'a ConstructTree,
        compilation: Compilation<'a>,
    ) -> Self {
        Self {
            file,
            scan,
            tree,
            constructs,
            compilation,
            added: Vec::new(),
            symbols: OnceCell::new(),
            calls: OnceCell::new(),
            declared: OnceCell::new(),
            address_taken: OnceCell::new(),
            operators_on_numbers: OnceCell::new(),
            library_is_extended: OnceCell::new(),
            handles_signals: OnceCell::new(),
            file_uses: OnceCell::new(),
            macro_bodies: OnceCell::new(),
            names_main_once: OnceCell::new(),
            pastes: OnceCell::new(),
            rounds_freely: OnceCell::new(),
            fresh: RefCell::default(),
            value_classes: RefCell::default(),
            number_parameters: RefCell::default(),
            macro_uses: OnceCell::new(),
            function_calls: RefCell::default(),
            owners: RefCell::default(),
            reached: RefCell::default(),
            unread_directives: RefCell::default(),
            included_code: OnceCell::new(),
            pasted_directive: OnceCell::new(),
            concurrent: OnceCell::new(),
        }
    }

    /// The same, of a text to which a pass added these pieces.
    #[must_use]
    pub fn with_added(self, added: Vec<Span>) -> Self {
        Self { added, ..self }
    }

    /// Does a variable stand in such a piece, and so for something that the file reaches by other names?
    pub(crate) fn is_added(&self, id: VariableId) -> bool {
        self.added.iter().any(|piece| id.is_within(*piece))
    }

    /// The names of the file, with what flags and compilers say of them.
    pub fn symbols(&self) -> &Symbols<'a> {
        self.symbols.get_or_init(|| {
            let Compilation { headers, definitions, facts, signed_wraps, .. } = self.compilation;
            let symbols = Symbols::new(self.file, self.tree, headers).with_conditionals(&self.scan.conditionals);
            symbols.with_facts(facts).with_definitions(definitions).with_wrapping(signed_wraps)
        })
    }

    /// What functions do whose bodies are in sight.
    pub fn calls(&self) -> &Calls<'a> {
        self.calls.get_or_init(|| Calls::new(self.file, self.tree, self.constructs, self.compilation.headers))
    }

    /// What directives declare for the whole file.
    pub(super) fn declared(&self) -> &DeviceDeclarations {
        self.declared.get_or_init(|| DeviceDeclarations::read(self.file, self.constructs))
    }

    /// Do pragmas let a compiler combine the operations of several statements?
    pub(crate) fn rounds_freely(&self) -> bool {
        let allows = |text: &str| ["contract(fast)", "reassociate(on)"].iter().any(|word| text.contains(word));
        *self.rounds_freely.get_or_init(|| self.texts().any(|text| allows(&text)))
    }

    /// Does the file have thread-private variables?
    pub(crate) fn has_threadprivate(&self) -> bool {
        !self.declared().threadprivate.is_empty()
    }

    /// Is it named in a `threadprivate` directive?
    pub(crate) fn is_threadprivate(&self, name: &str) -> bool {
        self.declared().threadprivate.contains(name)
    }

    /// Is the variable one that lives on the device for the whole program? One declaration of several is enough.
    pub(crate) fn is_declare_target(&self, name: &str) -> bool {
        self.declared().declare_target.contains(name)
            || !self.declared().device_ranges.is_empty()
                && self.symbols().is_declared_within(name, &self.declared().device_ranges)
    }

    /// Is it the variable of a loop below `body` that does not declare it?
    pub(crate) fn is_inner_loop_variable(&self, name: &str, body: NodeId) -> bool {
        let cx = self;
        let loops = cx.tree.descendants(body).filter(|node| cx.tree.kind(*node) == NodeKind::ForStatement);
        let nests = loops.filter_map(|node| canonical_nest(cx.file, cx.tree, node, 1).ok());
        let mut variables = nests.flat_map(|nest| nest.loops);
        variables.any(|canonical| canonical.variable == name && !canonical.declared_in_loop)
    }

    /// Is the region in a function or construct that runs on the device, or in no function at all?
    pub(crate) fn device_code(&self, region: &TargetRegion) -> Option<Reason> {
        let tree = self.tree;
        let first = region.chain.constructs.first().copied()?;
        let span = self.constructs.directive(first).span;
        let refuse = |message: &str| Some(Reason::new(ReasonCode::DeviceCode, span, message));
        let body = self.constructs.construct(first).body?;
        if let Some(lambda) = tree.ancestors(body).find(|node| tree.kind(*node) == NodeKind::LambdaExpression) {
            let message = "the captures of the lambda around this construct are not followed";
            return Some(
                Reason::new(ReasonCode::HiddenCode, span, message).with_label(tree.span(lambda), "the lambda"),
            );
        }
        let mut functions = tree.ancestors(body).filter(|node| tree.kind(*node) == NodeKind::FunctionDefinition);
        let Some(function) = functions.next() else { return refuse("this construct stands in no function") };
        if self.declared().device_ranges.iter().any(|range| range.contains(span)) {
            return refuse("the function is compiled for the device");
        }
        if self.function_name(function).is_some_and(|name| self.declared().declare_target.contains(&name)) {
            return refuse("the function is named in a `declare target` directive");
        }
        let mut enclosing =
            std::iter::successors(self.constructs.construct(first).parent, |id| self.constructs.construct(*id).parent);
        if enclosing.any(|id| self.constructs.is_target(id)) {
            return refuse("another target region encloses this construct");
        }
        None
    }

    pub(super) fn function_name(&self, function: NodeId) -> Option<String> {
        let tree = self.tree;
        let declarator = tree.child(function, Field::Declarator)?;
        let name = tree.descendants(declarator).find(|node| tree.kind(*node) == NodeKind::Identifier)?;
        Some(self.file.show(tree.span(name)).into_owned())
    }

    /// The value of an integer constant expression of the file.
    pub(crate) fn constant(&self, span: Span) -> Option<i64> {
        self.symbols().constant(&self.file.show(span), span.start)
    }
}
