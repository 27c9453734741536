//! How many iterations a loop has at most, as an expression for `num_teams`.

use std::collections::BTreeSet;

use super::clauses;
use crate::analysis::associated_loops::associated_loops;
use crate::device::Choice;
use crate::region::loop_nest::{CanonicalLoop, Relation};
use crate::region::target::TargetRegion;
use crate::semantics::Integer;
use crate::semantics::Program;
use crate::semantics::symbols::DeclaredType;
use crate::source::Span;
use crate::syntax::host::parse_expression;
use crate::syntax::{Binary, Clause, ClauseName, HostTree, NodeId, NodeKind};

/// The most names in a product: more would make a clause that is hard to read.
const MOST_NAMES: usize = 3;
/// The largest step by which is divided.
const LARGEST_STEP: i64 = 256;
/// The largest product that an `int` holds.
pub(super) const LARGEST_PRODUCT: u64 = i32::MAX as u64;

/// A variable in a bound, or the difference of two variables.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    text: String,
    /// The variable that is subtracted from it.
    from: Option<String>,
    is_signed: bool,
}

impl Name {
    fn value(&self) -> String {
        let Self { text, from, .. } = self;
        from.as_ref().map_or_else(|| text.clone(), |from| format!("{text} - {from}"))
    }

    /// The text as a factor.
    fn operand(&self) -> String {
        if self.from.is_some() { format!("({})", self.value()) } else { self.text.clone() }
    }

    /// The text that is compared with zero.
    fn zero(&self) -> &str {
        self.from.as_deref().unwrap_or("0")
    }

    /// A comparison that first tests whether a difference is above zero. Otherwise the difference is not computed, so
    /// it cannot overflow.
    fn is_at_most(&self, most: u64) -> String {
        let guard = if self.is_signed { self.from.as_ref() } else { None };
        let guard = guard.map(|from| format!("{} <= {from} || ", self.text)).unwrap_or_default();
        format!("{guard}{} <= {most}", self.value())
    }
}

/// At most `number * names / step` iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bound {
    number: u64,
    names: Vec<Name>,
    step: u64,
}

/// The clauses' expressions that depend on the number of iterations.
pub(super) struct Expressions {
    /// The number of teams.
    pub teams: String,
    /// How many iterations a team takes at once, if that is not always the number of its threads.
    pub chunk: Option<String>,
}

/// The expressions, where `trips` are the known numbers of iterations. `None` if a loop has no bound that is understood.
pub(super) fn expressions(
    cx: &Program<'_>,
    region: &TargetRegion,
    trips: &[Option<u64>],
    choice: Choice,
) -> Option<Expressions> {
    let (loops, _) = associated_loops(cx, region)?;
    let mut whole = Bound { number: 1, names: Vec::new(), step: 1 };
    for (index, one) in loops.iter().enumerate() {
        let known = trips.get(index).copied().flatten();
        let bound = known.map(|number| Bound { number, names: Vec::new(), step: 1 });
        let bound = bound.or_else(|| Reader { cx, region }.bound(one))?;
        whole.number = whole.number.checked_mul(bound.number.max(1))?;
        whole.step = whole.step.checked_mul(bound.step)?;
        whole.names.extend(bound.names);
    }
    let common = gcd(whole.number, whole.step);
    whole.number /= common;
    whole.step /= common;
    (whole.names.len() <= MOST_NAMES).then(|| whole.expressions(choice))
}

impl Bound {
    /// If the number of iterations depends on one name, few iterations are shared by a fixed number of teams.
    fn expressions(&self, choice: Choice) -> Expressions {
        let Some((blocks, name, few)) = self.few(choice) else {
            return Expressions { teams: self.teams(choice, false), chunk: None };
        };
        let product = if self.number > 1 { self.product() } else { name.value() };
        let chunk = format!(
            "{} < {} && {} <= {few} ? ({product} - 1) / {} + 1 : {}",
            name.zero(),
            name.text,
            name.value(),
            blocks * self.step,
            choice.threads
        );
        let teams = match choice.most_blocks <= blocks {
            true => blocks.to_string(),
            false => format!("{} ? {blocks} : {}", name.is_at_most(few), self.teams(choice, true)),
        };
        Expressions { teams, chunk: Some(chunk) }
    }

    /// The teams that share few iterations, the only name, and its largest value for which there are few.
    fn few(&self, choice: Choice) -> Option<(u64, &Name, u64)> {
        let blocks = choice.sharing_blocks?;
        let [name] = self.names.as_slice() else { return None };
        let iterations = blocks.checked_mul(u64::from(choice.threads))?;
        let few = iterations.checked_mul(self.step)? / self.number.max(1);
        (few >= 2).then_some((blocks, name, few))
    }

