#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures what the defaults cost against the best fixed choice (`newel bench regret`) on systems that need no file, then
# on those named here, and writes docs/results/regret_NAME.json. On the GPU if there is one, else on the host, with
# smaller systems. Arguments are as those of bench_spmv.sh, with the options of `newel bench regret`; with --continue the
# systems that build/results/regret_NAME.json has already are left out.
#   NAME=h200 ./bench/run/bench_regret.sh --continue mesh:head.mesh.gz:elasticity:2 matrices/*.mtx.gz
#   NAME=laptop SYSTEMS=generate:grid7:40 ./bench/run/bench_regret.sh --loop=50 --device=host
set -euo pipefail
# shellcheck source=bench/run/bench_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench_common.sh"

# sizes ELASTICITY DIFFUSION GRID CONVECTION : one system of each kind, convection at three Peclet numbers
sizes() {
  printf '%s ' "generate:elasticity:$1" "generate:diffusion:$2" "generate:grid7:$3" \
    "generate:convection:$4:1" "generate:convection:$4:50" "generate:convection:$4:1000"
}

bench_systems regret "$(sizes 10 20 25 20)$(sizes 24 50 60 50)" "$(sizes 30 50 60 50)$(sizes 68 134 180 134)" "$@"
