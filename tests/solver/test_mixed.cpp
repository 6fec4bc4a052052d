// SPDX-License-Identifier: Apache-2.0
// Mixed precision: as exact as double, in about as many iterations; and honest where single precision fails.
#include "tests/solver/systems.hpp"

#include <newel/io/matrix_market.hpp>
#include <newel/spmv/registry.hpp>
#include "solver/krylov/mixed/mixed_stagnation.hpp"

namespace {

SystemOptions options_for(const std::string& solver, const std::string& precond = "jacobi",
                          const std::string& format = "csr") {
  SystemOptions options = system_options(solver, precond, format, 1e-11);
  options.mixed = true;
  options.solver.of<GmresOptions>().restart = 30;
  return options;
}

// Converged by the test's own residual, in single precision, with a history of every iteration.
template <Space S>
void check_mixed(const Solved<double, S>& s, const std::string& solver, const Rows& a, const std::vector<double>& b,
                 double rtol) {
  INFO(s.report.reason);
  CHECK(s.report.converged());
  CHECK(s.report.solver == "mixed " + solver);
  CHECK(s.report.refinements >= 1);
  CHECK(s.report.attempts.size() == 1);
  CHECK(true_residual<double>(a, b, s.x) <= rtol * norm(b) * (1 + 1e-6));
  CHECK(s.report.true_residual == Approx(true_residual<double>(a, b, s.x)).epsilon(1e-3));
  CHECK(s.report.history.size() == static_cast<std::size_t>(s.report.iterations) + 1);
}

// Scaled by its diagonal it has the eigenvalues 1, 2 and 1e-9, of which single precision does not see the last: few
// iterations whatever the rounding, for solvers that can.
Rows nearly_singular(Index n) {
  Rows a(n);
  for (Index i = 0; i < n; ++i) a.at(i, i) = 1 + i % 3;
  a.at(0, 1) = a.at(1, 0) = std::sqrt(2.0) * (1 - 1e-9);
  return a;
}

}  // namespace

TEST_BOTH("Mixed precision reaches residuals of double with every solver and preconditioner", "[mixed]") {
  const Rows a = laplacian(24);
  const Arrays<double, S> arrays(ctx, a);
  const auto b = a.rhs_for(noise(a.size()));
  for (const std::string solver : {"cg", "bicgstab", "gmres"}) {
    for (const std::string precond : {"none", "jacobi", "fsai", "spai"}) {
      INFO(solver << " with " << precond);
      SystemOptions options = options_for(solver, precond);
      LinearSystem<double, S> mixed(ctx, arrays.view(), options);
      CHECK(mixed.info().mixed);
      CHECK(mixed.info().solver == "mixed " + solver);
      const auto s = run_system(ctx, mixed, b);
      check_mixed(s, solver, a, b, 1e-11);

      options.mixed = false;
      LinearSystem<double, S> plain(ctx, arrays.view(), options);
      const auto of_double = run_system(ctx, plain, b);
      // Only BiCGStab begins anew.
      const double most = solver == "bicgstab" ? 2.5 : 1.3;
      CHECK(s.report.iterations <= most * of_double.report.iterations + 2);
    }
  }
}

TEST_BOTH("Mixed precision works in every format", "[mixed]") {
  for (const Rows& a : {laplacian(17), laplacian(15, 0.3)}) {
    const bool symmetric = a.row[1].at(0) == a.row[0].at(1);
    const auto b = a.rhs_for(noise(a.size()));
    for (const SpmvFormat& format : spmv_formats()) {
      INFO(format.name);
      SystemOf<double, S> system(ctx, a, options_for(symmetric ? "cg" : "gmres", "jacobi", format.name));
      check_mixed(run_system(ctx, system, b), symmetric ? "cg" : "gmres", a, b, 1e-11);
    }
  }
}

