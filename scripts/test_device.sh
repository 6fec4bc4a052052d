#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the device tests on a machine with a GPU: plainly, then under compute-sanitizer's memcheck and racecheck.
# Racecheck looks at Purlin's kernels only: cuSPARSE's own report hazards on shared memory that are not ours to mend. Both
# are slow, so the tests are dealt out to as many processes as there are processors, at most 12.
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

# The device tests under a tool of compute-sanitizer, dealt out; a line of totals last.
sanitized() {  # tool, its options...
  local tool=$1 parts part pids=() status=0
  shift
  parts=$(nproc)
  [ "$parts" -le 12 ] || parts=12
  rm -f "$logs/$tool".part.*
  "$bin/purlin_tests" --list-test-names-only "[device]" 2>/dev/null | sed 's/^ *//; /^$/d; s/[][,\\]/\\&/g' |
    awk -v parts="$parts" -v to="$logs/$tool.part." '{print > (to NR % parts)}'
  for part in "$logs/$tool".part.*; do
    "$sanitizer" --tool "$tool" "$@" --error-exitcode 9 "$bin/purlin_tests" --input-file "$part" >"$part.log" 2>&1 &
    pids+=($!)
  done
  for part in "${pids[@]}"; do wait "$part" || status=1; done
  grep -hE '^(All tests passed|test cases:|assertions:|========= (RACECHECK|ERROR SUMMARY|Error|Warning|Invalid))' \
    "$logs/$tool".part.*.log
  grep -hoE '\([0-9]+ assertions in [0-9]+ test cases?\)' "$logs/$tool".part.*.log | tr -d '(' |
    awk -v tool="$tool" '{assertions += $1; cases += $4}
      END {print assertions + 0 " assertions in " cases + 0 " test cases under " tool " passed"}'
  return $status
}

run device_tests "$bin/purlin_tests" "[device]"
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [ -x "$sanitizer" ]; then
  run memcheck sanitized memcheck
  run racecheck sanitized racecheck --kernel-name kernel_substring=purlin
else
  echo "compute-sanitizer was not found: memcheck and racecheck were not run"
  failed=1
fi
exit $failed
