#!/usr/bin/env bash
# usage: bench/real/hecbench.sh build HECBENCH TOOL TOOLKIT BUILT
#        bench/real/hecbench.sh run BUILT ROUNDS CSV
#
# Programs of the public collection HeCBench (a clone in the folder HECBENCH), as they are and as `TOOL --device h200` rewrites them.
# `build` compiles both with the stand-in of CUDA that bench/toolkit.sh made in TOOLKIT. `run` needs an NVIDIA GPU and LLVM's libraries, not
# the clone; it writes the time that each program tells of itself, in milliseconds, and whether all else that it prints is the same.
set -euo pipefail
shopt -s lastpipe
here=$(dirname "$(realpath "$0")")

programs() { grep -v '^#' "$here/programs.txt" | tr -s ' ' | sed 's/ *| */|/g'; }

build_one() {
  local name=$1 sources=$2 from=$HECBENCH/src
  local defines flags compiler
  mapfile -t defines < <(grep -E '^CFLAGS' "$from/$name-omp/Makefile" | grep -oE -- '-D[A-Za-z_0-9=]+' | grep -v STRICT || true)
  flags=(-std=c++17 -I. "-I$from/$name-cuda" "-I$from/include" "${defines[@]}")
  compiler=(clang++-19 -O3 -w -Wno-pass-failed -fopenmp -fopenmp-version=51 --offload-arch=sm_90 -foffload-lto "--cuda-path=$TOOLKIT"
    -static-libstdc++ -static-libgcc)
  for form in original output; do
    local folder=$BUILT/work/$name-$form
    rm -rf "$folder"
    mkdir -p "$BUILT/work" "$BUILT/$name-omp"
    cp -r "$from/$name-omp" "$folder" || return
    cd "$folder" || return
    [[ $form == original ]] || "$TOOL" --quiet --in-place . --device h200 -- "${flags[@]}" || return
    # shellcheck disable=SC2086 # the list of sources is words
    OMPSPLIT_CUBIN=$BUILT/work/$name.cubin LIBRARY_PATH=/usr/lib/llvm-19/lib PATH=$TOOLKIT/bin:$PATH \
      "${compiler[@]}" "${flags[@]}" $sources -o "$BUILT/$name-omp/$form" -lm || return
  done
  ! diff -rq "$BUILT/work/$name-original" "$BUILT/work/$name-output" >/dev/null || { echo "$name: unchanged" >&2; return 1; }
  find "$from/$name-omp" -maxdepth 1 -name '*.txt' -exec cp {} "$BUILT/$name-omp/" \;
  [[ ! -f $from/$name-cuda/detections.txt ]] || { mkdir -p "$BUILT/$name-cuda"; cp "$from/$name-cuda/detections.txt" "$BUILT/$name-cuda/"; }
}

# The sum of the last numbers with a unit in the lines that tell a time, in milliseconds.
milliseconds() {
  grep -- "$1" | sed -E 's/[()]/ /g; s/([0-9])(us|ms|s)\b/\1 \2/' | awk '{
    for (i = NF; i > 1; i--) {
      unit = $i; sub(/,$/, "", unit)
      factor = unit == "us" ? 0.001 : unit == "ms" ? 1 : unit ~ /^s(econds)?$/ ? 1000 : 0
      if (factor) { sum += $(i - 1) * factor; break }
    } } END { printf "%.4f", sum }'
}

run_all() {
  echo "program,form,round,milliseconds,same_text" >"$CSV"
  programs | while IFS='|' read -r name _ pattern arguments; do
    for ((round = 1; round <= ROUNDS; round++)); do
      for form in original output; do
        local told=$BUILT/$name-$form.txt same=yes
        # shellcheck disable=SC2086 # arguments are words
        (cd "$BUILT/$name-omp" && OMP_TARGET_OFFLOAD=MANDATORY timeout 60 "./$form" $arguments </dev/null) >"$told" 2>&1 || echo "failed" >>"$told"
        [[ $form == original ]] || cmp -s <(without_figures <"$BUILT/$name-original.txt") <(without_figures <"$told") || same=no
        echo "$name,$form,$round,$(milliseconds "$pattern" <"$told"),$same" | tee -a "$CSV"
      done
    done
  done
}

# What a program prints, without the lines about its speed.
without_figures() { grep -viE 'time|execution|bandwidth|rate|metric|performance|speedup|GF/s|^dt = ' || true; }

case ${1:-} in
  build)
    (($# == 5)) || { sed -n 2,3p "$0" >&2; exit 2; }
    HECBENCH=$(realpath "$2") TOOL=$(realpath "$3") TOOLKIT=$(realpath "$4")
    mkdir -p "$5"
    BUILT=$(realpath "$5")
    programs | while IFS='|' read -r name sources _ _; do
      if (build_one "$name" "$sources"); then echo "$name: built"; else echo "$name: not built" >&2; fi
    done
    rm -rf "$BUILT/work"
    ;;
  run)
    (($# == 4)) || { sed -n 2,3p "$0" >&2; exit 2; }
    BUILT=$(realpath "$2") ROUNDS=$3 CSV=$(realpath -m "$4")
    run_all
    ;;
  *) sed -n 2,3p "$0" >&2; exit 2 ;;
esac
