// SPDX-License-Identifier: Apache-2.0
// Flexible GMRES: its residuals are the least over the preconditioned vectors, which the test spans itself, and an M
// that changes does not mislead it.
#include "tests/solver/long_vectors.hpp"
#include "tests/solver/ready_systems.hpp"

#include <newel/solver/fgmres.hpp>

namespace {

// Removes the parts along an orthonormal basis, twice, and returns the length that is left.
long double orthogonalise(const std::vector<Vector>& basis, Vector& v) {
  for (int pass = 0; pass < 2; ++pass) {
    for (const Vector& q : basis) {
      const long double share = dot_of(q, v);
      for (std::size_t i = 0; i < v.size(); ++i) v[i] -= share * q[i];
    }
  }
  return std::sqrt(dot_of(v, v));
}

void scale(Vector& v, long double factor) {
  for (long double& value : v) value *= factor;
}

// The diagonal of M in its application `number`: never the same twice.
double changing_entry(int number, Index i) { return 1 + 0.5 * std::sin(0.7 * number + 0.3 * static_cast<double>(i)); }

// |b - A x_k|: the least over x of the space of z_j = M_j v_j, j < k, with v_j the next direction that A z_{j-1}
// adds.
std::vector<double> least_residuals(const Rows& a, const std::vector<double>& b, int steps) {
  std::vector<Vector> V, images;  // orthonormal: of v_0, A z_0, ...; of A z_0, A z_1, ...
  Vector rest(b.begin(), b.end()), v = rest;
  std::vector<double> found = {norm(b)};
  for (int k = 0; k < steps; ++k) {
    scale(v, 1 / orthogonalise(V, v));
    V.push_back(v);
    Vector z = v;
    for (std::size_t i = 0; i < z.size(); ++i) z[i] *= changing_entry(k, static_cast<Index>(i));
    v = times(a, z);
    Vector image = v;
    scale(image, 1 / orthogonalise(images, image));
    const long double share = dot_of(image, rest);
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= share * image[i];
    images.push_back(image);
    found.push_back(static_cast<double>(std::sqrt(dot_of(rest, rest))));
  }
  return found;
}

// A diagonal matrix, another one in every application.
template <Space S>
class Changing final : public LinearOperator<double, S> {
 public:
  explicit Changing(Index n) : n_(n) {}
  Index rows() const override { return n_; }
  Index cols() const override { return n_; }
  void apply(const Context<S>& ctx, double, Span<const double, S> x, double, Span<double, S> y) const override {
    std::vector<double> values = to_vector(ctx, x);
    for (Index i = 0; i < n_; ++i) values[static_cast<std::size_t>(i)] *= changing_entry(number_, i);
    ++number_;
    const auto there = make_array(ctx, values);
    copy<double>(ctx, there.cspan(), y);
  }

 private:
  Index n_;
  mutable int number_ = 0;
};

// A few iterations of CG, whose result is no linear function of what they are given: y = beta y + alpha M x.
template <Space S>
class InnerCg final : public LinearOperator<double, S> {
 public:
  InnerCg(const Context<S>& ctx, const LinearOperator<double, S>& a, int iterations)
      : a_(a), cg_(ctx, a.rows()), z_(ctx, a.rows()) {
    stop_.max_iterations = iterations;
    stop_.rel_tol = 1e-2;
  }
  Index rows() const override { return a_.rows(); }
  Index cols() const override { return a_.rows(); }
  void apply(const Context<S>& ctx, double alpha, Span<const double, S> x, double beta,
             Span<double, S> y) const override {
    fill<double, S>(ctx, 0.0, z_);
    static_cast<void>(cg_.solve(ctx, a_, nullptr, x, z_, stop_));
    scale_by(ctx, beta, y);
    axpy<double, S>(ctx, alpha, z_.cspan(), y);
  }

 private:
  static void scale_by(const Context<S>& ctx, double beta, Span<double, S> y) {
    if (beta == 0) return fill<double, S>(ctx, 0.0, y);
    REQUIRE(beta == 1);
  }
  const LinearOperator<double, S>& a_;
  mutable Cg<double, S> cg_;
  mutable Array<double, S> z_;
  StopCriterion stop_;
};

}  // namespace

TEST_BOTH("Flexible GMRES has the least residuals over what a changing M has made", "[solver][fgmres]") {
  const Rows a = laplacian(9, 0.5);
  const auto b = noise(a.size());
  const Ready<double, S> system(ctx, a);
  const int steps = 25;
  Fgmres<double, S> fgmres(ctx, a.size(), 40);
  const Changing<S> M(a.size());
  const auto run = run_solver<double, S>(ctx, fgmres, *system.A, &M, b, stop_after(steps));
  const auto expected = least_residuals(a, b, steps);
  REQUIRE(run.report.history.size() == expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) CHECK(run.report.history[k] == Approx(expected[k]).epsilon(1e-9));
  CHECK(true_residual(a, b, run.x) == Approx(expected.back()).epsilon(1e-9));
  CHECK(run.report.true_residual == Approx(expected.back()).epsilon(1e-9));
}

