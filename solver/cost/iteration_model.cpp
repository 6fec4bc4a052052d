// SPDX-License-Identifier: Apache-2.0
// The cost of an iteration, from what a system consists of.
#include "solver/cost/iteration_model.hpp"

#include <newel/precond/registry.hpp>
#include "solver/cost/profiles/decision_constants.hpp"

namespace newel::detail {

std::optional<CostEstimate> IterationModel::product(const std::string& format) const {
  const SpmvFormat& line = find_spmv_format(format);
  if (line.cost_estimate == nullptr || facts == nullptr) return std::nullopt;
  return line.cost_estimate(*facts, {"", options.spmv, machine, value_bytes});
}

IterationEstimate IterationModel::iteration(const std::string& precond, const CostEstimate& product) const {
  static const std::string none = "none";
  const std::string& name = precond_is_needless && precond == options.precond.name ? none : precond;
  const bool may_be_resident = options.columns == 1 && options.null_space == NullSpace::none;
  IterationCost cost{method,  options.solver, applied_precond(name, options.precond, *facts, machine, value_bytes),
                     machine, value_bytes,    may_be_resident};
  if (precond_is_callers) cost.precond.resident = false;
  return cost.estimate(*facts, product);
}

double IterationModel::bytes(double bytes_per_product, Index rows) const {
  const double vectors =
      method.vector_passes != nullptr ? method.vector_passes(options.solver, rows, value_bytes) : 0;
  return method.products * bytes_per_product + vectors * static_cast<double>(rows) * static_cast<double>(value_bytes);
}

std::optional<double> single_iteration_seconds(const IterationModel& model, const std::string& format) {
  IterationModel low = model;
  low.value_bytes = sizeof(float);
  const std::optional<CostEstimate> product = low.product(format);
  if (!product) return std::nullopt;
  const IterationCost cost{model.method,
                           model.options.solver,
                           applied_precond(model.options.precond.name, model.options.precond, *model.facts,
                                           model.machine, low.value_bytes),
                           model.machine,
                           low.value_bytes,
                           false};
  return model.method.mixed_iterations * WorthConstants::single_margin * model.options.estimate_scale.single_seconds *
         cost.estimate(*model.facts, *product).seconds;
}

}  // namespace newel::detail