TEST_BOTH("Mixed precision sees refreshed values", "[mixed]") {
  for (const std::string solver : {"cg", "gmres"}) {
    Rows a = laplacian(20);
    SystemOptions options = options_for(solver, "fsai", "ehyb");
    SystemOf<double, S> system(ctx, a, options);
    const auto b = a.rhs_for(noise(a.size()));
    check_mixed(run_system(ctx, system, b), solver, a, b, 1e-11);
    for (const RefreshScope scope : {RefreshScope::everything, RefreshScope::operator_only}) {
      for (Index i = 0; i < a.size(); ++i) a.at(i, i) += 0.5 + 0.1 * (i % 7);
      const Arrays<double, S> renewed(ctx, a);
      system.refresh(renewed.val.cspan(), scope);
      check_mixed(run_system(ctx, system, b), solver, a, b, 1e-11);
    }
  }
}

TEST_BOTH("A second mixed solve and a refresh allocate nothing", "[mixed]") {
  const Rows a = laplacian(20);
  const Arrays<double, S> arrays(ctx, a);
  const auto b = make_array(ctx, a.rhs_for(noise(a.size())));
  for (const std::string solver : {"cg", "bicgstab", "gmres"}) {
    LinearSystem<double, S> system(ctx, arrays.view(), options_for(solver, "jacobi", "ehyb"));
    auto x = make_array(ctx, std::vector<double>(static_cast<std::size_t>(a.size()), 0.0));
    CHECK(system.solve(b.cspan(), x.span()).converged());
    const auto before = ctx.memory()->use();
    system.refresh(arrays.val.cspan());
    fill<double, S>(ctx, 0.0, x.span());
    CHECK(system.solve(b.cspan(), x.span()).converged());
    CHECK(ctx.memory()->use().allocations == before.allocations);
  }
}

TEST_BOTH("Mixed precision works far from one", "[mixed]") {
  for (const double of_matrix : {1e-60, 1e-3, 1e70}) {
    for (const double of_rhs : {1e-80, 1.0, 1e60}) {
      INFO(of_matrix << ' ' << of_rhs);
      Rows a = laplacian(12);
      for (auto& row : a.row) {
        for (auto& entry : row) entry.second *= of_matrix;
      }
      auto b = laplacian(12).rhs_for(noise(a.size()));
      for (double& value : b) value *= of_rhs;
      for (const std::string solver : {"cg", "bicgstab", "gmres"}) {
        SystemOf<double, S> system(ctx, a, options_for(solver));
        check_mixed(run_system(ctx, system, b), solver, a, b, 1e-11);
      }
    }
  }
}

TEST_BOTH("Where single precision does not suffice the solver goes on in double, and says so", "[mixed]") {
  const Rows a = nearly_singular(40);
  const auto b = a.rhs_for(noise(a.size()));
  for (const double unit : {1.0, 1e-60}) {
    auto scaled = b;
    for (double& value : scaled) value *= unit;
    for (const std::string solver : {"cg", "bicgstab", "gmres"}) {
      SystemOf<double, S> system(ctx, a, options_for(solver));
      const auto s = run_system(ctx, system, scaled);
      INFO(solver << ", " << unit << ": " << s.report.attempts[0].reason << "; " << s.report.reason);
      // BiCGStab may fail in double too, and says so then.
      if (solver != "bicgstab") CHECK(s.report.converged());
      const double residual = true_residual<double>(a, scaled, s.x);
      CHECK(s.report.converged() == (residual <= 1e-11 * norm(scaled) * (1 + 1e-6)));
      REQUIRE(s.report.attempts.size() == 2);
      CHECK(s.report.attempts[0].solver == "mixed " + solver);
      CHECK(s.report.attempts[0].status != Status::converged);
      CHECK(!s.report.attempts[0].reason.empty());
      CHECK(s.report.attempts[1].solver == solver);
      CHECK(s.report.history.size() >= static_cast<std::size_t>(s.report.iterations) + 1);
    }
  }
}

namespace {

// [a c; c a] has the eigenvalue a - c for (1, -1). In single precision both entries are rounded, and a - c with them.
Rows pair_with(double a, double c, Index n) {
  Rows rows(n);
  rows.at(0, 0) = rows.at(1, 1) = a;
  rows.at(0, 1) = rows.at(1, 0) = c;
  for (Index i = 2; i < n; ++i) rows.at(i, i) = 1 + 0.1 * i;
  return rows;
}

std::vector<double> along_pair(Index n, double others) {
  std::vector<double> b(static_cast<std::size_t>(n), others);
  b[0] = 1;
  b[1] = -1;
  return b;
}

}  // namespace

