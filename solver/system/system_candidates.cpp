// SPDX-License-Identifier: Apache-2.0
// The combinations that the automatic choices of a system compare.
#include "solver/system/system_operators.hpp"

#include <algorithm>

#include "core/vectors/instantiate.hpp"
#include "precond/build_cost.hpp"

namespace newel::detail {

template <class T, Space S>
std::vector<SystemCandidate> PlainOperators<T, S>::candidates(double simple_iterations) {
  weigh_alternatives();
  if (!chosen_.facts || chosen_.format.measured || parts_.has_preconditioner()) return {};
  std::vector<SystemCandidate> found;
  const std::vector<std::pair<std::string, double>> preconditioners = candidate_preconditioners();
  for (const auto& [format, setup_seconds] : candidate_formats()) {
    const std::optional<CostEstimate> product = product_estimate(format);
    if (!product) continue;
    for (const auto& [name, build_seconds] : preconditioners) {
      const IterationEstimate iteration = iteration_estimate(name, *product);
      SystemCandidate candidate{format, name, setup_seconds + build_seconds, iteration.seconds, iteration.resident};
      candidate.iterations = iterations_of(name)(simple_iterations);
      candidate.present = format == chosen_.format.format && name == options_.precond.name;
      found.push_back(std::move(candidate));
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const SystemCandidate& a, const SystemCandidate& b) { return a.seconds() < b.seconds(); });
  return found;
}

// With the seconds of their setup.
template <class T, Space S>
std::vector<std::pair<std::string, double>> PlainOperators<T, S>::candidate_formats() const {
  if (chosen_.format.trials.empty()) return {{chosen_.format.format, 0}};
  std::vector<std::pair<std::string, double>> formats;
  for (const FormatTrial& trial : chosen_.format.trials) {
    if (trial.failure.empty()) formats.emplace_back(trial.format, trial.setup_seconds);
  }
  return formats;
}

// Likewise, but for one that was named: it costs the same in every format.
template <class T, Space S>
std::vector<std::pair<std::string, double>> PlainOperators<T, S>::candidate_preconditioners() const {
  const std::string& present = options_.precond.name;
  if (!chosen_.precond_chosen) return {{present, 0}};
  std::vector<std::string> names;
  const PrecondMethod* const simple = simple_preconditioner(*chosen_.traits);
  names.push_back(simple != nullptr ? simple->name : "none");
  for (const PrecondMethod* const method : newel::stronger_preconditioners(*chosen_.traits))
    names.push_back(method->name);
  if (std::find(names.begin(), names.end(), present) == names.end()) names.push_back(present);
  std::vector<std::pair<std::string, double>> preconditioners;
  for (const std::string& name : names) preconditioners.emplace_back(name, candidate_build_seconds(name));
  return preconditioners;
}

// As the solves weighed it, where they have; 0 where the pattern is no longer there.
template <class T, Space S>
double PlainOperators<T, S>::candidate_build_seconds(const std::string& name) const {
  if (chosen_.outlooks && chosen_.builds_estimated) {
    const std::vector<PrecondOutlook>& stronger = chosen_.outlooks->stronger;
    const auto weighed =
        std::find_if(stronger.begin(), stronger.end(), [&](const PrecondOutlook& o) { return o.name == name; });
    if (weighed != stronger.end()) return weighed->build_seconds;
    if (chosen_.outlooks->present.name == name && chosen_.outlooks->present.build_seconds > 0)
      return chosen_.outlooks->present.build_seconds;
  }
  const std::optional<Pattern<S>> a = source_->pattern();
  if (!a || name == "none") return 0;
  return build_seconds(ctx_, *a, find_preconditioner(name), options_.precond, &machine_).build;
}

#define X(T, S)                                                                   \
  template std::vector<SystemCandidate> PlainOperators<T, S>::candidates(double); \
  template double PlainOperators<T, S>::candidate_build_seconds(const std::string&) const;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
