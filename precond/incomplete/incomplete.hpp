// SPDX-License-Identifier: Apache-2.0
/// M from incomplete factors of A: ILU(k), ILUT and IC(k) (J. A. Meijerink and H. A. van der Vorst, Math. Comp. 31,
/// 1977; Y. Saad, "Iterative Methods for Sparse Linear Systems", 2nd edition, 2003, chapter 10).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <newel/precond/incomplete/incomplete_options.hpp>
#include <newel/precond/preconditioner.hpp>
#include "precond/incomplete/incomplete_factors.hpp"

namespace newel {
/// Their lines of the table of preconditioners.
PrecondMethod ilu_method();
PrecondMethod ilut_method();
PrecondMethod ic_method();

/// z = M r, M = (L D U)^-1: two triangular solves, or Jacobi sweeps on both factors. The order of elimination is that
/// of FactorOptions, whatever the order of A, and so is M. If M must be symmetric, U = L^T and D is positive.
///
/// Setup finds order, pattern and levels on the host; the values are computed where the matrix is. A refresh computes
/// values on the pattern of the constructor, that of ILUT included.
template <class T, Space S>
class IncompleteOperator final : public MatrixOperator<T, S> {
 public:
  /// Throws NotSymmetric and NotPositiveDefinite if the recipe says so; InputError if the factors overflow whatever
  /// the shift. Waits on the stream.
  IncompleteOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                     const detail::FactorRecipe& recipe);

  Index rows() const override { return factors_.rows().count(); }
  Index cols() const override { return rows(); }

  /// The shift is searched again, from that of the options. Throws as the constructor; M is then of no use until the
  /// next refresh. Waits on the stream for the verdict.
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  /// Of A in elimination order.
  Slots<T, S> slots(const Context<S>& ctx) override;
  void slots_written(const Context<S>& ctx) override;

  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  /// All columns in one pass over the factors, unless they are swept.
  void apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta, Span<T, S> y,
                     Span<char, S> work) const override;
  void apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y, double* xy,
                         Span<char, S> work) const override;
  std::uint64_t column_work_bytes(int columns) const override;
  OperatorTraits<T, S> traits() const override { return {true, S == Space::device && !factors_.swept()}; }
  OperatorInfo info() const override;

  /// The factors are kept: only the places of their rows in the vectors change.
  OperatorPtr<T, S> renumbered(const Context<S>& ctx, const RowOrder<S>& order, const SpmvOptions& options) override;

  const detail::IncompleteFactors<T, S>& factors() const { return factors_; }

 private:
  IncompleteOperator(IncompleteOperator&&) = default;

  Offset a_nonzeros_ = 0;
  ValueMap<S> a_source_;
  detail::IncompleteFactors<T, S> factors_;
  std::vector<std::pair<std::string, double>> seconds_;
};

}  // namespace newel
