//! The types of elements.

use crate::analysis::accesses::Access;
use crate::context::Context;
use crate::semantics::symbols::DeclaredType;
use crate::source::{Language, Span};
use crate::syntax::Number;
use crate::syntax::numbers::{Character, Format};

/// Bytes of the largest number that a type parameter may stand for.
const LARGEST_ELEMENT: u32 = 16;

/// The type of the elements that an access reaches, in keywords or as a template's parameter, and their bytes, or the most that these can be.
///
/// # Errors
/// Elements that are not known to be plain numbers.
pub(in crate::transforms) fn element(cx: &Context<'_>, access: &Access) -> Result<(String, u32), (Span, String)> {
    let unknown = || (access.span, format!("the elements of `{}` are not known to be plain numbers", access.root.name));
    let (number, spelling) = match &access.element {
        Some(DeclaredType::Scalar { number, spelling, is_volatile: false, .. }) => (number, spelling),
        // That it stands for numbers is asked of all type parameters in the body.
        Some(DeclaredType::TypeParameter { name, is_volatile: false, .. }) => {
            return Ok((name.clone(), LARGEST_ELEMENT));
        }
        _ => return Err(unknown()),
    };
    let is_plain = matches!(
        number,
        Number::Integer { .. }
            | Number::Character(Character::Plain)
            | Number::Floating(Format::Single | Format::Double)
    );
    let spelling = spelling.to_string();
    let is_spelled = spelling.split_whitespace().all(Number::is_keyword);
    let is_c = cx.tree.language() == Language::C;
    let ty = if is_spelled { Some(spelling.as_str()) } else { number.keywords().filter(|_| is_c) };
    let bytes = number.bits().map(|bits| bits.div_ceil(8)).filter(|bytes| (1..=8).contains(bytes));
    ty.zip(bytes).filter(|_| is_plain).map(|(ty, bytes)| (ty.to_owned(), bytes)).ok_or_else(unknown)
}

/// Does a name of a type, as the end of all typedefs, mean that type where text is to be written: is no variable and no macro of that name in sight?
pub(in crate::transforms) fn is_type_at(cx: &Context<'_>, spelling: &str, at: usize) -> bool {
    let names = spelling.split_whitespace().filter(|word| !Number::is_keyword(word));
    names.into_iter().all(|name| cx.symbols().lookup(name, at).is_none() && cx.expansion(name, at).is_none())
}
