#!/usr/bin/env bash
# usage: bench/scalarize/scalarize.sh build DIR OMPSPLIT TOOLKIT   builds the programs in DIR, on a machine with clang 19
#        DIR/scalarize.sh run                                      runs them, on a machine with a GPU and libomptarget
#
# Sums in memory as the other default passes leave them, and kept in variables. TOOLKIT is what bench/toolkit.sh makes. `run` prints a
# table of microseconds, and the sum of the results, which must be one.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=sums.c
flags=()
columns="product,update,row_sums,column_sums,covariances"

variants() {
  cat <<'END'
original none
others split,hoist,collapse,geometry
scalarize split,hoist,collapse,scalarize,geometry
END
}

# It stands beside this script where that was built.
source "$([[ -e $here/passes.sh ]] && echo "$here" || echo "$here/..")/passes.sh"
