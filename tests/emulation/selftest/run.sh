#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows that the emulation finds faults: builds faults_device.cu with it, and looks for what each must bring out, in
# every order of the threads. Takes seconds.
#   tests/emulation/selftest/run.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

nvcc=$(command -v nvcc || echo "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc")
headers=$(dirname "$(dirname "$(realpath -m "$nvcc")")")/include
folder=build/emulation_selftest
mkdir -p "$folder"
tests/emulation/transform.py tests/emulation/selftest "$folder/source"
flags=(-std=c++17 -O1 -g -Wno-attributes -Itests/emulation/include -isystem "$headers")
${CXX:-g++} "${flags[@]}" -fsanitize=address -c "$folder/source/faults_device.cu.cpp" -o "$folder/faults.o"
for part in device launch memory operations streams threads; do
  ${CXX:-g++} "${flags[@]}" -DEMU_ASAN=1 -c "tests/emulation/src/$part.cpp" -o "$folder/$part.o"
done
${CXX:-g++} -fsanitize=address "$folder"/*.o -o "$folder/faults"

failed=0
expect() {  # fault, what its output must hold
  local order said
  for order in forward reverse random; do
    said=$(NEWEL_EMU_ORDER=$order ASAN_OPTIONS=detect_leaks=0 timeout 60 "$folder/faults" "$1" 2>&1 || true)
    if grep -qE "$2" <<<"$said"; then
      echo "found: $1, $order"
    else
      echo "NOT FOUND: $1, $order; it said: $said"
      failed=1
    fi
  done
}
expect none '^right$'
expect race '^wrong$'
expect groups '^right$'
expect masks 'EMU: .*names lanes that have ended|EMU: .*ended while others wait'
expect beyond 'heap-buffer-overflow'
expect split 'EMU: .*names lanes that have ended|EMU: .*ended while others wait'
expect bounds 'EMU: .*more threads than __launch_bounds__ says'
expect shared 'EMU: .*refused: dynamic shared memory'
expect stuck 'EMU: .*livelock'
expect stray 'EMU: cudaMemsetAsync.*not inside a live device allocation'
exit $failed
