#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the device tests on a machine with a GPU: plainly, then under compute-sanitizer's memcheck and racecheck.
# Racecheck looks at Purlin's kernels only: cuSPARSE's own report hazards on shared memory that are not ours to mend. It
# is slow, so the tests are dealt out to as many processes as there are processors, at most 12.
#   scripts/test_device.sh [BIN_DIR] [LOG_DIR]
# BIN_DIR holds purlin_tests and purlin of a CUDA build (default build/cuda/bin); it may be a copy from another machine.
set -u
bin=${1:-build/cuda/bin}
logs=${2:-$bin}
mkdir -p "$logs"
export LD_LIBRARY_PATH="$bin:/usr/local/cuda/lib64:${LD_LIBRARY_PATH:-}"
failed=0

run() {  # name, command...
  local name=$1
  shift
  if "$@" >"$logs/$name.log" 2>&1; then
    echo "passed: $name ($(tail -n 3 "$logs/$name.log" | grep -E 'assertions|ERROR SUMMARY|RACECHECK' | tr '\n' ' '))"
  else
    echo "FAILED ($?): $name; the end of $logs/$name.log:"
    tail -n 25 "$logs/$name.log"
    failed=1
  fi
}

racecheck() {  # the tests named in the file $1
  "$sanitizer" --tool racecheck --kernel-name kernel_substring=purlin --error-exitcode 9 \
    "$bin/purlin_tests" --input-file "$1" >"$1.log" 2>&1
}

racecheck_all() {
  local parts part pids=() status=0
  parts=$(nproc)
  [ "$parts" -le 12 ] || parts=12
  rm -f "$logs"/racecheck.part.*
  "$bin/purlin_tests" --list-test-names-only "[device]" 2>/dev/null | sed 's/^ *//; /^$/d; s/[][,\\]/\\&/g' |
    awk -v parts="$parts" -v to="$logs/racecheck.part." '{print > (to NR % parts)}'
  for part in "$logs"/racecheck.part.*; do
    racecheck "$part" &
    pids+=($!)
  done
  for part in "${pids[@]}"; do wait "$part" || status=1; done
  grep -hE '^(All tests passed|test cases:|assertions:|========= (RACECHECK|Error|Warning))' "$logs"/racecheck.part.*.log
  grep -hoE '\([0-9]+ assertions in [0-9]+ test cases?\)' "$logs"/racecheck.part.*.log | tr -d '(' |
    awk '{assertions += $1; cases += $4} END {print assertions + 0 " assertions in " cases + 0 " test cases under RACECHECK"}'
  return $status
}

run device_tests "$bin/purlin_tests" "[device]"
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [ -x "$sanitizer" ]; then
  run memcheck "$sanitizer" --tool memcheck --error-exitcode 9 "$bin/purlin_tests" "[device]"
  run racecheck racecheck_all
else
  echo "compute-sanitizer was not found: memcheck and racecheck were not run"
  failed=1
fi
exit $failed
