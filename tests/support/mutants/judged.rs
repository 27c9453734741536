//! Are enough mutants of an operator found?

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Operator;

/// From how many mutants on an operator is held to its floor exactly. Of fewer, what is found may be less by chance.
const JUDGED: usize = 20;
/// What is less probable than this is no chance.
const CHANCE: f64 = 0.001;

/// What was found of an operator's mutants.
pub struct Row<'a> {
    pub operator: &'a Operator,
    pub tried: usize,
    pub found: usize,
}

/// The rows by the names of the operators.
pub type Rows<'a> = BTreeMap<&'a str, Row<'a>>;

impl Row<'_> {
    fn is_too_little(&self) -> bool {
        let Row { operator, tried, found } = self;
        let is_below = found * 100 < tried * operator.floor;
        is_below && (*tried >= JUDGED || at_most(*found, *tried, operator.floor as f64 / 100.0) < CHANCE)
    }
}

/// How probable it is that at most so many of `tried` mutants are found, where each is with this probability.
fn at_most(found: usize, tried: usize, each: f64) -> f64 {
    let ways = |count: usize| (0..count).map(|i| (tried - i) as f64 / (i + 1) as f64).product::<f64>();
    (0..=found).map(|n| ways(n) * each.powf(n as f64) * (1.0 - each).powf((tried - n) as f64)).sum()
}

/// Notes one mutant.
pub fn note<'a>(rows: &mut Rows<'a>, operator: &'a Operator, is_found: bool) {
    let row = rows.entry(&operator.name).or_insert(Row { operator, tried: 0, found: 0 });
    row.tried += 1;
    row.found += usize::from(is_found);
}

/// What was found, as a table.
pub fn table(rows: &Rows<'_>) -> String {
    let mut table = format!("{:64} {:>6} {:>6} {:>6} {:>6}\n", "operator", "tried", "found", "%", "floor");
    for (name, Row { operator, tried, found }) in rows {
        let _ = writeln!(table, "{name:64} {tried:6} {found:6} {:6} {:6}", found * 100 / tried, operator.floor);
    }
    table
}

/// `told` with the sums of all rows, as an error where too few are found.
pub fn judged(rows: &Rows<'_>, told: &str) -> Result<String, String> {
    let few = rows.values().filter(|row| row.is_too_little()).map(|row| row.operator.name.as_str());
    let few: Vec<&str> = few.collect();
    let sums = |rows: &mut dyn Iterator<Item = &Row>| {
        rows.fold([0; 3], |[tried, found, least], row| {
            [tried + row.tried, found + row.found, least + row.tried * row.operator.floor]
        })
    };
    let all = sums(&mut rows.values());
    let sharp = sums(&mut rows.values().filter(|row| row.operator.is_sharp()));
    let said = format!("{told}{} of {} are found, {} of {} of sharp operators\n", all[1], all[0], sharp[1], sharp[0]);
    if few.is_empty() && [all, sharp].iter().all(|[_, found, least]| found * 100 >= *least) {
        return Ok(said);
    }
    Err(format!("too few mutants are found: {}\n{said}", few.join(", ")))
}
