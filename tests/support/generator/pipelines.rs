//! Programs whose loops the pass `pipeline` cuts into tiles: each array moves in pieces, beside some that are mapped whole.
//!
//! An iteration writes its own piece alone, and reads it, its neighbours' pieces of arrays that no iteration writes, and what
//! all iterations share. Numbers of elements are exact in binary where they are combined.

use super::builder::Builder;
use super::data::Ty;
use super::node::{Block, Clause, Directive, Node, block, fixed, text};
use super::recipe::Tiles;
use super::streams::{NUMBER, Stream};

/// A variable that tiles combine into: its name and type, the operator, and whether a clause maps it.
type Sum = (&'static str, Ty, &'static str, bool);

/// The head of the parallel loop, and what its iterations may reach.
struct Head {
    text: String,
    /// The variable's declaration, where it stands before the directive.
    outside: Option<&'static str>,
    /// The first piece that is mapped, and how many are.
    lower: String,
    length: String,
    /// How far iterations may read to both sides.
    behind: usize,
    ahead: usize,
    /// Does each mapped piece have its iteration?
    full: bool,
}

impl Builder {
    /// Everything that stands in the file behind the head.
    pub(super) fn pipeline(&mut self, tiles: Tiles) -> Vec<Node> {
        let streams = self.streams(tiles);
        let mut inner = vec![fixed("int k = n % 3 + 1;"), fixed("double c = 0.5;")];
        let sums = self.sums_of(tiles);
        for (name, ty, ..) in &sums {
            // Above all values and below them.
            let start = match *name {
                "z" => "1.5",
                "low" => "100000",
                "top" => "-5",
                _ => "7",
            };
            inner.push(fixed(format!("{} {name} = {start};", ty.c())));
        }
        if tiles.block {
            inner.push(self.data_block(tiles, &streams, &sums));
        } else {
            for place in 0..if self.rng.chance(35) { 2 } else { 1 } {
                inner.extend(self.tiled_loop(tiles, place, &streams, &sums));
            }
        }
        for (name, ty, ..) in &sums {
            let (format, cast) = if ty.is_floating() { ("%.17g", "double") } else { ("%ld", "long") };
            inner.push(fixed(format!("printf(\"{name} {format}\\n\", ({cast}){name});")));
        }
        let parameters: Vec<String> = streams.iter().map(|it| format!("{} *{}", it.ty.c(), it.name)).collect();
        let names: Vec<&str> = streams.iter().map(|it| it.name).collect();
        let linkage = if self.recipe.cpp { "extern \"C\" " } else { "" };
        let declared = fixed(format!("{linkage}int omp_target_is_present(const void *, int);"));
        let head = format!("static void work{}(int n, int m, {})", self.tag, parameters.join(", "));
        let work = Node::Block(Block { head, body: inner, fixed: true, ..Block::default() });
        let call = format!("work{}(n, m, {});", self.tag, names.join(", "));
        let mut body: Vec<Node> = streams.iter().enumerate().map(|(salt, it)| it.made(salt)).collect();
        body.push(fixed(call.clone()));
        body.extend(self.again(tiles, &streams, &call));
        body.extend(streams.iter().flat_map(Stream::shown));
        let head = format!("static void case{}(int n, int m)", self.tag);
        let mut nodes = vec![declared];
        nodes.extend(self.helpers.values().map(fixed));
        nodes.extend([work, Node::Block(Block { head, body, fixed: true, ..Block::default() })]);
        nodes
    }

    /// The arrays: some that are read, some that are written.
    fn streams(&mut self, tiles: Tiles) -> Vec<Stream> {
        let types = [Ty::Int, Ty::Int, Ty::Unsigned, Ty::Long, Ty::Short, Ty::Byte, Ty::Double, Ty::Float];
        let mut streams = Vec::new();
        let (read, written) = (self.rng.range(1, 2), self.rng.range(usize::from(!tiles.sums), 2));
        for name in ["u", "w"].into_iter().take(read) {
            let rows = tiles.rows && (name == "u" || self.rng.chance(50));
            streams.push(Stream { name, ty: self.rng.pick(&types), rows, written: false });
        }
        for name in ["v", "y"].into_iter().take(written) {
            let rows = tiles.rows && self.rng.chance(60);
            streams.push(Stream { name, ty: self.rng.pick(&types), rows, written: true });
        }
        streams
    }

