//! From a family and a seed to the text of a program.

use std::collections::{BTreeMap, BTreeSet};

use super::builder::{ArrayUse, Builder};
use super::data::{Array, CAPACITY, Storage};
use super::families::{BASIC, FAMILIES, Family, PIPELINES};
use super::node::{Block, Clause, Directive, Node, block, fixed, text, write};
use super::recipe::{Around, Holder, RegionClause};
use super::rng::Rng;

/// A generated program.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its number, which its names in the file end with.
    pub index: usize,
    pub family: &'static Family,
    pub cpp: bool,
    /// Are both forms of its regions written, chosen by lengths at run time?
    pub versioned: bool,
    /// What stands in the file behind the head.
    pub nodes: Vec<Node>,
    /// What it is made of, in words.
    pub shape: String,
    /// What every region that names an array does with it on the device, where the device does not have it before.
    pub uses: BTreeMap<String, ArrayUse>,
}

/// What every file begins with.
pub const HEAD: &str = "#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints a number for the bytes of an array. */
static void check(const char *name, const void *data, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)data;
    unsigned long hash = 1469598103934665603UL;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * 1099511628211UL;
    printf(\"%s %lx\\n\", name, hash);
}
";

const BEGIN: &str = "/* begin */\n";
const END: &str = "/* end */\n";

/// The program of a number under a seed; the families of the first table take turns.
pub fn case(seed: u64, index: usize) -> Case {
    of_family(&FAMILIES[index % BASIC.len()], seed, index)
}

/// The same of all families.
pub fn drawn(seed: u64, index: usize) -> Case {
    of_family(&FAMILIES[index % FAMILIES.len()], seed, index)
}

/// The same of the families of pipelines.
pub fn piped(seed: u64, index: usize) -> Case {
    of_family(&PIPELINES[index % PIPELINES.len()], seed, index)
}

fn of_family(family: &'static Family, seed: u64, index: usize) -> Case {
    let mut rng = Rng::new(seed.wrapping_mul(0x0001_0000_0001).wrapping_add(index as u64));
    rng.below(2);
    let recipe = family.recipe.clone();
    let (cpp, versioned) = (recipe.cpp, recipe.versioned);
    let mut builder = Builder {
        rng,
        recipe,
        tag: format!("_c{index}"),
        arrays: Vec::new(),
        uses: Vec::new(),
        sums: Vec::new(),
        helpers: BTreeMap::new(),
        locals: BTreeSet::new(),
        shape: BTreeSet::new(),
        counter: 0,
        pending: Vec::new(),
        private: BTreeSet::new(),
        local_sums: Vec::new(),
        both: Vec::new(),
        around_names: Vec::new(),
        shown: BTreeSet::new(),
        changed_arrays: BTreeSet::new(),
        known_uses: BTreeMap::new(),
        present: false,
        settled: BTreeSet::new(),
        taken: BTreeSet::new(),
    };
    let nodes = match builder.recipe.tiles {
        Some(tiles) => builder.pipeline(tiles),
        None => builder.program(),
    };
    let shape = builder.shape.into_iter().collect::<Vec<_>>().join(", ");
    let on_host = builder.recipe.region_clauses.contains(&RegionClause::IfFalse);
    let uses = if builder.present || on_host { BTreeMap::new() } else { builder.known_uses };
    Case { index, family, cpp, versioned, nodes, shape: format!("{}: {shape}", family.name), uses }
}

impl Case {
    /// The file's name, in the folder of the pass that its family is for.
    pub fn file_name(&self) -> &'static str {
        match (self.is_piped(), self.cpp) {
            (false, false) => "generated.c",
            (false, true) => "generated.cpp",
            (true, false) => "pipeline_loop/generated.c",
            (true, true) => "pipeline_loop/generated.cpp",
        }
    }

    /// Is it for the pass `pipeline`?
    pub fn is_piped(&self) -> bool {
        self.family.recipe.tiles.is_some()
    }

    /// The program as a file of its own.
    pub fn text(&self) -> String {
        let mut body = String::new();
        write(&self.nodes, 0, &mut body);
        let mut first = if self.versioned { "// fixture: versioned\n".to_owned() } else { String::new() };
        if let Some(tiles) = self.family.recipe.tiles {
            first = tiles.window.map_or_else(String::new, |window| format!("// fixture: window {window}\n"));
            first += if tiles.registered { "// fixture: pin register\n" } else { "" };
        }
        format!("{first}{HEAD}\n{BEGIN}{body}{END}\n{}", batch_main(&[self.index.to_string()], self.sizes()))
    }

    /// `n` and `m` that it runs with.
    pub fn sizes(&self) -> &'static [(usize, usize)] {
        match self.is_piped() {
            true => TILED_SIZES,
            false if self.versioned => VERSIONED_SIZES,
            false => SIZES,
        }
    }

    /// The part of such a file, original or rewritten, that differs from program to program.
    pub fn part(text: &str) -> &str {
        let start = text.find(BEGIN).map_or(0, |at| at + BEGIN.len());
        let end = text.find(END).unwrap_or(text.len());
        text.get(start..end).unwrap_or_default()
    }
}

