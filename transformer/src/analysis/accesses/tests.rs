use super::*;
use crate::source::scan;
use crate::syntax::{Limits, NodeKind};

/// What the loops of a function `f` do; the first `for` is promised.
fn read(text: &str, check: impl Fn(&Accesses, &dyn Fn(&Polynomial) -> String)) {
    let ending = if text.contains("auto") { "t.cpp" } else { "t.c" };
    let file = SourceFile::new(ending, text.as_bytes().to_vec());
    let tree = HostTree::parse(&file, &scan(&file.text), &Limits::default()).unwrap();
    let symbols = Symbols::new(&file, &tree, &[]);
    let first = tree.descendants(tree.root()).find(|node| tree.kind(*node) == NodeKind::ForStatement).unwrap();
    let depth = (1..=4).rev().find(|depth| canonical_nest(&file, &tree, first, *depth).is_ok()).unwrap();
    let nest = canonical_nest(&file, &tree, first, depth).unwrap();
    let found = accesses(&file, &tree, &symbols, &nest.loops, 1, &[]);
    let show = |form: &Polynomial| {
        let word = |atom: &Atom| {
            let variable =
                found.loops.iter().find(|l| l.atom == *atom).map(|l| file.show(l.key.declared_at).into_owned());
            variable.or_else(|| found.symbols.get(atom).cloned()).unwrap_or("?".to_owned())
        };
        let mut terms: Vec<String> = form
            .terms()
            .map(|(atoms, factor)| {
                let mut words: Vec<String> = atoms.iter().map(word).collect();
                words.sort();
                format!("{factor}{}", words.iter().map(|word| format!("*{word}")).collect::<String>())
            })
            .collect();
        terms.sort();
        terms.join(" + ")
    };
    check(&found, &show);
}

/// The subscripts of the first written access, `~` behind those that may wrap around.
fn written(text: &str) -> Vec<String> {
    let result = std::cell::RefCell::new(Vec::new());
    read(text, |found, show| {
        let access = found.accesses.iter().find(|access| access.writes).unwrap();
        let subscripts = access.subscripts.iter();
        *result.borrow_mut() =
            subscripts.map(|one| format!("{}{}", show(&one.form), if one.wraps { "~" } else { "" })).collect();
    });
    result.into_inner()
}

fn troubles(text: &str) -> Vec<Obstacle> {
    let result = std::cell::RefCell::new(Vec::new());
    read(text, |found, _| *result.borrow_mut() = found.troubles.iter().map(|trouble| trouble.obstacle).collect());
    result.into_inner()
}

fn loops(parameters: &str, body: &str) -> String {
    format!("void f({parameters}) {{ for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ {body} }} }}")
}

#[test]
fn subscripts_are_polynomials() {
    let of = |parameters: &str, body: &str| written(&loops(parameters, body));
    assert_eq!(of("int n, float *a", "a[(i + 1) * n + j - 1] = 0;"), ["-1 + 1*i*n + 1*j + 1*n"]);
    assert_eq!(of("int n, float *a", "int at = i * n + j; a[at << 1] = 0;"), ["2*i*n + 2*j"]);
    assert_eq!(of("int n, float (*a)[8]", "a[i][j] = 0;"), ["1*i", "1*j"]);
    assert_eq!(of("int n, float *a", "int at = i; at += j; a[at] = 0;"), ["1*?"]);
    assert_eq!(of("int n, float *a, int *k", "a[k[i] * n + j] = 0;"), ["1*?*n + 1*j"]);
    assert_eq!(of("int n, float *a", "a[i / 2 * n + j] = 0;"), ["1*i/2*n + 1*j"]);
    assert_eq!(of("int n, float *a", "a[j / 2] = 0;"), ["1*?"]);
    assert_eq!(of("int n, float *a", "a[j * ((1024 >> 1) + 2 + (6 & 3) + (4 | 1) + (5 ^ 1))] = 0;"), ["525*j"]);
    assert_eq!(of("int n, float *a", "a[j * 8 + (i & 7)] = 0;"), ["1*i&7 + 8*j"]);
    assert_eq!(of("int n, float *a", "a[(i >> 2) * n + (7 & j)] = 0;"), ["1*? + 1*i>>2*n"]);
    assert_eq!(of("int n, float *a", "a[j * 0 + (1 >> 40)] = 0;"), ["1*?"], "a shift that has no value in C");
    assert_eq!(
        of("int n, float *a", "a[(4294967295u + 1u) / 2u] = 0;"),
        ["1*(4294967295u+1u)/2u"],
        "zero, divided by two"
    );
}

