//! Small programs that declare names in many ways and use each in a target region, the same for the same seed.
//!
//! In a form `@` is the name; what stands behind `=>` uses it, where `sizeof` and `&` do not fit.

/// A file: its name and its text.
pub type File = (String, String);

/// For each language and each place its forms alone, one file for each.
pub fn single() -> Vec<File> {
    let mut files = Vec::new();
    for is_cpp in [false, true] {
        let Forms { at_file, in_block } = forms(is_cpp);
        for (form, is_outside) in
            at_file.iter().map(|form| (form, true)).chain(in_block.iter().map(|form| (form, false)))
        {
            let (declared, used) = written(form, "v20");
            let hidden = "struct point *v20[2];\n";
            let (outside, inside) = if is_outside { (declared.as_str(), "") } else { (hidden, declared.as_str()) };
            let text = format!("{outside}void f(int n) {{\n  {inside}#pragma omp target\n  {{\n    {used}\n  }}\n}}\n");
            files.push(file(&format!("single_{}", files.len()), is_cpp, &text, ""));
        }
    }
    files
}

/// Every form once at file scope and once in a function, where its name hides that of another form, in an order that the seed chooses.
pub fn together(seed: usize) -> File {
    let is_cpp = seed % 2 == 1;
    let Forms { at_file, in_block } = forms(is_cpp);
    let name = |index: usize| format!("v{}", index + 20);
    let (mut declarations, mut first_uses, mut locals, mut uses) = Default::default();
    let add = |form: &str, name: &str, to: &mut String, uses: &mut String| {
        let (declared, used) = written(form, name);
        to.push_str(&declared);
        uses.push_str(&format!("    {used}\n"));
    };
    for (index, form) in shuffled(at_file, seed as u64).iter().enumerate() {
        add(form, &name(index), &mut declarations, &mut first_uses);
    }
    for (index, form) in shuffled(in_block, seed as u64 + 1000).iter().enumerate() {
        // Some names are those of the file, others are only known here.
        add(form, &name(index * 2), &mut locals, &mut uses);
    }
    let text = format!(
        "{declarations}void f(int n, int v1[4][N], const float v3, double *const v5) {{\n#pragma omp target\n  {{\n{first_uses}  }}\n  \
         {{\n{locals}#pragma omp target\n  {{\n    {{ short v20 = 1; v20++; }}\n    \
         for (long v3 = 0, *v5 = 0; v3 < n && !v5; v3++) {{ helper(v3); }}\n{uses}  }}\n  }}\n{first_uses}}}\n"
    );
    file(&format!("together_{seed}"), is_cpp, &text, if is_cpp { CPP_TAIL } else { C_TAIL })
}

/// The forms of a language.
struct Forms {
    at_file: Vec<&'static str>,
    in_block: Vec<&'static str>,
}

fn forms(is_cpp: bool) -> Forms {
    let (own, own_files, own_locals) =
        if is_cpp { (CPP, CPP_AT_FILE, CPP_IN_BLOCK) } else { (C, C_AT_FILE, C_IN_BLOCK) };
    Forms {
        at_file: [COMMON, own, AT_FILE, own_files].concat(),
        in_block: [COMMON, own, IN_BLOCK, own_locals].concat(),
    }
}

fn file(name: &str, is_cpp: bool, text: &str, tail: &str) -> File {
    let head = if is_cpp { CPP_HEAD } else { C_HEAD };
    (format!("{name}.{}", if is_cpp { "cpp" } else { "c" }), format!("{HEAD}{head}{text}{tail}"))
}

/// A form with a name, and what uses it.
fn written(form: &str, name: &str) -> (String, String) {
    let (text, used) = form.split_once("=>").unwrap_or((form, "(void)sizeof(@); (void)&@;"));
    (format!("{}\n", text.trim_end().replace('@', name)), used.trim().replace('@', name))
}

fn shuffled(mut forms: Vec<&str>, seed: u64) -> Vec<&str> {
    let mut state = seed + 1;
    for index in (1..forms.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        forms.swap(index, (state >> 33) as usize % (index + 1));
    }
    forms
}

