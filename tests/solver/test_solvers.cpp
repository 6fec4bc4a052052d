// SPDX-License-Identifier: Apache-2.0
// What every Krylov solver promises, in both spaces: judged by residuals that the test computes.
#include <newel/solver/registry.hpp>
#include "tests/solver/systems.hpp"

namespace {

const std::vector<std::string> all_solvers = {"cg", "bicgstab", "gmres", "minres", "idrs", "fgmres"};

// Whether it may solve matrices that are not symmetric.
double wind_for(const std::string& name) { return find_solver(name).demands == Demand::nothing ? 0.3 : 0.0; }

template <class T, Space S>
struct Bench {
  Context<S> ctx;
  Rows rows;
  Arrays<T, S> arrays;
  OperatorPtr<T, S> A, M;
  explicit Bench(Rows a)
      : rows(std::move(a)),
        arrays(ctx, rows),
        A(make_spmv(ctx, arrays.view(), RowOrder<S>{}, same_bits())),
        M(make_precond(ctx, arrays.view(), RowOrder<S>{}, PrecondOptions{}, SpmvOptions{})) {}
  std::unique_ptr<KrylovSolver<T, S>> solver(const std::string& name, int restart = 30, bool left = false) {
    return make_solver<T, S>(ctx, rows.size(), solver_options(name, restart, left));
  }
};

template <class T, Space S>
void solves_to_tolerance(const std::string& name, double rel_tol, bool precondition) {
  Bench<T, S> s(laplacian(17, wind_for(name)));
  const auto b = s.rows.rhs_for(noise(s.rows.size()));
  StopCriterion stop = stop_at(rel_tol);
  const auto run = run_solver<T, S>(s.ctx, *s.solver(name), *s.A, precondition ? s.M.get() : nullptr, b, stop);
  INFO(name << " " << run.report.reason);
  CHECK(run.report.status == Status::converged);
  CHECK(run.report.iterations > 5);
  CHECK(run.report.history.size() == static_cast<std::size_t>(run.report.iterations) + 1);
  const double found = true_residual<T>(s.rows, cast<T>(b), run.x);
  const double rounding = 40 * std::numeric_limits<T>::epsilon() * norm(b);
  CHECK(found <= rel_tol * norm(b) + rounding);
  CHECK(run.report.true_residual == Approx(found).epsilon(0.01).margin(rounding));
  CHECK(run.report.rhs_norm == Approx(norm(b)).epsilon(1e-6));
  CHECK(run.report.initial_residual == Approx(norm(b)).epsilon(1e-6));
}

}  // namespace

TEST_BOTH("every solver reaches the tolerance, with and without preconditioner", "[solver]") {
  for (const auto& name : all_solvers) {
    for (const bool precondition : {false, true}) {
      solves_to_tolerance<double, S>(name, 1e-10, precondition);
      solves_to_tolerance<float, S>(name, 1e-4, precondition);
    }
  }
}

TEST_BOTH("counts, histories and results do not depend on how often the host polls", "[solver]") {
  for (const auto& name : all_solvers) {
    Bench<double, S> s(laplacian(14, wind_for(name)));
    const auto b = s.rows.rhs_for(noise(s.rows.size()));
    StopCriterion stop;
    stop.check_every = 1;
    const auto solver = s.solver(name, 10);
    const auto first = run_solver<double, S>(s.ctx, *solver, *s.A, s.M.get(), b, stop);
    CHECK(first.report.converged());
    for (const int every : {2, 7, 16, 64}) {
      stop.check_every = every;
      const auto again = run_solver<double, S>(s.ctx, *solver, *s.A, s.M.get(), b, stop);
      INFO(name << " looked at every " << every);
      CHECK(again.report.iterations == first.report.iterations);
      CHECK(again.report.history == first.report.history);
      CHECK(again.x == first.x);
    }
  }
}

