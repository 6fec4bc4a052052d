// SPDX-License-Identifier: Apache-2.0
// When a system takes a stronger preconditioner in the middle of a solve, and when it takes the weaker one again:
// with operators whose costs the test makes up.
#include "tests/precond/amg_support.hpp"
#include "tests/solver/made_up_operators.hpp"

#include <newel/solver/linear_system.hpp>
#include "solver/operators/operator_builder.hpp"
#include "solver/operators/system_alternatives.hpp"

TEST_BOTH("A stronger preconditioner follows where it pays, and a solve goes on from its x", "[exchange][learning]") {
  Moving<S> jacobi("refused");
  const SolveReport alone = jacobi.solve();
  CHECK(jacobi.alternatives->taken);
  CHECK(alone.changed.empty());
  Moving<S> moving("fsai");
  const SolveReport report = moving.solve();
  INFO(report.changed);
  CHECK(report.changed.find("preconditioner fsai for jacobi after ") == 0);
  CHECK_FALSE(contains(report.changed, "gained less"));
  CHECK(report.iterations < alone.iterations);
  CHECK(report.history.size() == static_cast<std::size_t>(report.iterations) + 1);
  CHECK(report.residual_replacements == 0);
  for (std::size_t k = 0; k < 3; ++k) CHECK(report.history[k] == alone.history[k]);
}

TEST_BOTH("A preconditioner that makes the residual fall more slowly leaves again", "[exchange][learning]") {
  Moving<S> moving("bad");
  const SolveReport report = moving.solve();
  INFO(report.changed);
  CHECK(moving.alternatives->restored == 1);
  CHECK(report.changed.find("preconditioner bad for jacobi after ") == 0);
  CHECK(contains(report.changed, "preconditioner jacobi for bad after "));
  CHECK(contains(report.changed, "since bad gained less"));
}

// Seconds by the costs that are made up: 1 ms an iteration, and the price of a move.
double seconds_of(const SolveReport& report, double price) {
  return 1e-3 * report.iterations + (report.changed.empty() ? 0 : price);
}

TEST_BOTH("Estimates that are wrong by a factor of 100 cost at most three times the best", "[exchange][learning]") {
  const int alone = Moving<S>("refused").solve().iterations;
  Moving<S> free("fsai", 0);
  const int with_fsai = free.solve().iterations;
  REQUIRE(with_fsai < 0.7 * alone);
  for (const double price : {1e-3, 5e-3, 20e-3, 60e-3}) {
    const double best = std::min(1e-3 * alone, price + 1e-3 * with_fsai);
    for (const double factor : {0.01, 1.0, 100.0}) {
      Moving<S> moving("fsai", price);
      moving.alternatives->scale_estimates(factor);
      const double seconds = seconds_of(moving.solve(), price);
      INFO("price " << price << ", factor " << factor << ": " << seconds << " against " << best);
      CHECK(seconds <= 3 * best);
    }
  }
}

TEST_BOTH("No exchange is due before the iteration that a solve waits for", "[exchange][learning]") {
  for (const double price : {5e-3, 60e-3, 1.0}) {
    Moving<S> moving("fsai", price);
    CHECK(detail::SolveSession<double, S>(moving.state, false).exchange().not_before() == detail::no_exchange);
    detail::SolveSession<double, S> session(moving.state, true);
    const int from = session.exchange().not_before();
    int first = 0;
    const auto sure = [](int iterations) { return iterations < 16 ? 0.0 : iterations; };  // by the first spectrum
    while (first < 4000 && !session.exchange().due({first, 1e6, true, 1e-3, 1e-8, sure(first)})) ++first;
    CAPTURE(price, from, first);
    CHECK(first < 4000);
    CHECK(first >= from);
    CHECK(from >= 0.3 * first);
  }
  Moving<S> moving("fsai", 60e-3);
  const int whole = moving.solve().iterations;
  detail::SolveSession<double, S> next(moving.state, true);
  CHECK(next.exchange().not_before() >= whole);  // what so many iterations are worth is decided between solves
}

