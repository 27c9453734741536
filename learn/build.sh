#!/usr/bin/env bash
# usage: learn/build.sh DIR [sm_90|host] [profiled]
#
# Builds in DIR a program for each family of kernels, for sm_90 with the toolkit that bench/toolkit.sh makes, or for the x86_64 offload
# device (`host`); `profiled`: the programs of learn/profile instead. What ran already is kept: delete DIR to build anew.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
(($# >= 1)) || { sed -n 2p "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd) arch=${2:-sm_90} programs=${3:-measured}
clang=${OMPSPLIT_CLANG:-clang-19}
LIBRARY_PATH=$(dirname "$(realpath "$("$clang" -print-file-name=libomptarget.so)")")
export LIBRARY_PATH
mkdir -p "$out/source" "$out/cubins" "$out/driver"
flags=(-O2 -fopenmp -Wall -Wextra -Werror -Wno-unused-parameter "-I$here")
case $programs-$arch in
  profiled-*) python3 "$here/profile/plan.py" sources "$out/source" ;;
  *-host) python3 "$here/sources.py" "$out/source" few ;;
  *) python3 "$here/sources.py" "$out/source" ;;
esac
if [[ $arch == host ]]; then
  flags+=(-fopenmp-targets=x86_64-pc-linux-gnu)
else
  [[ -e $out/toolkit ]] || "$here/../bench/toolkit.sh" "$out/toolkit"
  export PATH=$out/toolkit/bin:$PATH
  flags+=("--offload-arch=$arch" -foffload-lto "--cuda-path=$out/toolkit")
fi

# A profiler is itself no program for the libraries that travel along: only its target finds them.
[[ $programs == profiled ]] && flags+=("-Wl,--disable-new-dtags,-rpath,\$ORIGIN/lib")

compile() { # FAMILY
  local built=$out/$1
  [[ $built -nt $out/source/$1.c ]] && return
  OMPSPLIT_CUBIN=$out/cubins/$1.cubin "$clang" "${flags[@]}" "$out/source/$1.c" -o "$built.new" -lm && mv "$built.new" "$built" && echo "$1"
}
for source in "$out"/source/*.c; do
  compile "$(basename "$source" .c)" &
  while (($(jobs -r | wc -l) >= ${JOBS:-2})); do wait -n; done
done
wait
[[ $arch == host || $programs == profiled ]] && exit
# The library that stands before the driver, linked with an empty one of the driver's name.
"$clang" -O2 -fPIC -shared -Wl,-soname,libcuda.so.1 -x c /dev/null -o "$out/libcuda.so.1"
"$clang" -O2 -fPIC -shared -Wl,--no-as-needed "$here/../bench/harness/cuda_trace.c" "$out/libcuda.so.1" -o "$out/driver/libcuda.so"
rm "$out/libcuda.so.1"
