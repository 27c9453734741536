//! Parallel loops: header, directive and clauses.

use super::builder::{Builder, Scope};
use super::data::{Storage, Ty};
use super::node::{Block, Clause, Directive, Node, write};
use super::recipe::{Body, Form, LoopClause, LoopKind, RegionClause, Sums};

/// The iteration space of a loop and how it is written.
struct Header {
    heads: Vec<String>,
    own: String,
    small: String,
    long: bool,
    /// Is every element reached?
    full: bool,
    collapse: bool,
}

impl Builder {
    /// A parallel loop that fits the region's form. `sure`: is it executed whenever the region is? `ints`: small numbers
    /// that it may use.
    pub(super) fn parallel_loop(&mut self, sure: bool, ints: &[String]) -> Vec<Node> {
        self.pending.clear();
        self.private.clear();
        let header = self.header();
        let mut ints = ints.to_vec();
        let shown = self.sum_to_read();
        ints.extend(shown.iter().map(|name| format!("(int)({name} & 15)")));
        let section = self.recipe.sums == Sums::Section && self.rng.chance(60);
        if self.recipe.sums == Sums::Section && !section {
            self.locals.insert(SECTION.to_owned());
            ints.push("(part[k & 7] & 15)".to_owned());
        }
        let mut scope = self.scope(&header, &ints);
        let histogram = self.histogram(&scope);
        scope.reads.retain(|array| Some(*array) != histogram);
        let mut body = Vec::new();
        let in_rows = self.in_rows(&header, &scope);
        scope.writes.retain(|array| Some(*array) != in_rows);
        if let Some(array) = in_rows {
            body.extend(self.rows(array, &scope));
        }
        for array in scope.writes.clone() {
            body.extend(self.assign(array, &scope, header.full));
        }
        if self.recipe.bodies.contains(&Body::Atomic) && self.rng.chance(50) {
            body.extend(self.atomics(&scope, None));
        }
        if histogram.is_some() {
            body.extend(self.atomics(&scope, histogram));
        }
        let mut reductions = self.reductions(&scope, shown.as_deref(), &mut body);
        if section {
            reductions.push(self.section(&scope, &mut body));
        }
        if body.is_empty() {
            return Vec::new();
        }
        if sure && header.full {
            for array in std::mem::take(&mut self.pending) {
                self.uses[array].defined |= self.arrays[array].long == header.long;
            }
        }
        vec![self.assemble(header, body, reductions)]
    }

    /// An array of which each iteration writes a row.
    fn in_rows(&mut self, header: &Header, scope: &Scope) -> Option<usize> {
        let asked = self.recipe.bodies.contains(&Body::Rows) && !header.long && self.rng.chance(70);
        scope.writes.iter().copied().find(|array| asked && self.arrays[*array].long)
    }

    /// A mapped scalar that earlier loops have combined into, for this loop to read.
    fn sum_to_read(&mut self) -> Option<String> {
        let readable = self.recipe.sums == Sums::Mapped && self.recipe.form == Form::Team;
        let sum = self.sums.iter().find(|sum| sum.name == "s").map(|sum| sum.name.clone());
        sum.filter(|_| readable && self.rng.chance(40))
    }

    /// An array that only this loop's atomic operations touch.
    fn histogram(&mut self, scope: &Scope) -> Option<usize> {
        if !self.recipe.bodies.contains(&Body::Histogram) || self.recipe.form == Form::League || self.rng.chance(50) {
            return None;
        }
        // An atomic operation on a member is refused, since its structure may be wider than 64 bits.
        let fits = |array: &usize| {
            let array = &self.arrays[*array];
            matches!(array.ty, Ty::Int | Ty::Unsigned) && !matches!(array.storage, Storage::Field | Storage::Member)
        };
        let found: Vec<usize> = scope.reads.iter().copied().filter(fits).collect();
        (!found.is_empty()).then(|| self.rng.pick(&found))
    }

