//! The families of generated programs, and what the tool is expected to make of each. Change a row when the tool learns
//! what it refused before.

use std::sync::LazyLock;

use super::axes;
use super::data::Storage;
use super::recipe::{
    Around, Body, Control, Forbidden, Form, LoopClause, LoopKind, Maps, Recipe, RegionClause, Serial, Sums, Tiles,
};

/// What the tool makes of the programs of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// At least 60 % are changed.
    Changed,
    /// Not handled yet: refused for one of these reasons. Once 60 % are changed the row must become [`Self::Changed`].
    Planned(&'static [&'static str]),
    /// Refused for one of these reasons, always: no other result is right.
    Refused(&'static [&'static str]),
}

/// A family.
#[derive(Clone, Debug)]
pub struct Family {
    pub name: String,
    pub expected: Expected,
    /// What its programs are made of.
    pub recipe: Recipe,
    /// What the families of a combination share, by which few programs of each are judged together; nothing for a row of
    /// the first table.
    pub traits: Vec<&'static str>,
}

/// A row of the table of families that show one thing each.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    name: &'static str,
    expected: Expected,
    recipe: fn() -> Recipe,
}

/// Every family: those of the table here, then the combinations of `axes`.
pub static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let family = |row: &Row| Family {
        name: row.name.to_owned(),
        expected: row.expected,
        recipe: (row.recipe)(),
        traits: Vec::new(),
    };
    BASIC.iter().map(family).chain(axes::families()).collect()
});

/// The families of programs whose loops `pipeline` cuts into tiles.
pub static PIPELINES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let family = |(name, tiles, cpp): (&'static str, Tiles, bool)| {
        // Many arrays of data constructs only come back, so that it does not pay to lock them.
        let often_pays = !tiles.block || !(tiles.rows || tiles.sums || tiles.ranges);
        let registered = often_pays.then_some((", registered", Tiles { registered: true, ..tiles }));
        [Some(("", tiles)), registered].into_iter().flatten().map(move |(how, tiles)| {
            let recipe = Recipe { tiles: Some(tiles), cpp, ..Recipe::new(Single) };
            Family { name: format!("tiles, {name}{how}"), expected: Changed, recipe, traits: Vec::new() }
        })
    };
    pipelines().into_iter().flat_map(family).collect()
});

fn pipelines() -> Vec<(&'static str, Tiles, bool)> {
    let none = Tiles::default();
    let (both, window) = (Tiles { behind: true, ahead: true, ..none }, Tiles { window: Some(2), ..none });
    let block = Tiles { block: true, ..none };
    vec![
        ("elements", none, false),
        ("elements, clauses", Tiles { clauses: true, ..none }, false),
        ("remainders", Tiles { ranges: true, ..none }, false),
        ("rows", Tiles { rows: true, ..none }, false),
        ("lower halos", Tiles { behind: true, ..none }, false),
        ("upper halos", Tiles { ahead: true, ..none }, false),
        ("halos", both, false),
        ("halos of rows", Tiles { rows: true, ..both }, false),
        ("halos, remainders", Tiles { ranges: true, ..both }, false),
        ("reductions", Tiles { sums: true, ..none }, false),
        ("reductions of rows", Tiles { sums: true, rows: true, ..none }, false),
        ("reductions, halos", Tiles { sums: true, ..both }, false),
        ("present", Tiles { present: true, ..none }, false),
        ("present, halos", Tiles { present: true, ..both }, false),
        ("data construct", block, false),
        ("data construct, rows", Tiles { rows: true, ..block }, false),
        ("data construct, halos", Tiles { behind: true, ahead: true, ..block }, false),
        ("data construct, reductions", Tiles { sums: true, ..block }, false),
        ("data construct, remainders", Tiles { ranges: true, present: true, ..block }, false),
        ("window", window, false),
        ("window of rows", Tiles { rows: true, window: Some(3), ..none }, false),
        ("window, reductions", Tiles { sums: true, ..window }, false),
        ("window, present", Tiles { present: true, window: Some(5), ..none }, false),
        ("window, remainders", Tiles { ranges: true, clauses: true, ..window }, false),
        ("c++", Tiles { rows: true, clauses: true, ..none }, true),
        ("c++, halos", Tiles { sums: true, clauses: true, ..both }, true),
    ]
}

