//! What a program is built with: its choices so far, and what its region does with each array.

use std::collections::{BTreeMap, BTreeSet};

use super::data::{Array, Storage, Sum, Ty};
use super::recipe::Recipe;
use super::rng::Rng;

/// What the region does with an array, which says how it may be mapped.
#[derive(Clone, Copy, Debug, Default)]
pub struct ArrayUse {
    pub used: bool,
    /// Read where no loop may have written all of it.
    pub read_first: bool,
    pub written: bool,
    /// Every element was written.
    pub defined: bool,
}

/// A program in the making.
pub(super) struct Builder {
    pub rng: Rng,
    pub recipe: Recipe,
    /// What names in the file end with: `_c17`.
    pub tag: String,
    pub arrays: Vec<Array>,
    pub uses: Vec<ArrayUse>,
    /// Scalars that the region maps, or combines into.
    pub sums: Vec<Sum>,
    /// Functions, macros and tables that the loops use, by name.
    pub helpers: BTreeMap<String, String>,
    /// Declarations of the function that loops need.
    pub locals: BTreeSet<String>,
    /// What the program is made of, in words.
    pub shape: BTreeSet<String>,
    pub counter: usize,
    /// Of the loop in the making: arrays that it defines, and variables that it makes private.
    pub pending: Vec<usize>,
    pub private: BTreeSet<String>,
    /// Scalars that the region declares and loops combine into.
    pub local_sums: Vec<(String, Ty)>,
    /// Scalars in the `reduction` clause of `teams`.
    pub both: Vec<String>,
    /// Variables that the region declares beside its loops.
    pub around_names: Vec<String>,
    /// Scalars of the function that are printed at its end.
    pub shown: BTreeSet<String>,
    /// Names of the arrays that a region or the host writes.
    pub changed_arrays: BTreeSet<String>,
    /// What each region that names an array does with it, whichever region that is.
    pub known_uses: BTreeMap<String, ArrayUse>,
    /// Is everything on the device before the region?
    pub present: bool,
    /// Arrays that an earlier region uses, whose types are settled.
    pub settled: BTreeSet<usize>,
    /// Arrays that loops of a league have taken: no other may use them.
    pub taken: BTreeSet<usize>,
}

/// Where an expression stands.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    /// The index of the own element.
    pub own: String,
    /// Does the loop run over `n * m`?
    pub long: bool,
    /// Arrays that this loop does not write.
    pub reads: Vec<usize>,
    /// Arrays of which it writes the own element.
    pub writes: Vec<usize>,
    /// Small numbers: variables around the loop.
    pub ints: Vec<String>,
    /// The iteration variable, as a small number.
    pub small: String,
    /// May the loop have no iteration?
    pub may_be_empty: bool,
}

impl Builder {
    pub(super) fn note(&mut self, what: impl Into<String>) {
        self.shape.insert(what.into());
    }

    /// A name that nothing else has.
    pub(super) fn fresh(&mut self, stem: &str) -> String {
        self.counter += 1;
        format!("{stem}{}", self.counter)
    }

    pub(super) fn helper(&mut self, stem: &str, text: &str) -> String {
        let name = format!("{stem}{}", self.tag);
        self.helpers.entry(name.clone()).or_insert_with(|| text.replace('@', &name));
        name
    }

    pub(super) fn read(&mut self, array: usize) {
        let array = &mut self.uses[array];
        array.used = true;
        array.read_first |= !array.defined;
    }

    pub(super) fn write(&mut self, array: usize) {
        let array = &mut self.uses[array];
        array.used = true;
        array.written = true;
    }

    /// The arrays of the program: two to five, at least one of `n * m` elements where loops are nested.
    pub(super) fn make_arrays(&mut self) {
        let count = self.rng.range(3, 6);
        let letters = ["a", "b", "u", "v", "x", "y"];
        for (index, letter) in letters.iter().take(count).enumerate() {
            let types = [Ty::Int, Ty::Int, Ty::Int, Ty::Unsigned, Ty::Long, Ty::Short, Ty::Byte, Ty::Double, Ty::Float];
            let ty = if index < 2 { Ty::Int } else { self.rng.pick(&types) };
            let ty = if index >= 4 { self.rng.pick(&[Ty::Double, Ty::Float, Ty::Double]) } else { ty };
            let storage = self.rng.pick(&self.recipe.storages.clone());
            let long = index != 0 && self.rng.chance(35);
            // Two dimensions hold `n * m` elements.
            let long = long || (index != 0 && matches!(storage, Storage::Grid | Storage::Rows));
            let storage = match storage {
                Storage::Grid if !long => Storage::Static,
                Storage::Rows if !long => Storage::Heap,
                Storage::Rows | Storage::Vla if self.recipe.cpp => Storage::Heap,
                other => other,
            };
            let in_file = matches!(storage, Storage::Static | Storage::Grid | Storage::DeviceGlobal | Storage::Field);
            let name = if in_file { format!("{letter}{}", self.tag) } else { (*letter).to_owned() };
            let second = matches!(storage, Storage::Alias | Storage::Shifted).then(|| format!("{name}_too"));
            self.note(format!("{storage:?}"));
            self.note(format!("{ty:?}"));
            self.arrays.push(Array { name, second, ty, storage, long });
        }
        self.uses = vec![ArrayUse::default(); self.arrays.len()];
    }

