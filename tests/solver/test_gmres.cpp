// SPDX-License-Identifier: Apache-2.0
// GMRES: minimal residuals, restarts, both sides, happy breakdown, stagnation.
#include "tests/solver/systems.hpp"

#include "solver/krylov/steps/basis.hpp"

namespace {

template <Space S, class B = double>
Solved<double, S> run_gmres(const Rows& a, const std::vector<double>& b, int restart, bool left, bool precondition,
                            StopCriterion stop = {}) {
  const Context<S> ctx;
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
  const auto M =
      precondition ? make_precond(ctx, arrays.view(), RowOrder<S>{}, PrecondOptions{}, SpmvOptions{}) : nullptr;
  Gmres<double, S, B> solver(ctx, a.size(), restart, left);
  return run_solver<double, S>(ctx, solver, *A, M.get(), b, stop);
}

}  // namespace

TEST_BOTH("full GMRES ends within n iterations and its residuals never grow", "[solver][gmres]") {
  const Rows a = laplacian(6, 0.7);
  const auto b = a.rhs_for(noise(36));
  StopCriterion stop = stop_at(1e-12);
  const auto run = run_gmres<S>(a, b, 50, false, false, stop);
  CHECK(run.report.converged());
  CHECK(run.report.iterations <= 36);
  CHECK(run.report.restarts == 0);
  for (std::size_t k = 1; k < run.report.history.size(); ++k) {
    CHECK(run.report.history[k] <= run.report.history[k - 1] * (1 + 1e-12));
  }
}

TEST_BOTH("GMRES needs one iteration for the identity and two for two eigenvalues", "[solver][gmres]") {
  Rows a(40);
  for (Index i = 0; i < 40; ++i) a.at(i, i) = 3;
  CHECK(run_gmres<S>(a, noise(40), 30, false, false).report.iterations == 1);
  for (Index i = 0; i < 20; ++i) a.at(i, i) = 5;
  const auto run = run_gmres<S>(a, noise(40), 30, false, false);
  CHECK(run.report.converged());
  CHECK(run.report.iterations == 2);
}

TEST_BOTH("restarted GMRES from the left and from the right reach the same solution", "[solver][gmres]") {
  Rows a = laplacian(15, 0.5);
  for (Index i = 0; i < a.size(); ++i) {  // badly scaled rows: |M r| and |r| differ by orders of magnitude
    const double scale = std::pow(10.0, i % 5 - 2);
    for (auto& [j, value] : a.row[static_cast<std::size_t>(i)]) value *= scale;
  }
  const auto b = a.rhs_for(noise(a.size()));
  StopCriterion stop = stop_at(1e-10);
  for (const bool left : {false, true}) {
    const auto run = run_gmres<S>(a, b, 12, left, true, stop);
    INFO("left " << left << " " << run.report.reason);
    CHECK(run.report.status == Status::converged);
    CHECK(run.report.restarts > 0);
    CHECK(true_residual<double>(a, b, run.x) <= 1e-10 * norm(b) * (1 + 1e-6));
  }
}

TEST_BOTH("GMRES from the left takes as many iterations whatever the units of the equations", "[solver][gmres]") {
  // M is the inverse of the diagonal: |M r| stays, |r| does not. Powers of two round nothing.
  const Rows a = laplacian(12, 0.4);
  const auto b = a.rhs_for(noise(a.size()));
  const auto plain = run_gmres<S>(a, b, 20, true, true);
  REQUIRE(plain.report.converged());
  for (const double unit : {std::ldexp(1.0, -20), std::ldexp(1.0, 20)}) {
    CAPTURE(unit);
    Rows scaled = a;
    for (auto& row : scaled.row) {
      for (auto& [j, value] : row) value *= unit;
    }
    std::vector<double> scaled_b = b;
    for (double& value : scaled_b) value *= unit;
    const auto run = run_gmres<S>(scaled, scaled_b, 20, true, true);
    CHECK(run.report.iterations == plain.report.iterations);
    CHECK(run.report.restarts == plain.report.restarts);
    CHECK(run.x == plain.x);
  }
}

