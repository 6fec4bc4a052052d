// SPDX-License-Identifier: Apache-2.0
// Guesses from past solutions, against dense projections by Eigen.
#include <Eigen/Dense>

#include "tests/solver/systems.hpp"

#include "solver/sequence/past_solutions.hpp"
#include "solver/sequence/small_projection.hpp"

using detail::GuessRequest;
using detail::PastSolutions;
using detail::SmallProjection;

namespace {

using Dense = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

Dense dense(const Rows& a) {
  Dense result = Dense::Zero(a.size(), a.size());
  for (Index i = 0; i < a.size(); ++i) {
    for (const auto& [j, value] : a.row[static_cast<std::size_t>(i)]) result(i, j) = value;
  }
  return result;
}

Vector dense(const std::vector<double>& v) {
  return Eigen::Map<const Vector>(v.data(), static_cast<Eigen::Index>(v.size()));
}

SmallProjection gram_of(const Dense& gram) {
  SmallProjection result(static_cast<int>(gram.rows()));
  for (int i = 0; i < gram.rows(); ++i) {
    for (int j = 0; j < gram.cols(); ++j) result.entry(i, j) = gram(i, j);
  }
  return result;
}

// The point of g + span(differences) whose error, in the norm of A, or whose residual is the smallest.
Vector best(const Dense& A, const Vector& b, const Vector& g, const Dense& differences, bool energy) {
  const Vector r = b - A * g;
  const Dense images = A * differences;
  Vector y;
  if (energy) y = (differences.transpose() * images).fullPivLu().solve(differences.transpose() * r);
  if (!energy) y = images.colPivHouseholderQr().solve(r);
  return g + differences * y;
}

// Differences of the last `vectors` of the solutions, the first of which follows zero.
Dense differences_of(const std::vector<std::vector<double>>& solutions, int vectors) {
  const int count = static_cast<int>(solutions.size());
  const int held = std::min(count, vectors);
  Dense result(static_cast<Eigen::Index>(solutions[0].size()), held);
  for (int k = 0; k < held; ++k) {
    const auto at = static_cast<std::size_t>(count - held + k);
    result.col(k) = dense(solutions[at]);
    if (at > 0) result.col(k) -= dense(solutions[at - 1]);
  }
  return result;
}

template <class T, Space S>
void check_projection(const Context<S>& ctx, const Rows& a, bool definite, int solutions, double bound) {
  constexpr int vectors = 4;
  const Index n = a.size();
  CAPTURE(definite, solutions);
  const Arrays<T, S> arrays(ctx, a);
  const auto A = make_spmv<T, S>(ctx, arrays.view(), RowOrder<S>(), SpmvOptions{"csr"});
  PastSolutions<T, S> past({GuessRule::Kind::project, vectors});
  std::vector<std::vector<double>> kept;
  for (int k = 0; k < solutions; ++k) {
    const std::vector<T> x = cast<T>(noise(n, static_cast<std::uint64_t>(k) + 1));
    kept.emplace_back(x.begin(), x.end());
    const auto there = make_array(ctx, x);
    past.keep(ctx, *A, definite, there.cspan());
  }
  CHECK(past.ring().held() == std::min(solutions, vectors));
  // b of something near the solutions, so that the guess is better than zero.
  const Dense matrix = dense(a);
  Vector target = 0.1 * dense(noise(n, 99));
  for (const auto& x : kept) target += dense(x);
  const Vector b = matrix * target;
  const auto b_there = make_array(ctx, std::vector<T>(b.data(), b.data() + n));
  for (const bool given : {true, false}) {
    std::vector<double> g = kept.back();
    if (given) {
      const std::vector<double> off = noise(n, 50);
      for (std::size_t i = 0; i < g.size(); ++i) g[i] = static_cast<T>(g[i] + 0.1 * off[i]);
    }
    auto x = make_array(ctx, cast<T>(given ? g : std::vector<double>(g.size(), 3.0)));
    GuessReport report;
    const GuessRequest<T, S> request{*A, definite, b_there.cspan(), x.span(),
                                     given ? InitialGuess::in_x : InitialGuess::zero};
    CHECK(past.prepare(ctx, request, report) == InitialGuess::in_x);
    CHECK(report.from == "projected");
    CHECK(report.vectors == past.ring().held());
    const double given_residual = (b - matrix * dense(g)).norm();
    const Vector from = given && given_residual < b.norm() ? dense(g) : dense(kept.back());
    const Vector expected = best(matrix, b, from, differences_of(kept, vectors), definite);
    const std::vector<T> values = to_vector(ctx, x.cspan());
    const Vector found = dense(std::vector<double>(values.begin(), values.end()));
    CHECK((found - expected).norm() <= bound * expected.norm());
    CHECK(report.residual == Approx((b - matrix * found).norm()).epsilon(100 * bound));
    CHECK(report.given_residual == Approx(given ? given_residual : b.norm()).epsilon(100 * bound));
  }
}

}  // namespace