    /// An index of an array that this loop does not write: any element may be read.
    fn any_index(&mut self, array: usize, scope: &Scope) -> String {
        let target = &self.arrays[array];
        let (length, own) = (target.length(), &scope.own);
        let fits = target.long == scope.long || target.long;
        let same = target.long == scope.long;
        match self.rng.below(6) {
            0 | 1 if fits => own.clone(),
            2 if same => format!("{length} - 1 - {own}"),
            3 if fits => format!("({own} > 0 ? {own} - 1 : 0)"),
            4 => format!("({own} * 7 + 3) % ({length})"),
            _ => format!("({own} + 5) % ({length})"),
        }
    }

    fn element(&mut self, array: usize, scope: &Scope) -> String {
        let own = scope.writes.contains(&array);
        let index = if own { scope.own.clone() } else { self.any_index(array, scope) };
        self.read(array);
        let second = self.rng.chance(50);
        self.arrays[array].element(&index, second)
    }

    fn readable(&self, scope: &Scope, floating: bool) -> Vec<usize> {
        let all = scope.reads.iter().chain(&scope.writes).copied();
        all.filter(|array| self.arrays[*array].ty.is_floating() == floating).collect()
    }

    /// A number from 0 to a few thousand.
    pub(super) fn int_term(&mut self, scope: &Scope) -> String {
        let readable = self.readable(scope, false);
        match self.rng.below(12) {
            0..=5 if !readable.is_empty() => {
                let array = self.rng.pick(&readable);
                let element = self.element(array, scope);
                match self.arrays[array].ty {
                    Ty::Unsigned | Ty::Long => format!("(int)({element} & 1023)"),
                    _ => element,
                }
            }
            6 => "k".to_owned(),
            7 => scope.small.clone(),
            8 if !scope.ints.is_empty() => self.rng.pick(&scope.ints.iter().collect::<Vec<_>>()).clone(),
            9 => {
                let floats = self.readable(scope, true);
                if floats.is_empty() {
                    return "11".to_owned();
                }
                let array = self.rng.pick(&floats);
                let element = self.element(array, scope);
                format!("((int)({element} * 4) & 255)")
            }
            _ => self.rng.range(1, 9).to_string(),
        }
    }

    /// A few terms; at most some millions.
    pub(super) fn int_value(&mut self, scope: &Scope) -> String {
        let (a, b) = (self.int_term(scope), self.int_term(scope));
        match self.rng.below(8) {
            0 => a,
            1 | 2 => format!("{a} + {b}"),
            3 => format!("{a} * {} + {b}", self.rng.range(2, 5)),
            4 => format!("({a} ^ {b}) + {}", self.rng.range(1, 7)),
            5 => format!("({a} > {b} ? {a} : {b} + 1)"),
            6 => {
                let c = self.int_term(scope);
                format!("{a} + {b} + {c}")
            }
            _ => format!("({a} | {b})"),
        }
    }

    fn floating_term(&mut self, scope: &Scope) -> String {
        let readable = self.readable(scope, true);
        match self.rng.below(8) {
            0..=4 if !readable.is_empty() => {
                let array = self.rng.pick(&readable);
                self.element(array, scope)
            }
            5 => "c".to_owned(),
            6 => {
                let term = self.int_term(scope);
                format!("({term} & 31) * 0.125")
            }
            _ => format!("{}.25", self.rng.range(0, 3)),
        }
    }

    /// At most a hundred or so, whatever the terms.
    pub(super) fn floating_value(&mut self, scope: &Scope) -> String {
        let (a, b) = (self.floating_term(scope), self.floating_term(scope));
        match self.rng.below(4) {
            0 => format!("0.5 * {a} + 0.25 * {b}"),
            1 => format!("{a} * 0.5 + {}.5", self.rng.range(0, 2)),
            2 => format!("({a} < {b} ? {a} : 0.5 * {b})"),
            _ => format!("0.25 * ({a} + {b}) + 1.0"),
        }
    }

    /// A value for an element of this type; it keeps the bounds that other expressions rely on.
    pub(super) fn value(&mut self, ty: Ty, scope: &Scope) -> String {
        if ty.is_floating() {
            return self.floating_value(scope);
        }
        let value = self.int_value(scope);
        match ty {
            Ty::Unsigned => format!("{value} + 2u"),
            Ty::Long => format!("({value}) % 100003L"),
            Ty::Byte => format!("({value}) & 127"),
            _ => format!("({value}) & 1023"),
        }
    }
}
