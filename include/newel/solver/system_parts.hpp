// SPDX-License-Identifier: Apache-2.0
/// SystemParts: operators that the caller provides to a LinearSystem instead of having them made.
#pragma once

#include <functional>
#include <memory>

#include <newel/reorder/row_order.hpp>
#include <newel/spmv/operator.hpp>

namespace newel {

/// Makes M for the matrix `a`, which is in solver order; `order` is that order. `LinearSystem::refresh` calls
/// `refresh` on the returned operator, with values in the order of the caller's matrix. Formats and preconditioners
/// of the library that are made from `a` accept values in that order (`CsrView::value_map`). `a` is not kept. May
/// return null: no M.
template <class T, Space S>
using PrecondFactory =
    std::function<OperatorPtr<T, S>(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order)>;

/// If all are empty, the library makes everything. Operators have the size of the system and work on the context's
/// stream.
template <class T, Space S>
struct SystemParts {
  /// M, an operator close to the inverse of A, in the caller's numbering; used instead of SystemOptions::precond.
  /// "auto" then skips formats that renumber; other formats with parts cut the caller's order into equal parts. It is
  /// never refreshed: see `InPlaceValues::operator_changed`.
  std::shared_ptr<const LinearOperator<T, S>> preconditioner = {};
  /// A function that makes M during setup, for the row order of the chosen format. Give at most one of the two. Not
  /// for systems whose A is an operator.
  PrecondFactory<T, S> make_preconditioner = {};

  /// For mixed precision, in single precision: A, if the system's A is an operator, and M in one of the two forms, if
  /// M is the caller's.
  std::shared_ptr<const LinearOperator<float, S>> low_matrix = {};
  std::shared_ptr<const LinearOperator<float, S>> low_preconditioner = {};  ///< M, in the caller's numbering
  PrecondFactory<float, S> make_low_preconditioner = {};                    ///< makes M during setup

  /// Whether the caller provides M, in the precision of the system or in single precision.
  bool has_preconditioner() const { return preconditioner != nullptr || make_preconditioner != nullptr; }
  bool has_low_preconditioner() const { return low_preconditioner != nullptr || make_low_preconditioner != nullptr; }
};

/// A pointer to an operator that the caller keeps alive as long as the object that uses it.
template <class Operator>
std::shared_ptr<const Operator> borrowed(const Operator& op) {
  return std::shared_ptr<const Operator>(&op, [](const Operator*) {});
}

}  // namespace newel