    fn header(&mut self) -> Header {
        let headers = self.recipe.headers;
        let has_long = self.arrays.iter().any(|array| array.long);
        if has_long && self.rng.chance(self.recipe.nests) {
            return self.nest();
        }
        let long = has_long && self.rng.chance(30);
        let bound = if long { "n * m" } else { "n" };
        let choice = if self.rng.chance(headers) { self.rng.range(1, 12) } else { 0 };
        // An unsigned index minus 4 or 2 would wrap.
        let shifted = [Storage::OffsetDown, Storage::Shifted];
        let signed = self.arrays.iter().any(|array| shifted.contains(&array.storage));
        let choice = if signed && choice == 7 { 8 } else { choice };
        if choice != 0 {
            self.note(format!("header {choice}"));
        }
        let i = "i".to_owned();
        let (head, full, small) = match choice {
            1 => (format!("for (int i = {bound} - 1; i >= 0; i--)"), true, "(i & 15)"),
            2 => (format!("for (int i = 0; i <= {bound} - 1; ++i)"), true, "(i & 15)"),
            3 => (format!("for (int i = 0; i != {bound}; i++)"), true, "i % 9"),
            4 => (format!("for (int i = 1; i < {bound} - 1; i++)"), false, "(i & 15)"),
            5 => (format!("for (int i = 0; i < {bound}; i += 2)"), false, "(i & 7)"),
            6 => (format!("for (int i = {bound} - 1; i > 0; i -= 3)"), false, "(i & 15)"),
            7 => (format!("for (unsigned i = 0; i < (unsigned)({bound}); i++)"), true, "(int)(i & 15)"),
            8 => (format!("for (long i = 0; i < {bound}; ++i)"), true, "(int)(i & 15)"),
            9 => {
                self.locals.insert("int i;".to_owned());
                (format!("for (i = 0; i < {bound}; i++)"), true, "(i & 15)")
            }
            10 => (format!("for (int i = 0; {bound} > i; i = i + 1)"), true, "(i & 15)"),
            11 => (format!("for (int i = k; i < {bound}; i = 2 + i)"), false, "(i & 15)"),
            12 => (format!("for (int i = {bound}; i-- > 0;)"), true, "(i & 15)"),
            _ => (format!("for (int i = 0; i < {bound}; i++)"), true, "(i & 15)"),
        };
        // The last form is not canonical: it is written as a loop that goes down.
        let head = if choice == 12 { format!("for (int i = {bound} - 1; 0 <= i; --i)") } else { head };
        Header { heads: vec![head], own: i, small: small.to_owned(), long, full, collapse: false }
    }

    fn nest(&mut self) -> Header {
        let collapse = self.rng.chance(self.recipe.collapse);
        let outer = self.rng.pick(&["for (int i = 0; i < n; i++)", "for (int i = n - 1; i >= 0; i--)"]);
        let inner = self.rng.pick(&["for (int j = 0; j < m; j++)", "for (int j = 0; j <= m - 1; ++j)"]);
        let (inner, full) = match self.rng.below(5) {
            0 if !collapse => ("for (int j = 1; j < m; j += 2)", false),
            _ => (inner, true),
        };
        self.note(if collapse { "collapse" } else { "nest" });
        let own = if self.recipe.bodies.contains(&Body::Macro) && self.rng.chance(50) {
            let at = self.helper("AT", "#define @(p, q) ((p) * m + (q))");
            format!("{at}(i, j)")
        } else {
            "(i * m + j)".to_owned()
        };
        let small = "((i + j) & 15)".to_owned();
        Header { heads: vec![outer.to_owned(), inner.to_owned()], own, small, long: true, full, collapse }
    }

    /// Which arrays the loop writes and reads. In a league no other loop may use what one writes.
    fn scope(&mut self, header: &Header, ints: &[String]) -> Scope {
        let league = self.recipe.form == Form::League;
        // In a league every other array is read by all loops, and each of the rest belongs to one loop.
        let free = |array: &usize| !self.taken.contains(array) && (!league || array.is_multiple_of(2));
        let fits = |array: &usize| self.arrays[*array].long == header.long || !header.long;
        let all = 0..self.arrays.len();
        let mut writable: Vec<usize> = all.clone().filter(|array| fits(array) && free(array)).collect();
        let mut writes = Vec::new();
        for _ in 0..self.rng.range(1, 2) {
            if writable.is_empty() {
                break;
            }
            writes.push(writable.remove(self.rng.below(writable.len())));
            if league {
                break;
            }
        }
        let mut reads: Vec<usize> = all.filter(|array| !writes.contains(array)).collect();
        reads.retain(|array| !self.taken.contains(array) && (self.uses[*array].used || self.rng.chance(70)));
        if league {
            self.taken.extend(&writes);
            reads.retain(|array| array % 2 == 1);
        }
        Scope {
            own: header.own.clone(),
            long: header.long,
            reads,
            writes,
            ints: ints.to_vec(),
            small: header.small.clone(),
            may_be_empty: header.heads.iter().any(|head| head.contains("= k;")),
        }
    }

