#!/usr/bin/env bash
# usage: bench/overlap/overlap.sh build DIR OMPSPLIT TOOLKIT [ARCH]   makes a package in DIR, on a machine with clang 19; `host` for the CPU
#        DIR/overlap.sh run [LARGEST_MIB] >measured.csv                 runs it, on a machine with a GPU and its driver
#
# The experiment of Figure 6 of Chikin, Gobran and Amaral (2018). TOOLKIT is what bench/toolkit.sh makes (`-` with `host`). The package
# needs nothing else: it holds the offload runtime, or what OMPSPLIT_LIBRARIES names, such as libraries.tar.xz of `ompsplit-bench build`. `run` prints a table; all sums of one size must be one.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# A form's name, and what it is made of.
forms() {
  cat <<'END'
unpinned block.c
pinned block.c -DPINNED
to tasks.c -DPINNED -DIN
from tasks.c -DPINNED -DOUT
both tasks.c -DPINNED -DIN -DOUT
tool tool.c
tool_register tool_register.c
END
}

build() { # DIR OMPSPLIT TOOLKIT ARCH
  mkdir -p "$1"
  local out runtime name block flags target tool
  out=$(realpath "$1") tool=$(realpath "$2")
  runtime=$(dirname "$(realpath "$(clang-19 -print-file-name=libomptarget.so)")")
  cp "${BASH_SOURCE[0]}" "$here/block.c" "$here/tasks.c" "$out"
  "$tool" header >"$out/ompsplit_pin.h"
  # The loops' lengths do not stand in the text; --pipeline-from lets small arrays overlap as well, which the figure shows.
  "$tool" --no-config --passes overlap --device h200 --pipeline-from 1048576 "$out/block.c" >"$out/tool.c"
  "$tool" --no-config --passes overlap --device h200 --pipeline-from 1048576 --pin register "$out/block.c" >"$out/tool_register.c"
  if [[ $4 == host ]]; then
    target=(-fopenmp-targets=x86_64-pc-linux-gnu)
  else
    target=("--offload-arch=$4" -foffload-lto "--cuda-path=$(realpath "$3")")
  fi
  while read -r name block flags; do
    # shellcheck disable=SC2086
    LIBRARY_PATH=$runtime PATH=$3/bin:$PATH OMPSPLIT_CUBIN=$out/$name.cubin \
      clang-19 -O3 -fopenmp "${target[@]}" -I "$out" -DBLOCK="\"$out/$block\"" $flags "$here/overlap.c" -o "$out/$name"
  done < <(forms)
  rm -f "$out"/*.cubin
  # libomptarget opens `libcuda.so`, which many machines have with a number behind its name only.
  mkdir -p "$out/driver"
  clang-19 -O2 -fPIC -shared -Wl,-soname,libcuda.so.1 -x c /dev/null -o "$out/libcuda.so.1"
  clang-19 -O2 -fPIC -shared -Wl,--no-as-needed -x c /dev/null -x none "$out/libcuda.so.1" -o "$out/driver/libcuda.so"
  rm "$out/libcuda.so.1"
  if [[ $4 == host ]]; then
    ln -sfn "$runtime" "$out/lib"
  elif [[ -n ${OMPSPLIT_LIBRARIES:-} ]]; then
    cp "$OMPSPLIT_LIBRARIES" "$out/lib.tar.xz"
  else
    pack "$out" "$runtime"
  fi
}

# The libraries that a program loads, but for those that every system has, in less than 48 MB.
pack() { # DIR RUNTIME
  local library from lib
  lib=$(mktemp -d)
  mkdir "$lib/lib"
  LD_LIBRARY_PATH=$2 ldd "$1/unpinned" "$2/libomptarget.so" | awk '$3 ~ /^\// { print $1, $3 }' | sort -u |
    while read -r library from; do
      case $library in
        libc.so* | libm.so* | libpthread* | libdl* | ld-* | librt*) ;;
        *) cp -L "$from" "$lib/lib/$library" ;;
      esac
    done
  XZ_OPT="--x86 --lzma2=preset=9e" tar -cJf "$1/lib.tar.xz" -C "$lib" lib
  rm -rf "$lib"
}

run() { # LARGEST_MIB
  local largest=${1:-512} name steps
  if [[ ! -e $here/lib ]]; then tar -xJf "$here/lib.tar.xz" -C "$here"; fi
  export LD_LIBRARY_PATH=$here/lib:$here/driver:${LD_LIBRARY_PATH:-}
  export OMP_TARGET_OFFLOAD=MANDATORY
  steps=${STEPS_PER_MIB:-$("$here/unpinned" calibrate)}
  echo "form,mib,least_ms,median_ms,block_ms,sum"
  while read -r name _; do
    "$here/$name" "$steps" "$largest" | sed "s/^/$name,/"
  done < <(forms)
}

case ${1:-} in
  build) (($# >= 4)) && build "$2" "$3" "$4" "${5:-sm_90}" ;;
  run) run "${2:-}" ;;
  *) sed -n 2,3p "$0" >&2; exit 2 ;;
esac
