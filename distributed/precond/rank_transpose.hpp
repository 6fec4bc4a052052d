// SPDX-License-Identifier: Apache-2.0
/// RankTranspose: the transpose of a matrix whose rows are distributed over ranks, distributed likewise. Internal.
#pragma once

#include <cstdint>
#include <vector>

#include <newel/distributed/distributed_system.hpp>
#include "distributed/rows/value_exchange.hpp"

namespace newel::detail {

/// A rank's rows of a pattern, with columns of the whole matrix that ascend.
struct RankPattern {
  std::vector<Offset> row_ptr{0};
  std::vector<std::int64_t> col;

  Index rows() const { return static_cast<Index>(row_ptr.size()) - 1; }
  /// With values in the order of `col`.
  template <class T>
  RankRows<T> with(Span<const T, Space::host> values) const {
    return {Span<const Offset, Space::host>(row_ptr), Span<const std::int64_t, Space::host>(col), values};
  }
};

/// All ranks make theirs together, and call `values` together. `ctx` has ranks.
template <class T>
class RankTranspose {
 public:
  /// Of a square matrix. `first_rows`: see halo.hpp. O(entries).
  RankTranspose(const Context<Space::host>& ctx, const std::vector<std::int64_t>& first_rows,
                Span<const Offset, Space::host> row_ptr, Span<const std::int64_t, Space::host> col);

  /// This rank's rows of the transpose. To be called once.
  RankPattern take_pattern() { return std::move(pattern_); }
  /// The values of these rows, from the values of this rank's rows. `transposed` has `entries()` places.
  void values(Span<const T, Space::host> of_rows, Span<T, Space::host> transposed);
  Offset entries() const { return place_.size(); }
  std::uint64_t bytes() const { return place_.bytes() + exchange_->bytes(); }

 private:
  RankPattern pattern_;
  Array<Offset, Space::host> place_;  ///< of what comes, in the transpose
  std::unique_ptr<ValueExchange<T>> exchange_;
};

}  // namespace newel::detail
