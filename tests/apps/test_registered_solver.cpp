// SPDX-License-Identifier: Apache-2.0
// A solver that is not the library's, on public headers alone: a line in the table, and the command line, reports, C,
// what Python reads, estimates and advice know it and its options.

#include <newel/solver/choice.hpp>
#include <newel/solver/memory_estimate.hpp>
#include <newel/solver/registry.hpp>

#include "apps/common/unused_options.hpp"
#include "apps/newel/command_line.hpp"
#include "apps/newel/solve/result.hpp"
#include "apps/newel/solve/command.hpp"
#include "c/newel.h"
#include "tests/apps/cli_report.hpp"
#include "tests/apps/command_words.hpp"
#include "tests/solver/systems.hpp"

namespace {

struct ResidualOptions {
  double relaxation = 1;  ///< of each step
  int renewed = 0;        ///< b - A x is formed anew after so many steps; 0: never
};

// Y. Saad, "Iterative Methods for Sparse Linear Systems", 2nd edition, algorithm 5.3, with a preconditioner:
// x += w a z, z = M r, a = (A z, r) / (A z, A z).
template <class T, Space S>
class MinimalResidual final : public KrylovSolver<T, S> {
 public:
  MinimalResidual(const Context<S>& ctx, Index n, const ResidualOptions& options)
      : options_(options), r_(ctx, n), z_(ctx, n), q_(ctx, n), sums_(ctx, 2) {}

  std::string_view name() const override { return "minimal-residual"; }

  SolveReport run(const SolveRequest<T, S>& request) override {
    const auto& [ctx, A, M, b, x, stop, progress, guess, exchange, give_up, recycling] = request;
    SolveReport report;
    report.solver = report.method = std::string(name());
    report.rhs_norm = length(ctx, b);
    report.tolerance = std::max(stop.rel_tol * report.rhs_norm, stop.abs_tol);
    double residual = report.initial_residual = form_residual(request);
    report.history = {residual};
    while (residual > report.tolerance && report.iterations < stop.max_iterations) {
      if (M != nullptr) {
        M->apply(ctx, T(1), r_.cspan(), T(0), z_.span());
      } else {
        copy<T>(ctx, r_.cspan(), z_.span());
      }
      A.apply(ctx, T(1), z_.cspan(), T(0), q_.span());
      dot<T, S>(ctx, q_.cspan(), r_.cspan(), sums_.data());
      dot<T, S>(ctx, q_.cspan(), q_.cspan(), sums_.data() + 1);
      const double step = options_.relaxation * fetch(ctx, sums_.data()) / fetch(ctx, sums_.data() + 1);
      axpy<T, S>(ctx, static_cast<T>(step), z_.cspan(), x);
      axpy<T, S>(ctx, static_cast<T>(-step), q_.cspan(), r_.span());
      ++report.iterations;
      const bool renews = options_.renewed > 0 && report.iterations % options_.renewed == 0;
      residual = renews ? form_residual(request) : length(ctx, r_.cspan());
      report.residual_replacements += renews ? 1 : 0;
      report.history.push_back(residual);
    }
    report.recurrence_residual = residual;
    report.true_residual = form_residual(request);
    report.status = report.true_residual <= 1.01 * report.tolerance ? Status::converged : Status::max_iterations;
    if (!report.converged()) report.failure = {Cause::iteration_limit};
    report.attempts.emplace_back();
    report.attempts.back().solver = report.attempts.back().method = report.method;
    report.attempts.back().status = report.status;
    report.attempts.back().iterations = report.iterations;
    report.attempts.back().true_residual = report.true_residual;
    report.attempts.back().failure = report.failure;
    return report;
  }

 private:
  double length(const Context<S>& ctx, Span<const T, S> v) {
    norm2<T, S>(ctx, v, sums_.data());
    return fetch(ctx, sums_.data());
  }
  double form_residual(const SolveRequest<T, S>& request) {
    copy<T>(request.ctx, request.b, r_.span());
    request.A.apply(request.ctx, T(-1), Span<const T, S>(request.x), T(1), r_.span());
    return length(request.ctx, r_.cspan());
  }

