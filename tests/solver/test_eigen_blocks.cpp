// SPDX-License-Identifier: Apache-2.0
// The parts of LOBPCG: dense eigenvectors, panels of vectors, and bases that stay orthonormal.
#include "tests/solver/systems.hpp"

#include "solver/eigen/dense_eigen.hpp"
#include "solver/eigen/pencil.hpp"

namespace {

using namespace newel::detail;

SmallMatrix random_matrix(int rows, int cols, std::uint64_t seed) {
  SmallMatrix a(rows, cols);
  a.values = noise(rows * cols, seed);
  return a;
}

double product(const double* x, const double* y, int n) {
  long double sum = 0;
  for (int k = 0; k < n; ++k) sum += static_cast<long double>(x[k]) * y[k];
  return static_cast<double>(sum);
}

void check_eigen(const SmallMatrix& a, double scale) {
  const int n = a.rows;
  const SymmetricEigen eigen = dense_eigen(a);
  REQUIRE(eigen.values.size() == static_cast<std::size_t>(n));
  CHECK(std::is_sorted(eigen.values.begin(), eigen.values.end()));
  const double bound = 1e-15 * (n + 10) * scale;
  for (int j = 0; j < n; ++j) {
    const double* const v = &eigen.vectors.values[static_cast<std::size_t>(j * n)];
    for (int i = 0; i < n; ++i) {
      const double left = product(&a.values[static_cast<std::size_t>(i * n)], v, n);
      CHECK(std::abs(left - eigen.values[static_cast<std::size_t>(j)] * v[i]) <= bound);
    }
    for (int l = 0; l <= j; ++l) {
      const double* const w = &eigen.vectors.values[static_cast<std::size_t>(l * n)];
      CHECK(std::abs(product(v, w, n) - (j == l ? 1 : 0)) <= 1e-15 * (n + 10));
    }
  }
}

// Columns as one vector after another, in a space.
template <Space S>
Panels<S> panels_of(const Context<S>& ctx, PanelAlgebra<S>& algebra, const SmallMatrix& columns) {
  std::vector<double> all;
  for (int j = 0; j < columns.cols; ++j) {
    for (int i = 0; i < columns.rows; ++i) all.push_back(columns(i, j));
  }
  Panels<S> panels(ctx, columns.rows, columns.cols);
  panels.resize(columns.cols);
  algebra.from_columns(make_array(ctx, all).cspan(), panels);
  return panels;
}

template <Space S>
SmallMatrix columns_of(const Context<S>& ctx, PanelAlgebra<S>& algebra, const Panels<S>& panels) {
  const auto n = static_cast<int>(panels.rows());
  Array<double, S> flat(ctx, std::int64_t{n} * panels.columns());
  algebra.to_columns(panels, panels.columns(), flat.span());
  const std::vector<double> all = to_vector(ctx, flat.cspan());
  SmallMatrix columns(n, panels.columns());
  for (int j = 0; j < columns.cols; ++j) {
    for (int i = 0; i < n; ++i) columns(i, j) = all[static_cast<std::size_t>(j * n + i)];
  }
  return columns;
}

}  // namespace

TEST_CASE("dense symmetric matrices have their eigenvalues and orthonormal vectors", "[solver][eigen]") {
  for (const int n : {1, 2, 3, 27, 90}) {
    CAPTURE(n);
    SmallMatrix line(n, n), dense = random_matrix(n, n, 5), ones(n, n), graded(n, n), diagonal(n, n);
    for (int i = 0; i < n; ++i) {
      line(i, i) = 2;
      if (i > 0) line(i, i - 1) = line(i - 1, i) = -1;
      diagonal(i, i) = i % 3 == 0 ? -1 : 2;
      for (int j = 0; j <= i; ++j) {
        dense(j, i) = dense(i, j);
        ones(i, j) = ones(j, i) = 1;
        graded(i, j) = graded(j, i) = dense(i, j) * std::pow(10.0, -(i + j) % 13);
      }
    }
    check_eigen(line, 4);
    check_eigen(dense, n);
    check_eigen(ones, n);
    check_eigen(graded, n);
    check_eigen(diagonal, 2);
    check_eigen(SmallMatrix(n, n), 1);
    const SymmetricEigen known = dense_eigen(line);
    for (int j = 0; j < n; ++j) {  // 2 - 2 cos((j + 1) pi / (n + 1))
      const double expected = 2 - 2 * std::cos((j + 1) * std::acos(-1.0) / (n + 1));
      CHECK(std::abs(known.values[static_cast<std::size_t>(j)] - expected) <= 1e-14);
    }
  }
  CHECK(dense_eigen(SmallMatrix(0, 0)).values.empty());
}

TEST_CASE("orthonormal columns span what is given, less what depends", "[solver][eigen]") {
  const SmallMatrix against = orthonormal_columns(random_matrix(30, 4, 1), SmallMatrix(30, 0));
  SmallMatrix given = random_matrix(30, 5, 2);
  for (int i = 0; i < 30; ++i) {
    given(i, 1) = 1e-9 * given(i, 1);
    given(i, 3) = given(i, 0) + given(i, 2);
    given(i, 4) = against(i, 2);
  }
  const SmallMatrix found = orthonormal_columns(given, against);
  REQUIRE(against.cols == 4);
  REQUIRE(found.cols == 3);
  const auto dot = [](const SmallMatrix& a, int p, const SmallMatrix& b, int q) {
    long double sum = 0;
    for (int i = 0; i < 30; ++i) sum += static_cast<long double>(a(i, p)) * b(i, q);
    return static_cast<double>(sum);
  };
  for (int j = 0; j < 3; ++j) {
    for (int l = 0; l < 3; ++l) CHECK(std::abs(dot(found, j, found, l) - (j == l ? 1 : 0)) <= 1e-15 * 10);
    for (int l = 0; l < 4; ++l) CHECK(std::abs(dot(found, j, against, l)) <= 1e-15 * 10);
  }
}