TEST_BOTH("counts, histories and results do not depend on how far the solve before went", "[solver]") {
  for (const auto& name : all_solvers) {
    Bench<double, S> s(laplacian(14, wind_for(name)));
    const auto b = s.rows.rhs_for(noise(s.rows.size()));
    const auto used = s.solver(name, 10);
    for (const double tolerance : {1e-1, 1e-2, 1e-9, 1e-3, 1e-1, 1e-5}) {
      INFO(name << " to " << tolerance);
      StopCriterion stop = stop_at(tolerance);
      const auto again = run_solver<double, S>(s.ctx, *used, *s.A, s.M.get(), b, stop);
      const auto fresh = run_solver<double, S>(s.ctx, *s.solver(name, 10), *s.A, s.M.get(), b, stop);
      CHECK(again.report.converged());
      CHECK(again.report.iterations == fresh.report.iterations);
      CHECK(again.report.history == fresh.report.history);
      CHECK(again.x == fresh.x);
    }
  }
}

TEST_BOTH("max_iterations is kept exactly", "[solver]") {
  for (const auto& name : all_solvers) {
    Bench<double, S> s(laplacian(20));
    const auto b = s.rows.rhs_for(noise(s.rows.size()));
    for (const int most : {0, 1, 5, 33}) {
      StopCriterion stop = stop_at(1e-14);
      stop.max_iterations = most;
      const auto run = run_solver<double, S>(s.ctx, *s.solver(name), *s.A, s.M.get(), b, stop);
      INFO(name << " " << most);
      CHECK(run.report.status == Status::max_iterations);
      CHECK(run.report.iterations == most);
      CHECK(run.report.history.size() == static_cast<std::size_t>(most) + 1);
      CHECK(run.report.true_residual == Approx(true_residual<double>(s.rows, b, run.x)).epsilon(1e-6));
    }
  }
}

TEST_BOTH("a zero right-hand side gives zero in no iterations, whatever the guess", "[solver]") {
  for (const auto& name : all_solvers) {
    Bench<double, S> s(laplacian(5));
    const std::vector<double> b(25, 0.0);
    const auto run = run_solver<double, S>(s.ctx, *s.solver(name), *s.A, s.M.get(), b, {}, noise(25));
    CHECK(run.report.status == Status::converged);
    CHECK(run.report.iterations == 0);
    CHECK(run.report.true_residual == 0);
    CHECK(run.x == b);
  }
}

TEST_BOTH("an exact guess is left as it is", "[solver]") {
  for (const auto& name : all_solvers) {
    Bench<double, S> s(laplacian(6));
    const auto x = noise(36);
    const auto b = s.rows.rhs_for(x);
    const auto run = run_solver<double, S>(s.ctx, *s.solver(name), *s.A, s.M.get(), b, {}, x);
    CHECK(run.report.status == Status::converged);
    CHECK(run.report.iterations == 0);
    CHECK(run.x == x);
  }
}

TEST_BOTH("systems of no and of one unknown behave", "[solver]") {
  for (const auto& name : all_solvers) {
    Bench<double, S> none(Rows(0));
    const auto empty = run_solver<double, S>(none.ctx, *none.solver(name), *none.A, none.M.get(), {}, {});
    CHECK(empty.report.status == Status::converged);
    Rows one(1);
    one.at(0, 0) = 4;
    Bench<double, S> s(one);
    const auto run = run_solver<double, S>(s.ctx, *s.solver(name), *s.A, nullptr, {2.0}, {});
    INFO(name);
    CHECK(run.report.status == Status::converged);
    CHECK(run.report.iterations == 1);
    CHECK(run.x[0] == Approx(0.5));
  }
}

