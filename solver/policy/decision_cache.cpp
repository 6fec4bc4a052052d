// SPDX-License-Identifier: Apache-2.0
// Decisions in the plan cache.
#include "solver/policy/decision_cache.hpp"

#include <algorithm>
#include <cstring>

#include <newel/core/error.hpp>
#include <newel/precond/pattern_options.hpp>
#include <newel/precond/registry.hpp>
#include <newel/solver/registry.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/policy/decided_factors.hpp"

namespace newel::detail {
namespace {

constexpr const char* fewest_key = "fewest solves";

bool chosen(const std::string& name) { return canonical_name(name) == "auto"; }

void add_number(PlanKey& key, double number) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  key.add(bits);
}

void add_option(PlanKey& key, const OptionValue& value) {
  if (const auto* whole = std::get_if<int>(&value)) key.add(static_cast<std::uint64_t>(*whole));
  if (const auto* number = std::get_if<double>(&value)) add_number(key, *number);
  if (const auto* text = std::get_if<std::string>(&value)) key.add(*text);
  if (const auto* flag = std::get_if<bool>(&value)) key.add(static_cast<std::uint64_t>(*flag));
}

void add_options(PlanKey& key, const std::vector<MethodOption>& options, const OptionBag& values) {
  for (const MethodOption& option : options) {
    key.add(option.key);
    add_option(key, option.get(values));
  }
}

// What the iterations and the choice depend on, besides what `plan_key` has.
void add_options(PlanKey& key, const SystemOptions& options) {
  key.add("decision");
  for (const std::string* name :
       {&options.spmv.format, &options.precond.name, &options.precond.format, &options.solver.name}) {
    key.add(canonical_name(*name));
  }
  add_options(key, precond_option_list(), options.precond.methods);
  add_options(key, solver_option_list(), options.solver.methods);
  add_number(key, options.expected_products);
  add_number(key, options.stop.rel_tol);
  add_number(key, options.stop.abs_tol);
  key.add(static_cast<std::uint64_t>(options.columns));
  key.add(static_cast<std::uint64_t>(options.null_space));
  key.add(static_cast<std::uint64_t>(options.mixed));
}

const SystemCandidate* find(const std::vector<SystemCandidate>& candidates, const std::string& format,
                            const std::string& preconditioner) {
  const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const SystemCandidate& candidate) {
    return candidate.format == format && candidate.preconditioner == preconditioner;
  });
  return found == candidates.end() ? nullptr : &*found;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_format(const std::string& name) {
  try {
    static_cast<void>(takes_square_only(name));  // which knows the variants too
    return true;
  } catch (const InputError&) {
    return false;
  }
}

bool is_preconditioner(const std::string& name) {
  return name == "none" || detail::precond_table().find(name) != nullptr;
}

bool are_preconditioners(const std::optional<PrecondRanking>& ranking) {
  if (!ranking) return true;
  const auto known = [](const WeighedPrecond& weighed) { return is_preconditioner(weighed.name); };
  return known(ranking->present) && std::all_of(ranking->stronger.begin(), ranking->stronger.end(), known);
}

// A file with a sound checksum may come from a program with other parts, or from one that erred.
bool names_exist(const SystemDecision& d) {
  return is_format(d.format) && (d.expected.format.empty() || is_format(d.expected.format)) &&
         is_preconditioner(d.preconditioner) && std::all_of(d.untried.begin(), d.untried.end(), is_preconditioner) &&
         are_preconditioners(d.ranked) && are_preconditioners(d.weaker);
}

bool is_of(const SystemDecision& d, Index rows, Offset entries) {
  return (d.rows == 0 || d.rows == rows) && (d.entries == 0 || d.entries == entries);
}

bool has_failed(const SystemDecision& kept, const std::string& preconditioner) {
  const bool followed = kept.weaker && kept.weaker->present.name == preconditioner;
  return kept.preconditioner != preconditioner && !followed && !kept.untried.empty() &&
         !contains(kept.untried, preconditioner);
}

}  // namespace

template <class T, Space S>
bool takes_kept_decision(const SystemOptions& options, const SystemParts<T, S>& parts) {
  const bool chooses = chosen(options.spmv.format) || chosen(options.precond.name);
  const bool free_order = options.old_of_new.empty() && options.part_begin.empty();
  return !options.spmv.plan_cache.empty() && chooses && free_order && !options.deterministic && !options.decision &&
         !options.mixed && !parts.has_preconditioner() && options.precond.of<PatternOptions>().pattern == nullptr;
}

