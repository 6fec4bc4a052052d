#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures product and iterations on a CUDA device against cuSPARSE's call and the usual cuBLAS loop, alternating in one
# process, and writes docs/results/device_NAME.json. Arguments are passed to newel_bench_device (see --help).
#   NAME=h200 ./bench/run/bench_device.sh
set -euo pipefail
# shellcheck source=bench/run/bench_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench_common.sh"

install_missing "${build_packages[@]}" "${comparison_packages[@]}"
nvidia-smi >/dev/null 2>&1 || fail "no NVIDIA GPU is available"
build build/bench-cuda -DNEWEL_CUDA=ON -DNEWEL_BUILD_TESTS=OFF -DNEWEL_BUILD_APPS=OFF
measure "device_$(machine_name ON)" build/bench-cuda/bin/newel_bench_device "$@"
