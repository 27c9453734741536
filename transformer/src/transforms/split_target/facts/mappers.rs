//! Whether `declare mapper` forbids the split, because of what compilers do with mappers in nested data environments.

use crate::plan::{Reason, ReasonCode};
use crate::region::target::TargetRegion;
use crate::semantics::Program;
use crate::semantics::symbols::DeclaredType;
use crate::semantics::uses::uses_below;
use crate::source::words;

/// Why a structure may not be named both in a `target data` construct and in its kernels if the program has mappers.
/// With each kernel, the runtime of LLVM 19 then copies the structure, including pointers among its members, although
/// it is present; the device addresses in these pointers are lost.
pub(super) fn forbids_nested_maps(cx: &Program<'_>, region: &TargetRegion) -> Option<Reason> {
    let is_mapper = |text: &str| words(text).zip(words(text).skip(1)).any(|pair| pair == ("declare", "mapper"));
    let own = cx.constructs.directives.iter().any(|directive| directive.name == "declare mapper");
    if !own && !cx.compilation.headers.iter().any(|header| is_mapper(&String::from_utf8_lossy(&header.text))) {
        return None;
    }
    let body = cx.constructs.construct(*region.chain.constructs.first()?).body?;
    let is_structure = |ty: Option<DeclaredType>| !ty.is_some_and(|ty| holds_numbers(&ty));
    let used = uses_below(cx.file, cx.tree, body).into_iter().find(|used| {
        let is_variable = cx.declared_at(&used.name, used.span.start).is_some_and(|at| !region.extent.contains(at));
        is_variable && is_structure(cx.declared_type(&used.name, used.span.start))
    })?;
    let message = format!("there are mappers, with which LLVM 19 loses what members of `{}` point to", used.name);
    Some(Reason::new(ReasonCode::CompilerLimit, used.span, message))
}

/// Is it a number, or an array of numbers, or a pointer to numbers?
fn holds_numbers(ty: &DeclaredType) -> bool {
    match ty {
        DeclaredType::Scalar { .. } | DeclaredType::TypeParameter { .. } => true,
        DeclaredType::Pointer { .. } | DeclaredType::Array { .. } | DeclaredType::ArrayParameter { .. } => {
            holds_numbers(&ty.dereferenced())
        }
        DeclaredType::Reference { to } => holds_numbers(to),
        _ => false,
    }
}
