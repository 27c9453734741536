use super::*;
use crate::source::Span;
use crate::syntax::Number;

/// What `name` is at the identifier `HERE` of a file: `scope type`.
fn meaning(path: &str, text: &str, headers: &[&str], name: &str) -> String {
    let file = SourceFile::new(path, text.as_bytes().to_vec());
    let tree = HostTree::parse(&file, &scan(&file.text), &Limits::default()).unwrap();
    let headers: Vec<SourceFile> = headers
        .iter()
        .enumerate()
        .map(|(i, text)| SourceFile::new(format!("h{i}.h"), text.as_bytes().to_vec()))
        .collect();
    let symbols = Symbols::new(&file, &tree, &headers);
    let at = text.find("HERE").unwrap();
    match symbols.lookup(name, at) {
        Some(found) => format!("{:?} {}", found.scope, show(&found.ty)),
        None => "not found".to_owned(),
    }
}

fn qualifiers(is_const: bool, is_volatile: bool) -> String {
    let qualifiers = [(is_const, "const "), (is_volatile, "volatile ")];
    qualifiers.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect()
}

/// A type in a short notation, from the outside in.
fn show(ty: &DeclaredType) -> String {
    let sizes = |dimensions: &[Dimension]| {
        let all =
            dimensions.iter().map(|size| size.value.map_or(format!("[{}]", size.text), |value| format!("[{value}]")));
        all.collect::<String>()
    };
    match ty {
        DeclaredType::Scalar { number, spelling, is_const, is_volatile } => {
            let kind = match number {
                Number::Bool => "Bool",
                Number::Floating(_) | Number::Complex(_) => "Floating",
                Number::Integer { .. } | Number::Character(_) | Number::Enumeration { .. } => "Integer",
            };
            format!("{}{spelling}:{kind}", qualifiers(*is_const, *is_volatile))
        }
        DeclaredType::TypeParameter { name, is_const, is_volatile } => {
            format!("{}typename {name}", qualifiers(*is_const, *is_volatile))
        }
        DeclaredType::Array { element, dimensions, is_vla } => {
            format!("array{}{} of {}", sizes(dimensions), if *is_vla { " varying" } else { "" }, show(element))
        }
        DeclaredType::ArrayParameter { element, dimensions } => {
            format!("parameter{} of {}", sizes(dimensions), show(element))
        }
        DeclaredType::Pointer { pointee, is_const } => {
            format!("{}pointer to {}", if *is_const { "const " } else { "" }, show(pointee))
        }
        DeclaredType::Reference { to } => format!("reference to {}", show(to)),
        DeclaredType::Record { name, is_const, .. } => {
            format!("{}record {name}", if *is_const { "const " } else { "" })
        }
        DeclaredType::Function { parameters, is_variadic } => {
            let all: Vec<String> = parameters.iter().map(show).collect();
            format!("function({}{})", all.join(", "), if *is_variadic { ", ..." } else { "" })
        }
        DeclaredType::Auto => "auto".to_owned(),
        DeclaredType::Void => "void".to_owned(),
        DeclaredType::Unknown => "unknown".to_owned(),
    }
}

