//! The statements of a function: loops of the host, branches, accesses of the host between the constructs.

use super::kernels::{Clauses, Sections};
use crate::support::generator::rng::Rng;

/// How often the host does what, in so many of a hundred statements of a block; the others are constructs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Host {
    /// It reads or writes one element.
    pub elements: usize,
    /// It reads or writes several in a row.
    pub rows: usize,
    /// It reads or writes all.
    pub whole: usize,
    /// Functions of the file do.
    pub functions: usize,
    /// Pointers change places.
    pub swaps: usize,
    /// The program's own updates.
    pub updates: usize,
    /// The program's own environments.
    pub present: usize,
    /// It computes with numbers alone.
    pub numbers: usize,
    /// Blocks and branches.
    pub branches: usize,
    /// Calls of functions whose constructs map what they are handed.
    pub calls: usize,
    /// How many loops of a hundred are left early.
    pub leaves: usize,
    /// Loops within.
    pub loops: usize,
}

/// What is known while a function is written.
pub(super) struct Body<'r> {
    pub rng: &'r mut Rng,
    /// What the constructs map, and the host may access by the same names.
    pub arrays: Vec<String>,
    /// Those that the host accesses in between.
    pub accessed: Vec<String>,
    /// May parameters overlap? Then no construct lists two of them.
    pub may_overlap: bool,
    /// What the sections are as long as.
    pub length: &'static str,
    pub sections: Sections,
    pub host: Host,
    pub clauses: Clauses,
    /// Pointers that may change places.
    pub exchanged: Vec<&'static str>,
    pub cpp: bool,
    pub loops: usize,
}

impl<'r> Body<'r> {
    pub(super) fn new(rng: &'r mut Rng, arrays: &[&str]) -> Self {
        let arrays: Vec<String> = arrays.iter().map(|name| (*name).to_owned()).collect();
        Self {
            rng,
            accessed: arrays.clone(),
            arrays,
            may_overlap: false,
            length: "n",
            sections: Sections::Whole,
            host: Host::default(),
            clauses: Clauses::default(),
            exchanged: Vec::new(),
            cpp: false,
            loops: 0,
        }
    }

    pub(super) fn array(&mut self) -> String {
        let at = self.rng.below(self.arrays.len());
        self.arrays[at].clone()
    }

    fn accessed(&mut self) -> String {
        let at = self.rng.below(self.accessed.len());
        self.accessed[at].clone()
    }

    /// Another array, which a construct may list beside this one.
    pub(super) fn another(&mut self, name: &str) -> String {
        let are_parameters = |other: &str| name.len() == 1 && other.len() == 1;
        let fits = |other: &&String| *other != name && !(self.may_overlap && are_parameters(other));
        let others: Vec<String> = self.arrays.iter().filter(fits).cloned().collect();
        let at = self.rng.below(others.len());
        others[at].clone()
    }

    pub(super) fn number(&mut self) -> String {
        self.rng.pick(&["0.5", "2", "1.25"]).to_owned()
    }

    /// So many statements.
    pub(super) fn block(&mut self, depth: usize, least: usize, most: usize) -> String {
        let count = self.rng.range(least, most);
        (0..count).map(|_| self.statement(depth)).collect()
    }

    /// Constructs alone.
    pub(super) fn kernels(&mut self, depth: usize, count: usize) -> String {
        (0..count).map(|_| self.kernel(&"    ".repeat(depth))).collect()
    }

    fn statement(&mut self, depth: usize) -> String {
        let indent = "    ".repeat(depth);
        let host = self.host;
        let deep = depth >= 3;
        let choices = [
            host.elements,
            host.rows,
            host.whole,
            host.functions,
            host.swaps,
            host.updates,
            host.numbers,
            host.calls,
            if deep { 0 } else { host.present },
            if deep { 0 } else { host.branches },
            if deep { 0 } else { host.loops },
        ];
        let mut roll = self.rng.below(100);
        let chosen = choices.iter().position(|weight| {
            let is_it = roll < *weight;
            roll = roll.saturating_sub(*weight);
            is_it
        });
        match chosen {
            Some(0) => self.element(&indent),
            Some(1) => self.row(&indent),
            Some(2) => self.all(&indent),
            Some(3) => self.function(&indent),
            Some(4) => self.swap(&indent),
            Some(5) => self.update(&indent),
            Some(6) => self.numbers(&indent),
            Some(7) => self.called(&indent),
            Some(8) => self.present(&indent),
            Some(9) => self.branch(depth, &indent),
            Some(10) => self.repeated(depth, 1, 2),
            _ => self.kernel(&indent),
        }
    }

