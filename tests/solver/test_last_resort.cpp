// SPDX-License-Identifier: Apache-2.0
// The direct solver where "auto" has failed with everything else: when it is tried, what is reported, and what is
// kept.
#include "tests/core/memory_support.hpp"
#include "tests/solver/reported_systems.hpp"
#include "tests/solver/systems.hpp"

#include <newel/reorder/scaling.hpp>
#include <newel/solver/choice.hpp>

namespace {

constexpr Index rows = 400;

// Every unknown depends on the next one, round a circle, with factors of very different sizes: no Krylov space of
// fewer than n vectors holds x, and no sparse approximate inverse is close.
Rows circle(Index n, std::uint64_t seed = 1) {
  Rows a(n);
  const auto sizes = noise(n, seed);
  for (Index i = 0; i < n; ++i) {
    a.at(i, (i + 1) % n) = std::exp2(6 * sizes[static_cast<std::size_t>(i)]);
    a.at(i, (i * 7 + 3) % n) += 0.5;
    a.at((i * 11 + 5) % n, i) += -0.75;
  }
  return a;
}

// Cycles that are far shorter than n: GMRES solves a small system otherwise.
SystemOptions short_cycles(const std::string& format = "auto") {
  SystemOptions options = system_options("auto", "auto", format);
  options.solver.of<GmresOptions>().restart = 10;
  options.solver.of<ScalingOptions>() = {Use::off, Use::off};
  return options;
}

bool ended_by_direct(const SolveReport& report) {
  return report.converged() && report.solver == "direct" && report.attempts.back().solver == "direct";
}

}  // namespace

TEST_CASE("What no other solver of auto solves is solved by factors, and the report lists all of them",
          "[direct][auto]") {
  const Context<Space::host> ctx;
  const Rows a = circle(rows);
  const auto b = noise(rows, 2);
  SystemOf<double, Space::host> system(ctx, a, short_cycles());
  const auto found = run_system(ctx, system, b);
  INFO(found.report.reason);
  CHECK(ended_by_direct(found.report));
  CHECK(found.report.attempts.size() >= 2);
  for (std::size_t k = 0; k + 1 < found.report.attempts.size(); ++k) {
    CHECK(found.report.attempts[k].status != Status::converged);
  }
  CHECK(found.report.attempts.back().preconditioner == "none");
  CHECK(true_residual(a, b, found.x) <= 1e-8 * norm(b));
  // It begins later solves, which need no iteration.
  const auto other = noise(rows, 3);
  const auto second = run_system(ctx, system, other);
  CHECK(ended_by_direct(second.report));
  CHECK(second.report.attempts.size() == 1);
  CHECK(second.report.iterations == 0);
  CHECK(true_residual(a, other, second.x) <= 1e-8 * norm(other));
}

TEST_CASE("New values reach the factors of auto, in whatever way they come", "[direct][auto]") {
  const Context<Space::host> ctx;
  const Rows a = circle(rows), changed = circle(rows, 5);
  const auto b = noise(rows, 2);
  for (const char* format : {"auto", "ehyb"}) {
    SystemOf<double, Space::host> system(ctx, a, short_cycles(format));
    CHECK(ended_by_direct(run_system(ctx, system, b).report));
    system.refresh(Arrays<double, Space::host>(ctx, changed).val.cspan());
    const auto found = run_system(ctx, system, b);
    CHECK(found.report.attempts.size() == 1);
    CHECK(true_residual(changed, b, found.x) <= 1e-8 * norm(b));
  }
  SystemOf<double, Space::host> system(ctx, a, short_cycles());
  CHECK(ended_by_direct(run_system(ctx, system, b).report));
  const Slots<double, Space::host> slots = system.in_place().matrix();
  for (std::int64_t k = 0; k < slots.values.size; ++k) slots.values[k] *= 2;
  system.in_place().written();
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.attempts.size() == 1);
  Rows twice = a;
  for (auto& row : twice.row) {
    for (auto& [j, value] : row) value *= 2;
  }
  CHECK(true_residual(twice, b, found.x) <= 1e-8 * norm(b));
}

TEST_CASE("Columns that the others fail at are solved by factors", "[direct][auto][columns]") {
  const Context<Space::host> ctx;
  const Rows a = circle(rows);
  SystemOf<double, Space::host> system(ctx, a, short_cycles());
  const Index columns = 2;
  const auto b = noise(columns * rows, 4);
  const auto bs = make_array(ctx, b);
  for (int solve = 0; solve < 2; ++solve) {
    auto xs = make_array(ctx, std::vector<double>(b.size(), 0.0));
    const auto reports = system.solve_columns(bs.cspan(), xs.span(), columns);
    REQUIRE(reports.size() == 2);
    const auto x = to_vector(ctx, xs.cspan());
    for (Index c = 0; c < columns; ++c) {
      const auto of = [&](const std::vector<double>& v) {
        return std::vector<double>(v.begin() + c * rows, v.begin() + (c + 1) * rows);
      };
      CHECK(ended_by_direct(reports[static_cast<std::size_t>(c)]));
      CHECK((reports[static_cast<std::size_t>(c)].attempts.size() == 1) == (solve == 1));
      CHECK(true_residual(a, of(b), of(x)) <= 1e-8 * norm(of(b)));
    }
  }
}