#[test]
fn equal_texts_of_other_names_are_other_values() {
    let are_same = |before: &str, inside: &str, subscript: &str| {
        let text = format!(
            "#define K 4\nvoid f(int n, int m, float *a) {{ {before}\n{{ {inside}\nfor (int i = 0; i < 8; i++) a[i + h] = a[i + {subscript}]; }} }}"
        );
        let result = std::cell::RefCell::new(false);
        read(&text, |found, _| {
            let [first, second] = found.accesses.as_slice() else { panic!("{}", found.accesses.len()) };
            *result.borrow_mut() = first.subscripts == second.subscripts;
        });
        result.into_inner()
    };
    assert!(are_same("const int h = n / 4;", "", "n / 4"));
    assert!(!are_same("const int h = n / 4;", "const int n = m;", "n / 4"), "another `n`");
    assert!(are_same("const int h = n / K;", "", "n / K"));
    assert!(!are_same("const int h = n / K;", "\n#undef K\n#define K 8", "n / K"), "another `K`");
}

#[test]
fn masks_and_remainders_lie_between_bounds() {
    let of = |ty: &str, value: &str| {
        let text = loops(&format!("{ty} n, {ty} k, float *a"), &format!("a[{value}] = 0;"));
        let ranges = std::cell::RefCell::new(Vec::new());
        read(&text, |found, _| {
            let bound = |form: &Option<Polynomial>| form.as_ref().and_then(Polynomial::as_constant);
            ranges.borrow_mut().extend(found.ranges.values().map(|range| (bound(&range.lower), bound(&range.upper))));
        });
        ranges.into_inner()
    };
    assert_eq!(of("int", "k & 7"), [(Some(0), Some(7))]);
    assert_eq!(of("int", "k % 8"), [(Some(-7), Some(7))]);
    assert_eq!(of("unsigned", "k % 8"), [(Some(0), Some(7))]);
    assert_eq!(of("int", "k >> 3"), []);
    assert_eq!(of("int", "k & -2"), []);
}

#[test]
fn arithmetic_that_wraps_around_is_marked() {
    let of = |parameters: &str, body: &str| written(&loops(parameters, body));
    assert_eq!(of("unsigned n, float *a", "a[i * n + j] = 0;"), ["1*i*n + 1*j~"]);
    assert_eq!(of("unsigned long n, float *a", "a[i * n + j] = 0;"), ["1*i*n + 1*j"]);
    assert_eq!(of("unsigned n, float *a", "a[(unsigned long)i * n + j] = 0;"), ["1*i*n + 1*j"]);
    assert_eq!(of("long n, float *a", "int at = i * n + j; a[at] = 0;"), ["1*i*n + 1*j~"]);
    assert_eq!(of("unsigned n, float *a", "long at = i * n + j; a[at] = 0;"), ["1*?"], "wrapped, then widened");
    assert_eq!(of("int n, float *a", "a[(unsigned char)(i + j)] = 0;"), ["1*?"]);
}

#[test]
fn ranges_need_comparisons_of_numbers() {
    let upper = |head: &str, n: &str| {
        let text = format!("void f({n} n, float *a) {{ for (int i = 0; i < 8; i++) for ({head}) a[j] = 0; }}");
        let result = std::cell::RefCell::new(None);
        read(&text, |found, show| *result.borrow_mut() = found.loops[1].range.upper.as_ref().map(show));
        result.into_inner()
    };
    assert_eq!(upper("int j = 0; j < n; j++", "int").as_deref(), Some("-1 + 1*n"));
    assert_eq!(upper("int j = n; j >= 2; j -= 3", "int").as_deref(), Some("1*n"));
    assert_eq!(upper("int j = 0; j < n; j++", "size_t").as_deref(), Some("-1 + 1*n"));
    assert_eq!(upper("int j = -1; j < n; j++", "size_t"), None, "-1 is huge");
    assert_eq!(upper("unsigned j = 0; j < n; j++", "int"), None, "n may be negative");
    assert_eq!(upper("size_t j = 0; j < n; j++", "int").as_deref(), Some("-1 + 1*n"));
    assert_eq!(upper("unsigned j = 0; j < n - 1; j++", "unsigned"), None, "n may be 0");
}

