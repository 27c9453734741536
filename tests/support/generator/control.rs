//! Sequential control flow around loops, steered by what the host knows or by what stands on the device.

use super::builder::Builder;
use super::data::Ty;
use super::node::{Block, Node, block, fixed, text};
use super::recipe::Control;

impl Builder {
    /// Control flow around loops, at most two deep.
    pub(super) fn control(&mut self, control: Control, sure: bool, ints: &mut Vec<String>, depth: usize) -> Vec<Node> {
        self.note(format!("{control:?}"));
        let inner = |builder: &mut Self, sure: bool, ints: &[String]| builder.inside(sure, ints, depth);
        let with = |ints: &[String], name: &str| [ints, &[format!("({name} & 7)")]].concat();
        match control {
            Control::For => {
                let t = self.named("t");
                let all = with(ints, &t);
                let body = [inner(self, sure, &all), inner(self, sure, &all)].concat();
                let head = self.rng.pick(&[
                    "for (int @ = 0; @ < 3; @++)",
                    "for (int @ = k; @ > 0; @--)",
                    "for (int @ = 1; @ <= m; @ *= 2)",
                ]);
                vec![block(head.replace('@', &t), body)]
            }
            Control::Flip => {
                let t = self.named("t");
                let all = with(ints, &t);
                let one = block(format!("if ({t} % 2 == 0)"), inner(self, false, &all));
                let two = block("else", inner(self, false, &all));
                vec![block(format!("for (int {t} = 0; {t} < 4; {t}++)"), vec![one, two])]
            }
            Control::While => {
                let w = self.named("w");
                let all = with(ints, &w);
                let mut body = inner(self, false, &all);
                body.push(fixed(self.rng.pick(&["@++;", "@ += 2;", "@ = @ * 2 + 1;"]).replace('@', &w)));
                vec![fixed(format!("int {w} = 0;")), block(format!("while ({w} < 4)"), body)]
            }
            Control::Do => {
                let d = self.named("d");
                let all = with(ints, &d);
                let mut body = inner(self, sure, &all);
                body.push(fixed(format!("{d} /= 2;")));
                let tail = format!("while ({d} > 1);");
                vec![
                    fixed(format!("int {d} = 8;")),
                    Node::Block(Block { head: "do".to_owned(), body, tail, ..Block::default() }),
                ]
            }
            Control::If => {
                let head = self.rng.pick(&["if (k > 2)", "if (n % 2)", "if (m > 3 && k != 4)"]);
                let one = block(head, inner(self, false, ints));
                let two = block("else", inner(self, false, ints));
                if self.rng.chance(50) { vec![one, two] } else { vec![one] }
            }
            Control::Block => {
                let q = self.named("q");
                let all = with(ints, &q);
                let body = [vec![fixed(format!("int {q} = k * 2 + 1;"))], inner(self, sure, &all)].concat();
                vec![block("", body)]
            }
            Control::Integers => {
                let q = self.named("q");
                let mut nodes = vec![fixed(format!("int {q} = m + 2;"))];
                ints.push(format!("({q} & 7)"));
                nodes.extend(inner(self, sure, ints));
                nodes.push(text(format!("{q} = ({q} * 3 + k) % 11;")));
                nodes.extend(inner(self, sure, ints));
                nodes
            }
            Control::IfElement | Control::WhileElement | Control::UntilElement | Control::UntilSum => {
                self.steered_by_device(control, sure, ints, depth)
            }
            Control::Break => {
                let t = self.named("t");
                let all = with(ints, &t);
                let first = inner(self, sure, &all);
                let leave = self.rng.pick(&["if (@ == k) break;", "if (@ == 1) continue;", "if (@ + k > 4) break;"]);
                let last = inner(self, false, &all);
                let body = [first, vec![text(leave.replace('@', &t))], last].concat();
                vec![block(format!("for (int {t} = 0; {t} < 4; {t}++)"), body)]
            }
        }
    }

    /// A loop, or control flow around one.
    fn inside(&mut self, sure: bool, ints: &[String], depth: usize) -> Vec<Node> {
        if depth < 1 && self.rng.chance(25) {
            let control = self.rng.pick(&self.recipe.control.clone());
            self.control(control, sure, &mut ints.to_vec(), depth + 1)
        } else {
            self.local_loop(sure, ints)
        }
    }

    /// Control flow that hangs on an element or a sum, which only the device knows.
    fn steered_by_device(&mut self, control: Control, sure: bool, ints: &[String], depth: usize) -> Vec<Node> {
        let with = |ints: &[String], name: &str| [ints, &[format!("({name} & 7)")]].concat();
        match control {
            Control::IfElement => {
                let element = self.int_element("1");
                let one = block(format!("if ({element} % 2 == 1)"), self.inside(false, ints, depth));
                let two = block("else", self.inside(false, ints, depth));
                if self.rng.chance(60) { vec![one, two] } else { vec![one] }
            }
            Control::WhileElement => {
                let w = self.named("w");
                let all = with(ints, &w);
                let element = self.int_element("2");
                let mut body = self.inside(false, &all, depth);
                body.push(fixed(format!("{w}++;")));
                vec![fixed(format!("int {w} = {element} & 3;")), block(format!("while ({w} < 3)"), body)]
            }
            Control::UntilElement => {
                let w = self.named("w");
                let all = with(ints, &w);
                let mut body = self.inside(sure, &all, depth);
                body.push(fixed(format!("{w}++;")));
                let element = self.int_element("0");
                let tail = format!("while ({w} < 3 && {element} % 4 != 0);");
                vec![
                    fixed(format!("int {w} = 0;")),
                    Node::Block(Block { head: "do".to_owned(), body, tail, ..Block::default() }),
                ]
            }
            _ => {
                let w = self.named("w");
                let sum = self.mapped_scalar("s", Ty::Long);
                let mut body = self.inside(sure, ints, depth);
                body.push(fixed(format!("{w}++;")));
                let tail = format!("while ({w} < 3 && ({sum} & 3) != 0);");
                vec![
                    fixed(format!("int {w} = 0;")),
                    Node::Block(Block { head: "do".to_owned(), body, tail, ..Block::default() }),
                ]
            }
        }
    }

    /// An element of an `int` array, read by one thread.
    fn int_element(&mut self, at: &str) -> String {
        let array = self.array_of(Ty::Int);
        self.read(array);
        self.arrays[array].element(at, false)
    }
}
