//! Outputs of the tool with something done wrong on purpose, by the operators of `operators.toml`. The checks of the outputs
//! must find them, or prove nothing.

mod directives;
pub mod environments;
pub mod judged;
pub mod of_environments;
pub mod overlaps;
pub mod sharpen;
mod statements;
mod tiles;
pub mod watched;
pub mod widen;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Deserialize;

use super::generator::ArrayUse;
use ompsplit::validate::host::directives::{body, directives, is_kernel, words};
use ompsplit::validate::host::map_clause::base;

/// A row of `operators.toml`.
#[derive(Clone, Debug, Deserialize)]
pub struct Operator {
    pub name: String,
    /// What it is applied to.
    pub on: String,
    /// What it does there.
    pub does: String,
    /// The clause, modifier or directive that it is about.
    #[serde(default)]
    pub clause: String,
    #[serde(default)]
    pub from: String,
    #[serde(default)]
    pub to: String,
    /// Percent of its mutants that must be found.
    #[serde(default = "sharp")]
    pub floor: usize,
    /// Why others need not be: what makes some of them mean the same as the output.
    #[serde(default)]
    pub why: String,
    /// The arrays with which it changes the meaning all the same, as the generator knows.
    #[serde(default, rename = "sharp-where")]
    pub sharp_where: Option<Needed>,
}

/// What a program needs of an array.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Needed {
    /// The elements that the host has before a region.
    Read,
    /// The elements that a region writes.
    Written,
}

/// Percent of the mutants of an operator that changes the meaning wherever it is applied.
const SHARP: usize = 95;

fn sharp() -> usize {
    SHARP
}

impl Operator {
    /// Does it change the meaning wherever it is applied?
    pub fn is_sharp(&self) -> bool {
        self.floor >= SHARP
    }

    /// The operator on an array of which this is known.
    fn on_array(&self, used: &ArrayUse) -> Self {
        let needed = match self.sharp_where {
            Some(Needed::Read) if used.read_first => "read",
            Some(Needed::Written) if used.written => "written",
            _ => return self.clone(),
        };
        let name = format!("{}, of an array that is {needed}", self.name);
        Self { name, floor: SHARP, why: String::new(), ..self.clone() }
    }
}

#[derive(Deserialize)]
struct Operators {
    operator: Vec<Operator>,
}

/// An output with one thing done wrong.
#[derive(Clone, Debug)]
pub struct Mutant {
    pub operator: Operator,
    /// The text of the mutant.
    pub text: String,
    /// The item, clause or statement that was changed.
    pub what: String,
}

impl Mutant {
    /// The output itself, under a name of its own.
    pub fn of_nothing(name: &str, output: &str) -> Self {
        let [on, does, clause, from, to, why] = std::array::from_fn(|_| String::new());
        let operator = Operator { name: name.to_owned(), on, does, clause, from, to, floor: 0, why, sharp_where: None };
        mutant(&operator, output.to_owned(), "")
    }

    /// The mutant, judged by what the program does with the array that was changed.
    #[must_use]
    pub fn of_program(self, uses: &BTreeMap<String, ArrayUse>) -> Self {
        let used = uses.get(&base(&self.what));
        Self { operator: used.map_or(self.operator.clone(), |used| self.operator.on_array(used)), ..self }
    }
}

/// A new `target data` construct of an output, or a kernel that stands alone.
struct Site {
    /// The data construct's directive and body.
    pub data: Option<(Range<usize>, Range<usize>)>,
    pub kernels: Vec<Range<usize>>,
}

/// The operators, in the order of the file.
pub fn operators() -> Result<Vec<Operator>, String> {
    let rows: Operators = toml::from_str(include_str!("operators.toml")).map_err(|error| error.to_string())?;
    match rows.operator.iter().find(|operator| operator.is_sharp() != operator.why.is_empty()) {
        Some(operator) => Err(format!("`{}` needs a reason where it has a floor, and nowhere else", operator.name)),
        None => Ok(rows.operator),
    }
}

/// Every mutant of an output; none where it is the original.
pub fn mutants(operators: &[Operator], original: &str, output: &str) -> Vec<Mutant> {
    if original == output {
        return Vec::new();
    }
    let tiles = tiles::tiles(original, output);
    let mut sites = sites(original, output);
    // What tiles are made of has operators of its own.
    let in_tiles = |range: &Range<usize>| tiles.iter().any(|tiles| tiles.whole.contains(&range.start));
    sites.retain(|site| !site.data.as_ref().is_some_and(|(data, _)| in_tiles(data)));
    sites.iter_mut().for_each(|site| site.kernels.retain(|kernel| !in_tiles(kernel)));
    let of_one = |operator| {
        let mut found = of_operator(operator, output, &sites);
        if operator.on == "tiles" {
            found.extend(tiles.iter().flat_map(|tiles| tiles::of_tiles(operator, original, output, tiles)));
        }
        found
    };
    operators.iter().flat_map(of_one).filter(|m| m.text != output).collect()
}

fn of_operator(operator: &Operator, output: &str, sites: &[Site]) -> Vec<Mutant> {
    let of_site = |site: &Site| match operator.on.as_str() {
        "data" => directives::of_data(operator, output, site),
        "kernel" => {
            let places = 0..site.kernels.len();
            places.flat_map(|place| directives::of_kernel(operator, output, site, place)).collect()
        }
        "host" => statements::of_host(operator, output, site),
        _ => Vec::new(),
    };
    let mut all: Vec<Mutant> = sites.iter().flat_map(of_site).collect();
    match operator.on.as_str() {
        "temporary" => all.extend(statements::of_temporaries(operator, output)),
        "text" => all.extend(directives::of_text(operator, output)),
        _ => {}
    }
    // A kernel in a data construct within another stands in both.
    let mut texts = BTreeSet::new();
    all.retain(|mutant| texts.insert(mutant.text.clone()));
    all
}

fn sites(original: &str, output: &str) -> Vec<Site> {
    let known: Vec<String> = directives(original.as_bytes()).iter().map(|d| words(original.as_bytes(), d)).collect();
    let found = directives(output.as_bytes());
    let new = |range: &Range<usize>| !known.contains(&words(output.as_bytes(), range));
    let kernel = |range: &Range<usize>| new(range) && is_kernel(&words(output.as_bytes(), range));
    let mut sites: Vec<Site> = Vec::new();
    for data in found.iter().filter(|d| words(output.as_bytes(), d).starts_with("target data") && new(d)) {
        let body = body(output.as_bytes(), data.end);
        let kernels = found.iter().filter(|d| body.contains(&d.start) && kernel(d)).cloned().collect();
        sites.push(Site { data: Some((data.clone(), body)), kernels });
    }
    let inside = |range: &Range<usize>| sites.iter().flat_map(|site| &site.kernels).any(|k| k == range);
    let alone: Vec<Range<usize>> = found.iter().filter(|d| kernel(d) && !inside(d)).cloned().collect();
    if !alone.is_empty() {
        sites.push(Site { data: None, kernels: alone });
    }
    sites
}

/// The text with ranges replaced.
fn edited(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::new();
    let mut at = 0;
    for (range, new) in edits {
        out.push_str(text.get(at..range.start).unwrap_or_default());
        out.push_str(&new);
        at = range.end.max(at);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

fn mutant(operator: &Operator, text: String, what: impl Into<String>) -> Mutant {
    Mutant { operator: operator.clone(), text, what: what.into() }
}
