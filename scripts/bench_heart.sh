#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds newel-heart and times its steps over sizes and formats, and a beat against the clock; writes
# docs/results/heart_NAME.json and docs/performance.md. On the device where one answers, else on the host and against
# Eigen's solver too. Arguments are passed to scripts/bench_heart.py (see --help). Needs python3 and numpy.
#   NAME=h200 ./scripts/bench_heart.sh
set -euo pipefail
# shellcheck source=scripts/setup_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_common.sh"

install_missing "${build_packages[@]}" "${comparison_packages[@]}"
choose_cuda
build build/bench-heart -DNEWEL_CUDA="$cuda" -DNEWEL_BUILD_TESTS=OFF
programs=build/bench-heart/bin
choices=(--real-time)
if [ "$cuda" = OFF ]; then
  name=${NAME:-host_$(uname -m)}
  choices+=(--eigen "$programs/newel_bench_heart")
else
  name=${NAME:-$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1 | tr -cs '[:alnum:]\n' _)}
fi
say "measuring: keep the machine quiet meanwhile (load now: $(cut -d ' ' -f 1 /proc/loadavg))"
scripts/bench_heart.py --name "$name" --program "$programs/newel-heart" "${choices[@]}" "$@"
scripts/write_performance.py
