#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds newel_bench_sequence and measures time loops of heat and of elastodynamics, whose solves start from the last state,
# from an extrapolation and from projections onto past solutions. Writes docs/results/sequence_PROBLEM_NAME.json.
# Arguments are passed to newel_bench_sequence; SIDES from the environment stands for the nodes along an edge of both.
#   NAME=h200 SIDES="128 48" ./bench/run/bench_sequence.sh
set -euo pipefail
# shellcheck source=bench/run/bench_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/bench_common.sh"

install_missing "${build_packages[@]}" "${comparison_packages[@]}"
choose_cuda
# shellcheck disable=SC2154  # set by choose_cuda
build build/bench-sequence -DNEWEL_CUDA="$cuda" -DNEWEL_BUILD_TESTS=OFF
if [ "$cuda" = OFF ]; then place=host usual="48 20"; else place=cuda usual="96 48"; fi
read -ra sides <<<"${SIDES-$usual}"
name=$(machine_name "$cuda")
measure "sequence_heat_$name" build/bench-sequence/bin/newel_bench_sequence --device "$place" --problem heat \
  --side "${sides[0]}" "$@"
measure "sequence_elastodynamics_$name" build/bench-sequence/bin/newel_bench_sequence --device "$place" \
  --problem elastodynamics --side "${sides[1]}" "$@"
