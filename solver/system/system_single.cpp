// SPDX-License-Identifier: Apache-2.0
// Whether a system gains by iterations in single precision, and the same system in mixed precision.
#include "solver/system/system_operators.hpp"

#include <type_traits>

#include "core/vectors/instantiate.hpp"
#include "solver/cost/iteration_cost.hpp"
#include "solver/cost/profiles/decision_constants.hpp"
#include "solver/system/mixed_operators.hpp"

namespace newel::detail {
namespace {

bool is_diagonal_or_none(const std::string& precond) {
  return precond == "none" || find_preconditioner(precond).diagonal;
}

}  // namespace

// Of as many iterations as mixed precision takes for one in double, with the present preconditioner, and a margin for
// systems that take more, or that single precision does not suffice for.
template <class T, Space S>
std::optional<double> PlainOperators<T, S>::single_iteration_seconds(const std::string& format) const {
  const SolverMethod& method = first_method();
  constexpr std::size_t bytes = sizeof(float);
  const bool has_mixed = std::is_same_v<T, double> && method.make_mixed.template get<double, S>() != nullptr;
  const std::optional<CostEstimate> product =
      has_mixed && chosen_.facts ? product_estimate(format, bytes) : std::nullopt;
  if (!product) return std::nullopt;
  const IterationCost cost{method,
                           options_.solver,
                           applied_precond(options_.precond.name, options_.precond, *chosen_.facts, machine_, bytes),
                           machine_,
                           bytes,
                           false};
  return method.mixed_iterations * WorthConstants::single_margin * options_.estimate_scale.single_seconds *
         cost.estimate(*chosen_.facts, *product).seconds;
}

template <class T, Space S>
std::string PlainOperators<T, S>::format_in_single() {
  weigh_alternatives();
  if (!chosen_.facts || chosen_.format.measured || divides() || !is_diagonal_or_none(options_.precond.name))
    return {};
  const std::string format = chosen_.expected_format.empty() ? options_.spmv.format : chosen_.expected_format;
  const std::optional<CostEstimate> product = product_estimate(format);
  const std::optional<double> single = single_iteration_seconds(format);
  if (!product || !single) return {};
  const std::vector<SystemCandidate> all =
      changes_on_its_way() ? candidates(chosen_.expected_iterations) : std::vector<SystemCandidate>{};
  if (!all.empty() && all.front().preconditioner != options_.precond.name) return {};
  return *single < iteration_estimate(options_.precond.name, *product).seconds ? format : std::string();
}

// With the solvers that were chosen, and all else named.
template <class T, Space S>
std::unique_ptr<SystemOperators<T, S>> PlainOperators<T, S>::in_single(const CsrView<T, S>& a,
                                                                       const std::string& format) const {
  SystemDecision decided;
  decided.solvers = chosen_.solvers.order;
  decided.solver_reason = chosen_.solvers.reason;
  decided.traits = chosen_.traits;
  decided.traits_older = chosen_.traits_older;
  SystemOptions named = options_;
  named.spmv.format = format;
  named.solver.name = "auto";
  named.decision = std::move(decided);
  if constexpr (std::is_same_v<T, double>) {
    return std::make_unique<MixedOperators<S>>(ctx_, a, named, SystemParts<double, S>{});
  } else {
    return nullptr;
  }
}

#define X(T, S)                                                                                            \
  template std::optional<double> PlainOperators<T, S>::single_iteration_seconds(const std::string&) const; \
  template std::string PlainOperators<T, S>::format_in_single();                                           \
  template std::unique_ptr<SystemOperators<T, S>> PlainOperators<T, S>::in_single(const CsrView<T, S>&,    \
                                                                                  const std::string&) const;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
