//! Arrays and scalars of a generated program: how they are declared, filled, mapped and printed.

use super::node::{Node, fixed};

/// An element type. Values stay so small that sums and products of a few are exact, and no signed integer overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    Int,
    Unsigned,
    Long,
    Short,
    Byte,
    Double,
    Float,
}

/// How an array is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// `int *a = malloc(..)`, or a parameter.
    Heap,
    /// `static int a[320]` in the file.
    Static,
    /// `int a[320]` in the function.
    Auto,
    /// `int a[n]` in the function.
    Vla,
    /// A member of a structure.
    Member,
    /// A `declare target` variable.
    DeviceGlobal,
    /// A pointer into the middle of an array, `q[0:n]`.
    OffsetUp,
    /// A pointer behind the first elements, `q[-4:n]`.
    OffsetDown,
    /// A heap array with a second name; present on the device before.
    Alias,
    /// The same, but the second name begins two elements behind the first.
    Shifted,
    /// `static int a[2600][8]`, of which `m` elements of each row count.
    Grid,
    /// `int (*a)[m]`
    Rows,
    /// A member of the elements of an array of structures.
    Field,
}

/// Elements that every array of fixed size has.
pub const CAPACITY: usize = 13_000;

/// Rows and columns of an array of two dimensions.
const GRID: (usize, usize) = (2600, 8);

/// An array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The letter, and for what stands in the file a part that no other program has.
    pub name: String,
    /// Another name for the same elements.
    pub second: Option<String>,
    pub ty: Ty,
    pub storage: Storage,
    /// Has it `n * m` elements, and not `n`?
    pub long: bool,
}

impl Ty {
    /// As C writes it.
    pub fn c(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Unsigned => "unsigned",
            Self::Long => "long",
            Self::Short => "short",
            Self::Byte => "unsigned char",
            Self::Double => "double",
            Self::Float => "float",
        }
    }

    /// A number with a fraction?
    pub fn is_floating(self) -> bool {
        matches!(self, Self::Double | Self::Float)
    }
}

