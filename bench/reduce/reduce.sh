#!/usr/bin/env bash
# usage: bench/reduce/reduce.sh build DIR OMPSPLIT TOOLKIT   builds the programs in DIR, on a machine with clang 19
#        DIR/reduce.sh run                                   runs them, on a machine with a GPU and libomptarget
#
# Rows as the default passes leave them, and shared by whole teams. TOOLKIT is what bench/toolkit.sh makes. `run` prints a table of
# microseconds. The sums of the results may differ in their last digits; behind them stands whether each is close to what one thread
# computes. What pointers lead to is apart here, as `restrict` says of elements.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=rows.c
flags=(--assume --assume=reassociation)
columns="sums of 4096 rows,sums of 262144 rows,softmax,matrix and vector,attention,rows of counts,distances,short rows"

variants() {
  cat <<'END'
original none
default default
reduce default,reduce
END
}

# It stands beside this script where that was built.
source "$([[ -e $here/passes.sh ]] && echo "$here" || echo "$here/..")/passes.sh"
