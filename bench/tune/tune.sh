#!/usr/bin/env bash
# usage: bench/tune/tune.sh build DIR OMPSPLIT TOOLKIT   builds all candidates in DIR, on a machine with clang 19
#        DIR/tune.sh run [PROGRAM..]                     measures them, on a machine with a GPU, Python and nothing else
#
# Three programs that no rule was made from: what `ompsplit tune` finds, in how long, beside a search through every candidate at the largest
# size. TOOLKIT is what bench/toolkit.sh makes; OMPSPLIT is a program that runs on both machines. CANDIDATES bounds the candidates of a kernel
# in both searches, ROUNDS (4) says how often the exhaustive one runs each, BUDGET (3600) how many seconds it may take, REPEATS (1) how often is
# searched before, PROGRAMS which are built, GPUS (as 0,1) on which GPUs of the machine runs are made at the same time. `run` prints what each
# search found, and how far that is from the best, and leaves the results in DIR.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Name, sizes, and the iterations of its kernel at the largest, by which grids are predicted.
programs() {
  cat <<'END'
stencil N in 256..8192, work N^2|67108864
products N in 64..16384, work N|16777216
rows N in 256..131072, work N|131072
END
}

build() { # DIR OMPSPLIT TOOLKIT
  mkdir -p "$1/lib"
  local dir name rest size iterations
  dir=$(cd "$1" && pwd)
  cp "$0" "$dir"
  strip -o "$dir/ompsplit" "$2"
  local runtime
  runtime=$(dirname "$(realpath "$(clang-19 -print-file-name=libomptarget.so)")")
  ldd "$runtime/libomptarget.so" | awk '$2 == "=>" && $1 !~ /^(libc|libm|libdl|librt|libpthread|ld-linux|linux-vdso)[.-]/ { print $1, $3 }' |
    while read -r name rest; do cp "$rest" "$dir/lib/$name"; done
  cp "$runtime/libomptarget.so" "$dir/lib/$(basename "$(realpath "$runtime/libomptarget.so")")"
  # The toolkit wants a file of its own for each build.
  local make="LIBRARY_PATH=$runtime PATH=$3/bin:\$PATH OMPSPLIT_CUBIN=\$PWD/cubin clang-19 -O3 -fopenmp --offload-arch=sm_90 -foffload-lto"
  while IFS='|' read -r rest iterations; do
    name=${rest%% *} size=${rest#* }
    [[ " ${PROGRAMS:-$name} " == *" $name "* ]] || continue
    mkdir -p "$dir/$name/source"
    cp "$here/$name.c" "$dir/$name/source/app.c"
    echo "building $name"
    (cd "$dir/$name/source" && "$dir/ompsplit" tune app.c --no-config --device h200 --assumed-iterations "$iterations" \
      --build "$make --cuda-path=$3 app.c -o app -lm && rm -f cubin" --run './app {N}' --size "$size" \
      ${CANDIDATES:+--candidates "$CANDIDATES"} --prepare "$dir/$name/ready" --quiet)
  done < <(programs)
  tar -C "$dir" -cf - . | xz -T2 -6 --memlimit-compress=4GiB > "$dir.tar.xz"
  du -h "$dir.tar.xz"
}

run() { # PROGRAM..
  export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  local name repeat
  for name in "$@"; do
    for ((repeat = 1; repeat <= ${REPEATS:-1}; repeat++)); do
      "$here/ompsplit" tune --measure "$here/$name/ready" ${GPUS:+--gpus "$GPUS"} --quiet --output-format json \
        > "$here/$name-tuned-$repeat.json"
      found "$here/$name-tuned-$repeat.json"
    done
    "$here/ompsplit" tune --measure "$here/$name/ready" ${GPUS:+--gpus "$GPUS"} --exhaustive --rounds "${ROUNDS:-4}" --budget "${BUDGET:-3600}" --quiet --output-format json \
      > "$here/$name-exhaustive.json"
    for ((repeat = 1; repeat <= ${REPEATS:-1}; repeat++)); do
      compare "$name" "$here/$name-tuned-$repeat.json" "$here/$name-exhaustive.json"
    done
  done
}

found() { # TUNED
  python3 - "$1" <<'PYTHON'
import json
import sys

tuned = json.load(open(sys.argv[1]))
print(json.dumps({key: tuned[key] for key in ("plan", "ratio", "noise", "runs", "seconds", "is_confirmed", "dropped")}))
print("not replayed:", (tuned["replayed"] or {"refused": "at all"})["refused"])
for row in tuned["rows"]:
    print(f"present {row['present_us']} us; ran by themselves, us, and within a run:")
    for one in row["measured"]:
        if one["median_us"]:
            print(f"  {one['median_us']:.1f} {one['searched_us'] or 0:.1f} {one['words']}")
PYTHON
}

compare() { # NAME TUNED EXHAUSTIVE
  python3 - "$@" <<'PYTHON'
import json
import sys

name = sys.argv[1]
tuned, whole = (json.load(open(path)) for path in sys.argv[2:])
plain = {"told": {"form": "plain", "grid": None}}
chosen = [plain] * len(whole["rows"]) if tuned["plan"] == "original" else tuned["plan"]["chosen"]
ours = best = present = 0
for row, choice in zip(whole["rows"], chosen):
    times = {json.dumps(one["choice"], sort_keys=True): one["median_us"] for one in row["measured"] if one["median_us"]}
    ours += times[json.dumps(choice, sort_keys=True)]
    best += min(times.values())
    present += row["present_us"]
    fastest = min((one for one in row["measured"] if one["median_us"]), key=lambda one: one["median_us"])
    print(f"{name}: {fastest['words']} is fastest of {len(times)}; ours: {json.dumps(choice)}")
size = tuned["saturation"]["size"] if tuned["saturation"] else "the largest size"
replayed = tuned["replayed"]
if replayed is None or replayed["refused"]:
    print(f"{name}: not replayed: {replayed and replayed['refused']}")
for row, times in zip(whole["rows"], replayed["times"] if replayed else []):
    apart = {json.dumps(one["choice"], sort_keys=True): one["median_us"] for one in row["measured"]}
    within = {json.dumps(one["choice"], sort_keys=True): one["searched_us"] for one in tuned["rows"][whole["rows"].index(row)]["measured"]}
    both = sorted((apart[key], within[key]) for key in within if within[key] and apart.get(key) and key != json.dumps("passes"))
    fastest = sorted(both, key=lambda pair: pair[1])[:1]
    if fastest:
        print(f"{name}: of {len(both)} grids the one that is fastest within a run takes {fastest[0][0] / both[0][0]:.3f} times as long as the fastest")
print(f"{name}: present {present:.1f} us, ours {ours:.1f}, best {best:.1f}: {ours / best:.3f} of the best; searched at {size}, "
      f"{tuned['seconds']:.1f} s and {tuned['runs']} runs instead of {whole['seconds']:.1f} s and {whole['runs']}: "
      f"{whole['seconds'] / tuned['seconds']:.1f} times less{' than a search that was cut' if whole['is_cut'] else ''}; clock {tuned['clock']}, {tuned['device']}")
PYTHON
}

case ${1:-} in
  build) (($# == 4)) && build "$2" "$3" "$4" ;;
  run)
    shift
    (($#)) || set -- $(for one in "$here"/*/ready; do basename "$(dirname "$one")"; done)
    run "$@"
    ;;
  *) sed -n 2,3p "$0" >&2; exit 2 ;;
esac