use Expected::{Changed, Refused};
use Form::{League, Rows, Single, Team};

const fn row(name: &'static str, expected: Expected, recipe: fn() -> Recipe) -> Row {
    Row { name, expected, recipe }
}

/// Families that show one thing each.
pub const BASIC: &[Row] = &[
    row("team", Changed, || Recipe::new(Team)),
    row("team, loop forms", Changed, || Recipe { headers: 100, ..Recipe::new(Team) }),
    row("team, nests", Changed, || Recipe { nests: 90, collapse: 60, ..Recipe::new(Team) }),
    row("team, simd", Changed, || Recipe { kind: LoopKind::Simd, ..Recipe::new(Team) }),
    row("team, loop", Changed, || Recipe { kind: LoopKind::Loop, ..Recipe::new(Team) }),
    row("team, serial loops", Changed, || Recipe {
        kind: LoopKind::Serial,
        headers: 50,
        nests: 40,
        ..Recipe::new(Team)
    }),
    row("single, serial loop", Changed, || Recipe {
        kind: LoopKind::Serial,
        headers: 50,
        nests: 40,
        ..Recipe::new(Single)
    }),
    row("single", Changed, || Recipe { headers: 50, nests: 40, ..Recipe::new(Single) }),
    row("single, reduction", Changed, || Recipe { sums: Sums::Combined, ..Recipe::new(Single) }),
    row("single, clauses", Changed, || Recipe { region_clauses: SINGLE_CLAUSES.to_vec(), ..Recipe::new(Single) }),
    row("league", Changed, || Recipe::new(League)),
    row("league, loop forms", Changed, || Recipe { headers: 100, nests: 50, ..Recipe::new(League) }),
    row("league, simd", Changed, || Recipe { kind: LoopKind::Simd, ..Recipe::new(League) }),
    row("league, loop", Changed, || Recipe { kind: LoopKind::Loop, ..Recipe::new(League) }),
    row("league, reduction", Changed, || Recipe { sums: Sums::Both, ..Recipe::new(League) }),
    row("league, clauses", Changed, || Recipe {
        region_clauses: vec![RegionClause::NumTeams, RegionClause::ThreadLimit, RegionClause::Firstprivate],
        loop_clauses: vec![LoopClause::NumThreads, LoopClause::DistSchedule, LoopClause::Schedule],
        ..Recipe::new(League)
    }),
    row("reduction", Changed, || Recipe { sums: Sums::Mapped, ..Recipe::new(Team) }),
    row("control, for", Changed, || Recipe { control: vec![Control::For, Control::Flip], ..Recipe::new(Team) }),
    row("control, while", Changed, || Recipe { control: vec![Control::While, Control::Do], ..Recipe::new(Team) }),
    row("control, if", Changed, || Recipe { control: vec![Control::If, Control::Block], ..Recipe::new(Team) }),
    row("control, all", Changed, || Recipe { control: CONTROL.to_vec(), ..Recipe::new(Team) }),
    row("control, reduction", Changed, || Recipe {
        control: CONTROL.to_vec(),
        sums: Sums::Mapped,
        ..Recipe::new(Team)
    }),
    row("local reduction", Changed, || Recipe {
        sums: Sums::Local,
        control: vec![Control::For, Control::If],
        ..Recipe::new(Team)
    }),
    row("calls", Changed, || Recipe { bodies: vec![Body::Call, Body::PutCall, Body::Math], ..Recipe::new(Team) }),
    row("macros", Changed, || Recipe { bodies: vec![Body::Macro, Body::Table], ..Recipe::new(Team) }),
    row("inner loops", Changed, || Recipe {
        bodies: vec![Body::InnerLoop, Body::Rows, Body::Branch],
        ..Recipe::new(Team)
    }),
    row("atomics", Changed, || Recipe {
        bodies: vec![Body::Atomic, Body::Histogram],
        sums: Sums::Mapped,
        ..Recipe::new(Team)
    }),
    row("static arrays", Changed, || storages(&[Storage::Static, Storage::Auto], Maps::Implicit)),
    row("variable arrays", Changed, || storages(&[Storage::Vla, Storage::Heap], Maps::Implicit)),
    row("structures", Changed, || storages(&[Storage::Member, Storage::Heap], Maps::Implicit)),
    row("declare target", Changed, || storages(&[Storage::DeviceGlobal, Storage::Heap], Maps::Plain)),
    row("pointer offsets", Changed, || storages(&[Storage::OffsetUp, Storage::OffsetDown], Maps::Types)),
    row("aliases", Changed, || Recipe { around: Around::Enter, ..storages(&[Storage::Alias], Maps::Plain) }),
    row("map types", Changed, || storages(&[Storage::Heap, Storage::Static, Storage::Auto], Maps::Types)),
    row("map modifiers", Changed, || Recipe {
        modifiers: true,
        around: Around::Data,
        maps: Maps::Types,
        ..Recipe::new(Team)
    }),
    row("enclosing data", Changed, || Recipe { around: Around::Data, maps: Maps::Implicit, ..Recipe::new(Team) }),
    row("enter data, league", Changed, || Recipe { around: Around::Enter, maps: Maps::Types, ..Recipe::new(League) }),
    row("region clauses", Changed, || Recipe { region_clauses: REGION_CLAUSES.to_vec(), ..Recipe::new(Team) }),
    row("host fallback", Changed, || Recipe {
        region_clauses: vec![RegionClause::IfFalse],
        maps: Maps::Types,
        control: vec![Control::For],
        ..Recipe::new(Team)
    }),
    row("side effects", Changed, || Recipe {
        region_clauses: vec![RegionClause::DeviceCall, RegionClause::SectionCall],
        ..Recipe::new(Team)
    }),
    row("loop clauses", Changed, || Recipe {
        loop_clauses: LOOP_CLAUSES.to_vec(),
        bodies: vec![Body::Private, Body::InnerLoop],
        ..Recipe::new(Team)
    }),
    row("defaultmap", Changed, || Recipe {
        region_clauses: vec![RegionClause::DefaultmapScalar, RegionClause::DefaultmapAggregate],
        sums: Sums::Mapped,
        ..Recipe::new(Team)
    }),
    row("c++", Changed, || Recipe { cpp: true, sums: Sums::Mapped, control: CONTROL.to_vec(), ..Recipe::new(Team) }),
    row("c++, league", Changed, || Recipe { cpp: true, headers: 50, ..Recipe::new(League) }),
    row("mixture", Changed, || Recipe {
        headers: 40,
        nests: 40,
        storages: MIXED.to_vec(),
        sums: Sums::Mapped,
        control: CONTROL.to_vec(),
        bodies: BODIES.to_vec(),
        maps: Maps::Types,
        loop_clauses: LOOP_CLAUSES.to_vec(),
        ..Recipe::new(Team)
    }),
    row("mixture, league", Changed, || Recipe {
        headers: 40,
        nests: 40,
        storages: MIXED.to_vec(),
        bodies: BODIES.to_vec(),
        maps: Maps::Types,
        region_clauses: vec![RegionClause::Device, RegionClause::IfTrue, RegionClause::NumTeams],
        ..Recipe::new(League)
    }),
    row("control, break", Changed, || Recipe { control: vec![Control::Break], ..Recipe::new(Team) }),
    row("serial elements", Changed, || serial(&[Serial::Element, Serial::MappedScalar])),
    row("serial floating-point", Changed, || serial(&[Serial::FloatingElement])),
    row("locals from elements", Changed, || serial(&[Serial::LocalFromElement])),
    row("floating-point locals", Changed, || serial(&[Serial::LocalFloating])),
    row("local arrays", Changed, || serial(&[Serial::LocalArray])),
    row("lost scalars", Changed, || serial(&[Serial::LostScalar])),
    row("lost scalars, attributes", Changed, || serial(&[Serial::AttributedScalar])),
    row("lost scalars, odd declarations", Expected::Planned(&["OMPS107"]), || serial(&[Serial::OddScalar])),
    row("lost reductions", Changed, || Recipe { sums: Sums::Lost, ..Recipe::new(Team) }),
    row("array sections", Changed, || Recipe { sums: Sums::Section, control: CONTROL.to_vec(), ..Recipe::new(Team) }),
    row("array sections, clauses", Changed, || Recipe {
        sums: Sums::Section,
        region_clauses: REGION_CLAUSES.to_vec(),
        loop_clauses: LOOP_CLAUSES.to_vec(),
        cpp: true,
        ..Recipe::new(Team)
    }),
    row("rows of teams", Changed, || Recipe { loops: (3, 5), ..Recipe::new(Rows) }),
    row("rows of teams, serial", Changed, || Recipe {
        loops: (3, 4),
        serial: vec![Serial::Element, Serial::LocalFromElement, Serial::LocalFloating, Serial::MappedScalar],
        control: vec![Control::For, Control::If],
        sums: Sums::Mapped,
        maps: Maps::Types,
        region_clauses: vec![RegionClause::IfTrue, RegionClause::Device, RegionClause::Firstprivate],
        ..Recipe::new(Rows)
    }),
    row("bare parallel", Changed, || serial(&[Serial::BareParallel, Serial::BareNowait])),
    row("sections", Changed, || serial(&[Serial::Sections])),
    row("grouped iterations", Refused(&["OMPS110"]), || forbidden(Forbidden::OneThread)),
    row("chunks", Refused(&["OMPS110"]), || forbidden(Forbidden::Chunk)),
    row("serialised loops", Refused(&["OMPS110"]), || forbidden(Forbidden::Serialised)),
    row("critical", Refused(&["OMPS109"]), || forbidden(Forbidden::Critical)),
    row("thread numbers", Refused(&["OMPS109"]), || forbidden(Forbidden::ThreadNumber)),
    row("captured scalars", Changed, || forbidden(Forbidden::Capture)),
];

