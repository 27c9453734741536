#!/usr/bin/env bash
# usage: bench/reduce/columns.sh build DIR OMPSPLIT TOOLKIT   builds the programs in DIR, on a machine with clang 19
#        DIR/columns.sh run                                   runs them, on a machine with a GPU and libomptarget
#
# Sums of columns, and atomic updates of one variable, as the default passes leave them, and shared by whole teams. TOOLKIT is what
# bench/toolkit.sh makes. `run` prints a table of microseconds. The sums of `float` may differ in their last digits; behind them stands whether
# those of columns are close to what one thread computes. What pointers lead to is apart here, as `restrict` says of elements.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=columns.c
flags=(--assume --assume=reassociation)
columns="65536 columns,16384 columns,4096 columns,1024 columns,256 columns,4096 short columns,1024 short columns,moments"
for iterations in 1000 100000 10000000; do
  columns+=",$iterations updates,$iterations singles,$iterations counts,$iterations rare counts"
done

variants() {
  cat <<'END'
original none
default default
reduce default,reduce
END
}

# It stands beside this script where that was built.
source "$([[ -e $here/passes.sh ]] && echo "$here" || echo "$here/..")/passes.sh"
