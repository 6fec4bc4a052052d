// SPDX-License-Identifier: Apache-2.0
// Sequences of systems that begin with guesses from past solutions: what that saves, and what it must not change.
#include "tests/solver/systems.hpp"

#include <newel/solver/guess.hpp>
#include <newel/solver/memory_estimate.hpp>

namespace {

SystemOptions guessing(const std::string& guess, const std::string& solver = "cg",
                       const std::string& precond = "jacobi", const std::string& format = "csr",
                       double rel_tol = 1e-8) {
  SystemOptions options = system_options(solver, precond, format, rel_tol);
  options.solver.of<GuessOptions>().guess = guess;
  return options;
}

std::vector<double> combined(const std::vector<std::vector<double>>& vectors, const std::vector<double>& factors) {
  std::vector<double> sum(vectors[0].size(), 0.0);
  for (std::size_t k = 0; k < vectors.size(); ++k) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factors[k] * vectors[k][i];
  }
  return sum;
}

// Any three of them are independent.
std::vector<double> factors_at(int step) {
  return {std::cos(1 + 1.7 * step), std::sin(2.3 * step + 0.4), 0.5 + 0.3 * (step * step % 5)};
}

// A smooth sequence of right-hand sides, as time steps have them.
std::vector<double> load_at(Index n, int step) {
  std::vector<double> b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double at = static_cast<double>(i) / static_cast<double>(n);
    b[i] = std::sin(3 * at + 0.05 * step) + 0.3 * std::cos(11 * at - 0.11 * step);
  }
  return b;
}

// Solves for b from x, which it replaces. The residual is the test's own.
template <class T, Space S>
SolveReport solve_next(const Context<S>& ctx, LinearSystem<T, S>& system, const Rows& a, const std::vector<double>& b,
                       std::vector<T>& x, InitialGuess from = InitialGuess::in_x) {
  const std::vector<T> rhs = cast<T>(b);
  const auto bs = make_array(ctx, rhs);
  auto xs = make_array(ctx, x);
  const SolveReport report = system.solve(bs.cspan(), xs.span(), {}, from);
  INFO(report.reason);
  REQUIRE(report.converged());
  x = to_vector(ctx, xs.cspan());
  CHECK(true_residual(a, rhs, x) <= 1.01 * report.tolerance);
  return report;
}

// Solutions in the span of three vectors. The first solves are exact enough for combinations of them.
template <class T, Space S>
void check_three_vectors(const Context<S>& ctx, const Rows& a, const SystemOptions& options) {
  CAPTURE(options.solver.name, options.spmv.format, options.mixed, sizeof(T));
  SystemOf<T, S> system(ctx, a, options);
  const Index n = a.size();
  const std::vector<std::vector<double>> span = {noise(n, 1), noise(n, 2), noise(n, 3)};
  std::vector<T> x(static_cast<std::size_t>(n), T(0));
  StopCriterion tight = options.stop;
  tight.rel_tol = sizeof(T) == sizeof(double) ? 1e-12 : 2e-6;
  system.set_stop_criterion(tight);
  for (int step = 0; step < 8; ++step) {
    if (step == 3) system.set_stop_criterion(options.stop);
    const std::vector<double> factors = factors_at(step);
    const SolveReport report = solve_next<T, S>(ctx, system, a, a.rhs_for(combined(span, factors)), x,
                                                step % 2 == 0 ? InitialGuess::in_x : InitialGuess::zero);
    if (step < 3) CHECK(report.iterations > 0);
    if (step >= 3) CHECK(report.iterations == 0);
    if (step >= 3) CHECK(report.guess.from == "projected");
  }
}

template <Space S>
std::vector<std::vector<double>> solutions_of(const Context<S>& ctx, LinearSystem<double, S>& system, const Rows& a,
                                              std::vector<double> x, int first, int last) {
  std::vector<std::vector<double>> all;
  for (int step = first; step < last; ++step) {
    solve_next<double, S>(ctx, system, a, load_at(a.size(), step), x);
    all.push_back(x);
  }
  return all;
}

}  // namespace

