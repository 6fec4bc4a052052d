// SPDX-License-Identifier: Apache-2.0
// The choice of a format, by the cost model and by measuring.
#include <newel/spmv/format_choice.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/text/number_text.hpp"
#include "core/vectors/instantiate.hpp"
#include "spmv/cost/product_constants.hpp"
#include "spmv/plan/plan_cache.hpp"

namespace newel {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string counted(double products) { return detail::plain_number(std::max(1.0, std::ceil(products))); }

// Of a cost estimate or of a few measurements, which know no more than two digits.
std::string about(double products) { return "about " + detail::plain_number(std::max(1.0, std::ceil(products)), 2); }

// "pays back after about 310 products, 1,900 are expected" and its like.
std::string reason_for(const FormatTrial& best, const std::vector<FormatTrial>& trials, double steps, bool measured) {
  const std::string expected = counted(steps) + (steps == 1 ? " is expected" : " are expected");
  const std::string source = measured ? "measured" : "estimated";
  const FormatTrial& csr = trials.front();
  const std::string step = csr.iteration_seconds > 0 ? "iteration" : "product";
  if (&best != &csr) {
    const double after = break_even(best, csr);
    if (after <= 0) return "fastest from the first " + step + " (" + source + ")";
    return "pays back after " + about(after) + " " + step + "s, " + expected + " (" + source + ")" +
           (best.resident ? "; solves in one kernel" : "");
  }
  const FormatTrial* fastest = &csr;
  for (const FormatTrial& trial : trials) {
    if (trial.failure.empty() && trial.step_seconds() < fastest->step_seconds()) fastest = &trial;
  }
  if (fastest == &csr) return "no other format is faster (" + source + ")";
  return fastest->format + " would pay back after " + about(break_even(*fastest, csr)) + " " + step + "s, " +
         expected + " (" + source + ")";
}

FormatChoice best_of(std::vector<FormatTrial> trials, double steps, bool measured) {
  FormatChoice choice;
  const auto cost = [&](const FormatTrial& trial) {
    return trial.failure.empty() ? trial.seconds_of(steps) : std::numeric_limits<double>::infinity();
  };
  const auto best = std::min_element(trials.begin(), trials.end(),
                                     [&](const FormatTrial& a, const FormatTrial& b) { return cost(a) < cost(b); });
  choice.format = best->format;
  choice.reason = reason_for(*best, trials, steps, measured);
  choice.measured = measured;
  choice.trials = std::move(trials);
  return choice;
}

template <class T, Space S>
bool admits(const SpmvFormat& format, bool square, bool may_renumber) {
  if (format.make.get<T, S>() == nullptr) return false;
  return may_renumber ? square || !takes_square_only(format.name) : !takes_square_only(format.name);
}

// Whether a name that was kept is still one to choose.
template <class T, Space S>
bool is_candidate(const std::string& name, bool square, bool may_renumber) {
  try {
    const bool square_only = takes_square_only(name);  // throws for an unknown variant
    return admits<T, S>(find_spmv_format(name), square, may_renumber) && (square || !square_only);
  } catch (const InputError&) {
    return false;
  }
}

// Median seconds of a product, from blocks long enough for the clock.
template <class T, Space S>
double time_product(const Context<S>& ctx, const MatrixOperator<T, S>& op) {
  constexpr int blocks = 5;
  constexpr double least_seconds = 2e-3;
  constexpr int most_repeats = 1000;
  Array<T, S> x(ctx, op.cols()), y(ctx, op.rows());
  newel::fill<T, S>(ctx, T(1), x.span());
  const auto run = [&](int repeats) {
    const auto start = Clock::now();
    for (int k = 0; k < repeats; ++k) op.apply(ctx, T(1), x.cspan(), T(0), y.span());
    ctx.synchronize();
    return seconds_since(start) / repeats;
  };
  run(1);  // warm up
  const int repeats = std::clamp(static_cast<int>(least_seconds / std::max(run(2), 1e-9)), 1, most_repeats);
  double seconds[blocks];
  for (double& block : seconds) block = run(repeats);
  std::sort(seconds, seconds + blocks);
  return seconds[blocks / 2];
}

template <class T, Space S>
FormatTrial try_format(const Context<S>& ctx, const CsrView<T, S>& a, SpmvOptions options, bool may_renumber) {
  FormatTrial trial;
  trial.format = options.format;
  try {
    const auto start = Clock::now();
    const RowOrder<S> order = may_renumber ? plan_order<T>(ctx, Pattern<S>(a), options) : RowOrder<S>{};
    PermutedCsr<T, S> permuted;
    CsrView<T, S> view = a;
    if (!order.natural()) {
      permuted = permute(ctx, a, order);
      view = permuted.view();
    }
    const OperatorPtr<T, S> op = make_spmv(ctx, view, order, options);
    ctx.synchronize();
    trial.setup_seconds = seconds_since(start);
    trial.product_seconds = time_product(ctx, *op);
  } catch (const Error& error) {
    trial.failure = error.what();
  }
  return trial;
}

}  // namespace

