// SPDX-License-Identifier: Apache-2.0
// Products, projections and M-orthonormal bases.
#include "solver/eigen/pencil.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <newel/core/error.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/eigen/dense_eigen.hpp"

namespace newel::detail {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double least_kept = 1e3 * epsilon;  // share of a column of length 1 that must not depend on the others, squared

}  // namespace

template <Space S>
Pencil<S>::Pencil(const Context<S>& ctx, const EigenProblem<S>& problem, std::int64_t rows, int most)
    : ctx_(ctx), problem_(problem), rows_(rows), most_(most), algebra_(ctx, rows, most) {
  spare_ = new_block();
  if (problem.deflated.empty()) return;
  EigenBlock<S> vectors = new_block();
  vectors.x.resize(static_cast<int>(problem.deflated.size / rows));
  algebra_.from_columns(problem.deflated, vectors.x);
  orthonormalise(vectors, {});
  deflated_ = std::move(vectors);
}

template <Space S>
SmallMatrix Pencil<S>::dots(const Panels<S>& a, const Panels<S>& b, Span<const double, S> weights) {
  SmallMatrix result = algebra_.dots(a, b, weights);
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::all_of(result.values.begin(), result.values.end(), finite))
    throw InputError(
        "eigenpairs: a product with A, M or the preconditioner is not finite, or too large to be squared");
  return result;
}

// z = (z, others) C, and the same of M z.
template <Space S>
void Pencil<S>::replace(EigenBlock<S>& z, const Blocks& others, const SmallMatrix& coefficients) {
  std::vector<const Panels<S>*> x{&z.x}, m{&z.m};
  for (const EigenBlock<S>* const block : others) x.push_back(&block->x), m.push_back(&block->m);
  algebra_.combine(x, coefficients, spare_.x);
  if (problem_.m != nullptr) algebra_.combine(m, coefficients, spare_.m);
  std::swap(z.x, spare_.x);
  std::swap(z.m, spare_.m);
}

// Columns of length 1, less what they have in the blocks. A column of zeros is dropped.
template <Space S>
void Pencil<S>::project(EigenBlock<S>& z, const Blocks& blocks) {
  const SmallMatrix gram = dots(z.x, mass(z));
  std::vector<int> kept;
  std::vector<double> scale;
  for (int j = 0; j < z.columns(); ++j) {
    if (gram(j, j) < 0)
      throw InputError("M: expected a positive definite matrix, found a vector x with x.M x below 0");
    if (gram(j, j) == 0) continue;
    kept.push_back(j);
    scale.push_back(1 / std::sqrt(gram(j, j)));
  }
  int rows = z.columns();
  for (const EigenBlock<S>* const block : blocks) rows += block->columns();
  SmallMatrix coefficients(rows, static_cast<int>(kept.size()));
  for (int j = 0; j < coefficients.cols; ++j)
    coefficients(kept[static_cast<std::size_t>(j)], j) = scale[static_cast<std::size_t>(j)];
  int first = z.columns();
  for (const EigenBlock<S>* const block : blocks) {
    const SmallMatrix inside = dots(mass(*block), z.x);
    for (int i = 0; i < block->columns(); ++i) {
      for (int j = 0; j < coefficients.cols; ++j)
        coefficients(first + i, j) =
            -inside(i, kept[static_cast<std::size_t>(j)]) * scale[static_cast<std::size_t>(j)];
    }
    first += block->columns();
  }
  replace(z, blocks, coefficients);
}

// By the eigenvectors of their Gram matrix.
template <Space S>
void Pencil<S>::orthonormalise_among_themselves(EigenBlock<S>& z) {
  const SymmetricEigen gram = dense_eigen(dots(z.x, mass(z)));
  const int n = z.columns();
  const double least = n > 0 ? least_kept * std::max(1.0, gram.values.back()) : 0;
  std::vector<int> kept;
  for (int j = 0; j < n; ++j) {
    if (gram.values[static_cast<std::size_t>(j)] > least) kept.push_back(j);
  }
  SmallMatrix coefficients(n, static_cast<int>(kept.size()));
  for (int j = 0; j < coefficients.cols; ++j) {
    const int from = kept[static_cast<std::size_t>(j)];
    const double scale = 1 / std::sqrt(gram.values[static_cast<std::size_t>(from)]);
    for (int i = 0; i < n; ++i) coefficients(i, j) = gram.vectors(from, i) * scale;
  }
  replace(z, {}, coefficients);
}

template <Space S>
void Pencil<S>::orthonormalise(EigenBlock<S>& z, const Blocks& blocks) {
  Blocks all = blocks;
  if (deflated_.columns() > 0) all.push_back(&deflated_);
  for (int round = 0; round < 2 && z.columns() > 0; ++round) {
    if (problem_.m != nullptr) algebra_.apply(problem_.m, z.x, z.m);
    project(z, all);
    if (z.columns() > 0) orthonormalise_among_themselves(z);
  }
}

template <Space S>
SmallMatrix Pencil<S>::projected(const Blocks& basis) {
  int rows = 0;
  for (const EigenBlock<S>* const block : basis) rows += block->columns();
  SmallMatrix result(rows, rows);
  int first_row = 0;
  for (const EigenBlock<S>* const of_rows : basis) {
    int first_column = 0;
    for (const EigenBlock<S>* const of_columns : basis) {
      const bool diagonal = of_rows == of_columns;
      const SmallMatrix part = dots(of_rows->x, of_columns->a);
      for (int i = 0; i < part.rows; ++i) {
        for (int j = 0; j < part.cols; ++j)
          result(first_row + i, first_column + j) = diagonal ? (part(i, j) + part(j, i)) / 2 : part(i, j);
      }
      if (diagonal) break;
      first_column += of_columns->columns();
    }
    first_row += of_rows->columns();
  }
  return result;
}

template <Space S>
void Pencil<S>::combine(const Blocks& basis, const SmallMatrix& coefficients, EigenBlock<S>& to) {
  std::vector<const Panels<S>*> x, a, m;
  for (const EigenBlock<S>* const block : basis)
    x.push_back(&block->x), a.push_back(&block->a), m.push_back(&block->m);
  algebra_.combine(x, coefficients, to.x);
  algebra_.combine(a, coefficients, to.a);
  if (problem_.m != nullptr) algebra_.combine(m, coefficients, to.m);
}

template <Space S>
std::vector<double> Pencil<S>::lengths(const Panels<S>& r) {
  const SmallMatrix squares = dots(r, r, problem_.inverse_mass_diagonal);
  std::vector<double> result;
  for (int j = 0; j < squares.cols; ++j) result.push_back(std::sqrt(std::max(squares(j, j), 0.0)));
  return result;
}

#define X(S) template class Pencil<S>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
