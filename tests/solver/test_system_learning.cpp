// SPDX-License-Identifier: Apache-2.0
// Systems that exchange their format or preconditioner between or after solves, by what solves have cost.
#include "tests/spmv/spmv_support.hpp"
#include "tests/solver/options.hpp"

#include <newel/solver/linear_system.hpp>
#include "solver/krylov/monitor/residual_rate.hpp"
#include "solver/policy/system_learning.hpp"

namespace {

FormatChoice choice_of(double csr_seconds, double ehyb_seconds, double ehyb_setup) {
  FormatChoice choice;
  FormatTrial csr, ehyb;
  csr.format = "csr";
  csr.iteration_seconds = csr_seconds;
  ehyb.format = "ehyb";
  ehyb.iteration_seconds = ehyb_seconds;
  ehyb.setup_seconds = ehyb_setup;
  choice.trials = {csr, ehyb};
  return choice;
}

// Solves with the right-hand side of x = (1, 2, ...) and checks the residual; returns the report.
template <Space S>
SolveReport solve_and_check(LinearSystem<double, S>& system, const Context<S>& ctx, const HostCsr& a) {
  std::vector<double> x_true(static_cast<std::size_t>(a.rows));
  for (std::size_t i = 0; i < x_true.size(); ++i) x_true[i] = 1 + static_cast<double>(i % 7);
  const std::vector<double> b_host = product_oracle(a, x_true);
  const SolveReport report = checked_solve(ctx, system, a, b_host);
  CHECK(report.converged());
  return report;
}

// Rows i -> i + 1 of cycles of six, and a diagonal of 1e-250 and 1e-2 in turns: without M a few iterations of GMRES,
// with its inverse sums that overflow, with SPAI a matrix that is singular to working precision.
HostCsr cycles_with_wild_diagonal(Index n) {
  MapRows rows(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    auto& row = rows[static_cast<std::size_t>(i)];
    row[i] = i % 2 == 0 ? 1e-250 : 1e-2;
    row[i / 6 * 6 + (i + 1) % 6] += 1;
  }
  return from_rows(static_cast<Index>(rows.size()), rows);
}

}  // namespace

TEST_CASE("A setup that waits for iterations is asked for again where they have been made", "[learning]") {
  constexpr double price = 9e-3, gain = 28e-6;
  for (const double sure_share : {0.0, 0.5, 1.0}) {
    const auto savings_after = [&](int iterations) {
      return detail::SetupSavings{iterations * gain, sure_share * iterations * gain, 100 * price, 0.2 * price};
    };
    for (const int asked : {5, 20, 50}) {
      const int due = detail::iteration_when_due(price, savings_after(asked), asked);
      REQUIRE(due > asked);
      CHECK(detail::is_worth(price, savings_after(due), true));
      CHECK_FALSE(detail::is_worth(price, savings_after(due * 19 / 20), true));
    }
  }
  CHECK(detail::iteration_when_due(price, {}, 20) == 0);
}

TEST_CASE("A faster format is bought once the iterations so far would have paid for it", "[learning]") {
  const FormatChoice choice = choice_of(10e-6, 2e-6, 8e-3);
  SolveCounts counts;
  const auto learning = [&] { return detail::SystemLearning(counts); };
  CHECK(learning().later(999) == 0);                              // one solve says nothing of others
  CHECK(learning().earliest(choice, 80) == Approx(450.0 / 3.5));  // where 2.5 times as many are sure to come
  CHECK(std::isinf(learning().earliest(choice_of(2e-6, 10e-6, 0), 80)));
  counts.iterations += 999;
  CHECK(learning().earliest(choice, 80) == Approx(450.0 - 999));
  CHECK(learning().better_for(choice, 0, 0, 999, false) == nullptr);
  counts.iterations += 2;
  REQUIRE(learning().better_for(choice, 0, 0, 1001, false) != nullptr);
  CHECK(learning().better_for(choice, 0, 0, 1001, false)->format == "ehyb");
  counts = detail::counts_after_move();
  CHECK(learning().better_for(choice, 0, 0, 100000, false) == nullptr);
  counts.iterations += 100000;
  CHECK(learning().better_for(choice_of(2e-6, 10e-6, 0), 0, 0, 100000, false) == nullptr);
}

TEST_CASE("Later solves are expected to be eight, or as many as there were", "[learning]") {
  SolveCounts counts;
  const auto learning = [&] { return detail::SystemLearning(counts); };
  counts.iterations += 100;
  CHECK(learning().later(100) == 800);
  CHECK(learning().later(0) == 100);  // the last one failed
  for (int solve = 1; solve < 20; ++solve) counts.iterations += 100;
  CHECK(learning().later(100) == 2000);
  counts = detail::counts_after_move(50);  // in the middle of a solve
  CHECK(learning().later(100) == 0);
  CHECK(counts.iterations == -50);
}