TEST_BOTH("NaN and infinity are named, in the right-hand side, the guess and the matrix", "[solver]") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const auto& name : all_solvers) {
    for (const double bad : {nan, inf}) {
      INFO(name << " " << bad);
      Bench<double, S> s(laplacian(5));
      auto b = s.rows.rhs_for(noise(25));
      auto guess = noise(25, 2);
      guess[7] = bad;
      const auto from_guess = run_solver<double, S>(s.ctx, *s.solver(name), *s.A, s.M.get(), b, {}, guess);
      CHECK(from_guess.report.status == Status::not_finite);
      CHECK(contains(from_guess.report.reason, "guess"));
      b[3] = bad;
      const auto from_rhs = run_solver<double, S>(s.ctx, *s.solver(name), *s.A, s.M.get(), b, {});
      CHECK(from_rhs.report.status == Status::not_finite);
      CHECK(contains(from_rhs.report.reason, "right-hand side"));
      CHECK(from_rhs.report.iterations == 0);

      Rows spoiled = laplacian(5);
      spoiled.at(12, 11) = bad;
      Bench<double, S> m(spoiled);
      const auto from_matrix =
          run_solver<double, S>(m.ctx, *m.solver(name), *m.A, nullptr, std::vector<double>(25, 1.0), {});
      CHECK(from_matrix.report.status == Status::not_finite);
    }
  }
}

TEST_BOTH("norms that leave the range of double are told from zero and infinity", "[solver]") {
  Bench<double, S> s(laplacian(4));
  for (const double size : {1e-200, 1e200}) {
    const auto run = run_solver<double, S>(s.ctx, *s.solver("cg"), *s.A, nullptr, std::vector<double>(16, size), {});
    CHECK(run.report.status == Status::not_finite);
    CHECK(contains(run.report.reason, size < 1 ? "underflow" : "overflow"));
  }
}

TEST_BOTH("a tolerance below rounding ends as stagnation with the attainable level", "[solver]") {
  for (const auto& name : all_solvers) {
    Bench<double, S> s(laplacian(12, find_solver(name).demands == Demand::nothing ? 0.2 : 0.0));
    const auto b = s.rows.rhs_for(noise(s.rows.size()));
    StopCriterion stop = stop_at(1e-18);
    stop.max_iterations = 100000;
    const auto run = run_solver<double, S>(s.ctx, *s.solver(name), *s.A, s.M.get(), b, stop);
    INFO(name << ": " << run.report.reason);
    CHECK(run.report.status == Status::stagnation);
    CHECK(run.report.residual_replacements <= 3);
    const double found = true_residual<double>(s.rows, b, run.x);
    CHECK(found <= 1e-13 * norm(b));
    CHECK(run.report.attainable_residual > 0);
    CHECK(run.report.attainable_residual < 100 * found);
    CHECK(run.report.attainable_residual > 0.01 * found);
  }
}

TEST_BOTH("an absolute tolerance counts where it is the larger", "[solver]") {
  for (const auto& name : all_solvers) {
    Bench<double, S> s(laplacian(12));
    const auto b = s.rows.rhs_for(noise(s.rows.size()));
    StopCriterion stop = stop_at(0);
    stop.abs_tol = 1e-3;
    const auto run = run_solver<double, S>(s.ctx, *s.solver(name), *s.A, s.M.get(), b, stop);
    CHECK(run.report.status == Status::converged);
    CHECK(run.report.tolerance == 1e-3);
    CHECK(true_residual<double>(s.rows, b, run.x) <= 1e-3 * (1 + 1e-10));
    CHECK(true_residual<double>(s.rows, b, run.x) > 1e-6);
  }
}

TEST_BOTH("a callback sees the iterations and can stop the solve", "[solver]") {
  for (const auto& name : all_solvers) {
    Bench<double, S> s(laplacian(16));
    const auto b = s.rows.rhs_for(noise(s.rows.size()));
    StopCriterion stop;
    stop.check_every = 3;
    int last = -1, calls = 0;
    const auto progress = [&](const Progress& now) {
      CHECK(now.iteration > last);
      CHECK(now.solver == name);
      CHECK(now.relative_residual == Approx(now.residual / norm(b)).epsilon(1e-9));
      last = now.iteration;
      return ++calls < 3;
    };
    const auto run = run_solver<double, S>(s.ctx, *s.solver(name), *s.A, s.M.get(), b, stop, {}, progress);
    CHECK(run.report.status == Status::stopped_by_caller);
    CHECK(run.report.iterations == 9);
    CHECK(run.report.true_residual == Approx(true_residual<double>(s.rows, b, run.x)).epsilon(1e-6));
    CHECK(run.report.true_residual < norm(b));
  }
}

