//! The statements of a loop's body. Each iteration writes its own elements alone, reads them and those of arrays that the
//! loop does not write, and combines by atomics and reductions: no two iterations race.

use super::builder::{Builder, Scope};
use super::data::{Storage, Sum, Ty};
use super::node::{Block, Directive, Node, block, fixed, text};
use super::recipe::Body;

impl Builder {
    /// A statement, or several, that write the own element of an array. `full`: does every iteration's element count?
    pub(super) fn assign(&mut self, array: usize, scope: &Scope, full: bool) -> Vec<Node> {
        let bodies = self.recipe.bodies.clone();
        let ty = self.arrays[array].ty;
        let second = self.rng.chance(30);
        let own = self.arrays[array].element(&scope.own, second);
        let full = full && self.arrays[array].long == scope.long;
        if !bodies.is_empty() && self.rng.chance(65) {
            let body = self.rng.pick(&bodies);
            if let Some(nodes) = self.special(body, array, scope, full) {
                self.note(format!("{body:?}"));
                return nodes;
            }
        }
        if !full || self.rng.chance(40) {
            self.read(array);
            let value = self.value(ty, scope);
            self.write(array);
            return vec![text(match ty {
                Ty::Unsigned => format!("{own} += {value};"),
                Ty::Double | Ty::Float => format!("{own} = 0.5 * {own} + 0.25 * ({value});"),
                Ty::Long => format!("{own} = ({own} + {value}) % 100003L;"),
                Ty::Byte => format!("{own} = ({own} + ({value})) & 127;"),
                _ => format!("{own} = ({own} + ({value})) & 1023;"),
            })];
        }
        let value = self.value(ty, scope);
        self.define(array);
        vec![text(format!("{own} = {value};"))]
    }

    /// After this every element of the array has a value, if nothing around decides otherwise.
    fn define(&mut self, array: usize) {
        self.write(array);
        self.pending.push(array);
    }

    fn special(&mut self, body: Body, array: usize, scope: &Scope, full: bool) -> Option<Vec<Node>> {
        let ty = self.arrays[array].ty;
        let own = self.arrays[array].element(&scope.own, false);
        if !full {
            self.read(array);
        }
        match body {
            Body::Call if ty.is_floating() => {
                let name = self.helper("half", "static double @(double x)\n{\n    return 0.5 * x + 0.25;\n}");
                let value = self.floating_value(scope);
                self.define(array);
                Some(vec![text(format!("{own} = {name}({value});"))])
            }
            Body::Call if ty != Ty::Byte => {
                let name =
                    self.helper("mix", "static int @(int x, int y)\n{\n    return ((x & 4095) * 3 + y) & 511;\n}");
                let (a, b) = (self.int_value(scope), self.int_term(scope));
                self.define(array);
                Some(vec![text(format!("{own} = {name}({a}, {b});"))])
            }
            Body::PutCall if ty == Ty::Int => {
                let (target, index) = match self.arrays[array].storage {
                    Storage::OffsetDown => (self.arrays[array].name.clone(), format!("{} - 4", scope.own)),
                    _ => (self.arrays[array].first()?, scope.own.clone()),
                };
                let name = self
                    .helper("put", "static void @(int *at, int index, int value)\n{\n    at[index] = value & 1023;\n}");
                let value = self.int_value(scope);
                self.define(array);
                Some(vec![text(format!("{name}({target}, {index}, {value});"))])
            }
            Body::Macro if !ty.is_floating() && ty != Ty::Byte => {
                let scale = self.helper("SCALE", "#define @ 3");
                let both = self.helper("BOTH", "#define @(p, q) (((p) & 255) * 2 + (q))");
                let (a, b) = (self.int_term(scope), self.int_term(scope));
                self.define(array);
                Some(vec![text(format!("{own} = {both}({a}, {b} & 127) + {scale};"))])
            }
            Body::Table if !ty.is_floating() => {
                let name = self.helper("table", "static const int @[8] = {3, 1, 4, 1, 5, 9, 2, 6};");
                let term = self.int_term(scope);
                self.define(array);
                Some(vec![text(format!("{own} = {name}[({term}) & 7];"))])
            }
            Body::Auto => {
                let value = self.value(ty, scope);
                let name = self.fresh("part");
                self.define(array);
                Some(vec![fixed(format!("auto {name} = {value};")), text(format!("{own} = {name};"))])
            }
            Body::Private if !ty.is_floating() => {
                self.locals.insert("int p = 9;".to_owned());
                self.private.insert("p".to_owned());
                let value = self.int_value(scope);
                self.define(array);
                Some(vec![fixed(format!("p = ({value}) & 63;")), text(format!("{own} = p * 2 + 1;"))])
            }
            Body::InnerLoop => self.inner_loop(array, scope, &own),
            Body::Branch => {
                let condition = self.int_term(scope);
                let (one, two) = (self.value(ty, scope), self.value(ty, scope));
                let then = block(format!("if (({condition}) % 3 == 1)"), vec![text(format!("{own} = {one};"))]);
                if self.rng.chance(50) {
                    self.read(array);
                    self.write(array);
                    return Some(vec![then]);
                }
                self.define(array);
                Some(vec![then, block("else", vec![text(format!("{own} = {two};"))])])
            }
            Body::Math if ty.is_floating() => {
                let (a, b) = (self.floating_value(scope), self.floating_value(scope));
                self.define(array);
                Some(vec![text(format!("{own} = fmax(fabs({a} - 2.0), {b});"))])
            }
            _ => None,
        }
    }

