#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows that the emulation finds faults: builds faults_device.cu with it, and looks for what each must bring out, in
# every order of the threads. The same of peers_device.cu, where four and eight devices send each other rows and sums. Takes
# seconds.
#   tests/emulation/selftest/run.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

nvcc=$(command -v nvcc || echo "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc")
headers=$(dirname "$(dirname "$(realpath -m "$nvcc")")")/include
folder=build/emulation_selftest
mkdir -p "$folder"
tests/emulation/transform.py tests/emulation/selftest "$folder/source"
tests/emulation/transform.py core/ranks "$folder/source/core/ranks"
flags=(-std=c++20 -O1 -g -Wno-attributes -Wno-volatile -Itests/emulation/include -I"$folder/source" -Iinclude
       -isystem "$headers")
for program in faults peers; do
  ${CXX:-g++} "${flags[@]}" -fsanitize=address -c "$folder/source/${program}_device.cu.cpp" -o "$folder/$program.o"
done
for part in device launch memory operations streams threads; do
  ${CXX:-g++} "${flags[@]}" -DEMU_ASAN=1 -c "tests/emulation/src/$part.cpp" -o "$folder/$part.o"
done
parts=("$folder"/{device,launch,memory,operations,streams,threads}.o)
for program in faults peers; do
  ${CXX:-g++} -fsanitize=address "$folder/$program.o" "${parts[@]}" -pthread -o "$folder/$program"
done

failed=0
expect() {  # fault, what its output must hold
  local order said
  for order in forward reverse random; do
    said=$(NEWEL_EMU_ORDER=$order ASAN_OPTIONS=detect_leaks=0 timeout 120 "$folder/${program:-faults}" $1 2>&1 || true)
    if grep -qE "$2" <<<"$said"; then
      echo "found: ${program:-faults} $1, $order"
    else
      echo "NOT FOUND: ${program:-faults} $1, $order; it said: $said"
      failed=1
    fi
  done
}
program=faults
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
program=peers
for devices in 2 4 8; do
  export NEWEL_EMU_DEVICES=$devices
  expect "$devices" '^right$'
done
expect "4 unawaited" '^wrong$'
expect "4 unsummed" '^wrong$'
export NEWEL_EMU_PATIENCE=1
expect "4 alone" 'EMU: .*livelock'
exit $failed