/// `n` and `m` that each program runs with.
pub const SIZES: &[(usize, usize)] = &[(61, 5), (3, 2)];

/// The same for programs of both forms: lengths on both sides of most choices.
pub const VERSIONED_SIZES: &[(usize, usize)] = &[(61, 5), (2500, 5)];

/// The same for loops in tiles: no iteration, fewer than there are tiles, as many, and such that tiles are not equally long.
pub const TILED_SIZES: &[(usize, usize)] = &[(0, 2), (5, 3), (16, 1), (61, 5), (100, 4), (203, 2)];

/// The same where a race must show: many iterations for each thread. `n * m` elements fit in every array.
pub const LONG_SIZES: &[(usize, usize)] = &[(2500, 5)];

/// `main` for several programs in one file; its arguments are the first place that it runs, and places to pass over.
pub fn batch_main(cases: &[String], sizes: &[(usize, usize)]) -> String {
    let mut text = String::from(MAIN);
    for (place, case) in cases.iter().enumerate() {
        let calls = sizes.iter().map(|(n, m)| format!("        case_c{case}({n}, {m});\n")).collect::<String>();
        text.push_str(&format!("    if (begins({place}, argc, argv)) {{\n{calls}        ends();\n    }}\n"));
    }
    text.push_str("    return 0;\n}\n");
    text
}

