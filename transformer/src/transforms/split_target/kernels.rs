//! What each loop, or run of serial statements, does with the variables of the program around it, and what forbids it to
//! become a kernel.

mod serial;

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::uses::{Role, Use, is_element_address, member_of, role_of_call, role_of_expression, uses_below};
use crate::plan::{Reason, ReasonCode};
use crate::region::construct::ConstructId;
use crate::region::loop_nest::{CanonicalLoopNest, canonical_nest};
use crate::region::target::Chain;
use crate::source::{Language, Span};
use crate::syntax::spec_table::Leaf;
use crate::syntax::{ClauseName, HostTree, NodeId};
use crate::transforms::split_target::clauses::{KeptClause, LoopClauses};
use crate::transforms::split_target::names::{Kind, Names};
use crate::transforms::split_target::serial::Run;
use crate::transforms::split_target::type_parameters;

pub(super) use self::serial::read_serial;

mod own_pointers;
mod shared_lists;
mod shared_scalars;

/// A loop, or a run of serial statements, that is to become a kernel.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    /// Its directives; none for serial statements.
    pub chain: Chain,
    pub clauses: LoopClauses,
    /// The associated loops; none for serial statements, whose first one is then the body.
    pub nest: CanonicalLoopNest,
    /// The statements that one thread executes, where it is no loop.
    pub serial: Option<Run>,
    /// All its statements.
    pub extent: Span,
    /// The variables from outside that the loop or its clauses name, loop and private variables left out.
    pub variables: BTreeMap<String, Variable>,
    /// Names that the loop's clauses or the rules of the loop make private to each thread.
    pub private: Vec<String>,
    /// Names that a clause of the loop makes shared.
    pub shared: BTreeSet<String>,
    /// Every name that the loop or its clauses use and do not declare.
    pub named: BTreeSet<String>,
    /// What holds only under an assumption.
    pub assumed: Vec<Reason>,
    /// Where elements are written through a pointer that the kernel declares or has private copies of.
    own_writes: Option<Span>,
    /// Pointers and arrays from outside whose addresses go into expressions.
    address_sources: BTreeSet<String>,
}

/// A variable that is declared outside of a loop and used in it.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub kind: Kind,
    /// Where the loop uses it first.
    pub first: Span,
    /// Where the object itself is written, or may be.
    pub written: Option<Span>,
    /// Where an element, a member or what it points to is written, or may be.
    pub elements_written: Option<Span>,
    /// The members through which a structure is written.
    pub members_written: BTreeSet<String>,
    /// May what it points to be written as an object of another type: through a cast, or by a function?
    pub any_class: bool,
    /// Is its address taken, or a reference bound to it?
    pub address: bool,
    /// Do the serial statements, or does each iteration, assign it before each use, so that its value from before means
    /// nothing?
    pub written_first: bool,
}

impl Kernel {
    /// Does the kernel use this variable of the program around it?
    pub(super) fn uses(&self, name: &str) -> bool {
        self.variables.contains_key(name)
            || self.clauses.reductions.iter().any(|r| r.item.base.as_deref() == Some(name))
    }

    /// Does the kernel declare in itself what is declared at this place?
    pub(super) fn declares(&self, place: Span) -> bool {
        self.extent.contains(place) && !self.hoists(place)
    }

    /// Is it the declaration of a variable that serial statements declare and others use?
    pub(super) fn hoists(&self, place: Span) -> bool {
        self.serial.as_ref().is_some_and(|run| run.hoisted.iter().any(|hoisted| hoisted.declares(place)))
    }

    /// The innermost directive, which becomes the kernel's; none for serial statements.
    pub(super) fn directive(&self) -> Option<ConstructId> {
        self.chain.constructs.last().copied()
    }
}