TEST_CASE("Iterations to go follow from how the residual has fallen", "[exchange][learning]") {
  detail::ResidualRate rate;
  CHECK(rate.iterations() == -1);
  rate.add(1);
  CHECK(rate.left(1e-8) == 0);
  for (int k = 1; k <= 20; ++k) rate.add(std::pow(0.5, k));  // 0.5 an iteration
  CHECK(rate.iterations() == 20);
  // 0.5^20 to 1e-8 by log2: 26.6 - 20
  CHECK(rate.left(1e-8) == Approx(6.575).margin(0.01));
  for (int k = 0; k < 20; ++k) rate.add(10);  // no gain since
  CHECK(rate.left(1e-8) == 0);
  detail::ResidualRate slow;
  for (int k = 0; k < 30; ++k) slow.add(std::pow(0.99, k));
  CHECK(slow.left(1e-8) == 0);  // not yet a tenth
  detail::ResidualRate met;
  for (const double residual : {1.0, 1e-2, 1e-4, 1e-9}) met.add(residual);
  CHECK(met.left(1e-8) == 1);
}

TEST_CASE("As long as the residual has hardly fallen, some iterations are sure to come", "[learning]") {
  detail::ResidualRate rate;
  CHECK(rate.sure(1e-8) == 0);
  rate.add(1);
  for (int k = 0; k < 20; ++k) rate.add(7);
  CHECK(rate.sure(1e-8) == 60);  // 80 in all
  CHECK(rate.sure(1e-8, 300) == 280);
  detail::ResidualRate longer = rate;
  for (int k = 20; k < 40; ++k) longer.add(7);
  CHECK(longer.sure(1e-8) == 100);
  for (int k = 40; k < 192; ++k) longer.add(7);
  CHECK(longer.sure(1e-8) == Approx(192));
  for (int k = 192; k < 1000; ++k) longer.add(7);
  CHECK(longer.sure(1e-8) == Approx(500));
  rate.add(0.1);  // an eighth of the way
  CHECK(rate.sure(1e-8) == Approx((80.0 - 21) / 6));
  rate.add(1e-2);
  CHECK(rate.sure(1e-8) == Approx(0).margin(1e-9));
  rate.add(1e-5);
  CHECK(rate.sure(1e-8) == 0);
  rate.add(1e-9);
  CHECK(rate.sure(1e-8) == 0);
}

TEST_CASE("By measured iterations a setup is bought where it pays, once 0.45 of it is missed", "[learning]") {
  CHECK(detail::is_worth(9, {4.06, 0, 10}, true));
  CHECK_FALSE(detail::is_worth(9, {4.06, 0, 10}, false));  // 40.6 is less than 81
  CHECK_FALSE(detail::is_worth(9, {4.06, 0, 9.5}, true));  // too little is gained
  CHECK_FALSE(detail::is_worth(9, {4.04, 0, 1e9}, true));  // a wrong estimate must not cost more than that
  CHECK(detail::is_worth(9, {4.06, 0, 20}, false));
  CHECK(detail::is_worth(9, {30, 0, 2.71}, false));
  CHECK(detail::is_worth(9, {30, 0, 2.71}, true));
  CHECK_FALSE(detail::is_worth(9, {30, 0, 2.69}, true));
  CHECK(detail::is_worth(9, {4.06, 0, 18}, true, 2));
  CHECK_FALSE(detail::is_worth(9, {4.06, 0, 17.9}, true, 2));  // it has to promise twice its price
  CHECK(detail::is_worth(9, {5.01, 0, 32.4}, false, 2.2));     // 162 is twice 81
  CHECK_FALSE(detail::is_worth(9, {4.99, 0, 32.4}, false, 2.2));
  // What is sure to come counts as what was missed.
  CHECK(detail::is_worth(9, {4.73, 0, 10, 1.5}, true));  // 0.45 of what the change and the rest take
  CHECK_FALSE(detail::is_worth(9, {4.72, 0, 1e9, 1.5}, true));
  CHECK(detail::is_worth(9, {2.03, 2.03, 10}, true));
  CHECK_FALSE(detail::is_worth(9, {2.03, 2.01, 1e9}, true));
  CHECK_FALSE(detail::is_worth(9, {2.03, 9, 10}, false));
}

