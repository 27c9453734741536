#!/usr/bin/env bash
# usage: bench/scalarize/scalarize.sh build DIR OMPSPLIT TOOLKIT   builds the programs in DIR, on a machine with clang 19
#        DIR/scalarize.sh run                                      runs them, on a machine with a GPU and libomptarget
#
# Sums in memory as the other default passes leave them, and kept in variables. TOOLKIT is what bench/toolkit.sh makes. `run` prints a
# table of microseconds, and the sum of the results, which must be one.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

variants() {
  cat <<'END'
original none
others split,hoist,collapse,geometry
scalarize split,hoist,collapse,scalarize,geometry
END
}

build() { # DIR OMPSPLIT TOOLKIT
  mkdir -p "$1"
  cp "$here/scalarize.sh" "$1"
  local name passes
  while read -r name passes; do
    if [[ $passes == none ]]; then
      cp "$here/sums.c" "$1/$name.c"
    else
      "$2" --no-config --passes "$passes" --device h200 "$here/sums.c" >"$1/$name.c" 2>"$1/$name.log"
    fi
    LIBRARY_PATH=$(dirname "$(clang-19 -print-file-name=libomptarget.so)") PATH=$3/bin:$PATH OMPSPLIT_CUBIN=$1/$name.cubin \
      clang-19 -O3 -fopenmp --offload-arch=sm_90 -foffload-lto --cuda-path="$3" "$1/$name.c" -o "$1/$name"
  done < <(variants)
}

run() {
  echo "passes,product,update,row_sums,column_sums,covariances,sum of the results"
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
