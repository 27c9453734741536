//! Directives as text, and what is read from them.

use super::*;
use crate::source::Spelling;
use crate::syntax::spec_table::Leaf;
use crate::syntax::{ClauseArgument, ListItem, Modifier};

/// Reads the text behind `omp` in a C++ file, at an offset, as it would stand in one.
fn read_as(path: &str, body: &str) -> (SourceFile, Directive) {
    let before = "int x;\n#pragma omp ";
    let file = SourceFile::new(path, format!("{before}{body}\nx = 1;\n").into_bytes());
    let span = Span::new(before.len(), before.len() + body.len());
    let text =
        DirectiveText { span: Span::new(7, span.end), body: Some(span), spelling: Spelling::Pragma, alternative: None };
    let directive = DirectiveReader::new().read(&file, &text);
    (file, directive)
}

/// One line for a directive: `name(argument) | clause{modifier=argument; ..}[item; ..] ..! problem`.
fn show(file: &SourceFile, directive: &Directive) -> String {
    let text = |span: Span| file.show(span).into_owned();
    let mut out = directive.name.clone();
    if let Some(argument) = directive.argument {
        out += &format!("({})", text(argument));
    }
    if directive.spec.is_none() {
        out += "?";
    }
    for clause in &directive.clauses {
        out += &format!(" | {}", text(clause.name_span));
        if !clause.modifiers.is_empty() {
            let one = |m: &Modifier| match m.argument {
                Some(argument) => format!("{}={}", m.name, text(argument)),
                None => m.name.clone(),
            };
            out += &format!("{{{}}}", clause.modifiers.iter().map(one).collect::<Vec<_>>().join("; "));
        }
        out += &match &clause.argument {
            ClauseArgument::Absent => String::new(),
            ClauseArgument::Items(items) => {
                format!("[{}]", items.iter().map(|i| show_item(file, i)).collect::<Vec<_>>().join("; "))
            }
            ClauseArgument::Expression(span) => format!(" expression {}", text(*span)),
            ClauseArgument::Words(spans) => {
                format!(" words {}", spans.iter().map(|s| text(*s)).collect::<Vec<_>>().join("; "))
            }
            ClauseArgument::Raw(span) => format!(" raw {}", text(*span)),
        };
    }
    for problem in &directive.problems {
        out += &format!(" ! {}", text(*problem));
    }
    out
}

fn show_item(file: &SourceFile, item: &ListItem) -> String {
    let mut out = item.base.clone().unwrap_or_else(|| format!("<{}>", file.show(item.span)));
    if item.has_member {
        out += "@";
    }
    for section in &item.sections {
        let part = |span: Option<Span>| span.map(|s| file.show(s).into_owned()).unwrap_or("_".into());
        out += &if section.is_section {
            format!("[{}:{}:{}]", part(section.lower_bound), part(section.length), part(section.stride))
        } else {
            format!("[{}]", part(section.lower_bound))
        };
    }
    if item.is_name { out } else { out + "'" }
}