#[test]
fn declared_types() {
    for (declaration, expected) in [
        ("int x;", "int:Integer"),
        ("unsigned   long x;", "unsigned long:Integer"),
        ("const volatile double x = 1;", "const volatile double:Floating"),
        ("long double x;", "long double:Floating"),
        ("size_t x;", "size_t:Integer"),
        ("uint64_t x = 0;", "uint64_t:Integer"),
        ("int y, *x, z;", "pointer to int:Integer"),
        ("const float *const restrict x = 0;", "const pointer to const float:Floating"),
        ("int x[10];", "array[10] of int:Integer"),
        ("int x[2][3][4];", "array[2][3][4] of int:Integer"),
        ("int *x[3];", "array[3] of pointer to int:Integer"),
        ("int (*x)[3];", "pointer to array[3] of int:Integer"),
        ("int x[] = {1, 2};", "array[] of int:Integer"),
        ("int (*x)(float, int *);", "pointer to function(float:Floating, pointer to int:Integer)"),
        ("struct S { int a; } x;", "record struct S"),
        ("struct { int a; } x;", "record struct @:0"),
        ("enum E { A, B } x;", "enum E:Integer"),
        ("FILE *x;", "pointer to record FILE"),
        ("strange_t x;", "unknown"),
        ("typedef double real; real x[4];", "array[4] of double:Floating"),
        ("typedef int row[8]; row x[4];", "array[4][8] of int:Integer"),
        ("typedef struct { int a; } *P; const P x = 0;", "const pointer to record struct @:8"),
    ] {
        let text = format!("{declaration}\nint HERE;\n");
        assert_eq!(meaning("f.c", &text, &[], "x"), format!("File {expected}"), "{declaration}");
    }
    for (declaration, expected) in [
        ("double &x = y;", "reference to double:Floating"),
        ("auto x = f();", "auto"),
        ("auto x = -2147483647;", "int:Integer"),
        ("auto x = -2147483648;", "auto"),
        ("std::size_t x = 0;", "size_t:Integer"),
        ("std::vector<int> x;", "record std::vector<int>"),
        ("Grid<float> x;", "unknown"),
        ("template <class T> struct Grid {}; Grid<float> x;", "record Grid<float>"),
        ("template <class T> using Grid = T *; Grid<float> x;", "unknown"),
        ("using real = float; real x;", "float:Floating"),
        ("class C { int a; }; const C x;", "const record class C"),
        ("namespace n { typedef long id; } n::id x;", "long:Integer"),
        ("constexpr int x = 3;", "const int:Integer"),
        ("decltype(y) x;", "unknown"),
        ("bool x;", "bool:Bool"),
    ] {
        let text = format!("{declaration}\nint HERE;\n");
        assert_eq!(meaning("f.cpp", &text, &[], "x"), format!("File {expected}"), "{declaration}");
    }
}

#[test]
fn objects_that_read_like_functions() {
    for (text, expected) in [
        ("void f(int n) { std::vector<double> x(n); HERE; }", "Local record std::vector<double>"),
        ("void f(int n) { std::vector<double> b(n, 1.0), x(b); HERE; }", "Local record std::vector<double>"),
        ("void f(int n) { int x(n); HERE; }", "Local unknown"),
        ("struct n {}; void f() { std::vector<double> x(n); HERE; }", "Local unknown"),
    ] {
        assert_eq!(meaning("f.cpp", text, &[], "x"), expected, "{text}");
    }
}

#[test]
fn scopes_and_shadowing() {
    for (text, expected) in [
        ("int x; void f(float x) { HERE; }", "Parameter float:Floating"),
        ("int x; void f(void) { HERE; float x; }", "File int:Integer"),
        ("int x; void f(void) { float x; HERE; }", "Local float:Floating"),
        ("int x; void f(void) { { float x; } HERE; }", "File int:Integer"),
        ("int x; void f(void) { for (long x = 0; x < 3; x++) { HERE; } }", "Local long:Integer"),
        ("int x; void f(void) { for (long x = 0; x < 3; x++) ; HERE; }", "File int:Integer"),
        ("void f(void) { float x; { char x[3]; HERE; } }", "Local array[3] of char:Integer"),
        ("void f(int x[], int n) { HERE; }", "Parameter parameter[] of int:Integer"),
        ("void f(int n, double x[n][n]) { HERE; }", "Parameter parameter[n][n] of double:Floating"),
        ("void f(int n) { double x[n]; HERE; }", "Local array[n] varying of double:Floating"),
        ("void g(int x); void f(void) { HERE; }", "not found"),
        ("void f(void (*g)(int x)) { HERE; }", "not found"),
        ("void f(void) { HERE; } int x;", "not found"),
        ("extern int x[]; int x[10]; void f(void) { HERE; }", "File array[10] of int:Integer"),
        ("#if A\nint x[3];\n#else\nint *x;\n#endif\nvoid f(void) { HERE; }", "File unknown"),
        ("int x(int, ...); void f(void) { HERE; }", "File function(int:Integer, ...)"),
        ("int x(void) { return 0; } void f(void) { HERE; }", "File function()"),
        ("enum { x, y }; void f(void) { HERE; }", "File const int:Integer"),
        ("void f(void) { switch (1) { case 1: ; int x; HERE; } }", "Local int:Integer"),
    ] {
        assert_eq!(meaning("f.c", text, &[], "x"), expected, "{text}");
    }
    for (text, expected) in [
        ("void f() { if (int x = g(); x > 0) { HERE; } }", "Local int:Integer"),
        ("void f() { if (int x = g()) { HERE; } }", "Local int:Integer"),
        ("void f() { if (int x = g()) { } HERE; }", "not found"),
        ("void f(int y) { auto l = [&](float x) { HERE; }; }", "Parameter float:Floating"),
        ("void f() { auto l = [x = 3]() { HERE; }; }", "Local auto"),
        ("void f() { for (auto &x : v) { HERE; } }", "Local reference to auto"),
        ("void f() { auto [x, y] = g(); HERE; }", "Local auto"),
        ("struct S { void m() { HERE; } int x; };", "Member int:Integer"),
        ("struct S { int x; void m(); }; void S::m() { HERE; }", "Member int:Integer"),
        ("struct S { int x; }; void f() { HERE; }", "not found"),
        ("template <typename T> void f(T *x) { HERE; }", "Parameter pointer to typename T"),
        ("template <int x> void f() { HERE; }", "Unknown int:Integer"),
        ("namespace n { int x; void f() { HERE; } }", "File int:Integer"),
        ("namespace n { int x; } using namespace n; void f() { HERE; }", "File int:Integer"),
        ("namespace n { int x; } namespace m { float x; } void f() { HERE; }", "not found"),
        ("void f() { try { } catch (const E &x) { HERE; } }", "Parameter reference to unknown"),
        ("namespace { int x; } void f() { HERE; }", "File int:Integer"),
        ("extern \"C\" { int x; } void f() { HERE; }", "File int:Integer"),
    ] {
        assert_eq!(meaning("f.cpp", text, &[], "x"), expected, "{text}");
    }
}

