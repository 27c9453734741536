//! What the engine is told of kernels: it is written where it is legal, refused where it is not, and kept once it is there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use ompsplit::device::DeviceProfile;
use ompsplit::engine::{self, Options, Outcome};
use ompsplit::plan::instructions::{Grid, Group, Instruction, Instructions, LoopHash, Teams};
use ompsplit::plan::{Decision, Pass, ReasonCode};
use ompsplit::source::SourceFile;
use ompsplit::tune::choices::{Choice, Form, Plan};
use ompsplit::tune::space::{Source, Space};

/// A product of matrices, with the clauses of its directive to be filled in.
fn product(clauses: &str) -> SourceFile {
    let text = format!(
        "void f(int n, const float *a, const float *b, float *c) {{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n], b[0:n*n]) map(from: c[0:n*n]){clauses}
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {{
      float sum = 0;
      for (int k = 0; k < n; k++)
        sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }}
}}
"
    );
    SourceFile::new("f.c", text.into_bytes())
}

fn hash(file: &SourceFile) -> LoopHash {
    engine::kernels(file, &[], &Options::default(), &[]).unwrap()[0].hash.clone()
}

fn told(file: &SourceFile, pass: Pass, instruction: Instruction) -> Outcome {
    let told = [(hash(file), instruction)].into();
    let instructions = Arc::new(Instructions { told, ..Instructions::default() });
    engine::run(file, &[], &Options { passes: vec![pass].into(), instructions, ..Options::default() }).unwrap()
}

fn grid(threads: u32, teams: Teams) -> Instruction {
    Instruction { grid: Some(Grid { threads, teams }), ..Instruction::default() }
}

fn text(outcome: &Outcome) -> String {
    String::from_utf8(outcome.text.clone().unwrap_or_default()).unwrap()
}

#[test]
fn a_grid_that_is_told_is_written() {
    let file = product("");
    let limit = text(&told(&file, Pass::Geometry, grid(64, Teams::Runtime)));
    assert!(limit.contains("thread_limit(64)") && !limit.contains("num_teams"), "{limit}");
    let both = text(&told(&file, Pass::Geometry, grid(256, Teams::AtMost(132))));
    assert!(both.contains("num_teams(") && both.contains("thread_limit(256)"), "{both}");
    assert!(both.contains(": 132)"), "as many as the iterations need, and at most so many: {both}");
    // A second run with the same words has nothing to add; its loop is known by the same hash, whatever its clauses say.
    let again = SourceFile::new("f.c", both.clone().into_bytes());
    assert_eq!(hash(&again), hash(&file));
    let outcome = told(&again, Pass::Geometry, grid(256, Teams::AtMost(132)));
    assert_eq!(outcome.text, None, "{}", text(&outcome));
}

#[test]
fn a_written_grid_gives_way_where_it_may() {
    let outcome = told(&product(" num_teams(7) thread_limit(32)"), Pass::Geometry, grid(128, Teams::Runtime));
    let new = text(&outcome);
    assert!(new.contains("thread_limit(128)") && !new.contains("num_teams(7)"), "{new}");
    // One thread takes iterations in order that are not proved to be independent.
    let file = SourceFile::new(
        "f.c",
        b"void f(int n, int *a, const int *b) {
#pragma omp target teams distribute parallel for thread_limit(1) map(tofrom: a[0:n]) map(to: b[0:n])
  for (int i = 0; i < n; i++)
    a[b[i]] = a[b[i]] + i;
}
"
        .to_vec(),
    );
    let outcome = told(&file, Pass::Geometry, grid(128, Teams::Runtime));
    assert_eq!(outcome.text, None, "{}", text(&outcome));
    assert!(outcome.plans.iter().any(|plan| plan.decision == Decision::Refuse));
}

#[test]
fn a_loop_that_asks_for_its_team_keeps_it() {
    let text = "int omp_get_team_num(void);
void f(int n, int *a) {
#pragma omp target teams distribute parallel for map(tofrom: a[0:n])
  for (int i = 0; i < n; i++)
    a[i] = omp_get_team_num();
}
";
    let outcome = told(&SourceFile::new("f.c", text.into()), Pass::Geometry, grid(64, Teams::Runtime));
    assert_eq!(outcome.text, None);
}

