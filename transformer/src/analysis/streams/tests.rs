use super::*;
use crate::analysis::accesses::accesses;
use crate::region::loop_nest::canonical_nest;
use crate::semantics::symbols::Symbols;
use crate::source::{SourceFile, scan};
use crate::syntax::{HostTree, Limits, NodeKind};

const PARAMETERS: &str = "int n, int m, float *a, float *b, int *at";

/// Does each iteration of the first loop overwrite its piece of `a`?
fn is_overwritten(body: &str) -> bool {
    let text = format!(
        "#define A(i, j) a[(i) * m + (j)]\n#define SET(x) ((x) = 2)\n#define ID(x) (x)\nstatic inline int cell(int i, int j, int m) {{ return i * m + j; }}\n\
         void f({PARAMETERS}) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    );
    with_accesses(text, |tree, found| {
        let touching: Vec<&Access> = found.accesses.iter().filter(|access| access.root.name == "a").collect();
        let stream = stream(found, &touching).unwrap_or_else(|why| panic!("{body}: {why:?}"));
        overwrites(tree, found, &touching, &stream.stride)
    })
}

fn with_accesses<R>(text: String, check: impl FnOnce(&HostTree, &Accesses) -> R) -> R {
    let file = SourceFile::new("t.c", text.into_bytes());
    let tree = HostTree::parse(&file, &scan(&file.text), &Limits::default()).unwrap();
    let symbols = Symbols::new(&file, &tree, &[]);
    let first = tree.descendants(tree.root()).find(|node| tree.kind(*node) == NodeKind::ForStatement).unwrap();
    let nest = canonical_nest(&file, &tree, first, 1).unwrap();
    let found = accesses(&file, &tree, &symbols, &nest.loops, 1, &[]);
    assert!(found.troubles.is_empty(), "{:?}", found.troubles);
    check(&tree, &found)
}

/// How the first loop of a function with this body touches `a`: whether the stride is one, the halo, and whether it is
/// written.
fn read(body: &str) -> Result<(bool, u32, u32, bool), NoStream> {
    let text = format!("void f({PARAMETERS}) {{ {body} }}");
    with_accesses(text, |_, found| {
        let touching: Vec<&Access> = found.accesses.iter().filter(|access| access.root.name == "a").collect();
        let stream = stream(found, &touching).map_err(|(_, why)| why)?;
        Ok((stream.stride == Polynomial::constant(1), stream.behind, stream.ahead, stream.writes))
    })
}

#[test]
fn elements_and_rows_are_pieces() {
    let loop_over = |body: &str| read(&format!("for (int i = 0; i < n; i++) {{ {body} }}"));
    assert_eq!(loop_over("b[i] = a[i];"), Ok((true, 0, 0, false)));
    assert_eq!(loop_over("a[i] = a[i] + 1;"), Ok((true, 0, 0, true)));
    assert_eq!(loop_over("for (int j = 0; j < m; j++) b[i] += a[i * m + j];"), Ok((false, 0, 0, false)));
    assert_eq!(loop_over("for (int j = 0; j < m; j++) a[i * m + j] = 0;"), Ok((false, 0, 0, true)));
    assert_eq!(loop_over("a[4 * i] = 0; a[4 * i + 3] = 1;"), Ok((false, 0, 0, true)));
    assert_eq!(loop_over("for (int j = at[i]; j < at[i + 1]; j++) b[i] += a[i];"), Ok((true, 0, 0, false)));
}

#[test]
fn stencils_have_halos() {
    let inside = |body: &str| read(&format!("for (int i = 1; i < n - 1; i++) {{ {body} }}"));
    assert_eq!(inside("b[i] = a[i - 1] + a[i] + a[i + 1];"), Ok((true, 1, 1, false)));
    assert_eq!(inside("b[i] = a[i - 1];"), Ok((true, 1, 0, false)));
    assert_eq!(inside("b[i] = a[i + 3];"), Ok((true, 0, 3, false)));
    let rows = "for (int j = 1; j < m - 1; j++) b[i * m + j] = a[(i - 1) * m + j - 1] + a[(i + 1) * m + j + 1];";
    assert_eq!(inside(rows), Ok((false, 1, 1, false)));
    let beyond = "for (int j = 0; j < m; j++) b[i * m + j] = a[i * m + j + 1];";
    assert_eq!(inside(beyond), Ok((false, 0, 1, false)));
}

#[test]
fn what_is_no_stream_says_why() {
    let loop_over = |body: &str| read(&format!("for (int i = 0; i < n; i++) {{ {body} }}")).unwrap_err();
    assert_eq!(loop_over("for (int j = 0; j < m; j++) b[i] += a[j];"), NoStream::Shared);
    assert_eq!(loop_over("b[i] = a[at[i]];"), NoStream::Indirect);
    assert_eq!(loop_over("b[i] = a[i + at[i]];"), NoStream::Indirect);
    assert_eq!(loop_over("b[i] = a[n - 1 - i];"), NoStream::Reversed);
    assert_eq!(loop_over("for (int j = 0; j < m; j++) b[i] += a[j * n + i];"), NoStream::Scattered);
    assert_eq!(loop_over("b[i] = a[i] + a[2 * i];"), NoStream::Scattered);
    assert_eq!(loop_over("b[i] = a[i * i];"), NoStream::Scattered);
    assert_eq!(loop_over("a[i + 1] = 0;"), NoStream::Crossing);
    assert_eq!(loop_over("a[i] = a[i + 1];"), NoStream::Crossing);
    // The inner loop may run over more or fewer elements than a row has.
    assert_eq!(loop_over("for (int j = 0; j < n; j++) b[i] += a[i * m + j];"), NoStream::Scattered);
}

#[test]
fn a_piece_is_overwritten_where_no_value_of_it_is_left() {
    for body in [
        "a[i] = b[i];",
        "*(a + i) = ID(b[i]);",
        "{ a[i] = 1; } if (n > 3) a[i] += b[i];",
        "float x = b[i]; a[i] = x; b[i] = a[i] + a[i];",
        "for (int j = 0; j < m; j++) a[i * m + j] = b[j];",
        "for (int j = 0; j < m; j++) { a[i * m + j] = 0; for (int k = 0; k < n; k++) a[i * m + j] += b[k]; }",
        "for (int j = 0; j < m; j++) a[j + m * i] = 0; for (int k = 1; k < m; k++) a[i * m + k] += a[i * m + k - 1];",
        "for (int j = 0; j < m; j++) A(i, j) = b[i];",
        "for (int j = 0; j < m; j++) a[cell(i, j, m)] = b[cell(i, j, m)];",
        "for (int j = 0; j <= m - 1; ++j) a[i * m + j] = 2;",
    ] {
        assert!(is_overwritten(body), "{body}");
    }
}

#[test]
fn a_piece_is_not_overwritten_where_a_value_may_be_left_or_read() {
    for body in [
        "a[i] += b[i];",
        "a[i] = a[i] + 1;",
        "b[i] = a[i]; a[i] = 0;",
        "if (b[i] > 0) a[i] = 1;",
        "if (b[i] > 0) continue; a[i] = 1;",
        "for (int k = 0; k < at[i]; k++) a[i] = k;",
        "while (n < 0) a[i] = 1;",
        "b[i] > 0 && (a[i] = 1);",
        "float t[2]; t[0] = b[i] > 0 ? SET(a[i]) : 0;",
        "float t[2]; t[0] = b[i] > 0 ? (a[i] = ID(1)) : 0;",
        "b[i] = b[i] > 0 ? (a[i] = ID(1)) : 0;",
        "b[i] = b[i] > 0 ? (a[i] = 1) : 0;",
        "a[4 * i] = 0; a[4 * i + 3] = 1;",
        "for (int j = 1; j < m; j++) a[i * m + j] = 0;",
        "for (int j = 0; j < m - 1; j++) a[i * m + j] = 0;",
        "for (int j = 0; j < m; j += 2) a[i * m + j] = 0;",
        "for (int j = 0; j < m; j++) { if (b[j] < 0) continue; a[i * m + j] = 0; }",
        "for (int j = 0; j < m; j++) a[i * m + j] = a[i * m + j] * 2;",
        "for (int j = 0; j < m; j++) { a[i * m + j] = 0; b[i * m + j] = a[i * m]; }",
        "for (int k = 0; k < n; k++) for (int j = 0; j < m; j++) a[i * m + j] = k;",
        "for (int j = 0; j < m; j++) A(i, j) = A(i, j) + 1;",
        "for (int j = 0; j < m; j++) a[cell(i, j, m)] *= 2;",
    ] {
        assert!(!is_overwritten(body), "{body}");
    }
}
