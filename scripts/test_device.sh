#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the device tests on a machine with a GPU: plainly, then under compute-sanitizer's memcheck and racecheck.
# Racecheck looks at Purlin's kernels only: cuSPARSE's own report hazards on shared memory that are not ours to mend.
# Both are slow: where there are several GPUs, the tests are dealt out to all of them.
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

# Deals the tests of the plain run out to files, those that took longest first and alone.
deal_tests() {
  rm -rf "$logs/parts"
  mkdir -p "$logs/parts"
  sed -n 's/^\([0-9.]*\) s: /\1 /p' "$logs/device_tests.log" | sort -rn | sed 's/^[0-9.]* //; s/[][,\\]/\\&/g' |
    awk -v to="$logs/parts/" 'NR <= 60 {part = NR} NR > 60 {part = 61 + int((NR - 61) / 6)}
      {print > sprintf("%s%03d", to, part)}'
}

# Both tools on all parts, by whichever process is free; processes that share a GPU wait for each other's turns.
check_parts() {
  local gpus
  gpus=$(nvidia-smi --list-gpus 2>/dev/null | wc -l)
  [ "$gpus" -ge 1 ] || gpus=1
  export sanitizer bin gpus
  # shellcheck disable=SC2016 # the inner shell expands these
  for part in "$logs"/parts/???; do echo "memcheck $part"; echo "racecheck $part"; done |
    xargs -P $((3 * gpus)) -L 1 --process-slot-var=slot bash -c '
      options=(--tool "$1" --error-exitcode 9)
      [ "$1" = memcheck ] || options+=(--kernel-name kernel_substring=purlin)
      CUDA_VISIBLE_DEVICES=$((slot % gpus)) "$sanitizer" "${options[@]}" "$bin/purlin_tests" --input-file "$2" \
        >"$2.$1.log" 2>&1' check
}

# What a tool has said.
summary() {  # tool
  grep -hE '^(test cases:|assertions:|========= (RACECHECK|ERROR SUMMARY|Error|Warning|Invalid))' \
    "$logs"/parts/*."$1".log | sort | uniq -c
  grep -hoE '\([0-9]+ assertions? in [0-9]+ test cases?\)' "$logs"/parts/*."$1".log | tr -d '(' |
    awk -v tool="$1" '{assertions += $1; cases += $4}
      END {print assertions + 0 " assertions in " cases + 0 " test cases under " tool " passed"}'
}

run device_tests "$bin/purlin_tests" "[device]" -d yes
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [ -x "$sanitizer" ]; then
  deal_tests
  run sanitizers check_parts
  summary memcheck
  summary racecheck
else
  echo "compute-sanitizer was not found: memcheck and racecheck were not run"
  failed=1
fi
exit $failed
