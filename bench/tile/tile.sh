#!/usr/bin/env bash
# usage: bench/tile/tile.sh build DIR OMPSPLIT TOOLKIT   builds the programs in DIR, on a machine with clang 19
#        DIR/tile.sh run                                 runs them, on a machine with a GPU and libomptarget
#
# Nests that do little and sums (nests.c) with the grids of `geometry`, and with tiles as well, as `tile` writes them; and with tiles of two, four and
# eight iterations at any length, in all kernels. TOOLKIT is what bench/toolkit.sh makes. `run` prints microseconds for each length, launch included, with the sum of
# the results, which must be one for each length.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

build() { # DIR OMPSPLIT TOOLKIT
  mkdir -p "$1"
  cp "${BASH_SOURCE[0]}" "$1"
  local name rows
  "$2" --no-config --passes split,collapse,geometry --device h200 "$here/nests.c" >"$1/grids.c" 2>"$1/grids.log"
  "$2" --no-config --passes split,collapse,geometry,tile --device h200 "$here/nests.c" >"$1/tile.c" 2>"$1/tile.log"
  for rows in 2 4 8; do
    awk -v rows="$rows" '
      /^#pragma omp target teams/ { loops = match($0, /collapse\([0-9]/) ? substr($0, RSTART + 9, 1) : 1 }
      /^    for \(int i = [01];/ && loops { print "#pragma omp tile sizes(" rows (loops > 1 ? ", 1" : "") (loops > 2 ? ", 1" : "") ")"; loops = 0 }
      { print }' "$1/grids.c" >"$1/rows$rows.c"
  done
  for name in grids tile rows2 rows4 rows8; do
    LIBRARY_PATH=$(dirname "$(clang-19 -print-file-name=libomptarget.so)") PATH=$3/bin:$PATH OMPSPLIT_CUBIN=$1/$name.cubin \
      clang-19 -O2 -fopenmp -fopenmp-version=51 --offload-arch=sm_90 -foffload-lto --cuda-path="$3" "$1/$name.c" -o "$1/$name"
  done
}

run() {
  local name
  echo "loops,length,five_points,nine_points,copy,bytes,shortest,residual,seven_points,cube,seven_of_double,update,streams,sum_of_float,product_of_float,product_of_double,squares,sum of the results"
  for name in grids tile rows2 rows4 rows8; do
    "$here/$name" | sed "s/^/$name,/"
  done
}

case ${1:-} in
  build) (($# == 4)) && build "$2" "$3" "$4" ;;
  run) run ;;
  *) sed -n 2,3p "$0" >&2; exit 2 ;;
esac
