//! Functions whose calls may stand in a kernel, and types whose operators are the language's own.

use crate::plan::{Reason, ReasonCode};
use crate::semantics::Program;
use crate::semantics::calls::{Effects, is_pure, takes_values};
use crate::semantics::names::kinds::is_builtin;
use crate::semantics::names::storage::last_part;
use crate::semantics::symbols::{DeclaredType, NameKind};
use crate::semantics::uses::{Role, Use};
use crate::source::{Language, Span, words};
use crate::syntax::{Call, Field, NodeId, NodeKind};

impl Program<'_> {
    /// Why a call keeps the region from being split.
    pub(crate) fn call_reason(&self, used: &Use) -> Option<Reason> {
        if let Some(expanded) = self.expansion(&used.name, used.span.start) {
            let message = format!("the macro `{}` is no plain expression", used.name);
            return expanded.is_none().then(|| Reason::new(ReasonCode::OpaqueMacro, used.span, message));
        }
        if self.declared().variant_ranges.iter().any(|range| self.declares(*range, last_part(&used.name))) {
            let message = format!("`{}` has variants, chosen by the constructs around the call", used.name);
            return Some(Reason::new(ReasonCode::TeamDependent, used.span, message));
        }
        if self.tree.language() == Language::Cpp && self.returns_class(&used.name) {
            let message =
                format!("what `{}` returns may be of class type, whose operators are not followed", used.name);
            return Some(Reason::new(ReasonCode::HiddenCode, used.span, message));
        }
        let at = used.span.start;
        if self.is_value_class_named(&used.name, at) {
            return None;
        }
        let converts = || self.is_conversion(&used.name, at) || self.type_parameter_in(&used.name, at).is_some();
        if self.tree.language() == Language::Cpp && !used.name.contains('<') && converts() {
            return None;
        }
        if !self.is_made_for_numbers(used) {
            let message = format!("`{}` may be made for a class, whose operators are not followed", used.name);
            return Some(Reason::new(ReasonCode::HiddenCode, used.span, message));
        }
        let effects = self.calls().effects(self.symbols(), &used.name, used.span.start);
        if let Some(word) = self.replaceable(&used.name, &effects) {
            let message =
                format!("the function `{}` is {word}: what is called may be another, or may change", used.name);
            return Some(Reason::new(ReasonCode::UnknownCall, used.span, message));
        }
        let reason = |code, message: String| Some(Reason::new(code, used.span, message));
        if effects.openmp.is_some() {
            return reason(
                ReasonCode::TeamDependent,
                format!("`{}` reaches an OpenMP construct or query, whose meaning depends on the team", used.name),
            );
        }
        if let Some((name, _)) = effects.unknown_callee {
            return reason(
                ReasonCode::UnknownCall,
                format!("the body of `{name}` is not in sight: list its file under `sources` in .ompsplit.toml"),
            );
        }
        if effects.writes_globals || effects.writes_members || effects.output {
            return reason(
                ReasonCode::UnknownCall,
                format!("`{}` writes global data or output, and may be called in another order", used.name),
            );
        }
        None
    }

    /// Are the arguments that a call writes for a template types of numbers, if it writes any?
    fn is_made_for_numbers(&self, callee: &Use) -> bool {
        // One that is left makes a reference, which is looked at where it stands.
        if matches!(callee.name.as_str(), "static_cast" | "reinterpret_cast" | "const_cast") {
            return true;
        }
        let tree = self.tree;
        let Some(function) = Call::around(tree, callee.node).and_then(Call::function) else { return true };
        let lists = tree.descendants(function).filter(|node| tree.kind(*node) == NodeKind::TemplateArgumentList);
        lists.into_iter().all(|list| {
            let text = self.file.show(tree.span(list));
            !text.contains(['&', '*', '(']) && self.is_builtin_text(text.trim_matches(['<', '>']), callee.span.start)
        })
    }

    /// Does a call return a number if its arguments are numbers?
    pub(super) fn returns_number(&self, call: NodeId) -> bool {
        let Some(function) = self.tree.child(call, Field::Function) else { return false };
        let span = self.tree.span(function);
        let name: String = self.file.show(span).split_whitespace().collect();
        let name = name.split('<').next().unwrap_or_default().to_owned();
        match self.symbols().function_definitions(&name).is_empty() {
            true => is_pure(&name) || self.is_conversion(&name, span.start),
            false => !self.returns_class(&name),
        }
    }

    /// Is what looks like a call a conversion to a number?
    fn is_conversion(&self, name: &str, at: usize) -> bool {
        let found = self.symbols().lookup(name, at).map(|variable| variable.kind);
        matches!(found, None | Some(NameKind::Type)) && self.is_builtin_text(name, at)
    }

    /// May a function of the file return an object of class type?
    fn returns_class(&self, name: &str) -> bool {
        self.symbols().function_definitions(name).into_iter().any(|(header, node)| {
            let Some((file, tree)) = self.symbols().source_of(header) else { return true };
            let ty = tree.child(node, Field::Type).map(|ty| file.show(tree.span(ty)).into_owned());
            // What is deduced from numbers is a number.
            let deduced = |ty: &str| {
                header.is_none() && self.type_parameter_in(ty, tree.span(node).start).is_some_and(|name| name == *ty)
            };
            ty.is_none_or(|ty| {
                let at = tree.span(node).start;
                !self.is_void_or_builtin(&ty, at) && !deduced(&ty) && !self.is_value_class_named(&ty, at)
            })
        })
    }

    /// In C every type; in C++ one whose operators are the language's own.
    pub(crate) fn is_builtin_type(&self, descriptor: Span) -> bool {
        let text = self.file.show(descriptor);
        self.tree.language() == Language::C || self.is_builtin_text(&text, descriptor.start)
    }

    pub(super) fn is_void_or_builtin(&self, text: &str, at: usize) -> bool {
        self.symbols().type_written(None, text, at) == DeclaredType::Void || self.is_builtin_text(text, at)
    }

    pub(super) fn is_builtin_text(&self, text: &str, at: usize) -> bool {
        let names =
            text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).filter(|word| !word.is_empty());
        let mut types = names.filter(|word| !matches!(*word, "const" | "constexpr" | "inline" | "static"));
        types.all(|word| is_builtin(&self.symbols().type_written(None, word, at)))
    }

    /// What keeps the bodies that a call runs from being trusted.
    fn replaceable(&self, name: &str, effects: &Effects) -> Option<&'static str> {
        let untrusted = |(header, node): &(Option<usize>, NodeId)| {
            let (file, tree) = self.symbols().source_of(*header)?;
            self.untrusted_definition(&file.show(tree.span(*node)))
        };
        effects.bodies.iter().find_map(untrusted).or_else(|| self.is_weak(last_part(name)).then_some("weak"))
    }

    /// A word in a function's definition that keeps its body from being trusted. In C, an inline definition without
    /// `static` or `extern` provides no external definition (C17 6.7.4): which of the two is called is unspecified.
    pub(super) fn untrusted_definition(&self, text: &str) -> Option<&'static str> {
        let head = text.split('{').next().unwrap_or_default();
        let has = |wanted: &str| words(head).any(|word| word == wanted);
        let internal = has("static") || (has("extern") && !has("gnu_inline"));
        if self.tree.language() == Language::C && has("inline") && !internal {
            return Some("inline without `static`");
        }
        words(text).find_map(|word| match word {
            "weak" | "__weak__" => Some("weak"),
            "volatile" | "__volatile__" | "_Atomic" | "atomic" => Some("not deterministic"),
            _ => None,
        })
    }

    /// Does a line beside the definition, a prototype or `#pragma weak`, make a function weak?
    fn is_weak(&self, name: &str) -> bool {
        std::iter::once(self.file).chain(self.compilation.headers).any(|source| {
            let text = String::from_utf8_lossy(&source.text);
            let mut lines = text.lines().filter(|line| words(line).any(|word| matches!(word, "weak" | "__weak__")));
            lines.any(|line| words(line).any(|word| word == name))
        })
    }

    /// In C++: a constant of an enumeration, where operators are declared somewhere?
    pub(crate) fn constant_may_hide_code(&self, used: &Use) -> bool {
        let is_enumerator =
            self.symbols().lookup(&used.name, used.span.start).is_some_and(|v| v.kind == NameKind::Enumerator);
        is_enumerator && self.tree.language() == Language::Cpp && self.declares_operators()
    }

    pub(super) fn declares_operators(&self) -> bool {
        self.symbols().declares_operators()
    }

    /// Does a piece of the file name the function?
    fn declares(&self, range: Span, name: &str) -> bool {
        let text = self.file.show(range);
        words(&text).any(|word| word == name)
    }

    /// Is the argument handed to a function that takes it by value and only looks at it?
    pub(crate) fn argument_is_only_read(&self, used: &Use) -> bool {
        let tree = self.tree;
        let mut call = Call::around(tree, used.node);
        // What a macro hands on, the next call has; what is assigned through one is read elsewhere (`macros/lvalues`).
        let name = loop {
            let Some(function) = call.and_then(Call::function) else { return false };
            let name = self.file.show(tree.span(function)).into_owned();
            if self.expansion(&name, used.span.start).is_none() {
                break name;
            }
            if self.symbols().role_of_macro(function) != Role::Argument {
                return true;
            }
            call = call.and_then(|call| Call::around(tree, call.node));
        };
        let mut arguments = call.into_iter().flat_map(Call::arguments);
        let index = arguments.position(|argument| tree.span(argument).contains(used.span));
        if index.is_some_and(|index| self.lambda_takes_value(&name, used.span.start, index)) {
            return true;
        }
        let by_value = match self.symbols().lookup(&name, used.span.start).map(|variable| variable.ty.clone()) {
            Some(DeclaredType::Function { parameters, is_variadic }) => {
                !is_variadic && index.and_then(|index| parameters.get(index)).is_some_and(DeclaredType::is_scalar)
            }
            _ => false,
        };
        by_value || is_pure(&name) || self.is_conversion(&name, used.span.start)
    }

    /// Does a call in C++ get a copy of the argument, so that it can neither write the variable nor keep its address?
    pub(crate) fn argument_is_copied(&self, used: &Use) -> bool {
        let tree = self.tree;
        let Some(call) = Call::around(tree, used.node) else { return false };
        let Some(function) = call.function() else { return false };
        if self.symbols().grows_vector(call.node) {
            return true;
        }
        // `f<3>(x)`: a parameter of a plain type is one whatever the template's arguments are; one of type `T` need not be.
        let template =
            (tree.kind(function) == NodeKind::TemplateFunction).then(|| tree.child(function, Field::Name)).flatten();
        let name = self.file.show(tree.span(template.unwrap_or(function))).into_owned();
        let Some(found) = self.symbols().lookup(&name, used.span.start) else {
            return takes_values(&name);
        };
        let DeclaredType::Function { parameters, is_variadic } = &found.ty else { return false };
        let index = call.arguments().position(|argument| tree.span(argument).contains(used.span));
        let by_value = |parameter: &DeclaredType| match parameter {
            number if number.is_scalar() => template.is_none() || is_builtin(number),
            other => other.is_pointer(),
        };
        !is_variadic && index.and_then(|index| parameters.get(index)).is_some_and(by_value)
    }
}
