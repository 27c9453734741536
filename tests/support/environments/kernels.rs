//! Constructs: each writes all of its section or adds to it, and may read another array. What one maps `from` it does not read.

use super::body::Body;

/// Which elements the constructs of a function map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sections {
    /// `[0:n]`, all of them.
    Whole,
    /// `[2:n - 2]`, all of them.
    Later,
    /// What is read has halos that are not written.
    Halos,
    /// Arrays by their names, or by no clause.
    Named,
}

/// What the constructs of a function may have besides maps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clauses {
    /// `if(target: ..)`, in so many of a hundred.
    pub conditions: usize,
    /// `device(..)`.
    pub devices: usize,
    /// `always`, `close`.
    pub modifiers: usize,
    /// Temporary elements that are only allocated, what is changed and thrown away.
    pub kinds: usize,
    /// `nowait`, with a `taskwait` behind.
    pub deferred: usize,
}

/// What one construct maps and does.
struct Parts {
    to: Vec<String>,
    from: Vec<String>,
    both: Vec<String>,
    only: Vec<String>,
    more: &'static str,
    body: String,
}

impl Parts {
    fn new(body: String) -> Self {
        Self { to: Vec::new(), from: Vec::new(), both: Vec::new(), only: Vec::new(), more: "", body }
    }
}

