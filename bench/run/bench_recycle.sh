#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds newel_bench_recycle and measures sequences of systems with a few very small eigenvalues, whose solves deflate vectors
# of the solves before, or do not. Writes docs/results/recycle_NAME.json. Arguments are passed to newel_bench_recycle.
#   NAME=host ./bench/run/bench_recycle.sh --threads 2
set -euo pipefail
# shellcheck source=bench/run/bench_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench_common.sh"

install_missing "${build_packages[@]}" "${comparison_packages[@]}"
choose_cuda
# shellcheck disable=SC2154  # set by choose_cuda
build build/bench-recycle -DNEWEL_CUDA="$cuda" -DNEWEL_BUILD_TESTS=OFF
if [ "$cuda" = OFF ]; then place=host; else place=cuda; fi
measure "recycle_$(machine_name "$cuda")" build/bench-recycle/bin/newel_bench_recycle --device "$place" "$@"
