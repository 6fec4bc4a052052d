#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs device test cases on a machine without a GPU: tests/emulation/ stands for CUDA, each case is a process of its own.
# Takes minutes for a case of the solvers. Needs the CUDA toolkit's headers (nvcc on PATH, CUDA_PATH, or /usr/local/cuda).
# It replaces no run on a GPU: tests/emulation/README.md says what it shows and names the variables NEWEL_EMU_*.
#   scripts/test_emulated.sh [FILTER]
#   scripts/test_emulated.sh --fast
#   scripts/test_emulated.sh --mpi
#   scripts/test_emulated.sh --ranks
# FILTER is Catch2's: tags such as "[spmv][columns]", or a name, with * at its beginning or end. Without it all cases run.
# --fast compiles the cases of three files and runs a few of them, in about two minutes on two cores: vector operations, the
# product of every format and CG, on a few of the matrices, with the address sanitizer in kernels only.
# --mpi runs 1 to 5 processes under MPI, which share the emulated device and exchange values through the host.
# --ranks runs the cases of ranks whose devices send each other packets, on 4 and on 8 emulated devices, each with a thread
# of its own. Their kernels and those of others take turns at random.
set -euo pipefail
# shellcheck source=scripts/setup_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_common.sh"

filter="${1:-}[device]"
folder=build/emulated
tests=()
flags="-O1 -g1"
choices=(-DNEWEL_SANITIZE="${NEWEL_EMU_SANITIZE-address}")
target=newel_tests
[ "${1:-}" != --mpi ] || target=newel_mpi_gpus
numbers_of_devices=${NEWEL_EMU_DEVICES:-1}
if [ "${1:-}" = --ranks ]; then
  filter="[distributed][device]"
  folder=build/emulated_ranks
  tests=(test_device_links_device.cpp test_device_ranks_device.cpp test_one_kernel_device.cpp test_published_product_device.cpp)
  flags=-O0
  choices=(-DNEWEL_SANITIZE= -DEMU_SANITIZE_KERNELS=ON)
  export NEWEL_EMU_ORDER="${NEWEL_EMU_ORDER:-random}"
  numbers_of_devices=${NEWEL_EMU_DEVICES:-4 8}
  export NEWEL_EMU_SMS="${NEWEL_EMU_SMS:-4}" # all threads of a kernel on all devices exist at once
  export NEWEL_EMU_PATIENCE="${NEWEL_EMU_PATIENCE:-120}"
fi
if [ "${1:-}" = --fast ] || [ "${1:-}" = --mpi ]; then
  filter="[vector_ops][device],[cg][device],A format*[device]"
  folder=build/emulated_fast
  tests=(test_vector_ops.cpp test_spmv.cpp test_cg.cpp)
  flags=-O0
  choices=(-DNEWEL_SANITIZE= -DEMU_SANITIZE_KERNELS=ON)
  export NEWEL_TEST_FEW_MATRICES=1
fi
logs=$folder/log
program=$folder/build/bin/newel_tests

nvcc=$(command -v nvcc || echo "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc")
headers=$(dirname "$(dirname "$(realpath -m "$nvcc")")")/include
[ -f "$headers/cuda_runtime_api.h" ] || fail "no headers of the CUDA toolkit in $headers: put nvcc on PATH or set CUDA_PATH"

make_folder "$folder"
choose_jobs
say "building in $folder with $jobs jobs (long at first; what it says is in $folder/build.log)"
tests/emulation/transform.py . "$folder/source" "${tests[@]}"
{
  cmake -S "$folder/source" -B "$folder/build" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CXX_FLAGS="-Wno-attributes -Wno-unused-parameter" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="$flags" \
    "${choices[@]}" -DNEWEL_BUILD_APPS="${NEWEL_EMU_APPS:-OFF}" \
    -DNEWEL_BUILD_BENCHMARKS=OFF -DNEWEL_INSTALL=OFF -DEMU_CUDA_INCLUDE="$headers" &&
    cmake --build "$folder/build" --parallel "$jobs" --target "$target"
} >"$folder/build.log" 2>&1 || {
  grep -E 'error|Error' "$folder/build.log" | head -n 20 >&2 || tail -n 20 "$folder/build.log" >&2
  fail "the build failed; its output is in $folder/build.log"
}

export NEWEL_TEST_UNTIMED=1 # a clock says nothing of the device here
export ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=0:${ASAN_OPTIONS:-}"
if [ "$target" = newel_mpi_gpus ]; then
  ended=0
  ctest --test-dir "$folder/build" -L mpi -R GPU --output-on-failure 2>&1 | tee "$folder/mpi.log" || ended=$?
  count() { grep -cE "Test +#[0-9]+: .*$1" "$folder/mpi.log" || true; }
  say "$(count ' Passed ') passed, $(count '\*\*\*(Failed|Timeout|Exception)') failed on the emulation, $(count '\*\*\*Skipped') skipped"
  exit "$ended"
fi
rm -rf "$logs"
make_folder "$logs"
list_tests "$program" "$filter" >"$logs/names"
[ -s "$logs/names" ] || fail "no device case fits '$filter'"
say "$(wc -l <"$logs/names") device cases on the emulation"

# run_case NUMBER : one case in a process; what became of it goes to NUMBER.result.
run_case() {
  local name one began status=0 what complaints log=$logs/$NEWEL_EMU_DEVICES.$1.log
  name=$(sed -n "$1p" "$logs/names")
  one=$(filter_of_names <<<"$name")
  began=$SECONDS
  timeout -k 5 "${NEWEL_EMU_LIMIT:-600}" "$program" "$one" >"$log" 2>&1 </dev/null || status=$?
  complaints=$(grep -c '^EMU:' "$log" || true)
  if [ "$status" -eq 0 ] && grep -q '^All tests passed' "$log"; then
    what=passed
  elif [ "$status" -eq 77 ]; then
    what=skipped # the case says why
  else
    what="FAILED ($([ "$status" -ne 124 ] && echo "$status" || echo "out of time"))"
  fi
  [ "$complaints" -eq 0 ] || what+=", $complaints complaints"
  echo "$what: $name ($((SECONDS - began)) s, $log)" | tee "$logs/$NEWEL_EMU_DEVICES.$1.result"
}
export -f run_case filter_of_names
export logs program
runs=0
for NEWEL_EMU_DEVICES in $numbers_of_devices; do
  export NEWEL_EMU_DEVICES
  seq "$(wc -l <"$logs/names")" | xargs -P "$jobs" -I {} bash -c 'run_case {}'
  runs=$((runs + $(wc -l <"$logs/names")))
done
count() { cat "$logs"/*.result | grep -c "^$1" || true; }
passed=$(count passed) skipped=$(count skipped)
failed=$((runs - passed - skipped))
say "$passed passed, $failed failed on the emulation, $skipped skipped"
[ "$failed" -eq 0 ]
