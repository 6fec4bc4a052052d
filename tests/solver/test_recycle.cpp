// SPDX-License-Identifier: Apache-2.0
// Sequences of systems that deflate vectors of earlier solves: what that saves, and what it must not change.
#include "tests/solver/recycle_support.hpp"

#include <limits>

#include <newel/solver/memory_estimate.hpp>

namespace {

// Symmetric, with exactly these eigenvalues: each is coupled to one of the other half by a rotation.
Rows with_eigenvalues(const std::vector<double>& values) {
  const auto n = static_cast<Index>(values.size()), half = n / 2;
  Rows a(n);
  for (Index i = 0; i < half; ++i) {
    const double first = values[static_cast<std::size_t>(i)], second = values[static_cast<std::size_t>(half + i)];
    const double c = std::cos(0.3 + i), s = std::sin(0.3 + i);
    a.at(i, i) = c * c * first + s * s * second;
    a.at(half + i, half + i) = s * s * first + c * c * second;
    a.at(i, half + i) = a.at(half + i, i) = c * s * (first - second);
  }
  return a;
}

// `outliers` of n eigenvalues lie between 1e-5 and 1e-3, the others between 0.2 and 2.
std::vector<double> spectrum(Index n, int outliers) {
  std::vector<double> values;
  for (int k = 0; k < outliers; ++k) values.push_back(1e-5 * std::pow(100.0, k / std::max(outliers - 1.0, 1.0)));
  while (static_cast<Index>(values.size()) < n)
    values.push_back(0.2 + 1.8 * static_cast<double>(values.size() - static_cast<std::size_t>(outliers)) / n);
  return values;
}

// Soft inclusions in a stiff frame, whose corners are nearly loose: a few eigenvalues that Jacobi leaves small.
Rows inclusions(Index k, double contrast) {
  const auto stiffness = [&](Index i, Index j) { return (i / 4 + j / 4) % 3 == 0 ? contrast : 1.0; };
  Rows a(k * k);
  const auto couple = [&](Index p, Index q, double w) {
    a.at(p, p) += w, a.at(q, q) += w;
    a.at(p, q) = a.at(q, p) = -w;
  };
  const auto mean = [](double p, double q) { return 2 * p * q / (p + q); };
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < k; ++j) {
      if (j + 1 < k) couple(i * k + j, i * k + j + 1, mean(stiffness(i, j), stiffness(i, j + 1)));
      if (i + 1 < k) couple(i * k + j, (i + 1) * k + j, mean(stiffness(i, j), stiffness(i + 1, j)));
      if (i == 0 || j == 0) a.at(i * k + j, i * k + j) += 1;
    }
  }
  return a;
}

template <Space S>
int plain_iterations(const Context<S>& ctx, const Rows& a, const std::string& precond, std::uint64_t seed) {
  SystemOf<double, S> plain(ctx, a, recycling("0", precond));
  return solve_for<double, S>(ctx, plain, a, seed).iterations;
}

// The part of the iterations without recycling that solve number `solves` takes.
template <Space S>
double share_after(const Context<S>& ctx, const Rows& a, const SystemOptions& options, int solves) {
  CAPTURE(options.precond.name, options.spmv.format);
  SystemOf<double, S> system(ctx, a, options);
  SolveReport report;
  for (int k = 1; k <= solves; ++k) report = solve_for<double, S>(ctx, system, a, static_cast<std::uint64_t>(k));
  CHECK(report.recycle.vectors > 0);
  CHECK(report.recycle.iterations_saved > 0);
  return report.iterations / static_cast<double>(plain_iterations(ctx, a, options.precond.name, 1));
}

}  // namespace