TEST_BOTH("a time limit ends the solve", "[solver]") {
  for (const auto& name : all_solvers) {
    Bench<double, S> s(laplacian(20));
    StopCriterion stop = stop_at(1e-13);
    stop.time_limit_seconds = 1e-9;
    stop.check_every = 3;  // one kernel makes all iterations before the clock is read
    const auto b = s.rows.rhs_for(noise(s.rows.size()));
    const auto run = run_solver<double, S>(s.ctx, *s.solver(name), *s.A, s.M.get(), b, stop);
    CHECK(run.report.status == Status::time_limit);
    CHECK(run.report.iterations > 0);
  }
}

TEST_BOTH("a user's own operator and preconditioner work in every solver", "[solver]") {
  constexpr Index n = 100;
  const Context<S> ctx;
  std::vector<double> diagonal(n), inverse(n);
  for (Index i = 0; i < n; ++i) diagonal[i] = 1 + i % 7, inverse[i] = 1 / (diagonal[i] + 0.1);
  const auto d = make_array(ctx, diagonal);
  const auto e = make_array(ctx, inverse);
  using Op = FunctionOperator<double, S>;
  const auto by = [](const Array<double, S>& factors) {
    return [&factors](const Context<S>& c, double alpha, Span<const double, S> x, double beta, Span<double, S> y) {
      multiply<double, S>(c, alpha, factors.cspan(), x, beta, y);
    };
  };
  const Op A(n, n, by(d)), M(n, n, by(e));
  for (const auto& name : all_solvers) {
    const auto solver = make_solver<double, S>(ctx, n, solver_options(name, 20));
    for (const Op* precond : {static_cast<const Op*>(nullptr), &M}) {
      const auto run = run_solver<double, S>(ctx, *solver, A, precond, diagonal, {});
      CHECK(run.report.converged());
      for (const double value : run.x) CHECK(value == Approx(1).epsilon(1e-6));
    }
  }
}

TEST_BOTH("a second solve allocates nothing and gives the same bits", "[solver]") {
  for (const auto& name : all_solvers) {
    Bench<double, S> s(laplacian(15, wind_for(name)));
    const auto b = make_array(s.ctx, s.rows.rhs_for(noise(s.rows.size())));
    auto x = make_array(s.ctx, noise(s.rows.size(), 9));
    auto y = make_array(s.ctx, noise(s.rows.size(), 9));
    const auto solver = s.solver(name);
    CHECK(solver->solve(s.ctx, *s.A, s.M.get(), b.cspan(), x.span(), {}).converged());
    const auto before = s.ctx.memory()->use().allocations;
    CHECK(solver->solve(s.ctx, *s.A, s.M.get(), b.cspan(), y.span(), {}).converged());
    CHECK(s.ctx.memory()->use().allocations == before);
    CHECK(to_vector(s.ctx, x.cspan()) == to_vector(s.ctx, y.cspan()));
  }
}

TEST_CASE("lengths and criteria that make no sense are refused", "[solver]") {
  Bench<double, Space::host> s(laplacian(4));
  const auto solver = s.solver("cg");
  CHECK_THROWS_AS((run_solver<double, Space::host>(s.ctx, *solver, *s.A, nullptr, std::vector<double>(15, 1.0), {})),
                  InputError);
  const std::vector<double> b(16, 1.0);
  for (int field = 0; field < 6; ++field) {
    StopCriterion stop;
    if (field == 0) stop.max_iterations = -1;
    if (field == 1) stop.rel_tol = -1;
    if (field == 2) stop.abs_tol = std::nan("");
    if (field == 3) stop.time_limit_seconds = -1;
    if (field == 4) stop.check_every = 65;
    if (field == 5) stop.check_every = -1;
    CHECK_THROWS_AS((run_solver<double, Space::host>(s.ctx, *solver, *s.A, nullptr, b, stop)), InputError);
  }
  CHECK_THROWS_AS((make_solver<double, Space::host>(s.ctx, 4, solver_options("sor"))), InputError);
  CHECK_THROWS_AS((make_solver<double, Space::host>(s.ctx, 4, solver_options("gmres", -1))), InputError);
}