    fn place(&mut self) -> String {
        let number = self.rng.below(8).to_string();
        self.rng.pick(&[number.as_str(), "n - 1", "n / 2", "steps", "n - 3", number.as_str()]).to_owned()
    }

    /// One element, in each pass or in some.
    pub(super) fn element(&mut self, indent: &str) -> String {
        let (name, at, number) = (self.accessed(), self.place(), self.number());
        let line = match self.rng.below(5) {
            0 | 1 => format!("sum += {name}[{at}];"),
            2 => format!("{name}[{at}] = {number};"),
            3 => format!("{name}[{at}] += {number};"),
            _ => format!("printf(\"%g\\n\", (double){name}[{at}]);"),
        };
        if self.rng.chance(25) {
            let test = self.rng.pick(&["sum > 4", "sum > 30", "steps != 1", "steps > 1"]);
            return format!("{indent}if ({test})\n{indent}    {line}\n");
        }
        format!("{indent}{line}\n")
    }

    pub(super) fn row(&mut self, indent: &str) -> String {
        let (name, number) = (self.accessed(), self.number());
        let (first, length) = (self.rng.below(20), self.rng.range(2, 8));
        let end = first + length;
        let line = match self.rng.below(3) {
            0 => format!("sum += {name}[j];"),
            1 => format!("{name}[j] = {number} + j;"),
            _ => format!("{name}[j] = 0.5 * {name}[j] + 1;"),
        };
        format!("{indent}for (int j = {first}; j < {end}; j++)\n{indent}    {line}\n")
    }

    pub(super) fn all(&mut self, indent: &str) -> String {
        let (name, number) = (self.accessed(), self.number());
        let length = self.length;
        let line = match self.rng.below(4) {
            0 => format!("sum += {name}[j] * (j % 3 + 1);"),
            1 => format!("{name}[j] = {number} + j % 4;"),
            2 => format!("{name}[j] += 1;"),
            _ => format!("sum += {name}[j] > 1 ? {name}[j] : 0.25;"),
        };
        let loops = format!("for (int j = 0; j < {length}; j++)");
        if self.rng.chance(50) {
            let test = self.rng.pick(&["(int)sum % 2 == 0", "(int)sum % 2", "steps != 1", "steps > 1"]);
            return format!("{indent}if ({test})\n{indent}    {loops}\n{indent}        {line}\n");
        }
        format!("{indent}{loops}\n{indent}    {line}\n")
    }

    fn function(&mut self, indent: &str) -> String {
        let (name, at, number) = (self.accessed(), self.rng.below(8), self.number());
        match self.rng.below(6) {
            0 => format!("{indent}store({name}, {at}, {number});\n"),
            1 => format!("{indent}memset({name}, 0, 2 * sizeof(real));\n"),
            2 => format!("{indent}sum += first_of({name});\n"),
            3 => format!("{indent}if (saved)\n{indent}    saved[1] += sum > 2;\n"),
            4 => format!("{indent}sum += first_of(&{name}[{at}]);\n"),
            _ => format!(
                "{indent}{{\n{indent}    real *alias = {name} + {at};\n{indent}    alias[1] = {number};\n{indent}}}\n"
            ),
        }
    }

    /// Two pointers, or three in a ring.
    pub(super) fn swap(&mut self, indent: &str) -> String {
        let names = self.exchanged.clone();
        let first = self.rng.below(names.len());
        let at = |place: usize| names[(first + place) % names.len()];
        let (a, b, c) = (at(0), at(1), at(2));
        if names.len() > 2 && self.rng.chance(40) {
            return format!(
                "{indent}{{\n{indent}    real *other = {a};\n{indent}    {a} = {b};\n{indent}    {b} = {c};\n{indent}    {c} = \
                 other;\n{indent}}}\n"
            );
        }
        if self.cpp && self.rng.chance(70) {
            return format!("{indent}std::swap({a}, {b});\n");
        }
        format!(
            "{indent}{{\n{indent}    real *other = {a};\n{indent}    {a} = {b};\n{indent}    {b} = other;\n{indent}}}\n"
        )
    }

    /// Nothing where the data are absent.
    pub(super) fn update(&mut self, indent: &str) -> String {
        let (name, way) = (self.accessed(), self.rng.pick(&["to", "from", "from"]));
        let section = match self.rng.below(3) {
            0 => "[3:1]".to_owned(),
            1 => "[0:8]".to_owned(),
            _ => format!("[0:{}]", self.length),
        };
        let section = if self.sections == Sections::Whole || self.sections == Sections::Named {
            section
        } else {
            "[4:8]".to_owned()
        };
        format!("{indent}#pragma omp target update {way}({name}{section})\n")
    }

