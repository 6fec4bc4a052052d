// SPDX-License-Identifier: Apache-2.0
/// InverseDiagonal: 1 / a_ii of all rows, and whether they are numbers and alike. Internal.
#pragma once

#include <newel/core/array.hpp>

namespace newel::detail {

/// In a context with ranks each has its rows, and all call the functions together.
template <class T, Space S>
class InverseDiagonal {
 public:
  InverseDiagonal(const Context<S>& ctx, Index rows);

  Index rows() const { return rows_; }
  /// To be filled with the diagonal before `invert`.
  Span<T, S> own() { return values_.span().subspan(0, rows_); }
  Span<const T, S> view() const { return values_.cspan().subspan(0, rows_); }
  std::size_t bytes() const { return values_.bytes(); }
  /// Whether all entries hardly differ from the first.
  bool constant() const { return constant_; }

  /// The inverses of the values at these positions; a missing one, with all bits set, counts as 0. False where an
  /// entry has no finite inverse. Waits on the stream.
  template <class Position>
  bool take(const Context<S>& ctx, Span<const T, S> values, Span<const Position, S> position);
  /// The same of the values that are there.
  bool invert(const Context<S>& ctx);

 private:
  bool all_regular(const Context<S>& ctx);

  Index rows_;
  Array<T, S> values_;       ///< with ranks one entry at least, so that all take the steps of a diagonal M
  Array<double, S> counts_;  ///< of the entries without a finite inverse, and of those that differ from the first
  bool constant_ = false;    ///< none does
};

}  // namespace newel::detail
