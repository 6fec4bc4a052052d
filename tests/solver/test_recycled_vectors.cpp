// SPDX-License-Identifier: Apache-2.0
// The parts of recycled deflation, against dense references: eigenvectors of small matrices, Ritz vectors of CG, and
// the correction that they make.
#include "tests/solver/dense_solution.hpp"
#include "tests/solver/systems.hpp"

#include "solver/recycle/energy_correction.hpp"
#include "solver/recycle/recycling.hpp"
#include "solver/recycle/symmetric_eigen.hpp"

namespace {

using namespace newel::detail;

// |A v - value v|, for a unit vector
double defect(const SmallMatrix& a, const SymmetricEigen& eigen, int j) {
  double sum = 0;
  for (int i = 0; i < a.rows; ++i) {
    double at = -eigen.values[static_cast<std::size_t>(j)] * eigen.vectors(j, i);
    for (int k = 0; k < a.cols; ++k) at += a(i, k) * eigen.vectors(j, k);
    sum += at * at;
  }
  return std::sqrt(sum);
}

void check_eigen(const SmallMatrix& a, double scale) {
  const SymmetricEigen eigen = symmetric_eigen(a, a.rows);
  CHECK(std::is_sorted(eigen.values.begin(), eigen.values.end()));
  for (int j = 0; j < a.rows; ++j) {
    CHECK(defect(a, eigen, j) <= 1e-14 * a.rows * scale);
    for (int l = 0; l <= j; ++l) {
      double product = 0;
      for (int k = 0; k < a.rows; ++k) product += eigen.vectors(j, k) * eigen.vectors(l, k);
      CHECK(std::abs(product - (j == l ? 1 : 0)) <= 1e-14 * a.rows);
    }
  }
}

template <Space S>
std::vector<double> kept(const Context<S>& ctx, RecycledVectors<S>& W, int j) {
  const std::vector<float> values = to_vector(ctx, Span<const float, S>(W.vector(j)));
  return {values.begin(), values.end()};
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  long double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<long double>(a[i]) * b[i];
  return static_cast<double>(sum);
}

}  // namespace

TEST_CASE("eigenvectors of small symmetric matrices are those of the matrix", "[solver][recycle]") {
  SmallMatrix line(12, 12), dense(17, 17), zero(3, 3), indefinite(2, 2);
  for (int i = 0; i < 12; ++i) {
    line(i, i) = 2;
    if (i > 0) line(i, i - 1) = line(i - 1, i) = -1;
  }
  check_eigen(line, 4);
  const SymmetricEigen known = symmetric_eigen(line, 12);
  for (int j = 0; j < 12; ++j) {  // 2 - 2 cos(j pi / 13), from 1 on
    const double expected = 2 - 2 * std::cos((j + 1) * std::acos(-1.0) / 13);
    CHECK(known.values[static_cast<std::size_t>(j)] == Approx(expected).epsilon(1e-13));
  }
  const std::vector<double> numbers = noise(17 * 17, 5);
  for (int i = 0; i < 17; ++i) {
    for (int j = 0; j <= i; ++j) dense(i, j) = dense(j, i) = numbers[static_cast<std::size_t>(i * 17 + j)];
  }
  check_eigen(dense, 17);
  check_eigen(zero, 1);
  indefinite(0, 1) = indefinite(1, 0) = 3;
  check_eigen(indefinite, 3);
  CHECK(symmetric_eigen(line, 5).values.size() == 5);
  CHECK(symmetric_eigen(line, 0).values.empty());
}

TEST_BOTH("the window holds eigenvectors of the smallest eigenvalues after a solve", "[solver][recycle]") {
  // Eigenvalues 1e-3 k^2 for the first six of a preconditioned matrix: A = D^-1/2 L D^-1/2 and M = D for diagonal D.
  constexpr Index n = 300;
  std::vector<double> A(n), M(n);
  const std::vector<double> numbers = noise(n, 3);
  for (std::size_t i = 0; i < n; ++i) {
    M[i] = 1.5 + numbers[i];
    const double value = i < 6 ? 1e-3 * static_cast<double>((i + 1) * (i + 1)) : 0.5 + static_cast<double>(i) / n;
    A[i] = value / M[i];
  }
  const Rows rows = diagonal(A);
  const Arrays<double, S> arrays(ctx, rows);
  const auto op = make_spmv<double, S>(ctx, arrays.view(), RowOrder<S>(), SpmvOptions{"csr"});
  const auto d = make_array(ctx, M);
  const FunctionOperator<double, S> precond(n, n, [&](const auto& c, double alpha, auto x, double beta, auto y) {
    multiply<double, S>(c, alpha, d.cspan(), x, beta, y);
  });
  Cg<double, S> cg(ctx, n);
  Recycling<double, S> recycling(recycle_rule("8"));
  const auto b = make_array(ctx, noise(n, 7));
  auto x = make_array(ctx, std::vector<double>(n, 0.0));
  const StopCriterion stop = stop_at(1e-10);
  const SolveReport report =
      cg.run({ctx, *op, &precond, b.cspan(), x.span(), stop, {}, InitialGuess::zero, nullptr, nullptr, &recycling});
  REQUIRE(report.converged());
  REQUIRE(report.iterations > 24);  // the window has been restarted
  RecycledVectors<S>& W = recycling.vectors();
  REQUIRE(W.held() >= 6);
  for (int j = 0; j < 6; ++j) {
    const std::vector<double> w = kept(ctx, W, j);
    CAPTURE(j);
    double outside = 0;
    for (std::size_t i = 0; i < n; ++i) outside += i == static_cast<std::size_t>(j) ? 0 : w[i] * w[i];
    CHECK(std::sqrt(outside) <= 1e-3 * std::abs(w[static_cast<std::size_t>(j)]));
  }
}

