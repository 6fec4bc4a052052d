// SPDX-License-Identifier: Apache-2.0
/// Systems for the solves in one kernel, and how those compare with separate kernels.
#pragma once

#include "tests/solver/systems.hpp"

namespace newel::testing {

constexpr Space device = Space::device;

// -div grad u on k^3 points with `block` coupled unknowns each: node blocks, symmetric positive definite.
inline Rows blocks_on_a_grid(Index k, int block) {
  Rows a(k * k * k * block);
  const auto couple = [&](Index p, Index q, double value) {
    for (int d = 0; d < block; ++d) {
      for (int e = 0; e < block; ++e) a.at(p * block + d, q * block + e) += d == e ? value : 0.1 * value / block;
    }
  };
  for (Index p = 0; p < k * k * k; ++p) {
    couple(p, p, 6.5);
    const Index x = p % k, y = p / k % k, z = p / (k * k);
    if (x > 0) couple(p, p - 1, -1), couple(p - 1, p, -1);
    if (y > 0) couple(p, p - k, -1), couple(p - k, p, -1);
    if (z > 0) couple(p, p - k * k, -1), couple(p - k * k, p, -1);
  }
  return a;
}

// The same with a wind along the first axis: not symmetric.
inline Rows windy_grid(Index k, int block) {
  Rows a = blocks_on_a_grid(k, block);
  for (Index i = 0; i < a.size(); ++i) {
    for (auto& [j, value] : a.row[static_cast<std::size_t>(i)]) {
      if (j / block == i / block + 1) value *= 0.6;
      if (j / block + 1 == i / block) value *= 1.4;
    }
  }
  return a;
}

inline SystemOptions options_of(const std::string& format, const std::string& precond, bool resident,
                                const std::string& solver = "cg") {
  SystemOptions options = system_options(solver, precond, format);
  set_resident(options.solver, resident);
  return options;
}

template <class T>
struct System {
  System(const Rows& a, const SystemOptions& options)
      : arrays(ctx, a), system(ctx, arrays.view(), options), x(ctx, a.size()) {}

  SolveReport solve(const std::vector<double>& b, const std::vector<double>& guess = {},
                    const ProgressFn& progress = {}) {
    const auto there = make_array(ctx, cast<T>(b));
    x = make_array(ctx, guess.empty() ? std::vector<T>(b.size(), T(0)) : cast<T>(guess));
    return system.solve(there.cspan(), x.span(), progress);
  }
  std::vector<T> solution() const { return to_vector(ctx, x.cspan()); }
  // |b - A x|
  double residual(const Rows& a, const std::vector<double>& b) const {
    return true_residual<T>(a, cast<T>(b), solution());
  }