    /// As many teams as the iterations need, at least one and at most the chosen number, for all values of the names.
    /// The product is computed only for values for which it is at most the iterations of that many teams, so it cannot
    /// overflow.
    fn teams(&self, choice: Choice, is_positive: bool) -> String {
        let most_blocks = choice.most_blocks;
        let block = u64::from(choice.threads) * u64::from(choice.each);
        let chunk = block * self.step;
        let most = most_blocks.saturating_mul(chunk).min(LARGEST_PRODUCT) / self.number.max(1);
        if self.names.is_empty() {
            return (self.number.div_ceil(chunk)).clamp(1, most_blocks).to_string();
        }
        let each = root(most, self.names.len());
        if each < 2 {
            return most_blocks.to_string();
        }
        let in_range = |name: &Name| {
            let needs_sign = name.is_signed && !is_positive;
            let from_zero = if needs_sign { format!("{} <= {} && ", name.zero(), name.text) } else { String::new() };
            format!("{from_zero}{} < {each}", name.value())
        };
        let distinct: BTreeSet<&Name> = self.names.iter().collect();
        let conditions: Vec<String> = distinct.into_iter().map(in_range).collect();
        let product = self.product();
        let divided = if chunk == 1 { product } else { format!("{product} / {chunk}") };
        format!("{} ? {divided} + 1 : {most_blocks}", conditions.join(" && "))
    }

    /// Names and number, multiplied.
    fn product(&self) -> String {
        let number = (self.number > 1).then(|| self.number.to_string());
        let factors: Vec<String> = self.names.iter().map(Name::operand).chain(number).collect();
        factors.join(" * ")
    }
}

/// The greatest number that divides both; they are above zero.
fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { gcd(other, one % other) }
}

/// The largest number whose power is no more than `most`.
fn root(most: u64, power: usize) -> u64 {
    let fits =
        |number: u64| (0..power).try_fold(1_u64, |product, _| product.checked_mul(number)).is_some_and(|it| it <= most);
    match power {
        0 | 1 => most,
        2 => most.isqrt(),
        _ => (1..=most.isqrt()).take_while(|number| fits(*number)).last().unwrap_or(1),
    }
}

struct Reader<'a, 'p> {
    cx: &'a Program<'p>,
    region: &'a TargetRegion,
}

impl Reader<'_, '_> {
    /// An upper bound for the iterations of a loop: the difference of two variables, otherwise its larger bound, as if
    /// the other one were 0 or more.
    fn bound(&self, only: &CanonicalLoop) -> Option<Bound> {
        let rises = !only.step.is_subtracted;
        let is_falling = matches!(only.relation, Relation::Greater | Relation::GreaterOrEqual);
        if rises == is_falling {
            return None;
        }
        let span = if rises { only.upper } else { only.lower };
        let step = match only.step.amount {
            None => 1,
            Some(amount) => self.number(amount).filter(|step| *step <= LARGEST_STEP)?,
        };
        let (number, names) = match self.difference(only).filter(|_| rises) {
            Some(name) => (1, vec![name]),
            None => self.product(span)?,
        };
        Some(Bound { number, names, step: u64::try_from(step).ok().filter(|step| *step > 0)? })
    }

    /// The upper bound and the lower one, if both are variables of the type in which the iterations are counted. If
    /// their difference overflows, the program has no specified behavior (OpenMP 5.2, section 4.4.2).
    fn difference(&self, only: &CanonicalLoop) -> Option<Name> {
        let (upper, lower) = (self.cx.file.show(only.upper), self.cx.file.show(only.lower));
        let (end, first) = (self.name(&upper, only.upper)?, self.name(&lower, only.lower)?);
        let variable = self.cx.symbols().lookup(&only.variable, self.cx.tree.span(only.body).start)?;
        let counted = integer(&variable.ty)?;
        let is_counted = |name: &str, at: Span| {
            self.cx.symbols().lookup(name, at.start).and_then(|it| integer(&it.ty)).is_some_and(|it| it == counted)
        };
        let is_same = is_counted(&upper, only.upper) && is_counted(&lower, only.lower);
        is_same.then_some(Name { from: Some(first.text), ..end })
    }

