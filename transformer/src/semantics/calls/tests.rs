use super::*;
use crate::region::association::associate;
use crate::syntax::Limits;
use crate::syntax::lower::DirectiveReader;

/// The effects of the function that is called first behind `HERE` in a file, in words.
fn effects(path: &str, text: &str, headers: &[&str], name: &str) -> String {
    let file = SourceFile::new(path, text.as_bytes().to_vec());
    let scan = scan(&file.text);
    let tree = HostTree::parse(&file, &scan, &Limits::default()).unwrap();
    let mut reader = DirectiveReader::new();
    let directives = scan.directives.iter().map(|directive| reader.read(&file, directive)).collect();
    let constructs = associate(&file, &scan, &tree, directives);
    let headers: Vec<SourceFile> =
        headers.iter().map(|text| SourceFile::new("h.h", text.as_bytes().to_vec())).collect();
    let symbols = Symbols::new(&file, &tree, &headers);
    let calls = Calls::new(&file, &tree, &constructs, &headers);
    let found = calls.effects(&symbols, name, text.len());
    assert_eq!(found.known, found.unknown_callee.is_none());
    let mut words = Vec::new();
    words.extend(found.openmp.map(|_| "openmp".to_owned()));
    words.extend(found.unknown_callee.map(|(name, _)| format!("unknown {name}")));
    for (is, word) in [(found.writes_globals, "writes"), (found.output, "output"), (found.recursion, "recursion")] {
        words.extend(is.then(|| word.to_owned()));
    }
    words.join(", ")
}

#[test]
fn macros_write_what_they_are_handed() {
    let step = "#define ROTL(a, b) (((a) << (b)) | ((a) >> (32 - (b))))\n#define STEP(a, b) (a += b, b = ROTL(b, 7))\n";
    for (text, expected) in [
        ("void f(unsigned *o) { unsigned x[4]; STEP(x[0], x[1]); o[0] = x[0]; }", ""),
        ("void f(unsigned *o) { STEP(o[0], o[1]); }", ""),
        ("unsigned x[4]; void f(unsigned *o) { STEP(o[0], x[1]); }", "writes"),
        ("void f(unsigned *o) { static unsigned x[4]; STEP(x[0], o[1]); }", "writes"),
        ("unsigned c;\n#define COUNT() c++\nvoid f(unsigned *o) { COUNT(); }", "writes"),
        ("char c[9];\n#define CLEAR(n) memset(c, 0, n)\nvoid f(unsigned *o) { CLEAR(9); }", "writes"),
        ("#define CLEAR(p, n) memset(p, 0, n)\nvoid f(unsigned *o) { CLEAR(o, 9); }", ""),
        ("#define TWICE(x) do { x *= 2; } while (0)\nvoid f(unsigned *o) { TWICE(o[0]); }", "writes"),
        (
            "#ifdef A\n#define SET(x) (x = 1)\n#else\n#define SET(x) (c = x)\n#endif\nint c; void f(int *o) { SET(o[0]); }",
            "writes",
        ),
    ] {
        assert_eq!(effects("a.c", &format!("{step}{text}"), &[], "f"), expected, "{text}");
    }
}

#[test]
fn functions_of_c() {
    for (text, name, expected) in [
        ("", "sqrt", ""),
        ("", "sqrtf", ""),
        ("", "__builtin_fmaxf", ""),
        ("", "printf", "output"),
        ("", "mystery", "unknown mystery"),
        ("", "omp_get_thread_num", "openmp"),
        ("", "omp_set_lock", "openmp"),
        ("", "omp_set_num_threads", "openmp"),
        ("", "omp_is_initial_device", ""),
        ("", "omp_get_wtime", ""),
        ("double f(double x) { double y = sin(x); y += 1; return fabs(y); }", "f", ""),
        ("double sqrt(double x) { return mystery(x); }", "sqrt", "unknown mystery"),
        ("int g(int); int f(int x) { return g(x); }", "f", "unknown g"),
        ("int g(int x) { return omp_get_team_num(); } int f(int x) { return g(x); }", "f", "openmp"),
        ("void f(int *a) {\n#pragma omp barrier\n a[0] = 1; }", "f", "openmp"),
        ("void f(int *a) { a[0] = 1; }\nvoid g(void) {\n#pragma omp barrier\n}", "f", ""),
        ("void f(void) { asm(\"nop\"); }", "f", "openmp"),
        ("int c; void f(void) { c++; }", "f", "writes"),
        ("int c[3]; void f(int i) { c[i] = 1; }", "f", "writes"),
        ("int *c; void f(int i) { *(c + i) = 1; }", "f", "writes"),
        ("void f(void) { static int n; n = 1; }", "f", "writes"),
        ("char c[9]; void f(void) { memset(c, 0, 9); }", "f", "writes"),
        ("void f(void) { char c[9]; memset(c, 0, 9); }", "f", ""),
        ("int f(int n) { return n ? f(n - 1) : 0; }", "f", "recursion"),
        ("int g(int); int f(int n) { return g(n); } int g(int n) { return f(n); }", "f", "recursion"),
        ("int g(int n) { return n; } int f(int n) { return g(n) + g(n + 1); }", "f", ""),
        ("int f(int (*g)(int)) { return g(1); }", "f", "unknown g"),
        ("int g(int x) { return x; } int f(int (*g)(int)) { return g(1); }", "f", "unknown g"),
        ("struct S { int (*m)(void); }; int f(struct S *s) { return s->m(); }", "f", "unknown s->m"),
        ("#define SQ(x) ((x) * (x))\nint f(int x) { return SQ(x); }", "f", ""),
        ("#define CALL(x) mystery(x)\nint f(int x) { return CALL(x); }", "f", "unknown mystery"),
        ("#define TID omp_get_thread_num()\nint f(int x) { return TID; }", "f", "openmp"),
        (
            "#define INNER(x) mystery(x)\n#define CALL(x) INNER(x)\nint f(int x) { return CALL(x); }",
            "f",
            "unknown mystery",
        ),
        ("#define U(i) a[(i) * n]\n", "U", ""),
        ("#define U(i) a[g(i)]\n", "U", "unknown g"),
        ("#define U(i) a[(int)(i)] = omp_get_team_num()\n", "U", "openmp, writes"),
        ("#define BUMP counter++\nint counter; void f(void) { BUMP; }", "f", "writes"),
        ("#define LESS(a, b) ((a) <= (b))\nint f(int a) { return LESS(a, 1); }", "f", ""),
    ] {
        assert_eq!(effects("f.c", text, &[], name), expected, "{text}");
    }
}

