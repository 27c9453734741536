//! Expressions of the C++ library in host code that reach no memory of the program but what their operands do: the time of a clock,
//! and output to a standard stream.

use super::{Reader, UnknownKind};
use crate::semantics::Program;
use crate::semantics::symbols::DeclaredType;
use crate::syntax::{Declaration, Field, NodeId, NodeKind};

/// How many variables an expression of time is followed through.
const DEPTH: usize = 8;

/// The streams that every C program has.
const C_STREAMS: &[&str] = &["stdin", "stdout", "stderr"];

const CLOCKS: &[&str] = &["steady_clock", "system_clock", "high_resolution_clock"];
const STREAMS: &[&str] = &["std::cout", "std::cerr", "std::clog"];
const MANIPULATORS: &[&str] = &["std::endl", "std::flush", "std::fixed", "std::scientific", "std::defaultfloat"];
const SETTERS: &[&str] = &["std::setw", "std::setprecision", "std::setfill"];

/// Structures of the system that hold a time.
const TIMES: &[&str] = &["timeval", "timespec", "tm"];

impl Reader<'_, '_> {
    /// Is a node a piece of code that does nothing but compute with times?
    pub(super) fn measures_time(&self, node: NodeId) -> bool {
        let tree = self.cx.tree;
        match tree.kind(node) {
            NodeKind::Declaration => {
                let declarators = || Declaration::of(tree, node).into_iter().flat_map(Declaration::declarators);
                let is_time = |declarator: NodeId| match tree.child(declarator, Field::Value) {
                    Some(value) => self.is_time(value, DEPTH),
                    None => self.has_time_type(node) && tree.kind(declarator) == NodeKind::Identifier,
                };
                (self.has_time_type(node) || self.is_placeholder(node))
                    && declarators().next().is_some()
                    && declarators().all(is_time)
            }
            NodeKind::CallExpression => self.is_time(node, DEPTH),
            NodeKind::AssignmentExpression => {
                let sides = [Field::Left, Field::Right].map(|field| tree.child(node, field));
                sides.into_iter().all(|side| side.is_some_and(|side| self.is_time(side, DEPTH)))
            }
            NodeKind::Identifier => self.is_time(node, DEPTH),
            _ => false,
        }
    }

    /// Is an expression the time of a clock, a difference of such, or how many ticks it has?
    fn is_time(&self, node: NodeId, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let tree = self.cx.tree;
        match tree.kind(node) {
            NodeKind::ParenthesizedExpression => {
                tree.named_children(node).next().is_some_and(|it| self.is_time(it, depth))
            }
            NodeKind::BinaryExpression if matches!(tree.operator(node), Some(NodeKind::Minus | NodeKind::Plus)) => {
                let sides = [Field::Left, Field::Right].map(|field| tree.child(node, field));
                sides.into_iter().all(|side| side.is_some_and(|side| self.is_time(side, depth)))
            }
            NodeKind::CallExpression => self.calls_clock(node, depth),
            NodeKind::Identifier => self.is_time_variable(node, depth),
            _ => false,
        }
    }

    fn calls_clock(&self, call: NodeId, depth: usize) -> bool {
        let tree = self.cx.tree;
        let Some(function) = tree.child(call, Field::Function) else { return false };
        let list = tree.child(call, Field::Arguments);
        let mut arguments = list.into_iter().flat_map(|list| tree.named_children(list));
        let name = self.compact(function);
        if tree.kind(function) == NodeKind::FieldExpression {
            let of = tree.child(function, Field::Argument);
            let is_count = name.ends_with(".count") || name.ends_with(".time_since_epoch");
            return is_count && arguments.next().is_none() && of.is_some_and(|of| self.is_time(of, depth));
        }
        let full = self.of_chrono(&name);
        let Some(rest) = full.as_deref() else { return false };
        if rest.strip_suffix("::now").is_some_and(|clock| CLOCKS.contains(&clock)) {
            return arguments.next().is_none();
        }
        let converts = ["duration_cast<", "duration<"].iter().any(|begin| rest.starts_with(begin));
        converts && arguments.all(|argument| self.is_time(argument, depth))
    }

