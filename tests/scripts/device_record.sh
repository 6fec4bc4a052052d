#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs scripts/test_device.sh in a staged folder with stand-ins for the tests, the GPU and compute-sanitizer, and reads
# the record that it writes; then changes a source and asks whether the record still holds.
#   device_record.sh ROOT PYTHON SCRATCH
set -euo pipefail
root=$1 python=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch/device/bin" "$scratch/tools" "$scratch/here"
stage=$scratch/device
cp "$root/scripts/test_device.sh" "$stage"
"$python" "$root/scripts/device_sources.py" >"$stage/device_sources.txt"
echo 0123456789abcdef-changed >"$stage/commit"

program() {  # file, lines
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$1"
  chmod +x "$1"
}
# Three cases, by name or all; the second fails a check, and the third does not end under a tool.
# shellcheck disable=SC2016
program "$stage/bin/newel_tests" '
if [ "$1" = "[device]" ]; then
  printf "0.300 s: first, of [all]\n0.200 s: second\n0.100 s: third\n"
  echo "test cases: 3 | 2 passed | 1 failed"
  echo "assertions: 30 | 29 passed | 1 failed"
  exit 1
fi
cases=$(cat "$2")
case $cases in
  *third*) exit 1 ;;
  *) echo "All tests passed (7 assertions in 1 test case)" ;;
esac'
program "$stage/bin/newel" 'echo "CUDA toolkit 13.0, compiled for architectures 90"'
# shellcheck disable=SC2016
program "$scratch/tools/nvidia-smi" '
case $1 in
  *index*) echo 0 ;;
  *name*) echo "Some GPU" ;;
  *driver*) echo 580.1 ;;
esac'
# shellcheck disable=SC2016
program "$scratch/tools/compute-sanitizer" '
tool=$2
while [ "${1##*/}" != newel_tests ]; do shift; done
"$@" || exit 9
[ "$tool" = memcheck ] && echo "========= ERROR SUMMARY: 2 errors" && exit
echo "========= RACECHECK SUMMARY: 3 hazards displayed (0 errors, 3 warnings)"'
touch -d '1 minute ago' "$stage/bin"/*

(cd "$scratch/here" && PATH="$scratch/tools:$PATH" "$stage/test_device.sh" >../said 2>&1) && status=0 || status=$?
[ "$status" -ne 0 ] || { echo "failed tests ended with status 0" && cat "$scratch/said" && exit 1; }
record=$scratch/here/docs/results/device_tests.json
"$python" - "$record" "$stage/device_sources.txt" <<'PY' || { cat "$scratch/said"; exit 1; }
import hashlib, json, re, sys
record = json.load(open(sys.argv[1]))
sources = open(sys.argv[2]).read()
expected = {
    "schema": 1, "program": "scripts/test_device.sh", "commit": "0123456789abcdef-changed", "device": "Some GPU", "devices": 1, "driver": "580.1", "cuda": "13.0",
    "steps": {
        "plain": {"cases": 3, "assertions": 30, "failures": 1},
        "memcheck": {"cases": 2, "assertions": 14, "failures": 0, "errors": 4, "unreported_cases": 1},
        "racecheck": {"cases": 2, "assertions": 14, "failures": 0, "hazards": 6, "unreported_cases": 1,
                      "launches_watched": 120}},
    "source_hash": hashlib.sha256(sources.encode()).hexdigest(),
    "sources": {path: digest for digest, path in (line.split() for line in sources.splitlines())}}
date = record.pop("date")
assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", date), date
assert record == expected, record
PY

# The record holds for these sources; for a tree with one changed file and one more it says so, and fails nothing.
said=$("$python" "$root/scripts/device_sources.py" --compare "$record")
[[ $said == *"ran on these device sources" ]] || { echo "$said" && exit 1; }
mkdir "$scratch/tree"
cp -r "$root"/{core,reorder,spmv,precond,solver,apps,scripts} "$scratch/tree"
mkdir "$scratch/tree/tests"
echo '// changed' >>"$scratch/tree/core/csr/csr_device.cu"
echo '// new' >"$scratch/tree/core/new_device.cu"
said=$("$python" "$scratch/tree/scripts/device_sources.py" --compare "$record")
[[ $said == "WARNING: "*": 1 files have changed since, 1 were added, "*"core/csr/csr_device.cu"*"core/new_device.cu"* ]] ||
  { echo "$said" && exit 1; }
status=0
"$python" "$root/scripts/device_sources.py" --compare "$scratch/none.json" || status=$?
[ "$status" -eq 77 ]
