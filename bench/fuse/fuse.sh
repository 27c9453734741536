#!/usr/bin/env bash
# usage: bench/fuse/fuse.sh build DIR OMPSPLIT TOOLKIT   builds the programs in DIR, on a machine with clang 19
#        DIR/fuse.sh run                                  runs them, on a machine with a GPU and libomptarget
#
# Neighbouring loops as the default passes leave them, and as one kernel. TOOLKIT is what bench/toolkit.sh makes. `run` prints a
# table of microseconds, and the sum of the results, which must be one. What pointers lead to is apart here, as `restrict` says of elements.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=steps.c
flags=(--assume)
columns="state 16384,state 262144,state 4194304,halo,fields and halo"

variants() {
  cat <<'END'
original none
default split,hoist,collapse,scalarize,geometry
fuse split,hoist,collapse,scalarize,fuse,geometry
END
}

# It stands beside this script where that was built.
source "$([[ -e $here/passes.sh ]] && echo "$here" || echo "$here/..")/passes.sh"