TEST_BOTH("Flexible GMRES is GMRES where M does not change", "[solver][fgmres]") {
  const Rows a = laplacian(13, 0.4);
  const auto b = a.rhs_for(noise(a.size()));
  const Ready<double, S> system(ctx, a);
  const auto jacobi = system.precond(ctx, "jacobi");
  for (const LinearOperator<double, S>* M : {static_cast<const LinearOperator<double, S>*>(nullptr),
                                             static_cast<const LinearOperator<double, S>*>(jacobi.get())}) {
    Fgmres<double, S> fgmres(ctx, a.size(), 12);
    Gmres<double, S> gmres(ctx, a.size(), 12, false);
    const auto flexible = run_solver<double, S>(ctx, fgmres, *system.A, M, b, stop_at(1e-10));
    const auto plain = run_solver<double, S>(ctx, gmres, *system.A, M, b, stop_at(1e-10));
    CHECK(flexible.report.converged());
    CHECK(flexible.report.solver == "fgmres");
    CHECK(flexible.report.restarts > 0);
    CHECK(flexible.report.iterations == plain.report.iterations);
    for (std::size_t k = 0; k < plain.report.history.size(); ++k) {
      CHECK(flexible.report.history[k] == Approx(plain.report.history[k]).epsilon(1e-6));
    }
    CHECK(true_residual(a, b, flexible.x) <= 1.001e-10 * norm(b));
  }
}

TEST_BOTH("Flexible GMRES solves with an inner CG as M, by which GMRES is misled", "[solver][fgmres]") {
  const Rows a = laplacian(24);
  const auto b = a.rhs_for(noise(a.size()));
  const Ready<double, S> system(ctx, a);
  const auto M = std::make_shared<InnerCg<S>>(ctx, *system.A, 8);
  Fgmres<double, S> fgmres(ctx, a.size(), 30);
  const auto flexible = run_solver<double, S>(ctx, fgmres, *system.A, M.get(), b, stop_after(200, 1e-10));
  CHECK(flexible.report.converged());
  CHECK(flexible.report.iterations < 30);
  CHECK(flexible.report.restarts == 0);
  CHECK(true_residual(a, b, flexible.x) <= 1.001e-10 * norm(b));
  Gmres<double, S> gmres(ctx, a.size(), 30, false);
  const auto plain = run_solver<double, S>(ctx, gmres, *system.A, M.get(), b, stop_after(200, 1e-10));
  INFO(plain.report.iterations << " of GMRES, " << flexible.report.iterations << " of flexible GMRES");
  CHECK(plain.report.restarts > 0);  // what it takes for |r| is not |b - A x|
  CHECK(plain.report.true_residual == Approx(true_residual(a, b, plain.x)).epsilon(1e-5));

  SystemOptions options = system_options("fgmres");
  options.stop.rel_tol = 1e-10;
  SystemParts<double, S> parts;
  parts.preconditioner = M;
  const Arrays<double, S> arrays(ctx, a);
  LinearSystem<double, S> with_inner(ctx, arrays.view(), options, parts);
  const auto run = run_system<double, S>(ctx, with_inner, b);
  CHECK(run.report.solver == "fgmres");
  CHECK(run.report.converged());
  CHECK(true_residual(a, b, run.x) <= 1.001e-10 * norm(b));
}

TEST_BOTH("Flexible GMRES iterates in single precision within double", "[solver][fgmres]") {
  const Rows a = laplacian(14, 0.5);
  const auto b = a.rhs_for(noise(a.size()));
  SystemOptions options = system_options("fgmres", "jacobi");
  options.mixed = true;
  options.stop.rel_tol = 1e-11;
  SystemOf<double, S> system(ctx, a, options);
  const auto run = run_system<double, S>(ctx, system, b);
  CHECK(run.report.solver == "mixed fgmres");
  CHECK(run.report.refinements > 0);
  CHECK(true_residual(a, b, run.x) <= 1.001e-11 * norm(b));
}

TEST_CASE("Flexible GMRES takes the length of its cycles from GMRES's option", "[solver][fgmres]") {
  const Context<Space::host> ctx;
  CHECK_THROWS_AS((Fgmres<double, Space::host>(ctx, 20, 0)), InputError);
  const SolverMethod fgmres = fgmres_method();
  CHECK(fgmres.bytes_per_unknown(solver_options("fgmres", 7), 1000, 8) == (2 * 7 + 5) * 8);
  const Rows a = laplacian(12, 0.3);
  const Ready<double, Space::host> system(ctx, a);
  const auto b = noise(a.size());
  const auto solver = make_solver<double, Space::host>(ctx, a.size(), solver_options("fgmres", 7));
  const auto run = run_solver<double, Space::host>(ctx, *solver, *system.A, nullptr, b, stop_at(1e-8));
  CHECK(run.report.cycle_length == 7);
  CHECK(run.report.converged());
}