TEST_BOTH("A correction in single precision that makes the residual larger is taken back", "[mixed]") {
  // 1.48e-7 becomes 5.96e-8: the correction is 2.49 times what it should be, and the residual 1.49 times what it was.
  const Context<S> ctx;
  const Rows a = pair_with(1 + 5.9e-8, 1 - 8.93e-8, 2);
  const auto b = along_pair(2, 0);
  for (const std::string precond : {"none", "jacobi"}) {
    SystemOptions options = options_for("cg", precond);
    options.stop.rel_tol = 1e-8;
    SystemOf<double, S> system(ctx, a, options);
    const auto s = run_system(ctx, system, b);
    REQUIRE(s.report.attempts.size() == 2);
    CHECK(s.report.attempts[0].solver == "mixed cg");
    CHECK_FALSE(s.report.attempts[0].status == Status::converged);
    CHECK(s.report.attempts[0].true_residual <= norm(b) * (1 + 1e-12));
    CHECK(s.report.converged());
  }
}

TEST_BOTH("Where a correction in single precision left another residual than it knew, CG begins anew", "[mixed]") {
  // 8.5e-8 becomes 5.96e-8: a correction leaves 0.43 of what it had to correct, along the pair, and the directions
  // before it have nothing to say of that. Between corrections there are as many iterations as eigenvalues, and a few
  // where rounding in single precision tells two of them apart late.
  const Context<S> ctx;
  constexpr Index n = 12;
  const Rows a = pair_with(1, 1 - 0.85e-7, n);
  const auto b = along_pair(n, 1);
  for (const std::string precond : {"none", "jacobi"}) {
    SystemOptions options = options_for("cg", precond);
    options.stop.rel_tol = 1e-8;
    SystemOf<double, S> system(ctx, a, options);
    const auto s = run_system(ctx, system, b);
    INFO(s.report.attempts[0].reason);
    CHECK(s.report.attempts[0].solver == "mixed cg");
    CHECK(s.report.attempts[0].true_residual <= 1e-3 * norm(b));
    CHECK(s.report.attempts[0].iterations <= (n + 2) * (s.report.refinements + 1));
    CHECK(s.report.converged());
  }
}

TEST_BOTH("An indefinite matrix is found out in double", "[mixed]") {
  const Rows a = laplacian(9, 0, -3.0);
  SystemOf<double, S> system(ctx, a, options_for("cg", "none"));
  const auto s = run_system(ctx, system, a.rhs_for(noise(a.size())));
  CHECK(s.report.status == Status::not_positive_definite);
  CHECK(s.report.attempts.back().solver == "cg");
}

TEST_BOTH("A mixed solve ends where it is asked to", "[mixed]") {
  const Rows a = laplacian(30);
  const auto b = a.rhs_for(noise(a.size()));
  for (const std::string solver : {"cg", "bicgstab", "gmres"}) {
    INFO(solver);
    SystemOptions options = options_for(solver);
    SystemOf<double, S> system(ctx, a, options);
    StopCriterion stop = options.stop;
    stop.max_iterations = 7;
    system.set_stop_criterion(stop);
    const auto few = run_system(ctx, system, b);
    CHECK(few.report.status == Status::max_iterations);
    CHECK(few.report.iterations == 7);
    CHECK(few.report.history.size() == 8);
    CHECK(few.report.true_residual == Approx(true_residual<double>(a, b, few.x)).epsilon(1e-3));

    stop.max_iterations = 10000;
    stop.check_every = 1;
    system.set_stop_criterion(stop);
    int last = 0;
    const auto stopped = run_system(ctx, system, b, {}, [&](const Progress& now) {
      CHECK(now.solver == "mixed " + solver);
      CHECK(now.iteration >= last);
      last = now.iteration;
      return now.iteration < 9;
    });
    CHECK(stopped.report.status == Status::stopped_by_caller);
    CHECK(stopped.report.iterations == 9);

    // From a guess, from the solution itself, to a right-hand side of zeros, and with NaN.
    stop.check_every = 0;
    system.set_stop_criterion(stop);
    const auto whole = run_system(ctx, system, b, noise(a.size(), 5));
    check_mixed(whole, solver, a, b, 1e-11);
    const auto again = run_system(ctx, system, b, whole.x);
    CHECK(again.report.converged());
    CHECK(again.report.iterations == 0);
    const auto zero = run_system(ctx, system, std::vector<double>(b.size(), 0.0), whole.x);
    CHECK(zero.report.converged());
    CHECK(norm(zero.x) == 0);
    auto bad = b;
    bad[3] = std::numeric_limits<double>::quiet_NaN();
    CHECK(run_system(ctx, system, bad).report.status == Status::not_finite);
    check_mixed(run_system(ctx, system, b), solver, a, b, 1e-11);
  }
}