impl Array {
    /// `n` or `n * m`
    pub fn length(&self) -> &'static str {
        if self.long { "n * m" } else { "n" }
    }

    /// The variable by which the region knows it.
    pub fn variable(&self) -> &str {
        match self.storage {
            Storage::Member => "box",
            _ => &self.name,
        }
    }

    /// The element at an index, by its first or second name.
    pub fn element(&self, index: &str, second: bool) -> String {
        let second = self.second.as_ref().filter(|_| second);
        let name = second.unwrap_or(&self.name);
        match self.storage {
            Storage::Member => format!("box.{name}[{index}]"),
            Storage::OffsetDown => format!("{name}[{index} - 4]"),
            Storage::Shifted if second.is_some() => format!("{name}[{index} - 2]"),
            Storage::Field => format!("{name}[{index}].value"),
            Storage::Grid | Storage::Rows => match index.trim_matches(['(', ')']) {
                "i * m + j" => format!("{name}[i][j]"),
                "i * m + r" => format!("{name}[i][r]"),
                _ => format!("{name}[({index}) / m][({index}) % m]"),
            },
            _ => format!("{name}[{index}]"),
        }
    }

    /// A pointer to its first element, for a function that writes elements; nothing where they do not lie side by side.
    pub fn first(&self) -> Option<String> {
        match self.storage {
            Storage::Member => Some(format!("box.{}", self.name)),
            Storage::OffsetDown => Some(format!("{} - 4", self.name)),
            Storage::Grid | Storage::Rows | Storage::Field => None,
            _ => Some(self.name.clone()),
        }
    }

    /// What a `map` clause names; nothing for what is on the device anyway.
    pub fn item(&self, whole: bool) -> Option<String> {
        let section = format!("{}[0:{}]", self.name, self.length());
        Some(match self.storage {
            Storage::DeviceGlobal => return None,
            Storage::Static | Storage::Auto | Storage::Vla | Storage::Grid if whole => self.name.clone(),
            Storage::OffsetDown => format!("{}[-4:{}]", self.name, self.length()),
            Storage::Member => format!("box.{section}"),
            Storage::Grid => format!("{}[0:n]", self.name),
            Storage::Rows => format!("{}[0:n][0:m]", self.name),
            _ => section,
        })
    }

    /// Is it mapped by rule where no clause names it?
    pub fn is_implicit(&self) -> bool {
        !self.is_pointer()
    }

    /// A pointer of the case's function that its region's function may take as a parameter.
    pub fn is_pointer(&self) -> bool {
        use Storage::{Alias, Field, Heap, OffsetDown, OffsetUp, Rows, Shifted};
        matches!(self.storage, Heap | OffsetUp | OffsetDown | Alias | Shifted | Rows | Field)
    }

    /// Does it stand in the file?
    pub fn is_in_file(&self) -> bool {
        matches!(self.storage, Storage::Static | Storage::Grid | Storage::DeviceGlobal)
    }

    /// The pointer as a parameter.
    pub fn parameter(&self, constant: bool) -> String {
        let (ty, name) = (self.ty.c(), &self.name);
        match self.storage {
            Storage::Rows => format!("{ty} (*{name})[m]"),
            Storage::Field => format!("struct cell_{name} *{name}"),
            _ => format!("{}{ty} *{name}", if constant { "const " } else { "" }),
        }
    }

    /// The declaration of its second name.
    pub fn second_name(&self) -> Option<String> {
        let shift = if self.storage == Storage::Shifted { " + 2" } else { "" };
        Some(format!("{} *{} = {}{shift};", self.ty.c(), self.second.as_ref()?, self.name))
    }

    /// Declarations in the file.
    pub fn global(&self) -> Option<String> {
        let (ty, name) = (self.ty.c(), &self.name);
        match self.storage {
            Storage::Static => Some(format!("static {ty} {name}[{CAPACITY}];")),
            Storage::Grid => Some(format!("static {ty} {name}[{}][{}];", GRID.0, GRID.1)),
            Storage::Field => Some(format!("struct cell_{name} {{\n    short beside;\n    {ty} value;\n}};")),
            Storage::DeviceGlobal => {
                Some(format!("#pragma omp declare target\n{ty} {name}[{CAPACITY}];\n#pragma omp end declare target"))
            }
            _ => None,
        }
    }

    /// Declarations in the function.
    pub fn local(&self) -> Option<String> {
        let (ty, name) = (self.ty.c(), &self.name);
        let heap = |name: &str| format!("{ty} *{name} = ({ty} *)malloc(({} + 8) * sizeof({ty}));", self.length());
        match self.storage {
            Storage::Heap | Storage::Alias | Storage::Shifted => Some(heap(name)),
            Storage::Rows => Some(format!("{ty} (*{name})[m] = ({ty} (*)[m])malloc((n * m + 8) * sizeof({ty}));")),
            Storage::Field => Some(format!(
                "struct cell_{name} *{name} = (struct cell_{name} *)malloc(({} + 8) * sizeof(*{name}));",
                self.length()
            )),
            Storage::OffsetUp | Storage::OffsetDown => {
                Some(format!("{}\n{ty} *{name} = {name}_base + 4;", heap(&format!("{name}_base"))))
            }
            Storage::Auto => Some(format!("{ty} {name}[{CAPACITY}];")),
            Storage::Vla => Some(format!("{ty} {name}[{} + 1];", self.length())),
            Storage::Static | Storage::Grid | Storage::Member | Storage::DeviceGlobal => None,
        }
    }

    /// The loop that fills it on the host; `salt` makes arrays differ.
    pub fn fill(&self, salt: usize) -> Node {
        let value = match self.ty {
            Ty::Int | Ty::Unsigned | Ty::Long => format!("(i * {} + {salt}) % 1000", 7 + 2 * salt),
            Ty::Short | Ty::Byte => format!("(i * {} + {salt}) % 200", 3 + 2 * salt),
            Ty::Double | Ty::Float => format!("(i * {} + {salt}) % 64 * 0.25", 5 + 2 * salt),
        };
        let extent = if self.long { "n * m" } else { "n" };
        let element = self.element("i", false);
        let mut lines = format!("for (int i = 0; i < {extent}; i++)\n    {element} = {value};");
        if self.storage == Storage::DeviceGlobal {
            lines.push_str(&format!("\n#pragma omp target update to({})", self.name));
        }
        fixed(lines)
    }

    /// What prints it.
    pub fn print(&self) -> Vec<Node> {
        let mut lines = Vec::new();
        if self.storage == Storage::DeviceGlobal {
            lines.push(fixed(format!("#pragma omp target update from({})", self.name)));
        }
        let (name, ty, length) = (&self.name, self.ty.c(), self.length());
        lines.push(fixed(match (self.storage, self.first()) {
            (Storage::Grid, _) => {
                format!("for (int i = 0; i < n; i++)\n    check(\"{name}\", {name}[i], m * sizeof({ty}));")
            }
            (Storage::Field, _) => {
                format!("for (int i = 0; i < {length}; i++)\n    check(\"{name}\", &{name}[i].value, sizeof({ty}));")
            }
            (_, first) => {
                let first = first.unwrap_or_else(|| name.clone());
                format!("check(\"{name}\", {first}, ({length}) * sizeof({ty}));")
            }
        }));
        lines
    }

    /// What gives it back.
    pub fn free(&self) -> Option<Node> {
        match self.storage {
            Storage::Heap | Storage::Alias | Storage::Shifted | Storage::Rows | Storage::Field => {
                Some(fixed(format!("free({});", self.name)))
            }
            Storage::OffsetUp | Storage::OffsetDown => Some(fixed(format!("free({}_base);", self.name))),
            _ => None,
        }
    }
}

/// A scalar that loops combine values into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    pub name: String,
    pub ty: Ty,
}

impl Sum {
    /// Prints its value, not its bytes: no address of it is taken.
    pub fn print(&self) -> Node {
        let (format, cast) = if self.ty.is_floating() { ("%.17g", "double") } else { ("%ld", "long") };
        fixed(format!("printf(\"{} {format}\\n\", ({cast}){});", self.name, self.name))
    }
}
