#!/usr/bin/env bash
# usage: [PROGRAM=kinds|sides|beside|turns] bench/fuse/fuse.sh build DIR OMPSPLIT TOOLKIT   builds the programs in DIR, on a machine with clang 19
#        [PROGRAM=kinds|sides|beside|turns] DIR/fuse.sh run                                  runs them, on a machine with a GPU and libomptarget
#
# Neighbouring loops as the other default passes leave them, and as one kernel: steps of several loops, or pairs of several kinds. TOOLKIT is
# what bench/toolkit.sh makes. `run` prints a table of microseconds, and the sum of the results, which must be one. What pointers lead to is
# apart here, as `restrict` says of elements.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=${PROGRAM:-steps}.c
flags=(--assume)
more=
case $program in
  kinds.c) columns="sums 16384,262144,4194304,67108864,update and sum 16384,262144,4194304,67108864,products 128,512,2048,stencil 128,512,2048" ;;
  # Nothing is assumed here: the host asks what pointers lead to.
  beside.c) columns="products 128,512,2048,8192,borders 1000 2000,100 1000000,4000000 4000001,fields 1024,65536,4194304"; flags=() more=,unroll ;;
  turns.c) columns="rod 1000,1000000,16000000,image 256,1024,4096,volume 32,128,256,copied first 256,1024,4096"; flags=() more=,unroll,tile ;;
  sides.c) columns="by field,by field of a corner,by side,by side of a corner" ;;
  *) columns="state 16384,state 262144,state 4194304,halo,fields and halo" ;;
esac

variants() {
  cat <<END
original none
default split,hoist,collapse,scalarize,geometry$more
fuse split,hoist,collapse,scalarize,fuse,geometry$more
END
}

# It stands beside this script where that was built.
source "$([[ -e $here/passes.sh ]] && echo "$here" || echo "$here/..")/passes.sh"