#[test]
fn what_is_not_followed_is_said() {
    let of = |parameters: &str, body: &str| troubles(&loops(parameters, body));
    assert_eq!(of("int n, float *a", "a[j] = sqrtf(a[i]);"), []);
    assert_eq!(of("int n, float *a", "a[j] = other(a[i]);"), [Obstacle::Call]);
    assert_eq!(of("int n, float *a, float *b", "b = a; b[j] = 1;"), [Obstacle::Pointer, Obstacle::Pointer]);
    assert_eq!(of("int n, volatile float *a", "a[j] = 1;"), [Obstacle::NotPlain]);
    assert_eq!(of("int n, float *a", "static int t; a[j] = t;"), [Obstacle::Pointer]);
    assert_eq!(of("int n, float *a", "a[j] = unknown;"), [Obstacle::UnknownName]);
    assert_eq!(of("int n, float *a", "other(a + j);"), [Obstacle::Call, Obstacle::Pointer]);
    assert_eq!(of("int n, auto a", "a[j] = 1;").first(), Some(&Obstacle::Hidden));
}

#[test]
fn pointers_in_memory_are_told_apart_from_arrays() {
    let kind = |parameters: &str, body: &str| {
        let result = std::cell::RefCell::new(None);
        let text = format!("struct s {{ float *p; float v[4]; }}; {}", loops(parameters, body));
        read(&text, |found, _| *result.borrow_mut() = found.accesses.first().map(|access| access.root.kind));
        result.into_inner()
    };
    assert_eq!(kind("int n, float *a", "a[j] = 1;"), Some(RootKind::Pointer));
    assert_eq!(kind("int n, float **a", "a[i][j] = 1;"), Some(RootKind::Loaded));
    assert_eq!(kind("int n, struct s *a", "a->p[j] = 1;"), Some(RootKind::Member));
    assert_eq!(kind("int n, struct s *a", "a[i].p[j] = 1;"), Some(RootKind::Loaded));
    assert_eq!(kind("int n, struct s a", "a.v[j] = 1;"), Some(RootKind::Member));
    assert_eq!(kind("int n, struct s **a", "a[j]->v[0] = 1;"), Some(RootKind::Loaded));
}

#[test]
fn macros_are_read_as_their_text() {
    let of = |definitions: &str, body: &str| written(&format!("{definitions}\n{}", loops("int n, float *a", body)));
    assert_eq!(of("#define AT(i, j) ((i) * n + (j))", "a[AT(i + 1, j)] = 0;"), ["1*i*n + 1*j + 1*n"]);
    assert_eq!(of("#define AT(i, j) i * n + j", "a[AT(i + 1, j)] = 0;"), ["1*i + 1*j + 1*n"]);
    assert_eq!(of("#define AT(i, j) i * n + j", "a[2 * AT(i, j)] = 0;"), ["1*j + 2*i*n"]);
    assert_eq!(of("#define A(i, j) a[(i) * n + j]", "A(i, j) += A(j, i);"), ["1*i*n + 1*j"]);
    assert_eq!(of("#define W (n + 1)\n#define A(i, j) a[(i) * W + (j)]", "A(i, j) = 0;"), ["1*i + 1*i*n + 1*j"]);
    assert_eq!(of("#define TWO(f, x) f(x) + f(x)\n#define ID(x) (x)", "a[TWO(ID, i)] = 0;"), ["2*i"]);
    assert_eq!(of("#define AT(i, j) ((i) * n + (j))", "int at = AT(i, j); a[at + 1] = 0;"), ["1 + 1*i*n + 1*j"]);
    assert_eq!(of("#define ROW(i) (a + (i) * n)", "*(ROW(i) + j) += ROW(j)[2];"), ["1*i*n + 1*j"]);
    let troubles_of =
        |definitions: &str, body: &str| troubles(&format!("{definitions}\n{}", loops("int n, float *a", body)));
    assert_eq!(troubles_of("#define AT(i, j) ((i) * n + (j))", "a[AT(i, j)] = 0;"), []);
    assert_eq!(troubles_of("#define SET(x, y) ((x) = (y))", "a[i] = SET(n, 2);"), [Obstacle::NotPlain]);
    assert_eq!(troubles_of("#define SET(x, y) ((x) = (y))", "SET(a[i * n + j], 2);"), []);
    assert_eq!(troubles_of("#define CAT(x, y) x##y", "a[CAT(i, 1)] = 0;"), [Obstacle::Macro]);
    assert_eq!(troubles_of("#define AT(i, j) ((i) * n + (j))", "a[AT(i)] = 0;"), [Obstacle::Macro]);
    assert_eq!(troubles_of("#define F(x) F(x + 1)", "a[F(i)] = 0;"), [Obstacle::Macro]);
}