TEST_CASE("a small projection solves with the Gram matrix as dense factors do", "[solver][guess]") {
  for (const int m : {1, 2, 5, 8}) {
    const std::vector<double> values = noise(static_cast<Index>(20 * m), static_cast<std::uint64_t>(m));
    const Dense V = Eigen::Map<const Dense>(values.data(), 20, m);
    const Dense gram = V.transpose() * V;
    const std::vector<double> h = noise(m, 7);
    const std::vector<double> y = gram_of(gram).solve(h, 1e-14);
    const Vector expected = gram.ldlt().solve(dense(h));
    CHECK((dense(y) - expected).norm() <= 1e-10 * expected.norm());
  }
}

TEST_CASE("a small projection leaves out vectors that depend on others, are zero or not finite", "[solver][guess]") {
  Dense V(30, 5);
  for (int j = 0; j < 2; ++j) V.col(j) = dense(noise(30, static_cast<std::uint64_t>(j) + 1));
  V.col(2) = V.col(0) - 2 * V.col(1);
  V.col(3).setZero();
  V.col(4).setConstant(std::numeric_limits<double>::quiet_NaN());
  const Vector target = 3 * V.col(0) + V.col(1);
  Dense gram = V.transpose() * V;
  const Vector right = V.transpose() * target;
  const std::vector<double> y = gram_of(gram).solve(std::vector<double>(right.data(), right.data() + 5), 1e-12);
  CHECK(y[3] == 0);
  CHECK(y[4] == 0);
  Vector found = Vector::Zero(30);
  for (int j = 0; j < 3; ++j) found += y[static_cast<std::size_t>(j)] * V.col(j);
  CHECK((found - target).norm() <= 1e-10 * target.norm());
}

TEST_BOTH("a projected guess is that of a dense projection", "[solver][guess]") {
  for (const int solutions : {1, 3, 4, 7}) {
    check_projection<double>(ctx, laplacian(12), true, solutions, 1e-10);
    check_projection<double>(ctx, laplacian(12, 0.4), false, solutions, 1e-10);
    check_projection<float>(ctx, laplacian(12), true, solutions, 1e-4);
    check_projection<float>(ctx, laplacian(12, 0.4), false, solutions, 1e-4);
  }
}