const HEAD: &str = "#define N 4\n#define SUM N + 1\n#define REAL double\n#define ARRAY(name) name[N]\n#define WIDE 1\n\
    #define CLASS static\n#define CLASS_INT static int\n#define UNSIGNED unsigned\n\
    #ifdef NARROW\n#define SIZE 3\n#define NUMBER float\n#else\n#define SIZE 5\n#define NUMBER double\n#endif\n\
    #ifdef NARROW\n#define other_type char\n#define OTHER 3\n#else\ntypedef long other_type;\nenum { OTHER = 9 };\n#endif\n\
    typedef float single;\ntypedef single chain;\ntypedef chain row[N];\ntypedef int quarter __attribute__((mode(QI)));\n\
    typedef float four __attribute__((vector_size(16)));\ntypedef int loose __attribute__((aligned(2)));\n\
    typedef volatile int shared;\ntypedef int *pointer;\ntypedef int function(int, double);\n\
    enum colour { RED = -1, GREEN = 3, BLUE };\nenum large { SMALL, BIG = 0x80000001u };\n\
    struct point { int v0; double v1[2]; unsigned bits : 3; };\n\
    #if WIDE\ntypedef long index_type;\n#else\ntypedef short index_type;\n#endif\n\
    static void helper(long n) { (void)n; }\nint global_int;\nfloat global_float;\nint global_array[3];\n\
    struct point global_point;\nextern int twice;\nextern int twice;\nlong v1, v3, v5;\nvoid with_prototype(int v0, double v7[v0 + 1], int v9[]);\n";

const C_HEAD: &str = "enum : unsigned char { NARROW_ONE = 200 };\n";
const CPP_HEAD: &str = "namespace outer { int v0; double width; namespace inner { float depth; enum { LEVEL = 3 }; } }\n\
    namespace outer::inner { long more; }\nnamespace renamed = outer::inner;\n\
    struct base { int v2; static int shared_member; static const int COUNT = 7; mutable int changing; };\n\
    struct derived : base { int v4; int get(int v6) { return v2 + v4 + v6 + later; } int later; };\n\
    template <class T> struct holder { T held; typedef T type; static constexpr int WIDTH = 6; };\n\
    template <class T> using alias_of_holder = holder<T>;\ntemplate <class T> using pointer_to = T *;\n\
    template <class T, int K> using array_of = T[K];\ntemplate <class T> T same(T v8) { T v10 = v8; return v10; }\n\
    static struct { int first; double second; } holder_pair;\n    enum class scoped { FIRST, SECOND = 5 };\nenum sized : unsigned char { TINY = 250 };\n";
const C_TAIL: &str = "int old(v0, v2) int v0; double v2[3]; { return v0 + (int)v2[1]; }\n\
    int tags(void) { struct v0 { int a; } v4; enum { v6 = 8 }; int *chain = 0; (void)sizeof(v4); (void)sizeof(chain); return v6; }\n";
const CPP_TAIL: &str = "void derived_user(derived *v0) { v0->v4 = base::COUNT; base::shared_member = 1; }\n\
    int loops() {\n  for (const int &v0 : global_array) { helper(v0); }\n  for (auto v2 : global_array) { helper(v2); }\n\
    if (long v4 = 3; v4 > 2) { helper(v4); }\n  while (short v6 = 0) { helper(v6); }\n  try { } catch (double v8) { helper((long)v8); }\n\
    auto v10 = [v12 = 1L, &v14 = global_float](char v16) { return v12 + (long)v14 + v16; };\n  { auto [v0, v18] = holder_pair; auto &[v2, v20] = holder_pair; helper(v0 + (long)v18 + v2 + (long)v20); }\n  return (int)v10(1);\n}\n";

