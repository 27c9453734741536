//! What stands beside the loops and runs on one thread, `parallel` regions of several loops, and regions that must stay
//! one kernel.

use super::builder::Builder;
use super::data::Ty;
use super::node::{Block, Clause, Directive, Node, fixed, text};
use super::recipe::{Forbidden, Serial, Sums};

impl Builder {
    /// A serial part; the numbers that it declares are added to `ints`.
    pub(super) fn serial(&mut self, kind: Serial, ints: &mut Vec<String>) -> Vec<Node> {
        self.note(format!("{kind:?}"));
        match kind {
            Serial::Element => {
                let array = self.array_of(Ty::Int);
                self.changed(array);
                let [one, two] = ["0", "1"].map(|at| self.arrays[array].element(at, false));
                vec![text(format!("{one} = ({two} + {}) & 1023;", self.rng.range(2, 9)))]
            }
            Serial::FloatingElement => {
                let array = self.array_of(Ty::Double);
                self.changed(array);
                let [one, two] = ["1", "0"].map(|at| self.arrays[array].element(at, false));
                vec![text(format!("{one} = 0.5 * {two} + 0.25;"))]
            }
            Serial::MappedScalar => {
                let name = self.mapped_scalar("count", Ty::Int);
                ints.retain(|int| !int.contains("count"));
                ints.push("(count & 15)".to_owned());
                vec![text(format!("{name} = {name} * 2 + 1;"))]
            }
            Serial::LocalFromElement => {
                let array = self.array_of(Ty::Int);
                self.read(array);
                let element = self.arrays[array].element("2", false);
                let name = self.named("e");
                ints.push(format!("({name} & 7)"));
                vec![fixed(format!("int {name} = {element} + 1;"))]
            }
            Serial::LocalFloating => {
                let name = self.named("f");
                ints.push(format!("((int)({name} * 8) & 15)"));
                vec![fixed(format!("double {name} = 0.5 * c;")), text(format!("{name} = {name} * 0.5 + 0.25;"))]
            }
            Serial::LocalArray => self.local_array(ints),
            Serial::LostScalar | Serial::AttributedScalar | Serial::OddScalar => {
                let declarations: &[&str] = match kind {
                    Serial::AttributedScalar => &[
                        "_Alignas(64) int last = 2;",
                        "__attribute__((unused)) int last = 2;",
                        "int __attribute__((aligned(16), unused)) last = 2;",
                    ],
                    Serial::OddScalar => &[
                        "int last __attribute__((aligned(64))) = 2;",
                        "__attribute__((mode(QI))) int last = 2;",
                        "int __attribute__((mode(HI))) last = 2;",
                        "typedef int byte_t __attribute__((mode(QI))); byte_t last = 2;",
                        "__typeof__(k) last = 2;",
                    ],
                    _ => &["int last = 2;"],
                };
                if !self.shown.contains("last") {
                    let declaration = self.rng.pick(declarations);
                    self.locals.insert((*declaration).to_owned());
                }
                self.shown.insert("last".to_owned());
                ints.retain(|int| !int.contains("last"));
                ints.push("(last & 15)".to_owned());
                vec![text(format!("last = last * 2 + {};", self.rng.range(1, 5)))]
            }
            Serial::BareParallel | Serial::BareNowait => self.bare(kind == Serial::BareNowait, &[], ints),
            Serial::BareBarrier => self.barrier(ints),
            Serial::BarePrivate => {
                self.locals.insert("int p = 9;".to_owned());
                self.bare(false, &["private(p)", "firstprivate(k)", "default(shared)"], ints)
            }
            Serial::Sections => self.sections(),
            Serial::Call | Serial::Branch | Serial::Loop | Serial::Swap => self.statements(kind),
            Serial::FloatingArray => self.floating_array(ints),
            Serial::LostFloating => {
                self.locals.insert("double drift = 6.5;".to_owned());
                self.shown.insert("drift".to_owned());
                ints.retain(|int| !int.contains("drift"));
                ints.push("((int)(drift * 8) & 15)".to_owned());
                vec![text("drift = drift * 0.5 + 0.25;")]
            }
        }
    }

