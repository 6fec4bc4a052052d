// SPDX-License-Identifier: Apache-2.0
// When a host without a profile is measured: where a decision is worth it, and not before.
#include "tests/catch.hpp"
#include "tests/distributed/rank_support.hpp"
#include "tests/solver/problem.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "solver/cost/profiles/profiles.hpp"
#include "solver/krylov/monitor/operator_exchange.hpp"
#include "solver/operators/host_measurement.hpp"
#include "solver/operators/operator_builder.hpp"
#include "solver/operators/system_estimates.hpp"
#include "solver/system/solve_session.hpp"
#include "solver/system/system_setup.hpp"

using namespace newel;
using namespace newel::testing;
using detail::HostProfile;
using detail::Move;

namespace {

constexpr Space H = Space::host;

SystemOptions on_unknown_host() {
  SystemOptions options;
  options.estimate_scale.device_unknown = true;
  return options;
}

std::unique_ptr<detail::Operators<double, H>> operators(const Problem<H>& problem, const SystemOptions& options) {
  return detail::build<double, H>(problem.ctx, problem.there.wide(), options, {});
}

double csr_step(const detail::Operators<double, H>& s) {
  for (const FormatTrial& trial : s.chosen.format.trials) {
    if (trial.format == "csr") return trial.step_seconds();
  }
  return 0;
}

// What `auto` compares, of a system whose iterations were given.
double seconds_of_iteration(const Problem<H>& problem, bool deterministic, bool unknown) {
  SystemOptions options;
  options.expected_products = 1e7;
  options.deterministic = deterministic;
  options.estimate_scale.device_unknown = unknown;
  const auto s = operators(problem, options);
  return csr_step(*s);
}

}  // namespace

TEST_CASE("A named profile is not measured", "[host-measurement]") {
  const Problem<H> problem("generate:diffusion:12");
  const double named = seconds_of_iteration(problem, true, false);
  CHECK(named > 0);
  CHECK(seconds_of_iteration(problem, true, true) == named);
  CHECK(seconds_of_iteration(problem, false, true) != named);
  SystemOptions options = on_unknown_host();
  options.deterministic = true;
  const auto s = operators(problem, options);
  detail::SystemEstimates<double, H>(*s).weigh();
  CHECK(s->machine.host_profile == &detail::epyc);
  detail::History history;
  history.count(1000000000);
  CHECK(detail::measurement_due(*s, history) == detail::no_exchange);
  CHECK_FALSE(detail::is_worth_measuring(*s, Move(Move::Kind::format, "ehyb")));
}

TEST_CASE("Ranks decide alike, so they do not measure", "[host-measurement]") {
  const Problem<H> problem("generate:diffusion:6");
  const HostProfile* taken = nullptr;
  const std::vector<std::string> thrown = on_ranks(1, [&](const std::shared_ptr<Communicator>& ranks) {
    const Context<H> ctx = problem.ctx.with_ranks({ranks, 0, problem.a.rows});
    taken = detail::build<double, H>(ctx, problem.there.wide(), on_unknown_host(), {})->machine.host_profile;
  });
  REQUIRE(thrown.size() == 1);
  CHECK(thrown.front().empty());
  CHECK(taken == &detail::epyc);
}

// As long as ten measurements of 20 ms.
TEST_CASE("A host is measured when a system has iterated long enough", "[host-measurement]") {
  const Problem<H> problem("generate:diffusion:12");
  const auto s = operators(problem, on_unknown_host());
  CHECK(detail::measurement_due(*s, {}) == detail::no_exchange);  // nothing has been weighed yet
  detail::SystemEstimates<double, H>(*s).weigh();
  CHECK(s->machine.host_profile == nullptr);
  const double step = csr_step(*s);
  REQUIRE(step > 0);
  const auto due = static_cast<int>(std::ceil(0.2 / step));
  CHECK(detail::measurement_due(*s, {}) == due);
  detail::History history;
  history.count(due - 10);
  CHECK(detail::measurement_due(*s, history) == 10);
  history.count(20);
  CHECK(detail::measurement_due(*s, history) == 0);

  const double longer = detail::measure_host(*s);
  CHECK(s->machine.host_profile != nullptr);
  CHECK(s->machine.host_profile != &detail::epyc);
  CHECK(s->chosen.format.format == "csr");
  CHECK(csr_step(*s) != step);
  CHECK(std::abs(longer - csr_step(*s) / step) < 1e-12 * longer);
  CHECK(detail::measurement_due(*s, history) == detail::no_exchange);
  CHECK(detail::measure_host(*s) == 1);
}

TEST_CASE("A host is measured before a long setup", "[host-measurement]") {
  const Problem<H> problem("generate:diffusion:12");
  const auto s = operators(problem, on_unknown_host());
  detail::SystemEstimates<double, H>(*s).weigh();
  REQUIRE(!s->chosen.format.trials.empty());
  FormatTrial& trial = s->chosen.format.trials.front();
  trial.setup_seconds = 0.19;
  CHECK_FALSE(detail::is_worth_measuring(*s, Move(Move::Kind::format, trial.format)));
  trial.setup_seconds = 0.21;
  CHECK(detail::is_worth_measuring(*s, Move(Move::Kind::format, trial.format)));
  CHECK_FALSE(detail::is_worth_measuring(*s, Move(Move::Kind::inspect_values)));
}

TEST_CASE("Solves measure an unknown host once they have been long enough", "[host-measurement]") {
  Problem<H> problem("generate:diffusion:12");
  const SystemOptions options = on_unknown_host();
  detail::SystemState<double, H> state(problem.ctx, options);
  detail::SystemSetup<double, H>(state).from_matrix(MatrixInput<double, H>(problem.there.wide()), options, {});
  Array<double, H> x(problem.ctx, problem.a.rows);
  const auto solve = [&] {
    return detail::solve<double, H>(state, problem.b.cspan(), x.span(), {}, InitialGuess::zero).converged();
  };
  REQUIRE(solve());
  CHECK(state.operators->machine.host_profile == nullptr);  // of milliseconds
  state.history.count(1000000000);
  REQUIRE(solve());
  CHECK(state.operators->machine.host_profile != nullptr);
}

// A format has failed before, so that nothing else happens on the way.
TEST_CASE("A solve measures an unknown host in its middle", "[host-measurement]") {
  for (const bool reached : {true, false}) {
    Problem<H> problem("generate:diffusion:12");
    SystemOptions options = on_unknown_host();
    options.precond.name = "jacobi";
    detail::SystemState<double, H> state(problem.ctx, options);
    detail::SystemSetup<double, H>(state).from_matrix(MatrixInput<double, H>(problem.there.wide()), options, {});
    state.alternatives->weigh();
    const double step = csr_step(*state.operators);
    state.history.change_failed = true;
    state.history.whole.weaker_seconds = 1;
    state.history.count(detail::measurement_due(*state.operators, {}) - (reached ? 20 : 2000));
    Array<double, H> x(problem.ctx, problem.a.rows);
    const SolveReport report = detail::solve<double, H>(state, problem.b.cspan(), x.span(), {}, InitialGuess::zero);
    REQUIRE(report.converged());
    REQUIRE(report.iterations > 20);
    REQUIRE(report.iterations < 2000);
    CHECK((state.operators->machine.host_profile != nullptr) == reached);
    const double longer = csr_step(*state.operators) / step;
    CHECK((longer != 1) == reached);
    CHECK(std::abs(state.history.whole.weaker_seconds - longer) < 1e-12 * longer);
  }
}
