#!/usr/bin/env bash
# usage: learn/check.sh
#
# Are the committed data whole, and is each report of just these data? Needs no Python.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
case_='kernel,n,m,k' form='factor,stride,axis'
static='blocks,branches,divergent_insts,divergent_region_insts,divergent_region_ratio,divergent_regions,insts,float_insts,ilp,int_float_ratio,int_insts,math_calls,mlp,loads,stores,uniform_loads,barriers'
memory='accesses,inner_loop,access_sectors,uncoalesced,loaded_sectors,stored_sectors'
declare -A columns=(
  [points]="$case_,threads,teams,$form,real_teams,real_threads,us,launches"
  [kernels]="family,$case_,$form,iterations,loops,operations,$memory,$static"
  [resources]="kernel,$form,threads,registers,stack,instructions,shared"
  [choices]="family,$case_,$form,who,threads,teams"
)
fail() { echo "learn: $*" >&2; exit 1; }

# Columns as the schema has them; words in these, numbers in all others, empty only where the analysis may not know.
check() { # FILE COLUMNS
  [[ $(head -n 1 "$1") == "$2" ]] || fail "$1 has other columns than its schema: $2"
  awk -F, -v words=family,kernel,axis,who -v unknown="$memory" '
    function has(list, name) { return index("," list ",", "," name ",") > 0 }
    NR == 1 { columns = NF; for (i = 1; i <= NF; i++) name[i] = $i; next }
    NF != columns { print FILENAME ":" NR ": " NF " fields"; bad = 1; exit }
    { for (i = 1; i <= NF; i++) {
        if (has(words, name[i]) ? $i !~ /^[a-z][a-z0-9_]*$/ : $i == "" ? !has(unknown, name[i]) : $i !~ /^-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?$/) {
          print FILENAME ":" NR ": " name[i] " is \"" $i "\""; bad = 1; exit } }
      if (name[12] == "us" && $12 <= 0) { print FILENAME ":" NR ": no time"; bad = 1; exit } }
    END { if (NR < 2) { print FILENAME ": no rows"; bad = 1 } exit bad }' "$1" || fail "$1 is not as its schema"
}

for folder in data/*/; do
  [[ -e $folder ]] || exit 0 # nothing is measured yet
  for name in points kernels resources choices; do
    check "$folder$name.csv" "${columns[$name]}"
  done
  device=$(basename "$folder")
  sum=$(cat "$folder"{points,kernels,resources,choices}.csv | sha256sum | cut -d ' ' -f 1)
  grep -q "$sum" "results/$device/report.md" || fail "results/$device/report.md is not of data/$device ($sum)"
done