TEST_CASE("the cycle of GMRES is what was asked for, 50, or what a small basis holds", "[solver][gmres]") {
  CHECK(gmres_cycle_length(solver_options("gmres", 0), 100000, 8) == 50);
  CHECK(gmres_cycle_length(solver_options("gmres", 7), 100000, 8) == 7);
  CHECK(gmres_cycle_length(solver_options("gmres", 70), 20, 8) == 20);
  CHECK(gmres_cycle_length(solver_options("auto", 0), 1000, 8) == 1000);
  CHECK(gmres_cycle_length(solver_options("auto", 0), 10000, 8) == 209);
  CHECK(gmres_cycle_length(solver_options("auto", 30), 10000, 8) == 30);
  CHECK(gmres_cycle_length(solver_options("auto", 0), 1000000, 8) == 50);
  CHECK(gmres_cycle_length(solver_options("auto", 0), 0, 8) == 1);
}

TEST_BOTH("NaN or overflow inside an iteration is told in time, and x stays sound", "[solver]") {
  constexpr Index n = 60;
  const Context<S> ctx;
  std::vector<double> diagonal(n);
  for (Index i = 0; i < n; ++i) diagonal[i] = 1 + i;
  const auto d = make_array(ctx, diagonal);
  int calls = 0;
  const FunctionOperator<double, S> spoiled(
      n, n, [&](const Context<S>& c, double alpha, Span<const double, S> x, double beta, Span<double, S> y) {
        multiply<double, S>(c, alpha, d.cspan(), x, beta, y);
        if (++calls == 5) scale<double, S>(c, std::numeric_limits<double>::quiet_NaN(), y);
      });
  for (const auto& name : all_solvers) {
    calls = 0;
    StopCriterion stop;
    stop.check_every = 1;
    const auto solver = make_solver<double, S>(ctx, n, solver_options(name, 30));
    const auto run = run_solver<double, S>(ctx, *solver, spoiled, nullptr, std::vector<double>(n, 1.0), stop);
    INFO(name << " " << run.report.reason);
    CHECK(run.report.status == Status::not_finite);
    CHECK(run.report.iterations <= 5);
    if (name == "gmres") {
      for (const double value : run.x) CHECK(std::isfinite(value));
    }
  }
}

TEST_BOTH("GMRES calls an overflow an overflow, not a singular matrix", "[solver][gmres]") {
  Rows a(12);
  for (Index i = 0; i < 12; ++i) a.at(i, i) = 1e160;
  Bench<double, S> s(a);
  const auto run = run_solver<double, S>(s.ctx, *s.solver("gmres"), *s.A, nullptr, std::vector<double>(12, 1.0), {});
  CHECK(run.report.status == Status::not_finite);
}

TEST_BOTH("a right-hand side and a solution in the same memory are refused", "[solver]") {
  for (const auto& name : all_solvers) {
    Bench<double, S> s(laplacian(4));
    auto v = make_array(s.ctx, std::vector<double>(16, 1.0));
    CHECK_THROWS_AS((void)s.solver(name)->solve(s.ctx, *s.A, nullptr, v.cspan(), v.span(), {}), InputError);
  }
}

TEST_BOTH("a caller who says stop once is heard, even where the recurrence had just met the tolerance", "[solver]") {
  for (const auto& name : all_solvers) {
    Bench<double, S> s(laplacian(12));
    const auto b = s.rows.rhs_for(noise(s.rows.size()));
    StopCriterion stop;
    stop.rel_tol = 1e-18;  // the recurrence gets there, b - A x does not
    stop.max_iterations = 100000;
    bool said = false;
    const auto progress = [&](const Progress& now) {
      const bool met = now.residual <= now.tolerance;
      const bool go_on = said || !met;
      said = said || met;
      return go_on;
    };
    const auto run = run_solver<double, S>(s.ctx, *s.solver(name), *s.A, s.M.get(), b, stop, {}, progress);
    INFO(name << " " << run.report.reason);
    if (said) CHECK(run.report.status == Status::stopped_by_caller);
  }
}
