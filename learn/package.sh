#!/usr/bin/env bash
# usage: learn/package.sh BUILD [profiled]
#
# Packs in BUILD/package what build.sh and features.py made, with the offload runtime: `package/run OUT` measures on a machine with a GPU.
# `profiled`: what build.sh and profile/plan.py made: `package/run-counters OUT` counts there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
(($# >= 1)) || { sed -n 2p "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
export XZ_OPT="--x86 --lzma2=preset=9e"
library=$(realpath "$("${OMPSPLIT_CLANG:-clang-19}" -print-file-name=libomptarget.so)")
if [[ ! -e $build/libraries.tar.xz ]]; then # changes with the compiler only
  staging=$(mktemp -d)
  trap 'rm -rf "$staging"' EXIT
  mkdir "$staging/lib"
  cp "$library" "$staging/lib"
  # Parts of the C library belong to the machine.
  ldd "$library" | awk '$2 == "=>" && $1 !~ /^(libc|libm|libdl|librt|libpthread)\./ {print $1, $3}' | while read -r name path; do
    cp "$(realpath "$path")" "$staging/lib/$name"
  done
  tar -cJf "$build/libraries.tar.xz.new" -C "$staging" lib
  mv "$build/libraries.tar.xz.new" "$build/libraries.tar.xz"
fi
rm -rf "$build/package"
mkdir "$build/package"
cp "$build/libraries.tar.xz" "$build/package"
if [[ ${2:-} == profiled ]]; then
  cp "$here/profile/run-counters" "$build/package"
  cp "$here/profile/metrics" "$build"
  mapfile -t programs < <(cd "$build" && ls -d part?)
  tar -cJf "$build/package/built.tar.xz" -C "$build" metrics plan probe "${programs[@]}"
else
  cp "$here/run" "$build/package"
  mapfile -t families < <(cd "$build/plan" && ls)
  tar -cJf "$build/package/built.tar.xz" -C "$build" driver plan "${families[@]}"
fi
du -b -c "$build/package"/* | tail -1