#[test]
fn functions_are_read_as_what_they_return() {
    let of = |definitions: &str, body: &str| written(&format!("{definitions}\n{}", loops("int n, float *a", body)));
    let at = "static inline int at(int i, int j, int n) { return i * n + j; }";
    assert_eq!(of(at, "a[at(j, i + 1, n)] = 0;"), ["1 + 1*i + 1*j*n"]);
    assert_eq!(of("unsigned at(int i) { return i; }", "a[at(i - 1)] = 0;"), ["-1 + 1*i~"]);
    assert_eq!(of("float *p; float *at(int i) { return p + i; }", "a[i] = *at(i);"), ["1*i"]);
    assert_eq!(of("float set(float *p, int i) { return p[i] = 1; }", "float x = set(a, i + j);"), ["1*i + 1*j"]);
    let troubles_of =
        |definitions: &str, body: &str| troubles(&format!("{definitions}\n{}", loops("int n, float *a", body)));
    assert_eq!(troubles_of(at, "a[at(i, j, n)] = at(1, 2, 3);"), []);
    assert_eq!(troubles_of("float first(float *p) { return *p; }", "a[i] = first(a + i);"), []);
    assert_eq!(troubles_of("int next(int i) { return ++i; }", "a[i] = next(j);"), [Obstacle::NotPlain]);
    // The function's own loop is one of numbers.
    let power = "int power(int x, int n) { int y = 1; while (n-- > 0) y *= x; return y; }";
    assert_eq!(troubles_of(power, "a[i] = power(j, 2);"), []);
    let counting = "int calls; int count(int x) { calls = calls + 1; int y = x; return y; }";
    assert_eq!(troubles_of(counting, "a[i] = count(j);"), [Obstacle::Call]);
    let kept = "int kept(int x) { static int y; y += x; return y; }";
    assert_eq!(troubles_of(kept, "a[i] = kept(j);"), [Obstacle::Call]);
    let hidden = "float b[9]; float of_b(int i) { return b[i]; }";
    assert_eq!(troubles_of(hidden, "a[i] = of_b(j);"), []);
    assert_eq!(troubles_of(hidden, "float b[9]; b[0] = 1; a[i] = of_b(j) + b[0];"), [Obstacle::Call]);
}

#[test]
fn sums_of_pointers_are_subscripts() {
    let of = |body: &str| written(&loops("int n, float *a, float (*g)[9], unsigned u", body));
    assert_eq!(of("*(a + i * n + j) = 0;"), ["1*i*n + 1*j"]);
    assert_eq!(of("(a + i * n)[j] = 0;"), ["1*i*n + 1*j"]);
    assert_eq!(of("*(j + a - 1) = 0;"), ["-1 + 1*j"]);
    assert_eq!(of("(&a[i])[j + 1] = 0;"), ["1 + 1*i + 1*j"]);
    assert_eq!(of("*&a[i] = 0;"), ["1*i"]);
    assert_eq!(of("(*(g + i))[j] = 0;"), ["1*i", "1*j"]);
    assert_eq!(of("*(*(g + i) + j) = 0;"), ["1*i", "1*j"]);
    assert_eq!(of("*(a + u - 1 + i) = 0;"), ["-1 + 1*i + 1*u"]);
    assert_eq!(of("a[u - 1 + i] = 0;"), ["-1 + 1*i + 1*u~"]);
    let troubles_of = |body: &str| troubles(&loops("int n, float *a, float *b, struct { float x; } *s", body));
    for body in ["float *p = a + i; p++;", "n = a + i > b;", "use(a + i);", "use(&a[i]);", "*(&s[i].x) = 1;", "a += i;"]
    {
        assert!(!troubles_of(body).is_empty(), "{body}");
    }
    assert_eq!(troubles_of("*(a + i) = *(b + j);"), []);
}