    /// Names and numbers that are multiplied. Numbers that are added or subtracted behind them are neglected because
    /// they are small, and subtracted names because they only lower the value.
    fn product(&self, bound: Span) -> Option<(u64, Vec<Name>)> {
        let tree = parse_expression(self.cx.file, bound, self.cx.tree.language())?;
        let mut first = tree.root();
        let (mut product, mut names) = (1_u64, Vec::new());
        while self.number(tree.span(first)).is_none()
            && let Some(sum) = without_parentheses(&tree, first).and_then(|inner| Binary::of(&tree, inner))
            && let Some(operator @ (NodeKind::Plus | NodeKind::Minus)) = sum.operator()
        {
            let (left, right) = (sum.left()?, sum.right()?);
            let is_small = self.cx.constant(tree.span(right)).is_some_and(|number| u16::try_from(number).is_ok());
            let takes_away = operator == NodeKind::Minus && !is_small;
            (is_small || takes_away && is_product_of_names(&tree, right)).then_some(())?;
            first = left;
        }
        for factor in factors(&tree, first) {
            match self.number(tree.span(factor)) {
                Some(number) => product = product.checked_mul(u64::try_from(number).ok()?)?,
                None => names.push(self.name(&self.cx.file.show(tree.span(factor)), tree.span(factor))?),
            }
        }
        Some((product, names))
    }

    /// A constant that is at least 1.
    fn number(&self, at: Span) -> Option<i64> {
        self.cx.constant(at).filter(|number| *number > 0)
    }

    /// A variable that the host can evaluate: it must have its value there, and be the same variable before the
    /// directive.
    fn name(&self, text: &str, at: Span) -> Option<Name> {
        let Self { cx, region } = self;
        let symbols = cx.symbols();
        if !is_word(text) || symbols.macro_definition(text, at.start).is_some() {
            return None;
        }
        let inside = symbols.lookup(text, at.start)?;
        let outside = symbols.lookup(text, region.extent.start)?;
        let is_same = inside.id() == outside.id();
        // The device may have another value of such variables, and the host none.
        let by_default = clauses(cx, region).any(|clause| clause.name == ClauseName::Defaultmap);
        let declares = |id| cx.constructs.directive(id).name.contains("declare");
        let on_device = inside.has_static_storage() && (inside.header.is_some() || cx.constructs.ids().any(declares));
        // A `firstprivate` copy begins with the value that the clause's expression has.
        let others = clauses(cx, region).filter(|clause| clause.name != ClauseName::Firstprivate);
        let is_listed = others.flat_map(Clause::items).any(|item| item.base.as_deref() == Some(text));
        let integer = integer(&inside.ty)?;
        let is_usable = is_same && !is_listed && !by_default && !on_device;
        is_usable.then(|| Name { text: text.to_owned(), from: None, is_signed: integer.signed })
    }
}

/// An integer type that is not promoted to another one in expressions.
fn integer(ty: &DeclaredType) -> Option<Integer> {
    Integer::of(ty).filter(|integer| integer.bits >= 32)
}

/// An expression without its parentheses.
fn without_parentheses(tree: &HostTree, node: NodeId) -> Option<NodeId> {
    let mut inner = node;
    while tree.kind(inner) == NodeKind::ParenthesizedExpression {
        inner = tree.named_children(inner).next()?;
    }
    Some(inner)
}

/// The factors of an expression: the expression itself if it is no product.
fn factors(tree: &HostTree, node: NodeId) -> Vec<NodeId> {
    let Some(inner) = without_parentheses(tree, node) else { return vec![node] };
    match Binary::of(tree, inner).filter(|it| it.operator() == Some(NodeKind::Star)) {
        Some(product) => product.operands().flat_map(|side| factors(tree, side)).collect(),
        None => vec![inner],
    }
}

