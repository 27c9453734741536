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
}

/// Elements that every array of fixed size has.
pub const CAPACITY: usize = 13_000;

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
        let name = if second { self.second.as_deref().unwrap_or(&self.name) } else { &self.name };
        match self.storage {
            Storage::Member => format!("box.{name}[{index}]"),
            Storage::OffsetDown => format!("{name}[{index} - 4]"),
            _ => format!("{name}[{index}]"),
        }
    }

    /// What a `map` clause names; nothing for what is on the device anyway.
    pub fn item(&self, whole: bool) -> Option<String> {
        let section = format!("{}[0:{}]", self.name, self.length());
        Some(match self.storage {
            Storage::DeviceGlobal => return None,
            Storage::Static | Storage::Auto | Storage::Vla if whole => self.name.clone(),
            Storage::OffsetDown => format!("{}[-4:{}]", self.name, self.length()),
            Storage::Member => format!("box.{section}"),
            _ => section,
        })
    }

    /// Is it mapped by rule where no clause names it?
    pub fn is_implicit(&self) -> bool {
        matches!(self.storage, Storage::Static | Storage::Auto | Storage::Vla | Storage::Member | Storage::DeviceGlobal)
    }

    /// A pointer of the case's function that its region's function may take as a parameter.
    pub fn is_pointer(&self) -> bool {
        matches!(self.storage, Storage::Heap | Storage::OffsetUp | Storage::OffsetDown | Storage::Alias)
    }

    /// Declarations in the file.
    pub fn global(&self) -> Option<String> {
        let (ty, name) = (self.ty.c(), &self.name);
        match self.storage {
            Storage::Static => Some(format!("static {ty} {name}[{CAPACITY}];")),
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
            Storage::Heap | Storage::Alias => Some(heap(name)),
            Storage::OffsetUp | Storage::OffsetDown => {
                Some(format!("{}\n{ty} *{name} = {name}_base + 4;", heap(&format!("{name}_base"))))
            }
            Storage::Auto => Some(format!("{ty} {name}[{CAPACITY}];")),
            Storage::Vla => Some(format!("{ty} {name}[{} + 1];", self.length())),
            Storage::Static | Storage::Member | Storage::DeviceGlobal => None,
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
        let first = match self.storage {
            Storage::Member => format!("box.{}", self.name),
            Storage::OffsetDown => format!("{} - 4", self.name),
            _ => self.name.clone(),
        };
        lines.push(fixed(format!("check(\"{}\", {first}, ({}) * sizeof({}));", self.name, self.length(), self.ty.c())));
        lines
    }

    /// What gives it back.
    pub fn free(&self) -> Option<Node> {
        match self.storage {
            Storage::Heap | Storage::Alias => Some(fixed(format!("free({});", self.name))),
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
