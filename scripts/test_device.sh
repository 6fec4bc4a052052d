#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the device tests on a machine with a GPU: plainly, then under compute-sanitizer's memcheck and racecheck.
# Racecheck looks at Purlin's kernels only: cuSPARSE's own report hazards on shared memory that are not ours to mend.
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

run device_tests "$bin/purlin_tests" "[device]"
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [ -x "$sanitizer" ]; then
  run memcheck "$sanitizer" --tool memcheck --error-exitcode 9 "$bin/purlin_tests" "[device]"
  run racecheck "$sanitizer" --tool racecheck --kernel-name kernel_substring=purlin --error-exitcode 9 \
    "$bin/purlin_tests" "[device]"
else
  echo "compute-sanitizer was not found: memcheck and racecheck were not run"
  failed=1
fi
exit $failed
