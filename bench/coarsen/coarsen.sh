#!/usr/bin/env bash
# usage: [PROGRAM=windows|neighbours] bench/coarsen/coarsen.sh build DIR OMPSPLIT TOOLKIT   builds the programs in DIR, on a machine with clang 19
#        [PROGRAM=windows|neighbours] DIR/coarsen.sh run                                    runs them, on a machine with a GPU and libomptarget
#
# Kernels as the default passes leave them, with unrolled serial loops, and with groups of iterations where the host
# finds enough of them. TOOLKIT is what bench/toolkit.sh makes. `run` prints a table of microseconds for each length, and the sum of the results, which must be one for each length.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=${PROGRAM:-groups}.c
flags=()
case $program in
  windows.c) columns="length,3 x 3,5 x 5,7 x 7 of double,9 x 9,largest of 5 x 5" ;;
  neighbours.c) columns="length,five,nine,five of double,wave,edges,seven of double" ;;
  *) columns="length,product,doubles,symmetric,filter,attract,transposed,rows" ;;
esac

variants() {
  cat <<'END'
default split,hoist,collapse,scalarize,geometry
unroll split,hoist,collapse,scalarize,geometry,unroll
coarsen split,hoist,collapse,scalarize,coarsen,geometry
as-sure default
END
  # What the default passes do without it.
  [[ $program != neighbours.c ]] || echo "tile split,hoist,collapse,scalarize,fuse,geometry,unroll,tile"
}

# It stands beside this script where that was built.
source "$([[ -e $here/passes.sh ]] && echo "$here" || echo "$here/..")/passes.sh"