const CONTROL: &[Control] =
    &[Control::For, Control::Flip, Control::While, Control::Do, Control::If, Control::Block, Control::Integers];

const BODIES: &[Body] = &[
    Body::Call,
    Body::PutCall,
    Body::Macro,
    Body::Table,
    Body::Private,
    Body::InnerLoop,
    Body::Rows,
    Body::Branch,
    Body::Math,
];

const MIXED: &[Storage] = &[
    Storage::Heap,
    Storage::Static,
    Storage::Auto,
    Storage::Vla,
    Storage::Member,
    Storage::DeviceGlobal,
    Storage::OffsetUp,
    Storage::OffsetDown,
];

const SINGLE_CLAUSES: &[RegionClause] = &[
    RegionClause::IfTrue,
    RegionClause::IfValue,
    RegionClause::Device,
    RegionClause::Nowait,
    RegionClause::Depend,
    RegionClause::Firstprivate,
    RegionClause::DefaultmapAggregate,
];

const REGION_CLAUSES: &[RegionClause] = &[
    RegionClause::IfTrue,
    RegionClause::IfFalse,
    RegionClause::IfValue,
    RegionClause::Device,
    RegionClause::Firstprivate,
    RegionClause::Private,
];

const LOOP_CLAUSES: &[LoopClause] = &[
    LoopClause::Schedule,
    LoopClause::DefaultNone,
    LoopClause::DefaultShared,
    LoopClause::Firstprivate,
    LoopClause::Concurrent,
    LoopClause::ProcBind,
];

fn storages(storages: &[Storage], maps: Maps) -> Recipe {
    Recipe { storages: storages.to_vec(), maps, ..Recipe::new(Team) }
}

fn serial(serial: &[Serial]) -> Recipe {
    Recipe { serial: serial.to_vec(), loops: (2, 3), ..Recipe::new(Team) }
}

fn forbidden(forbidden: Forbidden) -> Recipe {
    Recipe { forbidden: Some(forbidden), loops: (1, 2), ..Recipe::new(Team) }
}