#[test]
fn qualified_names() {
    for (text, name, expected) in [
        ("namespace n { int x; } void f() { HERE; }", "n::x", "File int:Integer"),
        ("int x; void f() { float x; HERE; }", "::x", "File int:Integer"),
        (
            "namespace n { int x; } namespace m { namespace n { float x; } void f() { HERE; } }",
            "n::x",
            "File float:Floating",
        ),
        (
            "namespace n { int x; } namespace m { namespace n { float x; } void f() { HERE; } }",
            "::n::x",
            "File int:Integer",
        ),
        ("namespace m { namespace n { int x; } } void f() { HERE; }", "n::x", "not found"),
        ("namespace m::n { int x; } void f() { HERE; }", "m::n::x", "File int:Integer"),
        ("struct S { static int x; }; void f() { HERE; }", "S::x", "Member int:Integer"),
        ("enum class E { x }; void f() { HERE; }", "E::x", "Member const enum E:Integer"),
        ("enum class E { x }; void f() { HERE; }", "x", "not found"),
        ("void f() { HERE; } namespace n { int x; }", "n::x", "not found"),
        ("template <typename T> struct S { static int x; }; void f() { HERE; }", "S<int>::x", "not found"),
    ] {
        assert_eq!(meaning("f.cpp", text, &[], name), expected, "{text}");
    }
}

#[test]
fn a_name_means_itself_in_its_own_declaration() {
    let text = "int x; void f(void) { float x = 1; }";
    let file = SourceFile::new("f.c", text.as_bytes().to_vec());
    let tree = HostTree::parse(&file, &scan(&file.text), &Limits::default()).unwrap();
    let symbols = Symbols::new(&file, &tree, &[]);
    let at = text.find("x = 1").unwrap();
    assert_eq!(symbols.lookup("x", at).map(|found| found.declared_at), Some(Span::new(at, at + 1)));
}

