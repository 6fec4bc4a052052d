// SPDX-License-Identifier: Apache-2.0
/// SystemEstimates: what the cost model says of a system and of what it may become. Internal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <newel/solver/candidate.hpp>
#include "solver/cost/iteration_model.hpp"
#include "solver/cost/matrix_kind.hpp"
#include "solver/operators/operators.hpp"

namespace newel::detail {

/// A view of operators of a matrix in one precision. What it works out it leaves in `Operators::chosen`.
template <class T, Space S>
class SystemEstimates {
 public:
  explicit SystemEstimates(Operators<T, S>& of) : s_(of) {}

  /// Of the pattern, read when they are first asked for.
  const PatternFacts& facts(const CsrView<T, S>& a);
  /// Works out `ValueTraits::convection` and `couplings`, for those matrices for which they say more.
  void inspect_values(const CsrView<T, S>& a);
  /// Works out `SystemChoices::expected_iterations`.
  void expect_iterations(const CsrView<T, S>& a);
  /// Compares formats and preconditioners, if that has been put off.
  void weigh();

  /// Of the method that solves begin with. If that is for one preconditioner alone, of the usual one: few cycles of
  /// the other are full.
  IterationModel model() const;
  /// The same of another method.
  IterationModel model(const SolverMethod& method) const;
  MatrixKind kind() const;
  ExpectedIterations iterations_of(const std::string& precond) const;

  /// The formats by the iterations of the first solver that they lead to, with the present preconditioner.
  FormatChoice compare_formats(const CsrView<T, S>& a);
  /// The same again, for another preconditioner.
  void compare_formats_again();
  /// The formats that were compared, where the system can move to another one; null: none.
  const FormatChoice* format_choice() const;
  /// What the choice of a preconditioner goes by, once iterations are expected.
  PrecondUse precond_use() const;

  /// What the automatic choices compare, the least seconds first, where one solve takes so many iterations with the
  /// simple preconditioner. Empty: there is nothing to compare by the model.
  std::vector<SystemCandidate> candidates(double simple_iterations);
  /// Of a preconditioner's setup, as the solves weighed it, where they have; 0: not known.
  double build_seconds(const std::string& precond) const;

 private:
  Operators<T, S>& s_;
};

/// All that goes with the name of a preconditioner and with the kind of the matrix.
template <class T, Space S>
void complete(Operators<T, S>& of, PrecondOutlook& outlook);

/// The format for solves in mixed precision, if they are expected to be faster in it than in double with whatever may
/// follow there; empty: they are not.
template <Space S>
std::string format_in_single(Operators<double, S>& in_double);

}  // namespace newel::detail
