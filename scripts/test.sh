#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds the library with its tests, and runs them. Arguments are passed to ctest.
# NEWEL_TEST_DATA names a folder with real matrices; without it the tests on them are left out.
set -euo pipefail
# shellcheck source=scripts/setup_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_common.sh"

install_missing "${build_packages[@]}" "${comparison_packages[@]}" catch2 gfortran
choose_cuda
build build/test -DNEWEL_CUDA="$cuda"

if [ -n "${NEWEL_TEST_DATA:-}" ]; then
  say "real matrices from NEWEL_TEST_DATA=$NEWEL_TEST_DATA"
else
  say "NEWEL_TEST_DATA is unset: tests on real matrices are left out"
fi
say "running the tests"
log=build/test/ctest.log
status=0
ctest --test-dir build/test --no-tests=error --output-on-failure --parallel "$(nproc)" "$@" 2>&1 | tee "$log" || status=$?

# What did not run is named above; the closing line is ctest's own.
skipped=$(grep -c '\*\*\*Skipped' "$log" || true)
say "$skipped skipped"
grep -E '^[0-9]+% tests passed' "$log" || true
exit "$status"
