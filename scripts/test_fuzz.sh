#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the libFuzzer targets and runs each on its seeds, then on what the fuzzer makes of them, for some seconds.
# What it finds goes to build/fuzz/found; the seeds are left as they are. Needs clang with its sanitizer libraries.
#   scripts/test_fuzz.sh [SECONDS]
set -euo pipefail
# shellcheck source=scripts/setup_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_common.sh"

seconds=${1:-5}
command -v clang++ >/dev/null || fail "no clang++ was found" "apt-get install clang libclang-rt-dev"
choose_jobs
make_folder build/fuzz
say "building the fuzz targets in build/fuzz with $jobs jobs"
{ cmake --preset fuzz && cmake --build --preset fuzz --parallel "$jobs" --target fuzz_matrix_market fuzz_matrix_file fuzz_mesh; } \
  >build/fuzz/build.log 2>&1 || {
  grep -E 'error|Error' build/fuzz/build.log | head -n 20 >&2 || tail -n 20 build/fuzz/build.log >&2
  fail "the build failed; its output is in build/fuzz/build.log"
}

passed=0
failed=0
fuzz() {  # target, folder of seeds, option...
  local target=$1 seeds=$2 found=build/fuzz/found/$1 log=build/fuzz/$1.log
  shift 2
  rm -rf "$found"
  make_folder "$found"
  if "build/fuzz/bin/$target" "$found" "$seeds" "-artifact_prefix=$found/failed-" -max_total_time="$seconds" \
    -rss_limit_mb=2048 -timeout=10 "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
    echo "passed: $target, $(find "$seeds" -type f | wc -l) seeds, $(sed -n 's/^Done \([0-9]* runs\).*/\1/p' "$log")"
  else
    failed=$((failed + 1))
    echo "FAILED: $target; the end of $log:"
    tail -n 30 "$log"
  fi
}
fuzz fuzz_matrix_market tests/fuzz/corpus -dict=tests/fuzz/matrix_market.dict
fuzz fuzz_matrix_file tests/io/files -max_len=4096
fuzz fuzz_mesh tests/fuzz/meshes -max_len=4096
say "$passed passed, $failed failed of the fuzz targets"
[ "$failed" -eq 0 ]
