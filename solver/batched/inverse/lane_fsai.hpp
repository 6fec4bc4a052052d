// SPDX-License-Identifier: Apache-2.0
/// LaneFsai: FSAI of eight systems of a batch. Internal.
#pragma once

#include <algorithm>

#include "solver/batched/inverse/batched_fsai.hpp"
#include "solver/batched/inverse/lane_pack.hpp"

namespace newel::detail {

/// G, and M r = G^T (G r). The entries of the eight systems are interleaved, as those of the matrix are.
template <class T>
class LaneFsai {
  static constexpr int lanes = batched_lanes;

 public:
  /// Numbers of T that G of a group takes, with two vectors for `apply`.
  static std::int64_t numbers(const BatchedFsaiPattern& pattern) {
    return (static_cast<std::int64_t>(pattern.column.size()) + 2 * std::int64_t{pattern.rows()}) * lanes;
  }

  /// `memory`: for `numbers`.
  LaneFsai(const BatchedFsaiPattern& pattern, T* memory)
      : pattern_(pattern),
        g_(memory),
        u_(memory + pattern.column.size() * lanes),
        z_(u_ + std::int64_t{pattern.rows()} * lanes) {}

  /// Computes G of the matrices with these values.
  void compute(const T* values) const {
    double local[fsai_local_size(most_fsai_row)];
    for (Index row = 0; row < pattern_.rows(); ++row) {
      const int m = pattern_.first[at(row) + 1] - pattern_.first[at(row)];
      const int* const position = pattern_.local.data() + pattern_.local_first[at(row)];
      T* const g = g_ + std::int64_t{pattern_.first[at(row)]} * lanes;
      for (int l = 0; l < lanes; ++l) {
        for (int k = 0; k < fsai_local_size(m); ++k)
          local[k] = position[k] < 0 ? 0.0 : static_cast<double>(values[std::int64_t{position[k]} * lanes + l]);
        solve_fsai_row<T>(local, m);
        for (int k = 0; k < m; ++k) g[k * lanes + l] = static_cast<T>(local[fsai_local_size(m - 1) + k]);
      }
    }
  }

  /// G^T (G r), in memory of this object, until the next call.
  const T* apply(const T* r) const {
    for (Index row = 0; row < pattern_.rows(); ++row) {
      LanePack<T> sum;
      for (int e = pattern_.first[at(row)]; e < pattern_.first[at(row) + 1]; ++e)
        sum.add_product(g_ + std::int64_t{e} * lanes, r + std::int64_t{pattern_.column[at(e)]} * lanes);
      sum.write(u_ + std::int64_t{row} * lanes);
    }
    for (Index col = 0; col < pattern_.rows(); ++col) {
      LanePack<T> sum;
      for (int k = pattern_.transposed_first[at(col)]; k < pattern_.transposed_first[at(col) + 1]; ++k) {
        const FsaiPlace place = pattern_.transposed[at(k)];
        sum.add_product(g_ + std::int64_t{place.entry} * lanes, u_ + std::int64_t{place.row} * lanes);
      }
      sum.write(z_ + std::int64_t{col} * lanes);
    }
    return z_;
  }

 private:
  static std::size_t at(Index k) { return static_cast<std::size_t>(k); }

  const BatchedFsaiPattern& pattern_;
  T *g_, *u_, *z_;
};

}  // namespace newel::detail