#[test]
fn macros_constants_and_headers() {
    for (text, headers, expected) in [
        ("#define N 8\nint x[N][N * 2];\nint HERE;", &[][..], "File array[8][16] of int:Integer"),
        ("enum { N = 4 };\nvoid f(void) { int x[N]; HERE; }", &[], "Local array[4] of int:Integer"),
        ("#define T double\nT *x;\nint HERE;", &[], "File pointer to double:Floating"),
        ("#define T unsigned long\nT x;\nint HERE;", &[], "File unsigned long:Integer"),
        ("real x[N];\nint HERE;", &["typedef float real;\n#define N (1 << 4)\n"], "File array[16] of float:Floating"),
        ("int HERE;", &["extern double x[];\n", "typedef int y;\n"], "File array[] of double:Floating"),
        ("real x;\nint HERE;", &["typedef base real;\n", "typedef float base;\n"], "File float:Floating"),
        ("a x;\nint HERE;", &["typedef b a;\n", "typedef a b;\n"], "File unknown"),
        ("int HERE;", &["int x[sizeof(y)][M];\n", "\u{0}"], "File array[sizeof(y)][M] of int:Integer"),
    ] {
        assert_eq!(meaning("f.c", text, headers, "x"), expected, "{text}");
    }
    let text = "const int N = 6;\nconstexpr int M{N};\nvoid f() { int x[N]; HERE; }";
    assert_eq!(meaning("f.cpp", text, &[], "x"), "Local array[6] of int:Integer");
}

#[test]
fn what_is_declared_elsewhere_and_what_is_misread() {
    let chosen = "#ifdef A\n#define N 3\n#else\n#define N 4\n#endif\n#define M(i) a[i * (N)]\n";
    for (path, text, headers, expected) in [
        // A header is read in the language of what includes it.
        ("f.cpp", "int HERE;", &["using x = float;"][..], "File float:Floating"),
        ("f.cpp", "int HERE;", &["int x();"], "File function()"),
        ("f.c", "int HERE;", &["int x();"], "File function(, ...)"),
        // Functions overload each other, or are declared twice.
        ("f.cpp", "int x(int);\nint HERE;", &["int x(float);"], "File unknown"),
        ("f.c", "int x();\nint HERE;", &["int x(float);"], "File unknown"),
        ("f.cpp", "extern void exit();\nvoid x();\nint HERE;", &[], "File function()"),
        // What may be parameters of a function whose head could not be read.
        ("f.c", "int *f(g, x) int *(*g)(); int x; { }\nint HERE;", &[], "Unknown unknown"),
        // The grammar has no declarations below an `if`.
        ("f.cpp", "void f(FILE *x) { if (g) FILE *x = h(), HERE; }", &[], "not found"),
    ] {
        assert_eq!(meaning(path, text, headers, "x"), expected, "{text} {headers:?}");
    }
    assert_eq!(meaning("f.cpp", "extern void exit();\nint HERE;", &[], "exit"), "File unknown");
    let used = format!("{chosen}void f(int x, int *a) {{ M(x) = 1; HERE; }}");
    assert_eq!(meaning("f.c", &used, &[], "x"), "Parameter int:Integer");
    let text = "void f() { int x[2 * sizeof(float)]; HERE; }";
    assert_eq!(meaning("f.c", text, &[], "x"), "Local array[8] of int:Integer");
}

#[test]
fn macros_have_parameters_and_bodies() {
    let text = "#define IDX(i, j) ((i) * N + (j)) // row\n#define ON\nint HERE;\n#define ON 2\n";
    let file = SourceFile::new("f.c", text.as_bytes().to_vec());
    let tree = HostTree::parse(&file, &scan(&file.text), &Limits::default()).unwrap();
    let symbols = Symbols::new(&file, &tree, &[]);
    let at = text.find("HERE").unwrap();
    let index = symbols.macro_definition("IDX", at).unwrap();
    assert_eq!(index.parameters, Some(vec!["i".to_owned(), "j".to_owned()]));
    assert_eq!(index.body, "((i) * N + (j))");
    let on = symbols.macro_definition("ON", at).unwrap();
    assert_eq!((on.parameters, on.body), (None, String::new()));
    assert_eq!(symbols.macro_definition("ON", text.len()).unwrap().body, "2");
    assert_eq!(symbols.macro_definition("OFF", at), None);
}

/// How the parameter or local `x` of function `f`, as visible at `HERE`, is written from there on; `taken` or not.
fn writes(path: &str, text: &str) -> String {
    let file = SourceFile::new(path, text.as_bytes().to_vec());
    let tree = HostTree::parse(&file, &scan(&file.text), &Limits::default()).unwrap();
    let symbols = Symbols::new(&file, &tree, &[]);
    let at = text.find("HERE").unwrap();
    let writes = symbols.written_in("x", at, Span::new(at, text.len()));
    let mut words: Vec<String> = writes.iter().map(|write| format!("{:?}", write.kind)).collect();
    if symbols.is_address_taken("x", at) {
        words.push("taken".to_owned());
    }
    words.join(" ")
}