/// At file scope and in functions, in C and in C++.
const COMMON: &[&str] = &[
    "int @;",
    "static unsigned long @;",
    "long long unsigned int @;",
    "int long @;",
    "short int unsigned @;",
    "char signed @;",
    "__signed__ int @;",
    "__const int @ = 3;",
    "__volatile__ int @;",
    "__extension__ int @;",
    // Qualifiers in every position.
    "const int @ = 3;",
    "int const @ = 3;",
    "volatile float @;",
    "const volatile long @ = 1;",
    "long volatile const @ = 1;",
    "float *volatile @;",
    "int *const @ = 0;",
    "int *const volatile @ = 0;",
    "const int *@;",
    "int const *const *@;",
    "volatile int *@;",
    "volatile int *const *@;",
    "int *volatile *@;",
    "int *__restrict @;",
    "const void *@;",
    "volatile void *@;",
    "const struct point @ = {0};",
    "volatile struct point @;",
    "struct point *volatile @;",
    "volatile struct point *@;",
    "volatile int @[3];",
    "const float @[2] = {1, 2};",
    "shared @;",
    "shared *@;",
    "const pointer @ = 0;",
    "volatile pointer @;",
    "pointer volatile @[2];",
    // Attributes in every position.
    "__attribute__((unused)) double @;",
    "int __attribute__((unused)) @;",
    "short @ __attribute__((aligned(8)));",
    "__attribute__((aligned(16))) int @;",
    "int @ __attribute__((unused, aligned(16)));",
    "__attribute__((unused)) int *__attribute__((unused)) @;",
    "int *@ __attribute__((aligned(8)));",
    "int @[3] __attribute__((aligned(8)));",
    "int __attribute__((unused)) @[2] __attribute__((unused));",
    "int @ __attribute__((mode(QI)));",
    "__attribute__((mode(DI))) int @;",
    "int __attribute__((mode(HI))) @;",
    "unsigned @ __attribute__((__mode__(__QI__)));",
    "float @ __attribute__((mode(DF)));",
    "int first_@ __attribute__((mode(DI))), @;",
    "int first_@, @ __attribute__((mode(DI)));",
    "quarter @;",
    "quarter @[2];",
    "quarter *@;",
    "four @;",
    "four *@;",
    "four @[2];",
    "loose @;",
    "int __attribute__((vector_size(16))) @;",
    "int @ __attribute__((vector_size(16)));",
    "int @ __attribute__((__vector_size__(8)));",
    "typedef float t_@ __attribute__((ext_vector_type(4))); t_@ @;",
    "struct __attribute__((packed)) { char a; int b; } @; => (void)sizeof(@); (void)@.b;",
    "struct { char a; int b; } __attribute__((packed)) @; => (void)sizeof(@); (void)@.b;",
    "struct { char a; int b __attribute__((mode(DI))); } @; => (void)sizeof(@); (void)@.b;",
    "union { int a; float b; } __attribute__((transparent_union)) @;",
    "enum __attribute__((packed)) { PACKED_@ = 3 } @; => (void)sizeof(@); (void)PACKED_@;",
    "static int @ __attribute__((used));",
    // Typedef chains, and names for types that the program gives.
    "chain @;",
    "row @[2];",
    "const row @ = {1};",
    "typedef chain t_@; t_@ @;",
    "typedef int t_@[N], *u_@; t_@ *@; u_@ w_@; => (void)sizeof(@); (void)sizeof(w_@);",
    "typedef int (*t_@)(int); t_@ @[2];",
    "typedef struct { int a; } t_@; t_@ @; => (void)@.a; (void)sizeof(@);",
    "typedef struct s_@ { int a; } t_@, *p_@; t_@ @; p_@ q_@; => (void)@.a; (void)sizeof(q_@);",
    "typedef enum { E_@ = 3 } t_@; t_@ @; => (void)E_@; (void)sizeof(@);",
    "typedef unsigned char t_@ __attribute__((mode(SI))); t_@ @;",
    "index_type @;",
    "other_type @;",
    "NUMBER @;",
    "REAL @;",
    "UNSIGNED @;",
    "UNSIGNED long @;",
    "const REAL *@;",
    "CLASS int @;",
    "CLASS_INT @;",
    "\n#define T_@ short\nT_@ @;",
    "\n#define T_@(name) int name[3]\nT_@(@);",
    "\n#define T_@ @\nlong T_@;",
    // Numbers.
    "__int128 @;",
    "__int128 unsigned @;",
    "long double @;",
    "_Float16 @;",
    "__float128 @;",
    "_Complex double @;",
    "float _Complex @;",
    "_Complex int @;",
    "__bf16 @;",
    "_BitInt(13) @;",
    "unsigned _BitInt(64) @;",
    "__typeof__(1.0f) @;",
    "__typeof__(int *) @;",
    "__typeof__(helper) *@;",
    "__typeof__(global_int) @;",
    // Arrays, their lengths, and pointers to them.
    "double *@[3];",
    "double (*@)[3];",
    "int (*@[2])[3];",
    "int (**@)[3];",
    "int ARRAY(@);",
    "int \\\n @;",
    "int @<:2:>;",
    "int @[sizeof(int)];",
    "int @[sizeof(struct point)];",
    "int @[N + 1][2 * N];",
    "int @[SUM];",
    "int @[SUM * 2];",
    "int @[(SUM) * 2];",
    "unsigned char @[GREEN << 1];",
    "int @[BLUE];",
    "int @['a'];",
    "int @[07];",
    "int @[0x10u];",
    "int @[1 << 3 | 1];",
    "int @[~0 & 3];",
    "int @[N > 2 ? 3 : 4];",
    "int @[N /* of them */ + 1];",
    "int @[SIZE];",
    "int @[OTHER];",
    "int @[] = {1, 2, 3};",
    "int @[][2] = {{1, 2}, {3, 4}};",
    "char @[] = \"abc\";",
    "const char *@[] = {\"a\", \"b\"};",
    // Functions by pointers.
    "int (*@)(int);",
    "void (*@)(void);",
    "int (*@)(int, ...);",
    "int (*@[3])(int, double);",
    "int (*(*@)(int))(double);",
    "double *(*@)(const double *, int *);",
    "int (*@)(int n, int a[n + 1]);",
    "function *@;",
    // Parentheses, and several at once.
    "int (@);",
    "int (*(@));",
    "int ((@)[3]);",
    "int (*(@[2]))(int);",
    "int first_@, *@;",
    "int first_@ = 1, *@ = &first_@, third_@[3]; => (void)sizeof(@); (void)sizeof(third_@); (void)&first_@;",
    "int first_@ = sizeof(int), (*@)[2], second_@(int); => (void)sizeof(@); (void)&second_@;",
    // Structures and enumerations.
    "enum colour @;",
    "enum colour @[BLUE];",
    "enum large @; => (void)sizeof(@); (void)(SMALL + BIG);",
    "enum { A_@, B_@ = 7, C_@ } @; => (void)sizeof(@); (void)(A_@ + B_@ + C_@);",
    "enum e_@ { A_@ = -3, B_@, C_@ = B_@ * 2 } @; => (void)(A_@ + B_@ + C_@);",
    "enum { A_@ = 5 }; int @[A_@]; => (void)sizeof(@);",
    "struct point @; => (void)sizeof(@); (void)@.v0; (void)@.v1; (void)@.bits;",
    "struct point *@; => (void)sizeof(@); (void)@->v0; (void)@->v1;",
    "struct { int a; } @;",
    "struct { int a; union { int b; float c; }; } @; => (void)sizeof(@); (void)@.a; (void)@.c;",
    "union { int a; double b[2]; } @; => (void)sizeof(@); (void)@.b;",
    "struct s_@ { struct s_@ *next; int a[3]; } @; => (void)@.next; (void)@.a;",
    "struct { unsigned a : 3; int : 0; long b : 5; } @; => (void)@.a; (void)@.b;",
    "struct s_@ *@;",
    "struct { volatile int a; int *volatile b; const int c; } @ = {0, 0, 1}; => (void)@.a; (void)@.b; (void)@.c;",
];

