#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Times whole solves in turns with what one writes otherwise (`newel bench solve`) on systems that need no file, then on
# those named here, and writes docs/results/solve_NAME.json. On the GPU if there is one, else on the host, with
# smaller systems. Arguments are as those of bench_spmv.sh, with the options of `newel bench solve`.
#   NAME=h200 ./bench/run/bench_solve.sh --preconds=jacobi,fsai mesh:head.mesh.gz:elasticity:2
#   NAME=laptop SYSTEMS=generate:grid7:60 ./bench/run/bench_solve.sh --solvers=cg --device=host
set -euo pipefail
# shellcheck source=bench/run/bench_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench_common.sh"

bench_systems solve "generate:elasticity:40 generate:diffusion:80" \
  "generate:elasticity:68 generate:diffusion:68 generate:diffusion:134 generate:grid7:180" "$@"