/// Reads one loop; the reasons are those for which the region is refused.
pub(super) fn read(names: &Names<'_>, chain: &Chain, clauses: LoopClauses) -> Result<Kernel, Vec<Reason>> {
    let cx = names.cx;
    let construct = cx.constructs.construct(chain.innermost());
    let Some(body) = construct.body else {
        let message = "there is no loop behind this directive";
        return Err(vec![Reason::new(ReasonCode::NotCanonical, construct.body_span, message)]);
    };
    let depth = clauses.collapse.map_or(Some(1), |span| cx.file.show(span).trim().parse::<usize>().ok());
    let Some(depth) = depth.filter(|depth| *depth <= 16) else {
        let message = "the depth of `collapse` is no plain number";
        return Err(vec![Reason::new(ReasonCode::NotCanonical, clauses.collapse.unwrap_or_default(), message)]);
    };
    let nest = canonical_nest(cx.file, cx.tree, body, depth)
        .map_err(|(problem, span)| vec![Reason::new(ReasonCode::NotCanonical, span, problem.explanation())])?;
    let mut kernel = Kernel {
        chain: chain.clone(),
        clauses,
        nest,
        serial: None,
        extent: construct.body_span,
        variables: BTreeMap::new(),
        private: Vec::new(),
        shared: BTreeSet::new(),
        named: BTreeSet::new(),
        assumed: Vec::new(),
        own_writes: None,
        address_sources: BTreeSet::new(),
    };
    kernel.private = private_names(&kernel);
    kernel.shared = shared_names(&kernel);
    let mut reader = Reader { names, kernel: &mut kernel, reasons: Vec::new() };
    reader.statements(body);
    reader.constructs(body);
    for used in uses_below(cx.file, cx.tree, body) {
        reader.name(&used);
    }
    reader.clause_expressions();
    let reasons = reader.reasons;
    kernel.follow_own_pointers();
    kernel.take_from_parallel(cx);
    kernel.find_written_first(names, body);
    if reasons.is_empty() { Ok(kernel) } else { Err(reasons) }
}

/// Is a member taken of a variable, an element, another member or a pointer's target?
fn has_plain_base(tree: &HostTree, field: NodeId) -> bool {
    let mut at = tree.child(field, "argument");
    while let Some(node) = at {
        at = match tree.kind(node) {
            "identifier" | "this" | "qualified_identifier" => return true,
            "field_expression" | "subscript_expression" => tree.child(node, "argument"),
            "parenthesized_expression" => tree.named_children(node).next(),
            "pointer_expression" if tree.child(node, "operator").is_some_and(|op| tree.kind(op) == "*") => {
                tree.child(node, "argument")
            }
            "binary_expression" => tree.child(node, "left"),
            "cast_expression" => tree.child(node, "value"),
            _ => return false,
        };
    }
    false
}

fn shared_names(kernel: &Kernel) -> BTreeSet<String> {
    let lists = kernel.clauses.kept.iter().filter_map(|kept| match kept {
        KeptClause::Shared(clause) => Some(clause.items()),
        KeptClause::OfParallel(clause, items) if clause.name == ClauseName::Shared => Some(items.as_slice()),
        _ => None,
    });
    lists.flatten().filter_map(|item| item.base.clone()).collect()
}

fn private_names(kernel: &Kernel) -> Vec<String> {
    let clauses = &kernel.clauses;
    let lists = [&clauses.private, &clauses.firstprivate, &clauses.linear];
    let mut names: Vec<String> = lists.into_iter().flatten().filter_map(|item| item.base.clone()).collect();
    names.extend(clauses.reductions.iter().filter_map(|reduction| reduction.item.base.clone()));
    // The iteration variables of the associated loops are private by rule (OpenMP 5.2, section 5.1.1).
    names.extend(kernel.nest.loops.iter().filter(|l| !l.declared_in_loop).map(|l| l.variable.clone()));
    names
}

struct Reader<'a, 'n> {
    names: &'a Names<'n>,
    kernel: &'a mut Kernel,
    reasons: Vec<Reason>,
}

impl Reader<'_, '_> {
    fn refuse(&mut self, code: ReasonCode, span: Span, message: impl Into<String>) {
        self.reasons.push(Reason::new(code, span, message));
    }

