#!/usr/bin/env bash
# usage: bench/coarsen/coarsen.sh build DIR OMPSPLIT TOOLKIT   builds the programs in DIR, on a machine with clang 19
#        DIR/coarsen.sh run                                    runs them, on a machine with a GPU and libomptarget
#
# Kernels as the default passes leave them, with unrolled serial loops, and with groups of iterations, also
# where the host asks whether there are enough. TOOLKIT is what bench/toolkit.sh
# makes. `run` prints a table of microseconds for each length, and the sum of the results, which must be one for each length.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=groups.c
flags=()
columns="length,product,doubles,symmetric,filter,attract,transposed,rows"

variants() {
  cat <<'END'
default split,hoist,collapse,scalarize,geometry
unroll split,hoist,collapse,scalarize,geometry,unroll
coarsen split,hoist,collapse,scalarize,coarsen,geometry
versioned split,hoist,collapse,scalarize,coarsen,geometry --versioned
END
}

# It stands beside this script where that was built.
source "$([[ -e $here/passes.sh ]] && echo "$here" || echo "$here/..")/passes.sh"
