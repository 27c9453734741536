//! Spot checks against the specification (OpenMP 5.2).

use super::*;
use ClauseId as C;
use Leaf as L;

fn spec(name: &str) -> &'static DirectiveSpec {
    DirectiveSpec::of_name(name).unwrap_or_else(|| panic!("`{name}` is not in the table"))
}

#[test]
fn tables_are_sorted_so_that_names_are_found() {
    assert!(DIRECTIVES.is_sorted_by(|a, b| a.name < b.name));
    let known = &CLAUSES[..CLAUSES.len() - 1];
    assert!(known.is_sorted_by(|a, b| a.name < b.name));
    for (index, row) in CLAUSES.iter().enumerate() {
        assert_eq!(row.id as usize, index, "{}", row.name);
        assert_eq!(ClauseId::of_name(row.name), row.id);
    }
    assert_eq!(CLAUSES.last().map(|row| row.id), Some(C::Unknown));
    assert_eq!(ClauseId::of_name("mop"), C::Unknown);
}

#[test]
fn every_directive_of_5_2_has_a_row() {
    let names = "allocate; allocators; assume; assumes; atomic; barrier; begin assumes; begin declare target; \
        begin declare variant; begin metadirective; cancel; cancellation point; critical; declare mapper; \
        declare reduction; declare simd; declare target; declare variant; depobj; dispatch; distribute; \
        distribute parallel for; distribute parallel for simd; distribute simd; end assumes; end declare target; \
        end declare variant; end metadirective; error; flush; for; for simd; interop; loop; masked; masked taskloop; \
        masked taskloop simd; master; master taskloop; master taskloop simd; metadirective; nothing; ordered; parallel; \
        parallel for; parallel for simd; parallel loop; parallel masked; parallel masked taskloop; \
        parallel masked taskloop simd; parallel master; parallel master taskloop; parallel master taskloop simd; \
        parallel sections; requires; scan; scope; section; sections; simd; single; target; target data; \
        target enter data; target exit data; target parallel; target parallel for; target parallel for simd; \
        target parallel loop; target simd; target teams; target teams distribute; \
        target teams distribute parallel for; target teams distribute parallel for simd; \
        target teams distribute simd; target teams loop; target update; task; taskgroup; taskloop; taskloop simd; \
        taskwait; taskyield; teams; teams distribute; teams distribute parallel for; \
        teams distribute parallel for simd; teams distribute simd; teams loop; threadprivate; tile; unroll";
    names.split("; ").for_each(|name| assert_eq!(spec(name).name, name));
}

#[test]
fn a_name_says_its_leaves_and_the_leaves_their_name() {
    for row in DIRECTIVES.iter().filter(|row| !row.has_leaf(L::Other)) {
        let joined: Vec<&str> = row.leaves.iter().map(|leaf| leaf.name()).collect();
        assert_eq!(joined.join(" "), row.name);
        assert_eq!(combine(row.leaves), Some(row));
        assert_eq!(decompose(row.name), Some(row.leaves));
    }
    assert_eq!(decompose("target data"), Some([L::Other].as_slice()));
    assert_eq!(combine(&[L::Teams, L::Target]), None);
    assert_eq!(combine(&[L::Other]), None);
}

#[test]
fn a_combined_directive_takes_no_clause_that_no_leaf_takes() {
    for row in DIRECTIVES.iter().filter(|row| row.is_combined() && !row.has_leaf(L::Other)) {
        // clang's `ompx_bare` belongs to `target teams` as a whole.
        for clause in row.clauses.iter().filter(|clause| *clause != C::OmpxBare) {
            assert!(!landing(clause, None, row.leaves).is_empty(), "{} on {}", clause.name(), row.name);
        }
    }
}

#[test]
fn clauses_stand_where_the_specification_permits_them() {
    let takes = |name: &str, clause: C| spec(name).clauses.contains(&clause);
    assert!(takes("target", C::Nowait) && takes("target parallel for", C::Nowait) && takes("for", C::Nowait));
    assert!(!takes("parallel for", C::Nowait) && !takes("teams distribute parallel for", C::Nowait));
    assert!(takes("parallel for", C::Copyin) && !takes("target parallel for", C::Copyin));
    assert!(takes("for", C::Ordered) && !takes("distribute parallel for", C::Ordered));
    assert!(takes("distribute simd", C::Linear) && !takes("distribute parallel for", C::Linear));
    assert!(takes("target", C::ThreadLimit) && takes("target teams", C::NumTeams) && !takes("target", C::NumTeams));
    assert!(takes("target data", C::UseDeviceAddr) && !takes("target", C::UseDeviceAddr));
    assert!(!takes("loop", C::Firstprivate) && !takes("simd", C::Firstprivate));
    assert!(takes("taskloop", C::InReduction) && !takes("parallel masked taskloop", C::InReduction));
    assert!(!takes("teams", C::OmpxBare) && takes("target teams", C::OmpxBare));
}

