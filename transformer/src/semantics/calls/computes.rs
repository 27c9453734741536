//! Functions in sight that compute a number from numbers.

use super::is_pure;
use crate::semantics::evaluation::{Act, act};
use crate::semantics::symbols::{DeclaredType, NameKind, Scope, Symbols};
use crate::source::SourceFile;
use crate::syntax::{Field, HostTree, NodeId, NodeKind};

/// How deep calls are followed.
const DEEPEST: usize = 8;

/// Do all functions that a name may stand for, where it is called at a byte of the file, compute their result from the values of
/// their arguments, and do nothing else? They name numbers of their own, constants, and functions of this kind; no memory, no
/// objects, no directives.
#[must_use]
pub fn computes(symbols: &Symbols<'_>, name: &str, at: usize) -> bool {
    all_compute(symbols, (None, name, at), DEEPEST)
}

fn all_compute(symbols: &Symbols<'_>, (header, name, at): (Option<usize>, &str, usize), depth: usize) -> bool {
    let all = symbols.function_definitions(name);
    let is_certain = depth > 0 && !all.is_empty() && symbols.calls_function_in(header, name, at);
    is_certain && all.into_iter().all(|(header, node)| body_computes(symbols, header, node, depth))
}

fn body_computes(symbols: &Symbols<'_>, header: Option<usize>, function: NodeId, depth: usize) -> bool {
    let Some((file, tree)) = symbols.source_of(header) else { return false };
    let is_template = tree.parent(function).is_some_and(|parent| tree.kind(parent) == NodeKind::TemplateDeclaration);
    let returns_number =
        tree.child(function, Field::Declarator).is_some_and(|it| tree.kind(it) == NodeKind::FunctionDeclarator);
    let is_read = !is_template && returns_number && tree.problem_in(tree.span(function)).is_none();
    is_read
        && tree.descendants(function).filter(|node| tree.is_named(*node)).all(|node| {
            let span = tree.span(node);
            match tree.kind(node) {
                NodeKind::TypeIdentifier => {
                    let found = symbols.lookup_in(header, &file.show(span), span.start);
                    found.is_some_and(|found| found.kind == NameKind::Type && is_plain(symbols, &found.ty))
                }
                NodeKind::Identifier if is_declared_function(tree, function, node) => true,
                // `std::sqrt`, whose parts mean nothing by themselves.
                NodeKind::QualifiedIdentifier => is_called(tree, node) && is_pure(&file.show(span)),
                _ if tree.parent(node).is_some_and(|above| tree.kind(above) == NodeKind::QualifiedIdentifier) => true,
                NodeKind::Identifier => {
                    let name = file.show(span);
                    if symbols.macro_in(header, &name, span.start).is_some() {
                        return header.is_none() && is_number(symbols, &name, span.start);
                    }
                    if is_called(tree, node) {
                        let call = (header, &*name, span.start);
                        return match symbols.function_definitions(&name).is_empty() {
                            false => all_compute(symbols, call, depth - 1),
                            true => is_pure(&name) && symbols.calls_library_in(header, &name, span.start),
                        };
                    }
                    symbols.lookup_in(header, &name, span.start).is_some_and(|found| match found.kind {
                        NameKind::Enumerator => !symbols.declares_operators(),
                        NameKind::Variable if matches!(found.scope, Scope::Local | Scope::Parameter) => {
                            is_plain(symbols, &found.ty)
                                && !found.is_static
                                && !found.is_extern
                                && !found.is_thread_local
                        }
                        NameKind::Variable => {
                            is_plain(symbols, &found.ty) && found.ty.is_const() && found.initializer.is_some()
                        }
                        _ => false,
                    })
                }
                _ => is_arithmetic(file, tree, node),
            }
        })
}

/// A number, or an array of numbers.
fn is_plain(symbols: &Symbols<'_>, ty: &DeclaredType) -> bool {
    match ty {
        // Operators may be declared for enumerations.
        DeclaredType::Scalar { number, is_volatile, .. } => {
            !(*is_volatile || number.is_enumeration() && symbols.declares_operators())
        }
        DeclaredType::Array { element, .. } => is_plain(symbols, element),
        _ => false,
    }
}

fn is_number(symbols: &Symbols<'_>, name: &str, at: usize) -> bool {
    let found = symbols.macro_definition(name, at).filter(|_| !symbols.is_ambiguous_macro(name));
    symbols.constant(name, at).is_some() || found.is_some_and(|found| found.is_floating())
}

fn is_called(tree: &HostTree, name: NodeId) -> bool {
    tree.field(name) == Some(Field::Function)
}

/// Is it the name of the function itself, where it is declared?
fn is_declared_function(tree: &HostTree, function: NodeId, name: NodeId) -> bool {
    tree.parent(name).is_some_and(|parent| tree.child(function, Field::Declarator) == Some(parent))
}

/// Does a node by itself, without its parts, reach no memory but variables and arrays?
fn is_arithmetic(file: &SourceFile, tree: &HostTree, node: NodeId) -> bool {
    let kind = tree.kind(node);
    let is_statement = matches!(
        kind,
        NodeKind::ArrayDeclarator
            | NodeKind::BreakStatement
            | NodeKind::CaseStatement
            | NodeKind::CompoundStatement
            | NodeKind::ContinueStatement
            | NodeKind::Declaration
            | NodeKind::DoStatement
            | NodeKind::ElseClause
            | NodeKind::ForStatement
            | NodeKind::FunctionDeclarator
            | NodeKind::FunctionDefinition
            | NodeKind::IfStatement
            | NodeKind::InitDeclarator
            | NodeKind::InitializerList
            | NodeKind::ParameterDeclaration
            | NodeKind::ParameterList
            | NodeKind::ReturnStatement
            | NodeKind::StorageClassSpecifier
            | NodeKind::SwitchStatement
            | NodeKind::WhileStatement
    );
    is_statement
        || match act(file, tree, node) {
            Some(Act::Address | Act::Member | Act::Name | Act::Unknown) => false,
            Some(Act::Load) => kind == NodeKind::SubscriptExpression,
            Some(Act::Effect) => matches!(kind, NodeKind::AssignmentExpression | NodeKind::UpdateExpression),
            Some(Act::Type) => kind != NodeKind::TypeIdentifier,
            _ => true,
        }
}