#[test]
fn groups_that_are_told_are_written() {
    let file = product("");
    let group = |loop_index, factor| {
        let group = Some(Group::of(loop_index, factor));
        Instruction { group, ..Instruction::default() }
    };
    for (index, name) in [(0, "i"), (1, "j")] {
        let new = text(&told(&file, Pass::Coarsen, group(Some(index), 8)));
        assert!(new.contains("+= 8") && new.contains(&format!("const int {name} = first + offset;")), "{new}");
    }
    // A device would not be asked for more than four, without one not for any.
    assert!(text(&told(&file, Pass::Coarsen, group(None, 2))).contains("+= 2"));
    assert_eq!(told(&file, Pass::Coarsen, group(None, 1)).text, None);
    for wrong in [group(Some(2), 4), group(None, 3), group(None, 1 << 20)] {
        assert_eq!(told(&file, Pass::Coarsen, wrong).text, None, "{wrong:?}");
    }
}

#[test]
fn a_kernel_that_was_tuned_stays_as_it_is() {
    let file = product("");
    let kept = [(hash(&file), "tuned on NVIDIA H200".to_owned())].into();
    let instructions = Arc::new(Instructions { kept, ..Instructions::default() });
    let device = DeviceProfile::named("h200");
    let passes = Pass::ALL.to_vec().into();
    let free = Options { passes, device, retune: true, ..Options::default() };
    assert!(engine::run(&file, &[], &free).unwrap().text.is_some());
    let outcome = engine::run(&file, &[], &Options { instructions, ..free }).unwrap();
    assert_eq!(outcome.text, None, "{}", text(&outcome));
    assert!(outcome.plans.iter().all(|plan| plan.decision != Decision::Refuse), "{:#?}", outcome.plans);
    let reasons: Vec<_> = outcome.plans.iter().flat_map(|plan| &plan.reasons).map(|reason| reason.code).collect();
    assert!(reasons.contains(&ReasonCode::Tuned) && !reasons.contains(&ReasonCode::GridFarOff), "{reasons:?}");
}

#[test]
fn every_candidate_of_a_space_can_be_written() {
    let file = product("");
    let options = Options { device: DeviceProfile::named("h200"), ..Options::default() };
    let source = Source { file: &file, headers: &[], options: &options };
    let space = Space::read(source).unwrap();
    let [kernel] = &space.kernels[..] else { panic!("{:?}", space.kernels) };
    let choices: Vec<Choice> = kernel.candidates.iter().map(|candidate| candidate.choice).collect();
    let forms = |factor| {
        let is_it = |choice: &&Choice| matches!(choice, Choice::Told { form: Form::Groups(group), .. } if group.factor == factor);
        choices.iter().filter(is_it).count()
    };
    assert!(forms(2) > 10 && forms(8) > 10 && choices.len() > 100, "{}", choices.len());
    let predicted: Vec<f64> = kernel.candidates.iter().filter_map(|candidate| candidate.predicted).collect();
    assert_eq!(predicted.len(), choices.len());
    assert!(predicted.windows(2).all(|two| two[0] <= 1.02 * two[1]), "{predicted:?}");
    for choice in choices.iter().step_by(17) {
        let written = space.text(source, &Plan::Chosen(vec![*choice])).unwrap();
        assert!(!written.is_assumed);
        let text = String::from_utf8(written.text).unwrap();
        let Choice::Told { form, grid } = choice else { panic!("{choice:?}") };
        assert_eq!(grid.is_some(), text.contains("thread_limit"), "{choice}:\n{text}");
        assert_eq!(matches!(form, Form::Groups(_)), text.contains("first +="), "{choice}:\n{text}");
    }
    // What the passes make, and the file itself.
    let passes = space.text(source, &Plan::passes(1)).unwrap();
    assert_eq!(Some(passes.text), engine::run(&file, &[], &options).unwrap().text);
    assert_eq!(space.text(source, &Plan::Original).unwrap().text, file.text);
}