#[test]
fn a_directive_stands_before_what_the_specification_says() {
    let cases = [
        ("barrier", Association::None),
        ("target update", Association::None),
        ("target data", Association::Block),
        ("parallel sections", Association::Block),
        ("target teams", Association::Block),
        ("target teams loop", Association::Loop),
        ("tile", Association::Loop),
        ("section", Association::Separator),
        ("scan", Association::Separator),
        ("declare simd", Association::Declaration),
        ("begin declare target", Association::Delimited),
        ("threadprivate", Association::None),
    ];
    for (name, association) in cases {
        assert_eq!(spec(name).association, association, "{name}");
    }
}

/// The words of the second string are the leaves of the first on which the clause lands.
fn lands(clause: C, name: &str, expected: &str) {
    let found: Vec<&str> = landing(clause, None, spec(name).leaves).iter().map(|leaf| leaf.name()).collect();
    assert_eq!(found.join(" "), expected, "{} on {name}", clause.name());
}

const FULL: &str = "target teams distribute parallel for simd";

#[test]
fn clauses_land_as_section_17_2_says() {
    lands(C::Map, FULL, "target");
    lands(C::Private, FULL, "simd");
    lands(C::Private, "target teams", "teams");
    lands(C::Firstprivate, FULL, "target distribute for");
    lands(C::Firstprivate, "target teams", "target teams");
    lands(C::Firstprivate, "target parallel", "target parallel");
    lands(C::Firstprivate, "parallel loop", "parallel");
    lands(C::Firstprivate, "parallel sections", "sections");
    lands(C::Firstprivate, "parallel masked taskloop", "taskloop");
    lands(C::Lastprivate, FULL, "distribute for simd");
    lands(C::Reduction, FULL, "teams for simd");
    lands(C::Reduction, "target parallel", "parallel");
    lands(C::Reduction, "target teams loop", "loop");
    lands(C::Reduction, "parallel loop", "loop");
    lands(C::Reduction, "parallel masked", "parallel");
    lands(C::Reduction, "target teams distribute", "teams");
    lands(C::Shared, FULL, "teams parallel");
    lands(C::Default, FULL, "teams parallel");
    lands(C::ThreadLimit, FULL, "target teams");
    lands(C::NumTeams, FULL, "teams");
    lands(C::Order, FULL, "distribute for simd");
    lands(C::Collapse, FULL, "distribute for simd");
    lands(C::Schedule, FULL, "for");
    lands(C::DistSchedule, FULL, "distribute");
    lands(C::Linear, FULL, "simd");
    lands(C::Linear, "parallel for", "for");
    lands(C::Nowait, "target parallel for", "target");
    lands(C::Nowait, "for simd", "for");
    lands(C::If, FULL, "target teams parallel simd");
    lands(C::Safelen, FULL, "simd");
    lands(C::Bind, "target teams loop", "loop");
    lands(C::InReduction, "target parallel", "target");
    lands(C::Filter, "parallel masked", "masked");
    lands(C::Schedule, "target teams", "");
}

#[test]
fn a_directive_name_modifier_names_the_leaf() {
    let leaves = spec(FULL).leaves;
    assert_eq!(landing(C::If, Some(&[L::Parallel]), leaves), [L::Parallel]);
    assert_eq!(landing(C::If, Some(&[L::Distribute]), leaves), []);
}

#[test]
fn items_are_shared_where_the_effect_lies_elsewhere() {
    assert_eq!(shared_on(C::Reduction, spec(FULL).leaves), [L::Parallel]);
    assert_eq!(shared_on(C::Firstprivate, spec(FULL).leaves), [L::Teams, L::Parallel]);
    assert_eq!(shared_on(C::Lastprivate, spec("parallel for").leaves), [L::Parallel]);
    assert_eq!(shared_on(C::Private, spec(FULL).leaves), []);
    assert_eq!(shared_on(C::Reduction, spec("target teams loop").leaves), [L::Teams]);
}

#[test]
fn what_excludes_each_other_depends_on_the_leaves() {
    let excluded = |one, other, name: &str| exclusion(one, other, spec(name).leaves).is_some();
    assert!(excluded(C::Firstprivate, C::Reduction, "parallel"));
    assert!(excluded(C::Reduction, C::Firstprivate, "target teams distribute parallel for"));
    assert!(excluded(C::Firstprivate, C::Lastprivate, "distribute"));
    assert!(excluded(C::Firstprivate, C::Lastprivate, "target teams distribute parallel for"));
    assert!(!excluded(C::Firstprivate, C::Lastprivate, "parallel for"));
    assert!(excluded(C::Map, C::Firstprivate, "target"));
    assert!(!excluded(C::Map, C::Firstprivate, "target parallel"));
    assert!(!excluded(C::Map, C::Private, "target parallel"));
    assert!(excluded(C::Map, C::IsDevicePtr, "target"));
    assert!(excluded(C::Grainsize, C::NumTasks, "taskloop"));
    assert!(!excluded(C::Map, C::Map, "target"));
    assert!(EXCLUSIONS.iter().all(|row| row.one != row.other && !row.section.is_empty()));
}
