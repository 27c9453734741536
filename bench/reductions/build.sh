#!/usr/bin/env bash
# usage: bench/reductions/build.sh DIR     builds the program that times sums in many grids, after `ompsplit-bench build`, whose toolkit it takes
#        LD_LIBRARY_PATH=DIR/driver:.. LD_PRELOAD=DIR/driver/libcuda.so DIR/sums >h200.csv     on the machine with the GPU
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
(($# == 1)) || { sed -n 2,3p "$0" >&2; exit 2; }
mkdir -p "$1/driver"
toolkit=$(realpath "${OMPSPLIT_TOOLKIT:-$here/../../target/bench/work/toolkit}")
LIBRARY_PATH=$(dirname "$(realpath "$(clang-19 -print-file-name=libomptarget.so)")")
export LIBRARY_PATH
OMPSPLIT_CUBIN=$1/sums.cubin PATH=$toolkit/bin:$PATH clang-19 -O2 -fopenmp -Wall -Wextra -Werror --offload-arch=sm_90 -foffload-lto \
  "--cuda-path=$toolkit" "$here/sums.c" -o "$1/sums"
# The library that stands before the driver, linked with an empty one of the driver's name.
clang-19 -O2 -fPIC -shared -Wl,-soname,libcuda.so.1 -x c /dev/null -o "$1/libcuda.so.1"
clang-19 -O2 -fPIC -shared -Wl,--no-as-needed "$here/../harness/cuda_trace.c" "$1/libcuda.so.1" -o "$1/driver/libcuda.so"
rm "$1/libcuda.so.1"
