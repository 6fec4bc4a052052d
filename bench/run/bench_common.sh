# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the scripts that build a program and measure share: the machine, systems, `newel bench`, results. Sourced, never run.
# shellcheck source=scripts/setup_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/setup_common.sh"

# machine_name CUDA : of the machine in the names of results: NAME from the environment, the GPU with CUDA=ON, else the host
machine_name() {
  if [ -n "${NAME:-}" ]; then
    echo "$NAME"
  elif [ "$1" = OFF ]; then
    echo "host_$(uname -m)"
  else
    nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1 | tr -cs '[:alnum:]\n' _
  fi
}

# measure RESULT PROGRAM [ARGUMENT...] : has the program write its full report, build/results/RESULT.json, and from it the
# compact docs/results/RESULT.json
measure() {
  local result=$1
  shift
  make_folder build/results
  say "measuring: keep the machine quiet meanwhile (load now: $(cut -d ' ' -f 1 /proc/loadavg))"
  "$@" --report "build/results/$result.json"
  bench/compact_results.py "docs/results/$result.json" --from "build/results/$result.json"
  say "written: docs/results/$result.json, in full build/results/$result.json; bench/pages/write_all.py writes the pages"
}

# bench_systems COMMAND HOST_SYSTEMS DEVICE_SYSTEMS [ARGUMENT...] : runs `newel bench COMMAND` on the systems for the host
# or the device (SYSTEMS from the environment stands for either), then on those among the arguments, and writes
# docs/results/COMMAND_NAME.json and, in full, build/results/COMMAND_NAME.json.
bench_systems() {
  local command=$1 usual=$2 on_device=$3 systems=() options=() argument first
  shift 3
  for argument in "$@"; do
    case $argument in
      -*) options+=("$argument") ;;
      mesh:* | generate:*) systems+=("$argument") ;;
      *.mesh | *.mesh.gz) systems+=("mesh:$argument:elasticity" "mesh:$argument:diffusion") ;;
      *) systems+=("$argument") ;;
    esac
  done

  install_missing "${build_packages[@]}" "${comparison_packages[@]}"
  choose_cuda
  # shellcheck disable=SC2154  # set by choose_cuda
  build "build/bench-$command" -DNEWEL_CUDA="$cuda" -DNEWEL_BUILD_TESTS=OFF -DNEWEL_BUILD_BENCHMARKS=OFF
  [ "$cuda" = OFF ] || usual=$on_device
  read -ra first <<<"${SYSTEMS-$usual}"
  measure "${command}_$(machine_name "$cuda")" \
    "build/bench-$command/bin/newel" bench "$command" "${first[@]}" "${systems[@]}" "${options[@]}"
}
