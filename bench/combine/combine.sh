#!/usr/bin/env bash
# usage: bench/combine/combine.sh build DIR OMPSPLIT TOOLKIT   builds the programs in DIR, on a machine with clang 19
#        DIR/combine.sh run                                    runs them, on a machine with a GPU and libomptarget
#
# Loops whose results are combined (sums.c): as they are, and with the grids and tiles of the other default passes, each with the runtime's reduction across
# teams and with atomic updates, as `combine` writes them. TOOLKIT is what bench/toolkit.sh makes. `run` prints microseconds for each length, launch included: the
# least of two rounds; and the sum of the results, which must be one for each length.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
names=(original original_combined default default_combined)

passes() { # NAME
  case $1 in
    original) echo none ;;
    original_combined) echo combine ;;
    default) echo split,hoist,collapse,scalarize,fuse,geometry,unroll,tile ;;
    default_combined) echo split,hoist,collapse,scalarize,fuse,geometry,unroll,tile,combine ;;
  esac
}

build() { # DIR OMPSPLIT TOOLKIT
  mkdir -p "$1"
  cp "${BASH_SOURCE[0]}" "$1"
  local name
  for name in "${names[@]}"; do
    if [[ $(passes "$name") == none ]]; then
      cp "$here/sums.c" "$1/$name.c"
    else
      "$2" --no-config --passes "$(passes "$name")" --device h200 "$here/sums.c" >"$1/$name.c" 2>"$1/$name.log"
    fi
    LIBRARY_PATH=$(dirname "$(clang-19 -print-file-name=libomptarget.so)") PATH=$3/bin:$PATH OMPSPLIT_CUBIN=$1/$name.cubin \
      clang-19 -O2 -fopenmp -fopenmp-version=51 --offload-arch=sm_90 -foffload-lto --cuda-path="$3" "$1/$name.c" -o "$1/$name" -lm
  done
}

run() {
  echo "form,length,sum_of_float,product,update,norm,residual,time_step,circle,divisible,checksum,rows,gathered,float_sum,rising,sum of the results"
  local round name
  for round in 1 2; do
    for name in "${names[@]}"; do
      "$here/$name" "$@" | sed "s/^/$name,/"
    done
  done | awk -F, '
    { row = $1 "," $2
      if (!(row in result)) { order[++rows] = row; result[row] = $NF }
      if (result[row] != $NF) result[row] = "differs"
      for (k = 3; k < NF; k++) if (!((row, k) in least) || $k < least[row, k]) least[row, k] = $k
      columns = NF }
    END { for (r = 1; r <= rows; r++) { printf "%s", order[r]; for (k = 3; k < columns; k++) printf ",%.1f", least[order[r], k]; print "," result[order[r]] } }'
}

case ${1:-} in
  build) (($# == 4)) && build "$2" "$3" "$4" ;;
  run) shift && run "$@" ;;
  *) sed -n 2,3p "$0" >&2; exit 2 ;;
esac
