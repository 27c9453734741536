//! What the body does with each name in it.

use std::collections::BTreeMap;

use super::{Expansion, Obstacle, Reader, ScalarUse};
use crate::semantics::calls::{computes, is_one_operation, is_pure};
use crate::semantics::symbols::{DeclaredType, NameKind, Variable};
use crate::semantics::uses::{Role, Use, uses_below};
use crate::source::{Language, Span};
use crate::syntax::{NodeId, NodeKind};

impl Reader<'_, '_> {
    pub(super) fn names(&mut self) {
        let expansions = self.expansions.iter().filter(|known| !known.is_bound);
        let mut inside: Vec<(&Expansion, BTreeMap<String, bool>)> =
            expansions.map(|known| (known, BTreeMap::new())).collect();
        for used in uses_below(self.file, self.tree, self.body) {
            match inside.iter_mut().find(|(known, _)| known.span.contains(used.span)) {
                None => self.name(&used),
                Some((_, seen)) if self.is_scalar(&used) => {
                    *seen.entry(used.name.clone()).or_default() |= used.role == Role::Write;
                    self.name(&used);
                }
                Some(_) => {}
            }
        }
        self.types(self.body);
        for (known, seen) in inside {
            self.reading_expansion(known.span, |reader, root| {
                for used in uses_below(reader.file, reader.tree, root) {
                    reader.expanded_name(&used, &seen);
                }
                reader.types(root);
            });
        }
        self.found.accesses.sort_by_key(|access| access.span.start);
        self.found.scalars.sort_by_key(|used| used.span.start);
    }

    /// Notes a use within the text that replaces an expression (of a macro or an inlined function). `seen` are the
    /// scalars that the original text names, and whether it writes them; those are noted from the original text.
    fn expanded_name(&mut self, used: &Use, seen: &BTreeMap<String, bool>) {
        let is_shown = seen.get(&used.name).copied();
        if used.role == Role::Write && is_shown != Some(true) {
            let message = format!("what stands behind a macro or call writes `{}`", used.name);
            return self.trouble(Obstacle::NotPlain, used.span, message);
        }
        if is_shown.is_none() || used.role == Role::Callee {
            self.name(used);
        }
    }

    /// Is it a number, which has no elements?
    fn is_scalar(&self, used: &Use) -> bool {
        let at = self.placed(used.span).start;
        self.symbols.macro_definition(&used.name, at).is_none()
            && self
                .variable(&used.name, at)
                .is_some_and(|found| found.kind == NameKind::Variable && found.ty.is_scalar())
    }

    /// Refuses class types that the body names: a conversion to or from a class is a function call.
    fn types(&mut self, root: NodeId) {
        let tree = self.tree;
        let named = tree.descendants(root).filter(|node| self.is_cpp() && tree.kind(*node) == NodeKind::TypeIdentifier);
        for node in named.collect::<Vec<_>>() {
            let span = self.placed(tree.span(node));
            let name = self.text(node).into_owned();
            if self.may_hide_code(&self.symbols.type_named(&name, span.start), span.start) {
                let message = format!("`{name}` may be a class, whose operators and functions are not followed");
                self.trouble(Obstacle::Hidden, span, message);
            }
        }
    }

    /// Is it the name of a macro with parameters that stands without any, so that it means what is declared by it?
    fn is_name_alone(&self, used: &Use) -> bool {
        let at = used.span;
        let rest = self.file.bytes(Span::new(at.end, self.file.text.len()));
        let next = rest.iter().find(|byte| !byte.is_ascii_whitespace());
        let ends = matches!(next, Some(b')' | b']' | b'}' | b';' | b',' | b'+' | b'-' | b'*' | b'.' | b'['));
        let mut all = self.symbols.macros_named(&used.name, at.start).into_iter();
        ends && self.place.is_none() && all.all(|found| found.parameters.is_some() && !found.is_elsewhere)
    }

