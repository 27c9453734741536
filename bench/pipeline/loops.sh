#!/usr/bin/env bash
# usage: bench/pipeline/loops.sh DIR OMPSPLIT [ARCH]
#
# Builds `loops.c` in DIR in three forms for ARCH (sm_90), or for the x86_64 offload device (`host`): as `split`, `collapse` and
# `geometry` make it, with `pipeline` too, and with a window of four tiles. For a GPU it takes what `ompsplit-bench build` has made: the
# toolkit in target/bench/work/toolkit (or OMPSPLIT_TOOLKIT).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
(($# >= 2)) || { sed -n 2p "$0" >&2; exit 2; }
out=$1 ompsplit=$(realpath "$2") arch=${3:-sm_90}
clang=${OMPSPLIT_CLANG:-clang-19}
mkdir -p "$out"
LIBRARY_PATH=$(dirname "$(realpath "$("$clang" -print-file-name=libomptarget.so)")")
export LIBRARY_PATH
flags=(-O2 -fopenmp -Wall -Wextra -Werror -I "$out")
if [[ $arch == host ]]; then
  flags+=(-fopenmp-targets=x86_64-pc-linux-gnu)
else
  toolkit=$(realpath "${OMPSPLIT_TOOLKIT:-$here/../../target/bench/work/toolkit}")
  flags+=("--offload-arch=$arch" -foffload-lto "--cuda-path=$toolkit")
  export PATH=$toolkit/bin:$PATH
fi
"$ompsplit" header >"$out/ompsplit_pin.h"
for form in whole tiles window; do
  passes=split,collapse,geometry more=()
  [[ $form == whole ]] || passes+=,pipeline
  [[ $form != window ]] || more=(--pipeline-window 4)
  "$ompsplit" --no-config --passes "$passes" --device h200 "${more[@]}" "$here/loops.c" >"$out/$form.c" 2>"$out/$form.txt"
  OMPSPLIT_CUBIN=$out/$form.cubin "$clang" "${flags[@]}" "$out/$form.c" -o "$out/$form"
done
