// SPDX-License-Identifier: Apache-2.0
// The iteration of LOBPCG.
#include "solver/eigen/lobpcg.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/vectors/instantiate.hpp"
#include "core/vectors/random.hpp"
#include "solver/eigen/dense_eigen.hpp"

namespace newel::detail {
namespace {

constexpr std::uint64_t start_seed = 20010;

// Orthonormal coefficients of what a step has added to the active columns of X, orthogonal to those of the new X.
SmallMatrix new_directions(const SmallMatrix& vectors, const std::vector<int>& active, int size) {
  SmallMatrix added(vectors.rows, 0);
  std::vector<int> columns;
  for (const int j : active) {
    if (j < vectors.cols) columns.push_back(j);
  }
  added = SmallMatrix(vectors.rows, static_cast<int>(columns.size()));
  for (int i = size; i < vectors.rows; ++i) {
    for (int j = 0; j < added.cols; ++j) added(i, j) = vectors(i, columns[static_cast<std::size_t>(j)]);
  }
  return orthonormal_columns(added, vectors);
}

}  // namespace

template <Space S>
Lobpcg<S>::Lobpcg(const Context<S>& ctx, Pencil<S>& pencil, std::int64_t rows, int size,
                  Span<const double, S> guesses)
    : pencil_(pencil),
      size_(size),
      x_(pencil.new_block()),
      p_(pencil.new_block()),
      w_(pencil.new_block()),
      next_(pencil.new_block()),
      residuals_(ctx, rows, size) {
  const auto given = std::min<std::int64_t>(rows > 0 ? guesses.size / rows : 0, size);
  x_.x.resize(static_cast<int>(given));
  pencil.algebra().from_columns(guesses, x_.x);
  pencil.orthonormalise(x_, {});
  pencil.multiply(x_);
  w_.x.resize(size);
  for (int p = 0; p < w_.x.panels(); ++p)
    fill_random(ctx, RandomKind::signed_length, start_seed, p * Panels<S>::width * rows, w_.x.panel(p));
  pencil.orthonormalise(w_, {&x_});
  pencil.multiply(w_);
  take_smallest({&x_, &w_});
}

template <Space S>
SmallMatrix Lobpcg<S>::take_smallest(const Blocks& basis) {
  const SymmetricEigen eigen = dense_eigen(pencil_.projected(basis));
  const int all = eigen.vectors.rows, taken = std::min(size_, all);
  SmallMatrix coefficients(all, taken);
  for (int i = 0; i < all; ++i) {
    for (int j = 0; j < taken; ++j) coefficients(i, j) = eigen.vectors(j, i);
  }
  values_.assign(eigen.values.begin(), eigen.values.begin() + taken);
  pencil_.combine(basis, coefficients, next_);
  std::swap(x_, next_);
  return coefficients;
}

template <Space S>
void Lobpcg<S>::compute_residuals(const std::vector<int>& columns) {
  const int all = x_.columns();
  SmallMatrix coefficients(2 * all, static_cast<int>(columns.size()));
  for (int j = 0; j < coefficients.cols; ++j) {
    const int from = columns[static_cast<std::size_t>(j)];
    coefficients(from, j) = 1;
    coefficients(all + from, j) = -values_[static_cast<std::size_t>(from)];
  }
  pencil_.algebra().combine({&x_.a, &pencil_.mass(x_)}, coefficients, residuals_);
}

template <Space S>
std::vector<double> Lobpcg<S>::residuals() {
  std::vector<int> all(static_cast<std::size_t>(x_.columns()));
  std::iota(all.begin(), all.end(), 0);
  compute_residuals(all);
  return pencil_.lengths(residuals_);
}

template <Space S>
bool Lobpcg<S>::step(const std::vector<int>& active) {
  const int size = x_.columns();
  compute_residuals(active);
  pencil_.precondition(residuals_, w_.x);
  Blocks basis{&x_};
  if (p_.columns() > 0) basis.push_back(&p_);
  pencil_.orthonormalise(w_, basis);
  if (w_.columns() == 0) return false;
  pencil_.multiply(w_);
  basis.push_back(&w_);
  const SmallMatrix vectors = take_smallest(basis);
  basis.front() = &next_;  // where the former X is now
  EigenBlock<S>& spare = pencil_.spare();
  pencil_.combine(basis, new_directions(vectors, active, size), spare);
  std::swap(p_, spare);
  return true;
}

template <Space S>
void Lobpcg<S>::compute_again() {
  pencil_.orthonormalise(x_, {});
  pencil_.multiply(x_);
  p_.x.resize(0);
  take_smallest({&x_});
}

#define X(S) template class Lobpcg<S>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
