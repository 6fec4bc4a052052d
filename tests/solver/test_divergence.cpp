// SPDX-License-Identifier: Apache-2.0
// Solves that diverge: a status of their own, early, with the best x; and growth that is none.
#include "tests/solver/systems.hpp"

#include <newel/io/matrix_market.hpp>
#include "solver/krylov/monitor/symmetry.hpp"

namespace {

template <Space S>
Solved<double, S> solve(const Context<S>& ctx, const Rows& a, const SystemOptions& options,
                        const std::vector<double>& b, const std::vector<double>& guess = {}) {
  SystemOf<double, S> system(ctx, a, options);
  return run_system(ctx, system, b, guess);
}

// Pairs [1 c; c 2 c^2], positive definite: from b = (1, 0) the first step of CG leaves about (0, -c).
Rows pairs(Index n) {
  Rows a(n);
  for (Index i = 0; i < n; i += 2) {
    const double c = 900 + i % 7;
    a.at(i, i) = 1;
    a.at(i, i + 1) = a.at(i + 1, i) = c;
    a.at(i + 1, i + 1) = 2 * c * c;
  }
  return a;
}

std::vector<double> of_pairs(std::size_t n) {
  std::vector<double> b(n, 0.0);
  for (std::size_t i = 0; i < n; i += 2) b[i] = 1;
  return b;
}

// Its symmetric part is positive definite, so that p.Ap > 0 always: CG sees nothing amiss but its residuals.
Rows tilted() { return laplacian(30, 3); }

std::vector<double> zeros(const Rows& a) { return std::vector<double>(static_cast<std::size_t>(a.size()), 0.0); }

}  // namespace

TEST_BOTH("CG on a matrix that is not symmetric ends early as diverged, with the best x that it has seen",
          "[solver][divergence]") {
  const Rows a = tilted();
  const auto b = a.rhs_for(noise(a.size()));
  for (const bool resident : {false, true}) {
    for (const std::string format : {"csr", "ehyb"}) {
      for (const bool mixed : {false, true}) {
        for (const std::string precond : {"none", "jacobi"}) {
          CAPTURE(resident, format, mixed, precond);
          SystemOptions options = system_options("cg");
          set_resident(options.solver, resident);
          options.spmv.format = format;
          options.precond.name = precond;
          options.mixed = mixed;
          const auto found = solve<S>(ctx, a, options, b);
          CHECK(found.report.status == Status::diverged);
          CHECK(contains(found.report.reason, "not symmetric"));
          CHECK(found.report.iterations < 1000);
          const double residual = true_residual<double>(a, b, found.x);
          CHECK(residual <= norm(b) * (1 + 1e-12));
          CHECK(found.report.true_residual == Approx(residual).epsilon(1e-6));
          if (mixed) continue;
          // The recurrence of a solve that has not yet rounded much tells the truth: the best of its iterates.
          const auto& history = found.report.history;
          CHECK(residual == Approx(*std::min_element(history.begin(), history.end())).epsilon(1e-6));
          CHECK(history.back() > 100 * norm(b));
          CHECK(history.size() == static_cast<std::size_t>(found.report.iterations) + 1);
        }
      }
    }
  }
}

TEST_BOTH("Two products tell a matrix that is not symmetric in any order of its rows", "[solver][divergence]") {
  const Index n = 100;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    // An order of the rows for each seed; with vectors of 1 and -1 a few of them would be missed.
    std::vector<Index> place(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) place[static_cast<std::size_t>(i)] = i;
    const auto keys = noise(n, seed);
    std::sort(place.begin(), place.end(), [&](Index i, Index j) {
      return keys[static_cast<std::size_t>(i)] < keys[static_cast<std::size_t>(j)];
    });
    for (const double wind : {0.0, 0.5}) {
      const Rows a = laplacian(10, wind);
      Rows shuffled(n);
      for (Index i = 0; i < n; ++i) {
        for (const auto& [j, value] : a.row[static_cast<std::size_t>(i)]) {
          shuffled.at(place[static_cast<std::size_t>(i)], place[static_cast<std::size_t>(j)]) = value;
        }
      }
      const Arrays<double, S> arrays(ctx, shuffled);
      const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
      const LinearOperator<double, S>* const none = nullptr;
      CAPTURE(seed, wind);
      CHECK(symmetry_fault<double, S>(ctx, *A, none) == (wind == 0 ? Asymmetric::none : Asymmetric::matrix));
      // The same matrix as a preconditioner of a symmetric one.
      const FunctionOperator<double, S> identity(n, n, [](const auto& c, double alpha, auto x, double beta, auto y) {
        axpby<double, S>(c, alpha, x, beta, y);
      });
      const Asymmetric fault = symmetry_fault<double, S>(ctx, identity, A.get());
      CHECK(fault == (wind == 0 ? Asymmetric::none : Asymmetric::preconditioner));
    }
  }
}

