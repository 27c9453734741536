//! Target regions: what stands in them, their directives and clauses.

use super::builder::{ArrayUse, Builder};
use super::data::{Storage, Ty};
use super::node::{Block, Clause, Directive, Node, fixed};
use super::recipe::{Form, Maps, RegionClause, Sums};

impl Builder {
    /// A region, with what must stand before and behind it.
    pub(super) fn region(&mut self) -> Vec<Node> {
        self.settled.extend(self.uses.iter().enumerate().filter(|(_, used)| used.used).map(|(index, _)| index));
        self.uses = vec![ArrayUse::default(); self.arrays.len()];
        self.taken.clear();
        let children = match (self.recipe.forbidden, self.recipe.form) {
            (Some(forbidden), _) => self.forbidden(forbidden),
            (None, Form::Team | Form::Rows) => self.segments(),
            (None, Form::Parallel) => {
                let nowait = self.rng.chance(30);
                let count = self.rng.range(self.recipe.loops.0, self.recipe.loops.1);
                self.worksharing_loops(count, nowait, &[]).into_iter().map(Node::Block).collect()
            }
            (None, _) => self.loops_only(),
        };
        let mut clauses = self.maps();
        let mut after = Vec::new();
        clauses.extend(self.region_clauses(&mut after));
        let region = match self.recipe.form {
            Form::Single => self.single(children, clauses),
            Form::Team => {
                let directives = vec![Directive::new("target", clauses)];
                Node::Block(Block { directives, body: children, ..Block::default() })
            }
            Form::Parallel => {
                let directives = vec![Directive::new("target parallel", of_target(clauses))];
                Node::Block(Block { directives, body: children, ..Block::default() })
            }
            Form::League => self.league(children, clauses),
            Form::Rows => self.rows_of_teams(children, clauses),
        };
        let written = self.uses.iter().zip(&self.arrays).filter(|(used, _)| used.written);
        self.changed_arrays.extend(written.map(|(_, array)| array.name.clone()));
        for (used, array) in self.uses.iter().zip(&self.arrays).filter(|(used, _)| used.used) {
            let known = self.known_uses.entry(array.name.clone()).or_insert(*used);
            known.read_first &= used.read_first;
            known.written &= used.written;
        }
        [vec![region], after].concat()
    }

    fn loops_only(&mut self) -> Vec<Node> {
        let (low, high) = self.recipe.loops;
        let count = self.rng.range(low, high);
        let mut nodes = Vec::new();
        // A loop for which no array is left is none.
        for _ in 0..4 * count {
            if nodes.len() < count {
                nodes.extend(self.parallel_loop(true, &[]));
            }
        }
        nodes
    }

    /// One loop under `target`, combined, stacked, or in braces.
    fn single(&mut self, children: Vec<Node>, clauses: Vec<Clause>) -> Node {
        let Some(Node::Block(mut inner)) = children.into_iter().next() else { return Node::Text(String::new()) };
        let stacked = self.recipe.sums != Sums::Combined;
        let flat = inner.head.starts_with("for");
        match self.rng.below(4) {
            _ if stacked && !flat => {
                let directives = vec![Directive::new("target", clauses)];
                Node::Block(Block { directives, body: vec![Node::Block(inner)], ..Block::default() })
            }
            0 if stacked => {
                inner.directives.insert(0, Directive::new("target", clauses));
                self.note("stacked");
                Node::Block(inner)
            }
            1 if stacked => {
                let directives = vec![Directive::new("target", clauses)];
                self.note("braces");
                Node::Block(Block { directives, body: vec![Node::Block(inner)], ..Block::default() })
            }
            _ => {
                let own: Vec<Clause> = inner.directives.iter().flat_map(|d| d.clauses.clone()).collect();
                let names: Vec<&str> = inner.directives.iter().map(|d| d.name.as_str()).collect();
                let name = format!("target {}", names.join(" "));
                inner.directives = vec![Directive::new(name, [of_target(clauses), own].concat())];
                Node::Block(inner)
            }
        }
    }

    fn league(&mut self, children: Vec<Node>, mut clauses: Vec<Clause>) -> Node {
        let of_teams = |c: &Clause| ["num_teams", "thread_limit", "reduction"].iter().any(|n| c.text.starts_with(n));
        if !self.both.is_empty() {
            clauses.push(Clause::needed(format!("reduction(+: {})", std::mem::take(&mut self.both).join(", "))));
        }
        let reduces = clauses.iter().any(|clause| clause.text.starts_with("reduction"));
        let directives = if reduces || self.rng.chance(70) {
            vec![Directive::new("target teams", clauses)]
        } else {
            self.note("stacked");
            let (teams, target) = clauses.into_iter().partition(of_teams);
            vec![Directive::new("target", target), Directive::new("teams", teams)]
        };
        Node::Block(Block { directives, body: children, ..Block::default() })
    }

