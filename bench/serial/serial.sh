#!/usr/bin/env bash
# usage: bench/serial/serial.sh build DIR OMPSPLIT TOOLKIT   builds the programs in DIR, on a machine with clang 19
#        DIR/serial.sh run                                    runs them, on a machine with a GPU and libomptarget
#
# Loops that one thread of a target region runs, as they are and as the default passes leave them. TOOLKIT is what bench/toolkit.sh makes.
# `run` prints a table of microseconds, and the sum of the results, which must be one.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=loops.c
flags=()
columns="scaled 1000000,product 200,20 steps 100000,decomposed 200,mixed 1000000,few 1000,few 100,few 10"

variants() {
  cat <<'END'
original none
default default
END
}

# It stands beside this script where that was built.
source "$([[ -e $here/passes.sh ]] && echo "$here" || echo "$here/..")/passes.sh"
