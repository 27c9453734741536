//! Small programs that declare names in many ways and use each in a target region, the same for the same seed.

/// One file: its name and its text.
pub fn file(seed: usize) -> (String, String) {
    let is_cpp = seed % 3 == 2;
    let forms = if is_cpp { [COMMON, CPP].concat() } else { [COMMON, C].concat() };
    let (mut declarations, mut locals, mut uses) = (String::new(), String::new(), String::new());
    let mut state = seed as u64 + 1;
    for index in 0..forms.len() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let form = forms[(state >> 33) as usize % forms.len()];
        let name = format!("v{index}");
        let is_local = state >> 20 & 1 == 1 || form.contains("[n]") || form.contains("auto ");
        let to = if is_local { &mut locals } else { &mut declarations };
        to.push_str(&format!("{}\n", form.replace('@', &name)));
        uses.push_str(&format!("    (void)sizeof({name}); (void)&{name};\n"));
    }
    let text = format!(
        "{HEAD}{declarations}void f(int n, int v1[4][N], const float v2) {{ {{\n{locals}#pragma omp target\n  {{\n    \
         {{ short v0 = 1; v0++; }}\n    for (long v3 = 0; v3 < n; v3++) {{ helper(v3); }}\n{uses}  }}\n}} }}\n"
    );
    (format!("declarations_{seed}.{}", if is_cpp { "cpp" } else { "c" }), text)
}

const HEAD: &str = "#define N 4\n#define REAL double\n#define ARRAY(name) name[N]\n#define WIDE 1\n\
    typedef float single;\ntypedef single chain;\ntypedef chain row[N];\ntypedef int quarter __attribute__((mode(QI)));\n\
    typedef float four __attribute__((vector_size(16)));\n\
    enum colour { RED = -1, GREEN = 3, BLUE };\nstruct point { int v0; double v1[2]; unsigned bits : 3; };\n\
    #if WIDE\ntypedef long index_type;\n#else\ntypedef short index_type;\n#endif\n\
    static void helper(long n) { (void)n; }\n";

const COMMON: &[&str] = &[
    "int @;",
    "static unsigned long @;",
    "__attribute__((unused)) double @;",
    "int __attribute__((unused)) @;",
    "short @ __attribute__((aligned(8)));",
    "int @ __attribute__((mode(QI)));",
    "__attribute__((mode(DI))) int @;",
    "quarter @;",
    "four @;",
    "int __attribute__((vector_size(16))) @;",
    "chain @;",
    "row @[2];",
    "volatile float @;",
    "float *volatile @;",
    "double *@[3];",
    "double (*@)[3];",
    "int (*@)(int);",
    "enum colour @;",
    "enum colour @[BLUE];",
    "struct point @;",
    "struct { int a; } @;",
    "REAL @;",
    "int ARRAY(@);",
    "index_type @;",
    "int \\\n @;",
    "int @<:2:>;",
    "__int128 @;",
    "long double @;",
    "_Complex double @;",
    "__typeof__(1.0f) @;",
    "int @[sizeof(int)];",
    "int @[N + 1][2 * N];",
    "unsigned char @[GREEN << 1];",
    "int first_@, *@;",
];

const C: &[&str] =
    &["_Atomic int @;", "_Atomic(long) @;", "_Bool @;", "int @[07];", "_BitInt(13) @;", "float *restrict @;"];

const CPP: &[&str] = &[
    "auto @ = 1L;",
    "decltype(1.0f) @;",
    "bool @;",
    "[[maybe_unused]] int @;",
    "int @ [[maybe_unused]];",
    "constexpr int @ = 4;",
    "static const long @ = 2;",
    "alignas(16) int @;",
    "static single *const @ = nullptr;",
];
