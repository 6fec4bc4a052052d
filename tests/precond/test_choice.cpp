// SPDX-License-Identifier: Apache-2.0
// The automatic choice of a preconditioner: by trials that the test makes up, and through LinearSystem.
#include "tests/catch.hpp"
#include "tests/solver/options.hpp"

#include <chrono>

#include <newel/core/matrix_traits.hpp>
#include <newel/precond/choice.hpp>
#include <newel/solver/linear_system.hpp>
#include "precond/build_cost.hpp"

namespace {

// `seconds`: of its 30 iterations, by the cost model.
PrecondTrial trial(const std::string& name, double build_seconds, double seconds, double reduction) {
  PrecondTrial t;
  t.name = name;
  t.build_seconds = build_seconds;
  t.iterations = 30;
  t.iteration_seconds = seconds / 30;
  t.reduction = reduction;
  return t;
}

// Runs the choice with trials that depend on whether the preconditioner is diagonal: reductions of it, and of others.
template <Space S>
std::pair<PrecondChoice, int> chosen(const HostCsr& a, double of_diagonal, double of_others,
                                     double expected_products = 0, double iteration_bytes = 1e14) {
  const auto ctx = make_context<S>();
  const auto there = upload_matrix<double>(ctx, a);
  PrecondUse use{matrix_traits(ctx, there.wide()), 1e-8, expected_products};
  use.iteration_bytes = iteration_bytes;  // 1e14: so slow that no build matters
  int trials = 0;
  const TryPrecond<double, S> attempt = [&](const LinearOperator<double, S>* m) {
    ++trials;
    const bool diagonal = m == nullptr || m->info().nonzeros == a.rows;
    return trial("", 0, 0, diagonal ? of_diagonal : of_others);
  };
  const auto found = choose_precond<double, S>(ctx, there.wide(), {}, {}, {}, use, attempt);
  CHECK((found.M == nullptr ? "none" : found.M->info().name) == found.choice.name);
  CHECK_FALSE(found.choice.reason.empty());
  return {found.choice, trials};
}

}  // namespace

TEST_CASE("Iterations are predicted from how far the residual fell", "[precond][choice]") {
  CHECK(predict_iterations(trial("jacobi", 0, 1, 1e-4), 1e-8) == Approx(60));
  CHECK(predict_iterations(trial("jacobi", 0, 1, 0.5), 0.25) == Approx(60));
  CHECK(std::isinf(predict_iterations(trial("jacobi", 0, 1, 1), 1e-8)));
  PrecondTrial failed = trial("jacobi", 0, 1, 1e-4);
  failed.failed = true;
  CHECK(std::isinf(predict_iterations(failed, 1e-8)));
  CHECK(predict_iterations(trial("jacobi", 0, 1, 0), 1e-8) == 30);
}

TEST_CASE("The dearer preconditioner is taken where its building pays for the right-hand sides",
          "[precond][choice]") {
  // 240 iterations of 0.01 s against 120 of 0.012 s: 2.4 s against 1.44 s a solve.
  const PrecondTrial jacobi = trial("jacobi", 0, 0.3, 0.1), fsai = trial("fsai", 1.5, 0.36, 0.01);
  CHECK(decide_precond(jacobi, fsai, 1e-8, 0).name == "jacobi");
  CHECK(decide_precond(jacobi, fsai, 1e-8, 240).name == "jacobi");
  const PrecondChoice many = decide_precond(jacobi, fsai, 1e-8, 2400);
  CHECK(many.name == "fsai");
  CHECK(many.reason.text() ==
        "a trial and a cost model predict fsai (120 iterations, 15.9 s with its setup) against jacobi (240 "
        "iterations, 24 s with its setup) for 10 right-hand sides");
  // 240,000 products for solves of 240 iterations.
  CHECK(contains(decide_precond(jacobi, fsai, 1e-8, 240000).reason, "for 1,000 right-hand sides"));
  const PrecondTrial cheap = trial("fsai", 0.5, 0.36, 0.01);
  CHECK(decide_precond(jacobi, cheap, 1e-8, 0).name == "fsai");
}

TEST_CASE("Where a trial shows nothing, the stronger one is taken unless it failed", "[precond][choice]") {
  const PrecondTrial jacobi = trial("jacobi", 0, 1, 1), spai = trial("spai", 9, 1, 1);
  CHECK(decide_precond(jacobi, spai, 1e-8, 0).name == "spai");
  PrecondTrial failed = spai;
  failed.failed = true;
  CHECK(decide_precond(jacobi, failed, 1e-8, 0).name == "jacobi");
  CHECK(decide_precond(jacobi, trial("spai", 9, 1, 0.9), 1e-8, 0).name == "spai");
  CHECK(decide_precond(trial("jacobi", 0, 1, 0.9), spai, 1e-8, 0).name == "jacobi");
}