  ResidualOptions options_;
  Array<T, S> r_, z_, q_;
  Array<double, S> sums_;
};

struct MakeMinimalResidual {
  template <class T, Space S>
  static std::unique_ptr<KrylovSolver<T, S>> make(const Context<S>& ctx, Index n, const SolverOptions& options) {
    return std::make_unique<MinimalResidual<T, S>>(ctx, n, options.of<ResidualOptions>());
  }
};

SolverMethod minimal_residual() {
  SolverMethod method;
  method.name = "minimal-residual";
  method.title = "the minimal residual iteration";
  method.summary = "one step of GMRES at a time, relaxed";
  method.options = {value_option("--mr-relaxation", "W", "Share of each step that is taken, default 1",
                                 "mr_relaxation", &ResidualOptions::relaxation),
                    in_range(value_option("--mr-renewed", "N", "Form b - A x anew after N steps; default: never",
                                          "mr_renewed", &ResidualOptions::renewed),
                             1, std::numeric_limits<int>::max())};
  method.check = [](const SolverOptions& options) {
    const double relaxation = options.of<ResidualOptions>().relaxation;
    if (!(relaxation > 0 && relaxation < 2)) throw InputError("mr_relaxation lies between 0 and 2");
  };
  method.short_recurrence = method.minimises = true;
  method.bytes_per_unknown = [](const SolverOptions&, Index, std::size_t value_bytes) { return 3.0 * value_bytes; };
  method.floor = {8, 9, 8};
  fill_columns<MakeMinimalResidual>(method.make);
  return method;
}

// The steps by plain loops, with Jacobi where the matrix has a constant diagonal.
std::vector<double> steps_of(const Rows& a, const std::vector<double>& b, double relaxation, int steps) {
  std::vector<double> x(b.size(), 0.0), r = b;
  for (int k = 0; k < steps; ++k) {
    const std::vector<double> q = a.rhs_for(r);
    long double qr = 0, qq = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      qr += static_cast<long double>(q[i]) * r[i];
      qq += static_cast<long double>(q[i]) * q[i];
    }
    const double step = relaxation * static_cast<double>(qr / qq);
    for (std::size_t i = 0; i < r.size(); ++i) {
      x[i] += step * r[i];
      r[i] -= step * q[i];
    }
  }
  return x;
}

}  // namespace

TEST_BOTH("A registered solver takes its steps in a LinearSystem, by its own options", "[solver][registry]") {
  const Registration registration = register_solver(minimal_residual());
  const Context<S> ctx;
  const Rows a = laplacian(9, 0.3, 2);
  const auto b = a.rhs_for(noise(a.size()));
  const Arrays<double, S> arrays(ctx, a);
  for (const double relaxation : {1.0, 0.7}) {
    SystemOptions options = system_options("Minimal_Residual", "none");
    options.solver.of<ResidualOptions>() = {relaxation, 3};
    LinearSystem<double, S> system(ctx, arrays.view(), options);
    CHECK(system.info().method == "minimal-residual");
    const auto solved = run_system(ctx, system, b);
    CHECK(solved.report.converged());
    CHECK(solved.report.solver == "minimal-residual");
    CHECK(solved.report.residual_replacements == solved.report.iterations / 3);
    CHECK(true_residual(a, b, solved.x) <= 1.01e-8 * newel::testing::norm(b));
    StopCriterion five;
    five.max_iterations = 5;
    system.set_stop_criterion(five);
    const auto x = run_system(ctx, system, b).x, expected = steps_of(a, b, relaxation, 5);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == Approx(expected[i]).epsilon(1e-10).margin(1e-12));
  }
  SystemOptions wrong = system_options("minimal-residual");
  wrong.solver.of<ResidualOptions>().relaxation = 2;
  CHECK_THROWS_WITH((LinearSystem<double, S>(ctx, arrays.view(), wrong)), Catch::Contains("between 0 and 2"));
}

