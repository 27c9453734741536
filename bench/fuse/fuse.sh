#!/usr/bin/env bash
# usage: bench/fuse/fuse.sh build DIR OMPSPLIT TOOLKIT   builds the programs in DIR, on a machine with clang 19
#        DIR/fuse.sh run                                  runs them, on a machine with a GPU and libomptarget
#
# Neighbouring loops as the default passes leave them, and as one kernel. TOOLKIT is what bench/toolkit.sh makes. `run` prints a
# table of microseconds, and the sum of the results, which must be one. What pointers lead to is apart here, as `restrict` says of elements.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

variants() {
  cat <<'END'
original none
default split,hoist,collapse,scalarize,geometry
fuse split,hoist,collapse,scalarize,fuse,geometry
END
}

build() { # DIR OMPSPLIT TOOLKIT
  mkdir -p "$1"
  cp "$here/fuse.sh" "$1"
  local name passes
  while read -r name passes; do
    if [[ $passes == none ]]; then
      cp "$here/steps.c" "$1/$name.c"
    else
      "$2" --no-config --assume --passes "$passes" --device h200 "$here/steps.c" >"$1/$name.c" 2>"$1/$name.log"
    fi
    LIBRARY_PATH=$(dirname "$(clang-19 -print-file-name=libomptarget.so)") PATH=$3/bin:$PATH OMPSPLIT_CUBIN=$1/$name.cubin \
      clang-19 -O3 -fopenmp --offload-arch=sm_90 -foffload-lto --cuda-path="$3" "$1/$name.c" -o "$1/$name"
  done < <(variants)
}

run() {
  echo "passes,state 16384,state 262144,state 4194304,halo,fields and halo,sum of the results"
  local name
  while read -r name _; do
    echo "$name,$("$here/$name")"
  done < <(variants)
}

case ${1:-} in
  build) (($# == 4)) && build "$2" "$3" "$4" ;;
  run) run ;;
  *) sed -n 2,3p "$0" >&2; exit 2 ;;
esac
