#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the device tests of the Python package on a machine without a GPU: tests/emulation/ stands for CUDA, and its
# python/ for CuPy. It replaces no run on a GPU: what CuPy and PyTorch really do, and whether streams wait for each
# other, only a GPU shows (scripts/stage_python_device.sh).
#   scripts/python_emulated.sh [ARGUMENTS OF PYTEST]
#   scripts/python_emulated.sh --fast [ARGUMENTS OF PYTEST]   a few tests, in the tree of `test_emulated.sh --fast`
#   PYTHON           the interpreter, python3 by default
#   PURLIN_PYTHON_VENV  an environment with the tests' packages to use, as build/python/venv; one is made otherwise
set -euo pipefail
# shellcheck source=scripts/setup_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_common.sh"
# shellcheck source=scripts/emulated_common.sh
. scripts/emulated_common.sh

folder=build/python_emulated
tests=()
flags="-O1 -g1"
choices=(-DPURLIN_BUILD_TESTS=OFF -DPURLIN_BUILD_EXAMPLES=OFF)
selected=()
if [ "${1:-}" = --fast ]; then
  shift
  folder=$fast_folder
  tests=("${fast_tests[@]}")
  flags=$fast_flags
  choices=("${fast_choices[@]}")
  # One of each kind: forms, no copies, columns, new values, operators, streams, the functions like SciPy's, threads.
  selected=(-k "(solved_where_it_lies and float64) or read_where_they_are or (columns_in_either and C-3)
    or new_values_come or products_are or (host_is_copied and csr) or (function_on_arrays and cg)
    or current_stream_is_waited_for or like_those_of_scipy_solve_on_the_device")
fi

headers=$(cuda_headers)
make_folder "$folder"
choose_jobs
venv=${PURLIN_PYTHON_VENV:-$folder/venv}
[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
say "building in $folder with $jobs jobs (its output is in $folder/python.log)"
tests/emulation/transform.py . "$folder/source" "${tests[@]}"
{
  "$venv/bin/python" -m pip install -q --disable-pip-version-check "nanobind>=2.4" numpy scipy pytest hypothesis &&
    cmake -S "$folder/source" -B "$folder/build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPURLIN_BUILD_PYTHON=ON \
      -DPython_EXECUTABLE="$(realpath -s "$venv/bin/python")" -DEMU_CUDA_INCLUDE="$headers" \
      -DCMAKE_CXX_FLAGS="-Wno-attributes -Wno-unused-parameter" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="$flags" \
      -DPURLIN_BUILD_APPS=OFF -DPURLIN_BUILD_BENCHMARKS=OFF -DPURLIN_BUILD_C=OFF -DPURLIN_INSTALL=OFF \
      "${choices[@]}" &&
    cmake --build "$folder/build" --parallel "$jobs" --target _core
} >"$folder/python.log" 2>&1 || {
  tail -n 20 "$folder/python.log" >&2
  fail "the build failed; its output is in $folder/python.log"
}
rm -rf "$folder/site"
mkdir -p "$folder/site"
cp -r python/purlin "$folder/site"
cp "$folder"/build/lib/_core.*so "$folder/site/purlin"
# Kernels with the address sanitizer need its library before any other.
if [ ${#selected[@]} -gt 0 ]; then
  LD_PRELOAD=$("${CXX:-c++}" -print-file-name=libasan.so)
  export LD_PRELOAD ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"
fi
export LD_LIBRARY_PATH=$PWD/$folder/build/lib PYTHONPATH=$PWD/$folder/site:$PWD/tests/emulation/python
exec "$venv/bin/python" -m pytest -c pyproject.toml -p no:cacheprovider python/tests/test_device.py "${selected[@]}" "$@"