fn check(path: &str, cases: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (body, expected) in cases {
        let (file, directive) = read_as(path, body);
        let found = show(&file, &directive);
        if found != *expected {
            wrong += &format!("\n  {body}\n    expected {expected}\n    found    {found}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn names_are_the_longest_that_the_table_knows() {
    check(
        "a.c",
        &[
            ("barrier", "barrier"),
            ("target teams  distribute\tparallel for", "target teams distribute parallel for"),
            ("parallel\\\n for", "parallel for"),
            ("for ordered", "for | ordered"),
            ("ordered simd threads", "ordered | simd | threads"),
            ("cancel for if(c)", "cancel | for | if expression c"),
            ("cancellation point sections", "cancellation point | sections"),
            ("atomic capture seq_cst", "atomic | capture | seq_cst"),
            ("critical(name) hint(2)", "critical(name) | hint expression 2"),
            ("flush", "flush"),
            ("flush(a, b)", "flush(a, b)"),
            ("flush acq_rel (a)", "flush(a) | acq_rel"),
            ("declare target", "declare target"),
            ("declare target(f, a)", "declare target(f, a)"),
            ("declare target to(f) device_type(any)", "declare target | to[f] | device_type words any"),
            ("begin declare target device_type(host)", "begin declare target | device_type words host"),
            ("end declare target", "end declare target"),
            ("threadprivate(a)", "threadprivate(a)"),
            ("depobj(o) depend(in: x)", "depobj(o) | depend{in}[x]"),
            ("target_data map(a)", "target data | map[a]"),
            ("begin declare_target", "begin declare target"),
            ("target update to(a) from(b)", "target update | to[a] | from[b]"),
            ("fancy loop4 private(a)", "fancy loop4? | private[a]"),
            ("fancy(3) private(a)", "fancy(3)? | private[a]"),
            ("private(a)", "private(a)?"),
        ],
    );
}

#[test]
fn clauses_stand_apart_by_commas_or_blanks() {
    check(
        "a.c",
        &[
            ("parallel, private(a), shared(b) nowait", "parallel | private[a] | shared[b] | nowait"),
            ("parallel private ( a )\\\n  shared(b)", "parallel | private[a] | shared[b]"),
            ("parallel private(a)\\  \t\r\n  shared(b)", "parallel | private[a] | shared[b]"),
            ("parallel /* not (closed */ private(a /*,c*/, b) // end", "parallel | private[a; b]"),
        ],
    );
}

#[test]
fn unknown_clauses_keep_the_line() {
    check(
        "a.c",
        &[(
            "parallel vendor(a: [1, 2], {\"x)\", ')'}) private(a) other",
            "parallel | vendor raw a: [1, 2], {\"x)\", ')'} | private[a] | other",
        )],
    );
}

#[test]
fn modifiers_stand_before_the_colon() {
    check(
        "a.c",
        &[
            ("target map(to: a, b)", "target | map{to}[a; b]"),
            ("target map(to)", "target | map[to]"),
            ("target map(always)", "target | map[always]"),
            ("target map(always, tofrom: a)", "target | map{always; tofrom}[a]"),
            ("target map(always tofrom: a)", "target | map{always; tofrom}[a]"),
            (
                "target map(mapper(m), iterator(int i=0:n:2), to: p[i])",
                "target | map{mapper=m; iterator=int i=0:n:2; to}[p[i]']",
            ),
            ("target map(to: a[c ? 1 : 0:n])", "target | map{to}[a[c ? 1 : 0:n:_]']"),
            ("target device(device_num)", "target | device expression device_num"),
            ("target device(device_num: 2)", "target | device{device_num} expression 2"),
            ("target if(target: n > 1 ? a : b)", "target | if{target} expression n > 1 ? a : b"),
            ("target if(n > 1 ? a : b)", "target | if expression n > 1 ? a : b"),
            ("target enter data if(target enter data: c)", "target enter data | if{target enter data} expression c"),
            ("parallel reduction(+: s, t)", "parallel | reduction{+}[s; t]"),
            ("parallel reduction(&&:s)", "parallel | reduction{&&}[s]"),
            ("for reduction(inscan, *:s)", "for | reduction{inscan; *}[s]"),
            ("teams num_teams(2: n + 1)", "teams | num_teams{lower_bound=2} expression n + 1"),
            ("teams num_teams(4) thread_limit(128)", "teams | num_teams expression 4 | thread_limit expression 128"),
            ("for schedule(nonmonotonic: static, 4)", "for | schedule{nonmonotonic} words static; 4"),
            ("for schedule(static)", "for | schedule words static"),
            ("parallel default(none) proc_bind(close)", "parallel | default words none | proc_bind words close"),
            (
                "loop order(reproducible: concurrent) bind(teams)",
                "loop | order{reproducible} words concurrent | bind words teams",
            ),
            ("target defaultmap(tofrom: scalar)", "target | defaultmap words tofrom; scalar"),
            ("target defaultmap(none)", "target | defaultmap words none"),
            ("parallel allocate(omp_low_lat_mem_alloc: x)", "parallel | allocate{allocator=omp_low_lat_mem_alloc}[x]"),
            ("parallel allocate(align(8), allocator(a): x)", "parallel | allocate{align=8; allocator=a}[x]"),
            ("for lastprivate(conditional: x)", "for | lastprivate{conditional}[x]"),
            ("task depend(iterator(i=0:n), in: a[i])", "task | depend{iterator=i=0:n; in}[a[i]']"),
            ("ordered depend(sink: i-1, j)", "ordered | depend{sink} raw i-1, j"),
            ("ordered depend(source)", "ordered | depend words source"),
            ("ordered doacross(source:)", "ordered | doacross{source} raw "),
            ("target uses_allocators(traits(t): a)", "target | uses_allocators{traits=t}[a]"),
            ("target uses_allocators(a, b(t))", "target | uses_allocators[a; b']"),
            ("tile sizes(4, n)", "tile | sizes words 4; n"),
            ("firstprivate(target: x)", "firstprivate(target: x)?"),
            ("target parallel firstprivate(target: x)", "target parallel | firstprivate{target}[x]"),
            (
                "interop init(prefer_type(\"cuda\"), targetsync: o)",
                "interop | init{prefer_type=\"cuda\"; targetsync}[o]",
            ),
        ],
    );
}

#[test]
fn linear_and_aligned_have_their_modifiers_behind_the_list() {
    check(
        "a.c",
        &[
            ("simd linear(a)", "simd | linear[a]"),
            ("simd linear(a, b: 2 * s)", "simd | linear{step=2 * s}[a; b]"),
            ("simd linear(a: val, step(2))", "simd | linear{val; step=2}[a]"),
            ("simd linear(val(a, b): 2)", "simd | linear{val=a, b; step=2}[a; b]"),
            ("simd linear(ref(a))", "simd | linear{ref=a}[a]"),
            ("simd aligned(p, q: 64)", "simd | aligned{alignment=64}[p; q]"),
            ("simd aligned(p)", "simd | aligned[p]"),
        ],
    );
}

#[test]
fn list_items_have_a_base_and_sections() {
    check(
        "a.c",
        &[
            ("target map(a[0:n])", "target | map[a[0:n:_]']"),
            ("target map(a[:n], b[i][2:], c[:])", "target | map[a[_:n:_]'; b[i][2:_:_]'; c[_:_:_]']"),
            ("target map(a[0:n:2])", "target | map[a[0:n:2]']"),
            ("target update to(a[0::2], b[::])", "target update | to[a[0:_:2]'; b[_:_:_]']"),
            ("target map(s.x, p->y[0:n], q[1].z)", "target | map[s@'; p@[0:n:_]'; q@']"),
            ("target map(*p, (*p)[0:n], (*p).x)", "target | map[<*p>@'; <(*p)[0:n]>@[0:n:_]'; <(*p).x>@']"),
            ("task depend(in: ([n][m])p)", "task | depend{in}[<([n][m])p>@']"),
            ("task depend(in: f(x)[0:1])", "task | depend{in}[<f(x)[0:1]>']"),
        ],
    );
    check(
        "a.cpp",
        &[
            ("target map(to: this[:1], this->x)", "target | map{to}[this[_:1:_]'; this@']"),
            ("target map(to: A::b, ::c[0:n])", "target | map{to}[<A::b>'; <::c[0:n]>[0:n:_]']"),
            ("parallel reduction(std::plus: x)", "parallel | reduction{std::plus}[x]"),
            ("target update to(a[lo:N::n])", "target update | to[a[lo:N::n:_]']"),
            ("target update to(a[0::2])", "target update | to[a[0:_:2]']"),
        ],
    );
}

#[test]
fn old_and_raw_forms_are_kept() {
    check(
        "a.c",
        &[
            (
                "declare reduction(plus: T: omp_out.x += omp_in.x) initializer(omp_priv = {0, 1})",
                "declare reduction(plus: T: omp_out.x += omp_in.x) | initializer raw omp_priv = {0, 1}",
            ),
            (
                "metadirective when(device={kind(gpu)}: parallel for) default(single)",
                "metadirective | when raw device={kind(gpu)}: parallel for | default raw single",
            ),
            (
                "declare variant(f) match(construct={simd}, device={isa(\"avx\")})",
                "declare variant(f) | match raw construct={simd}, device={isa(\"avx\")}",
            ),
            (
                "target teams ompx_attribute(__attribute__((launch_bounds(128))))",
                "target teams | ompx_attribute raw __attribute__((launch_bounds(128)))",
            ),
        ],
    );
}

#[test]
fn garbled_text_has_a_problem() {
    let cases = [
        "",
        "(",
        ")",
        "target map(to: a",
        "target map to: a)",
        "target map(to: a[0:n)",
        "parallel private(a,,b)",
        "parallel private()",
        "parallel private",
        "parallel,, private(a)",
        ", parallel",
        "parallel num_threads",
        "parallel for (x)",
        "target map(a b)",
        "par\\\nallel",
        "collapse 2",
        "parallel if()",
        "target map(to:)",
        "parallel \"unterminated",
        "parallel 'x",
        "parallel }",
        "\0",
        "parallel /* open",
    ];
    for body in cases {
        let (file, directive) = read_as("a.c", body);
        assert!(!directive.problems.is_empty(), "{body:?}: {}", show(&file, &directive));
    }
}

#[test]
fn a_directive_without_readable_text_is_a_problem() {
    let file = SourceFile::new("a.c", b"OMP(parallel)".to_vec());
    let span = Span::new(0, 13);
    let text = DirectiveText { span, body: None, spelling: Spelling::Macro, alternative: Some((3, 1)) };
    let directive = DirectiveReader::new().read(&file, &text);
    assert_eq!((directive.name.as_str(), directive.problems), ("", vec![span]));
    assert_eq!(directive.alternative, Some((3, 1)));
}

#[test]
fn spans_are_those_of_the_file() {
    let (file, directive) = read_as("a.c", "target \\\r\n  map(always, to: a[0:n]) \\\r\n  nowait");
    let map = &directive.clauses[0];
    assert_eq!(file.show(directive.name_span), "target");
    assert_eq!(file.show(map.span), "map(always, to: a[0:n])");
    assert_eq!(file.show(map.modifiers[1].span), "to");
    assert_eq!(file.show(map.items()[0].span), "a[0:n]");
    assert_eq!(file.show(map.items()[0].sections[0].span), "[0:n]");
    assert_eq!(file.show(directive.clauses[1].span), "nowait");
    assert_eq!(directive.problems, []);
}

#[test]
fn a_directive_leaves_no_trace_in_the_reader() {
    let file = SourceFile::new("a.c", b"target map(to: a parallel for\n".to_vec());
    let text = |start, end| {
        let span = Span::new(start, end);
        DirectiveText { span, body: Some(span), spelling: Spelling::Pragma, alternative: None }
    };
    let mut reader = DirectiveReader::new();
    assert!(!reader.read(&file, &text(0, 16)).problems.is_empty());
    let second = reader.read(&file, &text(17, 29));
    assert_eq!((second.name.as_str(), second.problems), ("parallel for", vec![]));
}

#[test]
fn misplaced_clauses_are_named() {
    let misplaced = |body: &str| {
        let (file, directive) = read_as("a.c", body);
        directive.misplaced_clauses().map(|clause| file.show(clause.span).into_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        misplaced("for shared(k) private(j) schedule(static) schedule(dynamic) vendor"),
        "shared(k) schedule(dynamic)"
    );
    assert_eq!(misplaced("target parallel if(target: a) if(parallel: b) map(x) map(y)"), "");
    assert_eq!(misplaced("parallel for nowait"), "nowait");
    assert_eq!(misplaced("metadirective when(x: single) default(parallel)"), "");
}

#[test]
fn a_clause_says_where_it_lands() {
    let lands = |body: &str| {
        let (_, directive) = read_as("a.c", body);
        directive.clauses[0].lands_on(directive.spec.unwrap().leaves)
    };
    assert_eq!(lands("target parallel for if(parallel: a)"), [Leaf::Parallel]);
    assert_eq!(lands("target parallel for if(a)"), [Leaf::Target, Leaf::Parallel]);
    assert_eq!(lands("parallel for simd schedule(simd: static)"), [Leaf::For]);
    assert_eq!(lands("parallel for simd if(simd: a)"), [Leaf::Simd]);
}

/// Reads a text and looks at all that is in it: nothing may lie outside the text, and nothing may panic.
fn read_whatever_it_is(body: &str) -> Directive {
    let (file, directive) = read_as("a.cpp", body);
    let whole = Span::new(0, file.text.len());
    let items = directive.clauses.iter().flat_map(|clause| clause.items());
    let sections = items.clone().flat_map(|item| &item.sections).map(|section| section.span);
    let clauses = directive.clauses.iter().map(|clause| clause.span);
    assert!(clauses.chain(items.map(|item| item.span)).chain(sections).all(|span| whole.contains(span)));
    show(&file, &directive);
    directive
}

#[test]
fn half_a_directive_and_odd_characters_do_not_panic() {
    let whole = "target teams map(always, mapper(m), tofrom: p->a[0:n:2], ([n])q) reduction(+: s) if(target: x ? y : z) \
                 linear(val(a): 2) num_teams(1:4) uses_allocators(m(t)) depend(iterator(i=0:n), in: *r) schedule(static, 4)";
    for end in 0..whole.len() {
        read_whatever_it_is(&whole[..end]);
        read_whatever_it_is(&whole[end..]);
        for odd in ["(", ")", "[", "}", ":", "::", ",", "?", "\"", "'", "\\\n", "/*", "//", "\u{0}", "é"] {
            let (before, after) = whole.split_at(end);
            read_whatever_it_is(&format!("{before}{odd}{after}"));
        }
    }
}

#[test]
fn hostile_texts_are_problems_and_cost_little() {
    let open = "(".repeat(60_000);
    let nested = format!("parallel if({}x{})", "(".repeat(30_000), ")".repeat(30_000));
    let long = format!("parallel private({}x)", "x,".repeat(40_000));
    assert!(!read_whatever_it_is(&format!("parallel if{open}")).problems.is_empty());
    assert_eq!(read_whatever_it_is(&nested).problems, []);
    assert!(!read_whatever_it_is(&long).problems.is_empty());
    let commas = read_whatever_it_is(&format!("parallel private({}x)", "x,".repeat(30_000)));
    assert_eq!(commas.clauses[0].items().len(), 30_001);
}
