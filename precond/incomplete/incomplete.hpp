// SPDX-License-Identifier: Apache-2.0
/// M from incomplete factors of A: ILU(k), ILUT and IC(k) (J. A. Meijerink and H. A. van der Vorst, Math. Comp. 31,
/// 1977; Y. Saad, "Iterative Methods for Sparse Linear Systems", 2nd edition, 2003, chapter 10).
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <newel/precond/incomplete/incomplete_options.hpp>
#include <newel/precond/preconditioner.hpp>
#include "precond/incomplete/factorise.hpp"
#include "precond/incomplete/triangles.hpp"

namespace newel {
namespace detail {

/// 0.00123 as text.
inline std::string three_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// Which factors are computed.
struct FactorRecipe {
  std::string name;        ///< of the preconditioner
  std::string text;        ///< "ILU(1)"
  bool symmetric = false;  ///< A must be, and M is symmetric positive definite
  bool positive = false;   ///< symmetric: a larger shift if a pivot is not positive
  bool by_size = false;    ///< the pattern of ILUT, else that of ILU(level)
  int level = 0;
  IlutOptions sizes;  ///< of ILUT
  FactorOptions factors;
};

}  // namespace detail

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

  Index rows() const override { return rows_; }
  Index cols() const override { return rows_; }

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
  OperatorTraits<T, S> traits() const override { return {true, S == Space::device && recipe_.factors.sweeps == 0}; }
  OperatorInfo info() const override;

  /// The factors are kept: only the places of their rows in the vectors change.
  OperatorPtr<T, S> renumbered(const Context<S>& ctx, const RowOrder<S>& order, const SpmvOptions& options) override;

  /// The factors with their present values; valid as long as the operator.
  const detail::FactorView<T>& factors() const { return view_; }
  /// The entry of a vector that belongs to each row of the factors.
  Span<const Index, S> vector_rows() const { return row_.cspan(); }

 private:
  IncompleteOperator(IncompleteOperator&&) = default;
  detail::FactorPattern find_pattern(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order) const;
  void place(const Context<S>& ctx, detail::FactorPattern&& pattern);
  void compute(const Context<S>& ctx);
  bool is_stable(const Context<S>& ctx) const;
  [[noreturn]] void refuse(const Context<S>& ctx) const;
  std::string detail_text() const;

  detail::FactorRecipe recipe_;
  Index rows_ = 0;
  Offset a_nonzeros_ = 0;
  Index levels_ = 0;
  Array<Index, S> row_;       ///< of the vectors, for each row of the factors
  bool natural_ = false;      ///< vectors are in the caller's order
  Array<Index, S> user_row_;  ///< the caller's number of each row of the factors, for messages
  Array<Offset, S> l_ptr_, u_ptr_, mirror_;
  Array<Index, S> l_col_, u_col_;
  ValueMap<S> a_source_;
  Array<T, S> a_val_;  ///< A's entries of L, D and, if not symmetric, U
  Array<T, S> f_val_;  ///< the values of L, 1 / D and U
  detail::FactorView<T> view_;
  std::unique_ptr<detail::FactorWork<S>> factor_work_;
  std::unique_ptr<detail::TriangleWork<S>> triangle_work_;
  mutable Array<T, S> y_, z_, spare_;
  detail::FactorVerdict verdict_ = {};  ///< of the last factorisation
  double shift_ = 0;                    ///< that it used
  std::vector<std::pair<std::string, double>> seconds_;
};

}  // namespace newel
