// SPDX-License-Identifier: Apache-2.0
// The seconds that local problems take, and what a line of the table leaves open.
#include "precond/build_cost.hpp"

#include <algorithm>
#include <optional>

#include <newel/core/machine.hpp>
#include <newel/precond/registry.hpp>
#include "core/vectors/instantiate.hpp"
#include "reorder/host_pattern.hpp"

namespace newel::detail {
namespace {

double threads_of(const Machine& machine) {
  const double useful = constants_of<HostPrecondConstants>(machine).useful_threads;
  return machine.device() ? machine.processors : std::clamp<double>(machine.processors, 1, useful);
}

double half(double simple) { return precond_counts.share * simple; }

PrecondSeconds pass_over(Offset nonzeros, const Machine& machine) {
  const double of_entry = machine.device() ? constants_of<DevicePrecondConstants>(machine).diagonal_entry
                                           : constants_of<HostPrecondConstants>(machine).diagonal_entry;
  const double pass = of_entry * static_cast<double>(nonzeros) / threads_of(machine);
  return {pass, pass};
}

}  // namespace

LocalProblems usual_problems(Index rows, double length, double work) {
  return {rows * length, precond_counts.of_differences * rows * work};
}

double seconds_of(const LocalProblems& problems, const ProblemRates& rates, double entries, const Machine& machine) {
  if (problems.entries == 0) return 0;
  const double growth = entries / problems.entries;
  return (rates.entry * entries + rates.work * problems.work * growth * growth * growth) / threads_of(machine);
}

double stored_entries(const PrecondQuestion& question, const PrecondCost& cost) {
  const Offset stored = question.setup->stored;
  return static_cast<double>(stored > 0 ? stored : static_cast<Offset>(cost.entries));
}

PrecondCost cost_of(const PrecondMethod& method, const PrecondQuestion& question) {
  PrecondCost cost = method.cost != nullptr ? method.cost(question) : PrecondCost{};
  if (cost.entries == 0) cost.entries = static_cast<double>(question.nonzeros);
  if (cost.iterations == nullptr) cost.iterations = &half;
  const bool open = question.setup != nullptr && !(cost.setup.build > 0);
  if (open) cost.setup = pass_over(question.nonzeros, question.machine);
  return cost;
}

template <Space S>
PrecondSeconds build_seconds(const Context<S>& ctx, const Pattern<S>& pattern, const PrecondMethod& method,
                             const PrecondOptions& options, const Machine* machine, const KnownValues* values,
                             Offset made_entries) {
  PrecondSetup setup;
  setup.stored = made_entries;
  setup.host = &host_context(ctx);
  if constexpr (S == Space::device) setup.device = &ctx;
  if (values != nullptr) setup.values = *values;
  std::optional<HostPattern> on_host;
  Pattern<Space::host> view;
  setup.pattern = [&]() -> const Pattern<Space::host>& {
    if (!on_host) view = on_host.emplace(ctx, pattern).view();
    return view;
  };
  PrecondQuestion question{options, machine != nullptr ? *machine : machine_of(ctx), pattern.rows, pattern.nnz()};
  question.setup = &setup;
  const PrecondSeconds seconds = cost_of(method, question).setup;
  if (method.cost == nullptr) return seconds;
  const double start_ratio = question.machine.start_ratio;
  return {seconds.build * start_ratio, seconds.refresh * start_ratio, seconds.iteration_share};
}

#define X(S)                                                                                        \
  template PrecondSeconds build_seconds(const Context<S>&, const Pattern<S>&, const PrecondMethod&, \
                                        const PrecondOptions&, const Machine*, const KnownValues*, Offset);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
