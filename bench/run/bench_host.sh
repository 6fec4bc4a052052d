#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the host's product and CG iteration against Eigen's, alternating in one process, and writes
# docs/results/host_NAME.json. Installs what is missing. Arguments are passed to newel_bench_host (see --help).
#   NAME=laptop ./bench/run/bench_host.sh --threads 2
set -euo pipefail
# shellcheck source=bench/run/bench_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench_common.sh"

install_missing "${build_packages[@]}" "${comparison_packages[@]}"
build build/bench -DNEWEL_CUDA=OFF -DNEWEL_BUILD_TESTS=OFF -DNEWEL_BUILD_APPS=OFF
NAME=${NAME:-$(uname -m)}
measure "host_$NAME" build/bench/bin/newel_bench_host "$@"
