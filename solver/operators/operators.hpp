// SPDX-License-Identifier: Apache-2.0
/// Operators: A and M of a LinearSystem in solver order, with all that was chosen for them. Internal.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <newel/core/error.hpp>
#include <newel/core/machine.hpp>
#include <newel/precond/registry.hpp>
#include <newel/solver/system_info.hpp>
#include <newel/solver/system_options.hpp>
#include <newel/solver/system_parts.hpp>
#include "solver/policy/system_choices.hpp"
#include "solver/operators/fixed_unknowns.hpp"
#include "solver/operators/matrix_source.hpp"
#include "solver/operators/phases.hpp"
#include "solver/chain/solver_chain.hpp"

namespace newel::detail {

template <Space S>
class SingleCopy;

/// A preconditioner that a stronger one has followed, as long as that is on probation.
template <class T, Space S>
struct KeptPrecond {
  OperatorPtr<T, S> M;
  bool older = false;  ///< than A's values
};

/// Of three kinds: a matrix with its preconditioner in one precision (`build`), the same in mixed precision
/// (`build_mixed`), and an operator of the caller's (`build_given`). Vectors are in solver order, values in the order
/// of the canonical matrix that the operators were made from.
template <class T, Space S>
struct Operators {
  Context<S> ctx;
  Machine machine;        ///< of the cost model
  SystemOptions options;  ///< as decided
  SystemParts<T, S> parts;
  std::shared_ptr<const LinearOperator<T, S>> given;  ///< A, where it is the caller's
  RowOrder<S> order;    ///< of rows and unknowns, but in mixed precision: see `row_order`
  OperatorPtr<T, S> A;  ///< null: `given`
  OperatorPtr<T, S> M;  ///< null: none, or that of `parts`, where mixed precision puts its M in double
  std::optional<KeptPrecond<T, S>> weaker;
  /// Solvers that are made from the matrix, for every chain.
  std::vector<std::pair<const SolverMethod*, std::shared_ptr<KrylovSolver<T, S>>>> made;
  std::unique_ptr<SingleCopy<S>> single;       ///< with mixed precision
  std::unique_ptr<FixedUnknowns<T, S>> fixed;  ///< of columns without entries; null: there are none
  RowCount free_unknowns;                      ///< the same, in the caller's numbering
  SystemChoices chosen;
  std::optional<MatrixSource<T, S>> source;  ///< for what is made later; nothing: the operators stay
  bool matrix_sound = true, precond_sound = true;
  std::uint64_t renumbered_serial = 0;  ///< of the M that followed the format
  bool same_preconditioner = false;     ///< M is that of before the format changed, but for order and rounding
  PhaseSeconds setup_seconds;

  Operators(const Context<S>& context, SystemOptions decided, SystemParts<T, S> callers);
  ~Operators();
  Operators(const Operators&) = delete;
  Operators& operator=(const Operators&) = delete;

  const LinearOperator<T, S>& matrix() const { return A != nullptr ? *A : *given; }
  /// Null: none.
  const LinearOperator<T, S>* preconditioner() const { return M != nullptr ? M.get() : parts.preconditioner.get(); }
  /// What solves apply of it: null too where it changes nothing but their time.
  const LinearOperator<T, S>* applied_preconditioner() const;
  const RowOrder<S>& row_order() const;
  /// Whether the numbering of rows is the caller's choice.
  bool given_order() const;
  /// Whether solves may change format and preconditioner, as far as the options go: a solve that takes fewer
  /// iterations than expected has not paid for another format than CSR, nor for a strong preconditioner.
  bool may_move() const;
  /// The method that a solve begins with.
  const SolverMethod& first_method() const { return find_solver(chosen.solvers.order.front()); }

  /// See LinearSystem.
  void refresh(Span<const T, S> values, RefreshScope scope);
  void slots_written(RefreshScope scope);
  void operator_changed(RefreshScope scope);
  void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates);
  /// Throws InputError unless the values may be written in place.
  void require_slots() const;
  /// False after a refresh that failed, until one succeeds.
  bool sound() const;
};

/// Whether A is diagonal and M its inverse, by choice, so that nothing has to be iterated.
template <class T, Space S>
bool divides(const Operators<T, S>& s) {
  return s.chosen.diagonal && s.chosen.precond_chosen && s.M != nullptr && !s.M->traits().diagonal.empty() &&
         find_preconditioner(s.options.precond.name).automatic == AutoPrecond::simple;
}

/// Whether M is a Jacobi of a constant diagonal, by choice, and not the inverse of A.
template <class T, Space S>
bool is_needless(const Operators<T, S>& s) {
  return s.chosen.precond_chosen && !s.chosen.diagonal && s.M != nullptr && s.M->traits().multiple_of_identity;
}

/// The solvers, with their vectors, for these operators, and with what they recycle; null: nothing.
template <class T, Space S>
SolverChain<T, S> make_chain(const Operators<T, S>& operators, Recycling<T, S>* recycling);

/// Everything but the bytes that the context holds. What has been put off is not weighed.
template <class T, Space S>
SystemInfo info_of(const Operators<T, S>& operators);

/// An operator of the caller's. No entry of A is known, so there are no formats, orders, refreshes or slots; M is the
/// caller's, none, or made from A's diagonal. Throws as the constructor of LinearSystem does.
template <class T, Space S>
std::unique_ptr<Operators<T, S>> build_given(const Context<S>& ctx, std::shared_ptr<const LinearOperator<T, S>> a,
                                             SystemOptions options, SystemParts<T, S> parts);

/// Throws InputError unless `op` is null or n x n.
template <class Operator>
void require_size(const Operator* op, Index n, const char* what) {
  if (op == nullptr || (op->rows() == n && op->cols() == n)) return;
  throw InputError(std::string(what) + " is " + std::to_string(op->rows()) + " x " + std::to_string(op->cols()) +
                   ", and the system has " + std::to_string(n) + " unknowns");
}

}  // namespace newel::detail
