//! One case: directives, and what comes of them.

/// On which directives a clause stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// `target`, or `target teams`.
    Region,
    /// The loop's own.
    Loop,
}

/// What comes of the directives.
#[derive(Clone, Copy, Debug)]
pub enum Becomes {
    /// These directives, and the declarations before them.
    Text(&'static [&'static str]),
    /// A refusal by this rule.
    Refused(&'static str),
}

pub struct Case {
    pub clause: &'static str,
    pub place: Place,
    pub given: &'static [&'static str],
    /// The first loop.
    pub body: &'static str,
    pub becomes: Becomes,
}

pub const fn case(clause: &'static str, place: Place, given: &'static [&'static str], becomes: Becomes) -> Case {
    with(COPY, clause, place, given, becomes)
}

pub const fn with(
    body: &'static str,
    clause: &'static str,
    place: Place,
    given: &'static [&'static str],
    becomes: Becomes,
) -> Case {
    Case { clause, place, given, body, becomes }
}

pub const COPY: &str = "for (int i = 0; i < n; i++) a[i] = b[i] + k;";
pub const NEST: &str = "for (int i = 0; i < n; i++) for (int l = 0; l < 64; l++) c[i][l] = k;";
pub const SUM: &str = "for (int i = 0; i < n; i++) s += b[i];";
pub const CARRIED: &str = "for (int i = 0; i < n; i++) { if (b[i] > 0) m = i; a[i] = m; }";
pub const LAST: &str = "for (int i = 0; i < n; i++) { m = i; a[i] = m; }";
pub const OUTSIDE: &str = "for (j = 0; j < n; j++) a[j] = k;";

pub const KERNEL: &str = "target teams distribute parallel for";
