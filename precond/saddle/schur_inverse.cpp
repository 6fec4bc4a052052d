// SPDX-License-Identifier: Apache-2.0
// Approximate inverses of a Schur complement.
#include "precond/saddle/schur_inverse.hpp"

#include <algorithm>
#include <cmath>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/precond/registry.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel::detail {
namespace {

// A preconditioner of a symmetric matrix on the host.
template <class T, Space S>
OperatorPtr<T, S> inverse_of(const Context<S>& ctx, const Pattern<Space::host>& pattern,
                             Span<const double, Space::host> values, const PrecondOptions& parts) {
  const Array<Offset, S> row_ptr = make_array(ctx, pattern.row_ptr64);
  const Array<Index, S> col = make_array(ctx, pattern.col);
  const Array<T, S> val = placed_values<T>(ctx, values);
  PrecondOptions named = parts;
  named.name = "amg";
  return make_precond(ctx, CsrView<T, S>(pattern.rows, pattern.cols, row_ptr.cspan(), col.cspan(), val.cspan()),
                      RowOrder<S>{}, named, SpmvOptions{});
}

}  // namespace

template <class T, Space S>
SchurInverse<T, S>::SchurInverse(const Context<S>& ctx, const SaddlePatterns& patterns, const SaddleValues& values,
                                 SaddleSchur kind, const SaddleOptions& options, const PrecondOptions& parts)
    : kind_(kind), given_(options.schur_matrix != nullptr) {
  const Index primal = patterns.primal.rows, constraints = patterns.constraint.rows;
  const bool whole = !given_ && kind_ != SaddleSchur::diagonal;
  const Context<Space::host> host = host_context(ctx);
  sum_ = SchurSum(host, patterns, whole);
  take_diagonal(ctx, values);
  if (given_) take_given(ctx, *options.schur_matrix, parts);
  if (!whole) return;
  const Array<double, Space::host> entries = sum_.values(host, values, sign_);
  inverse_ = inverse_of<T, S>(ctx, sum_.pattern(), entries.cspan(), parts);
  if (kind_ != SaddleSchur::commutator) return;
  primal_ = Array<T, S>(ctx, primal);
  other_ = Array<T, S>(ctx, primal);
  constraint_ = Array<T, S>(ctx, constraints);
}

template <class T, Space S>
void SchurInverse<T, S>::take_given(const Context<S>& ctx, const SchurMatrix& given, const PrecondOptions& parts) {
  const auto rows = static_cast<Index>(diagonal_.size());
  if (given.rows != rows) {
    throw InputError("the matrix given for the Schur complement has " + std::to_string(given.rows) + " rows, not " +
                     std::to_string(rows) + " as there are constraints");
  }
  Pattern<Space::host> pattern;
  pattern.rows = pattern.cols = rows;
  pattern.row_ptr64 = {given.row_ptr.data(), static_cast<std::int64_t>(given.row_ptr.size())};
  pattern.col = {given.col.data(), static_cast<std::int64_t>(given.col.size())};
  const Span<const double, Space::host> values{given.val.data(), static_cast<std::int64_t>(given.val.size())};
  check_csr(host_context(ctx), CsrView<double, Space::host>(pattern, values));
  inverse_ = inverse_of<T, S>(ctx, pattern, values, parts);
}

// Rows that nothing is coupled to become 1: what M does with them is not what solves them.
template <class T, Space S>
void SchurInverse<T, S>::take_diagonal(const Context<S>& ctx, const SaddleValues& values) {
  std::vector<double> inverse = sum_.diagonal(host_context(ctx), values, &sign_);
  for (double& value : inverse) {
    value *= sign_;
    if (value < 0 || !std::isfinite(value)) {
      throw InputError(
          "the diagonal of the Schur complement has both signs or is not finite, so the matrix is not a "
          "saddle point with these constraints");
    }
    value = value == 0 ? 1 : 1 / value;
  }
  diagonal_ = placed_values<T>(ctx, {inverse.data(), static_cast<std::int64_t>(inverse.size())});
  if (kind_ != SaddleSchur::commutator || given_) return;
  std::vector<double> of_primal = values.diagonal;
  for (double& value : of_primal) value = 1 / value;
  primal_diagonal_ = placed_values<T>(ctx, {of_primal.data(), static_cast<std::int64_t>(of_primal.size())});
}

template <class T, Space S>
void SchurInverse<T, S>::refresh(const Context<S>& ctx, const SaddleValues& values) {
  take_diagonal(ctx, values);
  if (given_ || inverse_ == nullptr) return;
  const Array<double, Space::host> entries = sum_.values(host_context(ctx), values, sign_);
  inverse_->refresh(ctx, placed_values<T>(ctx, entries.cspan()).cspan());
}

// The commutator is N^-1 (s (G D^-1 A D^-1 F - E)) N^-1: Elman, Howle, Shadid, Shuttleworth and Tuminaro, "Block
// preconditioners based on approximate commutators", SIAM J. Sci. Comput. 27, 2006, with D for the mass matrix.
template <class T, Space S>
void SchurInverse<T, S>::apply(const Context<S>& ctx, const SaddleProducts<T, S>& products, Span<const T, S> x,
                               Span<T, S> y) const {
  if (inverse_ == nullptr) return multiply<T, S>(ctx, T(1), diagonal_.cspan(), x, T(0), y);
  inverse_->apply(ctx, T(1), x, T(0), y);
  if (kind_ != SaddleSchur::commutator || given_) return;
  const T sign = static_cast<T>(sign_);
  products.coupling->apply(ctx, T(1), y, T(0), primal_.span());
  multiply<T, S>(ctx, T(1), primal_diagonal_.cspan(), primal_.cspan(), T(0), primal_.span());
  products.primal->apply(ctx, T(1), primal_.cspan(), T(0), other_.span());
  multiply<T, S>(ctx, T(1), primal_diagonal_.cspan(), other_.cspan(), T(0), other_.span());
  products.transposed->apply(ctx, sign, other_.cspan(), T(0), constraint_.span());
  if (products.constraint != nullptr) products.constraint->apply(ctx, -sign, y, T(1), constraint_.span());
  inverse_->apply(ctx, T(1), constraint_.cspan(), T(0), y);
}

template <class T, Space S>
std::string SchurInverse<T, S>::text() const {
  if (given_) return "the given matrix";
  if (kind_ == SaddleSchur::diagonal) return "its diagonal by that of A";
  return kind_ == SaddleSchur::product ? "the product by the diagonal of A" : "the least-squares commutator";
}

#define X(T, S) template class SchurInverse<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
