use super::*;
use crate::source::Scan;
use crate::syntax::{Limits, NodeKind};

/// Reads the first `for` statement, with braces around it, of a function made of `text`.
fn nest(path: &str, text: &str, depth: usize) -> (SourceFile, Result<CanonicalLoopNest, (Problem, Span)>) {
    let file = SourceFile::new(path, format!("void f(void) {{ int n, *a, i, j; {text} ; }}\n").into_bytes());
    let tree = HostTree::parse(&file, &Scan::default(), &Limits::default()).unwrap();
    let start = file.text.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    let body = tree
        .descendants(tree.root())
        .find(|node| {
            tree.span(*node).start == start
                && (tree.kind(*node).is_statement() || tree.kind(*node) == NodeKind::ForRangeLoop)
        })
        .unwrap();
    let result = canonical_nest(&file, &tree, body, depth);
    (file, result)
}

/// `variable type? lower relation upper step` of each loop of a nest.
fn shape(path: &str, text: &str, depth: usize) -> String {
    let (file, result) = nest(path, text, depth);
    match result {
        Err((problem, span)) => format!("{problem:?} `{}`", file.show(span)),
        Ok(nest) => {
            let shapes = nest.loops.iter().map(|read| {
                let sign = if read.step.is_subtracted { '-' } else { '+' };
                let amount = read.step.amount.map_or("1".into(), |amount| file.show(amount));
                let outer = if read.names_outer_variable.is_some() { " not rectangular" } else { "" };
                format!(
                    "{} {:?} {} {:?} {} {sign}{amount}{outer}",
                    read.variable,
                    read.kind,
                    file.show(read.lower),
                    read.relation,
                    file.show(read.upper)
                )
            });
            shapes.collect::<Vec<_>>().join(" / ")
        }
    }
}

#[test]
fn canonical_loops() {
    for (text, expected) in [
        ("for (int i = 0; i < n; i++) a[i] = 1;", "i Integer 0 Less n +1"),
        ("for (i = 0; i <= n - 1; ++i) { a[i] = 1; }", "i Outside 0 LessOrEqual n - 1 +1"),
        ("for (int i = n; i > 0; i--) ;", "i Integer n Greater 0 -1"),
        ("for (int i = n; 0 <= i; --i) ;", "i Integer n GreaterOrEqual 0 -1"),
        ("for (int i = 0; i != n; i++) ;", "i Integer 0 NotEqual n +1"),
        ("for (int i = 0; i < n; i += 2) ;", "i Integer 0 Less n +2"),
        ("for (int i = n; i >= 0; i -= 2) ;", "i Integer n GreaterOrEqual 0 -2"),
        ("for (int i = 0; i < n; i = i + 3) ;", "i Integer 0 Less n +3"),
        ("for (int i = 0; i < n; i = 3 + i) ;", "i Integer 0 Less n +3"),
        ("for (int i = n; i > 0; i = i - n) ;", "i Integer n Greater 0 -n"),
        ("for (size_t i = 0; i < n; i++) ;", "i Integer 0 Less n +1"),
        ("for (unsigned long i = 0; i < n; i++) ;", "i Integer 0 Less n +1"),
        ("for (index_t i = 0; i < n; i++) ;", "i Named 0 Less n +1"),
        ("for (int *p = a; p < a + n; p++) ;", "p Pointer a Less a + n +1"),
        ("{ for (i = 0; i < n; i++) ; }", "i Outside 0 Less n +1"),
        ("{ { /* braces */ for (i = 0; (i) < n; (i)++) ; } }", "i Outside 0 Less n +1"),
        ("for (i = 0; i < n; i++) { if (a[i]) continue; while (1) break; }", "i Outside 0 Less n +1"),
        ("for (i = 0; i < n; i++) { goto next; next: ; }", "i Outside 0 Less n +1"),
        ("for (i = 0; i < n; i++) { switch (a[i]) { case 0: break; } }", "i Outside 0 Less n +1"),
        ("for (i = 0; i < n; i++) { int i = 3; i++; }", "i Outside 0 Less n +1"),
        ("for (i = 0; i < n; i++) { for (int i = 0; i < 3; i++) ; }", "i Outside 0 Less n +1"),
    ] {
        assert_eq!(shape("f.c", text, 1), expected, "{text}");
        assert_eq!(shape("f.cpp", text, 1), expected, "{text}");
    }
}