TEST_BOTH("a basis in single precision reaches what one in double reaches", "[solver][gmres]") {
  Rows a = laplacian(15, 0.5);
  const auto b = a.rhs_for(noise(a.size()));
  StopCriterion stop = stop_at(1e-12);
  for (const bool left : {false, true}) {
    for (const bool precondition : {false, true}) {
      INFO("left " << left << ", preconditioned " << precondition);
      const auto full = run_gmres<S>(a, b, 30, left, precondition, stop);
      const auto single = run_gmres<S, float>(a, b, 30, left, precondition, stop);
      REQUIRE(full.report.converged());
      CHECK(single.report.converged());
      CHECK(true_residual(a, b, single.x) <= 1e-12 * norm(b) * (1 + 1e-6));
      CHECK(single.report.true_residual == Approx(true_residual(a, b, single.x)).epsilon(1e-2));
      CHECK(single.report.iterations <= 1.3 * full.report.iterations + 5);
    }
  }
}

TEST_BOTH("with a basis in single precision a cycle that could gain more ends after five digits", "[solver][gmres]") {
  const Rows a = laplacian(6, 0.7);  // 36 unknowns: one cycle of the full basis ends with them
  const auto b = a.rhs_for(noise(36));
  StopCriterion stop = stop_at(1e-13);
  const auto full = run_gmres<S>(a, b, 36, false, false, stop);
  const auto single = run_gmres<S, float>(a, b, 36, false, false, stop);
  CHECK(full.report.restarts == 0);
  REQUIRE(single.report.converged());
  CHECK(single.report.restarts >= 2);
  CHECK(single.report.residual_replacements <= 1);  // ends of cycles are none
  CHECK(true_residual(a, b, single.x) <= 1e-13 * norm(b) * (1 + 1e-6));
}

TEST_BOTH("GMRES with a basis in single precision ends where the space does, and says so", "[solver][gmres]") {
  Rows a(40);
  for (Index i = 0; i < 40; ++i) a.at(i, i) = i < 20 ? 5 : 3;
  const auto run = run_gmres<S, float>(a, noise(40), 30, false, false);
  CHECK(run.report.converged());
  CHECK(run.report.iterations <= 6);
  a.row[3].clear();
  auto b = std::vector<double>(40, 0.0);
  b[3] = 1;  // outside the range of A
  const auto hopeless = run_gmres<S, float>(a, b, 30, false, false);
  CHECK_FALSE(hopeless.report.converged());
  CHECK((hopeless.report.status == Status::breakdown || hopeless.report.status == Status::stagnation));
}

TEST_BOTH("GMRES says stagnation after two cycles without gain", "[solver][gmres]") {
  // A cyclic shift: the residual does not fall before step n.
  constexpr Index n = 24;
  Rows a(n);
  for (Index i = 0; i < n; ++i) a.at(i, (i + 1) % n) = 1;
  std::vector<double> b(n, 0.0);
  b[0] = 1;
  const auto stuck = run_gmres<S>(a, b, 8, false, false);
  CHECK(stuck.report.status == Status::stagnation);
  CHECK(stuck.report.iterations == 16);
  CHECK(stuck.report.true_residual == Approx(1.0));
  const auto whole = run_gmres<S>(a, b, n, false, false);
  CHECK(whole.report.converged());
  CHECK(whole.report.iterations == n);
}

TEST_BOTH("cycles that gain little go on to the solution, and cycles that gain next to nothing end",
          "[solver][gmres]") {
  // [d 1; -1 d] with cycles of one step: each takes the residual to 1 / sqrt(1 + d^2) of what it was.
  const auto turn = [](double d) {
    Rows a(2);
    a.at(0, 0) = a.at(1, 1) = d;
    a.at(0, 1) = 1;
    a.at(1, 0) = -1;
    return a;
  };
  StopCriterion stop = stop_at(1e-3);
  for (const double d : {2.0, 0.3, 0.05}) {
    INFO("a cycle gains " << 1 - 1 / std::sqrt(1 + d * d));
    const auto slow = run_gmres<S>(turn(d), {1, 2}, 1, false, false, stop);
    CHECK(slow.report.converged());
    const int cycles = static_cast<int>(std::ceil(std::log(1e3) / (0.5 * std::log1p(d * d))));
    CHECK(std::abs(slow.report.iterations - cycles) <= 1);
    CHECK(true_residual<double>(turn(d), {1, 2}, slow.x) <= 1e-3 * norm({1, 2}) * (1 + 1e-9));
  }
  for (const double d : {0.01, 1e-4}) {  // 5e-5 and 5e-9
    const auto stuck = run_gmres<S>(turn(d), {1, 2}, 1, false, false, stop);
    CHECK(stuck.report.status == Status::stagnation);
    CHECK(stuck.report.iterations == 2);
    CHECK(stuck.report.attainable_residual == 0);
    CHECK(contains(stuck.report.reason, "was reached"));
  }
  // A real one: hundreds of restarts.
  const Rows a = laplacian(20);
  const auto b = a.rhs_for(noise(a.size()));
  stop.rel_tol = 1e-8;
  const auto many = run_gmres<S>(a, b, 3, false, false, stop);
  CHECK(many.report.converged());
  CHECK(many.report.restarts > 50);
}

