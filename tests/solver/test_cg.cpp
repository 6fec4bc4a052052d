// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients: the textbook's iterates, and what it says of matrices that are not positive definite.
#include "tests/solver/column_support.hpp"
#include "tests/solver/systems.hpp"

namespace {

// The book's algorithm with Jacobi in plain loops: the residual norms of each iteration.
std::vector<double> textbook_cg(const Rows& a, const std::vector<double>& b, int iterations) {
  const std::size_t n = b.size();
  std::vector<double> r = b, z(n), p(n, 0.0), history = {norm(b)};
  double rho_old = 1;
  for (int k = 0; k < iterations; ++k) {
    double rho = 0;
    for (std::size_t i = 0; i < n; ++i) z[i] = r[i] / a.row[i].at(static_cast<Index>(i)), rho += r[i] * z[i];
    const double beta = k == 0 ? 0 : rho / rho_old;
    for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
    const auto q = a.times(p);
    double pq = 0;
    for (std::size_t i = 0; i < n; ++i) pq += p[i] * static_cast<double>(q[i]);
    for (std::size_t i = 0; i < n; ++i) r[i] -= rho / pq * static_cast<double>(q[i]);
    rho_old = rho;
    history.push_back(norm(r));
  }
  return history;
}

}  // namespace

TEST_BOTH("CG follows the textbook's residuals", "[solver][cg]") {
  const Rows a = laplacian(12, 0, 0.5);
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
  const auto M = make_precond(ctx, arrays.view(), RowOrder<S>{}, PrecondOptions{}, SpmvOptions{});
  const auto b = a.rhs_for(noise(a.size()));
  Cg<double, S> cg(ctx, a.size());
  const auto run = run_solver<double, S>(ctx, cg, *A, M.get(), b, {});
  const auto expected = textbook_cg(a, b, run.report.iterations);
  REQUIRE(run.report.history.size() == expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    CHECK(run.report.history[k] == Approx(expected[k]).epsilon(1e-6));
  }
}

TEST_BOTH("CG folds a diagonal preconditioner in and applies any other, and x is complete wherever it ends",
          "[solver][cg]") {
  const Rows a = laplacian(12, 0, 0.5);
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
  const auto b = a.rhs_for(noise(a.size()));
  Cg<double, S> cg(ctx, a.size());
  for (const char* name : {"jacobi", "spai0"}) {
    PrecondOptions options;
    options.name = name;
    const auto M = make_precond(ctx, arrays.view(), RowOrder<S>{}, options, SpmvOptions{});
    const FunctionOperator<double, S> applied(
        M->rows(), M->cols(),
        [&](const auto& c, double alpha, auto x, double beta, auto y) { M->apply(c, alpha, x, beta, y); });
    REQUIRE(M->traits().diagonal.size == a.size());
    REQUIRE(applied.traits().diagonal.size == 0);
    for (const int iterations : {1, 2, 9, 1000}) {
      CAPTURE(name, iterations);
      StopCriterion stop;
      stop.max_iterations = iterations;
      const auto folded = run_solver<double, S>(ctx, cg, *A, M.get(), b, stop);
      const auto plain = run_solver<double, S>(ctx, cg, *A, &applied, b, stop);
      CHECK(folded.report.iterations == plain.report.iterations);
      // The residual that the recurrence holds is that of this x, and not of the one before.
      CHECK(true_residual<double>(a, b, folded.x) == Approx(folded.report.history.back()).epsilon(1e-6));
      CHECK(true_residual<double>(a, b, plain.x) == Approx(plain.report.history.back()).epsilon(1e-6));
      for (std::size_t i = 0; i < b.size(); ++i) REQUIRE(folded.x[i] == Approx(plain.x[i]).epsilon(1e-7));
    }
  }
}

TEST_BOTH("CG iterates as often as it is told, as a solve of as many iterations does", "[solver][cg]") {
  const Rows a = laplacian(12, 0, 0.5);
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, same_bits());
  const auto b = a.rhs_for(noise(a.size())), guess = noise(a.size(), 3);
  const auto b_there = make_array(ctx, b);
  constexpr bool resident = false;  // whose recurrence rounds in another way
  Cg<double, S> cg(ctx, a.size(), resident);
  for (const char* name : {"none", "jacobi", "fsai"}) {
    const auto M = make_precond(ctx, arrays.view(), RowOrder<S>{}, PrecondOptions{name}, SpmvOptions{"ell-warp"});
    for (const int iterations : {0, 1, 2, 9, 35}) {
      CAPTURE(name, iterations);
      StopCriterion stop = stop_at(0);
      stop.max_iterations = iterations;
      const auto solved = run_solver<double, S>(ctx, cg, *A, M.get(), b, stop, guess);
      auto x = make_array(ctx, guess);
      cg.iterate(ctx, *A, M.get(), b_there.cspan(), x.span(), iterations);
      CHECK(solved.report.iterations == iterations);
      CHECK(to_vector(ctx, x.cspan()) == solved.x);
    }
  }
  // Where the guess is the solution there is nothing to do, and nothing to divide by.
  auto x = make_array(ctx, std::vector<double>(b.size(), 0.0));
  const auto zero = make_array(ctx, std::vector<double>(b.size(), 0.0));
  cg.iterate(ctx, *A, nullptr, zero.cspan(), x.span(), 5);
  CHECK(to_vector(ctx, x.cspan()) == std::vector<double>(b.size(), 0.0));
  CHECK_THROWS_AS(cg.iterate(ctx, *A, nullptr, zero.cspan(), x.span(), -1), InputError);
  CHECK_THROWS_AS(cg.iterate(ctx, *A, nullptr, x.cspan(), x.span(), 1), InputError);
}

