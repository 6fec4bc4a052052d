// SPDX-License-Identifier: Apache-2.0
// The seconds that local problems take.
#include "precond/build_cost.hpp"

#include <algorithm>
#include <optional>

#include <newel/core/machine.hpp>
#include <newel/precond/registry.hpp>
#include "core/vectors/instantiate.hpp"
#include "reorder/host_pattern.hpp"

namespace newel::detail {
namespace {

constexpr double entry_of_diagonal = 3e-9;  // for each entry of A

// Beyond, threads wait for the longest problems.
constexpr int useful_threads = 16;

double threads_of(const Machine& machine) {
  return machine.device() ? machine.processors : std::clamp(machine.processors, 1, useful_threads);
}

}  // namespace

LocalProblems usual_problems(Index rows, double length, double work) {
  constexpr double of_differences = 1.3;
  return {rows * length, of_differences * rows * work};
}

double seconds_of(const LocalProblems& problems, const ProblemRates& rates, double entries, const Machine& machine) {
  if (problems.entries == 0) return 0;
  const double growth = entries / problems.entries;
  return (rates.entry * entries + rates.work * problems.work * growth * growth * growth) / threads_of(machine);
}

template <Space S>
PrecondSeconds build_seconds(const Context<S>& ctx, const Pattern<S>& pattern, const PrecondMethod& method,
                             Offset nonzeros, const Machine* machine, const KnownValues* values) {
  PrecondBuild build;
  build.rows = pattern.rows;
  build.nonzeros = pattern.nnz();
  build.stored = nonzeros;
  build.machine = machine != nullptr ? *machine : machine_of(ctx);
  build.host = &host_context(ctx);
  if constexpr (S == Space::device) build.device = &ctx;
  if (values != nullptr) build.values = *values;
  if (method.build_seconds == nullptr) {
    const double pass = entry_of_diagonal * static_cast<double>(build.nonzeros) / threads_of(build.machine);
    return {pass, pass};
  }
  std::optional<HostPattern> on_host;
  Pattern<Space::host> view;
  build.pattern = [&]() -> const Pattern<Space::host>& {
    if (!on_host) view = on_host.emplace(ctx, pattern).view();
    return view;
  };
  const PrecondSeconds seconds = method.build_seconds(build);
  return {seconds.build * build.machine.start_ratio, seconds.refresh * build.machine.start_ratio,
          seconds.iteration_share};
}

template <Space S>
PrecondSeconds expected_build_seconds(const Context<S>& ctx, const Pattern<S>& pattern, const PrecondMethod& method,
                                      const PrecondOptions& options, const Machine* machine,
                                      const KnownValues* values) {
  const double entries = precond_entries(method, options, pattern.rows, pattern.nnz());
  return build_seconds(ctx, pattern, method, static_cast<Offset>(entries), machine, values);
}

#define X(S)                                                                                                 \
  template PrecondSeconds build_seconds(const Context<S>&, const Pattern<S>&, const PrecondMethod&, Offset,  \
                                        const Machine*, const KnownValues*);                                 \
  template PrecondSeconds expected_build_seconds(const Context<S>&, const Pattern<S>&, const PrecondMethod&, \
                                                 const PrecondOptions&, const Machine*, const KnownValues*);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