TEST_CASE("Factors reach a tolerance that rounding keeps Krylov solvers from", "[direct][auto]") {
  const Context<Space::host> ctx;
  std::vector<double> x(40);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * i % 11) - (i % 4 == 2 ? 0 : 4);
  for (std::size_t i = 2; i < x.size(); i += 4) x[i] = x[i - 1];  // the stiff springs are not loaded
  // A chain with its first end fixed; every fourth spring is stiff.
  const auto springs = [](double stiff) {
    Rows a(40);
    for (Index i = 0; i < 40; ++i) {
      const double stiffness = i % 4 == 2 ? stiff : 1;
      a.at(i, i) += stiffness;
      if (i == 0) continue;
      a.at(i - 1, i - 1) += stiffness;
      a.at(i, i - 1) -= stiffness;
      a.at(i - 1, i) -= stiffness;
    }
    return a;
  };
  const auto solved = [&](const Rows& a, const char* solver) {
    SystemOf<double, Space::host> system(ctx, a, system_options(solver, "jacobi", "csr"));
    return run_system(ctx, system, a.rhs_for(x));
  };
  CHECK(solved(springs(1e9), "cg").report.failure.cause == Cause::rounding_of_x);
  // Other preconditioners, which "auto" might take on a slow machine, come to this x by luck: its entries are
  // integers.
  const Rows a = springs(1e11);
  const auto b = a.rhs_for(x);
  CHECK_FALSE(solved(a, "cg").report.converged());
  const auto found = solved(a, "auto");
  INFO(found.report.reason);
  CHECK(ended_by_direct(found.report));
  CHECK(true_residual(a, b, found.x) <= 1e-8 * norm(b));
}

TEST_CASE("If rounding keeps factors from the tolerance too, that is still the reason", "[direct][auto]") {
  const Context<Space::host> ctx;
  const ReportedSystem s = inclusion(32, 1e8);
  SystemOf<double, Space::host> system(ctx, s.a, SystemOptions{});
  const auto solve = [&] { return run_system(ctx, system, s.b).report; };
  const SolveReport first = solve(), second = solve();
  for (const SolveReport* report : {&first, &second}) {
    CHECK(report->failure.cause == Cause::rounding_of_x);
    CHECK(report->failure.untried.empty());
    CHECK(report->attempts.back().solver == "direct");
  }
}

TEST_CASE("The last resort solves systems at the ends of the range", "[direct][auto][range]") {
  const Context<Space::host> ctx;
  const Rows a = circle(rows);
  for (const double size : {1e285, 1e-285}) {
    auto b = noise(rows, 2);
    for (double& value : b) value *= size;
    SystemOf<double, Space::host> system(ctx, a, short_cycles());
    const auto found = run_system(ctx, system, b);
    INFO(size << ": " << found.report.reason);
    CHECK(ended_by_direct(found.report));
    double most = 0, most_b = 0;
    const auto product = a.times(found.x);
    for (std::size_t i = 0; i < b.size(); ++i) {
      most = std::max(most, std::fabs(static_cast<double>(product[i]) - b[i]));
      most_b = std::max(most_b, std::fabs(b[i]));
    }
    CHECK(most <= 1e-8 * most_b);
  }
}

TEST_CASE("A caller's limits and names keep the last resort away", "[direct][auto]") {
  const Context<Space::host> ctx;
  const Rows a = circle(rows);
  const auto b = noise(rows, 2);
  const auto report_of = [&](const SystemOptions& options) {
    SystemOf<double, Space::host> system(ctx, a, options);
    return run_system(ctx, system, b).report;
  };
  SystemOptions few = short_cycles();
  few.stop.max_iterations = 10;  // before factors would come
  CHECK(report_of(few).status == Status::max_iterations);
  CHECK(report_of(few).iterations == 10);
  SystemOptions enough = short_cycles();
  enough.stop.max_iterations = 500;
  const SolveReport after_limit = report_of(enough);
  CHECK(ended_by_direct(after_limit));
  CHECK(after_limit.iterations <= 500);
  for (const char* named : {"gmres", "bicgstab"}) {
    SystemOptions options = short_cycles();
    options.solver.name = named;
    const SolveReport report = report_of(options);
    CHECK_FALSE(report.converged());
    CHECK(report.solver == named);
  }
}

TEST_CASE("A last resort without the memory for it is named as not tried", "[direct][auto][memory]") {
  const auto memory = std::make_shared<ObservedMemory<Space::host>>();
  const Context<Space::host> ctx(1, memory);
  const Rows a = circle(20000);
  SystemOf<double, Space::host> system(ctx, a, short_cycles());
  memory->available = std::uint64_t{17} << 20;
  const SolveReport report = run_system(ctx, system, noise(a.size(), 2)).report;
  CHECK_FALSE(report.converged());
  CHECK_THAT(report.reason,
             Catch::Contains("; direct was not tried: out of host memory for the factors of the matrix"));
}

TEST_CASE("The table has one last resort, and auto ranks it nowhere else", "[direct][auto]") {
  const SolverMethod* const method = solver_of_last_resort();
  REQUIRE(method != nullptr);
  CHECK(method->name == "direct");
  CHECK(method->from_matrix());
  MatrixTraits symmetric;
  symmetric.square = symmetric.pattern_symmetric = true;
  for (const MatrixTraits& traits : {MatrixTraits{}, symmetric}) {
    const auto order = choose_solver(traits).order;
    CHECK(std::count(order.begin(), order.end(), "direct") == 0);
  }
}
