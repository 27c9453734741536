//! What stands beside the loops and runs on one thread, `parallel` regions of several loops, and regions that must stay
//! one kernel.

use super::builder::Builder;
use super::data::Ty;
use super::node::{Block, Clause, Directive, Node, fixed, text};
use super::recipe::{Forbidden, Serial};

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
            Serial::LostScalar => {
                self.locals.insert("int last = 2;".to_owned());
                self.shown.insert("last".to_owned());
                ints.retain(|int| !int.contains("last"));
                ints.push("(last & 15)".to_owned());
                vec![text(format!("last = last * 2 + {};", self.rng.range(1, 5)))]
            }
            Serial::BareParallel | Serial::BareNowait => self.bare(kind == Serial::BareNowait),
            Serial::Sections => self.sections(),
        }
    }

    /// An array of this type; the first gets it if there is none.
    fn array_of(&mut self, ty: Ty) -> usize {
        let found = self.arrays.iter().position(|array| array.ty == ty);
        found.unwrap_or_else(|| {
            let last = self.arrays.len() - 1;
            // Loops that were made before may use it; then another one does.
            let free = (0..=last).find(|index| !self.uses[*index].used);
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
    fn bare(&mut self, nowait: bool) -> Vec<Node> {
        let mut loops = Vec::new();
        for _ in 0..2 {
            let before = self.uses.clone();
            self.uses.iter_mut().for_each(|used| used.used = false);
            loops.extend(self.parallel_loop(true, &[]).into_iter().filter_map(worksharing));
            if nowait {
                self.taken.extend(self.uses.iter().enumerate().filter(|(_, used)| used.used).map(|(index, _)| index));
            }
            self.uses.iter_mut().zip(before).for_each(|(used, before)| used.used |= before.used);
        }
        self.taken.clear();
        if let [first, _] = &mut loops[..]
            && nowait
        {
            first.directives[0].clauses.push(Clause::needed("nowait"));
        }
        let body = loops.into_iter().map(Node::Block).collect();
        vec![Node::Block(Block { directives: vec![Directive::new("parallel", Vec::new())], body, ..Block::default() })]
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
    let clauses: Vec<Clause> = block.directives.iter().flat_map(|d| d.clauses.clone()).collect();
    block.directives = vec![Directive::new("for", clauses)];
    Some(block)
}
