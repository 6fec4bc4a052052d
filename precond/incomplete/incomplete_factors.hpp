// SPDX-License-Identifier: Apache-2.0
/// IncompleteFactors: L, D and U of a matrix on a pattern, computed for its values and solved with. Internal.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include <newel/precond/incomplete/incomplete_options.hpp>
#include <newel/precond/preconditioner.hpp>
#include "precond/incomplete/factorise.hpp"
#include "precond/incomplete/triangles.hpp"

namespace newel::detail {

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

/// The pattern of the factors, with the order of elimination, from the caller's order on, whatever that of A is.
template <class T, Space S>
FactorPattern factor_pattern(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                             const FactorRecipe& recipe);

/// Where the rows of the factors belong.
template <Space S>
struct FactorRows {
  Array<Index, S> of_vectors;
  bool natural = false;     ///< vectors are in the caller's order
  Array<Index, S> of_user;  ///< unless they are: the caller's numbers, for messages

  Index count() const { return static_cast<Index>(of_vectors.size()); }
};

/// (L D U)^-1 r: two triangular solves, or Jacobi sweeps on both factors.
template <class T, Space S>
class IncompleteFactors {
 public:
  IncompleteFactors() = default;
  /// `rows` without those of the vectors, which are the pattern's; `matrix_values`: A's entries of L, D and, if not
  /// symmetric, U.
  IncompleteFactors(const Context<S>& ctx, const FactorRecipe& recipe, FactorPattern&& pattern, FactorRows<S> rows,
                    Array<T, S> matrix_values);

  FactorRows<S>& rows() { return rows_; }
  const FactorRows<S>& rows() const { return rows_; }
  Span<T, S> matrix_values() { return a_val_.span(); }
  /// Whether they are applied by Jacobi sweeps.
  bool swept() const { return recipe_.factors.sweeps > 0; }

  /// The factors of these values, with the least shift that succeeds. Throws NotPositiveDefinite and InputError.
  void compute(const Context<S>& ctx);

  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const;
  /// Unless they are swept. `work` has two vectors for each column.
  void apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta, Span<T, S> y,
                     Span<char, S> work) const;
  void describe(OperatorInfo& info) const;

 private:
  bool is_stable(const Context<S>& ctx) const;
  [[noreturn]] void refuse(const Context<S>& ctx) const;
  std::string text() const;

  FactorRecipe recipe_;
  Index levels_ = 0;
  FactorRows<S> rows_;
  Array<Offset, S> l_ptr_, u_ptr_, mirror_;
  Array<Index, S> l_col_, u_col_;
  Array<T, S> a_val_;  ///< A's entries of L, D and, if not symmetric, U
  Array<T, S> f_val_;  ///< the values of L, 1 / D and U
  FactorView<T> view_;
  std::unique_ptr<FactorWork<S>> factor_work_;
  std::unique_ptr<TriangleWork<S>> triangle_work_;
  mutable Array<T, S> y_, z_, spare_;
  FactorVerdict verdict_ = {};  ///< of the last factorisation
  double shift_ = 0;            ///< that it used
};

}  // namespace newel::detail
