// SPDX-License-Identifier: Apache-2.0
// The combinations that the automatic choices of a system compare.
#include <purlin/solver/system_operators.hpp>

#include <algorithm>

#include <purlin/core/instantiate.hpp>
#include <purlin/precond/build_cost.hpp>
#include <purlin/spmv/registry.hpp>

namespace purlin::detail {

template <class T, Space S>
std::vector<SystemCandidate> PlainOperators<T, S>::candidates(double simple_iterations) const {
  if (!facts_ || format_.measured || parts_.has_preconditioner()) return {};
  std::vector<SystemCandidate> found;
  for (const auto& [format, setup_seconds] : candidate_formats()) {
    const SpmvFormat& line = find_spmv_format(format);
    if (line.cost_estimate == nullptr) continue;
    const CostEstimate product = line.cost_estimate(*facts_, {"", options_.spmv, machine_of(ctx_), sizeof(T)});
    for (const std::string& name : candidate_preconditioners()) {
      PrecondOptions named = options_.precond;
      named.name = name;
      const IterationEstimate iteration = iteration_estimate(named, product);
      SystemCandidate candidate{format, name, setup_seconds, iteration.seconds, iteration.resident};
      candidate.iterations =
          name == "none" ? simple_iterations : iterations_with(find_preconditioner(name))(simple_iterations);
      if (precond_chosen_) candidate.setup_seconds += candidate_build_seconds(name);
      candidate.present = format == format_.format && name == options_.precond.name;
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
  if (format_.trials.empty()) return {{format_.format, 0}};
  std::vector<std::pair<std::string, double>> formats;
  for (const FormatTrial& trial : format_.trials) {
    if (trial.failure.empty()) formats.emplace_back(trial.format, trial.setup_seconds);
  }
  return formats;
}

template <class T, Space S>
std::vector<std::string> PlainOperators<T, S>::candidate_preconditioners() const {
  if (!precond_chosen_) return {options_.precond.name};
  std::vector<std::string> names;
  const bool divides = traits_->missing_diagonal.count == 0 && traits_->zero_diagonal.count == 0;
  const PrecondMethod* const simple = automatic_preconditioner(AutoPrecond::simple);
  names.push_back(simple != nullptr && (divides || !simple->divides_by_diagonal) ? simple->name : "none");
  for (const PrecondMethod* const method : purlin::stronger_preconditioners(*traits_)) names.push_back(method->name);
  if (std::find(names.begin(), names.end(), options_.precond.name) == names.end()) {
    names.push_back(options_.precond.name);
  }
  return names;
}

// 0 where the pattern is no longer there.
template <class T, Space S>
double PlainOperators<T, S>::candidate_build_seconds(const std::string& name) const {
  const std::optional<Pattern<S>> a = source_pattern();
  if (!a || name == "none") return 0;
  const PrecondMethod& method = find_preconditioner(name);
  const auto entries = static_cast<Offset>(precond_entries(method, options_.precond, a->rows, a->nnz()));
  return build_seconds(ctx_, *a, method, entries);
}

#define X(T, S) template std::vector<SystemCandidate> PlainOperators<T, S>::candidates(double) const;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin::detail
