#!/usr/bin/env bash
# usage: bench/unroll/unroll.sh build DIR OMPSPLIT   builds the programs in DIR, on a machine with clang
#        DIR/unroll.sh run                           runs them, on a machine with a GPU and libomptarget
#
# Serial loops, unrolled by hand: those of the suite's programs as `split`, `collapse` and `geometry` leave them for an H200, and
# those of lengths.c and asked.c. `build` takes what `ompsplit-bench build` has made: target/bench, or OMPSPLIT_BENCH. `run` prints three tables.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# The programs, the lines in front of which the directive is put, and how far they are unrolled.
programs() {
  cat <<'END'
row_sums inner 8 16 32 64
matvec_rows inner 8 16 32 64
matvec_columns inner 8 16
gemm inner 8 16 32
two_mm inner 8 16
matrix_sums inner 4 8 16
matrix_sums outer 8 16
covar inner 8 16
nbody inner 4 8
atax inner 8 16
gesummv inner 8 16
mvt inner 8 16
syrk inner 8
END
}

sizes() {
  case $1 in
    row_sums) printf '%s\n' '16 16384' '256 16384' '1024 16384' '2048 8192' '4096 4096' '8192 4096' '16384 4096' '32768 2048' \
      '65536 1024' '262144 256' '65536 64' '4096 32' ;;
    matvec_rows) printf '%s\n' '256 16384' '4096 4096' '8192 8192' '65536 1024' ;;
    atax | matvec_columns) printf '%s\n' '4096 4096' '512 8192' ;;
    matrix_sums) printf '%s\n' '512 1' '512 2' '512 4' '512 8' '2000 1' '2000 4' ;;
    gemm) printf '%s\n' 512 2048 ;;
    two_mm) printf '%s\n' 512 1024 ;;
    gesummv | mvt) printf '%s\n' 4096 1024 ;;
    covar) echo '1024 640' ;;
    syrk) echo '512 512' ;;
    nbody) echo 16384 ;;
  esac
}

# Puts the directive in front of the loops over j, k, q .. that no directive takes.
unrolled() { # FILE LOOP FACTOR
  local variable
  case $(basename "$1")/$2 in
    row_sums.c/* | matvec_*.c/* | nbody.c/* | gesummv.c/*) variable=j ;;
    atax.c/* | mvt.c/* | covar.c/*) variable=[ij] ;;
    matrix_sums.c/outer) variable=q ;;
    matrix_sums.c/inner) variable=matrix ;;
    *) variable=k ;;
  esac
  awk -v loop="^ +for \\(int $variable = " -v factor="$3" '
    /pragma omp target teams/ { taken = /collapse\(2\)/ ? 2 : 1 }
    /^ +for / && taken-- <= 0 && $0 ~ loop { print "#pragma omp unroll partial(" factor ")" }
    { print }' "$1"
}

build() {
  local out=$1 ompsplit bench=${OMPSPLIT_BENCH:-$here/../../target/bench} clang=${OMPSPLIT_CLANG:-clang-19}
  mkdir -p "$out/bin" "$out/source"
  ompsplit=$(realpath "$2") bench=$(realpath "$bench") out=$(realpath "$out")
  cp -r "$bench/tree/driver" "$here/unroll.sh" "$out"
  LIBRARY_PATH=$(dirname "$(realpath "$("$clang" -print-file-name=libomptarget.so)")")
  export LIBRARY_PATH PATH=$bench/work/toolkit/bin:$PATH
  local flags=(-O2 -fopenmp -Wall -Wextra -Werror --offload-arch=sm_90 -foffload-lto "--cuda-path=$bench/work/toolkit")
  local program loop factors factor
  while read -r program loop factors; do
    local folder=$here/../programs/$program text=$out/source/$program.c
    "$ompsplit" --no-config --passes split,collapse,geometry --device h200 "$folder/naive.c" >"$text" 2>/dev/null
    for factor in 0 $factors; do
      local name=$program-$loop-$factor
      if ((factor)); then unrolled "$text" "$loop" "$factor"; else cat "$text"; fi >"$out/source/$name.c"
      OMPSPLIT_CUBIN=$out/cubin "$clang" "${flags[@]}" -I "$here/../harness" -I "$folder" "$out/source/$name.c" \
        "$bench/work/objects/"{"$program",main,arrays,checks}.o -lm -o "$out/bin/$name"
    done
  done < <(programs)
  for factor in 0 8 16 32 64; do
    OMPSPLIT_CUBIN=$out/cubin "$clang" "${flags[@]}" "-DUNROLLED=$factor" "$here/lengths.c" -o "$out/lengths-$factor"
  done
  OMPSPLIT_CUBIN=$out/cubin "$clang" "${flags[@]}" "$here/asked.c" -o "$out/asked"
  rm -f "$out/cubin"
}

run() {
  export OMP_TARGET_OFFLOAD=MANDATORY KMP_BLOCKTIME=0
  echo program,loop,unrolled,sizes,median_us,least_us
  local binary program loop factor size
  for binary in "$here"/bin/*; do
    IFS=- read -r program loop factor <<<"$(basename "$binary")"
    while read -r size; do
      printf '%s\n' "setup $size" 'prepare 1' trace trace trace trace trace trace trace |
        LD_LIBRARY_PATH=$here/driver:${LD_LIBRARY_PATH-} "$binary" --serve |
        awk '$1 == "trace" { print $3 * 1000 }' | sort -g |
        awk -v row="$program,$loop,$factor,$size" '{ t[NR] = $1 } END { printf "%s,%.1f,%.1f\n", row, t[4], t[1] }'
    done < <(sizes "$program")
  done
  echo kernel,unrolled,iterations,length,us
  for binary in "$here"/lengths-*; do "$binary"; done
  "$here/asked"
}

case ${1-} in
  build) build "${@:2}" ;;
  run) run ;;
  *) sed -n 2,3p "$0" >&2; exit 2 ;;
esac