TEST_BOTH("after new values the projection is that of the new matrix", "[solver][guess]") {
  constexpr Index k = 12, n = k * k;
  const Arrays<double, S> before(ctx, laplacian(k)), after(ctx, laplacian(k, 0, 2.5));
  const auto A = make_spmv<double, S>(ctx, before.view(), RowOrder<S>(), SpmvOptions{"csr"});
  const auto B = make_spmv<double, S>(ctx, after.view(), RowOrder<S>(), SpmvOptions{"csr"});
  for (const bool definite : {true, false}) {
    PastSolutions<double, S> past({GuessRule::Kind::project, 3});
    std::vector<std::vector<double>> kept;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      if (seed == 4) past.values_changed();
      kept.push_back(noise(n, seed));
      past.keep(ctx, *A, definite, make_array(ctx, kept.back()).cspan());
    }
    const Dense matrix = dense(laplacian(k, 0, 2.5));
    const Vector b = matrix * (dense(kept[1]) + dense(kept[2]) + 0.01 * dense(noise(n, 20)));
    const auto b_there = make_array(ctx, std::vector<double>(b.data(), b.data() + n));
    Array<double, S> x(ctx, n);
    GuessReport report;
    CHECK(past.prepare(ctx, {*B, definite, b_there.cspan(), x.span(), InitialGuess::zero}, report) ==
          InitialGuess::in_x);
    const Vector expected = best(matrix, b, dense(kept.back()), differences_of(kept, 3), definite);
    CHECK((dense(to_vector(ctx, x.cspan())) - expected).norm() <= 1e-10 * expected.norm());
  }
}

TEST_BOTH("solutions on a parabola are extrapolated to its next point, and on a line likewise", "[solver][guess]") {
  constexpr Index k = 9, n = k * k;
  const Rows a = laplacian(k);
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv<double, S>(ctx, arrays.view(), RowOrder<S>(), SpmvOptions{"csr"});
  for (const double curved : {0.0, 0.25}) {
    const auto at = [&](double t) {
      const Vector point = dense(noise(n, 1)) + t * dense(noise(n, 2)) + curved * t * t * dense(noise(n, 3));
      return std::vector<double>(point.data(), point.data() + n);
    };
    PastSolutions<double, S> past({GuessRule::Kind::extrapolate, 2});
    for (const double t : {1.0, 2.0, 3.0}) past.keep(ctx, *A, true, make_array(ctx, at(t)).cspan());
    const Vector next = dense(at(4));
    const Vector b = dense(a) * next;
    const auto b_there = make_array(ctx, std::vector<double>(b.data(), b.data() + n));
    auto x = make_array(ctx, at(3));
    GuessReport report;
    CHECK(past.prepare(ctx, {*A, true, b_there.cspan(), x.span(), InitialGuess::in_x}, report) == InitialGuess::in_x);
    CHECK(report.from == "extrapolated");
    CHECK((dense(to_vector(ctx, x.cspan())) - next).norm() <= 1e-12 * next.norm());
  }
}

TEST_BOTH("vectors that do not fit leave what the caller gave, or zero if that is better", "[solver][guess]") {
  constexpr Index k = 10, n = k * k;
  const Rows a = laplacian(k);
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv<double, S>(ctx, arrays.view(), RowOrder<S>(), SpmvOptions{"csr"});
  const std::vector<double> solution = noise(n, 1), b = a.rhs_for(solution);
  const auto b_there = make_array(ctx, b);
  const auto guess_from = [&](const std::vector<double>& past_x, const std::vector<double>& given,
                              GuessReport& report) {
    PastSolutions<double, S> past({GuessRule::Kind::project, 2});
    past.keep(ctx, *A, true, make_array(ctx, past_x).cspan());
    auto x = make_array(ctx, given);
    past.prepare(ctx, {*A, true, b_there.cspan(), x.span(), InitialGuess::in_x}, report);
    return to_vector(ctx, x.cspan());
  };
  const std::vector<double> nan(static_cast<std::size_t>(n), std::numeric_limits<double>::quiet_NaN());
  std::vector<double> near = solution;
  near[3] += 1e-6;
  GuessReport report;
  CHECK(guess_from(nan, near, report) == near);
  CHECK(report.from == "given");
  CHECK(report.residual == Approx(true_residual(a, b, near)).epsilon(1e-6));
  CHECK(guess_from(nan, nan, report) == std::vector<double>(static_cast<std::size_t>(n), 0.0));
  CHECK(report.from == "zero");
  const std::vector<double> far = noise(n, 5);
  std::vector<double> huge = far;
  for (double& value : huge) value *= 1e200;
  CHECK(guess_from(huge, near, report) == near);
}