    /// A loop that the teams share; all but one of its iterations do nothing, so that the teams do not race.
    fn rows_of_teams(&mut self, children: Vec<Node>, clauses: Vec<Clause>) -> Node {
        let row = self.rng.below(3);
        let body = Block { head: format!("if (row == {row})"), body: children, fixed: true, ..Block::default() };
        let head = self.rng.pick(&["for (int row = 0; row < 3; row++)", "for (int row = 2; row >= 0; --row)"]);
        let head = head.to_owned();
        let rows = Block { head, body: vec![Node::Block(body)], fixed: true, ..Block::default() };
        // In braces, as the checks read the output's data construct.
        let distribute = Directive::new("distribute", vec![Clause::free("dist_schedule(static)")]);
        let inner = Block { directives: vec![distribute], ..rows };
        let clauses = [of_target(clauses), vec![Clause::free("num_teams(2)")]].concat();
        let directives = vec![Directive::new("target teams", clauses)];
        Node::Block(Block { directives, body: vec![Node::Block(inner)], ..Block::default() })
    }

    /// The `map` clauses that the region's arrays and scalars need or may have.
    fn maps(&mut self) -> Vec<Clause> {
        let style = self.recipe.maps;
        let mut items: Vec<(String, &'static str, bool)> = Vec::new();
        for index in 0..self.arrays.len() {
            let (array, used) = (self.arrays[index].clone(), self.uses[index]);
            let present = self.present;
            let optional = array.is_implicit() || present;
            let skipped = optional && style == Maps::Implicit && self.rng.chance(60);
            let is_member = array.variable() == "box";
            if !used.used || skipped || is_member || (array.second.is_some() && self.rng.chance(50)) {
                continue;
            }
            // Where only a part is mapped before, a map of the whole would be an error.
            let Some(item) = array.item(!present && self.rng.chance(60)) else { continue };
            let choices: &[&'static str] = match (used.written, used.read_first || !used.defined, style) {
                (false, _, Maps::Types) => &["to", "to", "tofrom"],
                (true, false, Maps::Types) => &["tofrom", "from", "from", "alloc", "to", ""],
                (true, true, Maps::Types) => &["tofrom", "tofrom", "to", ""],
                (false, ..) => &["to"],
                (true, ..) => &["tofrom"],
            };
            let kind = self.rng.pick(choices);
            self.note(format!("map {kind}"));
            items.push((item, kind, optional));
        }
        let mut clauses: Vec<Clause> = Vec::new();
        for kind in ["to", "from", "alloc", "tofrom", ""] {
            let mut same: Vec<_> = items.iter().filter(|(_, own, _)| *own == kind).collect();
            while !same.is_empty() {
                let taken: Vec<_> =
                    same.drain(..if same.len() > 1 && self.rng.chance(30) { 1 } else { same.len() }).collect();
                let list: Vec<&str> = taken.iter().map(|(item, ..)| item.as_str()).collect();
                let free = taken.iter().all(|(_, _, optional)| *optional);
                let prefix = if kind.is_empty() { String::new() } else { format!("{}{kind}: ", self.modifier()) };
                clauses.push(Clause { text: format!("map({prefix}{})", list.join(", ")), droppable: free });
            }
        }
        clauses.extend(self.member_maps());
        // clang maps a constant array back to where the host cannot write.
        let tables = self.helpers.keys().filter(|name| name.starts_with("table"));
        clauses.extend(tables.map(|name| Clause::needed(format!("map(to: {name})"))));
        if self.recipe.sums == Sums::Section && self.locals.iter().any(|local| local.starts_with("int part[")) {
            clauses.push(Clause::needed("map(tofrom: part)"));
        }
        let by_default = self.recipe.region_clauses.contains(&RegionClause::DefaultmapScalar);
        let mapped = matches!(self.recipe.sums, Sums::Mapped | Sums::Both);
        for sum in self.sums.clone().into_iter().filter(|sum| mapped || ["count", "tally"].contains(&&*sum.name)) {
            if !by_default {
                clauses.push(Clause::needed(format!("map(tofrom: {})", sum.name)));
            }
        }
        clauses
    }

    fn member_maps(&mut self) -> Option<Clause> {
        let members = self.arrays.iter().zip(&self.uses).filter(|(array, used)| array.variable() == "box" && used.used);
        let members: Vec<String> = members.filter_map(|(array, _)| array.item(false)).collect();
        if members.is_empty() || self.rng.chance(35) {
            return None;
        }
        let list = if self.present || self.rng.chance(50) { "box".to_owned() } else { members.join(", ") };
        Some(Clause::free(format!("map(tofrom: {list})")))
    }

    fn modifier(&mut self) -> &'static str {
        if !self.recipe.modifiers {
            return "";
        }
        self.note("map modifier");
        self.rng.pick(&["always, ", "present, ", "close, ", "", "always, close, "])
    }

