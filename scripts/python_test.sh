#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Python package by `pip install .` into a virtual environment of its own and runs its tests. Arguments are
# passed to pytest. Nothing is installed outside build/ but system packages that are missing.
#   PYTHON             the interpreter, python3 by default
#   NEWEL_PYTHON_DIR  the build folder, build/python by default; the environment is venv/ in it
#   NEWEL_PIP_ARGS    further arguments for pip, as --config-settings=cmake.define.NEWEL_METIS=AUTO
set -euo pipefail
# shellcheck source=scripts/setup_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_common.sh"

python=${PYTHON:-python3}
dir=${NEWEL_PYTHON_DIR:-build/python}
packages=(g++ make cmake zlib1g-dev)
# Debian keeps what makes an environment, and the headers, in packages of their own.
"$python" -c 'import ensurepip' 2>/dev/null || packages+=(python3-venv)
"$python" -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
  packages+=(python3-dev)
install_missing "${packages[@]}"
choose_jobs

mkdir -p "$dir"
[ -x "$dir/venv/bin/python" ] || "$python" -m venv "$dir/venv"
say "building and installing into $dir/venv"
# The tree is built where it was built before, so that only what has changed is compiled; and with the compiler that
# CMake would take, so that a cache knows it from other builds. Python names its own otherwise.
export CXX=${CXX:-c++}
read -r -a further <<<"${NEWEL_PIP_ARGS:-}"
export CMAKE_BUILD_PARALLEL_LEVEL=$jobs CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD}
"$dir/venv/bin/python" -m pip install -q --disable-pip-version-check ".[test,plot]" --config-settings=build-dir="$dir" \
  "${further[@]}" >"$dir/pip.log" 2>&1 || {
  tail -n 30 "$dir/pip.log" >&2
  fail "pip failed; its output is in $dir/pip.log"
}
# What test_peers.py compares with: without it those tests are skipped and counted.
"$dir/venv/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: pyamg scikit-fem meshio mypy \
  >"$dir/peers.log" 2>&1 || say "without PyAMG, scikit-fem and meshio ($dir/peers.log): tests that need them are skipped"
# Tests under MPI need mpi4py, which is compiled with the MPI of the system.
if command -v mpicc >/dev/null; then
  "$dir/venv/bin/python" -m pip install -q --disable-pip-version-check mpi4py >"$dir/mpi4py.log" 2>&1 ||
    say "without mpi4py ($dir/mpi4py.log): tests that need it are skipped"
fi
# PyTorch without most of CUDA's libraries, which are in the toolkit if there is one and gigabytes otherwise. It is not
# needed by the package: where it cannot be imported its tests are skipped and counted.
if [ -e "${CUDA_PATH:-/usr/local/cuda}/lib64/libcudart.so" ]; then
  {
    "$dir/venv/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: --no-deps torch \
      nvidia-cufile nvidia-cusparselt-cu13 nvidia-nccl-cu13 nvidia-nvshmem-cu13 &&
      "$dir/venv/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: sympy networkx jinja2 \
        fsspec typing_extensions filelock setuptools &&
      "$dir/venv/bin/python" -c 'import torch'
  } >"$dir/torch.log" 2>&1 || say "without PyTorch ($dir/torch.log): tests that need it are skipped"
fi
# JAX, with the package that is compiled for it.
{
  "$dir/venv/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: jax lineax nanobind \
    scikit-build-core &&
    "$dir/venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation \
      "$PWD/python/jax"
} >"$dir/jax.log" 2>&1 || say "without JAX ($dir/jax.log): tests that need it are skipped"
say "running the tests"
# From elsewhere, so that what is imported is what was installed.
root=$PWD
cd "$dir"
exec venv/bin/python -m pytest -c "$root/pyproject.toml" --rootdir "$root" -p no:cacheprovider "$root/python/tests" "$@"