bool same_kind(const MatrixTraits& a, const MatrixTraits& b) {
  return a.symmetric() == b.symmetric() && a.full_diagonal() == b.full_diagonal() &&
         a.positive_diagonal() == b.positive_diagonal();
}

bool kept_decision_pays(const KeptDecision& kept, const SystemDecision& now,
                        const std::vector<SystemCandidate>& candidates) {
  const SystemDecision& then = kept.decision;
  if (has_failed(then, now.preconditioner)) return true;
  const SystemCandidate* const there = find(candidates, then.format, then.preconditioner);
  const SystemCandidate* const here = find(candidates, now.format, now.preconditioner);
  if (there == nullptr || here == nullptr || there == here) return false;
  const bool same_precond = then.preconditioner == now.preconditioner;
  // What the one that was followed took, or would have, rather than what follows from those with its successor.
  const bool followed =
      then.weaker && then.weaker->present.name == now.preconditioner && then.history.whole.weaker_iterations > 0;
  const double iterations_there = then.history.last_iterations > 0 ? then.history.last_iterations : there->iterations;
  const double iterations_here = same_precond ? iterations_there
                                 : followed   ? then.history.whole.weaker_iterations
                                              : here->iterations;
  const double solves = kept.fewest_solves;
  return there->setup_seconds + solves * iterations_there * there->iteration_seconds <
         solves * iterations_here * here->iteration_seconds;
}

SystemDecision decision_to_begin_with(const KeptDecision& kept, const SystemDecision& now) {
  SystemDecision decision = kept.decision;
  if (has_failed(decision, now.preconditioner)) {
    decision.untried.push_back(now.preconditioner);
  }
  decision.reasons.format = decision.reasons.preconditioner = {};
  decision.traits = now.traits;
  decision.traits_older = false;
  decision.solvers = solvers_besides_factors(kept.decision);  // which may be for that preconditioner alone
  if (decision.solvers.empty() || kept.decision.preconditioner == now.preconditioner) decision.solvers = now.solvers;
  decision.reasons.solver = now.reasons.solver;
  decision.history.change_failed = false;
  decision.history.solves = 0;
  decision.history.format = decision.history.preconditioner = {};
  decision.history.whole.slower = decision.history.whole.refreshes = 0;
  decision.history.whole.estimated = true;
  return decision;
}

template <Space S>
DecisionCache::DecisionCache(const Context<S>& ctx, const Pattern<S>& pattern, const SystemOptions& options,
                             std::size_t value_bytes)
    : cache_(options.spmv.plan_cache) {
  const FormatRequest request{"", options.spmv, machine_of(ctx), value_bytes};
  key_ = plan_key(ctx, pattern, request);
  add_options(key_, options);
  const std::optional<CachedPlan> file = cache_.find(key_);
  if (!file) return;
  try {
    KeptDecision found;
    found.decision = decision_of(file->choice);
    for (const auto& [name, figure] : file->figures) {
      if (name == fewest_key) found.fewest_solves = figure;
    }
    const bool counts = found.decision.history.solves > 0 && found.fewest_solves >= 1;
    if (counts && names_exist(found.decision) && is_of(found.decision, pattern.rows, pattern.nnz())) {
      kept_ = std::move(found);
      return;
    }
  } catch (const InputError&) {  // of another release
  }
  cache_.ignore(key_, "holds no decision for this matrix");
}

void DecisionCache::keep(SystemDecision decision) {
  if (decision.history.solves == solves_kept_) return;
  solves_kept_ = decision.history.solves;
  double fewest = decision.history.solves;
  if (kept_) {
    fewest = std::min(fewest, kept_->fewest_solves);
    const double all = static_cast<double>(decision.history.solves) + kept_->decision.history.solves;
    decision.history.solves = static_cast<int>(std::min(all, 1e9));
  }
  CachedPlan file;
  file.choice = json_of(decision);
  file.figures = {{fewest_key, fewest}};
  cache_.keep(key_, file);
}

#define X(T, S) template bool takes_kept_decision<T, S>(const SystemOptions&, const SystemParts<T, S>&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X
#define X(S) \
  template DecisionCache::DecisionCache(const Context<S>&, const Pattern<S>&, const SystemOptions&, std::size_t);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
