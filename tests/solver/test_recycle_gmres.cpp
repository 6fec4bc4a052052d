// SPDX-License-Identifier: Apache-2.0
// Sequences of unsymmetric systems whose cycles of GMRES leave out vectors of earlier solves: what that saves, and
// what it must not change.
#include "tests/solver/recycle_support.hpp"

#include <limits>

#include <newel/solver/memory_estimate.hpp>

namespace {

SystemOptions by_gmres(const std::string& recycle, const std::string& precond = "none",
                       const std::string& format = "csr", int restart = 50, bool left = false) {
  SystemOptions options = recycling(recycle, precond, format, "gmres");
  options.solver.of<GmresOptions>().restart = restart;
  options.solver.of<GmresOptions>().left = left;
  options.stop.max_iterations = 8000;
  return options;
}

// Unknowns i and half + i have the eigenvalues r e^(+-i angle), and a basis that is not orthogonal. `outliers` of all
// have r between 1e-4 and 1e-2, the others between `least` and 2.
Rows with_spectrum(Index n, int outliers, double least = 0.3) {
  const Index half = n / 2;
  Rows a(n);
  for (Index i = 0; i < half; ++i) {
    const bool out = i < outliers / 2;
    const double r = out ? 1e-4 * std::pow(100.0, 2.0 * i / outliers) : least + (2 - least) * i / half;
    const double angle = 0.5 * std::sin(1.0 + i), c = r * std::cos(angle), s = r * std::sin(angle);
    const double p = 0.5 * std::cos(2.0 * i), q = 0.3, det = 1 - p * q;  // columns (1, q) and (p, 1)
    // [1 p; q 1] [c -s; s c] [1 p; q 1]^-1
    const double m[] = {c + p * s, p * c - s, q * c + s, c - q * s};
    a.at(i, i) = (m[0] - m[1] * q) / det;
    a.at(i, half + i) = (m[1] - m[0] * p) / det;
    a.at(half + i, i) = (m[2] - m[3] * q) / det;
    a.at(half + i, half + i) = (m[3] - m[2] * p) / det;
  }
  return a;
}

template <Space S>
int plain_iterations(const Context<S>& ctx, const Rows& a, SystemOptions options, std::uint64_t seed) {
  options.solver.of<RecycleOptions>().recycle = "0";
  SystemOf<double, S> plain(ctx, a, options);
  return solve_for<double, S>(ctx, plain, a, seed).iterations;
}

// The iterations of solve number `solves`, over those without recycling.
template <Space S>
double share_after(const Context<S>& ctx, const Rows& a, const SystemOptions& options, int solves) {
  CAPTURE(options.precond.name, options.spmv.format, options.solver.of<GmresOptions>().left);
  SystemOf<double, S> system(ctx, a, options);
  SolveReport report;
  for (int k = 1; k <= solves; ++k) report = solve_for<double, S>(ctx, system, a, static_cast<std::uint64_t>(k));
  CHECK(report.recycle.vectors > 0);
  CHECK(report.recycle.iterations_saved > 0);
  CHECK(report.residual_replacements == 0);  // the recurrence knew the residual of x
  const auto last = static_cast<std::uint64_t>(solves);
  return report.iterations / static_cast<double>(plain_iterations(ctx, a, options, last));
}

// Diffusion with wind, and soft cells whose corners are nearly loose.
Rows windy_inclusions(Index k, double contrast, double wind) {
  Rows a(k * k);
  const auto stiffness = [&](Index i, Index j) { return (i / 4 + j / 4) % 3 == 0 ? contrast : 1.0; };
  const auto couple = [&](Index p, Index q, double w) {
    a.at(p, p) += (1 + wind) * w, a.at(q, q) += (1 - wind) * w;
    a.at(p, q) -= (1 + wind) * w;
    a.at(q, p) -= (1 - wind) * w;
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

}  // namespace

TEST_BOTH("cycles without the outliers take the iterations of the matrix without them", "[solver][recycle][gmres]") {
  constexpr Index n = 600;
  const Rows a = with_spectrum(n, 12), without = with_spectrum(n, 0);
  const SystemOptions options = by_gmres("16");
  SystemOf<double, S> recycled(ctx, a, options);
  std::vector<int> iterations;
  for (std::uint64_t k = 1; k <= 8; ++k) {
    const SolveReport report = solve_for<double, S>(ctx, recycled, a, k);
    iterations.push_back(report.iterations);
    CHECK(report.recycle.vectors > 0);  // in the first one after ten cycles
  }
  CAPTURE(iterations);
  CHECK(iterations[0] <= 0.4 * plain_iterations(ctx, a, options, 1));
  for (std::size_t k = 1; k < iterations.size(); ++k) CHECK(iterations[k] <= 0.4 * iterations[0]);
  const int bound = plain_iterations(ctx, without, options, 3) + 4;
  CAPTURE(bound);
  for (std::size_t k = 4; k < iterations.size(); ++k) CHECK(iterations[k] <= bound);
}

TEST_BOTH("cycles recycle with any preconditioner, format, side and basis", "[solver][recycle][gmres]") {
  const Rows a = windy_inclusions(24, 1e3, 0.02);
  CHECK(share_after(ctx, a, by_gmres("16", "jacobi"), 4) < 0.6);
  CHECK(share_after(ctx, a, by_gmres("16", "jacobi", "csr", 50, true), 4) < 0.6);
  CHECK(share_after(ctx, a, by_gmres("12", "jacobi", "ehyb"), 4) < 0.6);
  CHECK(share_after(ctx, a, by_gmres("16", "spai"), 4) < 0.8);
  CHECK(share_after(ctx, a, by_gmres("auto", "jacobi"), 5) < 0.6);
  SystemOptions single = by_gmres("16", "jacobi");
  single.solver.of<GmresOptions>().single_basis = true;
  CHECK(share_after(ctx, a, single, 4) < 0.7);
}

TEST_BOTH("cycles in single precision recycle as well", "[solver][recycle][gmres]") {
  constexpr Index n = 600;
  const Rows a = with_spectrum(n, 6);
  SystemOptions options = by_gmres("8");
  options.stop.rel_tol = 1e-4;
  SystemOf<float, S> system(ctx, a, options);
  const int first = solve_for<float, S>(ctx, system, a, 1).iterations;
  const SolveReport second = solve_for<float, S>(ctx, system, a, 2);
  CHECK(second.recycle.vectors > 0);
  CHECK(second.iterations <= 0.6 * first);
}

TEST_BOTH("recycled vectors of cycles follow values that change", "[solver][recycle][gmres]") {
  Rows a = windy_inclusions(24, 1e3, 0.02);
  const SystemOptions options = by_gmres("16", "jacobi");
  SystemOf<double, S> system(ctx, a, options);
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
    if (k >= 4) CHECK(report.iterations < 0.7 * plain_iterations(ctx, a, options, k));
  }
}

TEST_BOTH("wrong vectors of cycles cost iterations at most, and are replaced", "[solver][recycle][gmres]") {
  constexpr Index n = 600;
  const Rows a = with_spectrum(n, 12);
  const SystemOptions options = by_gmres("12");
  const int plain = plain_iterations(ctx, a, options, 3);
  for (const char* how : {"noise", "equal", "huge", "tiny", "zero", "infinite", "not a number"}) {
    CAPTURE(how);
    SystemOf<double, S> system(ctx, a, options);
    for (std::uint64_t k = 1; k <= 3; ++k) solve_for<double, S>(ctx, system, a, k);
    GuessState state = system.history().guess_state();
    const auto held = static_cast<std::size_t>(state.counts[state.counts.size() - 3]);
    REQUIRE(held > 0);
    const std::size_t first = state.values.size() - held * n;
    const std::vector<double> wrong = noise(static_cast<Index>(held) * n, 99);
    for (std::size_t i = 0; i < held * n; ++i) {
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
    CAPTURE(plain, iterations);
    CHECK(*std::max_element(iterations.begin(), iterations.end()) <= 1.2 * plain + 8);
    CHECK(iterations.back() <= 0.6 * plain);
  }
}

TEST_BOTH("cycles recycle from a state with the same bits", "[solver][recycle][gmres]") {
  const Rows a = windy_inclusions(20, 1e3, 0.02);
  for (const char* recycle : {"12", "auto"}) {
    for (const int broken : {1, 2, 3, 6}) {
      CAPTURE(recycle, broken);
      SystemOptions options = by_gmres(recycle, "jacobi", "ehyb", 30);
      if (broken == 3) options.solver.of<GuessOptions>().guess = "project:3";
      check_resumed<double, S>(ctx, a, options, 9, broken);
    }
  }
}

TEST_BOTH("the first solve of cycles has the bits of one that keeps nothing", "[solver][recycle][gmres]") {
  const Rows a = laplacian(20, 0.3);  // a few cycles
  SystemOf<double, S> with(ctx, a, by_gmres("12", "jacobi")), without(ctx, a, by_gmres("0", "jacobi"));
  std::vector<double> found, expected;
  solve_for<double, S>(ctx, with, a, 1, &found);
  solve_for<double, S>(ctx, without, a, 1, &expected);
  CHECK(found == expected);
}

TEST_BOTH("a solve whose cycles are too short continues without the vectors that it has found",
          "[solver][recycle][gmres]") {
  const Rows a = with_spectrum(300, 6);
  SystemOptions options = by_gmres("8", "none", "csr", 16);
  options.stop.max_iterations = 2000;
  SystemOptions plain = options;
  plain.solver.of<RecycleOptions>().recycle = "0";
  SystemOf<double, S> none(ctx, a, plain);
  const auto b = make_array(ctx, noise(a.size(), 1));
  auto x = make_array(ctx, std::vector<double>(static_cast<std::size_t>(a.size()), 0.0));
  CHECK_FALSE(none.solve(b.cspan(), x.span(), {}, InitialGuess::zero).converged());
  SystemOf<double, S> system(ctx, a, options);
  for (std::uint64_t k = 1; k <= 5; ++k) {
    const SolveReport report = solve_for<double, S>(ctx, system, a, k);
    CAPTURE(report.iterations);
    CHECK(report.iterations < (k == 1 ? 400 : 120));
    CHECK(report.recycle.vectors > 0);
    CHECK(static_cast<int>(report.history.size()) == report.iterations + 1);
    REQUIRE(report.attempts.size() == 1);
    CHECK(report.attempts[0].iterations == report.iterations);
  }
}

TEST_BOTH("a right-hand side of recycled vectors needs no iteration", "[solver][recycle][gmres]") {
  constexpr Index n = 600;
  const Rows a = with_spectrum(n, 12);
  SystemOf<double, S> system(ctx, a, by_gmres("16"));
  for (std::uint64_t k = 1; k <= 4; ++k) solve_for<double, S>(ctx, system, a, k);
  const GuessState state = system.history().guess_state();
  const std::vector<double> u(state.values.end() - n, state.values.end());  // the last of them
  const std::vector<double> rhs = a.rhs_for(u);
  const auto b = make_array(ctx, rhs);
  auto x = make_array(ctx, std::vector<double>(static_cast<std::size_t>(n), 0.0));
  const SolveReport report = system.solve(b.cspan(), x.span(), {}, InitialGuess::zero);
  CHECK(report.converged());
  CHECK(report.iterations == 0);
  CHECK(true_residual(a, rhs, to_vector(ctx, x.cspan())) <= 1e-8 * norm(rhs));
}

TEST_BOTH("only solves that harvest cycles first allocate", "[solver][recycle][gmres]") {
  const Rows a = windy_inclusions(24, 1e3, 0.02);
  SystemOf<double, S> system(ctx, a, by_gmres("16", "jacobi"));
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

TEST_BOTH("cycles leave eigenvalues alone that do not stand out", "[solver][recycle][gmres]") {
  const Rows a = with_spectrum(400, 0, 1.4);
  SystemOf<double, S> system(ctx, a, by_gmres("8"));
  std::vector<int> vectors;
  for (std::uint64_t k = 1; k <= 8; ++k) vectors.push_back(solve_for<double, S>(ctx, system, a, k).recycle.vectors);
  CAPTURE(vectors);
  CHECK(vectors.back() == 0);
}

TEST_BOTH("recycled vectors of cycles are part of the memory estimate", "[solver][recycle][gmres]") {
  const Rows a = windy_inclusions(24, 1e3, 0.02);
  Offset nonzeros = 0;
  for (const auto& row : a.row) nonzeros += static_cast<Offset>(row.size());
  std::uint64_t held[2], estimated[2];
  for (const int with : {0, 1}) {
    const SystemOptions options = by_gmres(with == 1 ? "16" : "0", "jacobi");
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
  CHECK(more <= 1.1 * expected + 2e5);
}
