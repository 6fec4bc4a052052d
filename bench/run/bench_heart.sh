#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds newel-heart and times its steps over sizes and formats, and a beat against the clock; writes
# docs/results/heart_NAME.json and the pages. On the GPU if there is one, else on the host and against
# Eigen's solver too. Arguments are passed to bench/run/bench_heart.py (see --help). Needs python3 and numpy.
#   NAME=h200 ./bench/run/bench_heart.sh
set -euo pipefail
# shellcheck source=bench/run/bench_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench_common.sh"

install_missing "${build_packages[@]}" "${comparison_packages[@]}"
choose_cuda
build build/bench-heart -DNEWEL_CUDA="$cuda" -DNEWEL_BUILD_TESTS=OFF
programs=build/bench-heart/bin
choices=(--real-time)
[ "$cuda" != OFF ] || choices+=(--eigen "$programs/newel_bench_heart")
say "measuring: keep the machine quiet meanwhile (load now: $(cut -d ' ' -f 1 /proc/loadavg))"
bench/run/bench_heart.py --name "$(machine_name "$cuda")" --program "$programs/newel-heart" "${choices[@]}" "$@"
bench/pages/write_all.py