TEST_BOTH("the correction is that of the dense formula", "[solver][recycle]") {
  const Rows a = laplacian(9);
  constexpr Index n = 81;
  constexpr int m = 5;
  const Arrays<double, S> arrays(ctx, a);
  const auto op = make_spmv<double, S>(ctx, arrays.view(), RowOrder<S>(), SpmvOptions{"csr"});
  RecycledVectors<S> W(8);
  W.make_room(ctx, n);
  EnergyCorrection<double, S> correction;
  correction.make_room(ctx, n, 8);
  std::vector<std::vector<double>> w;
  for (int j = 0; j < m; ++j) {
    const auto values = make_array(ctx, cast<float>(noise(n, static_cast<std::uint64_t>(20 + j))));
    copy<float>(ctx, values.cspan(), W.vector(j));
    w.push_back(kept(ctx, W, j));
  }
  CHECK(W.places(8).count == 8);
  W.added(RecycledKind::preconditioned, {0, m}, 6.0);
  CHECK(W.held() == m);
  CHECK(W.places(8).first == m);
  CHECK(W.places(8).count == 3);
  correction.update(ctx, W, *op);
  CHECK(W.products() == m);
  correction.update(ctx, W, *op);
  CHECK(W.products() == m);  // nothing has changed
  W.values_changed();
  correction.update(ctx, W, *op);
  CHECK(W.products() == 2 * m);

  // E y = W^T r; z = 3 W y
  const std::vector<double> r = noise(n, 1);
  Rows E(m);
  std::vector<double> h;
  for (int i = 0; i < m; ++i) {
    h.push_back(product(w[static_cast<std::size_t>(i)], r));
    for (int j = 0; j < m; ++j)
      E.at(i, j) = product(w[static_cast<std::size_t>(i)], a.rhs_for(w[static_cast<std::size_t>(j)]));
  }
  const std::vector<double> y = dense_solution(E, h);
  std::vector<double> expected(n, 0.0);
  for (int j = 0; j < m; ++j) {
    for (std::size_t i = 0; i < n; ++i)
      expected[i] += 3 * y[static_cast<std::size_t>(j)] * w[static_cast<std::size_t>(j)][i];
  }
  const auto rs = make_array(ctx, r);
  auto z = make_array(ctx, std::vector<double>(n, 0.0));
  auto rz = make_array(ctx, std::vector<double>{0.5});
  correction.correct(ctx, rs.cspan(), 1.0, z.span(), rz.data());
  const std::vector<double> found = to_vector(ctx, z.cspan());
  for (std::size_t i = 0; i < n; ++i) CHECK(found[i] == Approx(expected[i]).margin(1e-12 * norm(expected)));
  CHECK(to_vector(ctx, rz.cspan())[0] == Approx(0.5 + product(r, expected)).epsilon(1e-12));
}

TEST_BOTH("vectors that depend on others are left out, and the oldest are replaced", "[solver][recycle]") {
  const Rows a = laplacian(9);
  constexpr Index n = 81;
  const Arrays<double, S> arrays(ctx, a);
  const auto op = make_spmv<double, S>(ctx, arrays.view(), RowOrder<S>(), SpmvOptions{"csr"});
  RecycledVectors<S> W(4);
  W.make_room(ctx, n);
  EnergyCorrection<double, S> correction;
  correction.make_room(ctx, n, 4);
  constexpr auto kind = RecycledKind::preconditioned;
  const auto same = make_array(ctx, cast<float>(noise(n, 2)));
  for (int j = 0; j < 3; ++j) copy<float>(ctx, same.cspan(), W.vector(j));
  W.added(kind, {0, 3}, 2.0);
  correction.update(ctx, W, *op);
  const std::vector<double> w = kept(ctx, W, 0), r = noise(n, 1);
  const auto rs = make_array(ctx, r);
  auto z = make_array(ctx, std::vector<double>(n, 0.0));
  correction.correct(ctx, rs.cspan(), 1.0, z.span(), nullptr);
  const double factor = product(w, r) / product(w, a.rhs_for(w));  // tau is 1
  const std::vector<double> found = to_vector(ctx, z.cspan());
  for (std::size_t i = 0; i < n; ++i) CHECK(found[i] == Approx(factor * w[i]).margin(1e-12));
  W.added(kind, {3, 1}, 2.0);
  CHECK(W.held() == 4);
  CHECK(W.places(3).first == 0);
  CHECK(W.places(3).count == 3);
  W.added(kind, {0, 2}, 2.0);
  CHECK(W.held() == 4);
  CHECK(W.places(3).first == 2);
  CHECK(W.places(3).count == 2);
}