TEST_CASE("What iterations took more in a former format counts for a stronger preconditioner",
          "[exchange][learning]") {
  constexpr Space S = Space::host;
  const auto first_due = [](bool slower_format) {
    Moving<S> moving("fsai", 60e-3);
    if (slower_format) {  // by a millisecond, for ten iterations
      moving.alternatives->be_slower_than_another_format(2e-3, 60e-3);
      REQUIRE_FALSE(moving.moves().next({10, 0, false, 1, 1e-8}));
      REQUIRE(moving.moves().make(detail::Move{detail::Move::Kind::format, "csr"}));
    }
    int first = 0;
    while (first < 4000 && !moving.moves().next({first, 1e6, true, 1e-3, 1e-8, 0.0})) ++first;
    return first;
  };
  // Half a millisecond each is missed: 0.45 of the price, and of what half as many iterations take behind it.
  CHECK(first_due(false) == 99);
  CHECK(first_due(true) == 62);
}

TEST_CASE("The preconditioner that was followed is made again from the present values", "[exchange][learning]") {
  constexpr Space S = Space::host;
  Problem<S> problem("generate:diffusion:20");
  const auto operators = detail::build<double, S>(problem.ctx, problem.there.wide(), SystemOptions{}, {});
  detail::SystemAlternatives<double, S> alternatives(*operators);
  detail::Forecasts& forecasts = alternatives.forecasts();
  REQUIRE(operators->options.precond.name == "jacobi");
  CHECK_FALSE(forecasts.followed_preconditioner().has_value());
  CHECK_FALSE(alternatives.leave_stronger(100));
  const auto names = [&] {
    const detail::PrecondOutlooks* const outlooks = forecasts.stronger_preconditioners(1e9);
    REQUIRE(outlooks != nullptr);
    std::vector<std::string> found;
    for (const detail::PrecondOutlook& outlook : outlooks->stronger) found.push_back(outlook.name);
    return found;
  };
  const std::vector<std::string> before = names();
  REQUIRE(std::find(before.begin(), before.end(), "fsai") != before.end());
  REQUIRE(alternatives.take_stronger("fsai", false));
  alternatives.settle();
  REQUIRE(forecasts.followed_preconditioner().has_value());
  CHECK(forecasts.followed_preconditioner()->present.name == "fsai");
  CHECK(forecasts.followed_preconditioner()->weaker.name == "jacobi");
  std::vector<double> values = problem.a.val;
  for (double& value : values) value *= 2;
  operators->refresh(upload(problem.ctx, values).cspan(), RefreshScope::everything);

  REQUIRE(alternatives.leave_stronger(100));
  CHECK(operators->options.precond.name == "jacobi");
  CHECK_FALSE(forecasts.followed_preconditioner().has_value());
  const std::vector<std::string> after = names();
  CHECK(after.size() == before.size());  // it may follow again, by the iterations that it took
  CHECK(after.back() == "fsai");
  CHECK(forecasts.stronger_preconditioners(1e9)->stronger.back().iterations_for(1e6) == 100);
  const std::vector<double> ones(static_cast<std::size_t>(problem.a.rows), 1.0);
  const auto x = upload(problem.ctx, ones);
  auto y = upload(problem.ctx, ones);
  operators->preconditioner()->apply(problem.ctx, 1, x.cspan(), 0, y.span());
  const std::vector<double> inverse = download(problem.ctx, y);
  for (Index i = 0; i < problem.a.rows; ++i) {
    for (Offset k = problem.a.row_ptr[i]; k < problem.a.row_ptr[i + 1]; ++k) {
      if (problem.a.col[k] == i) CHECK(inverse[static_cast<std::size_t>(i)] == Approx(1 / values[k]).epsilon(1e-12));
    }
  }
}

TEST_BOTH("A preconditioner that stalls after a good beginning leaves again", "[exchange][learning]") {
  const int alone = Moving<S>("refused").solve().iterations;
  Moving<S> moving("stalls");
  const SolveReport report = moving.solve();
  INFO(report.changed);
  CHECK(moving.alternatives->restored == 1);
  CHECK(report.changed.find("preconditioner stalls for jacobi after ") == 0);
  CHECK(contains(report.changed, "since stalls gained less"));
  CHECK(report.iterations < 5 * alone);
}