TEST_CASE("the option guess takes its words, and no others", "[solver][guess]") {
  CHECK(guess_rule("given").vectors == 0);
  CHECK(guess_rule("extrapolate").vectors == 2);
  CHECK(guess_rule("project").vectors == 8);
  CHECK(guess_rule("Project:3").vectors == 3);
  CHECK(guess_rule("auto").kind == GuessRule::Kind::automatic);
  for (const char* text : {"", "projected", "project:", "project:0", "project:33", "project:3x", "project: 3", "x"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(guess_rule(text), InputError);
  }
  const Context<Space::host> ctx;
  CHECK_THROWS_AS((SystemOf<double, Space::host>(ctx, laplacian(4), guessing("none"))), InputError);
}

TEST_BOTH("solutions that span three vectors need no iterations from the fourth on", "[solver][guess]") {
  const Rows symmetric = laplacian(16), wind = laplacian(16, 0.3);
  check_three_vectors<double>(ctx, symmetric, guessing("project:3"));
  check_three_vectors<double>(ctx, symmetric, guessing("project:5", "cg", "jacobi", "ehyb"));
  check_three_vectors<double>(ctx, symmetric, guessing("project", "minres", "jacobi"));
  check_three_vectors<double>(ctx, wind, guessing("project:3", "gmres", "jacobi"));
  check_three_vectors<double>(ctx, wind, guessing("project:3", "bicgstab", "none"));
  check_three_vectors<double>(ctx, symmetric, guessing("project:3", "auto", "auto", "auto"));
  check_three_vectors<float>(ctx, symmetric, guessing("project:3", "cg", "jacobi", "csr", 1e-4));
  SystemOptions mixed = guessing("project:3");
  mixed.mixed = true;
  check_three_vectors<double>(ctx, symmetric, mixed);
}

TEST_BOTH("by default a solve begins as given and says nothing of guesses", "[solver][guess]") {
  const Rows a = laplacian(12);
  SystemOf<double, S> plain(ctx, a, system_options("cg", "jacobi", "csr")), named(ctx, a, guessing("given"));
  std::vector<double> x(144, 0.5), y = x;
  for (int step = 0; step < 3; ++step) {
    const SolveReport report = solve_next<double, S>(ctx, plain, a, load_at(144, step), x);
    solve_next<double, S>(ctx, named, a, load_at(144, step), y);
    CHECK(report.guess.from.empty());
    CHECK(x == y);
  }
  CHECK(plain.history().guess_state().counts.empty());
}

TEST_BOTH("with guess zero x is not read", "[solver][guess]") {
  const Rows a = laplacian(12);
  SystemOf<double, S> zero(ctx, a, guessing("zero")), plain(ctx, a, guessing("given"));
  std::vector<double> x(144, std::numeric_limits<double>::quiet_NaN()), y(144, 0.0);
  const SolveReport report = solve_next<double, S>(ctx, zero, a, load_at(144, 1), x);
  solve_next<double, S>(ctx, plain, a, load_at(144, 1), y);
  CHECK(report.guess.from == "zero");
  CHECK(x == y);
}

TEST_BOTH("guesses save iterations of a smooth sequence, more with more vectors", "[solver][guess]") {
  const Rows a = laplacian(24);
  std::map<std::string, int> iterations;
  for (const std::string guess : {"given", "extrapolate", "project:2", "project:6"}) {
    SystemOf<double, S> system(ctx, a, guessing(guess));
    std::vector<double> x(static_cast<std::size_t>(a.size()), 0.0);
    for (int step = 0; step < 24; ++step) {
      const SolveReport report = solve_next<double, S>(ctx, system, a, load_at(a.size(), step), x);
      if (step >= 12) iterations[guess] += report.iterations;
      if (step > 0 && guess != "given") CHECK(report.guess.residual <= report.guess.given_residual * (1 + 1e-12));
      if (step > 0 && guess != "given") CHECK(report.guess.residual <= report.rhs_norm);
    }
  }
  CHECK(iterations["extrapolate"] < 0.9 * iterations["given"]);
  CHECK(iterations["project:2"] <= iterations["extrapolate"] + 12);
  CHECK(iterations["project:6"] < 0.6 * iterations["given"]);
}

TEST_BOTH("after new values guesses are those of the new matrix", "[solver][guess]") {
  const Rows a = laplacian(16), other = laplacian(16, 0, 0.7);
  SystemOf<double, S> system(ctx, a, guessing("project:3", "cg", "jacobi", "csr"));
  const std::vector<std::vector<double>> span = {noise(256, 1), noise(256, 2), noise(256, 3)};
  StopCriterion stop;
  stop.rel_tol = 1e-12;
  system.set_stop_criterion(stop);
  std::vector<double> x(256, 0.0);
  for (int step = 0; step < 3; ++step)
    solve_next<double, S>(ctx, system, a, a.rhs_for(combined(span, factors_at(step))), x);
  const Arrays<double, S> values(ctx, other);
  system.refresh(values.view().val);
  system.set_stop_criterion({});
  const SolveReport report =
      solve_next<double, S>(ctx, system, other, other.rhs_for(combined(span, {1, -1, 0.5})), x);
  CHECK(report.iterations == 0);
  CHECK(report.guess.from == "projected");
}

TEST_BOTH("vectors that are wrong never harm a solve", "[solver][guess]") {
  const Rows a = laplacian(16);
  for (const double size : {1.0, 1e12, std::numeric_limits<double>::quiet_NaN()}) {
    CAPTURE(size);
    SystemOf<double, S> plain(ctx, a, guessing("given")), system(ctx, a, guessing("project:4"));
    GuessState wrong;
    {
      SystemOf<double, S> source(ctx, a, guessing("project:4"));
      solutions_of(ctx, source, a, std::vector<double>(256, 0.0), 0, 5);
      wrong = source.history().guess_state();
      const std::vector<double> junk = noise(static_cast<Index>(wrong.values.size()), 4);
      for (std::size_t i = 0; i < junk.size(); ++i) wrong.values[i] = size * junk[i];
    }
    system.history().set_guess_state(wrong);
    std::vector<double> x(256, 0.0), y = x;
    for (int step = 0; step < 3; ++step) {
      const SolveReport report = solve_next<double, S>(ctx, system, a, load_at(256, step), x);
      const int as_given = solve_next<double, S>(ctx, plain, a, load_at(256, step), y).iterations;
      CHECK(report.guess.residual <= report.guess.given_residual);
      CHECK(report.iterations <= as_given + 2);
    }
  }
}

TEST_BOTH("a sequence continues from its state with the same bits", "[solver][guess]") {
  const Rows a = laplacian(16);
  for (const char* guess : {"extrapolate", "project:4", "auto"}) {
    for (const int broken : {2, 7, 15}) {
      CAPTURE(guess, broken);
      SystemOf<double, S> whole(ctx, a, guessing(guess)), first(ctx, a, guessing(guess)),
          second(ctx, a, guessing(guess));
      const std::vector<double> zero(256, 0.0);
      const auto expected = solutions_of(ctx, whole, a, zero, 0, 24);
      const auto before = solutions_of(ctx, first, a, zero, 0, broken);
      second.history().set_guess_state(first.history().guess_state());
      const auto after = solutions_of(ctx, second, a, before.back(), broken, 24);
      CHECK(after == std::vector<std::vector<double>>(expected.begin() + broken, expected.end()));
    }
  }
}

TEST_BOTH("a state of another system is refused", "[solver][guess]") {
  const Rows a = laplacian(6), other = laplacian(7);
  SystemOf<double, S> system(ctx, a, guessing("project:4")), longer(ctx, other, guessing("project:4")),
      more(ctx, a, guessing("project:5"));
  solutions_of(ctx, system, a, std::vector<double>(36, 0.0), 0, 3);
  GuessState state = system.history().guess_state();
  CHECK_THROWS_WITH(longer.history().set_guess_state(state), Catch::Matchers::Contains("36 unknowns"));
  CHECK_THROWS_WITH(more.history().set_guess_state(state), Catch::Matchers::Contains("asks for 5"));
  state.values.pop_back();
  CHECK_THROWS_AS(system.history().set_guess_state(state), InputError);
  state = system.history().guess_state();
  state.counts.back() = 0;
  state.counts[state.counts.size() - 2] = 9;
  CHECK_THROWS_AS(system.history().set_guess_state(state), InputError);
  system.history().set_guess_state({});
  CHECK(system.history().guess_state().values.empty());
}

TEST_BOTH("each right-hand side has guesses of its own", "[solver][guess]") {
  const Rows a = laplacian(16);
  constexpr Index n = 256, columns = 3;
  SystemOf<double, S> system(ctx, a, guessing("project:3"));
  std::vector<double> x(static_cast<std::size_t>(n * columns), 0.0);
  StopCriterion tight;
  tight.rel_tol = 1e-12;
  system.set_stop_criterion(tight);
  for (int step = 0; step < 6; ++step) {
    if (step == 3) system.set_stop_criterion({});
    std::vector<double> b;
    for (Index c = 0; c < columns; ++c) {
      // Every column has a span of its own, so that the vectors of another would not help.
      const auto seed = static_cast<std::uint64_t>(10 * c);
      const auto part =
          a.rhs_for(combined({noise(n, seed + 1), noise(n, seed + 2), noise(n, seed + 3)}, factors_at(step + c)));
      b.insert(b.end(), part.begin(), part.end());
    }
    const auto bs = make_array(ctx, b);
    auto xs = make_array(ctx, x);
    const auto reports = system.solve_columns(bs.cspan(), xs.span(), columns, {},
                                              step % 2 == 0 ? InitialGuess::in_x : InitialGuess::zero);
    x = to_vector(ctx, xs.cspan());
    for (Index c = 0; c < columns; ++c) {
      const SolveReport& report = reports[static_cast<std::size_t>(c)];
      REQUIRE(report.converged());
      const auto at = static_cast<std::ptrdiff_t>(c) * n;
      CHECK(true_residual(a, std::vector<double>(b.begin() + at, b.begin() + at + n),
                          std::vector<double>(x.begin() + at, x.begin() + at + n)) <= 1.01 * report.tolerance);
      CHECK((report.iterations == 0) == (step >= 3));
    }
  }
}

TEST_BOTH("only the first solves of a sequence allocate", "[solver][guess]") {
  const Rows a = laplacian(16);
  SystemOf<double, S> system(ctx, a, guessing("project:4"));
  std::vector<double> x(256, 0.0);
  auto bs = make_array(ctx, x), xs = make_array(ctx, x);
  const auto solve = [&](int step) {
    copy<double>(ctx, Span<const double, Space::host>(load_at(256, step).data(), 256), bs.span());
    REQUIRE(system.solve(bs.cspan(), xs.span()).converged());
  };
  for (int step = 0; step < 5; ++step) solve(step);
  const auto before = ctx.memory()->use().allocations;
  const auto bytes = ctx.memory()->use().bytes;
  for (int step = 5; step < 12; ++step) solve(step);
  CHECK(ctx.memory()->use().allocations == before);
  CHECK(ctx.memory()->use().bytes == bytes);
}

TEST_BOTH("the vectors of guesses are part of the memory estimate, for each right-hand side", "[solver][guess]") {
  const Rows a = laplacian(40);
  const Index n = a.size();
  for (const Index columns : {1, 3}) {
    std::map<std::string, double> held, estimated;
    for (const std::string guess : {"given", "project:5", "extrapolate"}) {
      const std::uint64_t before = ctx.memory()->use().bytes;
      SystemOf<double, S> system(ctx, a, guessing(guess));
      const auto bs = make_array(ctx, std::vector<double>(static_cast<std::size_t>(n * columns), 1.0));
      auto xs = make_array(ctx, std::vector<double>(static_cast<std::size_t>(n * columns), 0.0));
      for (const SolveReport& report : system.solve_columns(bs.cspan(), xs.span(), columns))
        REQUIRE(report.converged());
      held[guess] = static_cast<double>(ctx.memory()->use().bytes - before);
      SystemSize size{n, 5 * Offset{n}};
      size.columns = columns;
      const SystemOptions options = guessing(guess);
      estimated[guess] =
          static_cast<double>(estimate_system(options.spmv, options.precond, options.solver, size).total());
    }
    for (const std::string guess : {"project:5", "extrapolate"}) {
      const int vectors = guess == "extrapolate" ? 6 : 12;
      CHECK(estimated[guess] - estimated["given"] == vectors * 8.0 * n * columns);
      CHECK(held[guess] - held["given"] >= vectors * 8.0 * n * columns);
      CHECK(held[guess] - held["given"] <= 1.3 * vectors * 8.0 * n * columns);  // with sums of pieces
    }
  }
}
