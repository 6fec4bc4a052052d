#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Several solves at once on the same processors: how long they take against one after another.
#   bench/run/bench_shared_cores.sh NEWEL [PROCESSES [ARGUMENT...]]
# runs `NEWEL solve` on the beam (or with the arguments given) three times (PROCESSES) one after another and at once, in
# turns, and compares the medians. Exit status 1 where at once takes more than 1.5 times as long. A quiet machine, please.
set -euo pipefail
program=${1:?the program newel, for example build/quickstart/bin/newel}
processes=${2:-3}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- "$here/apps/data/cantilever_beam.mtx.gz"
rounds=${ROUNDS:-11}

now() { date +%s%N; }
one() { "$program" solve "$@" --device host --quiet >/dev/null; }
in_turn() { for ((p = 0; p < processes; ++p)); do one "$@"; done; }
at_once() {
  local pids=() pid
  for ((p = 0; p < processes; ++p)); do
    one "$@" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid"; done
}
# milliseconds HOW ARGUMENT... : of one run of `in_turn` or `at_once`
milliseconds() {
  local begin
  begin=$(now)
  "$@"
  echo $((($(now) - begin) / 1000000))
}
median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

milliseconds in_turn "$@" >/dev/null # reads the file into the system's cache
turn=() once=() alone=() single=()
for ((r = 0; r < rounds; ++r)); do
  turn+=("$(milliseconds in_turn "$@")")
  once+=("$(milliseconds at_once "$@")")
  alone+=("$(milliseconds one "$@")")
  single+=("$(milliseconds one "$@" --threads 1)")
done
median_turn=$(printf "%s\n" "${turn[@]}" | median)
median_once=$(printf "%s\n" "${once[@]}" | median)
echo "$(nproc) processors, $processes processes, medians of $rounds runs in milliseconds, whole processes:"
echo "  one alone              $(printf '%s\n' "${alone[@]}" | median)   (--threads 1: $(printf '%s\n' "${single[@]}" | median))"
echo "  one after another      $median_turn"
echo "  at once                $median_once"
awk -v a="$median_once" -v b="$median_turn" 'BEGIN {
  printf "  at once takes %.2f times as long (limit 1.50)\n", a / b
  exit a > 1.5 * b
}'
