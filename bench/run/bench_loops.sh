#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds newel, with Eigen compiled for this machine, and measures a product and CG against the usual loops: writes
# docs/results/device_NAME.json on a GPU, else docs/results/host_NAME.json. Arguments are passed to bench_loops.py.
#   NAME=h200 ./bench/run/bench_loops.sh
set -euo pipefail
# shellcheck source=bench/run/bench_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench_common.sh"

install_missing "${build_packages[@]}" "${comparison_packages[@]}"
choose_cuda
# shellcheck disable=SC2154  # set by choose_cuda
build build/bench-loops -DNEWEL_CUDA="$cuda" -DNEWEL_BUILD_TESTS=OFF -DNEWEL_BENCH_NATIVE=ON
place=$([ "$cuda" = OFF ] && echo host || echo device)
bench/run/bench_loops.py "docs/results/${place}_$(machine_name "$cuda").json" --device "${place/device/cuda}" "$@"
