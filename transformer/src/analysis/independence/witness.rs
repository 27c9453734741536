//! Writes that cannot happen, because another iteration of the original would then write what this one reads.
//!
//! `for i: for j: if (a[i][k] + a[k][j] < a[i][j]) a[i][j] = ..` writes `a[i][k]`, which all iterations of `j` read, only
//! if the condition holds at `j == k`. Then it also holds at `i == k` and `j == k`, and the original has a race:
//!
//! - The write and the read meet only at `j == k`, which lies in the range of `j`. So it lies in the range of `i`, which
//!   is the same, and the original has an iteration `i == k`, which comes to `j == k` and the condition there.
//! - If another iteration than that one finds the condition true, both have read `a[k][k]`. No iteration may write what
//!   two others than itself read, and each is another than one of these two. So all elements that both read keep their
//!   values. By these values the condition is true at `(k, k)` too, where `a[k][k]` is written: a race.
//! - If the iteration `i == k` finds it true, it writes `a[k][k]`, which every other iteration reads. If there is no
//!   other, `j` has only one value.
//!
//! An iteration reads an element twice without a change in between: its own writes to others are known to differ, and
//! those of others would race. Values are integers that do not overflow; with floating-point numbers `x + z < x` does not
//! imply `z + z < z`.

use std::collections::BTreeMap;

use crate::analysis::accesses::{Access, Accesses, Loop};
use crate::analysis::independence::Candidate;
use crate::analysis::inequalities::have_no_solution;
use crate::analysis::polynomial::{Atom, Polynomial};
use crate::syntax::{HostTree, If, NodeId, NodeKind};

/// The atoms of values in memory begin here.
const VALUES: u32 = 1 << 26;

/// The two loops of a nest, of which the outer one is promised to be independent, and the one write to an array.
struct Place<'f> {
    found: &'f Accesses,
    outer: &'f Loop,
    inner: &'f Loop,
    write: &'f Access,
}

/// The elements that are loaded, each by its subscripts, and the atom of its value.
type Values = BTreeMap<Vec<Polynomial>, Atom>;

/// Does the one of two accesses that writes happen only where it does not meet the other one in another iteration of the
/// inner loop, if the original has no race? Writes of the array in different iterations are known to differ.
pub(super) fn never_meet(
    candidate: &Candidate<'_, '_>,
    found: &Accesses,
    depth: usize,
    (first, second): (&Access, &Access),
) -> bool {
    let (write, read) = if first.writes { (first, second) } else { (second, first) };
    let [outer, inner, ..] = found.loops.as_slice() else { return false };
    let is_nest =
        !candidate.is_in_team && candidate.promised() == 1 && depth == 2 && candidate.nest.loops.loops.len() == 2;
    let by_one = |l: &Loop| l.step.is_some_and(|step| step.abs() == 1);
    let same_range = outer.range == inner.range && outer.range.lower.is_some() && outer.range.upper.is_some();
    let is_only = found.accesses.iter().filter(|access| access.writes && access.root == write.root).count() == 1;
    if !is_nest || !same_range || !by_one(outer) || !by_one(inner) || read.writes || !is_only || write.loops != [0, 1] {
        return false;
    }
    let place = Place { found, outer, inner, write };
    let is_decided = is_decided_alone(candidate, write);
    is_decided && read.subscripts.iter().flat_map(|it| it.form.atoms()).any(|atom| place.meets_only_at(read, atom))
}