impl Body<'_> {
    /// A construct on arrays of the function.
    pub(super) fn kernel(&mut self, indent: &str) -> String {
        let written = self.array();
        let read = self.another(&written);
        let number = self.number();
        let add = self.rng.range(0, 3);
        let (w, r) = (format!("{written}[i]"), format!("{read}[i]"));
        let halo = self.sections == Sections::Halos;
        let around = format!("{read}[i - 1] + {read}[i + 1]");
        let mut parts = match self.rng.below(if self.clauses.kinds > 0 { 10 } else { 8 }) {
            0 => Parts { from: vec![written], ..Parts::new(format!("{w} = {number} + i;")) },
            1 if halo => {
                Parts { to: vec![read], from: vec![written], ..Parts::new(format!("{w} = 0.25 * ({around}) + {add};")) }
            }
            1 => Parts { to: vec![read], from: vec![written], ..Parts::new(format!("{w} = {r} * 0.5 + {add};")) },
            2 => Parts { both: vec![written], ..Parts::new(format!("{w} = {w} * 0.5 + {number};")) },
            3 => Parts {
                both: vec![written],
                ..Parts::new(format!("if (i % 3 == {add})\n{indent}        {w} = i + {add};"))
            },
            4 => Parts { both: vec![read, written], ..Parts::new(format!("{w} = 0.5 * {w} + 0.5 * {r} + {add};")) },
            5 if self.rng.chance(50) => Parts {
                to: vec![read],
                more: " map(tofrom: found) reduction(+: found)",
                ..Parts::new(format!("found += {r} > {add};"))
            },
            5 => Parts {
                to: vec![read],
                more: " map(tofrom: sum) reduction(max: sum)",
                ..Parts::new(format!("sum = {r} > sum ? {r} : sum;"))
            },
            8 => Parts {
                to: vec![read.clone()],
                both: vec![written],
                ..Parts::new(format!(
                    "{{\n{indent}        {r} += 1;\n{indent}        {w} = 0.5 * {w} + 0.25 * {r};\n{indent}    }}"
                ))
            },
            9 => Parts {
                only: vec![read.clone()],
                both: vec![written],
                ..Parts::new(format!(
                    "{{\n{indent}        {r} = {number};\n{indent}        {w} = 0.5 * {w} + {r};\n{indent}    }}"
                ))
            },
            _ if halo => Parts {
                to: vec![read],
                both: vec![written],
                ..Parts::new(format!("{w} = 0.25 * ({around}) + 0.5 * {w};"))
            },
            _ => Parts { to: vec![read], both: vec![written], ..Parts::new(format!("{w} = 0.5 * {w} + {r} * 0.25;")) },
        };
        if parts.body.contains("(i") && parts.more.is_empty() && self.rng.chance(10) {
            parts.more = " thread_limit(64)";
        }
        self.construct(indent, &parts)
    }

    fn construct(&mut self, indent: &str, parts: &Parts) -> String {
        let mut clauses = String::new();
        for (kind, names) in [("to", &parts.to), ("from", &parts.from), ("tofrom", &parts.both), ("alloc", &parts.only)]
        {
            // What brings something brings it always.
            let always = kind != "alloc" && self.rng.chance(self.clauses.modifiers);
            let modifier = if always { self.rng.pick(&["always, ", "always, ", "close, "]) } else { "" };
            let is_read = kind == "to";
            let items: Vec<String> = names.iter().filter_map(|name| self.item(name, is_read)).collect();
            if !items.is_empty() {
                let said = if kind == "tofrom" && modifier.is_empty() && self.rng.chance(15) {
                    String::new()
                } else {
                    format!("{modifier}{kind}: ")
                };
                clauses.push_str(&format!(" map({said}{})", items.join(", ")));
            }
        }
        clauses.push_str(parts.more);
        if self.rng.chance(self.clauses.conditions) {
            clauses.push_str(self.rng.pick(&[" if(target: n > 0)", " if(target: sum < 30)", " if(target: steps % 2)"]));
        }
        if self.rng.chance(self.clauses.devices) {
            clauses.push_str(self.rng.pick(&[" device(0)", " device(omp_get_default_device())"]));
        }
        let deferred = parts.more.is_empty() && self.rng.chance(self.clauses.deferred);
        let (nowait, wait) =
            if deferred { (" nowait", format!("{indent}#pragma omp taskwait\n")) } else { ("", String::new()) };
        let length = self.length;
        let (low, end) = match self.sections {
            Sections::Whole | Sections::Named => ("0", length.to_owned()),
            Sections::Later => ("2", length.to_owned()),
            Sections::Halos => ("1", format!("{length} - 1")),
        };
        let inner = &parts.body;
        format!(
            "{indent}#pragma omp target teams distribute parallel for{clauses}{nowait}\n{indent}for (int i = {low}; i < {end}; \
             i++)\n{indent}    {inner}\n{wait}"
        )
    }

    /// How a map lists an array; nothing where no clause need.
    pub(super) fn item(&mut self, name: &str, is_read: bool) -> Option<String> {
        let length = self.length;
        match self.sections {
            Sections::Whole if self.rng.chance(15) => Some(format!("{name}[:{length}]")),
            Sections::Whole => Some(format!("{name}[0:{length}]")),
            Sections::Later => Some(format!("{name}[2:{length} - 2]")),
            Sections::Halos if is_read => Some(format!("{name}[0:{length}]")),
            Sections::Halos => Some(format!("{name}[1:{length} - 2]")),
            Sections::Named => Some(name.to_owned()),
        }
    }

    /// A call of a function whose constructs map what it is handed.
    pub(super) fn called(&mut self, indent: &str) -> String {
        let name = self.array();
        let other = self.another(&name);
        let length = self.length;
        if name.contains(['>', '.']) || self.rng.chance(30) {
            return format!("{indent}grow({length}, {name});\n");
        }
        match self.rng.below(6) {
            0 => {
                let first = self.rng.range(1, 6);
                let argument = self.rng.pick(&["&NAME[FIRST]", "NAME + FIRST"]);
                let argument = argument.replace("NAME", &name).replace("FIRST", &first.to_string());
                format!("{indent}grow({length} - {first}, {argument});\n")
            }
            1 => format!("{indent}copy({length}, {other}, {name});\n"),
            2 => format!("{indent}both_ways({length}, {other}, {name});\n"),
            _ => format!("{indent}join({length}, {other}, {name});\n"),
        }
    }
}
