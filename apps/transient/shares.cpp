// SPDX-License-Identifier: Apache-2.0
// Where the seconds went: bookings, and the split of the solves by operators timed in isolation.
#include "shares.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include <newel/config.hpp>
#include <newel/core/vector_ops.hpp>

namespace newel::transient {

template <Space S>
double seconds_of_one(const Context<S>& ctx, int repeats, const std::function<void()>& f) {
  constexpr int queued = S == Space::device ? 16 : 1;
  f();
  std::vector<double> seconds;
  for (int i = 0; i < std::max(repeats, 1); ++i) {
    ctx.synchronize();
    const cli::Stopwatch watch;
    for (int k = 0; k < queued; ++k) f();
    ctx.synchronize();
    seconds.push_back(watch.seconds() / queued);
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  return seconds[seconds.size() / 2];
}

void SolveTotals::add(const SolveReport& report) {
  ++solves;
  resident += report.resident ? 1 : 0;
  iterations += report.iterations;
  most_iterations = std::max<std::int64_t>(most_iterations, report.iterations);
  static const SolverMethod unknown{};  // of another code: one product an iteration
  const SolverMethod& method = report.method.empty() ? unknown : find_solver(report.method);
  const std::int64_t residuals = 1 + report.residual_replacements + report.restarts;
  products += method.products * report.iterations + 1 + residuals;
  preconditioned += method.precond_products * report.iterations + residuals;
  replacements += report.residual_replacements;
  if (report.converged()) {
    worst_relative_residual = std::max(worst_relative_residual, report.relative(report.true_residual));
  } else {
    ++not_converged;
  }
  solve_seconds += report.seconds;
}

template <Space S>
OperatorSeconds measure_operators(const Context<S>& ctx, const LinearSystem<double, S>& system, int repeats) {
  ctx.make_current();
  Array<double, S> x(ctx, system.rows()), y(ctx, system.rows());
  fill<double, S>(ctx, 1.0, x.span());
  OperatorSeconds result;
  const auto seconds_of = [&](const LinearOperator<double, S>& op) {
    return seconds_of_one(ctx, repeats, [&] { op.apply(ctx, 1.0, x.cspan(), 0.0, y.span()); });
  };
  result.product = seconds_of(system.ordered().matrix());
  if (const LinearOperator<double, S>* M = system.ordered().preconditioner()) {
    result.preconditioner = seconds_of(*M);
  }
  return result;
}

template double seconds_of_one(const Context<Space::host>&, int, const std::function<void()>&);
template OperatorSeconds measure_operators(const Context<Space::host>&, const LinearSystem<double, Space::host>&,
                                           int);
#if NEWEL_HAS_CUDA
template double seconds_of_one(const Context<Space::device>&, int, const std::function<void()>&);
template OperatorSeconds measure_operators(const Context<Space::device>&, const LinearSystem<double, Space::device>&,
                                           int);
#endif

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Shares::begin_step() {
  sampled_ = sample_every_ <= 1 || steps_ % sample_every_ == 0;
  ++steps_;
  if (sampled_) ++sampled_steps_;
  in_step_ = true;
  output_before_step_ = inside_[static_cast<int>(Phase::output)];
  step_begin_ = clock_();
}

void Shares::end_step() {
  const double output = inside_[static_cast<int>(Phase::output)] - output_before_step_;
  const double seconds = clock_() - step_begin_ - output;
  step_seconds_ += seconds;
  if (sampled_) sampled_step_seconds_ += seconds;
  in_step_ = false;
}

bool Shares::counts(Phase phase) const {
  return !in_step_ || sampled_ || phase == Phase::setup || phase == Phase::output;
}

ShareReport Shares::report(double total, const SolveTotals& totals, const OperatorSeconds& operators) const {
  // What a phase took in the sampled steps stands for all: sampled steps wait more often, so their proportions count,
  // not their sum. Output is timed in all of them.
  const double scale = sampled_step_seconds_ > 0 ? step_seconds_ / sampled_step_seconds_ : 1;
  const auto booked = [&](Phase phase) {
    const auto at = static_cast<std::size_t>(phase);
    const bool always = phase == Phase::setup || phase == Phase::output;
    return outside_[at] + (always ? 1 : scale) * inside_[at];
  };
  ShareReport result;
  result.total = total;
  result.steps = steps_;
  result.sampled_steps = sampled_steps_;
  result.operators = operators;
  result.setup = booked(Phase::setup);
  result.output = booked(Phase::output);
  result.elements = booked(Phase::elements);
  result.sums = booked(Phase::sums);
  result.check = booked(Phase::check);
  result.assembly = booked(Phase::assembly) + result.elements + result.sums + result.check;
  const double solve = booked(Phase::solve);
  const double product = static_cast<double>(totals.products + totals.other_products) * operators.product;
  const double preconditioner = static_cast<double>(totals.preconditioned) * operators.preconditioner;
  // Operators in isolation find the caches as they left them; they must not come to more than the solves themselves.
  const double fit = product + preconditioner > solve ? solve / (product + preconditioner) : 1;
  result.product = fit * product;
  result.preconditioner = fit * preconditioner;
  result.vector_work = solve - result.product - result.preconditioner + booked(Phase::vector_work);
  const double known = result.setup + result.output + result.assembly + solve + booked(Phase::vector_work);
  result.other = std::max(0.0, total - known);
  return result;
}

std::vector<std::pair<std::string, double>> ShareReport::parts() const {
  return {{"setup", setup},
          {"assembly", assembly},
          {"product", product},
          {"preconditioner", preconditioner},
          {"vector_work", vector_work},
          {"output", output},
          {"other", other}};
}

std::vector<std::pair<std::string, double>> ShareReport::assembly_parts() const {
  if (elements + sums + check == 0) return {};
  return {{"elements", elements}, {"matrix_and_right_hand_side", sums}, {"check", check}};
}

cli::Json shares_json(const ShareReport& report) {
  cli::Json seconds = cli::Json::object(), share = cli::Json::object();
  for (const auto& [name, value] : report.parts()) {
    seconds[name] = value;
    share[name] = report.total > 0 ? value / report.total : 0.0;
  }
  cli::Json json;
  json["total_seconds"] = report.total;
  json["seconds"] = seconds;
  json["share"] = share;
  for (const auto& [name, value] : report.assembly_parts()) json["assembly_seconds"][name] = value;
  json["steps"] = report.steps;
  json["sampled_steps"] = report.sampled_steps;
  json["one_product_seconds"] = report.operators.product;
  json["one_preconditioner_seconds"] = report.operators.preconditioner;
  json["how"] =
      "phases: wall-clock time, in the sampled steps between waits for the device; product and preconditioner inside "
      "the solves: the time of one application, measured alone, times the number of applications; the rest of the "
      "solves is vector work; for solves in one kernel this split is an estimate";
  return json;
}

}  // namespace newel::transient