  Context<device> ctx;
  Arrays<T, device> arrays;
  LinearSystem<T, device> system;
  Array<T, device> x;
};

// How far a solve in one kernel may be from the same by separate ones: rounding grows from step to step.
struct Distance {
  double rel_tol;         // that both solve to
  double residual;        // between residuals, relative
  double roundings;       // and in roundings of |b|: behind the last digits there is nothing to compare
  std::size_t residuals;  // so many of the first ones are compared
  double iterations;      // beside one, as a share of all
};

template <class T>
Distance distance_of(const std::string& solver) {
  const bool twice = sizeof(T) == 8;
  if (solver == "cg") return {twice ? 1e-10 : 1e-4, twice ? 1e-6 : 1e-2, 1, 40, 0};
  return {twice ? 1e-9 : 1e-4, twice ? 1e-5 : 2e-2, 10, 6, 0.1};
}

template <class T>
void check_against_separate_kernels(const Rows& a, SystemOptions options) {
  set_resident(options.solver, true);
  System<T> one(a, options);
  set_resident(options.solver, false);
  System<T> many(a, options);
  const Distance most = distance_of<T>(options.solver.name);
  StopCriterion stop = stop_at(most.rel_tol);
  one.system.set_stop_criterion(stop);
  many.system.set_stop_criterion(stop);
  auto b = a.rhs_for(noise(a.size()));
  for (double& value : b) value = static_cast<T>(value);
  const SolveReport found = one.solve(b), expected = many.solve(b);
  REQUIRE(found.resident);
  REQUIRE(!expected.resident);
  REQUIRE(found.converged());
  REQUIRE(expected.converged());
  CHECK(std::abs(found.iterations - expected.iterations) <= 1 + most.iterations * expected.iterations);
  CHECK(found.rhs_norm == Approx(expected.rhs_norm).epsilon(1e-12));
  CHECK(found.initial_residual == Approx(expected.initial_residual).epsilon(most.residual));
  REQUIRE(found.history.size() == static_cast<std::size_t>(found.iterations) + 1);
  const double rounding = std::numeric_limits<T>::epsilon() * norm(b);
  const auto common = std::min({found.history.size(), expected.history.size(), most.residuals});
  for (std::size_t k = 0; k < common; ++k) {
    CHECK(found.history[k] == Approx(expected.history[k]).epsilon(most.residual).margin(most.roundings * rounding));
  }
  const double residual = one.residual(a, b);
  CHECK(residual <= stop.rel_tol * norm(b) * (sizeof(T) == 8 ? 1.0 + 1e-6 : 1.1));
  CHECK(found.true_residual == Approx(residual).epsilon(sizeof(T) == 8 ? 1e-3 : 0.2).margin(100 * rounding));
}

// A solve is told in the same history, with the same bits of x, however often it is inspected.
inline SolveReport check_polls(const Rows& a, const SystemOptions& options) {
  System<double> system(a, options);
  const auto b = a.rhs_for(noise(a.size()));
  const SolveReport whole = system.solve(b);
  REQUIRE(whole.resident);
  REQUIRE(whole.converged());
  const auto x = system.solution();
  for (const int every : {1, 7, 64}) {
    CAPTURE(every);
    StopCriterion stop;
    stop.check_every = every;
    system.system.set_stop_criterion(stop);
    std::vector<int> seen;
    const SolveReport report = system.solve(b, {}, [&](const Progress& now) {
      seen.push_back(now.iteration);
      CHECK(now.residual == whole.history[static_cast<std::size_t>(now.iteration)]);
      return true;
    });
    CHECK(report.resident);
    CHECK(report.history == whole.history);
    CHECK(report.true_residual == whole.true_residual);
    CHECK(system.solution() == x);
    REQUIRE(seen.size() == static_cast<std::size_t>((whole.iterations + every - 1) / every));
    CHECK(seen.front() == std::min(every, whole.iterations));
  }
  return whole;
}

// A solve of at most so many iterations ends behind them, and so does one of as many as it takes, or one less.
inline std::vector<SolveReport> check_limits(const Rows& a, const SystemOptions& options, std::vector<int> limits) {
  System<double> system(a, options);
  const auto b = a.rhs_for(noise(a.size()));
  const SolveReport whole = system.solve(b);
  REQUIRE(whole.converged());
  limits.insert(limits.end(), {whole.iterations - 1, whole.iterations});
  const double rounding = std::numeric_limits<double>::epsilon() * norm(b);
  std::vector<SolveReport> reports;
  for (const int most : limits) {
    CAPTURE(most);
    StopCriterion stop;
    stop.max_iterations = most;
    system.system.set_stop_criterion(stop);
    const SolveReport report = system.solve(b);
    CHECK(report.resident == (most > 0));
    CHECK(report.status == (most < whole.iterations ? Status::max_iterations : Status::converged));
    CHECK(report.iterations == most);
    REQUIRE(report.history.size() == static_cast<std::size_t>(most) + 1);
    CHECK(std::equal(report.history.begin(), report.history.end(), whole.history.begin()));
    CHECK(report.true_residual == Approx(system.residual(a, b)).epsilon(1e-9).margin(100 * rounding));
    reports.push_back(report);
  }
  return reports;
}

// A caller who looks every so many iterations, and stops behind `last`, gets the x of then.
inline void check_stop(const Rows& a, const SystemOptions& options, int every, int last) {
  System<double> system(a, options);
  const auto b = a.rhs_for(noise(a.size()));
  StopCriterion stop;
  stop.check_every = every;
  system.system.set_stop_criterion(stop);
  const SolveReport stopped = system.solve(b, {}, [&](const Progress& now) { return now.iteration < last; });
  CHECK(stopped.resident);
  CHECK(stopped.status == Status::stopped_by_caller);
  CHECK(stopped.iterations == last);
  CHECK(stopped.true_residual == Approx(system.residual(a, b)).epsilon(1e-9));
}

// A good guess saves iterations, the solution all of them; the solution for a right-hand side of zero is zero.
inline void check_guesses(const Rows& a, const SystemOptions& options) {
  System<double> system(a, options);
  const auto exact = noise(a.size()), b = a.rhs_for(exact);
  auto near = exact;
  for (double& value : near) value *= 1 + 1e-3;
  const SolveReport cold = system.solve(b), warm = system.solve(b, near);
  CHECK(system.residual(a, b) <= 1e-8 * norm(b) * (1 + 1e-6));
  const SolveReport done = system.solve(b, exact);
  CHECK(cold.resident);
  CHECK(warm.resident);
  CHECK(!done.resident);  // there was nothing to iterate
  CHECK(warm.converged());
  CHECK(warm.iterations < cold.iterations);
  CHECK(done.converged());
  CHECK(done.iterations == 0);
  CHECK(system.solution() == exact);
  const SolveReport none = system.solve(std::vector<double>(b.size(), 0.0), near);
  CHECK(none.converged());
  CHECK(system.solution() == std::vector<double>(b.size(), 0.0));
}

// New values of A, and with them of M, are seen by the next solve, and nothing is allocated for them.
inline void check_refresh(Rows a, const SystemOptions& options) {
  System<double> system(a, options);
  const auto b = a.rhs_for(noise(a.size()));
  REQUIRE(system.solve(b).converged());
  for (auto& row : a.row) {
    for (auto& entry : row) entry.second *= 3;
  }
  for (Index i = 0; i < a.size(); ++i) a.at(i, i) += 0.5 * (i % 7);
  const Arrays<double, device> fresh(system.ctx, a);
  const auto rhs = make_array(system.ctx, b);
  const auto before = system.ctx.memory()->use().allocations;
  system.system.refresh(fresh.val.cspan());
  CHECK(system.system.ordered().solve(rhs.cspan(), system.x.span()).resident);
  CHECK(system.ctx.memory()->use().allocations == before);
  System<double> anew(a, options);
  const SolveReport report = system.solve(b), expected = anew.solve(b);
  CHECK(report.resident);
  CHECK(report.converged());
  CHECK(report.history == expected.history);
  CHECK(system.solution() == anew.solution());
  CHECK(system.residual(a, b) <= 1e-8 * norm(b) * (1 + 1e-6));
}

// NaN in the right-hand side is named, and x stays as it was, in one kernel and in many.
inline void check_not_finite(const Rows& a, SystemOptions options) {
  auto b = a.rhs_for(noise(a.size()));
  b[17] = std::numeric_limits<double>::quiet_NaN();
  for (const bool resident : {true, false}) {
    CAPTURE(resident);
    set_resident(options.solver, resident);
    System<double> system(a, options);
    const SolveReport report = system.solve(b, std::vector<double>(b.size(), 1.0));
    CHECK(report.status == Status::not_finite);
    CHECK(report.reason == "the right-hand side holds NaN or infinity");
    CHECK(system.solution() == std::vector<double>(b.size(), 1.0));
  }
}

// Norms that squares cannot hold are left to the usual loop.
inline void check_tiny(const Rows& a, SystemOptions options, std::vector<double> b) {
  for (double& value : b) value *= 1e-160;
  System<double> one(a, options);
  set_resident(options.solver, false);
  System<double> many(a, options);
  const SolveReport found = one.solve(b), expected = many.solve(b);
  CHECK(found.status == expected.status);
  CHECK(found.reason == expected.reason);
  CHECK(!found.resident);
}

// What one kernel does not take is solved all the same.
inline void check_not_resident(const Rows& a, const SystemOptions& options) {
  System<double> system(a, options);
  const auto b = a.rhs_for(noise(a.size()));
  const SolveReport report = system.solve(b);
  CHECK(report.converged());
  CHECK(!report.resident);
  CHECK(system.residual(a, b) <= 1e-8 * norm(b) * (1 + 1e-6));
}

/// Whether a solve that rounding keeps from its tolerance ends in one kernel, and tells the residual that there is.
inline void check_ends_in_truth(const Rows& a, const SystemOptions& options, int most_iterations) {
  System<double> system(a, options);
  StopCriterion stop = stop_at(1e-17);
  stop.max_iterations = most_iterations;
  system.system.set_stop_criterion(stop);
  const auto b = a.rhs_for(noise(a.size()));
  const SolveReport report = system.solve(b);
  CHECK(!report.converged());
  CHECK(report.resident);  // also behind replacements of the residual
  const double rounding = std::numeric_limits<double>::epsilon() * norm(b);
  CHECK(report.true_residual == Approx(system.residual(a, b)).epsilon(0.2).margin(100 * rounding));
  CHECK(report.true_residual <= 1e-12 * norm(b));
}

}  // namespace newel::testing
