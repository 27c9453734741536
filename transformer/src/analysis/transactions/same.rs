//! Equal parts of equal values: `i / 16` here and there.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::analysis::accesses::{Accesses, Divided};
use crate::analysis::polynomial::{Atom, Polynomial};

/// The same with one atom for each value in subscripts, where several are the same part of the same value.
pub(super) fn with_equal_parts(found: &Accesses) -> Cow<'_, Accesses> {
    let names = names(found);
    if names.is_empty() {
        return Cow::Borrowed(found);
    }
    let mut found = found.clone();
    for subscript in found.accesses.iter_mut().flat_map(|access| &mut access.subscripts) {
        if let Some(form) = renamed(&subscript.form, &names) {
            subscript.form = form;
        }
    }
    Cow::Owned(found)
}

/// The atoms whose values have another atom already, with that.
fn names(found: &Accesses) -> BTreeMap<Atom, Atom> {
    let mut names = BTreeMap::new();
    let mut first: Vec<(Atom, Divided)> = Vec::new();
    for (atom, one) in &found.divided {
        let Some(dividend) = renamed(&one.dividend, &names) else { continue };
        let one = Divided { dividend, ..one.clone() };
        match first.iter().find(|(_, known)| *known == one) {
            Some((known, _)) => {
                names.insert(*atom, *known);
            }
            None => first.push((*atom, one)),
        }
    }
    names
}

fn renamed(form: &Polynomial, names: &BTreeMap<Atom, Atom>) -> Option<Polynomial> {
    let known = |atom: Atom| names.get(&atom).map(|name| (atom, Polynomial::atom(*name)));
    form.atoms().into_iter().filter_map(known).try_fold(form.clone(), |form, (atom, name)| form.with(atom, &name))
}