TEST_BOTH("A preconditioner is as symmetric as single precision can make it", "[solver][divergence]") {
  const Rows a = laplacian(10, 0.5);
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
  const auto fault = [&](double share) {
    const FunctionOperator<double, S> M(a.size(), a.size(),
                                        [&](const auto& c, double alpha, auto x, double beta, auto y) {
                                          axpby<double, S>(c, alpha, x, beta, y);
                                          A->apply(c, alpha * share, x, 1.0, y);
                                        });
    const FunctionOperator<double, S> identity(
        a.size(), a.size(),
        [](const auto& c, double alpha, auto x, double beta, auto y) { axpby<double, S>(c, alpha, x, beta, y); });
    return symmetry_fault<double, S>(ctx, identity, &M);
  };
  CHECK(fault(1e-6) == Asymmetric::none);
  CHECK(fault(1e-2) == Asymmetric::preconditioner);
}

TEST_BOTH("When a solve diverges does not depend on how often the host polls", "[solver][divergence]") {
  const Rows a = tilted();
  const auto b = a.rhs_for(noise(a.size()));
  SystemOptions options = system_options("cg", "auto", "csr");
  options.deterministic = true;
  options.stop.check_every = 1;
  const auto first = solve<S>(ctx, a, options, b);
  CHECK(first.report.status == Status::diverged);
  for (const int every : {3, 16, 64}) {
    options.stop.check_every = every;
    const auto again = solve<S>(ctx, a, options, b);
    INFO("every " << every);
    CHECK(again.report.history == first.report.history);
    CHECK(again.x == first.x);
  }
}

TEST_BOTH("Columns of a batch diverge one by one, and the others are solved", "[solver][divergence][columns]") {
  // Two systems side by side: one whose part of the matrix is symmetric, and one where it is not.
  const Context<S> ctx;
  const Index half = 30 * 30;
  Rows a(2 * half);
  const Rows good = laplacian(30), bad = tilted();
  for (Index i = 0; i < half; ++i) {
    for (const auto& [j, value] : good.row[static_cast<std::size_t>(i)]) a.at(i, j) = value;
    for (const auto& [j, value] : bad.row[static_cast<std::size_t>(i)]) a.at(half + i, half + j) = value;
  }
  SystemOptions options = system_options("cg");
  options.columns = 3;
  SystemOf<double, S> system(ctx, a, options);
  std::vector<double> b;
  for (const bool in_bad : {false, true, false}) {
    auto exact = zeros(a);
    const auto values = noise(half, in_bad ? 2 : 1);
    std::copy(values.begin(), values.end(), exact.begin() + (in_bad ? half : 0));
    const auto column = a.rhs_for(exact);
    b.insert(b.end(), column.begin(), column.end());
  }
  const auto bs = make_array(ctx, b);
  auto xs = make_array(ctx, std::vector<double>(b.size(), 0.0));
  const auto reports = system.solve_columns(bs.cspan(), xs.span(), 3);
  CHECK(reports[0].converged());
  CHECK(reports[1].status == Status::diverged);
  CHECK(reports[2].converged());
  CHECK(contains(reports[1].reason, "not symmetric"));
  const auto x = to_vector(ctx, xs.cspan());
  const auto at = [&](const std::vector<double>& v) {
    return std::vector<double>(v.begin() + a.size(), v.begin() + 2 * a.size());
  };
  const double residual = true_residual<double>(a, at(b), at(x));
  const auto& history = reports[1].history;
  CHECK(residual == Approx(*std::min_element(history.begin(), history.end())).epsilon(1e-6));
  CHECK(residual < 0.999 * norm(at(b)));  // and not the guess
}