TEST_CASE("the option recycle takes numbers and auto, and nothing else", "[solver][recycle]") {
  CHECK_FALSE(recycle_rule("0").keeps());
  CHECK(recycle_rule("12").vectors == 12);
  CHECK_FALSE(recycle_rule("12").decides);
  CHECK(recycle_rule("Auto").vectors == RecycleRule::most_vectors);
  CHECK(recycle_rule("auto").decides);
  for (const char* text : {"", "-1", "33", "8x", " 8", "8.0", "on", "automatic"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(recycle_rule(text), InputError);
  }
  const Context<Space::host> ctx;
  CHECK_THROWS_AS((SystemOf<double, Space::host>(ctx, laplacian(4), recycling("many"))), InputError);
}

TEST_BOTH("deflated outliers leave CG the iterations of the matrix without them", "[solver][recycle]") {
  constexpr Index n = 600;
  const Rows a = with_eigenvalues(spectrum(n, 12)), without = with_eigenvalues(spectrum(n, 0));
  SystemOf<double, S> recycled(ctx, a, recycling("16"));
  std::vector<int> iterations;
  for (std::uint64_t k = 1; k <= 5; ++k) {
    const SolveReport report = solve_for<double, S>(ctx, recycled, a, k);
    iterations.push_back(report.iterations);
    CHECK((report.recycle.vectors > 0) == (k > 1));
  }
  CAPTURE(iterations);
  CHECK(std::abs(iterations[0] - plain_iterations(ctx, a, "none", 1)) <= 1);
  CHECK(iterations[1] <= 0.4 * iterations[0]);
  const int bound = plain_iterations(ctx, without, "none", 3) + 3;
  CHECK(iterations[2] <= bound);
  CHECK(iterations[4] <= bound);
}

TEST_BOTH("recycling saves iterations with any preconditioner and format", "[solver][recycle]") {
  const Rows a = inclusions(36, 1e4);
  CHECK(share_after(ctx, a, recycling("16", "jacobi"), 4) < 0.5);
  CHECK(share_after(ctx, a, recycling("16", "none"), 4) < 0.8);
  CHECK(share_after(ctx, a, recycling("24", "fsai"), 4) < 0.5);
  CHECK(share_after(ctx, a, recycling("8", "jacobi", "ehyb"), 3) < 0.7);
  SystemOptions automatic = recycling("auto", "jacobi");
  set_resident(automatic.solver, false);
  CHECK(share_after(ctx, a, automatic, 5) < 0.5);  // on a device a plain solve is looked at first
}

TEST_BOTH("auto leaves solves in one kernel as they are", "[solver][recycle]") {
  const Rows a = inclusions(36, 1e4);
  SystemOf<double, S> system(ctx, a, recycling("auto", "jacobi"));
  const bool resident = solve_for<double, S>(ctx, system, a, 1).resident;
  for (std::uint64_t k = 2; k <= 6; ++k) {
    const SolveReport report = solve_for<double, S>(ctx, system, a, k);
    if (resident) CHECK((report.resident && report.recycle.vectors == 0));
  }
  CHECK(resident == (S == Space::device));
}

TEST_BOTH("single precision recycles as well", "[solver][recycle]") {
  constexpr Index n = 600;
  const Rows a = with_eigenvalues(spectrum(n, 6));
  SystemOptions options = recycling("8");
  options.stop.rel_tol = 1e-4;
  SystemOf<float, S> system(ctx, a, options);
  const int first = solve_for<float, S>(ctx, system, a, 1).iterations;
  const SolveReport second = solve_for<float, S>(ctx, system, a, 2);
  CHECK(second.recycle.vectors > 0);
  CHECK(second.iterations <= 0.6 * first);
}

TEST_BOTH("vectors follow values that change", "[solver][recycle]") {
  Rows a = inclusions(30, 1e4);
  SystemOf<double, S> system(ctx, a, recycling("16", "jacobi"));
  for (std::uint64_t k = 1; k <= 12; ++k) {
    if (k % 3 == 0) {  // a drift, and a factor for all of them
      for (Index i = 0; i < a.size(); ++i) a.at(i, i) += 0.01;
      for (auto& row : a.row) {
        for (auto& [j, value] : row) value *= 3;
      }
      const auto values = make_array(ctx, values_of(a));
      system.refresh(values.cspan());
    }
    const SolveReport report = solve_for<double, S>(ctx, system, a, k);
    CAPTURE(k, report.iterations, report.recycle.iterations_saved);
    if (k >= 4) CHECK(report.iterations < 0.6 * plain_iterations(ctx, a, "jacobi", k));
  }
}

TEST_BOTH("wrong vectors cost iterations at most, and are replaced", "[solver][recycle]") {
  constexpr Index n = 600;
  const Rows a = with_eigenvalues(spectrum(n, 12));
  const int plain = plain_iterations(ctx, a, "none", 3);
  for (const char* how : {"noise", "equal", "huge", "tiny", "zero", "infinite", "not a number"}) {
    CAPTURE(how);
    SystemOf<double, S> system(ctx, a, recycling("8"));
    for (std::uint64_t k = 1; k <= 2; ++k) solve_for<double, S>(ctx, system, a, k);
    GuessState state = system.history().guess_state();
    const std::size_t first = state.values.size() - 8 * n;
    const std::vector<double> wrong = noise(8 * n, 99);
    for (std::size_t i = 0; i < 8 * n; ++i) {
      double& value = state.values[first + i];
      const std::string word = how;
      value = word == "equal" ? wrong[i % n] : wrong[i];
      if (word == "huge") value *= 1e37;
      if (word == "tiny") value *= 1e-40;
      if (word == "zero") value = 0;
      if (word == "infinite" && i % n == 7) value = std::numeric_limits<double>::infinity();
      if (word == "not a number" && i % n == 7) value = std::numeric_limits<double>::quiet_NaN();
    }
    system.history().set_guess_state(state);
    std::vector<int> iterations;
    for (std::uint64_t k = 3; k <= 10; ++k) {
      const SolveReport report = solve_for<double, S>(ctx, system, a, k);
      iterations.push_back(report.iterations);
    }
    CHECK(*std::max_element(iterations.begin(), iterations.end()) <= 1.1 * plain + 8);
    CHECK(iterations.front() >= 0.8 * plain);  // they are wrong
    CHECK(iterations.back() <= 0.6 * plain);
  }
}

TEST_BOTH("a deflated solve that fails ends as one without vectors", "[solver][recycle]") {
  const Rows a = inclusions(16, 1e3);
  Rows indefinite = a;
  for (Index i = 0; i < a.size(); i += 3) indefinite.at(i, i) *= -1;
  SystemOf<double, S> system(ctx, a, recycling("8"));
  for (std::uint64_t k = 1; k <= 3; ++k) solve_for<double, S>(ctx, system, a, k);
  const auto values = make_array(ctx, values_of(indefinite)), back = make_array(ctx, values_of(a));
  system.refresh(values.cspan());
  const auto b = make_array(ctx, noise(a.size(), 4));
  auto x = make_array(ctx, std::vector<double>(static_cast<std::size_t>(a.size()), 0.0));
  const SolveReport failed = system.solve(b.cspan(), x.span(), {}, InitialGuess::zero);
  CHECK(failed.status == Status::not_positive_definite);
  CHECK(failed.recycle.vectors == 0);
  REQUIRE(failed.attempts.size() == 1);
  CHECK(failed.attempts[0].iterations == failed.iterations);
  CHECK(static_cast<int>(failed.history.size()) == failed.iterations + 1);
  CHECK(true_residual(indefinite, noise(a.size(), 4), to_vector(ctx, x.cspan())) <= 1.01 * failed.true_residual);
  system.refresh(back.cspan());
  solve_for<double, S>(ctx, system, a, 5);
}

TEST_BOTH("a sequence recycles from its state with the same bits", "[solver][recycle]") {
  const Rows a = inclusions(24, 1e4);
  for (const char* recycle : {"12", "auto"}) {
    for (const int broken : {1, 2, 5, 9}) {
      CAPTURE(recycle, broken);
      SystemOptions options = recycling(recycle, "jacobi", "ehyb");
      if (broken == 5) options.solver.of<GuessOptions>().guess = "project:3";
      check_resumed<double, S>(ctx, a, options, 12, broken);
    }
  }
}

TEST_BOTH("a state of other recycled vectors is refused", "[solver][recycle]") {
  const Rows a = inclusions(12, 1e3), other = inclusions(13, 1e3);
  SystemOf<double, S> system(ctx, a, recycling("8", "jacobi")), longer(ctx, other, recycling("8", "jacobi")),
      more(ctx, a, recycling("9", "jacobi")), none(ctx, a, recycling("0", "jacobi"));
  for (std::uint64_t k = 1; k <= 2; ++k) solve_for<double, S>(ctx, system, a, k);
  GuessState state = system.history().guess_state();
  CHECK_THROWS_WITH(longer.history().set_guess_state(state), Catch::Matchers::Contains("144 unknowns"));
  CHECK_THROWS_WITH(more.history().set_guess_state(state), Catch::Matchers::Contains("asks for 9"));
  CHECK_THROWS_AS(none.history().set_guess_state(state), InputError);
  state.values.resize(20);
  CHECK_THROWS_WITH(system.history().set_guess_state(state), Catch::Matchers::Contains("too few values"));
  state = system.history().guess_state();
  state.counts[state.counts.size() - 3] = 9;
  CHECK_THROWS_AS(system.history().set_guess_state(state), InputError);
  system.history().set_guess_state({});
  CHECK(solve_for<double, S>(ctx, system, a, 3).recycle.vectors == 0);
}

TEST_BOTH("only solves that harvest first allocate", "[solver][recycle]") {
  const Rows a = inclusions(24, 1e4);
  SystemOf<double, S> system(ctx, a, recycling("16", "jacobi"));
  const std::vector<double> zero(static_cast<std::size_t>(a.size()), 0.0);
  auto bs = make_array(ctx, zero), xs = make_array(ctx, zero);
  const auto solve = [&](std::uint64_t seed) {
    copy<double>(ctx, Span<const double, Space::host>(noise(a.size(), seed).data(), a.size()), bs.span());
    REQUIRE(system.solve(bs.cspan(), xs.span(), {}, InitialGuess::zero).converged());
  };
  for (std::uint64_t k = 1; k <= 3; ++k) solve(k);
  const auto before = ctx.memory()->use().allocations;
  for (std::uint64_t k = 4; k <= 12; ++k) solve(k);
  CHECK(ctx.memory()->use().allocations == before);
}

TEST_BOTH("what cannot recycle solves as before", "[solver][recycle]") {
  const Rows a = inclusions(16, 1e3);
  for (const char* solver : {"minres", "fgmres", "bicgstab"}) {
    CAPTURE(solver);
    SystemOf<double, S> with(ctx, a, recycling("8", "jacobi", "csr", solver)),
        without(ctx, a, recycling("0", "jacobi", "csr", solver));
    for (std::uint64_t k = 1; k <= 3; ++k) {
      std::vector<double> x, expected;
      CHECK(solve_for<double, S>(ctx, with, a, k, &x).recycle.vectors == 0);
      solve_for<double, S>(ctx, without, a, k, &expected);
      CHECK(x == expected);
    }
  }
  SystemOf<double, S> system(ctx, a, recycling("0", "jacobi"));
  CHECK(solve_for<double, S>(ctx, system, a, 1).recycle.vectors == 0);
  CHECK(system.history().guess_state().counts.empty());
}

TEST_BOTH("a system that chooses for itself recycles once its choice stands", "[solver][recycle]") {
  const Rows a = inclusions(40, 1e5);
  SystemOf<double, S> system(ctx, a, recycling("16", "auto", "auto", "auto"));
  for (std::uint64_t k = 1; k <= 8; ++k) solve_for<double, S>(ctx, system, a, k);
}

TEST_BOTH("eigenvalues that do not stand out are left alone", "[solver][recycle]") {
  std::vector<double> values;
  for (int k = 0; k < 400; ++k) values.push_back(1 + k / 400.0);
  const Rows a = with_eigenvalues(values);
  SystemOf<double, S> system(ctx, a, recycling("8"));
  for (std::uint64_t k = 1; k <= 6; ++k) CHECK(solve_for<double, S>(ctx, system, a, k).recycle.vectors == 0);
}

TEST_BOTH("recycled vectors are part of the memory estimate", "[solver][recycle]") {
  const Rows a = inclusions(40, 1e4);
  Offset nonzeros = 0;
  for (const auto& row : a.row) nonzeros += static_cast<Offset>(row.size());
  std::uint64_t held[2], estimated[2];
  for (const int with : {0, 1}) {
    SystemOptions options = recycling(with == 1 ? "16" : "0", "jacobi");
    set_resident(options.solver, false);  // its kernel holds packets, and does not deflate
    SystemOf<double, S> system(ctx, a, options);
    for (std::uint64_t k = 1; k <= 3; ++k) solve_for<double, S>(ctx, system, a, k);
    held[with] = ctx.memory()->use().bytes;
    estimated[with] =
        estimate_system(options.spmv, options.precond, options.solver, {a.size(), nonzeros, sizeof(double), false})
            .total();
  }
  const double more = static_cast<double>(held[1]) - static_cast<double>(held[0]);
  const double expected = static_cast<double>(estimated[1]) - static_cast<double>(estimated[0]);
  CHECK(more >= expected);
  CHECK(more <= 1.1 * expected + 1e5);
}
