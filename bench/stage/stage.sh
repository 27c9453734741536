#!/usr/bin/env bash
# usage: bench/stage/stage.sh build DIR OMPSPLIT TOOLKIT   builds the programs in DIR, on a machine with clang 19
#        DIR/stage.sh run                                  runs them, on a machine with a GPU and libomptarget
#
# Transpositions and their like as the default passes leave them, and in tiles, as `stage` writes them (tiles.c); and by hand (candidates.c), in
# several forms, with tiles, teams and grids of several sizes. Sums over rows (rows.c) as the default passes leave them, as `stage` and them write them,
# and so where the host does not ask how many and how long the rows are. TOOLKIT is what bench/toolkit.sh makes. `run` prints three tables of
# microseconds for each length, with the sum or a hash of the results, which must be one for each length and table.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

variants() {
  cat <<'END'
none none
default split,hoist,collapse,scalarize,geometry
stage split,hoist,collapse,scalarize,stage,geometry
alone stage
END
}

of_rows() {
  cat <<'END'
rows-none none
rows-default default
rows-stage default,stage
rows-always default,stage
END
}

# The form, the sides of a tile, the threads of a team, the grid.
sizes() {
  cat <<'END'
0 32 64 0
0 32 128 0
0 32 256 0
0 32 512 0
0 32 1024 0
0 32 256 1
0 32 256 2
0 64 256 0
1 32 256 0
2 32 64 0
2 32 128 0
2 32 256 0
2 32 512 0
2 32 256 1
2 32 256 2
2 64 256 0
3 32 128 0
3 32 256 0
3 32 256 1
3 32 256 2
3 32 512 0
3 64 256 0
3 64 512 0
4 32 256 0
4 32 256 1
4 32 1024 0
END
}

compiled() { # TOOLKIT SOURCE PROGRAM FLAG..
  LIBRARY_PATH=$(dirname "$(clang-19 -print-file-name=libomptarget.so)") PATH=$1/bin:$PATH OMPSPLIT_CUBIN=$3.cubin \
    clang-19 -O3 -fopenmp -fopenmp-version=51 --offload-arch=sm_90 -foffload-lto --cuda-path="$1" "${@:4}" "$2" -o "$3"
}

written() { # OMPSPLIT PASSES SOURCE PROGRAM
  if [[ $2 == none ]]; then
    cp "$3" "$4.c"
  else
    "$1" --no-config --passes "$2" --device h200 "$3" >"$4.c" 2>"$4.log"
  fi
}

build() { # DIR OMPSPLIT TOOLKIT
  mkdir -p "$1"
  cp "${BASH_SOURCE[0]}" "$1"
  local name passes form tile threads grid
  while read -r name passes; do
    written "$2" "$passes" "$here/tiles.c" "$1/$name"
    compiled "$3" "$1/$name.c" "$1/$name"
  done < <(variants)
  while read -r name passes; do
    written "$2" "$passes" "$here/rows.c" "$1/$name"
    if [[ $name == rows-always ]]; then
      sed -i 's/if (n >= 512 && m >= 64 && m < 2000000000)/if (n > 0)/' "$1/$name.c"
    fi
    compiled "$3" "$1/$name.c" "$1/$name" -O2
  done < <(of_rows)
  while read -r form tile threads grid; do
    compiled "$3" "$here/candidates.c" "$1/$form-$tile-$threads-$grid" -DFORM="$form" -DTILE="$tile" -DTHREADS="$threads" -DGRID="$grid"
  done < <(sizes)
}

run() {
  local name form tile threads grid
  echo "passes,length,transpose,doubles,symmetric,bytes,two,sum of the results"
  while read -r name _; do
    "$here/$name" | sed "s/^/$name,/"
  done < <(variants)
  echo "passes,rows,elements,product,doubles,distances,bytes,hash of the results"
  while read -r name _; do
    "$here/$name" | sed "s/^/$name,/"
  done < <(of_rows)
  echo "form,tile,threads,grid,length,transpose,doubles,symmetric,sum of the results"
  while read -r form tile threads grid; do
    "$here/$form-$tile-$threads-$grid"
  done < <(sizes)
}

case ${1:-} in
  build) (($# == 4)) && build "$2" "$3" "$4" ;;
  run) run ;;
  *) sed -n 2,3p "$0" >&2; exit 2 ;;
esac