TEST_CASE("The command knows a registered solver: help, options, warnings, and its report in JSON",
          "[solver][cli][registry]") {
  CHECK_FALSE(contains(help_of("solve"), "minimal-residual"));
  CHECK_THROWS(parsed({"solve", "A.mtx", "--mr-relaxation", "0.7"}));
  const Registration registration = register_solver(minimal_residual());
  for (const char* words : {"minimal-residual", "--mr-relaxation W", "Share of each step", "--mr-renewed N"}) {
    CHECK(contains(help_of("solve"), words));
  }
  CHECK_THROWS(parsed({"solve", "A.mtx", "--mr-renewed", "0"}));
  const auto unused = parsed({"solve", "A.mtx", "--solver", "cg", "--mr-relaxation", "0.7"}).warnings;
  REQUIRE(unused.size() == 1);
  CHECK(unused[0] == "--mr-relaxation has no effect: it applies to --solver minimal-residual, and the solver is cg");

  const TemporaryFolder folder;
  const auto line = parsed({"solve", "generate:grid7:4", "--solver", "minimal-residual", "--mr-relaxation", "0.7",
                            "--device", "host", "--quiet", "--report", folder.file("r.json")});
  CHECK(line.warnings.empty());
  CHECK(cli::run_solve(std::get<cli::SolveOptions>(line.command), line.text) == 0);
  const auto report = cli_testing::report_in(folder);
  CHECK(report["converged"] == true);
  CHECK(report["solver"] == "minimal-residual");
  CHECK(report["mr_relaxation"] == 0.7);
  CHECK(report["mr_renewed"].is_null());
  CHECK(report["restart"].is_null());
  CHECK(report["left"] == false);
  CHECK(report["basis"] == "full");
}

TEST_CASE("The C interface takes a registered solver and its options by name", "[solver][c][registry]") {
  newel_system* system = nullptr;
  REQUIRE(newel_create(&system) == NEWEL_OK);
  CHECK(newel_set(system, "solver", "minimal-residual") == NEWEL_INVALID);
  CHECK(newel_set(system, "mr_relaxation", "0.7") == NEWEL_INVALID);
  const Registration registration = register_solver(minimal_residual());
  CHECK(newel_set(system, "solver", "minimal-residual") == NEWEL_OK);
  CHECK(newel_set(system, "mr_relaxation", "0.7") == NEWEL_OK);
  CHECK(newel_set(system, "mr_renewed", "0") == NEWEL_OK);
  CHECK(newel_set(system, "mr_renewed", "-1") == NEWEL_INVALID);
  CHECK(contains(newel_error(system), "mr_renewed: expected a whole number from 0"));
  CHECK(newel_set(system, "mr_relaxation", "much") == NEWEL_INVALID);
  CHECK(newel_set(system, "preconditioner", "none") == NEWEL_OK);
  const Rows a = laplacian(6, 0.3, 2);
  const Context<Space::host> ctx;
  const Arrays<double, Space::host> arrays(ctx, a);
  const auto b = a.rhs_for(noise(a.size()));
  std::vector<double> x(b.size(), 0.0);
  CHECK(newel_setup_csr(system, a.size(), 64, arrays.row_ptr.data(),
                        std::vector<std::int64_t>(arrays.col.data(), arrays.col.data() + arrays.col.size()).data(),
                        arrays.val.data()) == NEWEL_OK);
  CHECK(newel_set(system, "max_iterations", "5") == NEWEL_OK);
  CHECK(newel_solve(system, 1, b.data(), x.data()) == NEWEL_NOT_CONVERGED);
  const auto expected = steps_of(a, b, 0.7, 5);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == Approx(expected[i]).epsilon(1e-10).margin(1e-12));
  newel_destroy(system);
}

// Its options that are true or false, words and numbers left to the method, by the same function.
TEST_CASE("The C interface sets every option of the library's solvers", "[solver][c]") {
  newel_system* system = nullptr;
  REQUIRE(newel_create(&system) == NEWEL_OK);
  for (const auto& [name, value] :
       {std::pair("left", "yes"), std::pair("left", "no"), std::pair("basis", "single"), std::pair("resident", "no"),
        std::pair("restart", "0"), std::pair("restart", "30")}) {
    INFO(name << " " << value);
    CHECK(newel_set(system, name, value) == NEWEL_OK);
  }
  for (const auto& [name, value] : {std::pair("left", "1"), std::pair("basis", "half"), std::pair("restart", "-1")}) {
    INFO(name << " " << value);
    CHECK(newel_set(system, name, value) == NEWEL_INVALID);
  }
  newel_destroy(system);
}

