# What scripts share that compare passes on one program: they set `program`, `flags` and `columns`, define `variants` (a name, its
# passes, or `none`, and flags of its own in each line), and source this file.

build() { # DIR OMPSPLIT TOOLKIT
  mkdir -p "$1"
  cp "$0" "${BASH_SOURCE[0]}" "$1"
  local name passes own
  while read -r name passes own; do
    read -ra own <<<"$own"
    if [[ $passes == none ]]; then
      cp "$here/$program" "$1/$name.c"
    else
      "$2" --no-config "${flags[@]}" "${own[@]}" --passes "$passes" --device h200 "$here/$program" >"$1/$name.c" 2>"$1/$name.log"
    fi
    LIBRARY_PATH=$(dirname "$(clang-19 -print-file-name=libomptarget.so)") PATH=$3/bin:$PATH OMPSPLIT_CUBIN=$1/$name.cubin \
      clang-19 -O3 -fopenmp --offload-arch=sm_90 -foffload-lto --cuda-path="$3" "$1/$name.c" -o "$1/$name" -lm
  done < <(variants)
}

run() {
  echo "passes,$columns,sum of the results"
  local name
  while read -r name _; do
    echo "$name,$("$here/$name")"
  done < <(variants)
}

case ${1:-} in
  build) (($# == 4)) && build "$2" "$3" "$4" ;;
  run) run ;;
  *) sed -n 2,3p "$0" >&2; exit 2 ;;
esac
