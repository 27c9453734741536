#!/usr/bin/env bash
# usage: bench/pipeline/build.sh DIR [ARCH]
#
# Builds the pipelines in DIR for ARCH (sm_90), or for the x86_64 offload device (`host`). For a GPU it takes what
# `ompsplit-bench build` has made: the toolkit in target/bench/work/toolkit (or OMPSPLIT_TOOLKIT).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
(($# >= 1)) || { sed -n 2p "$0" >&2; exit 2; }
out=$1 arch=${2:-sm_90}
clang=${OMPSPLIT_CLANG:-clang-19}
mkdir -p "$out/driver"
LIBRARY_PATH=$(dirname "$(realpath "$("$clang" -print-file-name=libomptarget.so)")")
export LIBRARY_PATH
flags=(-O2 -fopenmp -Wall -Wextra -Werror -I "$here/../../transformer/src/device/pinned_memory")
if [[ $arch == host ]]; then
  "$clang" "${flags[@]}" -fopenmp-targets=x86_64-pc-linux-gnu "$here/pipeline.c" -lomptarget -o "$out/pipeline"
  exit
fi
toolkit=$(realpath "${OMPSPLIT_TOOLKIT:-$here/../../target/bench/work/toolkit}")
OMPSPLIT_CUBIN=$out/pipeline.cubin PATH=$toolkit/bin:$PATH "$clang" "${flags[@]}" "--offload-arch=$arch" -foffload-lto \
  "--cuda-path=$toolkit" "$here/pipeline.c" -lomptarget -o "$out/pipeline"
# The library that stands before the driver, linked with an empty one of the driver's name.
"$clang" -O2 -fPIC -shared -Wl,-soname,libcuda.so.1 -x c /dev/null -o "$out/libcuda.so.1"
"$clang" -O2 -fPIC -shared -Wl,--no-as-needed "$here/../harness/cuda_trace.c" "$out/libcuda.so.1" -o "$out/driver/libcuda.so"
rm "$out/libcuda.so.1"
