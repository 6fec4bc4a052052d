#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Times the products of all formats in turns (`purlin bench spmv`) on systems that need no file, then on those named
# here, and writes docs/results/spmv_NAME.json. On the device where one answers, else on the host, with smaller systems.
# Arguments are systems (Matrix Market files, generate:..., mesh:...; a bare FILE.mesh[.gz] stands for its elasticity
# and its diffusion) and options of `purlin bench spmv`, those as --NAME=VALUE.
#   NAME=h200 ./scripts/bench_spmv.sh matrices/*.mtx.gz mesh:head.mesh.gz:elasticity:2
#   NAME=laptop SYSTEMS=generate:grid7:60 ./scripts/bench_spmv.sh --repeats=5 --device=host
set -euo pipefail
# shellcheck source=scripts/setup_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_common.sh"

systems=() options=()
for argument in "$@"; do
  case $argument in
    -*) options+=("$argument") ;;
    mesh:* | generate:*) systems+=("$argument") ;;
    *.mesh | *.mesh.gz) systems+=("mesh:$argument:elasticity" "mesh:$argument:diffusion") ;;
    *) systems+=("$argument") ;;
  esac
done

install_missing "${build_packages[@]}"
choose_cuda
build build/bench-spmv -DPURLIN_CUDA="$cuda" -DPURLIN_BUILD_TESTS=OFF -DPURLIN_BUILD_BENCHMARKS=OFF
if [ "$cuda" = OFF ]; then
  usual="generate:elasticity:40 generate:diffusion:80 generate:grid7:100"
  name=${NAME:-host_$(uname -m)}
else
  usual="generate:elasticity:68 generate:diffusion:68 generate:diffusion:134 generate:grid7:180"
  name=${NAME:-$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1 | tr -cs '[:alnum:]\n' _)}
fi
read -ra first <<<"${SYSTEMS-$usual}"
make_folder docs/results
say "measuring: keep the machine quiet meanwhile (load now: $(cut -d ' ' -f 1 /proc/loadavg))"
build/bench-spmv/bin/purlin bench spmv "${first[@]}" "${systems[@]}" --report "docs/results/spmv_$name.json" \
  "${options[@]}"
say "written: docs/results/spmv_$name.json; scripts/plot_spmv.py and scripts/write_performance.py show it"
