#!/usr/bin/env bash
# usage: bench/rows_of_data/rows.sh build DIR TOOLKIT   builds the program in DIR, on a machine with clang 19
#        DIR/rows                                       runs it, on a machine with a GPU and libomptarget
#
# Sparse rows with teams of 16 to 256 threads (rows.c). TOOLKIT is what bench/toolkit.sh makes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[[ ${1:-} == build && $# == 3 ]] || { sed -n 2,3p "$0" >&2; exit 2; }
mkdir -p "$2"
LIBRARY_PATH=$(dirname "$(clang-19 -print-file-name=libomptarget.so)") PATH=$3/bin:$PATH OMPSPLIT_CUBIN=$2/rows.cubin \
  clang-19 -O2 -fopenmp -fopenmp-version=51 --offload-arch=sm_90 -foffload-lto --cuda-path="$3" "$here/rows.c" -o "$2/rows"