#[test]
fn where_a_variable_is_written() {
    for (before, after, expected) in [
        ("int x", "y = x + 1;", ""),
        ("int x", "x = 1; x += 2; x++; --x; (x) = 3;", "Assigned Assigned Assigned Assigned Assigned"),
        ("int x", "a[x] = 1; y = x == 3; f(x, x + 1);", ""),
        ("int x", "p = &x;", "Address taken"),
        ("int x", "{ int x; x = 1; }", ""),
        ("int x", "{ float x[3]; x[0] = 1; } x = 2;", "Assigned"),
        ("int x", "sizeof(x); READ(x);", "Passed taken"),
        ("int x", "s.x = 1; s->x = 2;", ""),
        ("int *x", "x[0] = 1; *x = 2; *(x + 1) = 3;", ""),
        ("int *x", "x = 0; g(x);", "Assigned"),
        ("int x[]", "x[0] = 1; g(x);", ""),
        ("struct S *x", "x->a = 1; (*x).a = 2;", ""),
        ("struct S x", "x.a = 1; x.b[2]++;", "Assigned Assigned"),
    ] {
        let text = format!("void f({before}) {{ HERE; {after} }}\n");
        assert_eq!(writes("f.c", &text), expected, "{before}: {after}");
    }
    for (before, after, expected) in [
        ("int x[8];", "x[0] = 1; y = x[3];", "Assigned"),
        ("int x[8];", "p = x;", "Address taken"),
        ("int x[8];", "g(x); *x = 1; q = x + 1;", "Address Assigned Address taken"),
        ("int x[8][8];", "x[0][1] = 1; g(x[2]);", "Assigned Address taken"),
        ("int *x[8];", "x[0][1] = 1; x[0] = 0;", "Assigned"),
        ("int x;\n#define RESET x = 0\n", "RESET;", "Macro taken"),
        ("int x;\n#define SET(x) x = 0\n", "SET(y);", ""),
        ("int x;\n#define A B\n#define B x\n", "y = A;", ""),
        ("int x;\n#define A B\n#define B x\n", "A = 1;", "Macro taken"),
        ("int x;\n#define A B\n#define B x\n", "p = &A;", "Macro taken"),
        ("int x;\n#define AT(i) a[(i) * x]\n", "AT(1) = AT(2);", ""),
        ("int x;\n#define AT(i) *(a + i * x)\n", "AT(1) = AT(2);", "Macro taken"),
        ("int x, i;\n#define AT(i, x) a[(i) * x]\n", "AT(i, x)++; g(AT(i, x));", ""),
        ("int x;\n#define ID(x) (x)\n", "y = ID(x); g(ID(x) + 1); g(ID(ID(x)));", ""),
        ("int x;\n#define ID(x) (x)\n", "ID(x) = 1;", "Passed taken"),
        ("int x;\n#define ID(x) (x)\n#define SET(y) y = 2\n", "SET(ID(x));", "Passed taken"),
        ("int x;\n#define ID(x) (x)\n", "asm(\"\" : \"=r\"(ID(x)));", "Passed taken"),
        ("int x;\n#define IN(a) (a == 1 && x <= a)\n", "y = IN(x);", ""),
        ("int x;\n#define NEXT x++\n", "y = NEXT;", "Macro taken"),
        ("int x;\n#define HALF (x >>= 1)\n", "y = HALF;", "Macro taken"),
        ("int x;\n#define GIVEN(f) f(x)\n", "y = GIVEN(g);", "Macro taken"),
        ("int x[8];\n#define ROW x\n", "y = ROW[1];", "Macro taken"),
        ("static int x;", "asm(\"\" : \"=r\"(x));", "Assigned taken"),
    ] {
        let text = format!("void f(void) {{ {before} HERE; {after} }}\n");
        let expected = if before.starts_with("static") { "Assigned" } else { expected };
        assert_eq!(writes("f.c", &text), expected, "{before}: {after}");
    }
    assert_eq!(writes("f.c", "int x; void f(void) { HERE; x = 1; }"), "Assigned taken");
    assert_eq!(writes("f.c", "static int x; void f(void) { HERE; x = 1; }"), "Assigned");
    assert_eq!(writes("f.c", "static int x; int *p = &x; void f(void) { HERE; x = 1; }"), "Assigned taken");
}

