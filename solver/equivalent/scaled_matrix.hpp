// SPDX-License-Identifier: Apache-2.0
/// ScaledMatrix: a matrix with scaled rows and columns, and large entries on its diagonal. Internal.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include <newel/solver/system_info.hpp>
#include "reorder/scaling/scale_powers.hpp"

namespace newel::detail {

/// What is to be done with a matrix, and why.
struct ScalingWish {
  bool scale = false, match = false;
  std::string reason;
  int most_iterations = std::numeric_limits<int>::max();  ///< of a solve, unless the caller allows fewer

  bool any() const { return scale || match; }
};

/// B = R A Q C, see ScalingOptions.
template <class T, Space S>
class ScaledMatrix {
 public:
  /// `symmetric`: of A and its values, which B is to keep.
  ScaledMatrix(const Context<S>& ctx, const ScalingWish& wish, bool symmetric)
      : ctx_(ctx), wish_(wish), symmetric_(symmetric) {}

  /// B of a square and canonical A. Throws WorkInterrupted.
  void make(const CsrView<T, S>& a);
  /// R and C of new values of A; Q is kept.
  void take_values(Span<const T, S> values);
  /// Whether these leave tiny entries on the diagonal, which another Q might not.
  bool needs_other_columns() const { return rows_off_diagonal() > tiny_; }

  CsrView<T, S> view() const { return CsrView<T, S>(B_); }
  const ScalingInfo& info() const { return info_; }
  bool symmetric() const { return symmetric_; }
  /// R, and C by the columns of B.
  const ScalePowers<S>& powers() const { return powers_; }
  /// What makes the largest entry of each row of A one, without regard to its columns.
  Span<const std::int32_t, S> row_only() const { return row_only_.cspan(); }
  /// Of Q; empty: it is the identity.
  Span<const Index, S> column_of_row() const { return column_of_row_.cspan(); }
  Span<const Index, S> row_of_column() const { return row_of_column_.cspan(); }

 private:
  void match(const CsrView<T, S>& a);
  void take_pattern(const CsrView<T, S>& a);
  Index rows_off_diagonal() const;
  Equilibration equilibration() const;

  Context<S> ctx_;
  ScalingWish wish_;
  bool symmetric_;
  ScalingInfo info_;
  Index tiny_ = 0;  // rows with a tiny diagonal when Q was found
  Array<Index, S> column_of_row_, row_of_column_;
  ScalePowers<S> base_, powers_;  // of the matching, after means; of B
  Array<std::int32_t, S> row_only_;
  Csr<T, S> B_;
  ValueMap<S> source_;  // of its entries in A
};

}  // namespace newel::detail