    /// Statements and expressions that may not stand in a kernel at all.
    fn statements(&mut self, body: NodeId) {
        let tree = self.names.cx.tree;
        for node in tree.descendants(body) {
            let span = tree.span(node);
            match tree.kind(node) {
                "return_statement" if self.is_in_plain_lambda(node, body) => {}
                "lambda_expression" if self.is_plain_lambda(node, body) => {}
                "for_range_loop" if self.names.range_element(node).is_some() => {}
                "return_statement"
                | "goto_statement"
                | "labeled_statement"
                | "throw_statement"
                | "try_statement"
                | "co_await_expression"
                | "co_return_statement"
                | "co_yield_statement" => {
                    self.refuse(ReasonCode::JumpOut, span, "control may leave the loop here");
                }
                "gnu_asm_expression" => {
                    self.refuse(ReasonCode::TeamDependent, span, "inline assembly may depend on the team");
                }
                "user_defined_literal"
                | "lambda_expression"
                | "new_expression"
                | "delete_expression"
                | "operator_name"
                | "for_range_loop" => {
                    self.refuse(ReasonCode::HiddenCode, span, "what this calls or captures is not followed");
                }
                // clang 19 takes it in a `target` construct, but not in a combined one.
                "compound_literal_expression" => {
                    let message = "compilers refuse this expression in a combined construct";
                    self.refuse(ReasonCode::CompilerLimit, span, message);
                }
                "field_expression" if !has_plain_base(tree, node) => {
                    let message = "compilers refuse a member of this expression in a combined construct";
                    self.refuse(ReasonCode::CompilerLimit, span, message);
                }
                "type_descriptor" if !self.names.is_builtin_type(span) => {
                    if let Some(name) = self.names.type_parameter_in(&self.names.cx.file.show(span), span.start) {
                        self.assume_arithmetic(&name, span);
                        continue;
                    }
                    self.refuse(
                        ReasonCode::HiddenCode,
                        span,
                        "operators and conversions of this type are not followed",
                    );
                }
                "this" if self.names.member_of_this(tree, node, span.start).is_none() => {
                    self.refuse(ReasonCode::HiddenCode, span, "what is done with `*this` is not followed");
                }
                "storage_class_specifier" if self.names.cx.file.bytes(span) != b"register" => {
                    self.refuse(ReasonCode::LocalDeclaration, span, "this variable outlives the loop");
                }
                kind if kind.starts_with("preproc") => {
                    let message = "which text the compiler sees depends on the preprocessor";
                    self.refuse(ReasonCode::PreprocessorConditional, span, message);
                }
                _ => {}
            }
        }
    }

    /// Is it a variable of the loop's own, and not one of the region or from before it?
    fn declares_lambda(&self, used: &Use) -> bool {
        let declared = self.names.declared_at(&used.name, used.span.start);
        self.kernel.serial.is_none() && declared.is_some_and(|at| self.kernel.declares(at))
    }

    fn is_plain_lambda(&self, lambda: NodeId, body: NodeId) -> bool {
        self.kernel.serial.is_none() && self.names.is_plain_lambda(lambda, self.names.cx.tree.span(body))
    }

    /// Does a `return` end a lambda of the loop, and not the function around it?
    fn is_in_plain_lambda(&self, node: NodeId, body: NodeId) -> bool {
        let tree = self.names.cx.tree;
        let mut inside = tree.ancestors(node).take_while(|above| *above != body);
        inside
            .find(|above| tree.kind(*above) == "lambda_expression")
            .is_some_and(|lambda| self.is_plain_lambda(lambda, body))
    }

    /// Directives inside the loop: `simd` and `atomic` may stand there.
    fn constructs(&mut self, body: NodeId) {
        let cx = self.names.cx;
        let span = cx.tree.span(body);
        for (construct, directive) in cx.constructs.within(span) {
            match directive.name.as_str() {
                "simd" | "unroll" | "tile" => {}
                name if name == "atomic" || name.starts_with("atomic ") => self.atomic(construct.body_span),
                name if construct.leaves.iter().any(|leaf| matches!(leaf, Leaf::Parallel | Leaf::Loop)) => {
                    let message = format!("`{name}` is nested in the loop");
                    self.refuse(ReasonCode::NestedParallel, directive.span, message);
                }
                _ => self.reasons.push(super::shape::outside_loop(directive)),
            }
        }
    }

    fn atomic(&mut self, body: Span) {
        let cx = self.names.cx;
        let node = cx.tree.covering(body);
        let nodes = std::iter::once(node).chain(cx.tree.ancestors(node));
        let mut inside = nodes.take_while(|above| cx.tree.parent(*above) != cx.tree.parent(self.kernel.nest.body));
        let waits = inside.any(|above| self.may_wait(above)) || self.may_wait(self.kernel.nest.body);
        if waits {
            let message = "an atomic operation in this loop may wait for another thread, which a league cannot promise";
            self.refuse(ReasonCode::TeamDependent, body, message);
        }
        for used in uses_below(cx.file, cx.tree, node) {
            let wide = matches!(used.role, Role::Write | Role::ElementWrite)
                && self.names.kind(&used.name, used.span.start).is_wide();
            if wide {
                let message = format!("`{}` is wider than 64 bits", used.name);
                self.refuse(ReasonCode::WideAtomic, used.span, message);
            }
        }
    }

