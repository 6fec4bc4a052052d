// SPDX-License-Identifier: Apache-2.0
/// A caller's matrix with unsorted or repeated columns, made canonical, and the sums that carry new values over.
/// Internal.
#pragma once

#include <purlin/core/csr.hpp>

namespace purlin::detail {

template <class T, Space S>
class CanonicalMatrix {
 public:
  /// The pattern is sorted on the host, once.
  CanonicalMatrix(const Context<S>& ctx, const CsrView<T, S>& a);

  CsrView<T, S> view() const { return matrix_; }

  /// The canonical values that belong to the caller's. The result stays valid until the next call.
  Span<const T, S> values(const Context<S>& ctx, Span<const T, S> callers);

  /// Pattern and values are in the operators by now; only what new values need is kept.
  void drop_pattern();

 private:
  Csr<T, S> matrix_;
  Array<Offset, S> begin_;  ///< canonical entry k sums the caller's entries source_[begin_[k] .. begin_[k+1]-1]
  Array<Offset, S> source_;
};

}  // namespace purlin::detail
