//! The last line of a run: how much changed, how much was left alone, and for what.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{ReasonCode, figures};
use crate::report::constructs::{Fate, constructs, fate};
use crate::report::{FileReport, Severity};
use crate::source::Span;

/// The most groups of constructs that are named.
const MOST_GROUPS: usize = 4;

/// What the line is to say besides the counts.
#[derive(Clone, Copy, Debug)]
pub struct Telling {
    /// Are the files written, or the new text printed? Otherwise they would change.
    pub is_written: bool,
    /// Were the constructs that are left alone listed above it?
    pub is_listed: bool,
}

/// The line. `None` for a single file in which nothing changes and nothing is left alone.
#[must_use]
pub fn line(reports: &[&FileReport], telling: Telling) -> Option<String> {
    let mut counts = Counts::default();
    reports.iter().for_each(|report| counts.add(report));
    let changed = reports.iter().filter(|report| report.changed).count();
    let failed =
        reports.iter().filter(|report| report.diagnostics.iter().any(|d| d.severity == Severity::Error)).count();
    let verb = if telling.is_written { "changed" } else { "would change" };
    let mut line = format!("{} of {} {verb}", number(changed), amount(reports.len(), "file"));
    if failed > 0 {
        line.push_str(&format!(", {} failed", number(failed)));
    }
    let left = counts.groups.values().sum::<usize>();
    if reports.len() == 1 && changed + failed + left + counts.assumable == 0 {
        return None;
    }
    if left > 0 {
        let link = if left == 1 { ", " } else { ": " };
        line.push_str(&format!("; {} left alone{link}{}", amount(left, "region"), counts.named()));
    }
    if counts.assumable > 0 {
        line.push_str(&format!("; {} only with `--assume`", amount(counts.assumable, "region")));
    }
    if left + counts.assumable > 0 && !telling.is_listed {
        line.push_str(if left + counts.assumable == 1 { "; `-v` shows it" } else { "; `-v` lists them" });
    }
    Some(line)
}

/// How many constructs came to what.
#[derive(Default)]
struct Counts {
    assumable: usize,
    /// Those that are left alone, by what they have in common.
    groups: BTreeMap<&'static str, usize>,
}

impl Counts {
    /// Counts the constructs of a file of which something is said: not those that a comment silences.
    fn add(&mut self, report: &FileReport) {
        let told: BTreeSet<Span> =
            report.diagnostics.iter().filter_map(|said| report.plan_of(said)).map(|plan| plan.span).collect();
        for (_, plans) in constructs(&report.plans).iter().filter(|(span, _)| told.contains(span)) {
            match fate(plans, report.consent) {
                Fate::Assumable => self.assumable += 1,
                Fate::Refused(code) | Fate::NotPaying(code) => {
                    *self.groups.entry(code.map_or("of unknown kind", group)).or_default() += 1;
                }
                Fate::Changed | Fate::Nothing => {}
            }
        }
    }

