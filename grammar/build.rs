//! Compiles the generated parser.

fn main() {
    println!("cargo:rerun-if-changed=src");
    let mut build = cc::Build::new();
    build.std("c11").include("src").file("src/parser.c").warnings(false);
    if build.get_compiler().is_like_msvc() {
        build.flag("-utf-8");
    }
    build.compile("tree-sitter-openmp");
}
