// SPDX-License-Identifier: Apache-2.0
/// SystemParts: what a LinearSystem takes from its caller in the place of making it.
#pragma once

#include <functional>
#include <memory>

#include <newel/reorder/row_order.hpp>
#include <newel/spmv/operator.hpp>

namespace newel {

/// Makes M for the matrix `a`, which is in solver order; `order` is that order. `LinearSystem::refresh` calls the
/// `refresh` of what it returns, with values in the order of the caller's matrix: what the formats and
/// preconditioners of the library make of `a` takes them so (`CsrView::value_map`). `a` is not kept. May return null:
/// no M.
template <class T, Space S>
using PrecondFactory =
    std::function<OperatorPtr<T, S>(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order)>;

/// All empty: the library makes everything. Operators have the size of the system, and work on the context's stream.
template <class T, Space S>
struct SystemParts {
  /// M, an operator close to the inverse of A, in the caller's numbering; in the place of SystemOptions::precond.
  /// "auto" then leaves out formats that renumber, and others cut the caller's order into equal parts. It is never
  /// refreshed: see `LinearSystem::operator_changed`.
  std::shared_ptr<const LinearOperator<T, S>> preconditioner = {};
  /// The same made in setup, for whatever order the format takes. One of the two at most; not for systems whose A is
  /// an operator.
  PrecondFactory<T, S> make_preconditioner = {};

  /// For mixed precision, in single precision: A where the system's A is an operator; M in one form or the other
  /// where M is the caller's.
  std::shared_ptr<const LinearOperator<float, S>> low_matrix = {};
  std::shared_ptr<const LinearOperator<float, S>> low_preconditioner = {};  ///< M, in the caller's numbering
  PrecondFactory<float, S> make_low_preconditioner = {};                    ///< the same made in setup

  /// Whether M is the caller's, in the precision of the system or in single.
  bool has_preconditioner() const { return preconditioner != nullptr || make_preconditioner != nullptr; }
  bool has_low_preconditioner() const { return low_preconditioner != nullptr || make_low_preconditioner != nullptr; }
};

/// An operator that the caller keeps alive for as long as what it is handed to.
template <class Operator>
std::shared_ptr<const Operator> borrowed(const Operator& op) {
  return std::shared_ptr<const Operator>(&op, [](const Operator*) {});
}

}  // namespace newel
