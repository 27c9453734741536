//! Outputs of the tool with something done wrong on purpose, by the operators of `operators.toml`. The checks of the outputs
//! must find them, or prove nothing.

mod directives;
pub mod equivalence;
pub mod sharpen;
mod statements;
mod tiles;
pub mod widen;

use std::ops::Range;

use serde::Deserialize;

use ompsplit::validate::host::directives::{body, directives, is_kernel, words};

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
    /// The words of the new data construct that it stands in, and the text in its braces.
    pub data: Option<(String, String)>,
    /// Of a mutant of a kernel, the words of all new data constructs around it.
    pub around: String,
    /// Of a mutant of a kernel, the words of its directive and its statement.
    pub kernel: Option<(String, String)>,
    /// Where in the data construct's body it begins, of a mutant of a kernel or of a statement.
    pub place: Option<usize>,
    /// Where the line of the changed directive begins. What stands before it is as in the output.
    pub at: usize,
    /// The statement that was changed and the one behind it, where two were exchanged.
    pub exchanged: Option<(String, String)>,
}

impl Mutant {
    /// The output itself, under a name of its own.
    pub fn of_nothing(name: &str, output: &str) -> Self {
        let none = String::new;
        let operator =
            Operator { name: name.to_owned(), on: none(), does: none(), clause: none(), from: none(), to: none() };
        mutant(&operator, output.to_owned(), "")
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
    Ok(rows.operator)
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
    let mut all: Vec<Mutant> = Vec::new();
    for site in sites {
        let data = site.data.as_ref().map(|(directive, body)| {
            let inside = output.get(body.clone()).unwrap_or_default().to_owned();
            (words(output.as_bytes(), directive), inside)
        });
        let found = match operator.on.as_str() {
            "data" => {
                let at = site.data.as_ref().map_or(0, |(data, _)| statements::line_start(output, data.start));
                directives::of_data(operator, output, site).into_iter().map(|mutant| Mutant { at, ..mutant }).collect()
            }
            "kernel" => {
                let of = |(place, kernel): (usize, &Range<usize>)| {
                    let around = around(output, sites, kernel);
                    let found = directives::of_kernel(operator, output, site, place, kernel);
                    let inside = output.get(statements::statement(output, kernel.end)).unwrap_or_default();
                    let place = site.data.as_ref().map(|(_, body)| kernel.start - body.start);
                    let at = statements::line_start(output, kernel.start);
                    let kernel = Some((words(output.as_bytes(), kernel), inside.to_owned()));
                    found.into_iter().map(move |mutant| Mutant {
                        around: around.clone(),
                        kernel: kernel.clone(),
                        place,
                        at,
                        ..mutant
                    })
                };
                site.kernels.iter().enumerate().flat_map(of).collect()
            }
            "host" => statements::of_host(operator, output, site),
            _ => Vec::new(),
        };
        // A kernel in a data construct within another stands in both.
        let new = |mutant: &Mutant| !all.iter().any(|other: &Mutant| other.text == mutant.text);
        let found: Vec<Mutant> = found.into_iter().filter(new).collect();
        all.extend(found.into_iter().map(|mutant| Mutant { data: data.clone(), ..mutant }));
    }
    match operator.on.as_str() {
        "temporary" => all.extend(statements::of_temporaries(operator, output)),
        "text" => all.extend(directives::of_text(operator, output)),
        _ => {}
    }
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

/// The words of the new data constructs around a kernel.
fn around(output: &str, sites: &[Site], kernel: &Range<usize>) -> String {
    let constructs = sites.iter().filter(|site| site.kernels.contains(kernel)).filter_map(|site| site.data.as_ref());
    constructs.map(|(directive, _)| words(output.as_bytes(), directive)).collect::<Vec<_>>().join(" ")
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
    Mutant {
        operator: operator.clone(),
        text,
        what: what.into(),
        data: None,
        around: String::new(),
        kernel: None,
        place: None,
        at: 0,
        exchanged: None,
    }
}