    fn sums_of(&mut self, tiles: Tiles) -> Vec<Sum> {
        let all = [
            ("s", Ty::Long, "+"),
            ("z", Ty::Double, "+"),
            ("mask", Ty::Unsigned, "^"),
            ("top", Ty::Int, "max"),
            ("low", Ty::Int, "min"),
        ];
        let mut sums: Vec<Sum> = Vec::new();
        if tiles.sums {
            // The first shows each iteration, of which the least and the greatest show one.
            for place in 0..self.rng.range(1, 2) {
                let (name, ty, operator) = if place == 0 { self.rng.pick(&all[..3]) } else { self.rng.pick(&all) };
                if sums.iter().all(|(other, ..)| *other != name) {
                    sums.push((name, ty, operator, self.rng.chance(50)));
                }
            }
        }
        sums
    }

    fn tiled_head(&mut self, tiles: Tiles) -> Head {
        let (behind, ahead) =
            (if tiles.behind { self.rng.range(1, 3) } else { 0 }, if tiles.ahead { self.rng.range(1, 3) } else { 0 });
        let halo = behind + ahead > 0;
        // An unsigned variable minus the halo wraps.
        let ty = self.rng.pick(if halo {
            &["int", "int", "long"]
        } else {
            &["int", "long", "int", "unsigned", "long", "size_t", "int"]
        });
        let step = self.rng.pick(&["i++", "i++", "++i", "++i", "i += 1", "i = i + 1"]);
        let choice = match (tiles.ranges, tiles.block) {
            // Sections of the data construct do not end with such loops.
            (true, true) => self.rng.pick(&[1, 2, 5]),
            (true, false) => self.rng.range(1, 5),
            (false, _) => self.rng.below(2),
        };
        let whole = (String::from("0"), "n".to_owned());
        let cast = if ty == "int" { String::new() } else { format!("({ty})") };
        let (first, test, (lower, length), full) = match choice {
            _ if halo && ahead > 0 && self.rng.chance(50) => {
                (format!("{behind}"), format!("i < {cast}n"), ("0".to_owned(), format!("n + {ahead}")), false)
            }
            _ if halo && tiles.ranges => {
                let first = self.rng.range(behind, 4);
                (first.to_string(), format!("i < n - {}", self.rng.range(ahead, 4)), whole, false)
            }
            _ if halo => (behind.to_string(), format!("i < n - {ahead}"), whole, false),
            1 if tiles.ranges && ty != "unsigned" && ty != "size_t" => {
                ("0".to_owned(), "i <= n - 1".to_owned(), whole, true)
            }
            2 => (self.rng.range(1, 4).to_string(), format!("i < {cast}n"), whole, false),
            3 => ("0".to_owned(), format!("i < {NUMBER}"), ("0".to_owned(), NUMBER.to_string()), true),
            4 => ("k".to_owned(), format!("i < {cast}(k + n)"), ("k".to_owned(), "n".to_owned()), true),
            5 => ("1".to_owned(), format!("i < {cast}n + 3"), ("1".to_owned(), "n + 2".to_owned()), true),
            _ => ("0".to_owned(), format!("i < {cast}n"), whole, true),
        };
        let outside = (ty == "int" && !tiles.block && self.rng.chance(20)).then_some("int i;");
        let declared = if outside.is_some() { "i".to_owned() } else { format!("{ty} i") };
        // Numbers of pieces stand without parentheses in sections of elements.
        self.note(format!("head {choice} {ty}"));
        let text = format!("for ({declared} = {first}; {test}; {step})");
        Head { text, outside, lower, length, behind, ahead, full }
    }

    /// A `target data` construct around loops that write now one array, now another, and what may stand between them.
    fn data_block(&mut self, tiles: Tiles, streams: &[Stream], sums: &[Sum]) -> Node {
        let mut body = Vec::new();
        for place in 0..self.rng.range(1, 3) {
            let mut others = streams.to_vec();
            for stream in others.iter_mut().filter(|_| place > 0) {
                stream.written = self.rng.chance(50);
            }
            let only_read = others.iter().all(|stream| !stream.written);
            if let Some(first) = others.first_mut().filter(|_| only_read) {
                first.written = true;
            }
            let one = self.tiled_loop(tiles, place, &others, sums);
            match self.rng.below(10) {
                0 => body.push(block("for (int t = 0; t < 2; t++)", one)),
                1 => body.push(block("if (n > 20)", one)),
                _ => body.extend(one),
            }
            match self.rng.below(6) {
                0 => body.push(text("k = k + 1;")),
                1 => body.push(text("printf(\"%d\\n\", k * 2);")),
                2 => {
                    let stream = &streams[self.rng.below(streams.len())];
                    let one = format!("{name}[n / 2] = {name}[n];", name = stream.name);
                    let directives = vec![Directive::new("target", Vec::new())];
                    body.push(Node::Block(Block { directives, body: vec![text(one)], ..Block::default() }));
                }
                _ => {}
            }
        }
        let map = |stream: &Stream| Clause::needed(format!("map(tofrom: {}[0:{}])", stream.name, stream.elements()));
        // A kernel in it maps nothing else.
        let mapped = sums.iter().filter(|(.., mapped)| *mapped);
        let sums = mapped.map(|(name, ..)| Clause::needed(format!("map(tofrom: {name})")));
        let directives = vec![Directive::new("target data", streams.iter().map(map).chain(sums).collect())];
        Node::Block(Block { directives, body, ..Block::default() })
    }