TEST_BOTH("The residual of CG may grow a thousandfold where the matrix is symmetric and positive definite",
          "[solver][divergence]") {
  const Rows a = pairs(600);
  const std::vector<double> b = of_pairs(600);
  for (const bool resident : {false, true}) {
    for (const std::string format : {"csr", "ehyb"}) {
      for (const int every : {0, 64}) {
        CAPTURE(resident, format, every);
        SystemOptions options = system_options("cg");
        set_resident(options.solver, resident);
        options.spmv.format = format;
        options.precond.name = "none";
        options.stop.check_every = every;
        const auto found = solve<S>(ctx, a, options, b);
        CHECK(found.report.converged());
        const auto& history = found.report.history;
        CHECK(*std::max_element(history.begin(), history.end()) > 500 * norm(b));  // it is looked into
        CHECK(true_residual<double>(a, b, found.x) <= 1e-8 * norm(b) * (1 + 1e-6));
      }
    }
  }
  // Several columns at once.
  SystemOptions options = system_options("cg", "none");
  SystemOf<double, S> system(ctx, a, options);
  const auto bs = make_array(ctx, of_pairs(3 * 600));
  auto xs = make_array(ctx, std::vector<double>(3 * 600, 0.0));
  for (const SolveReport& report : system.solve_columns(bs.cspan(), xs.span(), 3)) CHECK(report.converged());
}

TEST_BOTH("Growth is measured against b and the guess, not against the least residual", "[solver][divergence]") {
  const Rows a = laplacian(20);
  const auto exact = noise(a.size());
  const auto b = a.rhs_for(exact);
  auto guess = exact;
  for (double& value : guess) value *= 1e6;
  SystemOptions options;
  for (const std::string solver : {"cg", "bicgstab", "gmres"}) {
    options.solver.name = solver;
    INFO(solver);
    CHECK(solve<S>(ctx, a, options, b, guess).report.converged());
    // A guess that is nearly right, and a tolerance far below it.
    guess = exact;
    guess[7] += 1e-9;
    options.stop.rel_tol = 1e-13;
    CHECK(solve<S>(ctx, a, options, b, guess).report.converged());
  }
}

TEST_BOTH("BiCGStab whose residuals jump ends early, with the best x", "[solver][divergence][bicgstab]") {
  for (const auto& [k, seed] : std::vector<std::pair<Index, std::uint64_t>>{{16, 1}, {30, 3}}) {
    CAPTURE(k, seed);
    const Rows a = laplacian(k, 1, -2);
    const Arrays<double, S> arrays(ctx, a);
    const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, same_bits());
    const auto b = a.rhs_for(noise(a.size(), seed));
    const auto solver = make_solver<double, S>(ctx, a.size(), {"bicgstab"});
    const auto run = run_solver<double, S>(ctx, *solver, *A, nullptr, b, {});
    INFO(run.report.reason);
    CHECK_FALSE(run.report.converged());
    CHECK(run.report.iterations < 5000);
    const double residual = true_residual<double>(a, b, run.x);
    CHECK(residual <= norm(b) * (1 + 1e-12));
    // Its terms may be far larger than the residual: x went astray by then.
    Rows magnitudes = a;
    std::vector<double> x = run.x;
    for (auto& row : magnitudes.row) {
      for (auto& [j, value] : row) value = std::abs(value);
    }
    for (double& value : x) value = std::abs(value);
    const double rounding = 4 * std::numeric_limits<double>::epsilon() * (norm(b) + norm(magnitudes.rhs_for(x)));
    CHECK(rounding < 0.1 * norm(b));
    CHECK(run.report.true_residual == Approx(residual).epsilon(1e-6).margin(rounding));
  }
}

// Blocks [d, c; -c, d] turn a vector by nearly a right angle. With b = 0 in every second row r0.A r0 = d |r0|^2 is
// exact but for a rounding, so alpha = 1 / d, and BiCGStab's first residual is 1 / d times as long as b.
TEST_BOTH("BiCGStab whose residual passes 1 / eps of b ends as diverged, with the guess",
          "[solver][divergence][bicgstab]") {
  const double d = 1e-18;
  const Index blocks = 20;
  Rows a(2 * blocks);
  std::vector<double> b(2 * blocks);
  for (Index i = 0; i < blocks; ++i) {
    const double c = 1 + 0.05 * i;
    a.at(2 * i, 2 * i) = a.at(2 * i + 1, 2 * i + 1) = d;
    a.at(2 * i, 2 * i + 1) = c;
    a.at(2 * i + 1, 2 * i) = -c;
    b[static_cast<std::size_t>(2 * i)] = 1 + 0.01 * i;
  }
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, same_bits());
  const auto solver = make_solver<double, S>(ctx, a.size(), {"bicgstab"});
  const auto run = run_solver<double, S>(ctx, *solver, *A, nullptr, b, {});
  INFO(run.report.reason);
  CHECK(run.report.status == Status::diverged);
  CHECK(run.report.iterations <= 16);
  CHECK(run.x == std::vector<double>(b.size(), 0.0));
}

