//! What every program begins with.

use super::families::Form;
use crate::support::generator::rng::Rng;

const C: &str = "#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
";

const CPP: &str = "#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <utility>
";

/// Functions that the others call, and what all of them know.
const COMMON: &str = r#"
enum { N = 96 };
static real kept[N];
static real grid_of_file[N], other_of_file[N];
real known[N];
static real *saved;

/* What arrays begin with, and sums; `main` is told the kind. */
static int kind;
static double start;

static real value(int i)
{
    return kind == 0 ? i % 9 - 2 : kind == 1 ? i * 37 % 101 * 0.25 - 6 : i * 61 % 127 * 0.375 + 1;
}

static void fill(real *values, int place)
{
    start = (place + kind) % 3 == 0 ? 0 : (place + kind) % 3 == 1 ? 35 : -9;
    for (int i = 0; i < 3 * N; i++)
        values[i] = value(i + place);
}

/* Each element counts for itself. */
static void show(int index, const real *values)
{
    double sum = 0;
    for (int i = 0; i < 3 * N; i++)
        sum += (double)values[i] * (i + 1);
    printf("%d %.17g\n", index, sum);
}

typedef struct {
    int n;
    real *u, *v;
    real few[8];
} grid;

static real first_of(const real *values) { return values[0]; }
static void store(real *values, int at, real value) { values[at] = value; }
static void keep(real *values) { saved = values; }

static void grow(int n, real *values)
{
    #pragma omp target teams distribute parallel for map(tofrom: values[0:n])
    for (int i = 0; i < n; i++)
        values[i] = 0.5 * values[i] + 1;
}

static void join(int n, const real *from, real *into)
{
    #pragma omp target teams distribute parallel for map(to: from[0:n]) map(tofrom: into[0:n])
    for (int i = 0; i < n; i++)
        into[i] = 0.5 * into[i] + 0.25 * from[i];
}

static void copy(int n, const real *from, real *into)
{
    #pragma omp target teams distribute parallel for map(to: from[0:n]) map(from: into[0:n])
    for (int i = 0; i < n; i++)
        into[i] = from[i] + 0.5;
}

/* What functions that it calls run. */
static void both_ways(int n, real *a, real *b)
{
    join(n, a, b);
    grow(n, a);
    join(n, b, a);
}

static void relax(const grid *g)
{
    const real *u = g->u;
    real *v = g->v;
    const int n = g->n;
    #pragma omp target teams distribute parallel for map(to: u[0:n]) map(tofrom: v[0:n])
    for (int i = 1; i < n - 1; i++)
        v[i] = 0.25 * (u[i - 1] + u[i + 1]) + 0.5 * v[i];
}

static void scale(grid *g, int by)
{
    const int n = g->n;
    #pragma omp target teams distribute parallel for map(tofrom: g->u[0:g->n], g->v[0:g->n])
    for (int i = 0; i < n; i++)
        g->u[i] = 0.5 * g->v[i] + 0.25 * g->u[i] + by;
}

static void advance(grid *g)
{
    relax(g);
    scale(g, 1);
}
"#;

/// The first lines of a program of this form.
pub(super) fn text(rng: &mut Rng, form: Form) -> String {
    let includes = if form == Form::Cpp { CPP } else { C };
    // Integers would soon be the same, whatever they began with.
    let real = rng.pick(&["double", "double", "float"]);
    format!("{includes}\ntypedef {real} real;\n{COMMON}")
}