TEST_CASE("A preconditioner that follows the format is made of the values that came after it",
          "[exchange][learning][amg]") {
  Problem<Space::host> problem(bar_matrix(200), 1);  // where threads wait for each other FSAI pays before the format
  HostCsr loaded = problem.a;                        // with a larger diagonal
  for (Index i = 0; i < loaded.rows; ++i) {
    for (Offset k = loaded.row_ptr[i]; k < loaded.row_ptr[i + 1]; ++k) {
      if (loaded.col[k] == i) loaded.val[k] *= 1.3;
    }
  }
  const auto at_first = upload_matrix<double>(problem.ctx, loaded);
  LinearSystem<double, Space::host> system(problem.ctx, at_first.wide());
  std::string changed;
  const auto solve = [&](const HostCsr& a) {
    fill<double, Space::host>(problem.ctx, 0, problem.x.span());
    const SolveReport report = system.solve(problem.b.cspan(), problem.x.span());
    CHECK(report.converged());
    CHECK(residual_norm(a, download(problem.ctx, problem.x), problem.b_host) <=
          1.01e-8 * norm_oracle(problem.b_host));
    if (!report.changed.empty()) changed += report.changed + "; ";
    return report.iterations;
  };
  for (int k = 0; k < 2000 && !contains(changed, "format "); ++k) solve(loaded);
  REQUIRE(changed.find("format ") == 0);
  const auto values = upload(problem.ctx, problem.a.val);
  system.refresh(values.cspan());
  for (int k = 0; k < 400 && !contains(changed, "amg"); ++k) solve(problem.a);
  INFO(changed);
  REQUIRE(contains(changed, "preconditioner amg for jacobi"));
  CHECK(solve(problem.a) <= 11);
}

TEST_BOTH("A pinned system changes nothing in a solve", "[exchange][learning]") {
  Moving<S> moving("fsai");
  moving.moves().pin();
  CHECK(moving.solve().changed.empty());
  CHECK_FALSE(moving.alternatives->taken);
}

// Rows and iterations enough that the cost model expects another format to pay, with the iterations that
// `expects_more` adds: on a device small systems are solved in one kernel in CSR too.
template <Space S>
HostCsr worth_a_format() {
  return S == Space::host ? fem_matrix("generate:elasticity:24") : tridiagonal_matrix(1500, 2);
}
constexpr double expects_more(Space space) { return space == Space::host ? 3 : 10; }
constexpr double tolerance_of(Space space) { return space == Space::host ? 1e-12 : 1e-8; }

TEST_BOTH("A system begins in CSR and moves in its first solve, the same on every run", "[exchange][learning]") {
  for (const char* precond : {"none", "jacobi", "fsai"}) {
    CAPTURE(precond);
    std::vector<double> bits;
    SolveReport first;
    for (int run = 0; run < 2; ++run) {
      Problem<S> problem(worth_a_format<S>());
      SystemOptions options = system_options("auto", precond, "auto", tolerance_of(S));
      options.estimate_scale.iterations = expects_more(S);
      LinearSystem<double, S> system(problem.ctx, problem.there.wide(), options);
      REQUIRE(system.info().format.format == "csr");
      const SolveReport report = system.solve(problem.b.cspan(), problem.x.span());
      CHECK(report.converged());
      CHECK(contains(report.changed, " to go"));
      CHECK(system.info().format.format != "csr");
      const std::vector<double> x = download(problem.ctx, problem.x);
      CHECK(residual_norm(problem.a, x, problem.b_host) <= 2 * tolerance_of(S) * norm_oracle(problem.b_host));
      if (run == 0) {
        bits = x;
        first = report;
        continue;
      }
      CHECK(x == bits);
      CHECK(report.history == first.history);
      CHECK(report.changed == first.changed);

      options.spmv.format = "csr";
      LinearSystem<double, S> plain(problem.ctx, problem.there.wide(), options);
      auto again = upload(problem.ctx, std::vector<double>(bits.size(), 0.0));
      const SolveReport reference = plain.solve(problem.b.cspan(), again.span());
      CHECK(std::abs(report.iterations - reference.iterations) <= std::max(2.0, 0.02 * reference.iterations));

      const auto doubled = upload(problem.ctx, [&] {
        std::vector<double> values = problem.a.val;
        for (double& value : values) value *= 2;
        return values;
      }());
      system.refresh(doubled.cspan());
      auto half = upload(problem.ctx, std::vector<double>(bits.size(), 0.0));
      const SolveReport second = system.solve(problem.b.cspan(), half.span());
      CHECK(second.changed.empty());
      CHECK(second.converged());
      std::vector<double> twice = download(problem.ctx, half);
      for (double& value : twice) value *= 2;
      CHECK(residual_norm(problem.a, twice, problem.b_host) <= 2 * tolerance_of(S) * norm_oracle(problem.b_host));
    }
  }
}

