// SPDX-License-Identifier: Apache-2.0
// Whether a system that may iterate in single precision gains by it, and the same system in mixed precision.
#include "solver/system/system_operators.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "core/vectors/instantiate.hpp"
#include "solver/cost/iteration_cost.hpp"
#include "solver/system/mixed_operators.hpp"
#include "spmv/cost/scaled_estimates.hpp"

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
  constexpr double margin = 1.2;
  const bool has_mixed = std::is_same_v<T, double> && method.make_mixed.template get<double, S>() != nullptr;
  const std::optional<CostEstimate> product = has_mixed && facts_ ? product_estimate(format, bytes) : std::nullopt;
  if (!product) return std::nullopt;
  const IterationCost cost{
      method,   options_.solver, precond_cost(options_.precond.name, options_.precond, *facts_, bytes),
      machine_, bytes,           false};
  return method.mixed_iterations * margin * ScaledEstimates::single_seconds() *
         cost.estimate(*facts_, *product).seconds;
}

// Those faster than the fastest in double, which may follow too. The values are rounded, and the matrix in double is
// renumbered with the other: each entry is read and written a few times. A preconditioner that takes long to build
// would have to be built again.
template <class T, Space S>
std::vector<FormatTrial> PlainOperators<T, S>::formats_in_single() {
  constexpr double moved_bytes = 40;                                // of an entry
  constexpr double start_seconds = S == Space::host ? 5e-6 : 2e-4;  // allocations, on a device
  const FormatChoice* const choice = format_choice();
  if (choice == nullptr || !is_diagonal_or_none(options_.precond.name)) return {};
  const double rounding =
      start_seconds + moved_bytes * static_cast<double>(facts_->nonzeros) / machine_.bytes_per_second;
  double fastest = std::numeric_limits<double>::infinity();
  for (const FormatTrial& in_double : choice->trials) {
    if (in_double.failure.empty()) fastest = std::min(fastest, in_double.step_seconds());
  }
  std::vector<FormatTrial> found;
  for (const FormatTrial& in_double : choice->trials) {
    const std::optional<double> seconds = single_iteration_seconds(in_double.format);
    if (!in_double.failure.empty() || !seconds || !(*seconds < fastest)) continue;
    FormatTrial trial = in_double;
    trial.setup_seconds += rounding;
    trial.iteration_seconds = *seconds;
    trial.resident = false;
    found.push_back(std::move(trial));
  }
  return found;
}

template <class T, Space S>
std::string PlainOperators<T, S>::format_in_single() {
  weigh_alternatives();
  if (!facts_ || format_.measured || divides() || !is_diagonal_or_none(options_.precond.name)) return {};
  const std::string format = expected_format_.empty() ? options_.spmv.format : expected_format_;
  const std::optional<CostEstimate> product = product_estimate(format);
  const std::optional<double> single = single_iteration_seconds(format);
  if (!product || !single) return {};
  return *single < iteration_estimate(options_.precond.name, *product).seconds ? format : std::string();
}

template <class T, Space S>
std::unique_ptr<SystemOperators<T, S>> PlainOperators<T, S>::in_single(const std::string& format, bool alone) {
  const std::optional<CsrView<T, S>> csr = A_->as_csr();
  return csr && order_.natural() && sound() ? in_single(*csr, format, alone) : nullptr;
}

// With the solvers that were chosen, and all else named.
template <class T, Space S>
std::unique_ptr<SystemOperators<T, S>> PlainOperators<T, S>::in_single(const CsrView<T, S>& a,
                                                                       const std::string& format, bool alone) const {
  SystemDecision decided;
  decided.solvers = choice_.order;
  decided.solver_reason = choice_.reason;
  decided.traits = traits_;
  decided.traits_older = traits_older_;
  SystemOptions named = options_;
  named.spmv.format = format;
  named.solver.name = "auto";
  named.decision = std::move(decided);
  if constexpr (std::is_same_v<T, double>) {
    return std::make_unique<MixedOperators<S>>(ctx_, a, named, SystemParts<double, S>{}, alone);
  } else {
    return nullptr;
  }
}

#define X(T, S)                                                                                              \
  template std::optional<double> PlainOperators<T, S>::single_iteration_seconds(const std::string&) const;   \
  template std::vector<FormatTrial> PlainOperators<T, S>::formats_in_single();                               \
  template std::string PlainOperators<T, S>::format_in_single();                                             \
  template std::unique_ptr<SystemOperators<T, S>> PlainOperators<T, S>::in_single(const std::string&, bool); \
  template std::unique_ptr<SystemOperators<T, S>> PlainOperators<T, S>::in_single(const CsrView<T, S>&,      \
                                                                                  const std::string&, bool) const;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
