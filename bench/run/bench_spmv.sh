#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Times the products of all formats in turns (`newel bench spmv`) on systems that need no file, then on those named
# here, and writes docs/results/spmv_NAME.json. On the device where one answers, else on the host, with smaller systems.
# Arguments are systems (Matrix Market files, generate:..., mesh:...; a bare FILE.mesh[.gz] stands for its elasticity
# and its diffusion) and options of `newel bench spmv`, those as --NAME=VALUE.
#   NAME=h200 ./bench/run/bench_spmv.sh matrices/*.mtx.gz mesh:head.mesh.gz:elasticity:2
#   NAME=laptop SYSTEMS=generate:grid7:60 ./bench/run/bench_spmv.sh --repeats=5 --device=host
set -euo pipefail
# shellcheck source=bench/run/bench_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench_common.sh"

bench_systems spmv "generate:elasticity:40 generate:diffusion:80 generate:grid7:100" \
  "generate:elasticity:68 generate:diffusion:68 generate:diffusion:134 generate:grid7:180" "$@"