TEST_BOTH("What holds on to an order before the first solve gets the format that is expected to pay",
          "[exchange][learning]") {
  Problem<S> problem(S == Space::host ? "generate:elasticity:24" : "generate:elasticity:12");
  const double tolerance = 1e-8 * norm_oracle(problem.b_host);
  SystemOptions options = system_options("auto", "jacobi");
  options.stop.rel_tol = 1e-14;  // from which the iterations to be expected follow
  options.stop.abs_tol = tolerance;
  options.estimate_scale.iterations = expects_more(S);
  LinearSystem<double, S> system(problem.ctx, problem.there.wide(), options);
  REQUIRE(system.info().format.format == "csr");
  // A system that says itself that another format is expected to pay, or the case tests nothing.
  REQUIRE(system.info().format.reason.find("at first; ") == 0);
  CHECK_FALSE(system.ordered().order().natural());
  CHECK(system.info().format.format != "csr");
  const SolveReport report = system.solve(problem.b.cspan(), problem.x.span());
  CHECK(report.converged());
  CHECK(report.changed.empty());
  CHECK(residual_norm(problem.a, download(problem.ctx, problem.x), problem.b_host) <= 1.01 * tolerance);
}

TEST_CASE("Candidates expect the iterations that the last solve showed", "[exchange][learning]") {
  Problem<Space::host> problem("generate:diffusion:10");
  SystemOptions short_solves;
  short_solves.stop.rel_tol = 1e-2;  // too short for a move
  LinearSystem<double, Space::host> system(problem.ctx, problem.there.wide(), short_solves);
  const auto iterations_of = [&](const std::string& name) {
    const std::vector<SystemCandidate> all = system.history().candidates();
    REQUIRE(all.size() >= 12);
    const auto is_it = [&](const SystemCandidate& c) { return c.preconditioner == name; };
    const auto found = std::find_if(all.begin(), all.end(), is_it);
    REQUIRE(found != all.end());
    CHECK(all.front().seconds() <= found->seconds());
    CHECK(std::count_if(all.begin(), all.end(), [](const SystemCandidate& c) { return c.present; }) == 1);
    return found->iterations;
  };
  CHECK(iterations_of("jacobi") > 0);
  const SolveReport report = system.solve(problem.b.cspan(), problem.x.span());
  REQUIRE(report.changed.empty());
  CHECK(iterations_of("jacobi") == Approx(report.iterations));
  CHECK(iterations_of("fsai") == Approx(0.5 * report.iterations));
  CHECK(iterations_of("amg") == Approx(1 + 0.66 * std::sqrt(report.iterations)));  // elements, by their values
  HostCsr damped = problem.a;
  for (Index i = 0; i < damped.rows; ++i) {
    for (Offset k = damped.row_ptr[i]; k < damped.row_ptr[i + 1]; ++k) damped.val[k] *= damped.col[k] == i ? 1.01 : 1;
  }
  Problem<Space::host> other(damped);
  const LinearSystem<double, Space::host> any(other.ctx, other.there.wide(), short_solves);
  double of_jacobi = 0, of_amg = 0;
  for (const SystemCandidate& c : any.history().candidates()) {
    if (c.preconditioner == "jacobi") of_jacobi = c.iterations;
    if (c.preconditioner == "amg") of_amg = c.iterations;
  }
  CHECK(of_jacobi > 0);
  CHECK(of_amg == Approx(1 + 1.4 * std::sqrt(of_jacobi)));
  SystemOptions on_mesh;
  on_mesh.spmv.coordinates =
      std::make_shared<NodeCoordinates>(NodeCoordinates{random_vector<double>(3 * problem.a.rows), 3});
  const LinearSystem<double, Space::host> located(problem.ctx, problem.there.wide(), on_mesh);
  const auto candidate = [&](const std::string& name) {
    const std::vector<SystemCandidate> all = located.history().candidates();
    return *std::find_if(all.begin(), all.end(), [&](const SystemCandidate& c) { return c.preconditioner == name; });
  };
  CHECK(candidate("amg").iterations == Approx(1 + 0.66 * std::sqrt(candidate("jacobi").iterations)));
  SystemOptions named = system_options("auto", "fsai", "bce");
  CHECK(LinearSystem<double, Space::host>(problem.ctx, problem.there.wide(), named).history().candidates().empty());
}
