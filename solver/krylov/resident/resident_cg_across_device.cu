// SPDX-License-Identifier: Apache-2.0
// CG as one kernel on each of several devices.
#include "solver/krylov/resident/resident_cg.hpp"
#include "solver/krylov/resident/resident_cg_device.cuh"

namespace newel::detail {
namespace {

template <class T, int B, ResidentPrecond precond>
ResidentKernel<T> kernel_across(ResidentStorage storage) {
  if constexpr (has_ehyb_kernels<T, B>) {
    if (storage == ResidentStorage::on_chip) return resident_cg<T, B, precond, ResidentStorage::on_chip, true>;
    if (storage == ResidentStorage::streaming) return resident_cg<T, B, precond, ResidentStorage::streaming, true>;
  }
  return nullptr;
}

template <class T, int B>
ResidentKernel<T> kernel_across(ResidentPrecond precond, ResidentStorage storage) {
  if (precond == ResidentPrecond::none) return kernel_across<T, B, ResidentPrecond::none>(storage);
  if (precond == ResidentPrecond::diagonal) return kernel_across<T, B, ResidentPrecond::diagonal>(storage);
  return nullptr;
}

}  // namespace

template <class T>
ResidentKernel<T> resident_cg_across(int block, ResidentPrecond precond, ResidentStorage storage) {
  if (block == 1) return kernel_across<T, 1>(precond, storage);
  if (block == 2) return kernel_across<T, 2>(precond, storage);
  if (block == 3) return kernel_across<T, 3>(precond, storage);
  return nullptr;
}

template ResidentKernel<double> resident_cg_across(int, ResidentPrecond, ResidentStorage);
template ResidentKernel<float> resident_cg_across(int, ResidentPrecond, ResidentStorage);

}  // namespace newel::detail
