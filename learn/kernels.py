"""The kernels: parallel loops as a C programmer writes them, in families of programs that access memory alike.

Text of a body is per iteration. `@` stands for the number of the copy where a thread makes several iterations, `i` and `j` for the
variables of the parallel loops (`i@`, `j@`). Arrays: `a` and `b` of float and `x` of int are read, `c` of float is written.
n, m and k are lengths; each size names them. Names in capitals behind a kernel are those of Magni (2015), Table 7.1, that it follows.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Kernel:
    family: str
    name: str
    space: tuple  # lengths of the parallel loops
    sizes: tuple  # (n, m, k)
    init: str = ""  # what each iteration does first
    loops: tuple = ()  # heads of serial loops, one inside the other
    step: str = ""  # what each iteration does in them
    finish: str = ""  # what each iteration does last
    jam: bool = True  # may the copies of an iteration share the serial loops?
    range: str = "n"  # elements that x points into
    written: str = "n"  # elements of c that are written
    operations: str = "1"  # floating-point operations of an iteration, with lengths
    sorted_b: bool = False
    bijective_x: bool = False


KERNELS: list[Kernel] = []


def kernel(family, name, space, sizes, **parts):
    KERNELS.append(Kernel(family, name, space, tuple(sizes), **parts))


def lengths(*values, m=1, k=1):
    return [(n, m, k) for n in values]


STREAM = lengths(1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 26)
ROWS = [(64, 16384, 1), (512, 4096, 1), (4096, 2048, 1), (16384, 1024, 1), (67584, 512, 1), (540672, 192, 1)]
FEW_ROWS = [(64, 8192, 1), (512, 2048, 1), (4096, 1024, 1), (16384, 512, 1), (67584, 256, 1)]
SQUARES = [(n, n, 1) for n in (128, 512, 1024, 4096, 8192)]
PRODUCTS = [(n, n, n) for n in (128, 256, 512, 1024, 1536)]
Q = "for (int q = 0; q < {}; q++)"

# One element after the other.
kernel("stream", "copy", ("n",), STREAM, init="float v@ = a[i@];", finish="c[i@] = v@;", operations="0")
kernel("stream", "triad", ("n",), STREAM, init="float v@ = 3.0f * a[i@] + b[i@];", finish="c[i@] = v@;", operations="2")
kernel("stream", "four", ("n",), lengths(1 << 12, 1 << 16, 1 << 20, 1 << 24),
       init="float v@ = a[i@] * a[n + i@] + a[2 * n + i@] * a[3 * n + i@];", finish="c[i@] = v@;", operations="3")

# Elements that lie apart.
kernel("strided", "every", ("n",), [(1 << 16, 1, 2), (1 << 20, 1, 4), (1 << 22, 1, 8), (1 << 22, 1, 32), (1 << 16, 1, 32)],
       init="float v@ = a[i@ * k];", finish="c[i@] = v@;", operations="0")
kernel("strided", "records", ("n",), lengths(1 << 12, 1 << 16, 1 << 20, 1 << 23),
       init="float v@ = a[8 * i@] * a[8 * i@ + 1] + a[8 * i@ + 2] * a[8 * i@ + 5] - a[8 * i@ + 7];", finish="c[i@] = v@;", operations="4")
kernel("strided", "interleave", ("n",), lengths(1 << 12, 1 << 16, 1 << 20, 1 << 24), written="2 * n",
       init="float v@ = a[i@], w@ = b[i@];", finish="c[2 * i@] = v@ + w@; c[2 * i@ + 1] = v@ - w@;", operations="2")

kernel("stencil1d", "three_points", ("n",), STREAM, init="float v@ = 0.25f * a[i@] + 0.5f * a[i@ + 1] + 0.25f * a[i@ + 2];",
       finish="c[i@] = v@;", operations="5")
kernel("stencil1d", "window", ("n",), [(1 << 12, 9, 1), (1 << 16, 33, 1), (1 << 20, 17, 1), (1 << 23, 9, 1), (1 << 16, 257, 1)],
       init="float s@ = 0;", loops=(Q.format("m"),), step="s@ += b[q] * a[i@ + q];", finish="c[i@] = s@;", operations="2 * m")

kernel("stencil2d", "five_points", ("n", "m"), SQUARES, written="n * m", operations="5",
       init="int o@ = (i@ + 1) * (m + 2) + j@ + 1; float v@ = 0.2f * (a[o@] + a[o@ - 1] + a[o@ + 1] + a[o@ - m - 2] + a[o@ + m + 2]);",
       finish="c[i@ * m + j@] = v@;")
kernel("stencil2d", "nine_points", ("n", "m"), SQUARES, written="n * m", operations="11",
       init="int o@ = i@ * (m + 2) + j@; float v@ = 0.5f * a[o@ + m + 3] + 0.0625f * (a[o@] + a[o@ + 1] + a[o@ + 2] + a[o@ + m + 2] +"
            " a[o@ + m + 4] + a[o@ + 2 * m + 4] + a[o@ + 2 * m + 5] + a[o@ + 2 * m + 6]);",
       finish="c[i@ * m + j@] = v@;")
kernel("stencil2d", "row_stencil", ("n",), [(512, 512, 1), (4096, 1024, 1), (16384, 512, 1)], written="n * m", operations="3 * m",
       loops=(Q.format("m"),), step="c[i@ * m + q] = a[i@ * (m + 2) + q] + a[(i@ + 1) * (m + 2) + q + 1] + a[(i@ + 2) * (m + 2) + q];")

# A cube: STENCIL.
kernel("stencil3d", "planes", ("n", "m"), [(64, 64, 64), (128, 512, 64), (512, 512, 128), (512, 512, 512)], written="n * m * k",
       loops=(Q.format("k"),), operations="8 * k",
       step="{ int o@ = ((q + 1) * (n + 2) + i@ + 1) * (m + 2) + j@ + 1; c[(q * n + i@) * m + j@] = 0.4f * a[o@] + 0.1f * (a[o@ - 1] +"
            " a[o@ + 1] + a[o@ - m - 2] + a[o@ + m + 2] + a[o@ - (n + 2) * (m + 2)] + a[o@ + (n + 2) * (m + 2)]); }")
kernel("stencil3d", "lines", ("n", "m"), [(64, 64, 64), (128, 128, 128), (256, 512, 128), (512, 512, 256)], written="n * m * k",
       loops=(Q.format("k"),), operations="6 * k",
       step="{ int o@ = ((i@ + 1) * (m + 2) + j@ + 1) * (k + 2) + q + 1; c[(i@ * m + j@) * k + q] = 0.4f * a[o@] + 0.15f * (a[o@ - 1] +"
            " a[o@ + 1] + a[o@ - k - 2] + a[o@ + k + 2]); }")

# A row for each thread: MVUNCOAL.
kernel("matvec_rows", "row_sums", ("n",), ROWS, init="float s@ = 0;", loops=(Q.format("m"),), step="s@ += a[i@ * m + q];",
       finish="c[i@] = s@;", operations="m")
kernel("matvec_rows", "matvec", ("n",), ROWS, init="float s@ = 0;", loops=(Q.format("m"),), step="s@ += a[i@ * m + q] * b[q];",
       finish="c[i@] = s@;", operations="2 * m")
kernel("matvec_rows", "two_matrices", ("n",), FEW_ROWS, init="float s@ = 0, t@ = 0;", loops=(Q.format("m"),),
       step="s@ += a[i@ * m + q] * b[q]; t@ += a[(n + i@) * m + q] * b[q];", finish="c[i@] = 1.5f * s@ + 1.2f * t@;", operations="4 * m + 3")

# A column for each thread: MVCOAL.
kernel("matvec_columns", "column_sums", ("n",), ROWS, init="float s@ = 0;", loops=(Q.format("m"),), step="s@ += a[q * n + i@];",
       finish="c[i@] = s@;", operations="m")
kernel("matvec_columns", "transposed", ("n",), ROWS, init="float s@ = 0;", loops=(Q.format("m"),), step="s@ += a[q * n + i@] * b[q];",
       finish="c[i@] = s@;", operations="2 * m")
kernel("matvec_columns", "moments", ("n",), FEW_ROWS, init="float s@ = 0, t@ = 0;", loops=(Q.format("m"),),
       step="s@ += a[q * n + i@]; t@ += a[q * n + i@] * a[q * n + i@];", finish="c[i@] = t@ - s@ * s@ / m;", operations="3 * m + 3")

# Matrix products: SGEMM.
kernel("product", "gemm", ("n", "m"), PRODUCTS, written="n * m", init="float s@ = 0;", loops=(Q.format("k"),),
       step="s@ += a[i@ * k + q] * b[q * m + j@];", finish="c[i@ * m + j@] = 1.5f * s@;", operations="2 * k + 1")
kernel("product", "gemm_transposed", ("n", "m"), PRODUCTS, written="n * m", init="float s@ = 0;", loops=(Q.format("k"),),
       step="s@ += a[q * n + i@] * b[q * m + j@];", finish="c[i@ * m + j@] = s@;", operations="2 * k")
kernel("product", "gemm_thin", ("n", "m"), [(1024, 512, 32), (4096, 512, 16), (8192, 512, 64), (2048, 2048, 8)], written="n * m",
       init="float s@ = 0;", loops=(Q.format("k"),), step="s@ += a[i@ * k + q] * b[q * m + j@];", finish="c[i@ * m + j@] = s@;",
       operations="2 * k")

kernel("rank_k", "syrk", ("n", "m"), PRODUCTS[:4], written="n * m", init="float s@ = 0;", loops=(Q.format("k"),),
       step="s@ += a[i@ * k + q] * a[j@ * k + q];", finish="c[i@ * m + j@] = s@;", operations="2 * k")
kernel("rank_k", "syr2k", ("n", "m"), PRODUCTS[:4], written="n * m", init="float s@ = 0;", loops=(Q.format("k"),),
       step="s@ += a[i@ * k + q] * b[j@ * k + q] + b[i@ * k + q] * a[j@ * k + q];", finish="c[i@ * m + j@] = s@;", operations="4 * k")
kernel("rank_k", "covariance", ("n", "m"), PRODUCTS, written="n * m", init="float s@ = 0;", loops=(Q.format("k"),),
       step="s@ += a[q * n + i@] * a[q * n + j@];", finish="c[i@ * m + j@] = s@ / k;", operations="2 * k + 1")

# MT.
kernel("transpose", "store_apart", ("n", "m"), SQUARES, written="n * m", init="float v@ = a[i@ * m + j@];", finish="c[j@ * n + i@] = v@;",
       operations="0")
kernel("transpose", "load_apart", ("n", "m"), SQUARES, written="n * m", init="float v@ = a[j@ * n + i@];", finish="c[i@ * m + j@] = v@;",
       operations="0")
kernel("transpose", "symmetric_part", ("n", "m"), SQUARES, written="n * m", init="float v@ = 0.5f * (a[i@ * m + j@] + a[j@ * n + i@]);",
       finish="c[i@ * m + j@] = v@;", operations="2")

kernel("gather", "gather", ("n",), lengths(1 << 12, 1 << 16, 1 << 20, 1 << 24), init="float v@ = a[x[i@]];", finish="c[i@] = v@;",
       operations="0")
kernel("gather", "scatter", ("n",), lengths(1 << 12, 1 << 16, 1 << 20, 1 << 24), bijective_x=True, init="float v@ = 2.0f * a[i@];",
       finish="c[x[i@]] = v@;", operations="1")
kernel("gather", "interpolate", ("n",), lengths(1 << 12, 1 << 16, 1 << 20, 1 << 23), init="int o@ = x[i@]; float v@ = a[o@] * b[i@] + a[o@ + 1] * (1 - b[i@]);",
       finish="c[i@] = v@;", operations="4")

# Rows of equal length with their columns: SPMV.
SPARSE = [(4096, 32, 1), (16384, 64, 1), (67584, 32, 1), (540672, 16, 1)]
kernel("sparse", "by_rows", ("n",), SPARSE, init="float s@ = 0;", loops=(Q.format("m"),), step="s@ += a[i@ * m + q] * b[x[i@ * m + q]];",
       finish="c[i@] = s@;", operations="2 * m")
kernel("sparse", "by_columns", ("n",), SPARSE, init="float s@ = 0;", loops=(Q.format("m"),), step="s@ += a[q * n + i@] * b[x[q * n + i@]];",
       finish="c[i@] = s@;", operations="2 * m")

# Rows of different lengths, whose copies cannot share a loop.
TRIANGLE = lengths(512, 2048, 8192, 16384)
kernel("triangle", "rows", ("n",), TRIANGLE, jam=False, init="float s@ = 0;", loops=("for (int q = 0; q <= i@; q++)",),
       step="s@ += a[i@ * n + q] * b[q];", finish="c[i@] = s@;", operations="n")
kernel("triangle", "columns", ("n",), TRIANGLE, jam=False, init="float s@ = 0;", loops=("for (int q = i@; q < n; q++)",),
       step="s@ += a[q * n + i@] * b[q];", finish="c[i@] = s@;", operations="n")
kernel("triangle", "distances", ("n",), lengths(512, 2048, 8192, 16384), jam=False, init="float s@ = 0;", loops=("for (int q = 0; q < i@; q++)",),
       step="s@ += (a[i@] - a[q]) * (a[i@] - a[q]);", finish="c[i@] = s@;", operations="3 * n / 2")

WORK = [(1 << 12, 1, 64), (1 << 16, 1, 64), (1 << 20, 1, 32), (1 << 22, 1, 128), (512, 1, 4096)]
kernel("compute", "horner", ("n",), WORK, init="float v@ = a[i@], s@ = 0;", loops=(Q.format("k"),), step="s@ = s@ * v@ + b[q];",
       finish="c[i@] = s@;", operations="2 * k")
kernel("compute", "iterate", ("n",), WORK, init="float v@ = a[i@];", loops=(Q.format("k"),), step="v@ = v@ * v@ * 0.5f + 0.25f;",
       finish="c[i@] = v@;", operations="3 * k")
kernel("compute", "orbit", ("n", "m"), [(128, 512, 64), (512, 512, 64), (1024, 1024, 64), (2048, 2048, 32)], written="n * m",
       init="float p@ = a[i@] , r@ = b[j@], u@ = 0, v@ = 0;", loops=(Q.format("k"),),
       step="{ float w@ = u@ * u@ - v@ * v@ + p@; v@ = 0.5f * u@ * v@ + r@; u@ = 0.5f * w@; }", finish="c[i@ * m + j@] = u@ + v@;",
       operations="8 * k")

# BLACKSCHOLES, MRIQ.
kernel("functions", "options", ("n",), lengths(1 << 12, 1 << 16, 1 << 20, 1 << 23), operations="40",
       init="float s@ = 20 + 10 * a[i@], e@ = 25 + 40 * b[i@], d@ = (logf(s@ / e@) + 0.08f) / 0.3f, f@ = d@ - 0.3f,"
            " v@ = s@ / (1 + expf(-1.6f * d@)) - e@ * expf(-0.02f) / (1 + expf(-1.6f * f@));",
       finish="c[i@] = v@;")
kernel("functions", "phases", ("n",), [(4096, 256, 1), (65536, 128, 1), (1 << 19, 64, 1), (512, 2048, 1)], written="2 * n", operations="20 * m",
       init="float s@ = 0, t@ = 0, v@ = a[i@];", loops=(Q.format("m"),),
       step="{ float w@ = 6.28f * b[q] * v@; s@ += b[m + q] * cosf(w@); t@ += b[m + q] * sinf(w@); }", finish="c[i@] = s@; c[n + i@] = t@;")
kernel("functions", "roots", ("n",), lengths(1 << 12, 1 << 16, 1 << 20, 1 << 24), operations="12",
       init="float v@ = sqrtf(a[i@] * a[i@] + b[i@] * b[i@] + 1) / (2 + a[i@]);", finish="c[i@] = v@;")

# NBODY.
BODIES = [(4096, 1024, 1), (16384, 1024, 1), (65536, 512, 1), (1 << 20, 256, 1), (512, 8192, 1)]
kernel("nbody", "pull", ("n",), BODIES, init="float s@ = 0, v@ = a[i@];", loops=(Q.format("m"),), operations="7 * m",
       step="{ float d@ = a[q] - v@; s@ += b[q] * d@ / (d@ * d@ + 0.01f); }", finish="c[i@] = s@;")
kernel("nbody", "three_axes", ("n",), BODIES, init="float s@ = 0, t@ = 0, r@ = 0, v@ = a[i@], w@ = a[n + i@], z@ = a[2 * n + i@];", written="3 * n",
       loops=(Q.format("m"),), operations="19 * m",
       step="{ float d@ = a[q] - v@, e@ = a[n + q] - w@, f@ = a[2 * n + q] - z@, g@ = b[q] / sqrtf(d@ * d@ + e@ * e@ + f@ * f@ + 0.01f);"
            " s@ += d@ * g@; t@ += e@ * g@; r@ += f@ * g@; }", finish="c[i@] = s@; c[n + i@] = t@; c[2 * n + i@] = r@;")

# CONVOLUTION, SOBEL.
kernel("filter", "convolution", ("n", "m"), [(128, 512, 9), (512, 512, 9), (1024, 1024, 5), (4096, 4096, 5), (2048, 2048, 17)], written="n * m",
       init="float s@ = 0;", loops=("for (int v = 0; v < k; v++)", "for (int u = 0; u < k; u++)"), operations="2 * k * k",
       step="s@ += a[(i@ + v) * (m + k) + j@ + u] * b[v * k + u];", finish="c[i@ * m + j@] = s@;")
kernel("filter", "sobel", ("n", "m"), SQUARES, written="n * m", operations="16",
       init="int o@ = i@ * (m + 2) + j@; float h@ = a[o@ + 2] + 2 * a[o@ + m + 4] + a[o@ + 2 * m + 6] - a[o@] - 2 * a[o@ + m + 2] - a[o@ + 2 * m + 4],"
            " v@ = a[o@] + 2 * a[o@ + 1] + a[o@ + 2] - a[o@ + 2 * m + 4] - 2 * a[o@ + 2 * m + 5] - a[o@ + 2 * m + 6], s@ = sqrtf(h@ * h@ + v@ * v@);",
       finish="c[i@ * m + j@] = s@;")
kernel("filter", "vertical", ("n", "m"), [(128, 512, 9), (512, 512, 33), (2048, 2048, 17), (4096, 4096, 9)], written="n * m", init="float s@ = 0;",
       loops=(Q.format("k"),), step="s@ += a[(i@ + q) * m + j@] * b[q];", finish="c[i@ * m + j@] = s@;", operations="2 * k")

# FLOYDWARSHALL.
kernel("paths", "relax", ("n", "m"), [(n, n, n // 2) for n in (128, 512, 1024, 4096, 8192)], written="n * m", operations="2",
       init="float p@ = a[i@ * m + j@], r@ = a[i@ * m + k] + a[k * m + j@], v@ = r@ < p@ ? r@ : p@;", finish="c[i@ * m + j@] = v@;")
kernel("paths", "two_hops", ("n", "m"), PRODUCTS[:4], written="n * m", init="float s@ = 1e9f;", loops=(Q.format("k"),),
       step="{ float r@ = a[i@ * k + q] + b[q * m + j@]; s@ = r@ < s@ ? r@ : s@; }", finish="c[i@ * m + j@] = s@;", operations="2 * k")

# DWTHAAR1D, FASTWALSH.
kernel("wavelet", "haar", ("n",), lengths(1 << 12, 1 << 16, 1 << 20, 1 << 24), written="2 * n", operations="4",
       init="float v@ = a[2 * i@], w@ = a[2 * i@ + 1];", finish="c[i@] = 0.7071f * (v@ + w@); c[n + i@] = 0.7071f * (v@ - w@);")
kernel("wavelet", "walsh", ("n",), [(1 << 12, 1, 16), (1 << 16, 1, 1), (1 << 20, 1, 1024), (1 << 24, 1, 64)], written="2 * n", operations="2",
       init="int o@ = i@ / k * 2 * k + i@ % k; float v@ = a[o@], w@ = a[o@ + k];", finish="c[o@] = v@ + w@; c[o@ + k] = v@ - w@;")

# BINARYSEARCH.
kernel("search", "binary_search", ("n",), [(1 << 12, 1 << 16, 16), (1 << 16, 1 << 20, 20), (1 << 20, 1 << 20, 20), (1 << 23, 1 << 16, 16)], sorted_b=True,
       init="float v@ = a[i@]; int l@ = 0, h@ = m;", loops=(Q.format("k"),), operations="k",
       step="{ int g@ = (l@ + h@) / 2; if (b[g@] < v@) l@ = g@; else h@ = g@; }", finish="c[i@] = l@;")
kernel("search", "rank", ("n",), BODIES, init="float v@ = a[i@]; int s@ = 0;", loops=(Q.format("m"),), step="s@ += b[q] < v@;",
       finish="c[i@] = s@;", operations="m")

# Sums along rows that are more than sums.
kernel("rows", "row_maximum", ("n",), ROWS[:5], init="float s@ = -1;", loops=(Q.format("m"),), step="{ float v@ = a[i@ * m + q]; s@ = v@ > s@ ? v@ : s@; }",
       finish="c[i@] = s@;", operations="m")
kernel("rows", "exponentials", ("n",), FEW_ROWS, init="float s@ = 0;", loops=(Q.format("m"),), step="s@ += expf(a[i@ * m + q]);",
       finish="c[i@] = logf(s@);", operations="10 * m")
kernel("rows", "correlate", ("n",), FEW_ROWS, init="float s@ = 0, t@ = 0;", loops=(Q.format("m"),),
       step="s@ += a[i@ * m + q] * a[(n + i@) * m + q]; t@ += a[i@ * m + q] * a[i@ * m + q];", finish="c[i@] = s@ / (t@ + 1);", operations="4 * m")
