#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the tests with CUDA and packs what a machine with a GPU needs to run them: neither a checkout, nor CMake, nor a
# compiler, only the CUDA toolkit's libraries and compute-sanitizer. .stage/device.tar.gz then holds
#   device/bin                 newel_tests, newel, newel-bench, the examples for a device, and the shared libraries that they
#                              need beyond CUDA's and libc's
#   device/test_device.sh      which finds what lies beside it
#   device/commit              what was built; "-changed" is appended where files differ from it
#   device/device_sources.txt  the device sources and their hashes (scripts/device_sources.py)
# On the other machine: tar xzf device.tar.gz && device/test_device.sh; then docs/results/device_tests.json, which that
# leaves in the folder where it was called, is committed.
#   scripts/stage_device.sh [CMAKE_CHOICE...]      for example -DCMAKE_CUDA_ARCHITECTURES=90
set -euo pipefail
# shellcheck source=scripts/setup_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_common.sh"

build=build/cuda
stage=.stage/device
choose_jobs
cmake --preset cuda "$@"
examples=(examples/*_device.cpp)
examples=("${examples[@]##*/}")
cmake --build --preset cuda --parallel "$jobs" --target newel_tests newel_cli newel_bench \
  "${examples[@]%.cpp}"

rm -rf "$stage"
make_folder "$stage/bin"
cp "$build/bin/newel_tests" "$build/bin/newel" "$build/bin/newel-bench" "$build"/bin/0?_*_device "$stage/bin"
# Without symbols that only a debugger reads: half the size to carry.
strip --strip-debug "$stage/bin"/*
# What ldd names outside of the toolkit (found under /usr/local/cuda there too), libc and its parts.
for program in "$build/bin/newel_tests" "$build/bin/newel-bench"; do
  LD_LIBRARY_PATH=${CUDA_PATH:-/usr/local/cuda}/lib64 ldd "$program" | awk '$2 == "=>" && $3 ~ /^\// {print $3}'
done | sort -u | while IFS= read -r library; do
  case $(basename "$library") in
    libcu* | libnv* | libc.so.* | libm.so.* | libdl.so.* | librt.so.* | libpthread.so.* | libutil.so.* | ld-linux*) ;;
    *) cp "$library" "$stage/bin" ;;
  esac
done
cp scripts/test_device.sh "$stage"
scripts/device_sources.py >"$stage/device_sources.txt"
commit=$(git rev-parse HEAD)
[ -z "$(git status --porcelain --untracked-files=no)" ] || commit+=-changed
echo "$commit" >"$stage/commit"
tar -C .stage -czf .stage/device.tar.gz device
say "staged $commit in .stage/device.tar.gz ($(du -h .stage/device.tar.gz | cut -f 1)): $(find "$stage/bin" -type f | wc -l) files"
