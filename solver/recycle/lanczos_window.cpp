// SPDX-License-Identifier: Apache-2.0
// Lanczos vectors of CG, and Ritz vectors of them.
#include "solver/recycle/lanczos_window.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/steps/basis.hpp"

namespace newel::detail {
namespace {

// Q T Q^T of the rows of Q.
SmallMatrix projected(const SmallMatrix& T, const SmallMatrix& Q) {
  SmallMatrix TQ(Q.rows, Q.cols), H(Q.rows, Q.rows);
  for (int i = 0; i < Q.rows; ++i) {
    for (int k = 0; k < Q.cols; ++k) {
      for (int l = 0; l < Q.cols; ++l) TQ(i, k) += Q(i, l) * T(l, k);
    }
  }
  for (int i = 0; i < Q.rows; ++i) {
    for (int j = 0; j <= i; ++j) H(i, j) = H(j, i) = row_product(Q, i, TQ, j);
  }
  return H;
}

}  // namespace

template <class T, Space S>
void LanczosWindow<T, S>::begin(const Context<S>& ctx, std::int64_t n, Span<CgCoefficients, S> coefficients) {
  if (n_ != n || factors_.empty()) {
    Array<float, S> V(ctx, n * columns), other(ctx, n * columns);
    Array<T, S> combined(ctx, n);
    factors_ = Array<double, S>(ctx, columns * restarts_with);
    V_ = std::move(V), other_ = std::move(other), combined_ = std::move(combined);
    n_ = n;
  }
  scale_.assign(columns, 1.0);
  coupling_.assign(columns, 0.0);
  coefficients_ = coefficients;
  fill<double, S>(ctx, 0.0, {&coefficients.data->alpha, 2 * coefficients.size});
  std::fill(T_.values.begin(), T_.values.end(), 0.0);
  used_ = ritz_ = iteration_ = 0;
  rho_ = 1;
  alpha_ = largest_ = 0;
  ended_ = false;
}

// Of the columns after the Ritz vectors. If the iteration of one was not made, or belongs to another recurrence, that
// column and all later ones are dropped.
template <class T, Space S>
void LanczosWindow<T, S>::take_coefficients(const Context<S>& ctx) {
  const int fresh = used_ - ritz_;
  if (fresh == 0) return;
  const std::vector<CgCoefficients> steps =
      to_vector(ctx, Span<const CgCoefficients, S>(coefficients_.data + iteration_, fresh));
  used_ = ritz_;
  for (const auto& [alpha, beta] : steps) {
    const bool first = iteration_ == 0;
    ended_ = !(alpha > 0) || !std::isfinite(alpha) || !(first || beta > 0) || !std::isfinite(beta);
    if (ended_) return;
    const int column = used_;
    if (!first) {
      rho_ *= beta;
      const double product = -std::sqrt(beta) / alpha_;
      for (int i = 0; i < column; ++i)
        T_(i, column) = T_(column, i) = product * coupling_[static_cast<std::size_t>(i)];
    }
    T_(column, column) = 1 / alpha + (first ? 0 : beta / alpha_);
    largest_ = std::max(largest_, T_(column, column));
    scale_[static_cast<std::size_t>(column)] = 1 / std::sqrt(rho_);
    std::fill(coupling_.begin(), coupling_.end(), 0.0);  // the next vector has a product with this one alone
    coupling_[static_cast<std::size_t>(column)] = 1;
    alpha_ = alpha;
    ++used_;
    ++iteration_;
  }
}

// The Ritz vectors of T and of T without its last row, as orthonormal combinations of the columns.
template <class T, Space S>
SmallMatrix LanczosWindow<T, S>::best_space() const {
  SmallMatrix Q(restarts_with, used_);
  const SymmetricEigen all = symmetric_eigen(T_, used_), before = symmetric_eigen(T_, used_ - 1);
  int rows = 0;
  for (int j = 0; j < wanted; ++j) rows += add_orthonormal(Q, rows, all.vectors, j) ? 1 : 0;
  for (int j = 0; j < restarts_with - wanted; ++j) rows += add_orthonormal(Q, rows, before.vectors, j) ? 1 : 0;
  Q.rows = rows;
  return Q;
}

// Combinations of the columns, one for each of the first rows, go to `to`.
template <class T, Space S>
void LanczosWindow<T, S>::combine(const Context<S>& ctx, const SmallMatrix& rows, int count, float* to) {
  std::vector<double> factors;
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < used_; ++k) factors.push_back(rows(i, k) * scale_[static_cast<std::size_t>(k)]);
  }
  const auto size = static_cast<std::int64_t>(factors.size());
  copy<double>(ctx, Span<const double, Space::host>(factors.data(), size), factors_.span().subspan(0, size));
  for (int i = 0; i < count; ++i) {
    basis_combine(ctx, V_.data(), n_, used_, factors_.data() + i * used_, combined_.data());
    convert<T, float, S>(ctx, combined_.cspan(), {to + i * n_, n_});
  }
}

template <class T, Space S>
void LanczosWindow<T, S>::restart(const Context<S>& ctx) {
  const SmallMatrix Q = best_space();
  const SmallMatrix H = projected(T_, Q);
  combine(ctx, Q, Q.rows, other_.data());
  std::swap(V_, other_);
  for (int i = 0; i < Q.rows; ++i) {
    coupling_[static_cast<std::size_t>(i)] = Q(i, used_ - 1);
    scale_[static_cast<std::size_t>(i)] = 1;
  }
  std::fill(coupling_.begin() + Q.rows, coupling_.end(), 0.0);
  std::fill(T_.values.begin(), T_.values.end(), 0.0);
  for (int i = 0; i < Q.rows; ++i) {
    for (int j = 0; j < Q.rows; ++j) T_(i, j) = H(i, j);
  }
  used_ = ritz_ = Q.rows;
}

template <class T, Space S>
void LanczosWindow<T, S>::push(const Context<S>& ctx, Span<const T, S> z) {
  if (ended_ || iteration_ + used_ - ritz_ == most_coefficients) return;
  if (used_ == columns) {
    take_coefficients(ctx);
    if (ended_) return;
    restart(ctx);
  }
  convert<T, float, S>(ctx, z, V_.span().subspan(used_ * n_, n_));
  ++used_;
}

template <class T, Space S>
int LanczosWindow<T, S>::finish(const Context<S>& ctx, int most, float* W) {
  take_coefficients(ctx);
  ended_ = true;
  if (used_ == 0) return 0;
  const SymmetricEigen ritz = symmetric_eigen(T_, used_);
  largest_ = std::max(largest_, ritz.values.back());
  int count = 0;
  // Of a few steps only the outermost Ritz vectors are close to eigenvectors.
  const int possible = std::min({most, wanted, ritz_ > 0 ? wanted : used_ / 3});
  while (count < possible && ritz.values[static_cast<std::size_t>(count)] < small_part * largest_) ++count;
  if (count > 0) combine(ctx, ritz.vectors, count, W);
  return count;
}

#define X(T, S) template class LanczosWindow<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
