// SPDX-License-Identifier: Apache-2.0
/// MatrixSource: the matrix of a system as the caller numbers it, for what is made of it after its format. Internal.
#pragma once

#include <optional>

#include <newel/reorder/row_order.hpp>
#include <newel/spmv/operator.hpp>

namespace newel::detail {

/// Where the format is CSR in the caller's numbering, the matrix itself. Else a copy of the pattern, and of the
/// values too where these were kept and there was memory for them; they can be read back from the format otherwise.
template <class T, Space S>
class MatrixSource {
 public:
  /// Of a matrix in its format, whose rows are in that order. Both outlive it.
  MatrixSource(const Context<S>& ctx, MatrixOperator<T, S>& A, const RowOrder<S>& order)
      : ctx_(ctx), A_(A), order_(order) {}

  /// Keeps the pattern of `a`, where the format does not show it. False, and nothing is kept: there is no memory.
  bool keep_pattern(const CsrView<T, S>& a);
  /// Keeps the values too, where the pattern is kept, `a` has them in its own order and there is memory.
  void keep_values(const CsrView<T, S>& a);
  /// New ones in their place, as long as they are `wanted`.
  void renew_values(Span<const T, S> values, bool wanted);
  /// The values that were kept are no longer those of the matrix.
  void forget_values();
  /// Nothing will be made of it any more.
  void forget() { kept_.reset(); }

  /// Nothing where it is neither shown nor kept.
  std::optional<Pattern<S>> pattern() const;
  /// The matrix, where it can be had at once.
  std::optional<CsrView<T, S>> at_hand() const;
  /// The matrix in solver order. What it is made of is left in `values` and `permuted`, which live as long as it is
  /// used. Slow where the values are read back from the format: for what happens once, after a failure. Throws
  /// InputError where the format does not store them all, and OutOfMemory.
  CsrView<T, S> in_order(Array<T, S>& values, PermutedCsr<T, S>& permuted) const;

 private:
  struct Kept {
    Index rows = 0;
    Array<std::int32_t, S> row_ptr32;
    Array<Offset, S> row_ptr64;
    Array<Index, S> col;
    Array<T, S> val;  // as they are now; or empty
    Pattern<S> view() const;
  };
  CsrView<T, S> read_back(Array<T, S>& values) const;

  const Context<S>& ctx_;
  MatrixOperator<T, S>& A_;
  const RowOrder<S>& order_;
  std::optional<Kept> kept_;
};

}  // namespace newel::detail
