//! The arrays of programs whose loops are cut into tiles.

use super::data::Ty;
use super::node::{Node, fixed};

/// Elements that every array has beyond its `n` pieces.
const MORE: usize = 8;
/// Iterations of a loop whose bounds are numbers.
pub(super) const NUMBER: usize = 53;

/// An array that moves in tiles, or is shared by all.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub name: &'static str,
    pub ty: Ty,
    /// Has it a row of `m` elements for each iteration?
    pub rows: bool,
    pub written: bool,
}

impl Stream {
    pub(super) fn element(&self, index: &str) -> String {
        format!("{}[{index}]", self.name)
    }

    /// How many elements it has, in C.
    pub(super) fn elements(&self) -> String {
        let pieces = format!("(n + {})", MORE + NUMBER);
        if self.rows { format!("{pieces} * m") } else { pieces }
    }

    /// A statement that reads the element as well.
    pub(super) fn combined(&self, own: &str, value: &str) -> String {
        match self.ty {
            Ty::Double | Ty::Float => format!("{own} = 0.5 * {own} + {value};"),
            Ty::Unsigned => format!("{own} += {value};"),
            _ => format!("{own} = (int)({own} + ({value})) & 127;"),
        }
    }

    /// Its declaration and its values.
    pub(super) fn made(&self, salt: usize) -> Node {
        let (ty, name, elements) = (self.ty.c(), self.name, self.elements());
        let value = if self.ty.is_floating() { " * 0.25" } else { "" };
        fixed(format!(
            "{ty} *{name} = ({ty} *)malloc({elements} * sizeof({ty}));\nfor (int e = 0; e < {elements}; e++)\n    {name}[e] = ((e * {} + {salt} + 1) % 61 + 33){value};",
            7 + 4 * salt
        ))
    }

    pub(super) fn checked(&self) -> Node {
        let Self { name, ty, .. } = self;
        fixed(format!("check(\"{name}\", {name}, {} * sizeof({}));", self.elements(), ty.c()))
    }

    /// Prints it, and whether it is still on the device.
    pub(super) fn shown(&self) -> Vec<Node> {
        let name = self.name;
        let inside = if self.rows { "n / 2 * m" } else { "n / 2" };
        let left = format!("printf(\"%d\\n\", omp_target_is_present({name} + {inside}, 0));");
        vec![self.checked(), fixed(format!("{left}\nfree({name});"))]
    }
}
