#!/usr/bin/env bash
# usage: bench/coarsen/candidates.sh build DIR TOOLKIT   builds the programs in DIR, on a machine with clang 19
#        DIR/candidates.sh run                           runs them, on a machine with a GPU and libomptarget
#
# The kernels of candidates.c by hand, with many sizes of what a thread makes. TOOLKIT is what bench/toolkit.sh makes. `run` prints a table of
# microseconds for each length, and the sum of the results, which must be one for each length.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Rows, columns, how far the columns are apart, threads of a team.
sizes() {
  cat <<'END'
1 1 1 128
2 1 1 128
4 1 1 128
8 1 1 128
16 1 1 128
32 1 1 128
1 2 32 128
1 4 32 128
1 8 32 128
2 2 32 128
4 2 1 128
4 2 32 128
4 4 1 128
4 4 32 128
4 8 32 128
8 2 32 128
8 4 32 128
8 8 32 128
4 1 32 128
8 1 32 128
4 4 32 64
4 4 32 256
8 4 32 256
8 8 32 64
END
}

build() { # DIR TOOLKIT
  mkdir -p "$1"
  cp "${BASH_SOURCE[0]}" "$1"
  local rows columns apart threads name
  while read -r rows columns apart threads; do
    name=$rows-$columns-$apart-$threads
    LIBRARY_PATH=$(dirname "$(clang-19 -print-file-name=libomptarget.so)") PATH=$2/bin:$PATH OMPSPLIT_CUBIN=$1/$name.cubin \
      clang-19 -O3 -fopenmp --offload-arch=sm_90 -foffload-lto --cuda-path="$2" -DROWS="$rows" -DCOLUMNS="$columns" -DAPART="$apart" \
      -DTHREADS="$threads" "$here/candidates.c" -o "$1/$name"
  done < <(sizes)
}

run() {
  echo "rows,columns,apart,threads,length,product,doubles,symmetric,filter,transposed,rows of a vector,attract,sum of the results"
  local rows columns apart threads
  while read -r rows columns apart threads; do
    "$here/$rows-$columns-$apart-$threads"
  done < <(sizes)
}

case ${1:-} in
  build) (($# == 3)) && build "$2" "$3" ;;
  run) run ;;
  *) sed -n 2,3p "$0" >&2; exit 2 ;;
esac
