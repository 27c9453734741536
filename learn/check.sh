#!/usr/bin/env bash
# usage: learn/check.sh
#
# Are the committed data whole, is each report of just these data, and are its figures there? Needs awk, gzip and sha256sum; no Python.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
case_='kernel,n,m,k' form='factor,stride,axis'
static='blocks,branches,divergent_insts,divergent_region_insts,divergent_region_ratio,divergent_regions,insts,float_insts,ilp,int_float_ratio,int_insts,math_calls,mlp,loads,stores,uniform_loads,barriers'
memory='accesses,inner_loop,access_sectors,uncoalesced,loaded_sectors,stored_sectors'
counted='real_teams,real_threads,registers,ns,load_requests,store_requests,load_sectors,store_sectors,local_loads,local_stores,first_hits,second_hits,second_reads,second_writes,dram_read,dram_written,dram_busy,memory_busy,sm_busy,possible_occupancy,occupancy,waves,active_cycles,cycles,issued,eligible,insts,active_threads,branches,uniform_branches,special_insts,memory_insts,float_adds,float_muls,float_fmas,stall_memory,stall_special,stall_queue,stall_arithmetic,stall_wait,stall_fetch'
declare -A columns=(
  [points]="$case_,threads,teams,$form,real_teams,real_threads,us,launches"
  [kernels]="family,$case_,$form,iterations,loops,operations,$memory,$static"
  [resources]="kernel,$form,threads,registers,stack,instructions,shared"
  [choices]="family,$case_,$form,who,threads,teams"
  [counters]="$case_,threads,teams,$form,$counted"
  [transactions]="$case_,$form,loaded,stored"
)
fail() { echo "learn: $*" >&2; exit 1; }

# Columns as the schema has them; words in these, numbers in all others, empty only where the analysis may not know.
check() { # FILE COLUMNS UNKNOWN
  gzip -dc "$1" | awk -F, -v file="$1" -v columns="$2" -v words=family,kernel,axis,who -v unknown="$3" '
    function has(list, name) { return index("," list ",", "," name ",") > 0 }
    function complain(what) { print file ":" NR ": " what; bad = 1; exit }
    NR == 1 { if ($0 != columns) complain("other columns than the schema: " columns); width = NF; for (i = 1; i <= NF; i++) name[i] = $i; next }
    NF != width { complain(NF " fields") }
    { for (i = 1; i <= NF; i++) {
        if (has(words, name[i]) ? $i !~ /^[a-z][a-z0-9_]*$/ : $i == "" ? !has(unknown, name[i]) : $i !~ /^-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?$/)
          complain(name[i] " is \"" $i "\"")
        if (name[i] == "us" && $i <= 0) complain("no time") } }
    END { if (!bad && NR < 2) { print file ": no rows"; bad = 1 } exit bad }' >&2 || fail "$1 is not as its schema"
}

for folder in data/*/; do
  [[ -e $folder ]] || fail "no data"
  device=$(basename "$folder")
  report=results/$device/report.md
  tables=(points kernels resources choices)
  for name in counters transactions; do # where a profiler counted
    [[ ! -e $folder$name.csv.gz ]] || tables+=("$name")
  done
  for name in "${tables[@]}"; do
    case $name in
      kernels) unknown=$memory ;;
      counters) unknown=$counted ;;
      transactions) unknown=loaded,stored ;;
      *) unknown= ;;
    esac
    check "$folder$name.csv.gz" "${columns[$name]}" "$unknown"
  done
  [[ -s ${folder}README.md ]] || fail "$folder has no README.md"
  sum=$(for name in "${tables[@]}"; do gzip -dc "$folder$name.csv.gz"; done | sha256sum | cut -d ' ' -f 1)
  grep -q "$sum" "$report" || fail "$report is not of data/$device ($sum)"
  while read -r figure; do
    [[ -s results/$device/$figure ]] || fail "$report shows $figure, which is not there"
  done < <(sed -n 's/^!\[.*](\(.*\))$/\1/p' "$report")
done