/// At file scope alone.
const AT_FILE: &[&str] = &[
    "extern int @;",
    "extern int @[]; extern int @[4]; => (void)&global_array[1];",
    "extern int @[]; => (void)&global_array[1];",
    "extern const int @[3];",
    "extern double @ __asm__(\"label_@\");",
    "static __thread int @;",
    "extern __thread long @;",
    "int @(int, double *); => (void)&@;",
    "static inline int @(int a) { return a; } => @(1);",
    "static int @(void) __attribute__((noinline)); static int @(void) { return 1; } => @();",
    "__attribute__((const)) int @(int); => (void)&@;",
    "int @(int) __asm__(\"function_@\"); => (void)&@;",
    "int (*@(int a))(double); => (void)&@;",
    "int (@)(int); => (void)&@;",
    "struct point @(struct point a, int b[3], int c(int)); => (void)&@;",
];

/// In functions alone.
const IN_BLOCK: &[&str] = &[
    "extern int x_@; long @ = x_@; => (void)sizeof(x_@); (void)@;",
    "int fn_@(int), @ = fn_@(1); => (void)&fn_@; (void)@;",
    "int @[n];",
    "double @[n][3];",
    "double @[N][n];",
    "static int @ = 3;",
    "int @ = sizeof(int);",
    "{ long @ = 1; helper(@); } float @ = 1;",
    "int @ = 1; { double @ = 2; (void)sizeof(@); }",
    "typedef long t_@; { typedef char t_@; t_@ x; (void)sizeof(x); } t_@ @;",
];