TEST_BOTH("panels of any width have the dot products and combinations of their columns", "[solver][eigen]") {
  for (const int n : {1, 31, 33, 700}) {
    for (const auto& [p, q] : {std::pair{1, 9}, {2, 3}, {4, 8}, {6, 17}, {12, 1}, {100, 2}}) {
      CAPTURE(n, p, q);
      PanelAlgebra<S> algebra(ctx, n, std::max(p, q));
      const SmallMatrix a = random_matrix(n, p, 3), b = random_matrix(n, q, 4), c = random_matrix(p + q, 5, 6);
      const std::vector<double> weights = noise(n, 7);
      const Panels<S> at_a = panels_of(ctx, algebra, a), at_b = panels_of(ctx, algebra, b);
      const auto at_weights = make_array(ctx, weights);
      const SmallMatrix plain = algebra.dots(at_a, at_b), weighted = algebra.dots(at_a, at_b, at_weights.cspan());
      for (int i = 0; i < p; ++i) {
        for (int j = 0; j < q; ++j) {
          long double one = 0, other = 0;
          for (int r = 0; r < n; ++r) {
            one += static_cast<long double>(a(r, i)) * b(r, j);
            other += static_cast<long double>(weights[static_cast<std::size_t>(r)]) * a(r, i) * b(r, j);
          }
          CHECK(std::abs(plain(i, j) - static_cast<double>(one)) <= 1e-15 * (n + 4));
          CHECK(std::abs(weighted(i, j) - static_cast<double>(other)) <= 1e-15 * (n + 4));
        }
      }
      Panels<S> to(ctx, n, 5);
      algebra.combine({&at_a, &at_b}, c, to);
      const SmallMatrix combined = columns_of(ctx, algebra, to);
      REQUIRE(combined.cols == 5);
      for (int r = 0; r < n; ++r) {
        for (int j = 0; j < 5; ++j) {
          long double sum = 0;
          for (int i = 0; i < p; ++i) sum += static_cast<long double>(a(r, i)) * c(i, j);
          for (int i = 0; i < q; ++i) sum += static_cast<long double>(b(r, i)) * c(p + i, j);
          CHECK(std::abs(combined(r, j) - static_cast<double>(sum)) <= 1e-15 * (p + q + 4));
        }
      }
    }
  }
}

TEST_BOTH("a basis is orthonormal and drops what depends, whatever the lengths", "[solver][eigen]") {
  constexpr Index n = 100;
  Rows m(n);
  for (Index i = 0; i < n; ++i) {
    m.at(i, i) = 4;
    if (i > 0) m.at(i, i - 1) = m.at(i - 1, i) = 1;
  }
  SystemOf<double, S> mass(ctx, m, system_options("cg", "none", "csr"));
  EigenProblem<S> problem{&mass.ordered().matrix(), &mass.ordered().matrix()};
  const auto ones = make_array(ctx, std::vector<double>(n, 1.0));
  problem.deflated = ones.cspan();
  Pencil<S> pencil(ctx, problem, n, 8);
  const auto block_of = [&](const SmallMatrix& columns) {
    EigenBlock<S> block = pencil.new_block();
    block.x = panels_of(ctx, pencil.algebra(), columns);
    Panels<S> memory(ctx, n, 8);
    memory.resize(columns.cols);
    pencil.algebra().apply(nullptr, block.x, memory);
    std::swap(block.x, memory);
    return block;
  };
  EigenBlock<S> first = block_of(random_matrix(n, 3, 4));
  pencil.orthonormalise(first, {});
  SmallMatrix given = random_matrix(n, 6, 3);
  const double lengths[] = {1, 1e-150, 1e150, 1e3, 1e-3, 1};
  for (int i = 0; i < n; ++i) {
    given(i, 5) = given(i, 0) + given(i, 3) * (1 + 1e-16);
    for (int j = 0; j < 6; ++j) given(i, j) *= lengths[j];
  }
  EigenBlock<S> second = block_of(given);
  pencil.orthonormalise(second, {&first});
  REQUIRE(first.columns() == 3);
  REQUIRE(second.columns() == 5);
  const SmallMatrix x = columns_of(ctx, pencil.algebra(), second.x), y = columns_of(ctx, pencil.algebra(), first.x);
  const SmallMatrix mx = columns_of(ctx, pencil.algebra(), pencil.mass(second));
  for (int j = 0; j < 5; ++j) {
    std::vector<double> column;
    for (int i = 0; i < n; ++i) column.push_back(x(i, j));
    const std::vector<double> times_m = m.rhs_for(column);
    const auto with = [&](const auto& value) {
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += times_m[static_cast<std::size_t>(i)] * value(i);
      return sum;
    };
    for (int l = 0; l < 5; ++l) CHECK(std::abs(with([&](int i) { return x(i, l); }) - (j == l ? 1 : 0)) <= 1e-13);
    for (int l = 0; l < 3; ++l) CHECK(std::abs(with([&](int i) { return y(i, l); })) <= 1e-13);
    CHECK(std::abs(with([](int) { return 1.0; })) <= 1e-11);
    for (int i = 0; i < n; ++i) CHECK(std::abs(mx(i, j) - times_m[static_cast<std::size_t>(i)]) <= 1e-13);
  }
}