// `newel.solvers()`, `solver_options()` and `options=` of the Python package are these rows.
TEST_CASE("The rows that bindings read have a registered solver's options, to be read and written",
          "[solver][registry]") {
  const std::size_t before = solver_option_list().size();
  const Registration registration = register_solver(minimal_residual());
  const std::vector<MethodOption> options = solver_option_list();
  REQUIRE(options.size() == before + 2);
  const auto found = std::find_if(options.begin(), options.end(),
                                  [](const MethodOption& option) { return option.key == "mr_relaxation"; });
  REQUIRE(found != options.end());
  const MethodOption& relaxation = *found;
  SolverOptions solver;
  CHECK(std::get<double>(relaxation.get(solver.methods)) == 1);
  relaxation.set(solver.methods, 0.25);
  CHECK(solver.of<ResidualOptions>().relaxation == 0.25);
  CHECK(has_option(find_solver("minimal-residual"), "mr_relaxation"));
  CHECK_FALSE(has_option(find_solver("gmres"), "mr_relaxation"));
  // One that two methods have is written for both.
  for (const MethodOption& option : options) {
    if (option.key == "resident") option.set(solver.methods, false);
  }
  CHECK_FALSE(solver.of<CgOptions>().resident);
  CHECK_FALSE(solver.of<BicgstabOptions>().resident);
}

TEST_CASE("A registered solver's vectors are estimated, and auto neither counts nor tries it without a rank",
          "[solver][registry]") {
  const std::uint64_t automatic = estimate_system({}, {"none"}, solver_options("auto"), {1000, 5000}).vectors;
  MatrixTraits general;
  general.square = true;
  const auto order = choose_solver(general).order;
  const Registration registration = register_solver(minimal_residual());
  CHECK(estimate_system({}, {"none"}, solver_options("minimal-residual"), {1000, 5000}).vectors == 3 * 8 * 1000);
  CHECK(estimate_system({}, {"none"}, solver_options("auto"), {1000, 5000}).vectors == automatic);
  CHECK(choose_solver(general).order == order);
}

TEST_CASE("Advice proposes a registered solver where its columns say so, and nowhere else", "[solver][registry]") {
  SolveReport report;
  report.solver = report.method = "gmres";
  report.status = Status::stagnation;
  report.cycle_length = 100;
  report.attempts.emplace_back();
  report.attempts.back().method = "gmres";
  SystemFacts facts;
  facts.rows = 100;
  const auto advice = [&] { return cli::next_step(report, {}, facts); };
  const std::string proposed = "--solver minimal-residual: the most robust method";
  CHECK_FALSE(contains(advice(), "minimal-residual"));
  SolverMethod method = minimal_residual();
  {
    const Registration registration = register_solver(method);
    CHECK(contains(advice(), proposed));
    CHECK_FALSE(contains(advice(), "--restart"));  // it has no cycles
    report.attempts.emplace_back();
    report.attempts.back().method = "minimal-residual";
    CHECK_FALSE(contains(advice(), "--solver"));  // it was tried
    report.attempts.pop_back();
  }
  for (const Demand demand : {Demand::definite, Demand::symmetric, Demand::diagonal}) {
    method.demands = demand;
    const Registration registration = register_solver(method);
    CHECK_FALSE(contains(advice(), "minimal-residual"));
  }
  method.demands = Demand::nothing;
  method.minimises = false;
  const Registration registration = register_solver(method);
  CHECK_FALSE(contains(advice(), "minimal-residual"));
}

TEST_CASE("A decision in the plan cache is another one for other options of a registered solver",
          "[solver][registry]") {
  const Registration registration = register_solver(minimal_residual());
  const Context<Space::host> ctx;
  const Rows a = laplacian(12, 0.3, 2);
  const auto b = a.rhs_for(noise(a.size()));
  const TemporaryFolder folder;
  const auto files = [&](double relaxation) {
    SystemOptions options = system_options("minimal-residual");
    options.solver.of<ResidualOptions>().relaxation = relaxation;
    options.spmv.plan_cache = folder.path().string();
    {
      SystemOf<double, Space::host> system(ctx, a, options);
      CHECK(run_system(ctx, system, b).report.converged());
    }
    const std::filesystem::directory_iterator entries(folder.path());
    return std::distance(begin(entries), end(entries));
  };
  const auto first = files(1);
  CHECK(first > 0);
  CHECK(files(1) == first);
  CHECK(files(0.7) > first);
}
