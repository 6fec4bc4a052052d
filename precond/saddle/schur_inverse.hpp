// SPDX-License-Identifier: Apache-2.0
/// SchurInverse: an approximate inverse of the Schur complement of a saddle point. Internal.
#pragma once

#include <string>

#include <newel/precond/preconditioner.hpp>
#include "precond/saddle/schur_sum.hpp"

namespace newel::detail {

/// Products with the blocks of [primal coupling; transposed constraint]; null: not needed, or of a block without
/// entries.
template <class T, Space S>
struct SaddleProducts {
  const LinearOperator<T, S>*primal = nullptr, *coupling = nullptr, *transposed = nullptr, *constraint = nullptr;
};

/// The values in precision T and space S.
template <class T, Space S>
Array<T, S> placed_values(const Context<S>& ctx, Span<const double, Space::host> values) {
  Array<T, Space::host> converted(host_context(ctx), values.size);
  for (std::int64_t i = 0; i < values.size; ++i) converted[i] = static_cast<T>(values[i]);
  return make_array(ctx, converted.cspan());
}

/// y = N^-1 x, approximately and up to a positive factor: N is SchurSum's, or the matrix of the caller.
template <class T, Space S>
class SchurInverse {
 public:
  SchurInverse() = default;
  /// `kind` is not automatic, and without effect if the options have a matrix of the caller. `parts` are options of
  /// preconditioners without those that belong to the whole matrix. `patterns` must outlive this. Throws InputError
  /// where the diagonal of N has both signs, or the caller's matrix has not as many rows.
  SchurInverse(const Context<S>& ctx, const SaddlePatterns& patterns, const SaddleValues& values, SaddleSchur kind,
               const SaddleOptions& options, const PrecondOptions& parts);

  /// New values of the same matrix. Waits on the stream.
  void refresh(const Context<S>& ctx, const SaddleValues& values);

  void apply(const Context<S>& ctx, const SaddleProducts<T, S>& products, Span<const T, S> x, Span<T, S> y) const;

  /// 1; or -1 where N is minus the Schur complement of a matrix whose coupling blocks have opposite signs.
  double sign() const { return sign_; }
  bool capturable() const { return inverse_ == nullptr || inverse_->capturable(); }
  SaddleSchur kind() const { return kind_; }
  /// What approximates N.
  std::string text() const;
  /// Of the inverse that is a preconditioner; null: it is a diagonal.
  const MatrixOperator<T, S>* inverse() const { return inverse_.get(); }

 private:
  void take_diagonal(const Context<S>& ctx, const SaddleValues& values);
  void take_given(const Context<S>& ctx, const SchurMatrix& given, const PrecondOptions& parts);

  SaddleSchur kind_ = SaddleSchur::diagonal;
  bool given_ = false;
  SchurSum sum_;
  double sign_ = 1;
  Array<T, S> diagonal_;         ///< 1 / N_ii
  OperatorPtr<T, S> inverse_;    ///< of N
  Array<T, S> primal_diagonal_;  ///< 1 / a_ii, for the commutator
  mutable Array<T, S> primal_, other_, constraint_;
};

}  // namespace newel::detail