TEST_BOTH("Symmetric matrices with a positive diagonal try FSAI, those without take l1-Jacobi, others try SPAI",
          "[precond][choice]") {
  CHECK(chosen<S>(fem_matrix("generate:diffusion:5"), 0.5, 0.01).first.name == "fsai");
  CHECK(chosen<S>(fem_matrix("generate:diffusion:5"), 0.5, 0.6).first.name == "jacobi");
  CHECK(chosen<S>(dominant_matrix(100), 0.5, 0.01).first.name == "spai");
  HostCsr negative = fem_matrix("generate:diffusion:5");
  for (double& value : negative.val) value = -value;
  CHECK(chosen<S>(negative, 0.5, 0.01).first.name == "l1-jacobi");
}

TEST_BOTH("Where Jacobi takes a few iterations, nothing else is built", "[precond][choice]") {
  const auto [choice, trials] = chosen<S>(fem_matrix("generate:diffusion:5"), 1e-7, 1e-8);
  CHECK(choice.name == "jacobi");
  CHECK(trials == 1);
  CHECK(chosen<S>(fem_matrix("generate:diffusion:5"), 1e-7, 1e-8, 10000).second == 2);
}

TEST_BOTH("What takes longer to build than all iterations without it is not tried", "[precond][choice]") {
  const auto [choice, trials] = chosen<S>(fem_matrix("generate:diffusion:5"), 0.5, 0.01, 0, 1);
  CHECK(choice.name == "jacobi");
  CHECK(trials == 1);
  CHECK(contains(choice.reason, "its setup is estimated at"));
  // No iterations are foreseen where they make no progress.
  CHECK(chosen<S>(fem_matrix("generate:diffusion:5"), 1, 0.01, 0, 1).first.name == "fsai");
}

TEST_BOTH("Zeros on the diagonal leave none against SPAI", "[precond][choice]") {
  MapRows rows(50);
  for (Index i = 0; i < 50; ++i) rows[i] = {{(i + 1) % 50, 2.0}, {(i + 2) % 50, 0.5}};
  CHECK(chosen<S>(from_rows(50, rows), 0.5, 0.6).first.name == "none");
  CHECK(chosen<S>(from_rows(50, rows), 0.5, 0.01).first.name == "spai");
}

TEST_BOTH("What the matrix does not admit is named and left out", "[precond][choice]") {
  MapRows rows(3);
  rows[0] = {{0, 1.0}, {1, 2.0}};
  rows[1] = {{0, 2.0}, {1, 1.0}};
  rows[2] = {{2, 1.0}};
  const auto [choice, trials] = chosen<S>(from_rows(3, rows), 0.5, 0.01);
  CHECK(choice.name == "jacobi");
  CHECK(trials == 1);
  CHECK(contains(choice.reason, "fsai was refused"));
}

TEST_BOTH("A system chooses its preconditioner, says why, and solves", "[precond][choice][solver]") {
  for (const auto& [a, names] : std::vector<std::pair<HostCsr, std::vector<std::string>>>{
           {dominant_matrix(400), {"jacobi"}},
           {fem_matrix("generate:elasticity:4"), {"jacobi", "fsai", "amg"}},
           {empty_matrix(0, 0), {"none", "jacobi", "fsai", "spai"}}}) {
    SystemOptions options = system_options("auto", "auto");
    options.expected_products = 1000;
    if (names.size() == 1) options.expected_products = 0;
    const auto there = upload_matrix<double>(ctx, a);
    LinearSystem<double, S> system(ctx, there.wide(), options);
    const SystemInfo info = system.info();
    INFO(info.preconditioner.name << ": " << info.preconditioner_reason.text());
    CHECK(std::count(names.begin(), names.end(), info.preconditioner.name) == 1);
    CHECK_FALSE(info.preconditioner_reason.empty());
    const auto b_host = product_oracle(a, random_vector<double>(a.rows, 5));
    CHECK(checked_solve(ctx, system, a, b_host).converged());
    system.refresh(there.matrix.val.cspan());
    CHECK(system.info().preconditioner.name == info.preconditioner.name);
  }
}