const C: &[&str] = &[
    "_Atomic int @;",
    "_Atomic(long) @;",
    "_Atomic int *@;",
    "int *_Atomic @;",
    "_Atomic(int *) @;",
    "const _Atomic int @ = 1;",
    "_Atomic volatile int @;",
    "_Atomic struct point @;",
    "_Atomic double @[2];",
    "_Bool @;",
    "__fp16 @;",
    "float *restrict @;",
    "float *const restrict @ = 0;",
    "const int @;",
    "_Alignas(16) int @;",
    "_Alignas(double) char @[8];",
    "typeof(int) @;",
    "typeof(const int *) @;",
    "struct @ { int a; }; int @;",
    "enum e_@ : short { S_@ = 3 } @; => (void)sizeof(@); (void)S_@;",
    "typedef const int t_@; t_@ @;",
    "int fn_@(), @; => (void)&fn_@; (void)@;",
    "int (*@)();",
    "[[maybe_unused]] int @;",
    "int @ [[maybe_unused]];",
    "int NARROW_@; char @[NARROW_ONE];",
];
const C_AT_FILE: &[&str] = &[
    "int @(a, b) int a; double b[3]; { return a + (int)b[0]; } => (void)&@;",
    "static int @(a) int a; { return a; } => (void)&@;",
    "struct point *g_@(h, a, b) struct point *(*h)(); double *a; long b; { (void)sizeof(a); return b ? h() : 0; } int @;",
    "chain g_@(a, b) chain a, b; { return a + b; } double @;",
    "#ifndef UNSEEN_@\nlong @(a) long a;\n#else\nlong @(long a)\n#endif\n{ return a; } => (void)&@;",
    "static int @; static int @;",
    "static _Thread_local int @;",
    "_Thread_local double @;",
    "_Noreturn void @(void); => (void)&@;",
    "int @(); => (void)&@;",
    "int @() { return 1; } int @(void); => (void)@();",
    "int @(); int @(int); => (void)@(1);",
    "extern char *strcpy(); int @; => (void)strcpy;",
    "int @(int a[static 3], int b[const 2], int *restrict c); => (void)&@;",
];
const C_IN_BLOCK: &[&str] = &[
    "int (*@)[n];",
    "register int @ __asm__(\"rbx\"); => (void)sizeof(@);",
    "register int @ = 1; => (void)sizeof(@);",
    "auto int @; => (void)sizeof(@);",
    "__auto_type @ = 1.0f;",
];

