// SPDX-License-Identifier: Apache-2.0
// Shares: they add up to the whole; sampled steps stand for all; applications are counted from reports.
#include "tests/catch.hpp"
#include "tests/solver/systems.hpp"

#include <chrono>
#include <thread>

#include "apps/transient/shares.hpp"

using namespace purlin;
using namespace purlin::testing;
using namespace purlin::transient;

namespace {

void spend(double seconds) {
  const cli::Stopwatch watch;
  while (watch.seconds() < seconds) {
  }
}

double sum_of(const ShareReport& report) {
  double sum = 0;
  for (const auto& part : report.parts()) sum += part.second;
  return sum;
}

}  // namespace

TEST_CASE("shares add up to the whole, with the solves split by their operators", "[transient]") {
  const Context<Space::host> ctx;
  const cli::Stopwatch total;
  Shares shares;
  shares.timed(ctx, Phase::setup, [] { spend(0.02); });
  SolveTotals totals;
  for (int i = 0; i < 5; ++i) {
    shares.begin_step();
    CHECK(shares.timed(ctx, Phase::assembly, [] { return spend(0.004), 3; }) == 3);
    shares.timed(ctx, Phase::solve, [] { spend(0.01); });
    shares.timed(ctx, Phase::output, [] { spend(0.002); });
    shares.end_step();
  }
  totals.products = 100;
  totals.preconditioned = 50;
  const double seconds = total.seconds();
  const ShareReport r = shares.report(seconds, totals, {2e-4, 2e-4});
  CHECK(sum_of(r) == Approx(seconds).epsilon(1e-9));
  CHECK(r.setup >= 0.02);
  CHECK(r.assembly >= 0.02);
  CHECK(r.output >= 0.01);
  CHECK(r.product == Approx(0.02));
  CHECK(r.preconditioner == Approx(0.01));
  CHECK(r.vector_work >= 0.0199);  // more, where others have the processor
  CHECK(r.steps == 5);
  CHECK(r.sampled_steps == 5);
}

TEST_CASE("the parts of an assembly add up to it, and are reported where a program tells them apart", "[transient]") {
  const Context<Space::host> ctx;
  Shares shares;
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
  CHECK(r.sums >= 20 * 0.0001);
  CHECK(r.check == Approx(20 * 0.002).epsilon(1e-14));
  CHECK(r.assembly == Approx(r.elements + r.sums + r.check).epsilon(1e-12));
  const cli::Json json = shares_json(r);
  CHECK(json["assembly_seconds"]["elements"] == r.elements);
  CHECK(json["assembly_seconds"]["matrix_and_right_hand_side"] == r.sums);
  CHECK(json["assembly_seconds"]["check"] == r.check);
  CHECK_FALSE(shares_json(ShareReport{}).contains("assembly_seconds"));
}

TEST_CASE("operators that seem to take longer than the solves are fitted into them", "[transient]") {
  const Context<Space::host> ctx;
  Shares shares;
  shares.begin_step();
  shares.timed(ctx, Phase::solve, [] { spend(0.01); });
  shares.end_step();
  SolveTotals totals;
  totals.products = 300;
  totals.preconditioned = 100;
  const ShareReport r = shares.report(1, totals, {1e-3, 1e-3});
  CHECK(r.product == Approx(3 * r.preconditioner));
  CHECK(r.vector_work == Approx(0).margin(1e-12));
  CHECK(sum_of(r) == Approx(1.0));
}

TEST_CASE("with sampling, phases of one step in three stand for all, and output is always timed", "[transient]") {
  const Context<Space::host> ctx;
  const cli::Stopwatch total;
  Shares shares(3);
  int sampled = 0;
  for (int i = 0; i < 9; ++i) {
    shares.begin_step();
    sampled += shares.sampled() ? 1 : 0;
    shares.timed(ctx, Phase::assembly, [] { spend(0.004); });
    shares.timed(ctx, Phase::output, [] { spend(0.002); });
    shares.end_step();
  }
  const double seconds = total.seconds();
  const ShareReport r = shares.report(seconds, {}, {});
  CHECK(sampled == 3);
  CHECK(r.sampled_steps == 3);
  CHECK(r.output >= 0.018);
  // Three of nine were booked; scaled they are all but a little of the steps.
  CHECK(r.assembly >= 0.5 * 0.036);
  CHECK(sum_of(r) == Approx(seconds).epsilon(0.05));
}

TEST_CASE("applications are counted from the reports of solves", "[transient]") {
  SolveTotals totals;
  SolveReport cg;
  cg.solver = "cg";
  cg.status = Status::converged;
  cg.iterations = 10;
  cg.rhs_norm = 2;
  cg.true_residual = 1e-8;
  totals.add(cg);
  CHECK(totals.products == 12);
  CHECK(totals.preconditioned == 11);
  CHECK(totals.worst_relative_residual == Approx(5e-9));
  cg.solver = "bicgstab";
  cg.status = Status::stagnation;
  cg.residual_replacements = 2;
  totals.add(cg);
  CHECK(totals.products == 12 + 24);
  CHECK(totals.solves == 2);
  CHECK(totals.iterations == 20);
  CHECK(totals.most_iterations == 10);
  CHECK(totals.not_converged == 1);
}

TEST_CASE("the count of products is that of an operator that counts its applications", "[transient]") {
  const Context<Space::host> ctx;
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
  const Context<S> ctx;
  const Rows a = laplacian(20, 0.2);
  const Arrays<double, S> arrays(ctx, a);
  const LinearSystem<double, S> system(ctx, arrays.view());
  const OperatorSeconds seconds = measure_operators(ctx, system, 3);
  CHECK(seconds.product > 0);
  CHECK(seconds.preconditioner > 0);
  SystemOptions options;
  options.precond.name = "none";
  const LinearSystem<double, S> plain(ctx, arrays.view(), options);
  CHECK(measure_operators(ctx, plain, 3).preconditioner == 0);
}