    /// Is it a loop that runs until something happens?
    fn may_wait(&self, node: NodeId) -> bool {
        let cx = self.names.cx;
        match cx.tree.kind(node) {
            "while_statement" | "do_statement" => true,
            "for_statement" => canonical_nest(cx.file, cx.tree, node, 1).is_err(),
            _ => false,
        }
    }

    /// Takes one use of a name in the loop.
    fn name(&mut self, used: &Use) {
        let cx = self.names.cx;
        if used.name == "this" {
            // What cannot be told apart is refused where the statements are read.
            if let Some((node, name)) = self.names.member_of_this(cx.tree, used.node, used.span.start) {
                let role = role_of_expression(cx.tree, node);
                self.name(&Use { name, span: cx.tree.span(node), node, role });
            }
            return;
        }
        if used.role == Role::Declaration && !self.names.calls_own_lambda(used) {
            return self.local(used);
        }
        if self.names.calls_own_lambda(used) && self.declares_lambda(used) {
            return;
        }
        if used.role == Role::Callee {
            if let Some(reason) = self.names.call_reason(used) {
                return self.reasons.push(reason);
            }
            if let Some(parameter) = self.names.type_parameter_in(&used.name, used.span.start) {
                return self.assume_arithmetic(&parameter, used.span);
            }
        }
        if let Some(Some(names)) = self.names.expansion(&used.name, used.span.start) {
            return self.macro_names(used, names);
        }
        if used.role == Role::Callee {
            return;
        }
        let declared_at = self.names.declared_at(&used.name, used.span.start);
        if declared_at.is_some_and(|at| self.kernel.declares(at)) {
            self.own_pointer(used);
            return self.hidden_code(used, self.names.kind(&used.name, used.span.start));
        }
        self.kernel.named.insert(used.name.clone());
        let kind = self.names.kind(&used.name, used.span.start);
        match &kind {
            Kind::Unknown => {
                let message = format!("`{}` is declared nowhere in sight, or its type is not understood", used.name);
                return self.refuse(ReasonCode::UnknownName, used.span, message);
            }
            Kind::Macro => {
                let message = format!("the macro `{}` is no plain expression", used.name);
                return self.refuse(ReasonCode::OpaqueMacro, used.span, message);
            }
            Kind::Member(inner) if matches!(**inner, Kind::Unknown | Kind::Volatile) => {
                let message = format!("the type of the member `{}` is not understood", used.name);
                return self.refuse(ReasonCode::UnknownName, used.span, message);
            }
            Kind::Volatile => {
                let message =
                    format!("`{}` is volatile or atomic: another thread may change it at any time", used.name);
                return self.refuse(ReasonCode::TeamDependent, used.span, message);
            }
            Kind::Constant if self.names.constant_may_hide_code(used) => {
                let message = format!("an operator may be declared for `{}`", used.name);
                return self.refuse(ReasonCode::HiddenCode, used.span, message);
            }
            Kind::Constant => return,
            Kind::Function => {
                let message = format!("the function `{}` is used as a value", used.name);
                return self.refuse(ReasonCode::UnknownCall, used.span, message);
            }
            _ => self.hidden_code(used, kind.clone()),
        }
        if self.names.is_threadprivate(&used.name) {
            self.refuse(ReasonCode::Threadprivate, used.span, format!("`{}` is threadprivate", used.name));
        }
        if self.kernel.private.contains(&used.name) {
            self.own_pointer(used);
        } else {
            self.address_source(used, &kind);
            self.outside(used, kind);
        }
    }