    /// Statements that combine values, and the clauses for them.
    fn reductions(&mut self, scope: &Scope, shown: Option<&str>, body: &mut Vec<Node>) -> Vec<Clause> {
        let mut mapped = match self.recipe.sums {
            Sums::None | Sums::Section => return Vec::new(),
            Sums::Local => self.local_sums.clone(),
            Sums::Combined => self.combined_sums(),
            Sums::Lost => vec![("lost".to_owned(), Ty::Long)],
            Sums::Mapped | Sums::Both => self.mapped_sums(),
        };
        if self.recipe.sums == Sums::Lost {
            self.locals.insert("long lost = 5;".to_owned());
        }
        mapped.retain(|(name, _)| Some(name.as_str()) != shown);
        if mapped.is_empty() || (self.recipe.form != Form::Single && self.rng.chance(25)) {
            return Vec::new();
        }
        let (name, ty) = self.rng.pick(&mapped.iter().collect::<Vec<_>>()).clone();
        let (statement, operator) = if self.recipe.sums == Sums::Both {
            let value = self.int_value(scope);
            (format!("{name} += ({value}) & 255;"), "+")
        } else {
            self.combine(&name, ty, scope)
        };
        body.push(Node::Text(statement));
        if self.recipe.sums == Sums::Both {
            // No other loop of the league may use it.
            self.both.push(name.clone());
        }
        vec![Clause::needed(format!("reduction({operator}: {name})"))]
    }

    /// A statement that combines into elements of a section, and the clause for it.
    fn section(&mut self, scope: &Scope, body: &mut Vec<Node>) -> Clause {
        self.locals.insert(SECTION.to_owned());
        self.shown.extend((0..8).map(|at| format!("part[{at}]")));
        let value = self.int_value(scope);
        let (list, index) = self.rng.pick(&[("part[0:8]", "& 7"), ("part[:8]", "& 7"), ("part[2:4]", "% 4 + 2")]);
        let element = format!("part[({}) {index}]", scope.small);
        let (operator, statement) = match self.rng.below(3) {
            0 => ("+", format!("{element} += ({value}) & 255;")),
            1 => ("^", format!("{element} ^= ({value}) & 255;")),
            _ => ("max", format!("if ({element} < (({value}) & 255)) {element} = ({value}) & 255;")),
        };
        self.note(format!("section {operator}"));
        body.push(Node::Text(statement));
        Clause::needed(format!("reduction({operator}: {list})"))
    }

    fn mapped_sums(&mut self) -> Vec<(String, Ty)> {
        if self.recipe.sums == Sums::Both {
            let name = self.fresh("s");
            self.mapped_scalar(&name, Ty::Long);
            return vec![(name, Ty::Long)];
        }
        for (name, ty) in [("s", Ty::Long), ("z", Ty::Double), ("top", Ty::Int), ("mask", Ty::Unsigned)] {
            if self.sums.len() < 3 && self.rng.chance(40) {
                self.mapped_scalar(name, ty);
            }
        }
        let sums = self.sums.iter().filter(|sum| !["count", "tally"].contains(&&*sum.name));
        sums.map(|sum| (sum.name.clone(), sum.ty)).collect()
    }

    fn combined_sums(&mut self) -> Vec<(String, Ty)> {
        let (name, ty) = self.rng.pick(&[("s", Ty::Long), ("z", Ty::Double), ("top", Ty::Int), ("mask", Ty::Unsigned)]);
        self.mapped_scalar(name, ty);
        vec![(name.to_owned(), ty)]
    }

    /// From header, body and clauses to the directive and its loop.
    fn assemble(&mut self, header: Header, body: Vec<Node>, mut clauses: Vec<Clause>) -> Node {
        let Header { heads, collapse, .. } = header;
        if collapse {
            clauses.push(Clause::free("collapse(2)"));
        }
        clauses.extend(std::mem::take(&mut self.private).iter().map(|name| Clause::needed(format!("private({name})"))));
        let one_line = matches!(&body[..], [Node::Text(line)] if !line.contains('#'));
        let mut nested = body;
        let innermost = heads.len() - 1;
        for (index, head) in heads.iter().enumerate().rev() {
            let bare = (index != innermost || one_line) && self.rng.chance(40);
            nested = vec![Node::Block(Block {
                head: head.clone(),
                body: nested,
                bare,
                fixed: index != 0,
                ..Block::default()
            })];
        }
        let mut rendered = String::new();
        write(&nested, 0, &mut rendered);
        clauses.extend(self.loop_clauses(&rendered, &clauses.clone()));
        let Some(Node::Block(mut block)) = nested.pop() else { return Node::Text(String::new()) };
        block.fixed = false;
        self.direct(block, clauses)
    }