TEST_CASE("A setup is bought in mid-solve by what was missed times what is ahead", "[exchange][learning]") {
  FormatChoice choice = choice_of(10e-6, 2e-6, 8e-3);  // 1,000 iterations
  SolveCounts counts;
  const auto learning = [&] { return detail::SystemLearning(counts); };
  CHECK(learning().better_for(choice, 0, 0, 1e9, false) == nullptr);
  CHECK(learning().better_for(choice, 999, 0, 1000, false) == nullptr);
  REQUIRE(learning().better_for(choice, 1001, 0, 1000, false) != nullptr);
  CHECK(learning().better_for(choice, 1001, 0, 1000, false)->format == "ehyb");
  CHECK(learning().better_for(choice, 451, 0, 2300, false) != nullptr);
  CHECK(learning().better_for(choice, 449, 0, 1e9, false) ==
        nullptr);  // a wrong estimate must not cost more than that
  CHECK(learning().better_for(choice, 10000, 0, 99, false) == nullptr);
  CHECK(learning().better_for(choice, 226, 226, 1200, true) != nullptr);
  CHECK(learning().better_for(choice, 226, 220, 1200, true) == nullptr);
  counts.iterations += 500;  // of solves before
  CHECK(learning().better_for(choice, 501, 0, 1000, false) != nullptr);
  choice.trials[1].failure = "memory";
  CHECK(learning().better_for(choice, 1e6, 0, 1e6, false) == nullptr);
  choice.trials[1].failure = "";
}

TEST_BOTH("A system that is solved again and again moves to a faster format by itself, once", "[learning]") {
  const HostCsr a = fem_matrix("generate:elasticity:12");
  const auto there = upload_matrix<double>(ctx, a);
  SystemOptions options;
  options.expected_products = 1;
  LinearSystem<double, S> system(ctx, there.wide(), options);
  REQUIRE(system.info().format.format == "csr");
  int changes = 0, solves = 0, iterations = 0;
  for (; solves < 400 && changes == 0; ++solves) {
    const SolveReport report = solve_and_check<S>(system, ctx, a);
    if (solves == 0) iterations = report.iterations;
    CHECK(std::abs(report.iterations - iterations) <= 2);
    changes += report.changed.empty() ? 0 : 1;
    system.refresh(there.wide().val);
  }
  CHECK(changes == 1);
  CHECK(system.info().format.format != "csr");
  CHECK(system.info().matrix.name.substr(0, 3) != "csr");
  for (int k = 0; k < 3; ++k) CHECK(solve_and_check<S>(system, ctx, a).changed.empty());
}

TEST_BOTH("A system whose order was handed out keeps its format", "[learning]") {
  const HostCsr a = fem_matrix("generate:elasticity:8");
  const auto there = upload_matrix<double>(ctx, a);
  SystemOptions options;
  options.expected_products = 1;
  LinearSystem<double, S> system(ctx, there.wide(), options);
  REQUIRE(system.info().format.format == "csr");
  CHECK(system.ordered().order().natural());
  for (int k = 0; k < 100; ++k) CHECK(solve_and_check<S>(system, ctx, a).changed.empty());
}

TEST_BOTH("A pinned system moves by improve() alone", "[learning]") {
  const HostCsr a = fem_matrix("generate:elasticity:12");
  const auto there = upload_matrix<double>(ctx, a);
  SystemOptions options = system_options("auto", "jacobi");
  options.expected_products = 1;
  LinearSystem<double, S> system(ctx, there.wide(), options);
  REQUIRE(system.ordered().order().natural());
  CHECK_FALSE(system.history().improve());
  for (int k = 0; k < 100; ++k) CHECK(solve_and_check<S>(system, ctx, a).changed.empty());
  CHECK(system.info().format.format == "csr");
  CHECK(system.history().improve());
  CHECK(system.info().format.format != "csr");
  CHECK_FALSE(solve_and_check<S>(system, ctx, a).changed.empty());
  CHECK(solve_and_check<S>(system, ctx, a).changed.empty());
}