TEST_BOTH("Mixed precision with the constant null space gives mean zero", "[mixed]") {
  const Rows a = neumann(16);
  const auto b = a.rhs_for(noise(a.size()));
  SystemOptions options = options_for("cg");
  options.null_space = NullSpace::constant;
  options.stop.rel_tol = 1e-9;
  SystemOf<double, S> system(ctx, a, options);
  const auto s = run_system(ctx, system, b);
  check_mixed(s, "cg", a, b, 1e-9);
  double mean = 0;
  for (const double value : s.x) mean += value / static_cast<double>(s.x.size());
  CHECK(std::abs(mean) <= 1e-13 * norm(s.x));
}

TEST_BOTH("Mixed precision takes rows that are not canonical", "[mixed]") {
  // 4 on the diagonal, once as 1 + 3 and behind the others.
  const auto row_ptr = make_array(ctx, std::vector<Offset>{0, 3, 5});
  const auto col = make_array(ctx, std::vector<Index>{1, 0, 0, 1, 0});
  const auto val = make_array(ctx, std::vector<double>{1, 1, 3, 4, 1});
  SystemOptions options = options_for("cg");
  options.canonicalise = true;
  LinearSystem<double, S> system(ctx, CsrView<double, S>(2, 2, row_ptr.span(), col.span(), val.span()), options);
  CHECK(run_system(ctx, system, {5, 6}).report.converged());
  system.refresh(make_array(ctx, std::vector<double>{2, 5, 3, 7, 2}).cspan());
  const auto s = run_system(ctx, system, {12, 11});
  CHECK(s.x[0] == Approx((12 * 7 - 2 * 11) / 52.0));
  CHECK(s.x[1] == Approx((8 * 11 - 2 * 12) / 52.0));
}

TEST_BOTH("Mixed precision refuses what it has not", "[mixed]") {
  const Rows a = laplacian(5);
  const Arrays<float, S> in_single(ctx, a);
  CHECK_THROWS_AS((LinearSystem<float, S>(ctx, in_single.view(), options_for("cg"))), InputError);
  SystemOf<double, S> system(ctx, a, options_for("cg"));
  CHECK_THROWS_AS(system.in_place().matrix(), InputError);
  CHECK_THROWS_AS(system.in_place().preconditioner(), InputError);
  CHECK_THROWS_AS(system.in_place().written(), InputError);
}

namespace {

// I - 2 v v^T times a diagonal times the same: full, symmetric, with these eigenvalues.
Rows with_eigenvalues(const std::vector<double>& eigenvalues) {
  const auto n = static_cast<Index>(eigenvalues.size());
  std::vector<double> v = noise(n, 3);
  const double length = norm(v);
  for (double& x : v) x /= length;
  const auto q = [&](Index i, Index k) { return (i == k ? 1.0 : 0.0) - 2 * v[i] * v[k]; };
  Rows a(n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) {
      double sum = 0;
      for (Index k = 0; k < n; ++k) sum += q(i, k) * eigenvalues[k] * q(j, k);
      a.at(i, j) = sum;
      a.at(j, i) = sum;
    }
  }
  return a;
}

