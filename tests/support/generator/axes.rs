//! Families that combine things: what stands beside the loops, how data are stored, what the loops are, which clauses there
//! are, and what holds the region. Each line of an axis changes a recipe; the tables below say which are combined.

use super::data::Storage;
use super::families::{Expected, Family};
use super::recipe::{
    Around, Body, Control, Form, Holder, LoopClause, LoopKind, Maps, Recipe, RegionClause, Serial, Sums,
};

/// One line of an axis.
type Choice = (&'static str, fn(&mut Recipe));

/// What stands beside the loops of one team.
const BESIDE: &[Choice] = &[
    ("for", |r| r.control = vec![Control::For]),
    ("flip", |r| r.control = vec![Control::Flip]),
    ("while", |r| r.control = vec![Control::While]),
    ("do", |r| r.control = vec![Control::Do]),
    ("if", |r| r.control = vec![Control::If, Control::Block]),
    ("integers", |r| r.control = vec![Control::Integers]),
    ("break", |r| r.control = vec![Control::Break]),
    ("if on element", |r| r.control = vec![Control::IfElement]),
    ("while on element", |r| r.control = vec![Control::WhileElement]),
    ("until element", |r| r.control = vec![Control::UntilElement]),
    ("until sum", |r| {
        r.control = vec![Control::UntilSum];
        r.sums = Sums::Mapped;
    }),
    ("serial elements", |r| r.serial = vec![Serial::Element, Serial::FloatingElement]),
    ("mapped scalars", |r| r.serial = vec![Serial::MappedScalar]),
    ("locals from elements", |r| r.serial = vec![Serial::LocalFromElement, Serial::LocalFloating]),
    ("local arrays", |r| r.serial = vec![Serial::LocalArray, Serial::FloatingArray]),
    ("lost scalars", |r| r.serial = vec![Serial::LostScalar]),
    ("lost floating-point", |r| r.serial = vec![Serial::LostFloating]),
    ("serial calls", |r| r.serial = vec![Serial::Call]),
    ("serial branches", |r| r.serial = vec![Serial::Branch, Serial::Loop]),
    ("sections", |r| r.serial = vec![Serial::Sections]),
    ("swaps", |r| r.serial = vec![Serial::Swap]),
    ("bare parallel", |r| r.serial = vec![Serial::BareParallel, Serial::BareNowait]),
    ("bare clauses", |r| r.serial = vec![Serial::BarePrivate]),
    ("barrier", |r| r.serial = vec![Serial::BareBarrier]),
    ("all beside", |r| {
        r.control = vec![Control::For, Control::IfElement, Control::UntilElement, Control::While];
        r.serial = vec![
            Serial::Element,
            Serial::LocalFromElement,
            Serial::LocalArray,
            Serial::LostScalar,
            Serial::LostFloating,
            Serial::MappedScalar,
            Serial::Swap,
            Serial::BareParallel,
        ];
    }),
];

/// How data are stored and mapped.
const DATA: &[Choice] = &[
    ("heap", |r| r.maps = Maps::Types),
    ("static", |r| stored(r, &[Storage::Static, Storage::Heap], Maps::Implicit)),
    ("auto", |r| stored(r, &[Storage::Auto], Maps::Implicit)),
    ("variable", |r| stored(r, &[Storage::Vla, Storage::Auto], Maps::Types)),
    ("member", |r| stored(r, &[Storage::Member, Storage::Heap], Maps::Implicit)),
    ("declare target", |r| stored(r, &[Storage::DeviceGlobal, Storage::Heap], Maps::Types)),
    ("offsets", |r| stored(r, &[Storage::OffsetUp, Storage::OffsetDown], Maps::Types)),
    ("aliases", |r| present(r, &[Storage::Alias, Storage::Shifted], Around::Enter)),
    ("two dimensions", |r| stored(r, &[Storage::Grid, Storage::Rows], Maps::Types)),
    ("fields", |r| stored(r, &[Storage::Field, Storage::Heap], Maps::Types)),
    ("target data", |r| present(r, &[Storage::Heap, Storage::Static, Storage::Grid], Around::Data)),
    ("enter data", |r| present(r, &[Storage::Heap, Storage::OffsetUp, Storage::Field], Around::Enter)),
    ("modifiers", |r| {
        present(r, &[Storage::Heap, Storage::Static], Around::Data);
        r.maps = Maps::Types;
        r.modifiers = true;
    }),
];

/// What the loops are.
const LOOPS: &[Choice] = &[
    ("headers", |r| r.headers = 100),
    ("nests", |r| nested(r, 0)),
    ("collapsed", |r| nested(r, 80)),
    ("simd", |r| r.kind = LoopKind::Simd),
    ("loop", |r| r.kind = LoopKind::Loop),
    ("calls", |r| r.bodies = vec![Body::Call, Body::PutCall, Body::Math]),
    ("macros", |r| {
        nested(r, 0);
        r.bodies = vec![Body::Macro, Body::Table];
    }),
    ("rows", |r| r.bodies = vec![Body::InnerLoop, Body::Rows, Body::Branch]),
    ("private", |r| r.bodies = vec![Body::Private, Body::InnerLoop]),
    ("sums", |r| {
        r.sums = match r.form {
            Form::League => Sums::Both,
            Form::Single => Sums::Combined,
            Form::Team | Form::Parallel | Form::Rows => Sums::Mapped,
        }
    }),
    ("lost sums", |r| r.sums = if r.form == Form::Team { Sums::Lost } else { r.sums }),
    ("local sums", |r| r.sums = if r.form == Form::Team { Sums::Local } else { r.sums }),
    ("atomics", |r| r.bodies = vec![Body::Atomic, Body::Histogram, Body::Branch]),
];

/// Which clauses the region and its loops have.
const CLAUSES: &[Choice] = &[
    ("no clause", |_| ()),
    ("if true", |r| r.region_clauses = vec![RegionClause::IfTrue, RegionClause::Firstprivate]),
    ("if false", |r| r.region_clauses = vec![RegionClause::IfFalse]),
    ("if value", |r| r.region_clauses = vec![RegionClause::IfValue]),
    ("device", |r| r.region_clauses = vec![RegionClause::Device, RegionClause::Private]),
    ("device call", |r| r.region_clauses = vec![RegionClause::DeviceCall, RegionClause::SectionCall]),
    ("firstprivate", |r| {
        r.region_clauses = vec![RegionClause::Firstprivate];
        r.loop_clauses = vec![LoopClause::Firstprivate];
    }),
    ("default map of scalars", |r| r.region_clauses = vec![RegionClause::DefaultmapScalar]),
    ("default map of arrays", |r| r.region_clauses = vec![RegionClause::DefaultmapAggregate]),
    ("nowait", |r| r.region_clauses = vec![RegionClause::Nowait]),
    ("depend", |r| r.region_clauses = vec![RegionClause::Depend]),
    ("task", |r| r.region_clauses = vec![RegionClause::Nowait, RegionClause::Depend, RegionClause::IfTrue]),
    ("schedules", |r| r.loop_clauses = vec![LoopClause::Schedule, LoopClause::Concurrent]),
    ("defaults", |r| r.loop_clauses = vec![LoopClause::DefaultNone, LoopClause::DefaultShared]),
    ("proc_bind", |r| r.loop_clauses = vec![LoopClause::ProcBind, LoopClause::DistSchedule, LoopClause::NumThreads]),
];

/// The language, what holds the region, and whether both forms are written.
const HOLDERS: &[Choice] = &[
    ("C", |_| ()),
    ("versions", |r| r.versioned = true),
    ("C", |_| ()),
    ("C++", |r| held(r, Holder::Plain)),
    ("C", |_| ()),
    ("template", |r| held(r, Holder::Template)),
    ("C", |_| ()),
    ("namespace", |r| held(r, Holder::Namespace)),
    ("C", |_| ()),
    ("versions", |r| r.versioned = true),
    ("member function", |r| held(r, Holder::Member)),
];

fn stored(recipe: &mut Recipe, storages: &[Storage], maps: Maps) {
    recipe.storages = storages.to_vec();
    recipe.maps = maps;
}

fn present(recipe: &mut Recipe, storages: &[Storage], around: Around) {
    stored(recipe, storages, Maps::Implicit);
    recipe.around = around;
}

fn nested(recipe: &mut Recipe, collapse: usize) {
    recipe.nests = 90;
    recipe.collapse = collapse;
}

fn held(recipe: &mut Recipe, holder: Holder) {
    recipe.cpp = true;
    recipe.holder = holder;
    recipe.bodies.push(Body::Auto);
}

/// What is refused of a combination, and for which reasons: the names of its choices.
const PLANNED: &[(&[&str], &[&str])] = &[
    (&["local arrays", "default map of arrays"], &["OMPS112"]),
    (&["all beside", "default map of arrays"], &["OMPS112"]),
];

/// What is refused for some programs of a combination only: another choice stands for it there.
const REPLACED: &[(&[&str], &str, Choice)] = &[
    // A league of its own gains too little to wait for.
    (&["league"], "nowait", ("device", |r| r.region_clauses = vec![RegionClause::Device])),
    // The function may get a part of an array that no clause maps.
    (&["target data"], "calls", ("private", |r| r.bodies = vec![Body::Private, Body::Call, Body::InnerLoop])),
    // A task cannot keep what the region reads through `this`.
    (&["member function"], "nowait", ("no clause", |_| ())),
    (&["member function"], "depend", ("no clause", |_| ())),
    (&["member function"], "task", ("no clause", |_| ())),
    // Calls of member functions are not followed, so that a pointer handed to one counts as one whose address is taken.
    (&["enter data"], "member function", ("C++", |r| held(r, Holder::Plain))),
    (&["target data"], "member function", ("C++", |r| held(r, Holder::Plain))),
    (&["aliases"], "member function", ("C++", |r| held(r, Holder::Plain))),
    // clang 19 does not map a member of `*this` that only the subscript before a `.` names: `a[i % m].value`.
    (&["fields"], "member function", ("C++", |r| held(r, Holder::Plain))),
];

/// Every combination that is tried, mixed so that few programs show every choice.
pub fn families() -> Vec<Family> {
    let mut families = Vec::new();
    // Of one team each second pair of the two long axes; the other axes take turns.
    for (place, beside) in BESIDE.iter().enumerate() {
        for (index, data) in DATA.iter().enumerate().filter(|(index, _)| (place + index).is_multiple_of(2)) {
            let turn = place * DATA.len() + index;
            let rest = [&LOOPS[turn / 2 % LOOPS.len()], &CLAUSES[turn % CLAUSES.len()], &HOLDERS[turn % HOLDERS.len()]];
            families.push(family("team", Form::Team, &[&[beside, data], &rest[..]].concat()));
        }
    }
    for (form, name, stride) in
        [(Form::League, "league", 3), (Form::Single, "single", 4), (Form::Parallel, "parallel", 5)]
    {
        for (place, kind) in LOOPS.iter().enumerate() {
            for (index, data) in DATA.iter().enumerate().filter(|(index, _)| (place + index).is_multiple_of(stride)) {
                let turn = place * DATA.len() + index;
                let rest = [&CLAUSES[turn % CLAUSES.len()], &HOLDERS[turn % HOLDERS.len()]];
                families.push(family(name, form, &[&[kind, data], &rest[..]].concat()));
            }
        }
    }
    mixed(families)
}

fn family(name: &'static str, form: Form, choices: &[&Choice]) -> Family {
    let names: Vec<&str> = [name].into_iter().chain(choices.iter().map(|(name, _)| *name)).collect();
    let replaced = |choice: &&Choice| {
        let found =
            REPLACED.iter().find(|(with, old, _)| *old == choice.0 && with.iter().all(|name| names.contains(name)));
        found.map_or(**choice, |(.., new)| *new)
    };
    let choices: Vec<Choice> = choices.iter().map(|choice| replaced(choice)).collect();
    let mut recipe = Recipe::new(form);
    choices.iter().for_each(|(_, change)| change(&mut recipe));
    let traits: Vec<&str> = [name].into_iter().chain(choices.iter().map(|(name, _)| *name)).collect();
    let planned = PLANNED.iter().find(|(names, _)| names.iter().all(|name| traits.contains(name)));
    let expected = planned.map_or(Expected::Changed, |(_, ids)| Expected::Planned(ids));
    Family { name: traits.join(" + "), expected, recipe, traits }
}

/// The same families in steps of a length that shares no divisor with their number.
fn mixed(families: Vec<Family>) -> Vec<Family> {
    let count = families.len();
    let divides = |step: usize| (2..=step).any(|d| step.is_multiple_of(d) && count.is_multiple_of(d));
    let step = (count * 5 / 13..).find(|step| !divides(*step)).unwrap_or(1);
    let mut slots: Vec<Option<Family>> = families.into_iter().map(Some).collect();
    (0..count).filter_map(|place| slots[place * step % count].take()).collect()
}
