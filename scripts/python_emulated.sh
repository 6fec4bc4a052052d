#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the device tests of the Python package on a machine without a GPU: tests/emulation/ stands for CUDA, and its
# python/ for CuPy. Arguments are passed to pytest. It replaces no run on a GPU: what CuPy and PyTorch really do, and
# whether streams wait for each other, only a GPU shows (scripts/stage_python_device.sh).
#   scripts/python_emulated.sh [ARGUMENT...]
#   scripts/python_emulated.sh --fast [ARGUMENT...]
# --fast adds the module to what `scripts/test_emulated.sh --fast` has built, with the address sanitizer in kernels, and runs a
# few of the tests: arrays where they lie, columns, guesses, new values, mistakes, memory. Ends with 77 where it cannot.
#   PYTHON   the interpreter, python3 by default
set -euo pipefail
# shellcheck source=scripts/setup_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_common.sh"

cannot() {
  say "not run: $1"
  exit 77
}

folder=build/python_emulated
tree=$folder
chosen=()
fast=
if [ "${1:-}" = --fast ]; then
  shift
  fast=1
  tree=build/emulated_fast
  [ -f "$tree/build/CMakeCache.txt" ] || cannot "nothing to add to: run scripts/test_emulated.sh --fast first"
  sanitizer=$("${CXX:-c++}" -print-file-name=libasan.so)
  [ -f "$sanitizer" ] || cannot "${CXX:-c++} has no libasan.so"
  few=(read_where_they_are allocates columns_in_either guess_may dlpack_alone another_pattern does_not_use_the_arrays
    products_are mistakes host_behind foreign_memory new_values_and_products)
  chosen=(-k "$(printf '%s or ' "${few[@]}")import_and")
fi

make_folder "$folder"
choose_jobs
[ -x "$folder/venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder/venv"
say "building in $tree with $jobs jobs (its output is in $tree/python.log)"
# configure : the whole tree, or the module for the one that is there.
configure() {
  tests/emulation/transform.py . "$tree/source"
  local python=(-DNEWEL_BUILD_PYTHON=ON -DPython_EXECUTABLE="$PWD/$folder/venv/bin/python")
  if [ -n "$fast" ]; then
    cmake -S "$tree/source" -B "$tree/build" "${python[@]}"
    return
  fi
  local nvcc headers
  nvcc=$(command -v nvcc || echo "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc")
  headers=$(dirname "$(dirname "$(realpath -m "$nvcc")")")/include
  [ -f "$headers/cuda_runtime_api.h" ] ||
    fail "no headers of the CUDA toolkit in $headers: put nvcc on PATH or set CUDA_PATH"
  cmake -S "$tree/source" -B "$tree/build" -DCMAKE_BUILD_TYPE=RelWithDebInfo "${python[@]}" \
    -DEMU_CUDA_INCLUDE="$headers" -DCMAKE_CXX_FLAGS="-Wno-attributes -Wno-unused-parameter" \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" -DNEWEL_BUILD_APPS=OFF -DNEWEL_BUILD_EXAMPLES=OFF \
    -DNEWEL_BUILD_BENCHMARKS=OFF -DNEWEL_BUILD_TESTS=OFF -DNEWEL_BUILD_C=OFF -DNEWEL_INSTALL=OFF -DNEWEL_METIS=OFF
}
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check "nanobind>=2.4" numpy scipy pytest hypothesis \
  >"$folder/pip.log" 2>&1 || cannot "pip could not install nanobind and what the tests need; its output is in $folder/pip.log"
{ configure && cmake --build "$tree/build" --parallel "$jobs" --target _core; } >"$tree/python.log" 2>&1 || {
  tail -n 20 "$tree/python.log" >&2
  fail "the build failed; its output is in $tree/python.log"
}
rm -rf "$tree/site"
mkdir -p "$tree/site"
cp -r python/newel "$tree/site"
cp "$tree"/build/lib/_core.*so "$tree/site/newel"
export LD_LIBRARY_PATH=$PWD/$tree/build/lib PYTHONPATH=$PWD/$tree/site:$PWD/tests/emulation/python
run=("$folder/venv/bin/python" -m pytest -c pyproject.toml -p no:cacheprovider python/tests/test_device.py
  python/tests/test_device_streams.py python/tests/test_device_calls.py python/tests/test_devices.py
  python/tests/test_complex_device.py
  "${chosen[@]}" "$@")
if [ -n "$fast" ]; then  # Python knows nothing of the sanitizer, which has to come first, nor of what throws
  export ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=0:${ASAN_OPTIONS:-}"
  LD_PRELOAD="$sanitizer $("${CXX:-c++}" -print-file-name=libstdc++.so)"
  export LD_PRELOAD
fi
exec "${run[@]}"