// Most between 0.1 and 1, a quarter between 1e-8 and 1e-4: the first digits are soon there, and the last ones need
// eigenvalues that single precision tells apart late.
Rows with_a_tail() {
  constexpr int n = 250, tail = 64;
  std::vector<double> eigenvalues;
  for (int k = 0; k < n - tail; ++k) eigenvalues.push_back(0.1 + 0.9 * k / (n - tail - 1));
  for (int k = 0; k < tail; ++k) eigenvalues.push_back(std::pow(10.0, -8 + 4.0 * k / (tail - 1)));
  return with_eigenvalues(eigenvalues);
}

}  // namespace

TEST_BOTH("A correction that drifts from the true residual is given up for double, whose x it hands on", "[mixed]") {
  const Rows a = with_a_tail();
  const Arrays<double, S> arrays(ctx, a);
  const auto b = a.rhs_for(noise(a.size()));
  SystemOptions options = options_for("cg", "none");
  options.stop.rel_tol = 1e-8;
  LinearSystem<double, S> mixed(ctx, arrays.view(), options);
  options.mixed = false;
  LinearSystem<double, S> plain(ctx, arrays.view(), options);
  const auto s = run_system(ctx, mixed, b), of_double = run_system(ctx, plain, b);
  REQUIRE(s.report.converged());
  REQUIRE(of_double.report.converged());
  CHECK(true_residual<double>(a, b, s.x) <= 1e-8 * norm(b) * (1 + 1e-6));
  REQUIRE(s.report.attempts.size() == 2);
  INFO(s.report.attempts[0].iterations << " and " << s.report.attempts[1].iterations << " iterations, in double "
                                       << of_double.report.iterations);
  CHECK(s.report.attempts[0].solver == "mixed cg");
  CHECK(s.report.attempts[0].status == Status::stagnation);
  CHECK(s.report.attempts[0].true_residual < 1e-3 * norm(b));
  // Half the bytes each, and what is left is less than all. A drift is looked for where a correction has become twice
  // as long, and so may be seen twice as late as it was there.
  CHECK(s.report.attempts[0].iterations <= 2 * 1.3 * of_double.report.iterations);
  CHECK(s.report.attempts[1].iterations < of_double.report.iterations);
  // Counts decide, so that a second solve does the same.
  const auto again = run_system(ctx, mixed, b);
  CHECK(again.report.attempts[0].iterations == s.report.attempts[0].iterations);
  CHECK(again.report.iterations == s.report.iterations);
  CHECK(again.x == s.x);
}

TEST_CASE("a look at the drift comes when a correction is twice as long as at the last one", "[mixed]") {
  newel::detail::DriftWatch watch(100);
  CHECK_FALSE(watch.due(163));
  CHECK(watch.due(164));
  CHECK_FALSE(watch.note(0.19, 1));
  CHECK_FALSE(watch.due(165));
  CHECK_FALSE(watch.due(227));
  CHECK(watch.due(240));  // polled late
  CHECK_FALSE(watch.due(379));
  CHECK(watch.due(380));
  CHECK_FALSE(watch.drifted());
  CHECK(watch.note(0.21, 1));
  CHECK(watch.drifted());
  CHECK(watch.note(std::numeric_limits<double>::quiet_NaN(), 1));
}

TEST_CASE("Mixed precision loses little on the worst of the real matrices", "[mixed][data]") {
  if (skipped_without_data()) return;
  constexpr Space S = Space::host;
  const Context<S> ctx(1);
  const Csr<double, S> a = read_matrix(ctx, data_folder() + "/matrices/ex10hs.mtx.gz");
  int iterations[2];
  for (const bool mixed : {false, true}) {
    SystemOptions options = options_for("cg");
    options.mixed = mixed;
    options.stop.rel_tol = 1e-8;
    LinearSystem<double, S> system(ctx, a, options);
    const auto exact = make_array(ctx, noise(a.rows));
    auto b = make_array(ctx, std::vector<double>(static_cast<std::size_t>(a.rows))), x = make_array(ctx, b.cspan());
    system.multiply(exact.cspan(), b.span());
    const SolveReport report = system.solve(b.cspan(), x.span());
    CHECK(report.converged());
    iterations[mixed ? 1 : 0] = report.iterations;
  }
  CHECK(iterations[1] <= 1.5 * iterations[0]);  // 3.4 times where a correction may take what it wants
}
