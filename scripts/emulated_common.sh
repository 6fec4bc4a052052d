# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts that compile for tests/emulation: where CUDA's headers are, and what --fast compiles.

# The tree of --fast, which both scripts compile in turn: without optimisation, the address sanitizer in kernels only.
fast_folder=build/emulated_fast
fast_tests=(test_vector_ops.cpp test_spmv.cpp test_cg.cpp)
fast_flags=-O0
fast_choices=(-DPURLIN_SANITIZE= -DEMU_SANITIZE_KERNELS=ON)

# cuda_headers : prints the folder of the CUDA toolkit's headers.
cuda_headers() {
  local nvcc headers
  nvcc=$(command -v nvcc || echo "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc")
  headers=$(dirname "$(dirname "$(realpath -m "$nvcc")")")/include
  [ -f "$headers/cuda_runtime_api.h" ] || fail "no headers of the CUDA toolkit in $headers: put nvcc on PATH or set CUDA_PATH"
  echo "$headers"
}
