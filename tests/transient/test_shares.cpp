// SPDX-License-Identifier: Apache-2.0
// Shares: they add up to the whole; sampled steps stand for all; applications are counted from reports.
#include "tests/solver/systems.hpp"

#include "apps/transient/shares.hpp"

using namespace newel::transient;

namespace {

// A clock that continues when a test says so.
double now = 0;
double fake_clock() { return now; }
void spend(double seconds) { now += seconds; }

double sum_of(const ShareReport& report) {
  double sum = 0;
  for (const auto& part : report.parts()) sum += part.second;
  return sum;
}

}  // namespace

TEST_ON_HOST("shares add up to the whole, with the solves split by their operators", "[transient]") {
  const double begin = now;
  Shares shares(1, &fake_clock);
  shares.timed(ctx, Phase::setup, [] { spend(0.25); });
  spend(0.5);  // of no phase
  SolveTotals totals;
  for (int i = 0; i < 5; ++i) {
    shares.begin_step();
    CHECK(shares.timed(ctx, Phase::assembly, [] { return spend(0.04), 3; }) == 3);
    shares.timed(ctx, Phase::solve, [] { spend(0.1); });
    spend(0.01);  // of a step and no phase
    shares.timed(ctx, Phase::output, [] { spend(0.02); });
    shares.end_step();
  }
  totals.products = 100;
  totals.preconditioned = 50;
  const ShareReport r = shares.report(now - begin, totals, {2e-3, 2e-3});
  constexpr double rounding = 1e-13;
  CHECK(sum_of(r) == Approx(0.25 + 0.5 + 5 * 0.17).epsilon(rounding));
  CHECK(r.setup == Approx(0.25).epsilon(rounding));
  CHECK(r.assembly == Approx(5 * 0.04).epsilon(rounding));
  CHECK(r.output == Approx(5 * 0.02).epsilon(rounding));
  CHECK(r.product == Approx(0.2).epsilon(rounding));
  CHECK(r.preconditioner == Approx(0.1).epsilon(rounding));
  CHECK(r.vector_work == Approx(5 * 0.1 - 0.3).epsilon(rounding));
  CHECK(r.other == Approx(0.5 + 5 * 0.01).epsilon(rounding));
  CHECK(r.steps == 5);
  CHECK(r.sampled_steps == 5);
}

TEST_ON_HOST("the parts of an assembly add up to it, and are reported where a program tells them apart",
             "[transient]") {
  Shares shares(1, &fake_clock);
  for (int i = 0; i < 20; ++i) {
    shares.begin_step();
    shares.add(Phase::elements, 0.006);
    shares.timed(ctx, Phase::sums, [] { spend(0.0001); });
    shares.add(Phase::check, 0.002);
    shares.end_step();
  }
  const ShareReport r = shares.report(1, {}, {});
  // Where every step was sampled, nothing is scaled.
  CHECK(r.elements == Approx(20 * 0.006).epsilon(1e-14));
  CHECK(r.sums == Approx(20 * 0.0001).epsilon(1e-12));
  CHECK(r.check == Approx(20 * 0.002).epsilon(1e-14));
  CHECK(r.assembly == Approx(r.elements + r.sums + r.check).epsilon(1e-12));
  const cli::Json json = shares_json(r);
  CHECK(json["assembly_seconds"]["elements"] == r.elements);
  CHECK(json["assembly_seconds"]["matrix_and_right_hand_side"] == r.sums);
  CHECK(json["assembly_seconds"]["check"] == r.check);
  CHECK_FALSE(shares_json(ShareReport{}).contains("assembly_seconds"));
}

TEST_ON_HOST("operators that seem to take longer than the solves are fitted into them", "[transient]") {
  Shares shares(1, &fake_clock);
  shares.begin_step();
  shares.timed(ctx, Phase::solve, [] { spend(0.01); });
  shares.end_step();
  SolveTotals totals;
  totals.products = 300;
  totals.preconditioned = 100;
  const ShareReport r = shares.report(1, totals, {1e-3, 1e-3});
  CHECK(r.product == Approx(0.0075).epsilon(1e-12));
  CHECK(r.preconditioner == Approx(0.0025).epsilon(1e-12));
  CHECK(r.vector_work == Approx(0).margin(1e-12));
  CHECK(sum_of(r) == Approx(1.0));
}

