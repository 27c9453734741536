//! Every fixture's plans, diff and diagnostics, held against its snapshot; its first line says what is expected.
//!
//! `INSTA_UPDATE=always cargo test --test fixtures` accepts what the tool does now; read the diff before you commit it.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ompsplit::engine::{self, Outcome};
use ompsplit::output::diff;
use ompsplit::plan::{Applicability, Decision, Plan, ReasonCode, RuleKind};
use ompsplit::source::SourceFile;

mod support;

use support::rewrite;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The fixtures of every transformation, as paths below `fixtures/`.
fn fixtures() -> Vec<PathBuf> {
    let base = root().join("fixtures");
    let mut found = Vec::new();
    for folder in std::fs::read_dir(&base).expect("fixtures/").map(|entry| entry.expect("an entry").path()) {
        if !folder.is_dir() {
            continue;
        }
        for file in
            std::fs::read_dir(folder).expect("a folder of fixtures").map(|entry| entry.expect("an entry").path())
        {
            if matches!(file.extension().and_then(|e| e.to_str()), Some("c" | "cpp")) {
                found.push(file.strip_prefix(&base).expect("below fixtures/").to_owned());
            }
        }
    }
    found.sort();
    found
}

fn read(fixture: &Path) -> SourceFile {
    let text = std::fs::read(root().join("fixtures").join(fixture)).expect("a readable fixture");
    SourceFile::new(fixture, text)
}

fn run(fixture: &Path, file: &SourceFile, assume: bool) -> Outcome {
    let options = rewrite::options(fixture, &file.text, assume);
    engine::run(file, &rewrite::headers(fixture), &options).expect("a readable fixture")
}

/// What a fixture's first line calls a plan: the pass where its edits are safe.
fn decision_word(plan: &Plan) -> &'static str {
    match plan.decision {
        Decision::Apply(Applicability::Safe) => plan.pass.name(),
        Decision::Apply(_) => "assumed",
        Decision::NothingToDo => "nothing to do",
        Decision::DoesNotPay => "does not pay",
        Decision::Refuse => "refuse",
    }
}

/// What a user sees of a file: each plan with its reasons, then the diff.
fn shown(file: &SourceFile, plans: &[Plan], text: Option<&[u8]>) -> String {
    let mut out = String::new();
    let place = |offset: usize| {
        let at = file.lines.line_column(offset);
        format!("{}:{}", at.line, at.column)
    };
    for plan in plans {
        let word = decision_word(plan);
        let (before, after) = plan.kernels;
        writeln!(out, "{} {}: {word}, kernels {before} -> {after} {}", place(plan.span.start), plan.pass, plan.summary)
            .expect("a string takes it");
        for reason in &plan.reasons {
            writeln!(out, "  {} {} {}", reason.code.id(), place(reason.span.start), reason.message).expect("likewise");
            for (span, label) in &reason.labels {
                writeln!(out, "    {} {label}", place(span.start)).expect("likewise");
            }
        }
    }
    if let Some(text) = text {
        let diff = diff::unified(&file.path, &file.text, text, false);
        writeln!(out, "\n{}", String::from_utf8_lossy(&diff)).expect("likewise");
    }
    out
}

#[test]
fn snapshots() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let mut failed = Vec::new();
    for fixture in fixtures() {
        let file = read(&fixture);
        let outcome = run(&fixture, &file, true);
        let shown = shown(&file, &outcome.plans, outcome.text.as_deref());
        let folder = root().join("snapshots").join(fixture.parent().expect("a folder"));
        settings.set_snapshot_path(folder);
        let name = fixture.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let check = || settings.bind(|| insta::assert_snapshot!(name, shown));
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).is_err() {
            failed.push(fixture);
        }
    }
    assert!(failed.is_empty(), "these differ from their snapshots: {failed:?}");
}

#[test]
fn first_lines_tell_the_decision() {
    let mut wrong = Vec::new();
    for fixture in fixtures() {
        let file = read(&fixture);
        let outcome = run(&fixture, &file, false);
        let text = String::from_utf8_lossy(&file.text);
        let first = text.lines().next().unwrap_or_default();
        let expected =
            first.trim_start_matches('\u{feff}').trim_start_matches("//").split(':').next().unwrap_or_default();
        let decisions: BTreeSet<&str> = outcome.plans.iter().map(decision_word).collect();
        if !decisions.contains(expected.trim()) {
            let reasons: Vec<_> = engine::refusals(&outcome.plans).map(|r| (r.code.id(), r.message.clone())).collect();
            wrong.push(format!("{}: expected {expected:?}, got {decisions:?} {reasons:?}", fixture.display()));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_rule_is_cited_by_a_fixture() {
    let mut cited = BTreeSet::new();
    for fixture in fixtures() {
        let file = read(&fixture);
        let outcome = run(&fixture, &file, false);
        cited.extend(outcome.plans.iter().flat_map(|plan| &plan.reasons).map(|reason| reason.code));
    }
    // Errors and unused suppressions are no plans; `tests/cli` shows them. `tests/facts.rs` asks a compiler for facts, `tests/instructions.rs`
    // has kernels that were tuned.
    let others = [ReasonCode::UnusedSuppression, ReasonCode::FactsDisagree, ReasonCode::Tuned];
    let elsewhere = |code: &ReasonCode| code.kind() == RuleKind::Error || others.contains(code);
    let missing: Vec<&str> =
        ReasonCode::ALL.iter().filter(|code| !elsewhere(code) && !cited.contains(code)).map(|code| code.id()).collect();
    assert!(missing.is_empty(), "no fixture cites {missing:?}");
}
