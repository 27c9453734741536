#!/usr/bin/env bash
# usage: learn/try.sh DIR
#
# Builds all kernels for the x86_64 offload device in DIR and runs every form of each once on small lengths: the results must be the same,
# bit for bit.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
(($# == 1)) || { sed -n 2p "$0" >&2; exit 2; }
"$here/build.sh" "$1" host
libraries=$(dirname "$(realpath "$("${OMPSPLIT_CLANG:-clang-19}" -print-file-name=libomptarget.so)")")
export LD_LIBRARY_PATH=$libraries OMP_TARGET_OFFLOAD=MANDATORY OMP_WAIT_POLICY=passive
# Four teams of four threads; the device has one of each by itself.
export KMP_TEAMS_THREAD_LIMIT=64 KMP_DEVICE_THREAD_LIMIT=64 OMP_THREAD_LIMIT=64 OMP_NUM_TEAMS=4 OMP_NUM_THREADS=4 OMP_TEAMS_THREAD_LIMIT=4
for source in "$1"/source/*.c; do
  family=$(basename "$source" .c)
  python3 "$here/sources.py" --plan "$family" | "$1/$family" tiny >"$1/$family.csv"
  echo "$family: $(grep -c same "$1/$family.csv") the same, $(grep -c WRONG "$1/$family.csv" || true) wrong"
  ! grep WRONG "$1/$family.csv"
done