    /// Statements on the elements of an array.
    fn statements(&mut self, kind: Serial) -> Vec<Node> {
        let array = self.array_of(Ty::Int);
        self.changed(array);
        let [zero, one, two] = ["0", "1", "2"].map(|at| self.arrays[array].element(at, false));
        match (kind, self.arrays[array].first()) {
            (Serial::Call, Some(first)) => {
                let name =
                    self.helper("store", "static void @(int *at, int step)\n{\n    at[0] = (at[1] + step) & 1023;\n}");
                vec![text(format!("{name}({first}, {});", self.rng.range(1, 9)))]
            }
            (Serial::Call | Serial::Branch, _) => vec![text(format!(
                "if ({zero} > 300)\n    {one} = ({one} + 3) & 1023;\nelse\n    {two} = ({zero} + k) & 1023;"
            ))],
            (Serial::Loop, _) => {
                let q = self.named("q");
                let element = self.arrays[array].element(&q, false);
                vec![text(format!("for (int {q} = 0; {q} < 3; {q}++)\n    {element} = ({element} * 2 + {q}) & 1023;"))]
            }
            _ => {
                let kept = self.named("kept");
                vec![fixed(format!("int {kept} = {zero};")), text(format!("{zero} = {one};\n{one} = {kept};"))]
            }
        }
    }

    fn floating_array(&mut self, ints: &mut Vec<String>) -> Vec<Node> {
        let name = self.named("w");
        let head = "for (int i = 0; i < 8; i++)".to_owned();
        let directives = vec![Directive::new("parallel for", Vec::new())];
        let body = vec![text(format!("{name}[i] = (i * 3 + k) * 0.25;"))];
        ints.push(format!("((int)({name}[i & 7] * 4) & 15)"));
        vec![
            fixed(format!("double {name}[8];")),
            Node::Block(Block { directives, head, body, fixed: true, ..Block::default() }),
            text(format!("{name}[0] = 0.5 * {name}[1] + c;")),
        ]
    }

    /// An array of this type; the first gets it if there is none.
    pub(super) fn array_of(&mut self, ty: Ty) -> usize {
        let found = self.arrays.iter().position(|array| array.ty == ty);
        found.unwrap_or_else(|| {
            let last = self.arrays.len() - 1;
            // Loops that were made before may use it; then another one does.
            let free = (0..=last).find(|index| !self.uses[*index].used && !self.settled.contains(index));
            match free {
                Some(index) => {
                    self.arrays[index].ty = ty;
                    index
                }
                None => {
                    let mut array = self.arrays[0].clone();
                    array.name = format!("w{}", self.tag);
                    array.second = None;
                    array.ty = ty;
                    array.storage = super::data::Storage::Static;
                    self.arrays.push(array);
                    self.uses.push(super::builder::ArrayUse::default());
                    last + 1
                }
            }
        })
    }

    fn changed(&mut self, array: usize) {
        self.read(array);
        self.write(array);
    }

    fn local_array(&mut self, ints: &mut Vec<String>) -> Vec<Node> {
        let name = self.named("w");
        let head = "for (int i = 0; i < 16; i++)".to_owned();
        let directives = vec![Directive::new("parallel for", Vec::new())];
        let body = vec![text(format!("{name}[i] = i * 3 + k;"))];
        ints.push(format!("({name}[i & 15] & 15)"));
        vec![
            fixed(format!("int {name}[16];")),
            Node::Block(Block { directives, head, body, fixed: true, ..Block::default() }),
        ]
    }

    /// `parallel { for; for }`; with `nowait` the second loop touches nothing that the first does.
    fn bare(&mut self, nowait: bool, clauses: &[&str], ints: &[String]) -> Vec<Node> {
        let body = self.worksharing_loops(2, nowait, ints).into_iter().map(Node::Block).collect();
        let clauses = clauses.iter().filter(|_| self.rng.chance(60)).map(|clause| Clause::free(*clause)).collect();
        vec![Node::Block(Block { directives: vec![Directive::new("parallel", clauses)], body, ..Block::default() })]
    }

    /// The same with the barrier written out.
    fn barrier(&mut self, ints: &[String]) -> Vec<Node> {
        let mut loops = self.worksharing_loops(2, false, ints);
        let mut body = Vec::new();
        if let [first, _] = &mut loops[..] {
            first.directives[0].clauses.push(Clause::needed("nowait"));
            first.fixed = true;
            loops[1].fixed = true;
        }
        for block in loops {
            if !body.is_empty() {
                body.push(fixed("#pragma omp barrier"));
            }
            body.push(Node::Block(block));
        }
        vec![Node::Block(Block { directives: vec![Directive::new("parallel", Vec::new())], body, ..Block::default() })]
    }

