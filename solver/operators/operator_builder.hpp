// SPDX-License-Identifier: Apache-2.0
/// OperatorBuilder: makes the operators of a matrix as they were chosen. Internal.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "solver/operators/operators.hpp"

namespace newel::detail {

/// Asked when A is there, and M is to be chosen: whether solves begin without M.
template <class T, Space S>
using BeginsWithout = std::function<bool(Operators<T, S>&)>;

/// Chooses what the options leave open and builds it for the square canonical matrix `a`. Throws as the constructor
/// of LinearSystem does. With `exchangeable`, what a change of the preconditioner needs is kept, and a format that
/// has to pay for its setup first waits until a solve shows that it will. Where `begins_without` says so, M is none,
/// and all preconditioners may follow.
template <class T, Space S>
std::unique_ptr<Operators<T, S>> build(const Context<S>& ctx, const CsrView<T, S>& a, SystemOptions options,
                                       SystemParts<T, S> parts, bool exchangeable = true,
                                       const BeginsWithout<T, S>& begins_without = {});

/// The steps of a build. It leaves all that it makes in `Operators`.
template <class T, Space S>
class OperatorBuilder {
 public:
  explicit OperatorBuilder(Operators<T, S>& of) : s_(of) {}

  /// M of the caller's takes the place of the options'.
  void take_parts(Index rows);
  /// The order of the rows, for the format that was chosen.
  RowOrder<S> order_for(const CsrView<T, S>& a) const;
  /// Throws OutOfMemory where what was chosen is known not to fit.
  void require_memory(const CsrView<T, S>& a, const RowOrder<S>& order) const;
  /// What `a` gives in that order; `permuted` holds it.
  CsrView<T, S> in_order(const CsrView<T, S>& a, const RowOrder<S>& order, PermutedCsr<T, S>& permuted) const;
  /// Columns without entries: unknowns that no residual shows, which keep the guess.
  std::vector<Index> free_unknowns(const CsrView<T, S>& a) const;
  /// What keeps those of them in that order; null: there are none.
  std::unique_ptr<FixedUnknowns<T, S>> fixed(std::vector<Index> free, const RowOrder<S>& order) const;
  /// Those of the solvers that a solve may come to that are made from the matrix; `a` is in solver order.
  void make_from_matrix(const CsrView<T, S>& a);
  /// What a later change of the preconditioner needs.
  void keep_source(const CsrView<T, S>& a) const;

 private:
  Operators<T, S>& s_;
};

}  // namespace newel::detail