    /// One loop with its directive, behind others at later places: it keeps what they have written, so that it shows.
    fn tiled_loop(&mut self, tiles: Tiles, place: usize, streams: &[Stream], sums: &[Sum]) -> Vec<Node> {
        let head = self.tiled_head(tiles);
        let mut clauses = Vec::new();
        let mut body = Vec::new();
        if tiles.clauses && self.rng.chance(50) {
            clauses.push(Clause::needed("private(p)"));
            body.push(fixed("p = (int)(i % 7);"));
        }
        let private = !body.is_empty();
        let has_rows = streams.iter().any(|stream| stream.rows);
        let mut rows = Vec::new();
        let mut defined = Vec::new();
        for stream in streams.iter().filter(|stream| stream.written) {
            let own = if stream.rows { self.of_row(stream, "i") } else { stream.element("i") };
            let value = self.tile_value(stream.ty, streams, &head, stream.rows, private);
            let keeps = !head.full || place > 0 || self.rng.chance(40);
            let line = if keeps { stream.combined(&own, &value) } else { format!("{own} = {value};") };
            if !keeps {
                defined.push(stream.name);
            }
            if stream.rows { rows.push(text(line)) } else { body.push(text(line)) }
        }
        for (name, ty, operator, mapped) in sums {
            let inside = has_rows && self.rng.chance(60);
            let value = self.tile_value(*ty, streams, &head, inside, private);
            let value = if ty.is_floating() {
                format!("((int)({value}) & 255) * 0.25")
            } else {
                format!("((int)({value}) & 255)")
            };
            let line = match *operator {
                "max" => format!("if ({value} > {name}) {name} = {value};"),
                "min" => format!("if ({value} < {name}) {name} = {value};"),
                operator => format!("{name} {operator}= {value};"),
            };
            if inside {
                rows.push(fixed(line))
            } else {
                body.push(fixed(line))
            }
            clauses.push(Clause::needed(format!("reduction({operator}: {name})")));
            if *mapped {
                clauses.push(Clause::needed(format!("map(tofrom: {name})")));
            }
        }
        let collapse = body.is_empty() && rows.len() == 1 && self.rng.chance(60);
        if !rows.is_empty() {
            body.push(Node::Block(Block {
                head: "for (int j = 0; j < m; j++)".to_owned(),
                body: rows,
                ..Block::default()
            }));
        }
        if collapse {
            self.note("collapse");
            clauses.push(Clause::needed("collapse(2)"));
        }
        if !tiles.block {
            clauses.extend(self.tile_maps(streams, &head, &defined));
        }
        clauses.extend(self.tile_clauses(tiles));
        let name = match self.rng.below(8) {
            0 => "target teams distribute parallel for simd",
            1 if sums.is_empty() => "target teams loop",
            _ => "target teams distribute parallel for",
        };
        // `loop` has few clauses.
        if name.ends_with("loop") {
            clauses.retain(|clause| !["order", "proc_bind"].iter().any(|name| clause.text.starts_with(name)));
        }
        let mut nodes: Vec<Node> = head.outside.map(fixed).into_iter().collect();
        if private {
            nodes.push(fixed("int p = 3;"));
        }
        let directives = vec![Directive::new(name, clauses)];
        let parallel = Node::Block(Block { directives, head: head.text, body, ..Block::default() });
        nodes.push(parallel);
        if tiles.block {
            return nodes;
        }
        // A block of its own, so that two loops may declare the same.
        vec![Node::Block(Block { body: nodes, ..Block::default() })]
    }

    /// An expression of what the iteration may read.
    fn tile_value(&mut self, ty: Ty, streams: &[Stream], head: &Head, in_row: bool, private: bool) -> String {
        let one = self.tile_term(streams, head, in_row, private);
        let two = self.tile_term(streams, head, in_row, private);
        match (ty.is_floating(), self.rng.below(4)) {
            (true, 0) => format!("0.5 * {one} + 0.25 * {two}"),
            (true, 1) => format!("c * {one} + {two}"),
            (true, _) => format!("({one} < {two} ? {one} + 1 : {two})"),
            (false, 0) => format!("((int)({one} + {two}) & 127)"),
            (false, 1) => format!("((int)({one} * 3 - {two}) & 63) + 1"),
            (false, 2) => format!("({one} > {two} ? (int){one} & 31 : (int){two} & 15)"),
            (false, _) => {
                let text = "static int @(int p, int q)\n{\n    int r = p;\n    for (int e = 0; e < 3; e++)\n        \
                            r -= r > q ? q & 7 : e;\n    return r & 63;\n}";
                let less = self.helper("less", text);
                format!("{less}((int){one}, (int){two})")
            }
        }
    }