bool is_format_choice(std::string_view name) {
  const std::string word = canonical_name(name);
  return word == "auto" || word == "measure";
}

double break_even(const FormatTrial& format, const FormatTrial& base) {
  const double gain = base.step_seconds() - format.step_seconds();
  const double price = format.setup_seconds - base.setup_seconds;
  if (gain <= 0) return price <= 0 && gain == 0 ? 0 : std::numeric_limits<double>::infinity();
  return std::max(0.0, price / gain);
}

double tolerance_for_estimates(double rel_tol) { return std::clamp(rel_tol, 1e-16, 0.1); }

double expected_iterations(const PatternFacts& facts, double rel_tol) {
  const double per_digit = facts.block > 1 ? detail::iteration_counts.of_blocks : detail::iteration_counts.of_scalars;
  const double nodes = static_cast<double>(facts.rows) / facts.block;
  const double estimate = per_digit * std::log(1 / tolerance_for_estimates(rel_tol)) * std::cbrt(nodes);
  return std::max(1.0, std::round(estimate));
}

template <class T, Space S>
FormatChoice choose_format_by_cost(const Context<S>& ctx, const Pattern<S>& pattern, const SpmvOptions& options,
                                   const FormatUse& use) {
  const PatternFacts facts = use.facts != nullptr ? *use.facts : pattern_facts(ctx, pattern);
  const FormatRequest request{"", options, use.machine != nullptr ? *use.machine : machine_of(ctx), sizeof(T)};
  const int host_threads = host_context(ctx).threads();
  std::vector<FormatTrial> trials;
  for (const SpmvFormat& format : spmv_formats()) {
    if (format.cost_estimate == nullptr || !admits<T, S>(format, facts.rows == facts.cols, use.may_renumber))
      continue;
    const CostEstimate cost_estimate = format.cost_estimate(facts, request);
    if (std::isinf(cost_estimate.product_bytes)) continue;
    FormatTrial trial;
    trial.format = format.name;
    trial.product_seconds = cost_estimate.product_seconds(request.machine);
    trial.setup_seconds = cost_estimate.setup_seconds(request.machine, facts.nonzeros, host_threads);
    if (use.iteration) {
      const IterationEstimate iteration = use.iteration(format, facts, cost_estimate);
      trial.iteration_seconds = iteration.seconds;
      trial.resident = iteration.resident;
    }
    trials.push_back(std::move(trial));
  }
  return best_of(std::move(trials),
                 use.steps > 0 ? use.steps : use.estimate_scale * expected_iterations(facts, use.rel_tol), false);
}

template <class T, Space S>
FormatChoice measure_formats(const Context<S>& ctx, const CsrView<T, S>& a, const SpmvOptions& options,
                             double products, bool may_renumber) {
  const FormatRequest request{"", options, machine_of(ctx), sizeof(T)};
  detail::PlanCache cache(options.plan_cache);
  detail::PlanKey key;
  if (!options.plan_cache.empty()) {
    key = detail::plan_key(ctx, Pattern<S>(a), request);
    key.add("measure");
    key.add(static_cast<std::uint64_t>(products));
    key.add(static_cast<std::uint64_t>(may_renumber));
    if (const auto found = cache.find(key)) {
      if (is_candidate<T, S>(found->choice, a.rows == a.cols, may_renumber)) {
        FormatChoice choice;
        choice.format = found->choice;
        choice.reason = found->reason + ", from the plan cache";
        choice.measured = true;
        return choice;
      }
      cache.ignore(key, "holds no format that is a candidate here");
    }
  }
  std::vector<FormatTrial> trials;
  for (const SpmvFormat& format : spmv_formats()) {
    if (!admits<T, S>(format, a.rows == a.cols, may_renumber)) continue;
    SpmvOptions candidate = options;
    candidate.format = format.name;
    trials.push_back(try_format<T, S>(ctx, a, candidate, may_renumber));
  }
  FormatChoice choice = best_of(std::move(trials), products, true);
  if (!options.plan_cache.empty()) {
    cache.keep(key, {choice.format, choice.reason, {}, {}, "", {}});
    if (!cache.remark().empty()) choice.reason += "; " + cache.remark();
  }
  return choice;
}

#define X(T, S)                                                                                            \
  template FormatChoice choose_format_by_cost<T>(const Context<S>&, const Pattern<S>&, const SpmvOptions&, \
                                                 const FormatUse&);                                        \
  template FormatChoice measure_formats(const Context<S>&, const CsrView<T, S>&, const SpmvOptions&, double, bool);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
