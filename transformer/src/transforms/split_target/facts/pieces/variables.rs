//! What each name in a kernel means, and what the kernel does with that variable.

use super::{Reader, Variable};
use crate::plan::ReasonCode;
use crate::semantics::Kind;
use crate::semantics::uses::{Role, Use, is_element_address, member_of, role_of_expression};
use crate::source::{Language, Span};
use crate::syntax::NodeKind;
use crate::transforms::checks::type_parameters;

impl Reader<'_, '_> {
    /// Notes one use of a name in the loop.
    pub(super) fn name(&mut self, used: &Use) {
        let cx = self.names;
        if used.name == "this" {
            // Cases that cannot be told apart are refused where the statements are read.
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
        if declared_at.is_some_and(|at| self.piece.declares(at)) {
            self.own_pointer(used);
            return self.hidden_code(used, self.names.kind(&used.name, used.span.start));
        }
        self.piece.named.insert(used.name.clone());
        let kind = self.names.kind(&used.name, used.span.start);
        match &kind {
            Kind::Unknown => {
                let message = match declared_at {
                    Some(_) => format!("type of `{}` unknown", used.name),
                    None => format!("declaration of `{}` not found", used.name),
                };
                return self.refuse_unseen(ReasonCode::UnknownName, used.span, message);
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
        let found = self.names.symbols().lookup(&used.name, used.span.start);
        if self.names.is_threadprivate(&used.name) || found.is_some_and(|found| found.is_thread_local) {
            self.refuse(ReasonCode::Threadprivate, used.span, format!("`{}` is threadprivate", used.name));
        }
        if self.piece.private.contains(&used.name) {
            self.own_pointer(used);
        } else {
            self.address_source(used, &kind);
            self.outside(used, kind);
        }
    }

    /// Does the loop itself declare the lambda, rather than the region or the code before it?
    fn declares_lambda(&self, used: &Use) -> bool {
        let declared = self.names.declared_at(&used.name, used.span.start);
        self.piece.serial.is_none() && declared.is_some_and(|at| self.piece.declares(at))
    }

    /// Notes the variables in a macro's text: they are read, or used like the macro itself.
    fn macro_names(&mut self, used: &Use, names: Vec<String>) {
        let through = self.names.assigned_through(used).flatten();
        // A callee may write through a pointer that is an argument.
        let role = match self.names.symbols().role_of_macro(used.node) {
            Role::Argument => Role::Argument,
            _ => Role::Read,
        };
        let names = through.unwrap_or_else(|| names.into_iter().map(|name| (name, role)).collect());
        for (name, role) in names {
            // What is still a macro in an expression whose macros are replaced stands for a number.
            if self.names.symbols().macro_definition(&name, used.span.start).is_none() {
                self.name(&Use { name, role, ..used.clone() });
            } else if self.names.kind(&name, used.span.start) != Kind::Constant {
                let message = format!("the macro `{name}` is no plain expression");
                self.refuse(ReasonCode::OpaqueMacro, used.span, message);
            }
        }
    }

    /// In C++, operators on a class may call anything.
    fn hidden_code(&mut self, used: &Use, kind: Kind) {
        let cpp = self.names.tree.language() == Language::Cpp;
        let parameter = self.names.type_parameter_of(used);
        if let Some(parameter) = parameter.filter(|_| kind.may_hide_code()) {
            return self.assume_arithmetic(&parameter, used.span);
        }
        let plain = || self.names.is_plain_use(used, &kind);
        let hides = used.role == Role::MethodCall || (cpp && kind.may_hide_code() && !plain());
        if hides && !self.names.is_value_use(used) {
            let message =
                format!("`{}` is an object whose class may run code of its own in operators and functions", used.name);
            self.refuse(ReasonCode::HiddenCode, used.span, message);
        }
    }

    /// Operators on a template parameter are the language's own if the type is arithmetic.
    pub(super) fn assume_arithmetic(&mut self, parameter: &str, span: Span) {
        if self.piece.assumed.is_empty() && !self.names.stands_for_numbers(parameter, span.start) {
            self.piece.assumed.push(type_parameters::reason(parameter, span));
        }
    }

    fn local(&mut self, used: &Use) {
        let kind = self.names.kind(&used.name, used.span.start);
        self.hidden_code(used, kind.clone());
        if self.piece.hoists(used.span) {
            self.outside(&Use { role: Role::Write, ..used.clone() }, kind);
        }
    }

    fn outside(&mut self, used: &Use, kind: Kind) {
        if matches!(kind, Kind::Member(_)) {
            // `this` is mapped as `*this`, and the kernel names it again if a clause of the region does.
            self.outside(&Use { name: "this".to_owned(), ..used.clone() }, Kind::Struct);
        }
        let handed_on = used.role == Role::Argument && !self.names.argument_is_only_read(used);
        let tree = self.names.tree;
        let by_reference = handed_on
            && tree.language() == Language::Cpp
            && !is_element_address(tree, used.node)
            && !self.names.argument_is_copied(used);
        let is_object = matches!(kind, Kind::Scalar { .. } | Kind::Pointer { .. } | Kind::Struct | Kind::Member(_));
        let written = matches!(used.role, Role::Write | Role::Address) || (by_reference && is_object);
        let casts = tree.ancestors(used.node).take(4).any(|n| self.names.tree.kind(n) == NodeKind::CastExpression);
        let member = member_of(self.names.file, self.names.tree, used.node);
        let elements = used.role == Role::ElementWrite || handed_on || (used.role == Role::Address && !is_object);
        let variable = self.piece.variables.entry(used.name.clone()).or_insert(Variable::read_at(kind, used.span));
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
    pub(super) fn clause_expressions(&mut self) {
        for (name, at) in self.piece.names_in_clauses(self.names) {
            self.piece.named.insert(name.clone());
            let kind = self.names.kind(&name, at.start);
            if matches!(kind, Kind::Scalar { .. } | Kind::Pointer { .. } | Kind::Array { .. } | Kind::Struct)
                && !self.piece.private.contains(&name)
            {
                self.piece.variables.entry(name).or_insert(Variable::read_at(kind, at));
            }
        }
    }
}