    fn name(&mut self, used: &Use) {
        let (name, span) = (&used.name, self.placed(used.span));
        if self.symbols.macro_definition(name, span.start).is_some() && !self.is_name_alone(used) {
            if matches!(used.role, Role::Callee | Role::Declaration)
                || self.value(used.node).is_none() && !self.is_number(name, span.start)
            {
                self.trouble(Obstacle::Macro, span, format!("the macro `{name}` is no number"));
            }
            return;
        }
        if self.place.is_none() && self.passed.contains(&used.node) {
            return;
        }
        if used.role == Role::Callee {
            return self.call(used);
        }
        let Some(variable) = self.variable(name, span.start) else {
            if !is_limit(name) {
                let message = format!("declaration of `{name}` not found, or several that differ");
                self.trouble(Obstacle::UnknownName, span, message);
            }
            return;
        };
        match variable.kind {
            NameKind::Variable => {}
            NameKind::Enumerator => return,
            NameKind::TemplateParameter if variable.ty.is_scalar() => return,
            _ => return self.trouble(Obstacle::Call, span, format!("`{name}` is no variable")),
        }
        if matches!(used.role, Role::MethodCall) || (self.is_cpp() && self.may_hide_code(&variable.ty, span.start)) {
            if used.role != Role::MethodCall && is_unknown(&variable.ty) {
                return self.trouble(Obstacle::UnknownType, span, format!("type of `{name}` unknown"));
            }
            let message =
                format!("`{name}` is an object whose class may run code of its own in operators and functions");
            return self.trouble(Obstacle::Hidden, span, message);
        }
        match used.role {
            Role::Declaration => self.local(used, &variable),
            Role::Address => {
                self.trouble(Obstacle::Pointer, span, format!("the address of `{name}` is taken in the loop"));
            }
            _ if self.is_inside(&variable) => self.use_of_local(used, &variable),
            _ => self.use_from_outside(used, &variable),
        }
    }

    fn local(&mut self, used: &Use, variable: &Variable) {
        if let Some(followed) = self.followed(variable) {
            return self.passed.extend(followed.names);
        }
        let message = match &variable.ty {
            _ if variable.is_static || variable.is_extern || variable.is_thread_local => "outlives the iteration",
            ty if ty.is_volatile() => "is volatile",
            DeclaredType::Scalar { .. } | DeclaredType::TypeParameter { .. } | DeclaredType::Record { .. } => return,
            DeclaredType::Array { element, .. } if element.is_scalar() => return,
            _ => "is a pointer, a reference or of a type that is not understood",
        };
        self.trouble(Obstacle::Pointer, used.span, format!("`{}` {message}", used.name));
    }

    /// Variables of the body belong to one iteration. Only through a pointer in a member could an iteration reach data
    /// of others.
    fn use_of_local(&mut self, used: &Use, variable: &Variable) {
        if variable.ty.is_pointer() && self.followed(variable).is_some() {
            return self.element(used, variable);
        }
        let is_plain = variable.ty.is_scalar()
            || matches!(&variable.ty, DeclaredType::Array { element, .. } if element.is_scalar());
        let tree = self.tree;
        let goes_on = tree
            .ancestors(used.node)
            .take(3)
            .any(|above| matches!(tree.kind(above), NodeKind::SubscriptExpression | NodeKind::PointerExpression));
        if !is_plain && goes_on {
            let message = format!("a member of `{}` may be a pointer", used.name);
            self.trouble(Obstacle::Pointer, used.span, message);
        }
        let is_address = matches!(variable.ty, DeclaredType::Array { .. }) && !goes_on;
        if is_address {
            self.trouble(Obstacle::Pointer, used.span, format!("`{}` stands for an address here", used.name));
        }
    }

    fn use_from_outside(&mut self, used: &Use, variable: &Variable) {
        let key = variable.id();
        let writes = matches!(used.role, Role::Write);
        let span = self.placed(used.span);
        if self.loop_of(key, span.start).is_some() {
            return;
        }
        match &variable.ty {
            ty if ty.is_volatile() => {
                self.trouble(Obstacle::NotPlain, used.span, format!("`{}` is volatile", used.name));
            }
            DeclaredType::Scalar { .. } | DeclaredType::TypeParameter { .. } => {
                let name = used.name.clone();
                // A name that only the replacing text has is reported at the whole expression.
                let node = if self.place.is_none() { used.node } else { self.main.covering(span) };
                self.found.scalars.push(ScalarUse { name, key, writes, span, node });
            }
            DeclaredType::Pointer { .. } | DeclaredType::ArrayParameter { .. } if writes => {
                self.trouble(Obstacle::Pointer, used.span, format!("the loop sets the pointer `{}`", used.name));
            }
            DeclaredType::Pointer { .. }
            | DeclaredType::ArrayParameter { .. }
            | DeclaredType::Array { .. }
            | DeclaredType::Record { .. } => self.element(used, variable),
            DeclaredType::Reference { .. } => {
                let message = format!("`{}` is a reference: it may be another name of something else", used.name);
                self.trouble(Obstacle::Pointer, used.span, message);
            }
            _ => {
                let message = format!("the type of `{}` is not understood", used.name);
                self.trouble(Obstacle::UnknownName, used.span, message);
            }
        }
    }