    /// A variable that is declared with a type of `std::chrono`, or as `auto` with such a value.
    fn is_time_variable(&self, name: NodeId, depth: usize) -> bool {
        let tree = self.cx.tree;
        let span = tree.span(name);
        let Some((named, variable)) = self.cx.named(&self.cx.file.show(span), span.end) else { return false };
        if variable.header.is_some() || variable.ty.is_scalar() || variable.ty.is_pointer() {
            return false;
        }
        let node = tree.covering(named.id.declared_at);
        let Some(declaration) = tree.ancestors(node).find(|above| tree.kind(*above) == NodeKind::Declaration) else {
            return false;
        };
        let declarator = tree.parent(node).filter(|it| tree.kind(*it) == NodeKind::InitDeclarator);
        let is_plain = declarator.is_some_and(|it| tree.child(it, Field::Declarator) == Some(node));
        let value = declarator.and_then(|it| tree.child(it, Field::Value));
        self.has_time_type(declaration) && (is_plain || tree.parent(node) == Some(declaration))
            || self.is_placeholder(declaration) && is_plain && value.is_some_and(|value| self.is_time(value, depth))
    }

    fn has_time_type(&self, declaration: NodeId) -> bool {
        let ty = self.cx.tree.child(declaration, Field::Type).map(|ty| self.compact(ty));
        let rest = ty.as_deref().and_then(|ty| self.of_chrono(ty));
        rest.is_some_and(|rest| {
            let is_of_clock = rest.strip_suffix("::time_point").is_some_and(|clock| CLOCKS.contains(&clock));
            is_of_clock || rest.starts_with("time_point<std::chrono::") || rest.starts_with("duration<")
        })
    }

    /// What stands behind `std::chrono::` in a name, which may begin with another name of a clock: `using Clock = std::chrono::..;`.
    fn of_chrono(&self, name: &str) -> Option<String> {
        if let Some(rest) = name.strip_prefix("std::chrono::") {
            return Some(rest.to_owned());
        }
        let tree = self.cx.tree;
        let (alias, rest) = name.split_once("::")?;
        let kinds = [NodeKind::TypeDefinition, NodeKind::AliasDeclaration];
        let mut meant = tree.all_of(&kinds).filter(|node| {
            let names =
                tree.children(*node).filter(|part| matches!(tree.field(*part), Some(Field::Declarator | Field::Name)));
            names.into_iter().any(|part| self.compact(part) == alias)
        });
        let definition = meant.next().filter(|_| meant.next().is_none())?;
        let ty = self.compact(tree.child(definition, Field::Type)?);
        let clock = ty.strip_prefix("std::chrono::").filter(|clock| CLOCKS.contains(clock))?;
        let is_macro = self.cx.expansion(alias, tree.span(definition).end).is_some();
        (!is_macro).then(|| format!("{clock}::{rest}"))
    }

    fn is_placeholder(&self, declaration: NodeId) -> bool {
        let ty = self.cx.tree.child(declaration, Field::Type);
        ty.is_some_and(|ty| self.cx.tree.kind(ty) == NodeKind::PlaceholderTypeSpecifier)
    }

    fn compact(&self, node: NodeId) -> String {
        self.cx.file.show(self.cx.tree.span(node)).split_whitespace().collect()
    }

