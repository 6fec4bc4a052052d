// SPDX-License-Identifier: Apache-2.0
/// CondensedMatrix: a matrix in parts, with the rows that fix unknowns last. Internal.
#pragma once

#include <newel/spmv/operator.hpp>
#include "reorder/condense/condense.hpp"

namespace newel::detail {

/// A is (B, C; 0, D) in an order of its own, with a diagonal D.
template <class T, Space S>
class CondensedMatrix {
 public:
  explicit CondensedMatrix(const Context<S>& ctx) : ctx_(ctx), scratch_(ctx, 1) {}

  /// The parts of a square and canonical A for the rows that fix unknowns.
  void make(const CsrView<T, S>& a, FixingRows<S> fixing);
  /// New values of A, whose rows still fix the same unknowns.
  void take_values(Span<const T, S> values);
  bool rows_still_fix(const CsrView<T, S>& a) const;

  CsrView<T, S> B() const { return CsrView<T, S>(pattern_.B.pattern(), of_B_.cspan()); }
  Index kept() const { return pattern_.B.rows; }
  Index fixed() const { return fixing_.count; }
  /// The order of the parts: the rows of B first.
  Span<const Index, S> old_of_new() const { return pattern_.old_of_new.cspan(); }
  Span<const Index, S> new_of_old() const { return pattern_.new_of_old.cspan(); }

  /// v in the order of the parts, with the fixed unknowns for it as a right-hand side at its end.
  void solve_fixed(Span<const T, S> v, Span<T, S> ordered) const;
  /// c = c - C times these.
  void subtract_fixed(Span<const T, S> ordered, Span<T, S> c) const;

 private:
  Context<S> ctx_;
  FixingRows<S> fixing_;
  CondensedPattern<S> pattern_;
  Array<T, S> of_B_, of_C_, inverse_of_D_;
  OperatorPtr<T, S> C_;  // null: it has no entries
  Array<double, S> scratch_;
};

}  // namespace newel::detail
