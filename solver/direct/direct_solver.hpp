// SPDX-License-Identifier: Apache-2.0
/// DirectSolver: A x = b by factors of A, refined until the residual meets the tolerance. Internal.
#pragma once

#include <vector>

#include <newel/solver/method.hpp>
#include "solver/direct/scaled_factors.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"

namespace newel {

/// Its line of the table of solvers.
SolverMethod direct_method();

namespace detail {

/// On the host. Factors are in double precision, whatever T is: L D L^T if A is symmetric, L U if it is not, or if
/// L D L^T has a zero pivot or does not reach the tolerance. Nothing is believed of them: b - A x is formed in twice
/// the precision, and x is refined while that at least halves (Higham, Accuracy and Stability of Numerical
/// Algorithms, 2002, section 12.1). M is not applied.
template <class T>
class DirectSolver final : public KrylovSolver<T, Space::host> {
 public:
  using HostContext = Context<Space::host>;

  /// Factorises the matrix. Throws InputError if that is estimated to take longer than `matrix.most_seconds`, and
  /// OutOfMemory. A matrix without factors is no error: its solves say why.
  DirectSolver(const HostContext& ctx, const FactorLibrary& library, const SolverMatrix<T, Space::host>& matrix);

  std::string_view name() const override { return "direct"; }
  /// A numeric factorisation, which the next solve makes; order and analysis are kept.
  void refresh(const HostContext& ctx, Span<const T, Space::host> values) override;
  [[nodiscard]] SolveReport run(const SolveRequest<T, Space::host>& request) override;

 private:
  using Monitor = ConvergenceMonitor<T, Space::host>;

  void prepare(const HostContext& ctx, ScaledFactors& factors);
  void order_and_analyse(const HostContext& ctx, ScaledFactors& factors);
  template <class Work>
  void within_memory(const Work& work);
  bool take_lu(const HostContext& ctx);
  bool factorise();
  bool refine(const HostContext& ctx, Monitor& monitor);
  void correct(Span<T, Space::host> x, int exponent);
  void explain(const HostContext& ctx, SolveReport& report);
  void name_unmatched(const HostContext& ctx, Failure& failure) const;

  double most_seconds_;
  std::uint64_t factor_bytes_ = 0;  // an estimate
  std::vector<Offset> source_;      // of each entry by rows, in the caller's values; empty: the same
  std::vector<double> values_;      // by rows
  std::vector<Index> old_of_new_;   // rows in the caller's numbering; empty: the same
  ScaledFactors factors_;
  enum class State { values_are_new, factorised, no_factors } state_ = State::values_are_new;
  std::vector<Untried> refused_;  // L U, if that is what it took
  Array<T, Space::host> r_, best_, work_;
  Array<double, Space::host> scratch_;
  std::vector<double> correction_;
};

}  // namespace detail
}  // namespace newel
