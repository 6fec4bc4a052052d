// SPDX-License-Identifier: Apache-2.0
/// BlockDiagonals: block Jacobi, Jacobi or no preconditioner for the system of a block. Internal.
#pragma once

#include "solver/batched/inverse/batched_inverse.hpp"
#include "solver/batched/block_entries_device.cuh"

namespace newel::detail {

/// Inverses of diagonal entries are in registers, those of larger blocks in shared memory.
template <class T, class Shape>
class BlockDiagonals : public BlockEntries<T, Shape> {
  using Base = BlockEntries<T, Shape>;

 public:
  using Base::each;
  using Base::wait;
  using typename Base::At;
  using typename Base::Own;

  using Base::Base;

  /// Begins with system s.
  __device__ __forceinline__ void take(Index s) {
    this->load(s);
    const int width = args_.problem.limits.block_rows;
    each([&](At i) { inverse_[i] = T(1); });
    if (width == 1) each_entry([&](int k, T a) { inverse_.v[k] = inverse_or_one(a); }, [](int, T, int) {});
    if (width > 1) invert_blocks(width);
  }

  __device__ __forceinline__ bool is_local() const { return args_.problem.limits.block_rows <= 1; }
  __device__ __forceinline__ T scaled(At i, T r) const { return inverse_[i] * r; }

 protected:
  using Base::args_;
  using Base::each_entry;

  /// f(i, (M r)_i)
  template <class F>
  __device__ __forceinline__ void apply(const Own& r, F&& f) const {
    T* const exchange = this->template in<T>(args_.memory.exchange);
    each([&](At i) { exchange[i.row] = r[i]; });
    wait();
    const int width = args_.problem.limits.block_rows;
    each([&](At i) {
      const int first = i.row / width * width, count = min(width, args_.layout.rows - first);
      const T* const a = this->template in<T>(args_.memory.inverse) + i.row * width;
      T z = 0;
      for (int j = 0; j < count; ++j) z += a[j] * exchange[first + j];
      f(i, z);
    });
  }

 private:
  __device__ __forceinline__ void invert_blocks(int width) const {
    const int rows = args_.layout.rows;
    T* const inverse = this->template in<T>(args_.memory.inverse);
    each([&](At i) {
      for (int j = 0; j < width; ++j) inverse[i.row * width + j] = T(0);
    });
    const auto set = [&](int k, T a, int column) {
      const int row = static_cast<int>(threadIdx.x + k * blockDim.x), first = row / width * width;
      if (row < rows && column >= first && column < first + width) inverse[row * width + column - first] += a;
    };
    each_entry([&](int k, T a) { set(k, a, static_cast<int>(threadIdx.x + k * blockDim.x)); },
               [&](int k, T a, int place) { set(k, a, place / static_cast<int>(sizeof(T))); });
    wait();
    for (int block = static_cast<int>(threadIdx.x); block * width < rows; block += static_cast<int>(blockDim.x)) {
      const int first = block * width;
      invert_batched_block(inverse + first * width, min(width, rows - first), width, 1);
    }
    wait();
  }

  Own inverse_;
};

}  // namespace newel::detail