    /// Is it a stream of the C library by its name: `stderr`, or a variable of type `FILE *`, whose memory is the library's own?
    pub(super) fn is_c_stream(&self, name: NodeId) -> bool {
        let (tree, symbols) = (self.cx.tree, self.cx.symbols());
        let span = tree.span(name);
        let text = self.cx.file.show(span);
        let Some(found) = symbols.lookup(&text, span.start) else { return C_STREAMS.contains(&&*text) };
        let declared = found.header.is_none().then(|| tree.covering(found.declared_at));
        let mut above = declared.into_iter().flat_map(|node| tree.ancestors(node));
        let declaration =
            above.find(|node| matches!(tree.kind(*node), NodeKind::Declaration | NodeKind::ParameterDeclaration));
        let ty = declaration.and_then(|node| tree.child(node, Field::Type));
        let is_file = ty.is_some_and(|ty| self.cx.file.bytes(tree.span(ty)) == b"FILE");
        is_file && found.ty.is_pointer() && symbols.lookup("FILE", span.start).is_none()
    }

    /// A qualified name that is no callee: a standard stream, or what is written to one.
    pub(super) fn qualified(&mut self, node: NodeId) {
        self.of_stream(&self.compact(node), node);
    }

    /// Is it `cout` or `endl` after `using namespace std`, or a `using` of its own?
    pub(super) fn is_of_std(&self, name: &str) -> bool {
        let full = format!("std::{name}");
        let is_known = STREAMS.contains(&full.as_str()) || MANIPULATORS.contains(&full.as_str());
        is_known && {
            let text = String::from_utf8_lossy(&self.cx.file.text);
            text.contains("using namespace std") || text.contains(&format!("using {full}"))
        }
    }

    /// Reads the use of what may be a standard stream, by its full name.
    pub(super) fn of_stream(&mut self, name: &str, node: NodeId) {
        let tree = self.cx.tree;
        let parent = tree.parent(node);
        let is_shift = |node: NodeId| {
            tree.kind(node) == NodeKind::BinaryExpression && tree.operator(node) == Some(NodeKind::LessLess)
        };
        let in_chain = parent.is_some_and(is_shift);
        if in_chain && MANIPULATORS.contains(&name) {
            return;
        }
        let is_stream = in_chain && STREAMS.contains(&name) && tree.field(node) == Some(Field::Left);
        if !is_stream || self.has_own_output_operator() || self.cx.library_is_extended() {
            self.unknown(UnknownKind::Code, node, "what this does is not followed");
            return;
        }
        let mut chain = parent;
        while let Some(link) = chain.filter(|link| is_shift(*link)) {
            if let Some(operand) = tree.child(link, Field::Right).filter(|operand| !self.is_printed_as_number(*operand))
            {
                self.unknown(UnknownKind::Code, operand, "what is written here is not followed");
            }
            chain = tree.parent(link);
        }
    }

    fn is_printed_as_number(&self, operand: NodeId) -> bool {
        let tree = self.cx.tree;
        match tree.kind(operand) {
            NodeKind::StringLiteral
            | NodeKind::ConcatenatedString
            | NodeKind::CharLiteral
            | NodeKind::NumberLiteral => true,
            NodeKind::QualifiedIdentifier => true,
            NodeKind::Identifier if self.is_of_std(&self.compact(operand)) => true,
            NodeKind::CallExpression => {
                let function = tree.child(operand, Field::Function).map(|function| self.compact(function));
                self.is_time(operand, DEPTH)
                    || function.is_some_and(|name| SETTERS.contains(&name.as_str()))
                    || self.is_number(operand)
            }
            _ => self.is_number(operand),
        }
    }

    /// May the program print its own types, by an operator of its own that a number might be handed to?
    fn has_own_output_operator(&self) -> bool {
        self.cx.symbols().declares_operator(b"<<")
    }
}

impl Program<'_> {
    /// Is it a structure of the system that holds a time, which the program does not define itself?
    pub(in crate::semantics) fn is_time_structure(&self, ty: &DeclaredType, at: usize) -> bool {
        let DeclaredType::Record { name, .. } = ty else { return false };
        let plain = name.strip_prefix("struct ").unwrap_or(name);
        TIMES.contains(&plain)
            && self.symbols().lookup(plain, at).is_none()
            && !self.symbols().is_record_in_sight(ty, at)
    }
}
