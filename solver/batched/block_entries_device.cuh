// SPDX-License-Identifier: Apache-2.0
/// BlockEntries: the entries of a block's system, in registers, in shared memory or in the device's memory. Internal.
#pragma once

#include "solver/batched/block_system_device.cuh"

namespace newel::detail {

/// A thread reads the entries of its own rows only. The first `Shape::held` steps are in its registers; the others
/// are in shared memory if they fit.
template <class T, class Shape>
class BlockEntries : public BlockSystem<T, Shape::rows> {
  using Base = BlockSystem<T, Shape::rows>;

 public:
  using typename Base::At;
  static constexpr int rows_of_thread = Shape::rows;

  using Base::Base;

 protected:
  using Base::args_;
  using Base::shared_;
  using Base::system_;

  /// Begins with system s, and loads its values.
  __device__ __forceinline__ void load(Index s) {
    system_ = s;
    const Steps steps = own_steps();
    const T* const from = this->values();
#pragma unroll
    for (int j = 0; j < held; ++j) {
      const Sources source = in_layout<Sources>(args_.layout.source, steps.begin + j);
#pragma unroll
      for (int k = 0; k < rows; ++k) held_[j * rows + k] = value_from(from, source.v[k]);
      if (j > 0) held_columns_[j - 1] = in_layout<Columns>(args_.layout.column, steps.begin + j);
    }
    if (!args_.memory.values_on_chip) return;
    for (int j = steps.begin + held; j < steps.end; ++j) {
      const Sources source = in_layout<Sources>(args_.layout.source, j);
#pragma unroll
      for (int c = 0; c < rows / chunk; ++c) {
        Chunk value;
#pragma unroll
        for (int k = 0; k < chunk; ++k) value.v[k] = value_from(from, source.v[c * chunk + k]);
        *chunk_at(j, c) = value;
      }
      *columns_at(j) = in_layout<Columns>(args_.layout.column, j);
    }
  }

  /// diagonal(k, value) for the thread's k-th row, then f(k, value, place) for its other entries; place: the bytes in
  /// a vector before the entry's column. A row without a diagonal entry has a zero there.
  template <class D, class F>
  __device__ __forceinline__ void each_entry(D&& diagonal, F&& f) const {
    if constexpr (held > 0) {
#pragma unroll
      for (int k = 0; k < rows; ++k) diagonal(k, held_[k]);
#pragma unroll
      for (int j = 1; j < held; ++j) {
#pragma unroll
        for (int k = 0; k < rows; ++k) f(k, held_[j * rows + k], held_columns_[j - 1].v[k]);
      }
    }
    if (args_.layout.slots(held) == 0) return;
    const Steps steps = own_steps();
    if (args_.memory.values_on_chip) {
      each_read(
          steps, [&](int j, T* value) { read_chip(j, value); }, [&](int j) { return *columns_at(j); }, diagonal, f);
    } else {
      const T* const from = this->values();
      each_read(
          steps, [&](int j, T* value) { read_memory(from, j, value); },
          [&](int j) { return in_layout<Columns>(args_.layout.column, j); }, diagonal, f);
    }
  }

  /// f(k, value, v_j) for all entries (i, j) of its rows, v being what was published.
  template <class F>
  __device__ __forceinline__ void each_product(const typename Base::Own& v, F&& f) const {
    const char* const w = shared_ + block_head_bytes;
    each_entry([&](int k, T a) { f(k, a, v.v[k]); },
               [&](int k, T a, int place) { f(k, a, *reinterpret_cast<const T*>(w + place)); });
  }

 private:
  static constexpr int rows = Shape::rows, held = Shape::held;
  static constexpr int in_chunk = BlockTuning::chunk_bytes / static_cast<int>(sizeof(T));
  static constexpr int chunk = rows < in_chunk ? rows : in_chunk;
  struct alignas(chunk * sizeof(T)) Chunk {
    T v[chunk];
  };
  struct alignas(rows * sizeof(std::uint16_t)) Columns {
    std::uint16_t v[rows];
  };
  struct alignas(rows * sizeof(int)) Sources {
    int v[rows];
  };
  struct Steps {
    int begin, end;
  };

  __device__ __forceinline__ Steps own_steps() const {
    const int* const first = args_.layout.first + threadIdx.x / warp;
    return {first[0], first[1]};
  }
  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x % warp); }
  static __device__ __forceinline__ T value_from(const T* values, int source) {
    return source >= 0 ? values[source] : T(0);
  }
  template <class V, class E>
  static __device__ __forceinline__ V in_layout(const E* array, int j) {
    return reinterpret_cast<const V*>(array)[j * warp + lane()];
  }
  // Where step j of the layout is in shared memory, which does not have the held steps of this warp and those before.
  __device__ __forceinline__ int chip_step(int j) const {
    return j - held * (static_cast<int>(threadIdx.x / warp) + 1);
  }
  __device__ __forceinline__ Chunk* chunk_at(int j, int c) const {
    return this->template in<Chunk>(args_.memory.values) + (chip_step(j) * (rows / chunk) + c) * warp + lane();
  }
  __device__ __forceinline__ Columns* columns_at(int j) const {
    return this->template in<Columns>(args_.memory.columns) + chip_step(j) * warp + lane();
  }
  __device__ __forceinline__ void read_chip(int j, T* value) const {
#pragma unroll
    for (int c = 0; c < rows / chunk; ++c) {
      const Chunk read = *chunk_at(j, c);
#pragma unroll
      for (int k = 0; k < chunk; ++k) value[c * chunk + k] = read.v[k];
    }
  }
  __device__ __forceinline__ void read_memory(const T* from, int j, T* value) const {
    const Sources source = in_layout<Sources>(args_.layout.source, j);
#pragma unroll
    for (int k = 0; k < rows; ++k) value[k] = value_from(from, source.v[k]);
  }

  // The steps that are not held.
  template <class R, class C, class D, class F>
  static __device__ __forceinline__ void each_read(Steps steps, R&& read, C&& columns, D&& diagonal, F&& f) {
    int j = steps.begin + held;
    T value[rows];
    if constexpr (held == 0) {
      read(j++, value);
#pragma unroll
      for (int k = 0; k < rows; ++k) diagonal(k, value[k]);
    }
    for (; j < steps.end; ++j) {
      read(j, value);
      const Columns column = columns(j);
#pragma unroll
      for (int k = 0; k < rows; ++k) f(k, value[k], static_cast<int>(column.v[k]));
    }
  }

  T held_[held > 0 ? held* rows : 1];
  Columns held_columns_[held > 1 ? held - 1 : 1];
};

}  // namespace newel::detail
