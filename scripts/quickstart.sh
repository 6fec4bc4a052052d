#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a bare Debian or Ubuntu machine to a solved finite-element system: installs what is missing, builds, solves.
set -euo pipefail
# shellcheck source=scripts/setup_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_common.sh"

install_missing "${build_packages[@]}"
choose_cuda
target=newel_cli  # the rest, what `newel bench` runs and the demos: cmake --build build/quickstart --parallel "$(nproc)"
build build/quickstart -DNEWEL_CUDA="$cuda" -DNEWEL_BUILD_TESTS=OFF -DNEWEL_BUILD_BENCHMARKS=OFF

# A steel beam under its own weight: apps/data/README.md
example=(apps/data/cantilever_beam.mtx.gz --rhs apps/data/cantilever_beam_b.mtx.gz)
say "build/quickstart/bin/newel solve ${example[*]}"
build/quickstart/bin/newel solve "${example[@]}"