    /// Accepts a call if the function only computes a number from numbers, and what looks like one and converts to a number.
    fn call(&mut self, used: &Use) {
        let at = self.placed(used.span).start;
        if self.is_cpp() && self.is_number_type(&used.name, at) {
            return;
        }
        let is_own = !self.symbols.function_definitions(&used.name).is_empty();
        let is_known = match is_own {
            true => computes(self.symbols, &used.name, at),
            false => is_pure(&used.name) && self.symbols.calls_library_in(None, &used.name, at),
        };
        if !is_own && is_known && self.place.is_none() && is_one_operation(&used.name) {
            self.found.instructions.push(used.span);
        }
        if !is_known {
            self.trouble(Obstacle::Call, used.span, format!("what `{}` does is not followed", used.name));
        }
    }

    /// Is it a macro for a floating-point number?
    fn is_number(&self, name: &str, at: usize) -> bool {
        let definition = self.symbols.macro_definition(name, at);
        definition.is_some_and(|found| found.parameters.is_none() && found.is_floating())
    }

    /// Does a name mean a number's type, or a template's parameter that is taken for one?
    pub(super) fn is_number_type(&self, name: &str, at: usize) -> bool {
        let found = self.symbols.lookup(name, at);
        found.is_some_and(|found| {
            matches!(found.kind, NameKind::Type | NameKind::TemplateParameter)
                && found.ty.is_scalar()
                && !found.ty.is_volatile()
                && !self.may_hide_code(&found.ty, at)
        })
    }

    /// In C++: may an operator on it be a function?
    fn may_hide_code(&self, ty: &DeclaredType, at: usize) -> bool {
        match ty {
            DeclaredType::Scalar { number, .. } => number.is_enumeration() && self.symbols.declares_operators(),
            DeclaredType::TypeParameter { .. } => false,
            DeclaredType::Array { element: inner, .. }
            | DeclaredType::ArrayParameter { element: inner, .. }
            | DeclaredType::Pointer { pointee: inner, .. }
            | DeclaredType::Reference { to: inner } => self.may_hide_code(inner, at),
            DeclaredType::Record { .. } => !self.symbols.is_plain_record(ty, at) || self.symbols.declares_operators(),
            _ => true,
        }
    }

    pub(super) fn is_cpp(&self) -> bool {
        self.tree.language() == Language::Cpp
    }
}

/// Is a type, or what it leads to, declared nowhere in sight?
fn is_unknown(ty: &DeclaredType) -> bool {
    match ty {
        DeclaredType::Unknown => true,
        DeclaredType::Array { element: inner, .. }
        | DeclaredType::ArrayParameter { element: inner, .. }
        | DeclaredType::Pointer { pointee: inner, .. }
        | DeclaredType::Reference { to: inner } => is_unknown(inner),
        _ => false,
    }
}

/// Constants of the standard headers.
fn is_limit(name: &str) -> bool {
    let named = ["INFINITY", "NAN", "HUGE_VAL", "true", "false", "NULL"];
    let limits = ["INT", "UINT", "LONG", "ULONG", "FLT", "DBL", "CHAR", "SHRT"];
    let limited = name
        .rsplit_once('_')
        .is_some_and(|(start, end)| limits.contains(&start) && matches!(end, "MAX" | "MIN" | "EPSILON"));
    named.contains(&name) || limited || ["M_PI", "M_E", "M_SQRT2", "M_LN2", "M_PI_2", "M_PI_4"].contains(&name)
}