    fn loop_clauses(&mut self, body: &str, given: &[Clause]) -> Vec<Clause> {
        let mut clauses = Vec::new();
        for clause in self.recipe.loop_clauses.clone() {
            if !self.rng.chance(35) {
                continue;
            }
            let league = self.recipe.form == Form::League;
            let is_loop = self.recipe.kind == LoopKind::Loop;
            let text = match clause {
                LoopClause::Schedule if !is_loop => {
                    let kinds: &[&str] = if league { &["static", "dynamic", "guided", "static, 4"] } else { SCHEDULES };
                    format!("schedule({})", self.rng.pick(kinds))
                }
                LoopClause::DefaultNone if !clauses.iter().any(is_default) => {
                    format!("default(none){}", self.shared(body, given))
                }
                LoopClause::DefaultShared if !clauses.iter().any(is_default) => "default(shared)".to_owned(),
                // A thread's own copy has no copies of a loop's.
                LoopClause::Firstprivate if !league && !self.is_own_copy() && names_word(body, "k") => {
                    "firstprivate(k)".to_owned()
                }
                LoopClause::Concurrent if !body.contains("atomic") && !is_loop => "order(concurrent)".to_owned(),
                LoopClause::NumThreads if league && !is_loop => "num_threads(4)".to_owned(),
                LoopClause::DistSchedule if league && !is_loop => "dist_schedule(static)".to_owned(),
                LoopClause::ProcBind if !is_loop => "proc_bind(close)".to_owned(),
                _ => continue,
            };
            self.note(format!("{clause:?}"));
            clauses.push(Clause::free(text));
        }
        // One variable stands in one list only.
        if clauses.iter().any(|clause| clause.text.starts_with("default(none)")) {
            clauses.retain(|clause| !clause.text.starts_with("firstprivate"));
        }
        clauses
    }

    /// Does the `parallel` region around the loops have a copy of `k` for each thread?
    fn is_own_copy(&self) -> bool {
        self.recipe.form == Form::Parallel && self.recipe.region_clauses.contains(&RegionClause::Firstprivate)
    }

    /// ` shared(..)` with all variables that a loop names and that nothing else lists.
    fn shared(&self, body: &str, given: &[Clause]) -> String {
        let mut names: Vec<String> = ["n", "m", "k", "c"].map(str::to_owned).to_vec();
        names.extend(
            self.arrays.iter().flat_map(|array| [Some(array.variable().to_owned()), array.second.clone()]).flatten(),
        );
        names.extend(self.sums.iter().map(|sum| sum.name.clone()));
        names.extend(self.helpers.keys().filter(|name| name.starts_with("table")).cloned());
        names.extend(self.around_names.iter().cloned());
        names.extend(self.locals.contains(SECTION).then(|| "part".to_owned()));
        names.extend(["last", "drift", "sum"].map(str::to_owned));
        names.extend(self.local_sums.iter().map(|(name, _)| name.clone()));
        names.sort();
        names.dedup();
        // A macro may name `m`.
        let body = if body.contains("AT_") { format!("{body} m") } else { body.to_owned() };
        let words: Vec<&str> = body.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let listed: Vec<&str> = given.iter().map(|clause| clause.text.as_str()).collect();
        let in_list = |name: &String| {
            listed.iter().any(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name))
        };
        names.retain(|name| words.contains(&name.as_str()) && !in_list(name));
        if names.is_empty() { String::new() } else { format!(" shared({})", names.join(", ")) }
    }

    /// Puts the directive, combined, stacked or nested, before the loop.
    fn direct(&mut self, mut block: Block, clauses: Vec<Clause>) -> Node {
        let of_parallel =
            |clause: &Clause| ["default", "proc_bind", "num_threads"].iter().any(|c| clause.text.starts_with(c));
        let inner = match self.recipe.kind {
            LoopKind::For => "for",
            LoopKind::Simd => "for simd",
            LoopKind::Loop => "loop",
            LoopKind::Serial => return Node::Block(block),
        };
        if self.recipe.form == Form::League {
            let name = if inner == "loop" { "loop".to_owned() } else { format!("distribute parallel {inner}") };
            block.directives = vec![Directive::new(name, clauses)];
            return Node::Block(block);
        }
        if clauses.iter().any(of_parallel) || self.recipe.sums == Sums::Combined || self.rng.chance(65) {
            block.directives = vec![Directive::new(format!("parallel {inner}"), clauses)];
            return Node::Block(block);
        }
        let nowait = self.recipe.loop_clauses.contains(&LoopClause::Nowait) && self.rng.chance(50);
        let mut clauses = clauses;
        if nowait && inner != "loop" {
            clauses.push(Clause::free("nowait"));
        }
        let (parallel, inner) = (Directive::new("parallel", Vec::new()), Directive::new(inner, clauses));
        if self.rng.chance(60) {
            self.note("stacked");
            block.directives = vec![parallel, inner];
            return Node::Block(block);
        }
        self.note("nested");
        block.directives = vec![inner];
        Node::Block(Block { directives: vec![parallel], body: vec![Node::Block(block)], ..Block::default() })
    }
}

/// What sections are of.
const SECTION: &str = "int part[8] = {3, 1, 4, 1, 5, 9, 2, 6};";

const SCHEDULES: &[&str] = &["static", "dynamic", "guided", "auto", "static, 1", "dynamic, 1"];

fn is_default(clause: &Clause) -> bool {
    clause.text.starts_with("default")
}

fn names_word(text: &str, wanted: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == wanted)
}