#[test]
fn functions_of_headers() {
    let headers = &["static inline int h(int x) { return x + k(x); }\n#define N 3\nint k(int x) { return N; }\n"][..];
    assert_eq!(effects("f.c", "int f(int x) { return h(x); }", headers, "f"), "");
    let headers = &["int h(int x) {\n#pragma omp critical\n return x; }\n"][..];
    assert_eq!(effects("f.c", "int f(int x) { return h(x); }", headers, "f"), "openmp");
}

#[test]
fn functions_of_cpp() {
    for (text, name, expected) in [
        ("", "std::sqrt", ""),
        ("", "std::max", ""),
        ("int f(int x) { return static_cast<int>(x) + int(x) + std::min(x, 3); }", "f", ""),
        ("using real = float; real f(int x) { return real(x); }", "f", ""),
        ("int f(std::vector<int> &v) { return v.size(); }", "f", "unknown std::vector<int>"),
        ("struct V { V(); int x; }; int f() { V v; return v.x; }", "f", "unknown struct V"),
        // Its parameters are taken for numbers: whether the arguments are is for the caller to ask.
        ("template <typename T> T f(T a, T b) { return a + b; }", "f", ""),
        ("template <typename T = V> T f() { T a; return a + 1; }", "f", "unknown a"),
        ("template <typename T> T g(T a) { return a + a; } int f() { return g(V{3}); }", "f", "unknown V{3}"),
        // The functions of a class may be called wherever an object of it is named.
        ("struct V { int x; }; int f(V v) { return v.x; }", "f", ""),
        ("struct V { int x; V operator+(V o) const { return o; } }; int f(V *v) { return (v[0] + v[1]).x; }", "f", ""),
        (
            "struct V { int x; V operator+(V o) const; }; int f(V *v) { return (v[0] + v[1]).x; }",
            "f",
            "unknown struct V",
        ),
        (
            "struct V { int x; V operator+(V o) const; }; V V::operator+(V o) const { return o; } int f(V v) { return (v + v).x; }",
            "f",
            "",
        ),
        (
            "struct V { int x; operator int() { return omp_get_team_num(); } }; int f(V *v) { return v[0]; }",
            "f",
            "openmp",
        ),
        (
            "struct V { int x; operator int() { return omp_get_team_num(); } }; struct W { V v; }; int f(W *w) { return w->v; }",
            "f",
            "openmp",
        ),
        ("struct V { int x; virtual int g() { return 1; } }; int f(V *v) { return v->g(); }", "f", "unknown struct V"),
        ("struct V { int x; int g() const { return x; } }; int f(const V &v) { return v.g(); }", "f", ""),
        ("int made; struct V { int x; V(int k) : x(k) { made++; } }; int f() { V v(1); return v.x; }", "f", "writes"),
        ("int f(int x) { return x; } int f(double x);", "f", "unknown f"),
        ("namespace n { int g(int x) { return x; } } int f(int x) { return n::g(x); }", "f", ""),
        ("template <typename T> T f(const T *a) { return a[0]; }", "f", ""),
        ("struct S { int x; void f() { x = 1; } }; void g() { }", "g", ""),
        ("struct S { int x; int f(); }; int S::f() { return 1; }", "f", "unknown f"),
        ("int f() { throw 1; }", "f", "unknown throw"),
        ("namespace n { int f(int x) { return x; } }", "f", ""),
        ("int f(int x) { int &r = x; r = 3; return x; }", "f", "writes"),
    ] {
        assert_eq!(effects("f.cpp", text, &[], name), expected, "{text}");
    }
}

#[test]
fn long_chains_are_followed_without_recursion() {
    let mut text = String::from("int f0(int x) { return omp_get_num_threads(); }\n");
    for i in 1..3_000 {
        text += &format!("int f{i}(int x) {{ return f{}(x); }}\n", i - 1);
    }
    assert_eq!(effects("f.c", &text, &[], "f2999"), "openmp");
}
