#!/usr/bin/env bash
# usage: bench/pipeline/loops.sh build DIR OMPSPLIT [ARCH]   builds the loops in DIR, on a machine with clang
#        DIR/loops.sh run OUT                                runs them, on a machine with a GPU and libomptarget
#
# `loops.c` for ARCH (sm_90), or for the x86_64 offload device (`host`): `whole` as `split`, `collapse` and `geometry` make it; with `pipeline`
# too, `tiles` as it does by default, `registered` with `--pin register`, `locked` with `--pin none`, `window2`, `window4` and
# `window8` with so many tiles on the device at a time, and `hand-TxN` with other numbers of tiles and threads, by hand. For a GPU it
# takes what `ompsplit-bench build` has made: the toolkit in target/bench/work/toolkit (or OMPSPLIT_TOOLKIT). `run` writes a table
# for each form in OUT: `loops-FORM.csv`; `-pinned` from memory that is page-locked before, `-manager` with
# LIBOMPTARGET_MEMORY_MANAGER_THRESHOLD.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
hand="8x8 16x4 16x8 32x8 32x16 64x16"

compile() { # SOURCE PROGRAM
  OMPSPLIT_CUBIN=$2.cubin "$clang" "${flags[@]}" "$1" -lomptarget -o "$2"
  rm -f "$2.cubin"
}

build() { # DIR OMPSPLIT [ARCH]
  local out=$1 ompsplit arch=${3:-sm_90} form passes more toolkit
  ompsplit=$(realpath "$2") clang=${OMPSPLIT_CLANG:-clang-19}
  mkdir -p "$out"
  LIBRARY_PATH=$(dirname "$(realpath "$("$clang" -print-file-name=libomptarget.so)")")
  export LIBRARY_PATH
  flags=(-O2 -fopenmp -Wall -Wextra -Werror -I "$out")
  if [[ $arch == host ]]; then
    flags+=(-fopenmp-targets=x86_64-pc-linux-gnu)
  else
    toolkit=$(realpath "${OMPSPLIT_TOOLKIT:-$here/../../target/bench/work/toolkit}")
    flags+=("--offload-arch=$arch" -foffload-lto "--cuda-path=$toolkit")
    export PATH=$toolkit/bin:$PATH
  fi
  "$ompsplit" header >"$out/ompsplit_pin.h"
  for form in whole tiles registered locked window2 window4 window8; do
    passes=split,collapse,geometry,pipeline more=(--pipeline-from 1)
    case $form in
      whole) passes=split,collapse,geometry more=() ;;
      registered) more+=(--pin register) ;;
      locked) more+=(--pin none) ;;
      window*) more+=(--pipeline-window "${form#window}") ;;
    esac
    "$ompsplit" --no-config --passes "$passes" --device h200 "${more[@]}" "$here/loops.c" >"$out/$form.c" 2>"$out/$form.txt"
    compile "$out/$form.c" "$out/$form"
  done
  for form in $hand; do
    sed "s/TILES = [0-9]*, THREADS = [0-9]*/TILES = ${form%x*}, THREADS = ${form#*x}/" "$out/tiles.c" >"$out/hand-$form.c"
    compile "$out/hand-$form.c" "$out/hand-$form"
  done
  cp "${BASH_SOURCE[0]}" "$out/loops.sh"
}

run() { # OUT
  local form
  for form in whole tiles registered window2 window4 window8 $(printf 'hand-%s ' $hand); do
    "$here/$form" >"$1/loops-$form.csv"
  done
  for form in whole locked; do
    "$here/$form" --pinned >"$1/loops-$form-pinned.csv"
  done
  for form in window4 window8; do
    LIBOMPTARGET_MEMORY_MANAGER_THRESHOLD=1073741824 "$here/$form" >"$1/loops-$form-manager.csv"
  done
}

case ${1:-} in
  build) (($# >= 3)) && build "${@:2}" ;;
  run) (($# == 2)) && run "$2" ;;
  *) sed -n 2,3p "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