TEST_BOTH("The choice of a preconditioner follows no clock: slow trials choose as quick ones do",
          "[precond][choice]") {
  const HostCsr a = fem_matrix("generate:diffusion:6");
  const auto there = upload_matrix<double>(ctx, a);
  const PrecondUse use{matrix_traits(ctx, there.wide()), 1e-8, 0, 1e10, 1};
  // Which of the two is slow, and whether building is.
  std::vector<std::string> reasons;
  for (const int slow : {0, 1, 2}) {
    int trials = 0;
    const auto wait = [] {
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
      while (std::chrono::steady_clock::now() < end) {
      }
    };
    const TryPrecond<double, S> attempt = [&](const LinearOperator<double, S>*) {
      if (++trials == slow) wait();
      PrecondTrial t = trial("", 0, 0, trials == 1 ? 0.1 : 0.01);
      if (trials == slow) t.build_seconds = t.iteration_seconds = 1e9;  // what a clock might say is not read
      return t;
    };
    reasons.push_back(choose_precond<double, S>(ctx, there.wide(), {}, {}, {}, use, attempt).choice.reason);
  }
  CHECK(contains(reasons[0], "cost model"));
  CHECK(reasons[0] == reasons[1]);
  CHECK(reasons[0] == reasons[2]);
}

TEST_CASE("The cost model charges a preconditioner for the sizes of its local problems", "[precond][choice]") {
  const Context<Space::host> ctx(1);
  // Rows of 3 entries against rows of 41: per entry, FSAI's cost grows with the square of a row's length, if slowly,
  // SPAI's too with what the rows reach.
  const auto band = [](Index n, Index half) {
    MapRows rows(n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = std::max(0, i - half); j <= std::min(n - 1, i + half); ++j) rows[i][j] = 1.0;
    }
    return from_rows(n, rows);
  };
  const auto seconds = [&](const HostCsr& a, const std::string& name, double density) {
    const auto there = upload_matrix<double>(ctx, a);
    const auto nonzeros = static_cast<Offset>(density * static_cast<double>(a.val.size()));
    return detail::build_seconds(ctx, Pattern<Space::host>(there.wide()), find_preconditioner(name), PrecondOptions(),
                                 nullptr, nullptr, nonzeros)
        .build;
  };
  const HostCsr thin = band(2000, 1), thick = band(2000, 20);
  for (const auto& [name, wider, denser] :
       {std::tuple<std::string, double, double>{"fsai", 1.2, 3}, {"spai", 2, 4}}) {
    INFO(name);
    const double per_entry = static_cast<double>(thick.val.size()) / static_cast<double>(thin.val.size());
    CHECK(seconds(thin, name, 1) > 0);
    CHECK(seconds(thick, name, 1) > wider * per_entry * seconds(thin, name, 1));
    CHECK(seconds(thick, name, 2) > denser * seconds(thick, name, 1));  // the pattern of a power
    CHECK(seconds(thick, name, 1) == seconds(thick, name, 1));
  }
  CHECK(seconds(thick, "jacobi", 0) < 0.1 * seconds(thick, "fsai", 1));
}

TEST_CASE("A registered preconditioner costs what its line says, and as usual where that leaves it open",
          "[precond][choice]") {
  const Context<Space::host> ctx(1);
  const auto there = upload_matrix<double>(ctx, from_rows(3, MapRows{{{0, 1.0}}, {{1, 1.0}, {2, 1.0}}, {{2, 1.0}}}));
  const PrecondOptions options;
  PrecondQuestion question{options, machine_of(ctx), 3, 4};
  PrecondMethod method;
  const PrecondCost usual = detail::cost_of(method, question);
  CHECK(usual.entries == 4);
  CHECK(usual.iterations(100) == 50);
  CHECK(usual.start_seconds == 0);
  const auto build = [&] {
    return detail::build_seconds(ctx, Pattern<Space::host>(there.wide()), method, options).build;
  };
  const double pass = build();
  CHECK(pass == Approx(4 * 3e-9));
  method.cost = [](const PrecondQuestion& asked) {
    PrecondCost cost;
    cost.entries = 10.0 * asked.rows;
    cost.iterations = [](double simple) { return simple / 4; };
    if (asked.setup != nullptr && asked.setup->stored > 0) cost.setup.build = 7;
    return cost;
  };
  CHECK(detail::cost_of(method, question).entries == 30);
  CHECK(iterations_with(method)(100) == 25);
  CHECK(build() == pass);
  CHECK(detail::build_seconds(ctx, Pattern<Space::host>(there.wide()), method, options, nullptr, nullptr, 5).build ==
        7);
}

TEST_CASE("Beside a format for symmetric matrices a preconditioner is kept in the one for all", "[precond]") {
  PrecondOptions options;
  CHECK(precond_spmv(options, SpmvOptions{"ehyb-symmetric"}).format == "ehyb");
  CHECK(precond_spmv(options, SpmvOptions{"bce"}).format == "bce");
  options.format = "ehyb-symmetric";
  CHECK(precond_spmv(options, SpmvOptions{"ehyb"}).format == "ehyb-symmetric");
}