TEST_ON_HOST("with sampling, phases of one step in three stand for all, and output is always timed", "[transient]") {
  const double begin = now;
  Shares shares(3, &fake_clock);
  int sampled = 0;
  for (int i = 0; i < 9; ++i) {
    shares.begin_step();
    sampled += shares.sampled() ? 1 : 0;
    // Sampled steps wait more often: they take 0.06 s, the others 0.03. Four fifths of them are assembly.
    const double assembly = shares.sampled() ? 0.048 : 0.024;
    shares.timed(ctx, Phase::assembly, [&] { spend(assembly); });
    spend(assembly / 4);
    shares.timed(ctx, Phase::output, [] { spend(0.002); });
    shares.end_step();
  }
  const ShareReport r = shares.report(now - begin, {}, {});
  constexpr double rounding = 1e-12;
  CHECK(sampled == 3);
  CHECK(r.sampled_steps == 3);
  CHECK(r.output == Approx(9 * 0.002).epsilon(rounding));
  // Their proportions stand for all steps, not their sum.
  CHECK(r.assembly == Approx(0.8 * (3 * 0.06 + 6 * 0.03)).epsilon(rounding));
  CHECK(r.other == Approx(0.2 * (3 * 0.06 + 6 * 0.03)).epsilon(rounding));
  CHECK(sum_of(r) == Approx(now - begin).epsilon(rounding));
}

TEST_CASE("applications are counted from the reports of solves", "[transient]") {
  SolveTotals totals;
  SolveReport cg;
  cg.method = "cg";
  cg.status = Status::converged;
  cg.iterations = 10;
  cg.rhs_norm = 2;
  cg.true_residual = 1e-8;
  totals.add(cg);
  CHECK(totals.products == 12);
  CHECK(totals.preconditioned == 11);
  CHECK(totals.worst_relative_residual == Approx(5e-9));
  cg.method = "bicgstab";
  cg.status = Status::stagnation;
  cg.residual_replacements = 2;
  totals.add(cg);
  CHECK(totals.products == 12 + 24);
  CHECK(totals.solves == 2);
  CHECK(totals.iterations == 20);
  CHECK(totals.most_iterations == 10);
  CHECK(totals.not_converged == 1);
}

TEST_ON_HOST("the count of products is that of an operator that counts its applications", "[transient]") {
  const Rows a = laplacian(30, 0.2);
  const Arrays<double, Space::host> arrays(ctx, a);
  const auto matrix = make_spmv<double, Space::host>(ctx, arrays.view(), {});
  std::int64_t products = 0;
  const FunctionOperator<double, Space::host> counting(a.size(), a.size(),
                                                       [&](const auto& c, double alpha, auto x, double beta, auto y) {
                                                         ++products;
                                                         matrix->apply(c, alpha, x, beta, y);
                                                       });
  const auto b = a.rhs_for(noise(a.size()));
  std::vector<double> x(b.size(), 0.0);
  const auto solver = make_solver<double, Space::host>(ctx, a.size(), {"cg"});
  SolveTotals totals;
  totals.add(solver->solve(ctx, counting, nullptr, b, x, {}));
  CHECK(totals.products == products);
}

TEST_BOTH("operators are measured in isolation", "[transient]") {
  const Rows a = laplacian(20, 0.2);
  const Arrays<double, S> arrays(ctx, a);
  const LinearSystem<double, S> system(ctx, arrays.view());
  const OperatorSeconds seconds = measure_operators(ctx, system, 3);
  CHECK(seconds.product > 0);
  CHECK(seconds.preconditioner > 0);
  SystemOptions options = system_options("auto", "none");
  const LinearSystem<double, S> plain(ctx, arrays.view(), options);
  CHECK(measure_operators(ctx, plain, 3).preconditioner == 0);
}
