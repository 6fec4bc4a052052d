// SPDX-License-Identifier: Apache-2.0
/// LaneFactors: ILU(0) of eight systems of a batch. Internal.
#pragma once

#include <algorithm>

#include <newel/core/csr.hpp>
#include "solver/batched/inverse/batched_inverse.hpp"
#include "solver/batched/inverse/lane_pack.hpp"

namespace newel::detail {

/// Incomplete factors L U on the pattern of the matrix (Saad, algorithm 10.4; L has ones on its diagonal). The
/// entries of the eight systems are interleaved, as those of the matrix are. A pivot without a finite inverse, or
/// none in the pattern, counts as 1. The columns of each row ascend.
template <class T>
class LaneFactors {
  static constexpr int lanes = batched_lanes;

 public:
  /// Numbers of T that the factors of a group take: entries, inverses of pivots, and a vector for `solve`.
  static std::int64_t numbers(Index rows, Offset nonzeros) { return (nonzeros + 2 * std::int64_t{rows}) * lanes; }

  /// `memory`: for `numbers`.
  LaneFactors(const Pattern<Space::host>& pattern, T* memory)
      : pattern_(pattern),
        entries_(memory),
        pivot_inverse_(memory + pattern.nnz() * lanes),
        z_(pivot_inverse_ + std::int64_t{pattern.rows} * lanes) {}

  /// Computes the factors of the matrices with these values.
  void factorise(const T* values) const {
    std::copy(values, values + pattern_.nnz() * lanes, entries_);
    for (Index row = 0; row < pattern_.rows; ++row) {
      Offset e = pattern_.row_begin(row);
      const Offset end = pattern_.row_begin(row + 1);
      for (; e < end && pattern_.col[e] < row; ++e) eliminate(e, end);
      const bool has_pivot = e < end && pattern_.col[e] == row;
      T* const inverse = pivot_inverse_ + std::int64_t{row} * lanes;
      for (int l = 0; l < lanes; ++l) inverse[l] = has_pivot ? inverse_or_one(entries_[e * lanes + l]) : T(1);
    }
  }

  /// (L U)^-1 r, in memory of this object, until the next call.
  const T* solve(const T* r) const {
    for (Index row = 0; row < pattern_.rows; ++row) {
      LanePack<T> sum;
      const Offset end = pattern_.row_begin(row + 1);
      for (Offset e = pattern_.row_begin(row); e < end && pattern_.col[e] < row; ++e) add_entry(e, sum);
      finish_row(row, r, sum, [](int, T value) { return value; });
    }
    for (Index row = pattern_.rows - 1; row >= 0; --row) {
      LanePack<T> sum;
      const Offset begin = pattern_.row_begin(row);
      for (Offset e = pattern_.row_begin(row + 1); e-- > begin && pattern_.col[e] > row;) add_entry(e, sum);
      const T* const inverse = pivot_inverse_ + std::int64_t{row} * lanes;
      finish_row(row, z_, sum, [inverse](int l, T value) { return value * inverse[l]; });
    }
    return z_;
  }

 private:
  // Makes entry e an entry of L, and subtracts its multiple of U's row from the entries between e and `end`.
  void eliminate(Offset e, Offset end) const {
    const Index pivot = pattern_.col[e];
    T* const factor = entries_ + e * lanes;
    const T* const inverse = pivot_inverse_ + std::int64_t{pivot} * lanes;
#pragma omp simd
    for (int l = 0; l < lanes; ++l) factor[l] *= inverse[l];
    const Index* const col = pattern_.col.data;
    const Offset last = pattern_.row_begin(pivot + 1);
    Offset from = std::upper_bound(col + pattern_.row_begin(pivot), col + last, pivot) - col;
    for (Offset to = e + 1; to < end && from < last; ++from) {
      while (to < end && col[to] < col[from]) ++to;
      if (to == end || col[to] != col[from]) continue;
      T* const entry = entries_ + to * lanes;
      const T* const upper = entries_ + from * lanes;
#pragma omp simd
      for (int l = 0; l < lanes; ++l) entry[l] -= factor[l] * upper[l];
    }
  }

  void add_entry(Offset e, LanePack<T>& sum) const {
    sum.add_product(entries_ + e * lanes, z_ + std::int64_t{pattern_.col[e]} * lanes);
  }

  // z = scaled(right - sum) in a row.
  template <class F>
  void finish_row(Index row, const T* right, const LanePack<T>& sum, F&& scaled) const {
    T of_row[lanes];
    sum.write(of_row);
    const std::int64_t at = std::int64_t{row} * lanes;
#pragma omp simd
    for (int l = 0; l < lanes; ++l) z_[at + l] = scaled(l, right[at + l] - of_row[l]);
  }

  const Pattern<Space::host>& pattern_;
  T *entries_, *pivot_inverse_, *z_;
};

}  // namespace newel::detail