fn is_product_of_names(tree: &HostTree, node: NodeId) -> bool {
    factors(tree, node).into_iter().all(|factor| tree.kind(factor) == NodeKind::Identifier)
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::GridClass;
    use crate::source::SourceFile;

    #[test]
    fn a_number_behind_a_pointer_is_no_product() {
        let file = SourceFile::new("a.c", b"(*n)".to_vec());
        let tree = parse_expression(&file, Span::new(0, 4), file.language).unwrap();
        assert_eq!(factors(&tree, tree.root()).len(), 1);
    }

    fn choice(threads: u32, most_blocks: u64) -> Choice {
        Choice::of(GridClass::Serial, threads, most_blocks)
    }

    fn bound(number: u64, names: &[(&str, bool)], step: u64) -> Bound {
        let names =
            names.iter().map(|(text, is_signed)| Name { text: (*text).to_owned(), from: None, is_signed: *is_signed });
        Bound { number, names: names.collect(), step }
    }

    #[test]
    fn expressions_are_short() {
        let teams = |bound: Bound| bound.expressions(choice(32, 65_536)).teams;
        assert_eq!(teams(bound(1, &[("n", true)], 1)), "0 <= n && n < 2097152 ? n / 32 + 1 : 65536");
        assert_eq!(teams(bound(1, &[("n", false)], 4)), "n < 8388608 ? n / 128 + 1 : 65536");
        assert_eq!(teams(bound(3, &[("n", false)], 1)), "n < 699050 ? n * 3 / 32 + 1 : 65536");
        assert_eq!(teams(bound(1, &[("n", false), ("n", false)], 1)), "n < 1448 ? n * n / 32 + 1 : 65536");
        assert_eq!(teams(bound(1000, &[], 1)), "32");
        assert_eq!(teams(bound(u64::MAX, &[("n", true)], 1)), "65536");
        assert_eq!(teams(bound(0, &[], 1)), "1");
    }

    #[test]
    fn few_iterations_are_shared() {
        let rows = Choice { sharing_blocks: Some(2112), ..choice(16, 65_536) };
        let both = |bound: Bound, choice: Choice| {
            let Expressions { teams, chunk } = bound.expressions(choice);
            (teams, chunk.unwrap_or_default())
        };
        let (teams, chunk) = both(bound(1, &[("n", true)], 1), rows);
        assert_eq!(teams, "n <= 33792 ? 2112 : n < 1048576 ? n / 16 + 1 : 65536");
        assert_eq!(chunk, "0 < n && n <= 33792 ? (n - 1) / 2112 + 1 : 16");
        let (teams, chunk) = both(bound(3, &[("n", false)], 2), rows);
        assert_eq!(teams, "n <= 22528 ? 2112 : n < 699050 ? n * 3 / 32 + 1 : 65536");
        assert_eq!(chunk, "0 < n && n <= 22528 ? (n * 3 - 1) / 4224 + 1 : 16");
        let (teams, chunk) = both(bound(1, &[("n", true)], 1), Choice { most_blocks: 2112, ..rows });
        assert_eq!((teams.as_str(), chunk.as_str()), ("2112", "0 < n && n <= 33792 ? (n - 1) / 2112 + 1 : 16"));
        // A clause with two names is long enough.
        let (teams, chunk) = both(bound(1, &[("n", true), ("m", true)], 1), rows);
        assert_eq!(
            (teams.as_str(), chunk.as_str()),
            ("0 <= m && m < 1024 && 0 <= n && n < 1024 ? n * m / 16 + 1 : 65536", "")
        );
    }

    #[test]
    fn differences_are_formed_where_they_are_no_less_than_zero() {
        let tile = |is_signed| Bound {
            number: 1,
            names: vec![Name { text: "end".to_owned(), from: Some("first".to_owned()), is_signed }],
            step: 1,
        };
        let teams = |bound: Bound| bound.expressions(choice(32, 65_536)).teams;
        assert_eq!(teams(tile(true)), "first <= end && end - first < 2097152 ? (end - first) / 32 + 1 : 65536");
        assert_eq!(teams(tile(false)), "end - first < 2097152 ? (end - first) / 32 + 1 : 65536");
        let rows = Choice { sharing_blocks: Some(2112), ..choice(16, 65_536) };
        let Expressions { teams, chunk } = tile(true).expressions(rows);
        assert_eq!(
            teams,
            "end <= first || end - first <= 33792 ? 2112 : end - first < 1048576 ? (end - first) / 16 + 1 : 65536"
        );
        let chunk = chunk.unwrap_or_default();
        assert_eq!(chunk, "first < end && end - first <= 33792 ? (end - first - 1) / 2112 + 1 : 16");
    }

    /// The iterations are shared as [`Choice::launch`] says for every number of them: each team gets some if there are
    /// enough.
    #[test]
    fn shares_are_even() {
        let rows = Choice { sharing_blocks: Some(2112), ..choice(16, 65_536) };
        for iterations in [1, 2, 2112, 2113, 4224, 4225, 33_792, 33_793] {
            let launch = rows.launch(iterations);
            let expected = if iterations <= 33_792 { (iterations - 1) / 2112 + 1 } else { 16 };
            assert_eq!(u64::from(launch.chunk), expected, "{iterations}");
            assert!(launch.grid.num_teams * u64::from(launch.chunk) >= iterations, "{iterations}");
        }
    }

    /// Every value of the names gives from 1 to the chosen number of teams, and the product fits an `int`.
    #[test]
    fn nothing_overflows() {
        for (number, power, threads, most_blocks) in
            [(1, 1, 16, 65_536), (7, 2, 32, 4224), (3, 3, 128, 2112), (1, 3, 1, 2112), (65_535, 2, 16, 65_536)]
        {
            let most = most_blocks * threads / number;
            let each = root(most, power);
            let largest = (each.max(1) - 1).pow(u32::try_from(power).unwrap()) * number;
            assert!(largest <= most_blocks * threads && largest <= i32::MAX as u64, "{number} {power}");
        }
    }
}