    fn tile_term(&mut self, streams: &[Stream], head: &Head, in_row: bool, private: bool) -> String {
        let readable: Vec<&Stream> = streams.iter().filter(|it| !it.written && (in_row || !it.rows)).collect();
        match self.rng.below(8) {
            0 if !in_row => "(int)(i % 11)".to_owned(),
            0 => "j".to_owned(),
            1 => "k".to_owned(),
            2 if private => "p".to_owned(),
            _ if readable.is_empty() => {
                let rows = streams.iter().find(|it| it.rows && !it.written);
                rows.map_or("5".to_owned(), |it| format!("{}[i * m]", it.name))
            }
            _ => {
                let stream: &Stream = self.rng.pick(&readable);
                let far = self.rng.range(0, head.behind + head.ahead);
                let index = match (far.cmp(&head.behind), far.abs_diff(head.behind)) {
                    (std::cmp::Ordering::Less, far) => format!("i - {far}"),
                    (std::cmp::Ordering::Greater, far) => format!("i + {far}"),
                    _ => "i".to_owned(),
                };
                if stream.rows { self.of_row(stream, &index) } else { stream.element(&index) }
            }
        }
    }

    /// An element of the row of an iteration: by a macro or a function, or without.
    fn of_row(&mut self, stream: &Stream, row: &str) -> String {
        match self.rng.below(8) {
            0 => {
                let at = self.helper("AT", "#define @(p, q) ((p) * m + (q))");
                stream.element(&format!("{at}({row}, j)"))
            }
            1 => {
                let at = self.helper("at", "static inline long @(long p, long q, long m) { return p * m + q; }");
                stream.element(&format!("{at}({row}, j, m)"))
            }
            2 => {
                let text = format!("#define @(p, q) {}[(p) * m + (q)]", stream.name);
                let cell = self.helper(&format!("CELL_{}", stream.name), &text);
                format!("{cell}({row}, j)")
            }
            _ if row.contains(' ') => stream.element(&format!("({row}) * m + j")),
            _ => stream.element(&format!("{row} * m + j")),
        }
    }

    fn tile_maps(&mut self, streams: &[Stream], head: &Head, defined: &[&str]) -> Vec<Clause> {
        let mut clauses: Vec<Clause> = Vec::new();
        let times = |number: &str| match number {
            "0" => "0".to_owned(),
            number if number.contains(' ') => format!("({number}) * m"),
            number => format!("{number} * m"),
        };
        for stream in streams {
            let kind = match stream.written {
                false => "to",
                true if defined.contains(&stream.name) && self.rng.chance(70) => "from",
                true => "tofrom",
            };
            let (lower, length) = match stream.rows {
                true => (times(&head.lower), times(&head.length)),
                false => (head.lower.clone(), head.length.clone()),
            };
            let lower = if lower == "0" && self.rng.chance(30) { String::new() } else { lower };
            clauses.push(Clause::needed(format!("map({kind}: {}[{lower}:{length}])", stream.name)));
        }
        clauses
    }

    /// No `schedule(static, 1)`: with one thread clang 19's loop ends after one iteration on the x86_64 device.
    fn tile_clauses(&mut self, tiles: Tiles) -> Vec<Clause> {
        let all = [
            "num_teams(3)",
            "thread_limit(16)",
            "firstprivate(c)",
            "order(concurrent)",
            "default(shared)",
            "proc_bind(close)",
        ];
        let chosen = all.into_iter().filter(|_| tiles.clauses && self.rng.chance(35)).map(Clause::free);
        chosen.collect()
    }

    /// The same again while an array is on the device already: the host's values are others then.
    fn again(&mut self, tiles: Tiles, streams: &[Stream], call: &str) -> Vec<Node> {
        if !tiles.present {
            return Vec::new();
        }
        let stream = streams[self.rng.below(streams.len())].clone();
        let item = format!("{}[0:{}]", stream.name, stream.elements());
        let alone = |name: &str, kind: &str| {
            Node::Alone(Directive::new(name, vec![Clause::needed(format!("map({kind}: {item})"))]))
        };
        let other = block(
            format!("for (int e = 0; e < {}; e++)", stream.elements()),
            vec![text(format!("{}[e] = 3;", stream.name))],
        );
        let last = self.rng.pick(&["delete", "release", "from"]);
        let shown: Vec<Node> = streams.iter().map(Stream::checked).collect();
        let rest = vec![alone("target enter data", "to"), other, fixed(call), alone("target exit data", last)];
        [shown, rest].concat()
    }
}