    fn numbers(&mut self, indent: &str) -> String {
        let number = self.number();
        match self.rng.below(4) {
            0 if self.length == "m" => format!("{indent}m = m > 8 ? m - 1 : m;\n"),
            0 => format!("{indent}if (getppid() < 0)\n{indent}    sum += 1;\n"),
            1 => format!("{indent}printf(\"%d\\n\", sum > {number});\n"),
            _ => format!("{indent}sum = sum * 0.5 + {number};\n"),
        }
    }

    /// The host's values are stale while the program's own environment is open.
    pub(super) fn present(&mut self, indent: &str) -> String {
        let name = self.array();
        let kind = self.rng.pick(&["tofrom", "to"]);
        let length = self.length;
        let count = self.rng.range(1, 2);
        let mut body: String = (0..count).map(|_| self.kernel(&format!("{indent}    "))).collect();
        if self.rng.chance(30) {
            body.push_str(&self.element(&format!("{indent}    ")));
        }
        if self.rng.chance(30) {
            body.push_str(&format!(
                "{indent}    #pragma omp target teams distribute parallel for map(present, tofrom: {name}[0:{length}])\n{indent}    for (int i \
                 = 0; i < {length}; i++)\n{indent}        {name}[i] = 0.5 * {name}[i] + i;\n"
            ));
        }
        if self.rng.chance(30) {
            let way = self.rng.pick(&["to", "from"]);
            body.push_str(&format!("{indent}    #pragma omp target update {way}({name}[3:2])\n"));
        }
        format!("{indent}#pragma omp target data map({kind}: {name}[0:{length}])\n{indent}{{\n{body}{indent}}}\n")
    }

    pub(super) fn branch(&mut self, depth: usize, indent: &str) -> String {
        let body = self.block(depth + 1, 1, 2);
        let bound = self.rng.below(20);
        let head = self.rng.pick(&["", "if (sum > BOUND) ", "if (steps % 2) ", "if (n > BOUND) "]);
        let head = head.replace("BOUND", &bound.to_string());
        let other = if !head.is_empty() && self.rng.chance(30) {
            format!(" else {{\n{}{indent}}}", self.block(depth + 1, 1, 1))
        } else {
            String::new()
        };
        format!("{indent}{head}{{\n{body}{indent}}}{other}\n")
    }

    /// A loop of the host around so many statements.
    pub(super) fn repeated(&mut self, depth: usize, least: usize, most: usize) -> String {
        let body = self.block(depth + 1, least, most);
        self.around(depth, &body)
    }

    /// A loop of the host around these statements.
    pub(super) fn around(&mut self, depth: usize, body: &str) -> String {
        self.loops += 1;
        let indent = "    ".repeat(depth);
        let counter = format!("t{}", self.loops);
        let leave = if self.rng.chance(self.host.leaves) {
            match self.rng.below(4) {
                0 => format!("{indent}    if (sum < 0)\n{indent}        continue;\n"),
                1 => format!("{indent}    if ({counter} == 2)\n{indent}        break;\n"),
                _ => format!("{indent}    if (sum > {})\n{indent}        break;\n", self.rng.below(40)),
            }
        } else {
            String::new()
        };
        let (mut before, mut after) = if self.rng.chance(50) { (leave, String::new()) } else { (String::new(), leave) };
        let shape = self.rng.below(6);
        if shape < 2 {
            // What would jump over the count is left out.
            before = before.replace("continue", "break");
            after = after.replace("continue", "break");
        }
        let inside = format!("{before}{body}{after}");
        match shape {
            0 => format!(
                "{indent}int {counter} = 0;\n{indent}while ({counter} < steps) {{\n{indent}    {counter}++;\n{inside}{indent}}}\n"
            ),
            1 => {
                format!("{indent}int {counter} = 0;\n{indent}do {{\n{inside}{indent}}} while (++{counter} < steps);\n")
            }
            2 => {
                let last = self.rng.range(1, 3);
                format!("{indent}for (int {counter} = 1; {counter} <= {last}; {counter}++) {{\n{inside}{indent}}}\n")
            }
            _ => format!("{indent}for (int {counter} = 0; {counter} < steps; {counter}++) {{\n{inside}{indent}}}\n"),
        }
    }
}