    fn inner_loop(&mut self, array: usize, scope: &Scope, own: &str) -> Option<Vec<Node>> {
        let ty = self.arrays[array].ty;
        let part = self.fresh("part");
        let inner = Scope { ints: [scope.ints.clone(), vec!["r".to_owned()]].concat(), ..scope.clone() };
        if ty.is_floating() {
            let value = self.floating_value(&inner);
            self.define(array);
            return Some(vec![
                fixed(format!("double {part} = 0.0;")),
                block("for (int r = 0; r < m; r++)", vec![text(format!("{part} = 0.5 * {part} + {value};"))]),
                text(format!("{own} = {part} * 0.25;")),
            ]);
        }
        let value = self.int_value(&inner);
        self.define(array);
        let down = self.rng.chance(30);
        let head = if down { "for (int r = m - 1; r >= 0; --r)" } else { "for (int r = 0; r < m; r++)" };
        Some(vec![
            fixed(format!("int {part} = 0;")),
            block(head, vec![text(format!("{part} = ({part} + {value}) & 1023;"))]),
            text(format!("{own} = {part} & 127;")),
        ])
    }

    /// Each iteration writes its row of an array that nothing else in the loop touches.
    pub(super) fn rows(&mut self, array: usize, scope: &Scope) -> Vec<Node> {
        let own = format!("{} * m + r", scope.own);
        let row = Scope {
            own: format!("({own})"),
            long: true,
            writes: Vec::new(),
            ints: [scope.ints.clone(), vec!["r".to_owned()]].concat(),
            ..scope.clone()
        };
        let value = self.value(self.arrays[array].ty, &row);
        self.note("Rows");
        self.read(array);
        self.write(array);
        let simd = self.rng.chance(30);
        let directives = if simd { vec![Directive::new("simd", Vec::new())] } else { Vec::new() };
        let element = self.arrays[array].element(&own, false);
        vec![Node::Block(Block {
            directives,
            head: "for (int r = 0; r < m; r++)".to_owned(),
            body: vec![text(format!("{element} = {value};"))],
            ..Block::default()
        })]
    }

    /// Counts in a mapped scalar or in the first elements of an array, by atomic operations.
    pub(super) fn atomics(&mut self, scope: &Scope, histogram: Option<usize>) -> Vec<Node> {
        if let Some(array) = histogram {
            self.read(array);
            self.write(array);
            let term = self.int_term(scope);
            let length = self.arrays[array].length();
            let element = self.arrays[array].element(&format!("({term}) % ({length})"), false);
            self.note("Histogram");
            return atomic(format!("{element} += 1;"));
        }
        let name = self.mapped_scalar("tally", Ty::Int);
        let term = self.int_term(scope);
        self.note("Atomic");
        atomic(format!("{name} += ({term}) & 7;"))
    }

    /// A scalar that the region maps.
    pub(super) fn mapped_scalar(&mut self, name: &str, ty: Ty) -> String {
        if !self.sums.iter().any(|sum| sum.name == name) {
            self.sums.push(Sum { name: name.to_owned(), ty });
        }
        name.to_owned()
    }

    /// A statement that combines a value into a scalar, with the operator.
    pub(super) fn combine(&mut self, name: &str, ty: Ty, scope: &Scope) -> (String, &'static str) {
        let value = self.int_value(scope);
        let floating = ty.is_floating();
        let operators: &[&str] = match ty {
            Ty::Unsigned => &["+", "*", "^", "&", "|"],
            Ty::Double => &["+", "max", "min", "+"],
            Ty::Long => &["+", "+", "max", "-"],
            // Each thread's 1 or 0 makes 1 of 12; where there is no iteration clang 19 combines nothing in a single team.
            _ if scope.may_be_empty => &["+", "max", "min", "&", "|", "^", "-"],
            _ => &["+", "max", "min", "&", "|", "^", "&&", "||", "-"],
        };
        let operator = self.rng.pick(operators);
        self.note(format!("reduction {operator}"));
        let value = if floating { format!("((({value}) & 255) * 0.25)") } else { format!("(({value}) & 255)") };
        let statement = match operator {
            "max" => format!("{name} = {name} > {value} ? {name} : {value};"),
            "min" => format!("if ({value} < {name}) {name} = {value};"),
            "*" => format!("{name} *= {value} | 1;"),
            "&" => format!("{name} &= {value} | 12;"),
            "&&" => format!("{name} = {name} && {value} != 300;"),
            "||" => format!("{name} = {name} || {value} == 77;"),
            _ => format!("{name} {operator}= {value};"),
        };
        (statement, operator)
    }
}

fn atomic(statement: String) -> Vec<Node> {
    vec![text(format!("#pragma omp atomic\n{statement}"))]
}
