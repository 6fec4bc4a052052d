// SPDX-License-Identifier: Apache-2.0
/// EquivalentSolve: one solve of A x = b through an EquivalentSystem. Internal.
#pragma once

#include <vector>

#include "solver/equivalent/equivalent_system.hpp"

namespace newel::detail {

/// `A` is the matrix that x is judged by: `converged` needs |b - A x| within the tolerance. If rows are judged, the
/// relative tolerance is also met by |E (b - A x)| / |E b|, where E divides each row of A by its largest entry, or
/// the report says how far it is. x is refined for both (Higham, Accuracy and Stability of Numerical Algorithms,
/// 2002, section 12.1). Vectors, limits and reports are those of A x = b.
template <class T, Space S>
class EquivalentSolve {
 public:
  /// All of them outlive it.
  EquivalentSolve(EquivalentSystem<T, S>& of, const LinearOperator<T, S>& A, const StopCriterion& stop,
                  const ProgressFn& progress)
      : of_(of), vectors_(of.vectors_), A_(A), stop_(stop), progress_(progress) {}

  SolveReport run(Span<const T, S> b, Span<T, S> x, InitialGuess guess);
  /// The same for columns one after the other in b and x, together as far as the system of B solves them so.
  std::vector<SolveReport> run_columns(Span<const T, S> b, Span<T, S> x, Index columns, InitialGuess guess);

 private:
  ResidualUnits units_of(Span<const T, S> b, Span<const T, S> x, InitialGuess guess);
  double over(const ResidualUnits& units, double of_c) const;
  StopCriterion stop_of_inner(double relative, double over) const;
  double distance(const ResidualUnits& units, const SolveReport& report) const;
  SolveReport judged(ResidualUnits& units, double b_over_c, SolveReport report, Span<const T, S> b,
                     Span<const T, S> x);
  SolveReport refined(ResidualUnits& units, SolveReport whole, Span<const T, S> b, Span<T, S> x);

  EquivalentSystem<T, S>& of_;
  EquivalentVectors<T, S>& vectors_;
  const LinearOperator<T, S>& A_;
  const StopCriterion& stop_;
  const ProgressFn& progress_;
};

}  // namespace newel::detail