    /// Worksharing loops for the body of a parallel region; with `nowait` no other loop touches what one does.
    pub(super) fn worksharing_loops(&mut self, count: usize, nowait: bool, ints: &[String]) -> Vec<Block> {
        let mut loops: Vec<Block> = Vec::new();
        // What one loop combines the next may neither read nor combine into before a barrier.
        let sums = if nowait { std::mem::replace(&mut self.recipe.sums, Sums::None) } else { self.recipe.sums };
        for _ in 0..count {
            let before = self.uses.clone();
            self.uses.iter_mut().for_each(|used| used.used = false);
            loops.extend(self.local_loop(true, ints).into_iter().filter_map(worksharing));
            if nowait {
                self.taken.extend(self.uses.iter().enumerate().filter(|(_, used)| used.used).map(|(index, _)| index));
            }
            self.uses.iter_mut().zip(before).for_each(|(used, before)| used.used |= before.used);
        }
        self.recipe.sums = sums;
        self.taken.clear();
        let last = loops.len().saturating_sub(1);
        for block in loops.iter_mut().take(last).filter(|_| nowait) {
            block.directives[0].clauses.push(Clause::needed("nowait"));
        }
        loops
    }

    fn sections(&mut self) -> Vec<Node> {
        let arrays = [0, 1];
        let section = |builder: &mut Self, array: usize| {
            builder.changed(array);
            let element = builder.arrays[array].element("1", false);
            Node::Block(Block {
                directives: vec![Directive::new("section", Vec::new())],
                body: vec![text(format!("{element} = ({element} + 5) & 1023;"))],
                ..Block::default()
            })
        };
        let body = arrays.map(|array| section(self, array)).to_vec();
        let directives = vec![Directive::new("parallel sections", Vec::new())];
        vec![Node::Block(Block { directives, body, ..Block::default() })]
    }

    /// Loops whose results hang on their one team, or on the order of its iterations.
    pub(super) fn forbidden(&mut self, kind: Forbidden) -> Vec<Node> {
        self.note(format!("{kind:?}"));
        let array = self.array_of(Ty::Int);
        self.changed(array);
        let [own, left] = ["i", "i - 1"].map(|at| self.arrays[array].element(at, false));
        let up = "for (int i = 1; i < n; i++)";
        let sum = format!("{own} = ({own} + {left}) & 1023;");
        let (clauses, head, body): (&str, &str, String) = match kind {
            Forbidden::OneThread => ("num_threads(1)", up, sum),
            Forbidden::Serialised => ("if(parallel: 0)", up, sum),
            Forbidden::Chunk => {
                ("schedule(static, 8)", "for (int i = 0; i < n; i++)", format!("if (i % 8 != 0) {sum}"))
            }
            Forbidden::Critical => {
                let count = self.mapped_scalar("count", Ty::Int);
                ("", "for (int i = 0; i < n; i++)", format!("#pragma omp critical\n{count} = {count} + ({own} & 7);"))
            }
            Forbidden::ThreadNumber => {
                self.helpers.insert("#include <omp.h>".to_owned(), "#include <omp.h>".to_owned());
                ("", up, format!("{own} = {own} + omp_get_num_teams() * 3 + omp_get_team_num();"))
            }
            Forbidden::Capture => {
                self.locals.insert("int last = 0;".to_owned());
                let body = "int old;\n#pragma omp atomic capture\nold = last++;\n".to_owned();
                ("", "for (int i = 0; i < n; i++)", format!("{body}if (old < 0) {own} = 0;"))
            }
        };
        let clauses = if clauses.is_empty() { Vec::new() } else { vec![Clause::needed(clauses)] };
        let directives = vec![Directive::new("parallel for", clauses)];
        let mut nodes = vec![Node::Block(Block {
            directives,
            head: head.to_owned(),
            body: vec![fixed(body)],
            fixed: true,
            ..Block::default()
        })];
        if kind == Forbidden::Capture {
            nodes.push(Node::Block(Block {
                directives: vec![Directive::new("parallel for", Vec::new())],
                head: up.to_owned(),
                body: vec![fixed(format!("{own} = ({own} + last) & 1023;"))],
                fixed: true,
                ..Block::default()
            }));
        }
        nodes.extend(self.parallel_loop(true, &[]));
        nodes
    }
}

/// The `for` of a `parallel for`.
fn worksharing(node: Node) -> Option<Block> {
    let Node::Block(mut block) = node else { return None };
    if !block.head.starts_with("for") {
        let [Node::Block(inner)] = &block.body[..] else { return None };
        return Some(inner.clone());
    }
    let mut clauses: Vec<Clause> = block.directives.iter().flat_map(|d| d.clauses.clone()).collect();
    // These belong to the parallel region, which may have its own copy of what it lists.
    let not_its_own = ["default", "proc_bind", "firstprivate"];
    clauses.retain(|clause| !not_its_own.iter().any(|name| clause.text.starts_with(name)));
    block.directives = vec![Directive::new("for", clauses)];
    Some(block)
}