const MAIN: &str = "static int begins(int place, int argc, char **argv)
{
    if (argc > 1 && place < atoi(argv[1]))
        return 0;
    for (int i = 2; i < argc; i++)
        if (place == atoi(argv[i]))
            return 0;
    printf(\"== %d\\n\", place);
    fflush(stdout);
    fprintf(stderr, \"== %d\\n\", place);
    return 1;
}

static void ends(void)
{
#ifdef CHECKED_PINS_END
    CHECKED_PINS_END();
#endif
    printf(\"== end\\n\");
    fflush(stdout);
}

int main(int argc, char **argv)
{
";

impl Builder {
    /// Everything that stands in the file behind the head.
    fn program(&mut self) -> Vec<Node> {
        self.make_arrays();
        self.present = self.recipe.around != Around::None;
        let mut regions = self.region();
        if self.rng.chance(20) && self.recipe.forbidden.is_none() {
            regions.extend(self.between());
            regions.extend(self.region());
        }
        let regions = self.surround(regions);
        let own_function = self.rng.chance(45) || self.recipe.holder != Holder::Plain;
        let own_function = own_function && self.arrays.iter().all(|array| array.is_pointer() || array.is_in_file());
        let mut nodes = self.file_parts();
        let scalars = self.scalars();
        let prints: Vec<Node> = self.sums.iter().map(super::data::Sum::print).chain(self.shown_scalars()).collect();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        if self.arrays.iter().any(|array| array.storage == Storage::Member) {
            before.push(fixed(format!("struct box{} box;", self.tag)));
        }
        for (salt, array) in self.arrays.clone().iter().enumerate() {
            before.extend(array.local().map(fixed));
            before.push(array.fill(salt));
            after.extend(array.print());
            after.extend(array.free());
        }
        let seconds = self.arrays.iter().filter_map(|array| array.second_name().map(fixed));
        let inner = [scalars, seconds.collect(), regions, prints].concat();
        let body = if own_function {
            self.note("own function");
            let (function, call) = self.held(inner);
            nodes.extend(function);
            [before, call, after].concat()
        } else {
            [before, inner, after].concat()
        };
        let head = format!("static void case{}(int n, int m)", self.tag);
        nodes.push(Node::Block(Block { head, body, fixed: true, ..Block::default() }));
        nodes
    }

    /// The function that holds the region, and its call.
    fn held(&self, mut inner: Vec<Node>) -> (Vec<Node>, Vec<Node>) {
        let tag = &self.tag;
        let (parameters, arguments) = self.parameters();
        let lengths =
            |list: &str, both: &str| if list.is_empty() { both.to_owned() } else { format!("{both}, {list}") };
        let function = |head: String, body| Node::Block(Block { head, body, fixed: true, ..Block::default() });
        let all = lengths(&parameters, "int n, int m");
        let given = lengths(&arguments, "n, m");
        match self.recipe.holder {
            Holder::Plain => {
                let head = format!("static void work{tag}({all})");
                (vec![function(head, inner)], vec![fixed(format!("work{tag}({given});"))])
            }
            Holder::Template => {
                let mut value = String::new();
                for node in &mut inner {
                    if let Node::Fixed(line) = node
                        && let Some(rest) = line.strip_prefix("int k = ")
                    {
                        value = rest.trim_end_matches(';').to_owned();
                        *line = "int k = K;".to_owned();
                    }
                }
                let head = format!("template <int K>\nstatic void work{tag}({all})");
                (vec![function(head, inner)], vec![fixed(format!("work{tag}<{value}>({given});"))])
            }
            Holder::Member => {
                let members = vec![fixed("int n, m;"), function(format!("void work({parameters})"), inner)];
                let head = format!("struct solver{tag}");
                let structure = Block { head, body: members, tail: ";".to_owned(), fixed: true, ..Block::default() };
                let call = format!("struct solver{tag} solver = {{n, m}};\nsolver.work({arguments});");
                (vec![Node::Block(structure)], vec![fixed(call)])
            }
            Holder::Namespace => {
                let head = format!("static void work({all})");
                let space = function(format!("namespace space{tag}"), vec![function(head, inner)]);
                (vec![space], vec![fixed(format!("space{tag}::work({given});"))])
            }
        }
    }

    /// The arrays as parameters, and as arguments.
    fn parameters(&self) -> (String, String) {
        let pointers = || self.arrays.iter().filter(|array| array.is_pointer());
        let changed = |array: &Array| self.changed_arrays.contains(&array.name) || array.second.is_some();
        let parameters: Vec<String> = pointers().map(|array| array.parameter(!changed(array))).collect();
        let arguments: Vec<&str> = pointers().map(|array| array.name.as_str()).collect();
        (parameters.join(", "), arguments.join(", "))
    }

    /// Scalars of the region's function.
    fn scalars(&mut self) -> Vec<Node> {
        let k = self.rng.range(1, 5);
        let c = self.rng.pick(&["0.5", "1.25", "2.0"]);
        let mut nodes = vec![fixed(format!("int k = {k};")), fixed(format!("double c = {c};"))];
        for sum in &self.sums {
            let start = if sum.ty.is_floating() { "1.5" } else { "7" };
            let plain = format!("{} {} = {start};", sum.ty.c(), sum.name);
            if self.recipe.cpp && sum.name == "s" {
                nodes.push(fixed(format!(
                    "{} {}_value = {start};\n{} &{} = {}_value;",
                    sum.ty.c(),
                    sum.name,
                    sum.ty.c(),
                    sum.name,
                    sum.name
                )));
            } else {
                nodes.push(fixed(plain));
            }
        }
        if self.recipe.sums == super::recipe::Sums::Lost {
            self.shown.insert("lost".to_owned());
        }
        nodes.extend(self.locals.iter().map(fixed));
        nodes
    }

    fn shown_scalars(&self) -> Vec<Node> {
        let names = self.shown.iter().map(String::as_str).chain(["k"]);
        names.map(|name| fixed(format!("printf(\"{name} %ld\\n\", (long){name});"))).collect()
    }

    /// Host code between two regions.
    fn between(&mut self) -> Vec<Node> {
        let array = self.arrays[0].clone();
        let one = array.element("1", false);
        self.changed_arrays.insert(array.name.clone());
        let mut nodes = vec![text("k = k % 5 + 1;")];
        if array.storage == Storage::DeviceGlobal {
            return nodes;
        }
        let item = array.item(true);
        match item.filter(|_| self.present && array.variable() != "box") {
            // Host and device have the same values before and after.
            Some(item) => nodes.push(text(format!(
                "#pragma omp target update from({item})\n{one} = 5;\n#pragma omp target update to({item})"
            ))),
            None if !self.present => nodes.push(text(format!("{one} = 5;"))),
            None => {}
        }
        nodes
    }

    /// `target data` or `target enter data` around the regions.
    fn surround(&mut self, regions: Vec<Node>) -> Vec<Node> {
        let whole = |array: &Array| match array.storage {
            Storage::Member => Some("box".to_owned()),
            _ => array.item(true),
        };
        let mut items: Vec<String> = self.arrays.iter().filter_map(whole).collect();
        items.dedup();
        let list = items.join(", ");
        match self.recipe.around {
            _ if items.is_empty() => regions,
            Around::None => regions,
            Around::Data => {
                let directive = Directive::new("target data", vec![Clause::needed(format!("map(tofrom: {list})"))]);
                vec![Node::Block(Block { directives: vec![directive], body: regions, ..Block::default() })]
            }
            Around::Enter => {
                let alone = |name: &str, kind: &str| {
                    Node::Alone(Directive::new(name, vec![Clause::needed(format!("map({kind}: {list})"))]))
                };
                [vec![alone("target enter data", "to")], regions, vec![alone("target exit data", "from")]].concat()
            }
        }
    }

    /// Arrays, structures, functions and macros of the file.
    fn file_parts(&self) -> Vec<Node> {
        let mut nodes: Vec<Node> = self.helpers.values().map(fixed).collect();
        nodes.extend(self.arrays.iter().filter_map(Array::global).map(fixed));
        let members: Vec<Node> = self
            .arrays
            .iter()
            .filter(|array| array.storage == Storage::Member)
            .map(|array| fixed(format!("{} {}[{CAPACITY}];", array.ty.c(), array.name)))
            .collect();
        if !members.is_empty() {
            let mut structure = block(format!("struct box{}", self.tag), members);
            if let Node::Block(structure) = &mut structure {
                structure.tail = ";".to_owned();
                structure.fixed = true;
            }
            nodes.push(structure);
        }
        nodes
    }
}