impl Place<'_> {
    /// Do the write and a read meet only where the inner variable has the value of `at`, and does the write not happen
    /// there?
    fn meets_only_at(&self, read: &Access, at: Atom) -> bool {
        let value = Polynomial::atom(at);
        let meet = |(one, other): (&Polynomial, &Polynomial)| one.with(self.inner.atom, &value).as_ref() == Some(other);
        let (Some(written), Some(read)) = (forms(self.write), forms(read)) else { return false };
        let steps_by_number = written.iter().any(|form| {
            let factor = form.linear_in(self.inner.atom).and_then(|(factor, _)| factor.as_constant());
            factor.is_some_and(|factor| factor != 0)
        });
        self.found.symbols.contains_key(&at)
            && steps_by_number
            && written.len() == read.len()
            && written.iter().zip(&read).all(meet)
            && self.holds_twice(&value, &written).unwrap_or(false)
    }

    /// Does the condition at `(i, k)` imply that at `(k, k)`, whose element it reads?
    fn holds_twice(&self, at: &Polynomial, written: &[Polynomial]) -> Option<bool> {
        let mut values = Values::new();
        let corner = |form: &Polynomial| form.with(self.inner.atom, at)?.with(self.outer.atom, at);
        let here = self.rows(&mut values, &|form| form.with(self.inner.atom, at))?;
        let element: Vec<Polynomial> = written.iter().map(corner).collect::<Option<_>>()?;
        if !values.contains_key(&element) {
            return Some(false);
        }
        let there = self.rows(&mut values, &corner)?;
        let is_implied = |row: &Polynomial| {
            let contrary = row.negated().and_then(|row| row.minus(&Polynomial::constant(1)));
            contrary.is_some_and(|contrary| have_no_solution(&[here.as_slice(), &[contrary]].concat(), &[]))
        };
        Some(!there.is_empty() && there.iter().all(is_implied))
    }

    /// The condition of the write in an iteration, over the values of the elements that it loads. `None` if it holds
    /// something else that iterations do not share.
    fn rows(
        &self,
        values: &mut Values,
        iteration: &dyn Fn(&Polynomial) -> Option<Polynomial>,
    ) -> Option<Vec<Polynomial>> {
        self.write.guards.rows.iter().map(|row| self.row(row, values, iteration)).collect()
    }

    fn row(
        &self,
        row: &Polynomial,
        values: &mut Values,
        iteration: &dyn Fn(&Polynomial) -> Option<Polynomial>,
    ) -> Option<Polynomial> {
        let mut row = row.clone();
        for atom in row.atoms() {
            let Some(load) = self.found.loads.get(&atom) else {
                self.is_shared(atom).then_some(())?;
                continue;
            };
            let is_read_whole = load.root == self.write.root && load.subscripts.iter().all(|it| !it.wraps);
            let mut forms = load.subscripts.iter().map(|it| &it.form);
            let is_known = forms.all(|form| form.atoms().into_iter().all(|atom| self.is_shared(atom)));
            (is_read_whole && is_known).then_some(())?;
            let element: Vec<Polynomial> =
                load.subscripts.iter().map(|it| iteration(&it.form)).collect::<Option<_>>()?;
            let next = Atom(VALUES + u32::try_from(values.len()).ok()?);
            row = row.with(atom, &Polynomial::atom(*values.entry(element).or_insert(next)))?;
        }
        iteration(&row)
    }

    /// Is it one of the loops' variables, or something that no iteration changes?
    fn is_shared(&self, atom: Atom) -> bool {
        atom == self.outer.atom || atom == self.inner.atom || self.found.symbols.contains_key(&atom)
    }
}

/// The subscripts of an access, if they are known.
fn forms(access: &Access) -> Option<Vec<Polynomial>> {
    access.subscripts.iter().map(|it| (!it.wraps).then(|| it.form.clone())).collect()
}

/// Does one comparison, which each iteration comes to, decide alone whether the write happens?
fn is_decided_alone(candidate: &Candidate<'_, '_>, write: &Access) -> bool {
    let (tree, loops) = (candidate.cx.tree, &candidate.nest.loops);
    let Some(outer) = loops.loops.first() else { return false };
    let skips = tree.descendants(outer.body).any(|node| tree.kind(node) == NodeKind::ContinueStatement);
    let above: Vec<NodeId> = tree.ancestors(tree.covering(write.span)).take_while(|node| *node != loops.body).collect();
    let is_plain = |node: &NodeId| {
        matches!(
            tree.kind(*node),
            NodeKind::AssignmentExpression | NodeKind::ExpressionStatement | NodeKind::CompoundStatement
        )
    };
    let branches: Vec<NodeId> = above.iter().copied().filter(|node| !is_plain(node)).collect();
    let [branch] = branches[..] else { return false };
    let stands_alone = tree.parent(branch) == Some(loops.body) && tree.kind(loops.body) == NodeKind::CompoundStatement;
    let condition = If::of(tree, branch).and_then(If::condition);
    write.is_target
        && write.guards.is_whole
        && !skips
        && stands_alone
        && condition.is_some_and(|condition| is_one_comparison(tree, condition))
}

fn is_one_comparison(tree: &HostTree, condition: NodeId) -> bool {
    !tree.descendants(condition).any(|node| {
        matches!(
            tree.kind(node),
            NodeKind::AmpersandAmpersand
                | NodeKind::BarBar
                | NodeKind::ConditionalExpression
                | NodeKind::CallExpression
        )
    })
}