TEST_BOTH("Columns on which the first solver fails are not taken for the solve before", "[learning][columns]") {
  MapRows rows(200);  // quarter turns, on which BiCGStab's omega vanishes
  for (Index i = 0; i < 200; ++i)
    rows[static_cast<std::size_t>(i)][i ^ 1] = (i % 2 == 0 ? 1.0 : -1.0) * (1 + i / 2 % 3);
  const HostCsr a = from_rows(200, rows);
  const auto there = upload_matrix<double>(ctx, a);
  const auto n = static_cast<std::size_t>(a.rows);
  SystemOptions options = system_options("auto", "none");
  options.solver.of<ScalingOptions>().match = Use::off;  // with which BiCGStab succeeds
  LinearSystem<double, S> system(ctx, there.wide(), options);
  const bool stops = GENERATE(false, true);
  if (stops) {  // in the callback, which leaves a solve as an exception does
    const auto b = upload(ctx, std::vector<double>(n, 1.0));
    auto x = upload(ctx, std::vector<double>(n, 0.0));
    const auto leave = [](const Progress&) -> bool { throw 1; };
    CHECK_THROWS_AS(static_cast<void>(system.solve(b.cspan(), x.span(), leave)), int);
  } else {
    solve_and_check<S>(system, ctx, a);
  }
  std::vector<double> bs;
  for (std::uint64_t c = 0; c < 2; ++c) {
    const auto column = product_oracle(a, random_vector<double>(a.rows, c + 5));
    bs.insert(bs.end(), column.begin(), column.end());
  }
  const auto b = upload(ctx, bs);
  auto x = upload(ctx, std::vector<double>(2 * n, 0.0));
  const std::vector<SolveReport> reports = system.solve_columns(b.cspan(), x.span(), 2);
  const std::vector<double> found = download(ctx, x);
  for (std::size_t c = 0; c < 2; ++c) {
    CHECK(reports[c].converged());
    CHECK(reports[c].attempts.size() > 1);
    const auto part = [&](const std::vector<double>& all) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(c * n);
      return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(n));
    };
    CHECK(residual_norm(a, part(found), part(bs)) <= 1.01e-8 * norm_oracle(part(bs)));
  }
}

TEST_BOTH("A preconditioner that is older than the matrix is not made again by a move", "[learning]") {
  HostCsr a = fem_matrix("generate:elasticity:12");
  const auto there = upload_matrix<double>(ctx, a);
  SystemOptions options = system_options("auto", "jacobi");
  options.expected_products = 1;
  LinearSystem<double, S> system(ctx, there.wide(), options);
  for (double& value : a.val) value *= 2;
  const auto doubled = upload(ctx, a.val);
  system.refresh(doubled.cspan(), RefreshScope::operator_only);
  for (int k = 0; k < 100; ++k) CHECK(solve_and_check<S>(system, ctx, a).changed.empty());
  CHECK(system.info().format.format == "csr");
}

TEST_BOTH("A diagonal with zeros is no obstacle where nobody named a preconditioner", "[learning]") {
  MapRows rows(40);
  for (Index i = 0; i < 40; ++i) rows[static_cast<std::size_t>(i)][i ^ 1] = 1 + 0.01 * i;
  const HostCsr a = from_rows(static_cast<Index>(rows.size()), rows);
  const auto there = upload_matrix<double>(ctx, a);
  LinearSystem<double, S> system(ctx, there.wide());
  solve_and_check<S>(system, ctx, a);
  SystemOptions named = system_options("auto", "jacobi");
  CHECK_THROWS_AS((LinearSystem<double, S>(ctx, there.wide(), named)), InputError);
}

TEST_BOTH("After all solvers have failed with one preconditioner the next is tried", "[learning]") {
  const HostCsr a = cycles_with_wild_diagonal(600);
  const auto there = upload_matrix<double>(ctx, a);
  LinearSystem<double, S> system(ctx, there.wide());
  const SolveReport report = solve_and_check<S>(system, ctx, a);
  INFO(report.changed);
  for (const Attempt& attempt : report.attempts) {
    UNSCOPED_INFO(attempt.solver << " " << attempt.preconditioner << ": " << attempt.reason);
  }
  CHECK(report.changed != "");
  CHECK(report.attempts.size() > 1);
  CHECK(report.attempts.back().preconditioner != report.attempts.front().preconditioner);
  CHECK(solve_and_check<S>(system, ctx, a).attempts.size() <= report.attempts.size());
}

TEST_BOTH("Preconditioners that follow are made from the present values, whatever the format", "[learning]") {
  HostCsr a = cycles_with_wild_diagonal(600);
  for (double& value : a.val) value *= 3;
  const auto there = upload_matrix<double>(ctx, a);
  for (const char* format : {"ehyb", "ellwarp", "bce"}) {
    INFO(format);
    SystemOptions options = system_options("auto", "auto", format);
    LinearSystem<double, S> system(ctx, there.wide(), options);
    HostCsr doubled = a;
    for (double& value : doubled.val) value *= 2;
    const auto values = upload(ctx, doubled.val);
    system.refresh(values.cspan());
    const SolveReport report = solve_and_check<S>(system, ctx, doubled);
    // A trial may have chosen ILUT, which has new values then; on a device factors may come first.
    CHECK((report.changed != "" || report.attempts.size() > 1 || system.info().preconditioner.name == "ilut"));
  }
}
