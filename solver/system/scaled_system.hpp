// SPDX-License-Identifier: Apache-2.0
/// ScaledSystem: A x = b solved as B y = c, where B has scaled rows and columns and large entries on its diagonal.
/// Internal.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include <newel/solver/linear_system.hpp>
#include "reorder/scaling/scale_powers.hpp"
#include "solver/chain/returned_x.hpp"
#include "solver/krylov/monitor/true_residual.hpp"

namespace newel::detail {

/// What is to be done with a matrix, and why.
struct ScalingWish {
  bool scale = false, match = false;
  std::string reason;
  int most_iterations = std::numeric_limits<int>::max();  ///< of a solve, unless the caller allows fewer

  bool any() const { return scale || match; }
};

/// B = R A Q C and the system of B, see ScalingOptions. Vectors, limits and reports are those of A x = b.
template <class T, Space S>
class ScaledSystem {
 public:
  /// `a` is square and canonical, in the numbering of the vectors. `options` are those of the system of B, but for
  /// ScalingOptions. Throws as the constructor of LinearSystem does; WorkInterrupted.
  ScaledSystem(const Context<S>& ctx, const CsrView<T, S>& a, const ScalingWish& wish, SystemOptions options);

  /// New values of the same pattern. R and C are computed anew. Q is kept unless it leaves tiny entries on the
  /// diagonal; then it is found again, and B has another pattern.
  void refresh(const CsrView<T, S>& a, RefreshScope scope);

  /// `A` is the matrix that x is judged by: `converged` needs |b - A x| within the tolerance. If rows are scaled, the
  /// relative tolerance is also met by |E (b - A x)| / |E b|, where E divides each row of A by its largest entry, or
  /// the report says how far it is. x is refined for both (Higham, Accuracy and Stability of Numerical Algorithms,
  /// 2002, section 12.1).
  SolveReport solve(const LinearOperator<T, S>& A, Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                    const ProgressFn& progress, InitialGuess guess);
  /// The same for columns one after the other in b and x, together as far as the system of B solves them so.
  std::vector<SolveReport> solve_columns(const LinearOperator<T, S>& A, Span<const T, S> b, Span<T, S> x,
                                         Index columns, const StopCriterion& stop, const ProgressFn& progress,
                                         InitialGuess guess);

  LinearSystem<T, S>& inner() { return *inner_; }
  const LinearSystem<T, S>& inner() const { return *inner_; }
  const ScalingInfo& info() const { return info_; }

 private:
  struct Units;

  void make(const CsrView<T, S>& a);
  void match(const CsrView<T, S>& a);
  void take_pattern(const CsrView<T, S>& a);
  void take_values(Span<const T, S> values);
  SystemOptions options_of_inner() const;
  Index rows_off_diagonal() const;
  Equilibration equilibration() const;
  Units units_of(const LinearOperator<T, S>& A, Span<const T, S> b, Span<const T, S> x, const StopCriterion& stop,
                 InitialGuess guess);
  /// c = 2^-shift R v, whose largest entry is near 1; the shift.
  int scale_rhs(Span<const T, S> v, Span<T, S> c);
  void scale_guess(int shift, Span<const T, S> x, Span<T, S> y);
  void unscale(int shift, Span<const T, S> y, Span<T, S> x);
  double row_norm(const Units& units, Span<const T, S> v);
  double distance(const Units& units, const SolveReport& report) const;
  StopCriterion stop_for(const StopCriterion& stop, double relative) const;
  SolveReport judged(const LinearOperator<T, S>& A, const Units& units, double b_over_c, SolveReport report,
                     Span<const T, S> b, Span<const T, S> x);
  SolveReport refined(const LinearOperator<T, S>& A, const Units& units, SolveReport whole, Span<const T, S> b,
                      Span<T, S> x, const StopCriterion& stop, const ProgressFn& progress);
  double norm_of(Span<const T, S> v) { return norm_in_range<T, S>(ctx_, v, scratch_.data()); }

  Context<S> ctx_;
  ScalingWish wish_;
  SystemOptions options_;
  ScalingInfo info_;
  bool symmetric_ = false;
  Index tiny_ = 0;                                 // rows with a tiny diagonal when Q was found
  Array<Index, S> column_of_row_, row_of_column_;  // empty: Q is the identity
  ScalePowers<S> base_, powers_;     // of the matching, after means; of B, by the numbering of its columns
  Array<std::int32_t, S> row_only_;  // E: of A's rows without regard to its columns
  Csr<T, S> matrix_;                 // B
  ValueMap<S> source_;               // of its entries in A
  std::optional<LinearSystem<T, S>> inner_;
  Array<T, S> c_, y_, work_, best_;
  Array<double, S> scratch_;
  ReturnedResidual<T, S> judge_;
};

}  // namespace newel::detail