#[test]
fn pointers_are_handed_on_with_what_is_added() {
    let at =
        "float get(const float *p, int i) { return p[i] + *p; } float set(float *p, int i) { return *(p + i) = 1; }";
    let of = |body: &str| written(&format!("{at}\n{}", loops("int n, float *a", body)));
    assert_eq!(of("a[i] = get(a + i * n, j - 1);"), ["1*i"]);
    assert_eq!(of("float x = set(a + i * n, j - 1);"), ["-1 + 1*i*n + 1*j"]);
    assert_eq!(of("float x = set(&a[i * n], j);"), ["1*i*n + 1*j"]);
    let troubles_of = |body: &str| troubles(&format!("{at}\n{}", loops("int n, float *a, int *b", body)));
    assert_eq!(troubles_of("a[i] = get(a + i * n, j - 1);"), []);
    for body in ["a[i] = get((float *)b, j);", "a[i] = get(n ? a : a + 1, j);", "a[i] = get(a++, j);"] {
        assert!(!troubles_of(body).is_empty(), "{body}");
    }
}

#[test]
fn pointers_of_an_iteration_lead_to_elements_of_arrays() {
    let of = |parameters: &str, body: &str| {
        let text = loops(parameters, body);
        assert_eq!(troubles(&text), [], "{body}");
        written(&text)
    };
    let row = ["1*i*n + 1*j"];
    assert_eq!(of("int n, float *a", "float *row = a + i * n; row[j] = 0;"), row);
    assert_eq!(of("int n, float *a", "float *row = i * n + a; *(row + j) = 0;"), row);
    assert_eq!(of("int n, float *a", "float *const row = &a[i * n]; row[j] = 1;"), row);
    assert_eq!(of("int n, float *a", "float *row = (&a[i * n]); float *place = row + j; *place = 0;"), row);
    assert_eq!(of("int n, float *a", "float *row = a, *place = &row[i * n]; place[j] = 0;"), row);
    assert_eq!(of("int n, float *a", "float *row = a + n - i; row[-j] += 1;"), ["-1*i + -1*j + 1*n"]);
    let aligned = "float *row = (float *)__builtin_assume_aligned(&a[i * n], 16); row[j] = 0;";
    assert_eq!(of("int n, float *a", aligned), row);
    assert_eq!(of("int n, float *a", "if ((unsigned long long)&a[i * n] % 16 == 0) a[i * n + j] = 0;"), row);
}

#[test]
fn other_pointers_are_not_followed() {
    let parameters = "int n, float *a, float *b, double *d, float (*m)[8], float v[4][4], float **p, struct s *g";
    for body in [
        "float *row = a + i * n; row++; row[j] = 0;",
        "float *row = a; row = b; row[j] = 0;",
        "float *row = a, **other = &row; row[j] = 0;",
        "float *row = i ? a : b; row[j] = 0;",
        "float *row = (float *)d + i * n; row[j] = 0;",
        "int *row = (int *)__builtin_assume_aligned(a, 16); row[j] = 0;",
        "float *row = m[i]; row[j] = 0;",
        "float *row = &v[0][0]; row[j] = 0;",
        "float *row = p[i]; row[j] = 0;",
        "float *row = *p; row[j] = 0;",
        "float *row = g->u + i * n; row[j] = 0;",
        "float *row; row = a; row[j] = 0;",
        "static float *row; row[j] = 0;",
        "volatile float *row = a + i; row[j] = 0;",
        "float *row = a + i * n; f(row);",
        "float *row = a + i * n; p[i] = row;",
        "float *row = a + i * n; float **other = &row; (*other)[j] = 0;",
        "float *row = a + i * n; float own = (float)((unsigned long long)row / 16); a[0] = own;",
        "unsigned long long at = (unsigned long long)&a[i] % n; a[0] = at;",
    ] {
        assert_ne!(troubles(&loops(parameters, body)), [], "{body}");
    }
    // What the place is computed from must be the same where the pointer is used.
    let text = loops("int n, float *a", "int k = i; float *row = a + k * n; k = 0; row[j] = 0;");
    assert_ne!(troubles(&text), []);
}

#[test]
fn bounds_without_a_sign_are_compared_so() {
    let trips = |head: &str| {
        let found = std::cell::RefCell::new(None);
        let text = format!("void f(float *a) {{ for (int i = 0; i < 9; i++) for ({head}) a[i] = j; }}");
        read(&text, |all, _| *found.borrow_mut() = all.loops.get(1).and_then(|inner| inner.trips));
        found.into_inner()
    };
    assert_eq!(trips("int j = -2; j < 3; j++"), Some(5));
    assert_eq!(trips("int j = -2; j < 3u; j++"), None);
    assert_eq!(trips("int j = 0; j < 3u; j++"), Some(3));
    assert_eq!(trips("long j = -2; j < 3u; j++"), Some(5));
    assert_eq!(trips("unsigned j = 1; j < 3; j++"), Some(2));
}
