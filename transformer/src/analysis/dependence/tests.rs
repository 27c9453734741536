use proptest::prelude::*;

use super::*;

const I: Atom = Atom(0);
const J: Atom = Atom(1);
const J2: Atom = Atom(2);
const K: Atom = Atom(3);
const K2: Atom = Atom(4);
const N: Atom = Atom(5);
const M: Atom = Atom(6);

fn number(value: i128) -> Polynomial {
    Polynomial::constant(value)
}

/// The sum of coefficients times products of atoms.
fn sum(terms: &[(i128, &[Atom])]) -> Polynomial {
    terms.iter().fold(Polynomial::default(), |all, (coefficient, atoms)| {
        let product =
            atoms.iter().fold(number(*coefficient), |product, atom| product.times(&Polynomial::atom(*atom)).unwrap());
        all.plus(&product).unwrap()
    })
}

/// `j` and `k` of two iterations run from 0 to below these numbers; `i` is equal in both.
fn space(width: &Polynomial, depth: &Polynomial) -> Space {
    let range = |end: &Polynomial| Range { lower: Some(number(0)), upper: end.minus(&number(1)) };
    let varying =
        vec![(I, Range::default()), (J, range(width)), (J2, range(width)), (K, range(depth)), (K2, range(depth))];
    let mut space = Space { varying, ..Space::default() };
    space.runs(&range(width));
    space.runs(&range(depth));
    space
}

fn independent(first: &Polynomial, second: &Polynomial) -> bool {
    let (n, m) = (Polynomial::atom(N), Polynomial::atom(M));
    let other = second.renamed(&|atom| match atom {
        J => J2,
        K => K2,
        other => other,
    });
    space(&n, &m).are_independent(&[first.minus(&other).unwrap()], &[(J, J2)])
}

#[test]
fn equal_subscripts_force_equal_iterations() {
    let row = sum(&[(1, &[I, N]), (1, &[J])]);
    assert!(independent(&row, &row));
    assert!(!independent(&row, &sum(&[(1, &[I, N]), (1, &[J]), (-1, &[])])), "the neighbour");
    assert!(!independent(&sum(&[(1, &[I])]), &sum(&[(1, &[I])])), "one element for all");
    let square = sum(&[(1, &[J, J])]);
    assert!(!independent(&square, &square), "not linear");
}

#[test]
fn a_product_is_zero_where_one_of_its_factors_is() {
    let mut known = space(&Polynomial::atom(N), &Polynomial::atom(M));
    let behind = sum(&[(1, &[K]), (-1, &[J]), (-1, &[])]);
    let product = sum(&[(1, &[K, N]), (-1, &[J, N])]);
    assert!(!known.is_nonzero(&product), "in the row of j");
    known.facts.push(behind);
    assert!(known.is_nonzero(&product), "in a row behind that of j, each of which has an element");
    let other = sum(&[(1, &[K, I]), (-1, &[J, I])]);
    assert!(!known.is_nonzero(&other), "rows without elements");
}

#[test]
fn a_stride_of_unknown_sign_is_not_enough() {
    let column = |stride| sum(&[(1, &[J, stride]), (1, &[I])]);
    assert!(independent(&column(N), &column(N)), "n is the loop's own bound, so at least 1");
    let space = Space { varying: vec![(J, Range::default()), (J2, Range::default())], ..Space::default() };
    let difference = column(N).minus(&column(N).renamed(&|atom| if atom == J { J2 } else { atom })).unwrap();
    assert!(!space.are_independent(&[difference], &[(J, J2)]), "n may be 0");
}

#[test]
fn common_divisors() {
    assert!(independent(&sum(&[(2, &[J])]), &sum(&[(2, &[J]), (1, &[])])));
    assert!(!independent(&sum(&[(2, &[J])]), &sum(&[(2, &[J]), (2, &[])])));
    assert!(independent(&sum(&[(4, &[J]), (2, &[K])]), &sum(&[(2, &[J]), (5, &[])])));
}

#[test]
fn ranges_apart() {
    assert!(independent(&sum(&[(1, &[J])]), &sum(&[(1, &[J]), (1, &[N])])), "the second half");
    assert!(!independent(&sum(&[(1, &[J])]), &sum(&[(1, &[J]), (1, &[N]), (-1, &[])])), "one element is common");
    assert!(!independent(&sum(&[(1, &[J])]), &sum(&[(1, &[J]), (1, &[I])])), "any distance");
}

#[test]
fn linearised_subscripts_are_taken_apart() {
    let cell = |pitch: Atom| sum(&[(1, &[J, pitch]), (1, &[K])]);
    assert!(independent(&cell(M), &cell(M)), "k stays below m");
    assert!(!independent(&cell(N), &cell(N)), "k may reach the next row of n");
    let padded = sum(&[(1, &[J, M]), (2, &[J]), (1, &[K])]);
    assert!(independent(&padded, &padded), "rows of m + 2");
    let below = sum(&[(1, &[J, M]), (1, &[K]), (1, &[])]);
    assert!(!independent(&below, &below.minus(&number(1)).unwrap()), "k + 1 reaches the next row");
}

#[test]
fn numbers_as_pitch() {
    let cell = sum(&[(8, &[J]), (1, &[K])]);
    let test = |depth: i128| {
        let other = cell.renamed(&|atom| {
            if atom == J {
                J2
            } else if atom == K {
                K2
            } else {
                atom
            }
        });
        space(&Polynomial::atom(N), &number(depth)).are_independent(&[cell.minus(&other).unwrap()], &[(J, J2)])
    };
    assert!(test(8));
    assert!(!test(9));
}

/// Every subscript that small coefficients make, tried out for every small size.
#[derive(Clone, Debug)]
struct Form {
    coefficients: [i128; 6],
}

impl Form {
    /// `(a + b n + c m) j + (d + e m) k + f`
    fn polynomial(&self) -> Polynomial {
        let [a, b, c, d, e, f] = self.coefficients;
        sum(&[(a, &[J]), (b, &[J, N]), (c, &[J, M]), (d, &[K]), (e, &[K, M]), (f, &[])])
    }

    fn value(&self, j: i128, k: i128, n: i128, m: i128) -> i128 {
        let [a, b, c, d, e, f] = self.coefficients;
        (a + b * n + c * m) * j + (d + e * m) * k + f
    }
}

fn form() -> impl Strategy<Value = Form> {
    (-2..=2_i128, 0..=1_i128, 0..=1_i128, -1..=1_i128, 0..=1_i128, -3..=3_i128)
        .prop_map(|(a, b, c, d, e, f)| Form { coefficients: [a, b, c, d, e, f] })
}

fn meet(first: &Form, second: &Form, n: i128, m: i128) -> bool {
    let cells = || (0..n).flat_map(move |j| (0..m).map(move |k| (j, k)));
    cells().any(|(j, k)| cells().any(|(j2, k2)| j != j2 && first.value(j, k, n, m) == second.value(j2, k2, n, m)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_to_be_independent_never_meets(first in form(), second in form(), same in any::<bool>()) {
        let second = if same { first.clone() } else { second };
        if independent(&first.polynomial(), &second.polynomial()) {
            for (n, m) in (1..=5).flat_map(|n| (1..=5).map(move |m| (n, m))) {
                prop_assert!(!meet(&first, &second, n, m), "n = {n}, m = {m}");
            }
        }
    }
}