    fn region_clauses(&mut self, after: &mut Vec<Node>) -> Vec<Clause> {
        let mut clauses = Vec::new();
        let asked = self.recipe.region_clauses.clone();
        let only = asked.len() == 1;
        let mut has_condition = false;
        for clause in asked {
            let is_condition = matches!(clause, RegionClause::IfTrue | RegionClause::IfFalse | RegionClause::IfValue);
            let always = only || clause == RegionClause::DefaultmapScalar;
            if (is_condition && has_condition) || !(always || self.rng.chance(45)) {
                continue;
            }
            has_condition |= is_condition;
            let text = match clause {
                RegionClause::IfTrue => "if(1)".to_owned(),
                RegionClause::IfFalse => "if(0)".to_owned(),
                RegionClause::IfValue => self.rng.pick(&["if(k > 2)", "if(target: n > 5)", "if(m - 3)"]).to_owned(),
                RegionClause::Device => self.rng.pick(&["device(0)", "device(m - m)"]).to_owned(),
                RegionClause::DeviceCall => {
                    let name = self
                        .helper("chosen", "static int calls@;\nstatic int @(void)\n{\n    calls@++;\n    return 0;\n}");
                    self.shown.insert(format!("calls{name}"));
                    format!("device({name}())")
                }
                RegionClause::SectionCall => {
                    let Some(text) = self.section_call() else { continue };
                    text
                }
                RegionClause::NumTeams => self.rng.pick(&["num_teams(3)", "num_teams(k + 1)"]).to_owned(),
                RegionClause::ThreadLimit => "thread_limit(8)".to_owned(),
                RegionClause::Firstprivate => "firstprivate(k)".to_owned(),
                RegionClause::Private => {
                    self.locals.insert("int unused = 4;".to_owned());
                    "private(unused)".to_owned()
                }
                RegionClause::DefaultmapScalar => "defaultmap(tofrom: scalar)".to_owned(),
                RegionClause::DefaultmapAggregate => "defaultmap(tofrom: aggregate)".to_owned(),
                RegionClause::Nowait => {
                    after.push(fixed("#pragma omp taskwait"));
                    "nowait".to_owned()
                }
                RegionClause::Depend => "depend(inout: k)".to_owned(),
            };
            self.note(format!("{clause:?}"));
            clauses.push(Clause { droppable: clause != RegionClause::DefaultmapScalar, text });
        }
        clauses
    }

    /// A map whose length a function gives that counts its calls.
    fn section_call(&mut self) -> Option<String> {
        let unused =
            self.uses.iter().zip(&self.arrays).find(|(used, array)| !used.used && array.is_pointer())?.1.clone();
        if unused.storage == Storage::Rows {
            return None;
        }
        let name = self.helper("length", "static int calls@;\nstatic int @(int n)\n{\n    calls@++;\n    return n;\n}");
        self.shown.insert(format!("calls{name}"));
        Some(format!("map(tofrom: {}[0:{name}({})])", unused.name, unused.length())).filter(|_| unused.second.is_none())
    }

    /// Loops of one team, with what may stand between them.
    fn segments(&mut self) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut ints: Vec<String> = Vec::new();
        if self.recipe.sums == Sums::Local {
            nodes.push(fixed("long sum = 3;"));
            self.local_sums = vec![("sum".to_owned(), Ty::Long)];
            ints.push("(int)(sum & 15)".to_owned());
        }
        let (low, high) = self.recipe.loops;
        for _ in 0..self.rng.range(low, high) {
            if !self.recipe.serial.is_empty() && self.rng.chance(70) {
                let kind = self.rng.pick(&self.recipe.serial.clone());
                nodes.extend(self.serial(kind, &mut ints));
            }
            if !self.recipe.control.is_empty() && self.rng.chance(70) {
                let control = self.rng.pick(&self.recipe.control.clone());
                nodes.extend(self.control(control, true, &mut ints, 0));
            } else {
                nodes.extend(self.local_loop(true, &ints));
            }
        }
        if !self.recipe.serial.is_empty() {
            let kind = self.rng.pick(&self.recipe.serial.clone());
            nodes.extend(self.serial(kind, &mut ints));
            nodes.extend(self.local_loop(true, &ints));
        }
        nodes
    }

    /// A loop; where it combines into a variable of the region it does not read that variable.
    pub(super) fn local_loop(&mut self, sure: bool, ints: &[String]) -> Vec<Node> {
        if self.recipe.sums != Sums::Local {
            return self.parallel_loop(sure, ints);
        }
        let combines = self.rng.chance(50);
        let kept = if combines { self.local_sums.clone() } else { Vec::new() };
        let visible: Vec<String> = ints.iter().filter(|i| !combines || !i.contains("sum")).cloned().collect();
        let all = std::mem::replace(&mut self.local_sums, kept);
        let nodes = self.parallel_loop(sure, &visible);
        self.local_sums = all;
        nodes
    }

    /// A new variable beside the loops.
    pub(super) fn named(&mut self, stem: &str) -> String {
        let name = self.fresh(stem);
        self.around_names.push(name.clone());
        name
    }
}

/// On a combined directive a condition without a modifier would be the parallel region's as well.
fn of_target(clauses: Vec<Clause>) -> Vec<Clause> {
    let changed = clauses.into_iter().map(|clause| Clause {
        text: clause.text.replace("if(", "if(target: ").replace("target: target: ", "target: "),
        ..clause
    });
    changed.collect()
}
