//! The stable ids of all diagnostics, and the page of each.

/// What sort of message a rule gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// The construct was left alone because it cannot be shown to be safe.
    Refusal,
    /// The construct was left alone because changing it does not pay.
    DoesNotPay,
    /// An edit is the same only if this holds.
    Assumption,
    /// Something the user should know.
    Note,
    /// The file could not be processed.
    Error,
}

/// Declares [`ReasonCode`] with each rule's id, kind, title and page. Ids are never reused.
macro_rules! reason_codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $id:literal, $kind:ident, $title:literal;)+) => {
        /// A rule that a diagnostic cites. The documentation of each variant is its page (`ompsplit rule OMPS###`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ReasonCode {
            $($(#[doc = $doc])+ $name,)+
        }

        impl ReasonCode {
            /// Every rule, in the order of the ids.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The id: `OMPS101`.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)+ }
            }

            /// What sort of message it gives.
            #[must_use]
            pub fn kind(self) -> RuleKind {
                match self { $(Self::$name => RuleKind::$kind,)+ }
            }

            /// A few words that name it.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)+ }
            }

            /// Its page in Markdown, from the documentation of the variant.
            #[must_use]
            pub fn page(self) -> String {
                match self { $(Self::$name => concat!($($doc, "\n"),+),)+ }
                    .lines()
                    .map(|line| line.strip_prefix(' ').unwrap_or(line))
                    .collect::<Vec<_>>()
                    .join("\n")
            }

            /// The rule with this id.
            #[must_use]
            pub fn from_id(id: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.id().eq_ignore_ascii_case(id))
            }
        }
    };
}

reason_codes! {
    /// A suppression names a rule of this tool that reports nothing there, so it can be removed.
    ///
    /// ```c
    /// #pragma omp target // NOLINT(OMPS101)
    /// ```
    ///
    /// Only suppressions that name an `OMPS` id are reported: a plain `NOLINT` may be meant for another tool.
    UnusedSuppression = "OMPS001", Note, "suppression without effect";
    /// The region holds a syntax error, or is enclosed by one, so its structure is not known.
    ///
    /// ```c
    /// #pragma omp target teams
    /// { FOO(a b) }
    /// ```
    SyntaxError = "OMPS101", Refusal, "syntax error in or around the region";
}
