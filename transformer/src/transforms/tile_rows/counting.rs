//! Whether clang counts the iterations of a loop in tiles right.
//!
//! clang 19 makes a loop of tiles out of the number of iterations alone, `upper - lower` in the loop's own type, and does not ask first whether there is
//! any: an empty loop is one of billions where that difference wraps around. With a variable of a signed type and a constant lower bound that is not
//! negative it forms the difference with its sign, and an empty loop stays empty, unless the difference is below the least number. The
//! first number behind a tile must be one of the type as well.

use super::Kernel;
use crate::region::loop_nest::{CanonicalLoop, Relation};
use crate::semantics::Integer;
use crate::source::{Span, words};
use crate::syntax::{ListItem, Number};
use crate::transforms::checks::heads;

/// Numbers of iterations up to this one leave room for whole tiles in 32 bits.
const ROOM: i64 = 2_147_480_000;

/// Checks a loop of a nest that is tiled, whether its own tiles have one iteration or more.
///
/// # Errors
/// Why clang may count wrong, and where.
pub(super) fn check(kernel: &Kernel<'_, '_>, own: &CanonicalLoop, trips: Option<i128>) -> Result<(), (Span, String)> {
    let cx = kernel.cx;
    let no = |span: Span, message: &str| Err((span, message.to_owned()));
    if own.step.amount.is_some_and(|amount| cx.constant(amount) != Some(1)) {
        return no(own.step.span, "the loop does not count by one");
    }
    let Some(ty) = integer(kernel, own) else {
        return no(own.variable_span, "the type of the variable is not known");
    };
    if !ty.signed && ty.bits < 64 {
        return no(own.variable_span, "so many iterations may leave no room for whole tiles in the variable's type");
    }
    // By so much less than the bound is the number of iterations.
    let less = cx.constant(own.lower).map(|lower| lower - i64::from(own.relation == Relation::LessOrEqual));
    let Some(less) = less.filter(|less| (0..=i64::from(i32::MAX)).contains(less)) else {
        return no(own.lower, "clang may count the iterations of an empty loop from here wrong in tiles");
    };
    if trips.is_some_and(|trips| (1..i128::from(ROOM)).contains(&trips)) {
        return Ok(());
    }
    if !is_of_type(kernel, own) {
        return no(own.upper, "the bound is not known to have the type of the variable, in which clang counts tiles");
    }
    let is_right = less == 0 || ty.signed && sections(kernel, own).any(|factors| factors > 0);
    if !is_right {
        return no(own.upper, "clang may count the iterations wrong in tiles if the bound is far below zero");
    }
    Ok(())
}

/// What must hold of the bound of the loop whose tiles have several iterations, so that there is room behind the last one. `None` if nothing must.
pub(super) fn room(kernel: &Kernel<'_, '_>, own: &CanonicalLoop, trips: Option<i128>) -> Option<String> {
    let is_wide = integer(kernel, own).is_none_or(|ty| ty.bits >= 64);
    if is_wide || trips.is_some() || sections(kernel, own).any(|factors| factors > 1) {
        return None;
    }
    Some(format!("{} < {ROOM}", heads::bound(kernel.cx, own)))
}

fn integer(kernel: &Kernel<'_, '_>, own: &CanonicalLoop) -> Option<Integer> {
    kernel.cx.integer_type(&own.variable, kernel.cx.tree.span(own.body).start).as_ref().and_then(Number::integer)
}

/// Is the bound formed of numbers and variables in the type of the loop's variable?
fn is_of_type(kernel: &Kernel<'_, '_>, own: &CanonicalLoop) -> bool {
    let cx = kernel.cx;
    let ty = cx.integer_type(&own.variable, cx.tree.span(own.body).start);
    let is_number =
        |word: &str| !word.starts_with(|c: char| c.is_ascii_digit()) || word.bytes().all(|b| b.is_ascii_digit());
    words(&cx.file.show(own.upper)).all(is_number)
        && cx.names_in(own.upper).iter().all(|(name, at)| cx.integer_type(name, at.start) == ty)
}

/// The lengths of sections in the construct's clauses that are products of the variable which bounds the loop, and of numbers of its type: how often it is a
/// factor of each. A length is never negative (OpenMP 5.2, section 3.2.5), and no product of two in 32 bits overflows. With a factor of another type, as
/// `40u`, products of negative numbers may be none.
fn sections<'k>(kernel: &'k Kernel<'_, '_>, own: &CanonicalLoop) -> impl Iterator<Item = usize> + 'k {
    let file = kernel.cx.file;
    let name = kernel.lengths().length(own);
    let items = kernel.clauses().flat_map(|clause| clause.items());
    let lengths = items.flat_map(|item: &ListItem| &item.sections).filter_map(|section| section.length);
    lengths.filter_map(move |length| {
        let name = name.as_deref()?;
        let text = file.show(length);
        let factors: Vec<&str> = text.split('*').map(str::trim).collect();
        let is_number = |factor: &str| {
            let is_int = (1..=9).contains(&factor.len()) && !factor.starts_with('0');
            is_int && factor.bytes().all(|byte| byte.is_ascii_digit())
        };
        let is_product = factors.iter().all(|factor| *factor == name || is_number(factor));
        is_product.then(|| factors.iter().filter(|factor| **factor == name).count())
    })
}
