#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the device tests of the Python package on a machine without a GPU: tests/emulation/ stands for CUDA, and its
# python/ for CuPy. Arguments are passed to pytest. It replaces no run on a GPU: what CuPy and PyTorch really do, and
# whether streams wait for each other, only a GPU shows (scripts/stage_python_device.sh).
#   PYTHON   the interpreter, python3 by default
set -euo pipefail
# shellcheck source=scripts/setup_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_common.sh"

folder=build/python_emulated
nvcc=$(command -v nvcc || echo "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc")
headers=$(dirname "$(dirname "$(realpath -m "$nvcc")")")/include
[ -f "$headers/cuda_runtime_api.h" ] ||
  fail "no headers of the CUDA toolkit in $headers: put nvcc on PATH or set CUDA_PATH"

make_folder "$folder"
choose_jobs
[ -x "$folder/venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder/venv"
say "building in $folder with $jobs jobs (its output is in $folder/build.log)"
tests/emulation/transform.py . "$folder/source"
{
  "$folder/venv/bin/python" -m pip install -q --disable-pip-version-check \
    "nanobind>=2.4" numpy scipy pytest hypothesis &&
    cmake -S "$folder/source" -B "$folder/build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPURLIN_BUILD_PYTHON=ON \
      -DPython_EXECUTABLE="$PWD/$folder/venv/bin/python" -DEMU_CUDA_INCLUDE="$headers" \
      -DCMAKE_CXX_FLAGS="-Wno-attributes -Wno-unused-parameter" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" \
      -DPURLIN_BUILD_APPS=OFF -DPURLIN_BUILD_EXAMPLES=OFF -DPURLIN_BUILD_BENCHMARKS=OFF -DPURLIN_BUILD_TESTS=OFF \
      -DPURLIN_BUILD_C=OFF -DPURLIN_INSTALL=OFF -DPURLIN_METIS=OFF &&
    cmake --build "$folder/build" --parallel "$jobs" --target _core
} >"$folder/build.log" 2>&1 || {
  tail -n 20 "$folder/build.log" >&2
  fail "the build failed; its output is in $folder/build.log"
}
rm -rf "$folder/site"
mkdir -p "$folder/site"
cp -r python/purlin "$folder/site"
cp "$folder"/build/lib/_core.*so "$folder/site/purlin"
export LD_LIBRARY_PATH=$PWD/$folder/build/lib PYTHONPATH=$PWD/$folder/site:$PWD/tests/emulation/python
exec "$folder/venv/bin/python" -m pytest -c pyproject.toml -p no:cacheprovider python/tests/test_device.py "$@"
