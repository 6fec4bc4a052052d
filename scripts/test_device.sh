#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the device tests on a machine with a GPU: plainly, then under compute-sanitizer's memcheck and racecheck.
# Racecheck looks at Purlin's kernels only: cuSPARSE's own report hazards on shared memory that are not ours to mend.
# Both are slow, so the tests are dealt out to as many processes as there are processors, at most 14.
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

# The device tests under a tool of compute-sanitizer: a few at a time, those that took longest in the plain run first,
# by whichever process is free. A line of totals last.
sanitized() {  # tool, its options...
  local tool=$1 processes status=0
  processes=$(nproc)
  [ "$processes" -le 14 ] || processes=14
  rm -rf "$logs/$tool.parts"
  mkdir -p "$logs/$tool.parts"
  sed -n 's/^\([0-9.]*\) s: /\1 /p' "$logs/device_tests.log" | sort -rn | sed 's/^[0-9.]* //; s/[][,\\]/\\&/g' |
    awk -v to="$logs/$tool.parts/" 'NR <= 40 {part = NR} NR > 40 {part = 41 + int((NR - 41) / 6)}
      {print > sprintf("%s%03d", to, part)}'
  export sanitizer bin
  # shellcheck disable=SC2016 # the inner shell expands these
  find "$logs/$tool.parts" -type f | sort | xargs -P "$processes" -n 1 bash -c '
    tests=${!#}
    "$sanitizer" --tool "${@:1:$#-1}" --error-exitcode 9 "$bin/purlin_tests" --input-file "$tests" >"$tests.log" 2>&1' \
    tests "$@" || status=1
  grep -hE '^(test cases:|assertions:|========= (RACECHECK|ERROR SUMMARY|Error|Warning|Invalid))' \
    "$logs/$tool.parts"/*.log | sort | uniq -c
  grep -hoE '\([0-9]+ assertions? in [0-9]+ test cases?\)' "$logs/$tool.parts"/*.log | tr -d '(' |
    awk -v tool="$tool" '{assertions += $1; cases += $4}
      END {print assertions + 0 " assertions in " cases + 0 " test cases under " tool " passed"}'
  return $status
}

run device_tests "$bin/purlin_tests" "[device]" -d yes
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [ -x "$sanitizer" ]; then
  run memcheck sanitized memcheck
  run racecheck sanitized racecheck --kernel-name kernel_substring=purlin
else
  echo "compute-sanitizer was not found: memcheck and racecheck were not run"
  failed=1
fi
exit $failed