TEST_BOTH("GMRES orthogonalises carefully where a few entries outweigh all others", "[solver][gmres]") {
  // A matrix near the identity with six entries of up to 1e12: every product lies close to a few directions, and the
  // estimate of the basis' orthogonality does not see what is lost. Without the second pass the solve stagnates.
  constexpr Index n = 144;
  const auto draw = noise(20 * n, 2);
  std::size_t next = 0;
  const auto place = [&] { return static_cast<Index>((draw[next++] * 0.5 + 0.5) * n) % n; };
  Rows a(n);
  for (Index i = 0; i < n; ++i) {
    a.at(i, i) = 1 + 0.1 * draw[next++];
    for (int j = 0; j < 3; ++j) {
      const double value = 0.3 * draw[next++];
      a.at(i, place()) += value;
    }
  }
  for (int j = 0; j < 6; ++j) {
    const Index row = place(), column = place();
    a.at(row, column) += std::pow(10.0, 12 * std::fabs(draw[next++]));  // from 1 to 1e12
  }
  const auto b = a.rhs_for(noise(n));
  for (const int cycle : {30, 50, 150}) {
    StopCriterion stop;
    stop.max_iterations = 2000;
    const auto run = run_gmres<S>(a, b, cycle, false, false, stop);
    INFO("cycles of " << cycle << ": " << run.report.reason);
    CHECK(run.report.converged());
    CHECK(true_residual<double>(a, b, run.x) <= 1e-8 * norm(b) * (1 + 1e-6));
  }
}

TEST_BOTH("GMRES solves a consistent singular system and says breakdown of an inconsistent one", "[solver][gmres]") {
  Rows a(6);
  for (Index i = 0; i < 5; ++i) a.at(i, i) = 1 + i;
  a.at(5, 5) = 0;
  const auto consistent = run_gmres<S>(a, {1, 2, 3, 4, 5, 0}, 10, false, false);
  CHECK(consistent.report.converged());
  const auto inconsistent = run_gmres<S>(a, {1, 2, 3, 4, 5, 6}, 10, false, false);
  CHECK_FALSE(inconsistent.report.converged());
  CHECK((inconsistent.report.status == Status::breakdown || inconsistent.report.status == Status::stagnation));
  CHECK(inconsistent.report.true_residual == Approx(6).epsilon(1e-8));
}

TEST_BOTH("Gram-Schmidt runs again where the first pass loses digits, and counts it", "[solver][gmres]") {
  // Nearly parallel Krylov vectors: A = I + small.
  Rows a = laplacian(8, 0.2);
  for (Index i = 0; i < a.size(); ++i) {
    for (auto& [j, value] : a.row[static_cast<std::size_t>(i)]) value = 1e-3 * value + (j == i ? 1 : 0);
  }
  StopCriterion stop = stop_at(1e-14);
  const auto b = a.rhs_for(noise(64));
  const auto run = run_gmres<S>(a, b, 30, false, false, stop);
  CHECK(run.report.converged());
  CHECK(run.report.second_passes > 0);
  CHECK(true_residual<double>(a, b, run.x) <= 2e-14 * norm(b));
}

namespace {

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  long double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<long double>(x[i]) * y[i];
  return static_cast<double>(sum);
}