const CPP: &[&str] = &[
    "bool @;",
    "wchar_t @;",
    "char16_t @;",
    "char32_t @[2];",
    "int @{3};",
    "int @(3);",
    "int @ = {3};",
    "point @;",
    "point @{};",
    "point @[2];",
    "struct point @(global_point);",
    "chain @(global_float);",
    "long @(global_int);",
    "long @(global_int * 2);",
    "long @(N);",
    "long fn_@(int(global_int)); int @; => (void)&fn_@; (void)@;",
    "int fn_@(chain); int @; => (void)&fn_@; (void)@;",
    "int fn_@(chain x); int @; => (void)&fn_@; (void)@;",
    "point fn_@(point, int); int @; => (void)&fn_@; (void)@;",
    "const int @(4); => (void)@; (void)sizeof(int[@]);",
    "auto @ = 1L;",
    "auto *@ = &global_int;",
    "const auto @ = 1.0f;",
    "const auto &@ = global_int;",
    "auto &&@ = 3;",
    "auto @ = global_point;",
    "auto @ = [](int x) { return x + 1; };",
    "decltype(1.0f) @;",
    "decltype(global_int) @ = 1;",
    "decltype((global_int)) @ = global_int;",
    "decltype(auto) @ = 1;",
    "decltype(nullptr) @ = nullptr;",
    "int &@ = global_int;",
    "const int &@ = 3;",
    "int &&@ = 3;",
    "int (&@)[3] = global_array;",
    "double *const &@ = nullptr;",
    "int point::*@ = nullptr;",
    "double (point::*@)[2] = nullptr;",
    "using t_@ = const double *; t_@ @;",
    "using t_@ = int[3]; t_@ @;",
    "using t_@ = int &; t_@ @ = global_int;",
    "using t_@ = int (*)(int); t_@ @;",
    "using t_@ [[maybe_unused]] = int; t_@ @;",
    "using t_@ = int __attribute__((mode(QI))); t_@ @;",
    "holder<int> @; => (void)sizeof(@); (void)@.held;",
    "holder<point *> *@;",
    "holder<int>::type @;",
    "alias_of_holder<int> @;",
    "pointer_to<int> @;",
    "array_of<int, 3> @;",
    "int @[holder<int>::WIDTH];",
    "int @[outer::inner::LEVEL]; => (void)outer::width; (void)outer::inner::depth; (void)renamed::depth; (void)outer::inner::more;",
    "int @[base::COUNT]; => (void)sizeof(@); (void)base::COUNT; (void)base::shared_member;",
    "derived @; => (void)@.v2; (void)@.v4; (void)@.get(1);",
    "scoped @ = scoped::SECOND; => (void)sizeof(@); (void)scoped::FIRST;",
    "enum class c_@ : short { X } @ = c_@::X;",
    "enum c_@ : unsigned char { X_@ = 200 } @ = X_@; => (void)sizeof(@); (void)(X_@ + 1);",
    "sized @ = TINY; => (void)sizeof(@); (void)(TINY * 2);",
    "enum { A_@ = 5, B_@ }; long @[B_@]; => (void)(A_@ + B_@);",
    "class c_@ { public: int a; } @; => (void)@.a;",
    "struct s_@ { int a = 3; } @; => (void)@.a;",
    "struct s_@ { mutable int a; } @; => (void)@.a;",
    "struct s_@ { int a; }; struct t_@ : s_@ { int b; } @; => (void)@.a; (void)@.b;",
    "struct @ { int a; }; int @;",
    "struct { int a; } @{};",
    "[[maybe_unused]] int @;",
    "int @ [[maybe_unused]];",
    "int @ [[gnu::mode(QI)]];",
    "[[gnu::aligned(16)]] int @;",
    "alignas(16) int @;",
    "alignas(double) char @[8];",
    "static single *const @ = nullptr;",
    "thread_local int @;",
    "static thread_local long @;",
    // Constants.
    "constexpr int @ = 4; => (void)@; (void)sizeof(int[@]);",
    "static const long @ = 2; => (void)@; (void)sizeof(int[@]);",
    "constexpr unsigned @ = 0xffffffff; => (void)(@ + 1);",
    "constexpr long @ = 1L << 40; => (void)(@ + 1);",
    "const unsigned char @ = 255; => (void)(@ + 1);",
    "const int @ = 0xffffffff; => (void)(@ + 1);",
    "const int @ = 1u - 2; => (void)(@ + 1);",
    "const short @ = 70000; => (void)(@ + 1);",
    "const bool @ = 3; => (void)(@ + 1);",
    "const bool @ = true; => (void)(@ + 1);",
    "constexpr auto @ = 1u << 31; => (void)(@ + 1);",
    "const auto @ = N; => (void)(@ + 1);",
    "const int @ = sizeof(int); => (void)(@ + 1);",
    "const int @ = global_int; => (void)(@ + 1);",
    "const float @ = 4; => (void)(@ + 1);",
    "const double @ = N; => (void)(@ / 8);",
    "const chain @ = N; => (void)(@ / 8);",
    "static const volatile int @ = 3; => (void)(@ + 1);",
    "const int b_@ = 3, @ = b_@ * 2, c_@ = @; => (void)(@ + c_@);",
    "const int @ = 3, *p_@ = &@; => (void)(@ + *p_@);",
    "const int @ = SIZE; => (void)(@ + 1);",
    "const int @ = OTHER; => (void)(@ + 1);",
    "const int @ = 'a'; => (void)(@ + 1);",
    "const int @ = -7 / 2; => (void)(@ + 1);",
    "const int @ = -7 % 3; => (void)(@ + 1);",
    "const quarter @ = 300 & 0x7f; => (void)(@ + 1);",
    "const sized @ = TINY; => (void)(@ + 1);",
    "constexpr int @[] = {1, 2}; => (void)sizeof(@);",
];
const CPP_AT_FILE: &[&str] = &[
    "struct s_@ { mutable int a; static const long b = 3; } @; => (void)@.a; (void)s_@::b;",
    "namespace { int @; }",
    "namespace n_@ { int inner; namespace m { double deep; } } int @; => (void)n_@::inner; (void)n_@::m::deep; (void)@;",
    "inline namespace n_@ { int @; }",
    "namespace n_@ { long @; } using n_@::@;",
    "namespace n_@ { int x_@; } using namespace n_@; int @; => (void)x_@; (void)@;",
    "extern \"C\" int @; => (void)@;",
    "extern \"C\" { extern long @; }",
    "struct s_@ { static int a; static constexpr int K = 4; enum { E = 6 }; }; int @[s_@::K + s_@::E]; int s_@::a; => (void)s_@::a;",
    "template <class T> struct s_@ { T a; T *b; }; s_@<int> @; => (void)@.a; (void)@.b;",
    "template <int K> struct s_@ { int a[K]; }; s_@<3> @; => (void)@.a;",
    "template <class T> T @(T a) { return a; } => (void)@(1);",
    "template <class T> constexpr T w_@ = T(3); int @; => (void)w_@<int>; (void)@;",
    "int @(int a) { return a; } int @(double a) { return (int)a; } => @(1); @(1.0);",
    "static int @(int a = 3, point b = {}) { return a + b.v0; } => @();",
    "auto @(int a) -> decltype(a + 1L) { return a; } => @(1);",
    "struct s_@ { int a; int g(); }; int s_@::g() { return a + global_int; } int @;",
    "struct s_@ { operator int() { return 1; } int operator+(int a) { return a; } } @; => (void)(@ + 1);",
    "inline int @ = 3;",
    "const int @ = 3; extern const int @;",
    "struct s_@ { static int g(int a) { return a; } static int &g() { static int b; return b; } } @; => s_@::g() = s_@::g(2);",
    "#define INLINE_@ static inline\nINLINE_@ chain g_@(chain a) { return a; } chain @; => (void)g_@(chain(1)); (void)(chain)@;",
];
const CPP_IN_BLOCK: &[&str] = &[
    "int c_@ = 3; auto @ = [c_@, d = c_@ + 1L](int e) { return c_@ + d + e; };",
    "int c_@ = 3; auto @ = [&c_@](auto e) { c_@ = 1; return e; };",
    "int c_@ = 3; auto @ = [=] { int @ = c_@; return @; };",
    "using outer::width; double @ = width;",
    "point *@ = nullptr; if (n) point *@ = nullptr; => (void)@->v0;",
    "point @ = {}; for (; n;) point &@ = *new point(); => (void)@.v0;",
    "using namespace outer::inner; float @ = depth;",
    "struct s_@ { int a; int g() { return a; } } @; => (void)@.a;",
    "int @ = 1; if (int @ = 3; @ > 2) { helper(@); } helper(@);",
    "const int @ = 3; { const int @ = 5; (void)sizeof(int[@]); } => (void)sizeof(int[@]);",
    "const int k_@ = 3; const int @ = k_@ + 1; { const int k_@ = 5; (void)sizeof(int[@]); } => (void)sizeof(int[@]);",
    "same(1); same(2.0); int @ = same<int>(3);",
];