TEST_BOTH("GMRES that a preconditioner leads astray says so and hands back the best x",
          "[solver][divergence][gmres]") {
  const Index n = 64;
  const Rows a = laplacian(8);
  const auto b = a.rhs_for(noise(n));
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, same_bits());
  // M is another map whenever it corrects x: a cycle's V y has another image than the recurrence knows of.
  const auto unit = make_array(ctx, std::vector<double>(static_cast<std::size_t>(n), 1.0));
  const FunctionOperator<double, S> astray(
      n, n, [&](const Context<S>& c, double alpha, Span<const double, S> x, double beta, Span<double, S> y) {
        axpby<double, S>(c, alpha, x, beta, y);
        if (beta != 0) axpy<double, S>(c, 1e5, unit.cspan(), y);
      });
  Gmres<double, S> solver(ctx, n, 10, false);
  const auto run = run_solver<double, S>(ctx, solver, *A, &astray, b, {});
  INFO(run.report.reason);
  CHECK(run.report.status == Status::diverged);
  CHECK(run.report.iterations <= 20);
  CHECK(true_residual<double>(a, b, run.x) <= norm(b) * (1 + 1e-12));
  CHECK(run.report.true_residual <= norm(b) * (1 + 1e-12));
}

TEST_BOTH("After a solve that diverged the next solver begins from the best x", "[solver][divergence][system]") {
  const Rows symmetric = laplacian(30), a = tilted();
  const Arrays<double, S> arrays(ctx, symmetric), changed(ctx, a);
  LinearSystem<double, S> system(ctx, arrays.view());  // "auto": CG first
  system.refresh(changed.val.cspan());
  const auto b = a.rhs_for(noise(a.size()));
  const auto bs = make_array(ctx, b);
  auto xs = make_array(ctx, zeros(a));
  const SolveReport report = system.solve(bs.cspan(), xs.span());
  CHECK(report.converged());
  REQUIRE(report.attempts.size() >= 2);  // factors may follow
  CHECK(report.attempts[0].solver == "cg");
  CHECK(report.attempts[0].status == Status::diverged);
  CHECK(report.attempts[0].iterations < 500);
  CHECK(name_of(Status::diverged) == "diverged");
}

TEST_CASE("No real symmetric matrix is taken for one on which CG diverges", "[solver][divergence][data]") {
  if (skipped_without_data()) return;
  const Context<Space::host> ctx(1);
  for (const std::string name : {"bcsstk02.mtx", "bcsstk03.mtx", "bcsstk05.mtx", "bcsstk07.mtx", "bcsstk09.mtx.gz",
                                 "bcsstk20.mtx", "bcsstk22.mtx", "nos1.mtx", "nos5.mtx", "ex10hs.mtx.gz"}) {
    const Csr<double, Space::host> a = read_matrix(ctx, data_folder() + "/matrices/" + name);
    for (const std::string precond : {"none", "jacobi"}) {
      for (const bool mixed : {false, true}) {
        for (const bool ones : {false, true}) {
          CAPTURE(name, precond, mixed, ones);
          SystemOptions options = system_options("cg", precond);
          options.mixed = mixed;
          options.stop.max_iterations = 3000;
          LinearSystem<double, Space::host> system(ctx, a, options);
          const auto size = static_cast<std::size_t>(a.rows);
          const auto b = make_array(ctx, ones ? std::vector<double>(size, 1.0) : noise(a.rows));
          auto x = make_array(ctx, std::vector<double>(size, 0.0));
          const SolveReport report = system.solve(b.cspan(), x.span());
          for (const Attempt& attempt : report.attempts) CHECK(attempt.status != Status::diverged);
        }
      }
    }
  }
}