/// The residuals of one cycle by modified Gram-Schmidt and Givens rotations, in plain loops: rotated entries of the
/// right-hand side, |b| first.
std::vector<double> textbook_residuals(const Rows& a, const std::vector<double>& b, int cycle) {
  std::vector<std::vector<double>> v = {b};
  std::vector<double> g = {norm(b)}, cosine, sine;
  for (double& value : v[0]) value /= g[0];
  std::vector<double> residuals = {g[0]};
  for (int j = 0; j < cycle; ++j) {
    const auto product = a.times(v.back());
    std::vector<double> w(product.begin(), product.end()), h;
    for (const auto& direction : v) {
      h.push_back(dot(direction, w));
      for (std::size_t i = 0; i < w.size(); ++i) w[i] -= h.back() * direction[i];
    }
    const double next = norm(w);
    for (double& value : w) value /= next;
    v.push_back(w);
    for (std::size_t i = 0; i < cosine.size(); ++i) {
      const double upper = h[i];
      h[i] = cosine[i] * upper + sine[i] * h[i + 1];
      h[i + 1] = cosine[i] * h[i + 1] - sine[i] * upper;
    }
    const double length = std::hypot(h.back(), next);
    cosine.push_back(h.back() / length);
    sine.push_back(next / length);
    g.push_back(-sine.back() * g.back());
    residuals.push_back(std::fabs(g.back()));
  }
  return residuals;
}

/// Keeps every vector that it is applied to: without a preconditioner, the basis of a cycle.
template <Space S>
class Recorder final : public LinearOperator<double, S> {
 public:
  Recorder(const LinearOperator<double, S>& inner, std::vector<std::vector<double>>& seen)
      : inner_(inner), seen_(seen) {}
  Index rows() const override { return inner_.rows(); }
  Index cols() const override { return inner_.cols(); }
  void apply(const Context<S>& ctx, double alpha, Span<const double, S> x, double beta,
             Span<double, S> y) const override {
    seen_.push_back(to_vector(ctx, x));
    inner_.apply(ctx, alpha, x, beta, y);
  }

 private:
  const LinearOperator<double, S>& inner_;
  std::vector<std::vector<double>>& seen_;
};

/// The largest |v_i.v_j - (i == j)|.
double worst_product(const std::vector<std::vector<double>>& v) {
  double worst = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double exact = i == j ? 1 : 0;
      worst = std::max(worst, std::fabs(dot(v[i], v[j]) - exact));
    }
  }
  return worst;
}

}  // namespace

TEST_BOTH("residuals of long cycles with few second passes are those of modified Gram-Schmidt", "[solver][gmres]") {
  const Rows a = laplacian(40, 0.3);
  const auto b = noise(a.size());
  StopCriterion stop = stop_at(1e-30);
  for (const int cycle : {20, 90}) {
    stop.max_iterations = cycle;
    const auto run = run_gmres<S>(a, b, cycle, false, false, stop);
    const auto expected = textbook_residuals(a, b, cycle);
    INFO("cycle " << cycle << ", second passes " << run.report.second_passes);
    CHECK(run.report.second_passes * 10 <= cycle * 9);
    CHECK((run.report.second_passes > 0) == (cycle == 90));
    REQUIRE(run.report.history.size() >= expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      INFO("iteration " << k);
      CHECK(run.report.history[k] == Approx(expected[k]).epsilon(1e-5));
    }
  }
}

TEST_BOTH("the basis of a cycle stays orthogonal to within the limit", "[solver][gmres]") {
  // The second matrix makes nearly parallel Krylov vectors, each of which loses three digits.
  Rows close = laplacian(20, 0.2);
  for (Index i = 0; i < close.size(); ++i) {
    for (auto& [j, value] : close.row[static_cast<std::size_t>(i)]) value = 1e-3 * value + (j == i ? 1 : 0);
  }
  for (const Rows& a : {laplacian(20, 0.3), close}) {
    const Context<S> ctx;
    const Arrays<double, S> arrays(ctx, a);
    const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
    std::vector<std::vector<double>> seen;
    const Recorder<S> recorder(*A, seen);
    Gmres<double, S> solver(ctx, a.size(), 60, false);
    StopCriterion stop = stop_at(1e-30);
    stop.max_iterations = 60;
    const auto run = run_solver<double, S>(ctx, solver, recorder, nullptr, noise(a.size()), stop);
    std::vector<std::vector<double>> basis;
    for (const auto& v : seen) {  // x, then the cycle, then x again
      const bool unit = std::fabs(norm(v) - 1) < 1e-9;
      if (!unit && !basis.empty()) break;
      if (unit) basis.push_back(v);
    }
    INFO("second passes " << run.report.second_passes << ", worst product " << worst_product(basis));
    CHECK(basis.size() >= 10);
    CHECK(run.report.second_passes > 0);
    CHECK(worst_product(basis) <= detail::Orthogonality::limit);
  }
}