#[test]
fn where_a_variable_is_written_in_cpp() {
    for (before, after, expected) in [
        ("int x", "int &r = x;", "Reference taken"),
        ("int x", "const int &r = x;", ""),
        ("int x", "g(x);", "Passed taken"),
        ("int x", "std::sqrt(x); printf(\"%d\", x);", ""),
        ("int x", "value(x); constant(x); reference(x);", "Reference taken"),
        ("int x", "std::cin >> x;", "Passed taken"),
        ("int x", "std::cin >> ID(x);", "Passed taken"),
        ("int x", "int &r = ID(x);", "Passed taken"),
        ("int x", "y = ID(x) + std::sqrt(ID(x));", ""),
        ("int x", "reference(ID(x)); unknown(ID(x));", "Passed Passed taken"),
        ("int x", "y = 3 >> x; y = y >> x;", ""),
        ("int x", "auto l = [&]() { x = 1; };", "Assigned taken"),
        ("int x", "auto l = [=]() { return x; };", ""),
        ("int x", "(y ? x : y) = 1;", "Assigned"),
        ("std::vector<int> x", "x.push_back(1);", "Passed taken"),
        ("std::vector<int> x", "x[0] = 1;", "Assigned"),
        ("int &x", "x = 1;", "Assigned taken"),
    ] {
        let text = format!(
            "#define ID(x) (x)\n\
             void value(int); void constant(const int &); void reference(int &);\n\
             void f({before}, int y) {{ HERE; {after} }}\n"
        );
        assert_eq!(writes("f.cpp", &text), expected, "{before}: {after}");
    }
}

#[test]
fn what_a_declaration_says_beyond_a_type_makes_it_unknown() {
    for declaration in [
        "int x __attribute__((mode(QI)));",
        "int x __attribute__((unused)) = 2;",
        "__attribute__((vector_size(16))) float x;",
        "float __attribute__((may_alias)) *x;",
        "float *__attribute__((may_alias)) x;",
        "typedef float v __attribute__((vector_size(16))); v x;",
        "typedef __attribute__((vector_size(16))) float v; v x;",
        "typedef int a, b __attribute__((mode(QI))); b x;",
        "struct { float f; } __attribute__((may_alias)) x;",
        "extern int x __asm__(\"y\");",
        "register int x __asm__(\"eax\");",
        "_Complex double x;",
        "__typeof__(1) x;",
        "_Atomic(int) x;",
        "int x UNUSED = 2;",
        "#define WORD int __attribute__((mode(QI)))\nWORD x;",
        "#define KIND int\n#undef KIND\n#define KIND char\nKIND x;",
        "#ifdef A\n#define KIND int\n#else\n#define KIND char\n#endif\nKIND x;",
        "#include \"own.h\"\nuint x;",
    ] {
        let found = meaning("a.c", &format!("{declaration}\nvoid f(void) {{ HERE; }}"), &[], "x");
        assert!(found.ends_with("unknown") || found == "not found", "{declaration}: {found}");
    }
    for (declaration, expected) in [
        ("_Alignas(64) int x = 2;", "int:Integer"),
        ("__attribute__((__unused__, aligned(8))) int x;", "int:Integer"),
        ("[[maybe_unused]] int x [[maybe_unused]] = 1;", "int:Integer"),
        ("struct __attribute__((packed)) s { int i; }; struct s x;", "record struct s"),
        ("typedef unsigned char uint; uint x;", "unsigned char:Integer"),
        ("enum { A } x;", "enum @:Integer"),
        ("unsigned __int128 x;", "unsigned __int128:Integer"),
        ("unsigned float x;", "unknown"),
        ("#ifdef A\n#define REAL float\n#else\n#define REAL double\n#endif\nREAL x;", "REAL:Floating"),
        ("typedef double real;\n#define real float\nreal x;", "float:Floating"),
        ("uint x;", "uint:Integer"),
    ] {
        let found = meaning("a.c", &format!("{declaration}\nvoid f(void) {{ HERE; }}"), &[], "x");
        assert_eq!(found, format!("File {expected}"), "{declaration}");
    }
}