    /// The variables that a macro names are used as the macro is.
    fn macro_names(&mut self, used: &Use, names: Vec<String>) {
        let role = if used.role == Role::Callee { role_of_call(self.names.cx.tree, used.node) } else { used.role };
        for name in names {
            let kind = self.names.kind(&name, used.span.start);
            // What is assigned through a macro may be any element that it names.
            let role = match (role, &kind) {
                (Role::Write | Role::ElementWrite, Kind::Pointer { .. } | Kind::Array { .. }) => Role::ElementWrite,
                (Role::ElementWrite, _) => Role::Read,
                _ => role,
            };
            self.name(&Use { name, role, ..used.clone() });
        }
    }

    /// In C++, operators on a class may call anything.
    fn hidden_code(&mut self, used: &Use, kind: Kind) {
        let cpp = self.names.cx.tree.language() == Language::Cpp;
        let parameter = self.names.type_parameter_of(used);
        if let Some(parameter) = parameter.filter(|_| kind.may_hide_code()) {
            return self.assume_arithmetic(&parameter, used.span);
        }
        let plain = || self.names.is_plain_use(used, &kind);
        let hides = used.role == Role::MethodCall || (cpp && kind.may_hide_code() && !plain());
        if hides && !self.names.is_value_use(used) {
            let message =
                format!("`{}` may be of class type, whose operators and functions are not followed", used.name);
            self.refuse(ReasonCode::HiddenCode, used.span, message);
        }
    }

    /// The operators of a template's parameter are the language's own if it is an arithmetic type.
    fn assume_arithmetic(&mut self, parameter: &str, span: Span) {
        if self.kernel.assumed.is_empty() && !self.names.is_arithmetic_parameter(parameter, span.start) {
            self.kernel.assumed.push(type_parameters::reason(parameter, span));
        }
    }

    fn local(&mut self, used: &Use) {
        let kind = self.names.kind(&used.name, used.span.start);
        self.hidden_code(used, kind.clone());
        if self.kernel.hoists(used.span) {
            self.outside(&Use { role: Role::Write, ..used.clone() }, kind);
        }
    }

    fn outside(&mut self, used: &Use, kind: Kind) {
        if matches!(kind, Kind::Member(_)) {
            // It is mapped with `*this`, and restated where a clause names it.
            self.outside(&Use { name: "this".to_owned(), ..used.clone() }, Kind::Struct);
        }
        let handed_on = used.role == Role::Argument && !self.names.argument_is_only_read(used);
        let tree = self.names.cx.tree;
        let by_reference = handed_on
            && tree.language() == Language::Cpp
            && !is_element_address(tree, used.node)
            && !self.names.argument_is_copied(used);
        let is_object = matches!(kind, Kind::Scalar { .. } | Kind::Pointer { .. } | Kind::Struct | Kind::Member(_));
        let written = matches!(used.role, Role::Write | Role::Address) || (by_reference && is_object);
        let casts =
            self.names.cx.tree.ancestors(used.node).take(4).any(|n| self.names.cx.tree.kind(n) == "cast_expression");
        let member = member_of(self.names.cx.file, self.names.cx.tree, used.node);
        let elements = used.role == Role::ElementWrite || handed_on || (used.role == Role::Address && !is_object);
        let variable = self.kernel.variables.entry(used.name.clone()).or_insert(Variable {
            kind,
            first: used.span,
            written: None,
            elements_written: None,
            members_written: BTreeSet::new(),
            any_class: false,
            address: false,
            written_first: false,
        });
        variable.any_class |= handed_on || casts;
        variable.address |= used.role == Role::Address || by_reference;
        if written {
            variable.written = variable.written.or(Some(used.span));
        }
        if elements {
            variable.members_written.insert(member.unwrap_or_default());
            variable.elements_written = variable.elements_written.or(Some(used.span));
        }
    }

    /// The expressions of the loop's clauses read variables too.
    fn clause_expressions(&mut self) {
        for (name, at) in self.kernel.names_in_clauses(self.names) {
            self.kernel.named.insert(name.clone());
            let kind = self.names.kind(&name, at.start);
            if matches!(kind, Kind::Scalar { .. } | Kind::Pointer { .. } | Kind::Array { .. } | Kind::Struct)
                && !self.kernel.private.contains(&name)
            {
                self.kernel.variables.entry(name).or_insert(Variable {
                    kind,
                    first: at,
                    written: None,
                    elements_written: None,
                    members_written: BTreeSet::new(),
                    any_class: false,
                    address: false,
                    written_first: false,
                });
            }
        }
    }
}
