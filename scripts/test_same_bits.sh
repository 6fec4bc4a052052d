#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Solves systems alone and beside busy neighbours: the solutions must have the same bits, and what the solves changed on their way
# must have come at the same iterations.
#   scripts/test_same_bits.sh NEWEL PLACE SYSTEM... [-- OPTION...]
# PLACE is host or cuda; OPTIONs go to `newel solve`. Exit status 1 where something differs, or where no solve has changed anything.
set -euo pipefail
program=${1:?the program newel}
place=${2:?host or cuda}
shift 2
systems=() options=()
while [ $# -gt 0 ]; do
  if [ "$1" = -- ]; then
    shift
    options=("$@")
    break
  fi
  systems+=("$1")
  shift
done
[ ${#systems[@]} -gt 0 ] || { echo "no SYSTEM" >&2; exit 2; }
folder=$(mktemp -d)
neighbours=()
stop_neighbours() {
  local pid
  for pid in "${neighbours[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${neighbours[@]}"; do wait "$pid" 2>/dev/null || true; done
  neighbours=()
}
trap 'stop_neighbours; rm -rf "$folder"' EXIT

# Each thread has another at its side, and on a device two solves want it too.
start_neighbours() {
  local k
  for ((k = 0; k < $(nproc); ++k)); do
    (while :; do :; done) &
    neighbours+=($!)
  done
  [ "$place" = cuda ] || return 0
  for k in 1 2; do
    (while :; do "$program" solve generate:elasticity:30 --device cuda --quiet --max-iterations 2000 || true; done) \
      >/dev/null 2>&1 &
    neighbours+=($!)
  done
}

# solve SYSTEM NAME: leaves NAME.mtx and NAME.json
solve() {
  "$program" solve "$1" --device "$place" --rhs ones --quiet --out "$folder/$2.mtx" --report "$folder/$2.json" "${options[@]}"
}

differing=0 changed=0
for system in "${systems[@]}"; do
  solve "$system" alone
  start_neighbours
  solve "$system" beside
  stop_neighbours
  moves=$(python3 - "$folder/alone.json" "$folder/beside.json" <<'PYTHON'
import json
import sys

alone, beside = (json.load(open(name, encoding="utf-8")) for name in sys.argv[1:])
for key in ("changed", "iterations", "format", "preconditioner"):
    if alone[key] != beside[key]:
        sys.exit(f"{key}: alone {alone[key]}, beside neighbours {beside[key]}")
print(alone["changed"] or "nothing changed", f"({alone['iterations']} iterations)")
PYTHON
  ) || moves=differ
  cmp -s "$folder/alone.mtx" "$folder/beside.mtx" || moves="other bits; $moves"
  case $moves in
    differ | "other bits"*) differing=$((differing + 1)) ;;
    "nothing changed"*) ;;
    *) changed=$((changed + 1)) ;;
  esac
  echo "$system: $moves"
done
echo "${#systems[@]} systems, $changed with changes on their way, $differing differ"
[ $differing -eq 0 ] && [ $changed -gt 0 ]