#[test]
fn what_is_not_canonical() {
    for (text, expected) in [
        ("a[0] = 1;", "NotALoop `a[0] = 1;`"),
        ("{ a[0] = 1; for (i = 0; i < n; i++) ; }", "NotALoop `for (i = 0; i < n; i++) ;`"),
        ("{ }", "NotALoop `{ }`"),
        ("while (n) n--;", "NotALoop `while (n) n--;`"),
        ("for (; i < n; i++) ;", "Initialisation `for (; i < n; i++) `"),
        ("for (int i = 0, j = 0; i < n; i++) ;", "Initialisation `int i = 0, j = 0;`"),
        ("for (i = 0, j = 1; i < n; i++) ;", "Initialisation `i = 0, j = 1`"),
        ("for (int i; i < n; i++) ;", "Initialisation `int i;`"),
        ("for (double x = 0; x < n; x++) ;", "Variable `x = 0`"),
        ("for (a[0] = 0; a[0] < n; a[0]++) ;", "Variable `a[0]`"),
        ("for (i = 0; ; i++) ;", "Condition `for (i = 0; ; i++) `"),
        ("for (i = 0; a[i] < n; i++) ;", "Condition `a[i] < n`"),
        ("for (i = 0; i < n && a[i]; i++) ;", "Condition `i < n && a[i]`"),
        ("for (i = 0; i == n; i++) ;", "Condition `i == n`"),
        ("for (i = 0; i < n; ) ;", "Increment `for (i = 0; i < n; ) `"),
        ("for (i = 1; i < n; i *= 2) ;", "Increment `i *= 2`"),
        ("for (i = 1; i < n; i = 2 - i) ;", "Increment `i = 2 - i`"),
        ("for (i = 0; i < n; j++) ;", "Increment `j++`"),
        ("for (i = 0; i < n; i++, j++) ;", "Increment `i++, j++`"),
        ("for (i = 0; i < n; i--) ;", "Direction `i < n`"),
        ("for (i = n; i > 0; i++) ;", "Direction `i > 0`"),
        ("for (i = 0; i != n; i += 2) ;", "Direction `i != n`"),
        ("for (i = 0; i < n - i; i++) ;", "Bound `i`"),
        ("for (i = 0; i < n; i++) { i = 3; }", "VariableChanged `i`"),
        ("for (i = 0; i < n; i++) { g(&i); }", "VariableChanged `i`"),
        ("for (i = 0; i < n; i++) { (i)++; }", "VariableChanged `(i)`"),
        ("for (i = 0; i < n; i++) { if (a[i]) break; }", "Break `break;`"),
        ("for (i = 0; i < n; i++) break;", "Break `break;`"),
        ("for (i = 0; i < n; i++) { while (1) { return; } }", "Return `return;`"),
        ("for (i = 0; i < n; i++) { while (1) goto out; } out: ;", "Goto `goto out;`"),
    ] {
        assert_eq!(shape("f.c", text, 1), expected, "{text}");
        assert_eq!(shape("f.cpp", text, 1), expected, "{text}");
    }
}

#[test]
fn nests() {
    for (text, depth, expected) in [
        (
            "for (i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i] = j;",
            2,
            "i Outside 0 Less n +1 / j Integer 0 Less n +1",
        ),
        (
            "for (i = 0; i < n; i++) { { for (j = i; j < n; j++) { a[i] = j; } } }",
            2,
            "i Outside 0 Less n +1 / j Outside i Less n +1 not rectangular",
        ),
        ("for (i = 0; i < n; i++) { a[i] = 0; for (j = 0; j < n; j++) ; }", 2, "NotALoop `for (j = 0; j < n; j++) ;`"),
        ("for (i = 0; i < n; i++) a[i] = 0;", 2, "NotALoop `a[i] = 0;`"),
        ("for (i = 0; i < n; i++) for (j = 0; j < n; j++) i = 3;", 2, "VariableChanged `i`"),
        ("for (i = 0; i < n; i++) for (j = 0; j < n; j++) break;", 2, "Break `break;`"),
    ] {
        assert_eq!(shape("f.c", text, depth), expected, "{text}");
    }
}

#[test]
fn loops_of_cpp() {
    for (text, expected) in [
        ("for (int &x : v) x = 1;", "RangeFor `for (int &x : v) x = 1;`"),
        ("for (auto it = v.begin(); it != v.end(); ++it) *it = 1;", "it Named v.begin() NotEqual v.end() +1"),
        ("for (std::size_t i = 0; i < n; ++i) ;", "i Named 0 Less n +1"),
        ("for (int i(0); i < n; ++i) ;", "Initialisation `int i(0);`"),
        ("for (int i = 0; i < n; ++i) { auto g = [&] { return i; }; g(); }", "i Integer 0 Less n +1"),
        ("for (int i = 0; i < n; ++i) { throw 1; }", "Throw `throw 1;`"),
        ("for (long long i = 0; i < n; ++i) { }", "i Integer 0 Less n +1"),
    ] {
        assert_eq!(shape("f.cpp", text, 1), expected, "{text}");
    }
}