    /// The largest groups, then how many others there are.
    fn named(&self) -> String {
        let mut groups: Vec<(&'static str, usize)> = self.groups.iter().map(|(name, count)| (*name, *count)).collect();
        groups.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let others: usize = groups.iter().skip(MOST_GROUPS).map(|(_, count)| count).sum();
        if let [(name, count)] = groups.as_slice() {
            return if *count == 1 { one(name).to_owned() } else { format!("all {name}") };
        }
        let named = |(name, count): &(&'static str, usize)| match count {
            1 => format!("1 {}", one(name).trim_start_matches("a ")),
            _ => format!("{} {name}", number(*count)),
        };
        let mut words: Vec<String> = groups.iter().take(MOST_GROUPS).map(named).collect();
        if others > 0 {
            words.push(format!("{} for other reasons", number(others)));
        }
        words.join(", ")
    }
}

/// `1 file`, `1,180 files`.
fn amount(count: usize, what: &str) -> String {
    format!("{} {what}{}", number(count), if count == 1 { "" } else { "s" })
}

/// A number with a comma between thousands.
fn number(number: usize) -> String {
    figures::grouped(&number.to_string())
}

/// What is said of one construct, where the words for several would not do.
fn one(group: &'static str) -> &'static str {
    match group {
        "that write an unmapped variable" => "that writes an unmapped variable",
        "that call functions out of sight" => "that calls functions out of sight",
        "that depend on their team" => "that depends on its team",
        "that run iterations in order" => "that runs iterations in order",
        "CUDA-style kernels" => "a CUDA-style kernel",
        "that are not parallel loops" => "that is no parallel loop",
        other => other,
    }
}

/// What constructs that are left alone for a rule have in common, in words that follow their number.
pub(super) fn group(code: ReasonCode) -> &'static str {
    match code {
        ReasonCode::SyntaxError => "with a syntax error",
        ReasonCode::PreprocessorConditional => "behind `#if`",
        ReasonCode::MacroDirective => "made by macros",
        ReasonCode::UnknownClause => "with an unknown clause or macro",
        ReasonCode::ClauseWithoutRule
        | ReasonCode::SharingConflict
        | ReasonCode::ExpressionNotMovable
        | ReasonCode::CollapseClause
        | ReasonCode::TileClause => "with a clause that cannot move",
        ReasonCode::ScalarWritten => "that write an unmapped variable",
        ReasonCode::UnknownName => "with undeclared names",
        ReasonCode::UnknownCall => "that call functions out of sight",
        ReasonCode::TeamDependent => "that depend on their team",
        ReasonCode::IterationsGrouped => "that run iterations in order",
        ReasonCode::SerialStatement | ReasonCode::LocalDeclaration => "with serial code between loops",
        ReasonCode::SequentialControl => "with control flow around loops",
        ReasonCode::CudaStyle => "CUDA-style kernels",
        ReasonCode::BareParallel | ReasonCode::NestedParallel | ReasonCode::OtherConstruct => {
            "that are not parallel loops"
        }
        ReasonCode::DeviceCode => "inside device code",
        ReasonCode::NotCanonical
        | ReasonCode::BoundNotOnHost
        | ReasonCode::NotRectangular
        | ReasonCode::BoundMayTrap => "with unusual loop bounds",
        ReasonCode::ReductionNotMovable => "with unusual reductions",
        ReasonCode::JumpOut => "with jumps",
        ReasonCode::HiddenCode => "with C++ objects or unknown types",
        ReasonCode::Spelling => "written as `_Pragma` or attributes",
        ReasonCode::OpaqueMacro => "with unreadable macros",
        ReasonCode::CompilerLimit => "that compilers cannot translate otherwise",
        ReasonCode::InnerLoopDependent | ReasonCode::ValueCarried => "whose inner loops may depend on themselves",
        ReasonCode::NestNotFollowed => "with accesses that are not understood",
        ReasonCode::HostAccess => "whose data the host needs",
        ReasonCode::MapNotUnited | ReasonCode::StorageOverlap => "with maps that cannot be one",
        ReasonCode::NotCertain | ReasonCode::EnvironmentPlace => "without a place for `target data`",
        ReasonCode::TooSmall => "too small to gain",
        ReasonCode::FuseDoesNotPay
        | ReasonCode::UnrollDoesNotPay
        | ReasonCode::GridDoesNotPay
        | ReasonCode::CollapseDoesNotPay
        | ReasonCode::RowsDoNotPay
        | ReasonCode::GroupsDoNotPay
        | ReasonCode::StagingDoesNotPay
        | ReasonCode::TilesDoNotPay
        | ReasonCode::TooLittleHidden
        | ReasonCode::TooLittleToCopy => "with nothing to gain",
        ReasonCode::TwoLevels => "with two parallel levels already",
        ReasonCode::Threadprivate => "with threadprivate variables",
        ReasonCode::SharedByAccident => "whose inner loop variables are shared",
        ReasonCode::WideAtomic => "with wide atomic operations",
        ReasonCode::FactsDisagree => "that the compiler reads otherwise",
        ReasonCode::CutWord => "with words cut by line splices",
        ReasonCode::OtherType => "with redefined standard types",
        ReasonCode::UnknownAttribute => "with unknown attributes",
        ReasonCode::LoopNotTiled | ReasonCode::TileReach | ReasonCode::NoPieces => "that cannot be cut into tiles",
        ReasonCode::TransferClause | ReasonCode::TransferReach | ReasonCode::TransferPlace => {
            "whose copies cannot run beside kernels"
        }
        ReasonCode::GridDecides => "whose grid may decide a result",
        ReasonCode::UnrollNotAllowed => "that cannot be unrolled",
        ReasonCode::AccumulatorReached => "with sums that more may reach",
        ReasonCode::RowNotShared => "with rows that a team cannot share",
        ReasonCode::NotGrouped => "whose iterations one thread cannot group",
        ReasonCode::NotStaged => "whose loads a team cannot stage",
        ReasonCode::RowsNotTiled => "whose rows one thread cannot take together",
        ReasonCode::TeamsNotCombined => "whose results no atomic updates combine",
        ReasonCode::CombiningDoesNotPay => "whose results stay with the runtime",
        other => other.title(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::RuleKind;

    #[test]
    fn whatever_leaves_regions_alone_has_words_for_them() {
        let leaves_alone = |code: &&ReasonCode| matches!(code.kind(), RuleKind::Refusal | RuleKind::DoesNotPay);
        let without: Vec<&str> = ReasonCode::ALL
            .iter()
            .filter(leaves_alone)
            .filter(|code| group(**code) == code.title())
            .map(|code| code.id())
            .collect();
        assert_eq!(without, [""; 0]);
    }

    #[test]
    fn one_construct_has_a_verb_for_one() {
        let verb = |name: &'static str| name.strip_prefix("that ").and_then(|rest| rest.split(' ').next());
        let verbs = ReasonCode::ALL.iter().filter_map(|code| verb(one(group(*code))));
        let others: BTreeSet<&str> = verbs.filter(|verb| !verb.ends_with('s')).collect();
        assert_eq!(others.into_iter().collect::<Vec<_>>(), ["cannot", "the"]);
    }

    #[test]
    fn words_follow_their_number() {
        assert_eq!([amount(1, "file"), amount(1180, "file")], ["1 file", "1,180 files"]);
    }
}