TEST_BOTH("a recurrence that has fallen below rounding is no proof against the matrix", "[solver][cg]") {
  const Rows a = laplacian(12, 0);
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
  const auto M = make_precond(ctx, arrays.view(), RowOrder<S>{}, PrecondOptions{}, SpmvOptions{});
  Cg<double, S> cg(ctx, a.size());
  StopCriterion stop = stop_at(0);
  stop.max_iterations = 100000;
  for (const LinearOperator<double, S>* precond : {static_cast<const LinearOperator<double, S>*>(nullptr),
                                                   static_cast<const LinearOperator<double, S>*>(M.get())}) {
    const SolveReport report = run_solver<double, S>(ctx, cg, *A, precond, noise(a.size()), stop).report;
    INFO(report.reason);
    CHECK(report.status == Status::stagnation);
    CHECK(report.iterations < stop.max_iterations);
    CHECK(report.relative(report.true_residual) < 1e-13);
    CHECK(report.attainable_residual > 0);
  }
}

TEST_BOTH("CG tells an indefinite matrix from an indefinite preconditioner", "[solver][cg]") {
  Rows a = laplacian(8);
  a.at(20, 20) = -30;
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
  Cg<double, S> cg(ctx, a.size());
  const std::vector<double> b(64, 1.0);
  const auto indefinite = run_solver<double, S>(ctx, cg, *A, nullptr, b, {});
  CHECK(indefinite.report.status == Status::not_positive_definite);
  CHECK(contains(indefinite.report.reason, "p.Ap"));
  // x is the last sound iterate, and its residual is the one that is reported.
  CHECK(indefinite.report.true_residual == Approx(true_residual<double>(a, b, indefinite.x)).epsilon(1e-9));

  const Rows good = laplacian(8);
  const Arrays<double, S> good_arrays(ctx, good);
  const auto G = make_spmv(ctx, good_arrays.view(), RowOrder<S>{}, SpmvOptions{});
  const FunctionOperator<double, S> negative(
      64, 64, [](const Context<S>& c, double alpha, Span<const double, S> x, double beta, Span<double, S> y) {
        axpby<double, S>(c, -alpha, x, beta, y);
      });
  const auto misled = run_solver<double, S>(ctx, cg, *G, &negative, b, {});
  CHECK(misled.report.status == Status::not_positive_definite);
  CHECK(contains(misled.report.reason, "r.Mr"));
  CHECK(misled.report.iterations == 0);
}

TEST_BOTH("a diagonal entry a little below zero is found, and the next solver follows", "[solver][cg]") {
  Rows a(30);
  for (Index i = 0; i < 30; ++i) a.at(i, i) = 1 + i % 3;
  a.at(17, 17) = -1e-6;
  const Arrays<double, S> arrays(ctx, a);
  const std::vector<double> b(30, 1.0);
  for (const std::string precond : {"none", "jacobi"}) {
    for (const int columns : {1, 3}) {
      CAPTURE(precond, columns);
      SystemOptions options = system_options("cg", precond, "csr");
      LinearSystem<double, S> system(ctx, arrays.view(), options);
      const Columns bs(static_cast<std::size_t>(columns), b);
      for (const SolveReport& report : solve_together(ctx, system, bs, zeros_like(bs)).report) {
        INFO(report.reason);
        CHECK(report.status == Status::not_positive_definite);
        CHECK(report.iterations <= 5);  // four eigenvalues
      }
    }
  }
  // Chosen automatically, for these values and for ones that were positive before a refresh.
  for (const bool later : {false, true}) {
    Rows positive = a;
    positive.at(17, 17) = 1;
    const Arrays<double, S> first(ctx, later ? positive : a);
    SystemOptions options = system_options("auto", "none");
    LinearSystem<double, S> system(ctx, first.view(), options);
    system.refresh(arrays.val.cspan());
    const auto bs = make_array(ctx, b);
    auto xs = make_array(ctx, std::vector<double>(30, 0.0));
    const SolveReport report = system.solve(bs.cspan(), xs.span());
    INFO(report.reason);
    CHECK(report.converged());
    CHECK(true_residual<double>(a, b, to_vector(ctx, xs.cspan())) <= 1e-8 * norm(b) * (1 + 1e-6));
    CHECK(report.attempts.front().solver == (later ? "cg" : "minres"));
    if (later) CHECK(report.attempts.front().status == Status::not_positive_definite);
  }
}
