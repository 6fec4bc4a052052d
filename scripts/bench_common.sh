# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What bench_spmv.sh, bench_solve.sh and bench_regret.sh share: build, choose systems, run `newel bench`. Sourced, never run.
# shellcheck source=scripts/setup_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_common.sh"

# bench_systems COMMAND HOST_SYSTEMS DEVICE_SYSTEMS [ARGUMENT...] : runs `newel bench COMMAND` on the systems for the host
# or the device (SYSTEMS from the environment stands for either), then on those among the arguments, and writes
# docs/results/COMMAND_NAME.json.
bench_systems() {
  local command=$1 usual=$2 on_device=$3 systems=() options=() argument first name
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
  if [ "$cuda" = OFF ]; then
    name=${NAME:-host_$(uname -m)}
  else
    usual=$on_device
    name=${NAME:-$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1 | tr -cs '[:alnum:]\n' _)}
  fi
  read -ra first <<<"${SYSTEMS-$usual}"
  make_folder docs/results
  say "measuring: keep the machine quiet meanwhile (load now: $(cut -d ' ' -f 1 /proc/loadavg))"
  "build/bench-$command/bin/newel" bench "$command" "${first[@]}" "${systems[@]}" \
    --report "docs/results/${command}_$name.json" "${options[@]}"
  local shown="scripts/write_performance.py shows it"
  [ ! -e "scripts/plot_$command.py" ] || shown="scripts/plot_$command.py and scripts/write_performance.py show it"
  say "written: docs/results/${command}_$name.json; $shown"
}
