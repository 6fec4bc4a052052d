// SPDX-License-Identifier: Apache-2.0
// Seconds of an iteration.
#include "solver/cost/iteration_cost.hpp"

#include <algorithm>

#include "precond/build_cost.hpp"
#include "solver/cost/profiles/iteration_constants.hpp"
#include "spmv/cost/product_constants.hpp"

namespace newel::detail {
namespace {

double cached_speed(const Machine& machine, const SharedCache& cache, double bytes) {
  if (machine.shared_cache_bytes == 0) return 1;
  const double share = bytes / static_cast<double>(machine.shared_cache_bytes);
  const double kept = (cache.none_from - share) / (cache.none_from - cache.all_to);
  return 1 + (cache.speed - 1) * std::clamp(kept, 0.0, 1.0);
}

struct Resident {
  bool fits = false, matrix_on_chip = false;
};

Resident resident_fit(const IterationCost& cost, const PatternFacts& facts, const CostEstimate& product) {
  const ResidentShape& shape = cost.method.resident_shape;
  const bool matrices = cost.precond.matrices == shape.precond_matrices && !product.resident_rows;
  const bool precond = cost.precond.resident && (cost.precond.matrices == 0 || matrices);
  if (!cost.may_be_resident || !precond || !cost.method.resident || product.resident_parts == 0) return {};
  const ResidentConstants& fitted = constants_of<DeviceIterationConstants>(cost.machine).resident;
  const double own = static_cast<double>(facts.rows) / product.resident_parts;
  const double halo = own * product.halo * fitted.uneven_halo;
  const int with_halo = shape.halo_vectors + (cost.precond.diagonal ? shape.diagonal_vectors : 0);
  const double lists = product.resident_rows ? own : (1 + cost.precond.matrices) * halo / facts.block;  // of indices
  const double vectors =
      static_cast<double>(cost.value_bytes) * (with_halo * (own + halo) + shape.own_vectors * own) +
      lists * sizeof(Index) + fitted.reserved_bytes;
  const auto room = static_cast<double>(cost.machine.cache_bytes);
  const double stored = product.resident_rows ? static_cast<double>(facts.nonzeros) *
                                                    static_cast<double>(cost.value_bytes + sizeof(Index))
                                              : product.product_bytes + cost.precond.bytes;
  const double matrix = stored / product.resident_parts;
  return {vectors <= room, vectors + matrix <= room};
}

double resident_seconds(const IterationCost& cost, const PatternFacts& facts, const CostEstimate& product,
                        double applied, bool matrix_on_chip) {
  const ResidentConstants& fitted = constants_of<DeviceIterationConstants>(cost.machine).resident;
  const SolverMethod& method = cost.method;
  const double products = method.products + method.precond_products * cost.precond.matrices;
  const int synchronisations =
      method.resident_shape.synchronisations + method.precond_products * cost.precond.matrices;
  const double bytes = method.products * product.product_bytes + applied;
  const double bandwidth = cost.machine.bytes_per_second;
  if (product.resident_rows) {
    const double speed = matrix_on_chip ? fitted.rows_on_chip_speed : fitted.rows_streaming_speed;
    const double start =
        products * fitted.row_product_start_seconds + 2 * synchronisations * fitted.synchronisation_seconds;
    return start * cost.machine.start_ratio + bytes / (bandwidth * speed);
  }
  const double kept_speed = facts.block > 1 ? fitted.blocks_on_chip_speed : fitted.on_chip_speed;
  const double speed = matrix_on_chip ? kept_speed : cached_speed(cost.machine, fitted.second_level, bytes);
  const double start = products * fitted.product_start_seconds + synchronisations * fitted.synchronisation_seconds;
  return start * cost.machine.start_ratio + bytes / (bandwidth * speed);
}

}  // namespace

AppliedPrecond applied_precond(const std::string& name, const PrecondOptions& options, const PatternFacts& facts,
                               const Machine& machine, std::size_t value_bytes) {
  const bool automatic = same_name(name, "auto");
  const PrecondMethod* method = nullptr;
  if (automatic) method = automatic_preconditioner(AutoPrecond::simple);
  if (!automatic && !same_name(name, "none")) method = &find_preconditioner(name);
  if (method == nullptr) return {};
  AppliedPrecond applied;
  applied.diagonal = method->diagonal;
  if (method->diagonal) return applied;
  const PrecondCost cost = cost_of(*method, {options, machine, facts.rows, facts.nonzeros, facts.block});
  applied.matrices = std::max(1, method->matrices.products);
  applied.resident = method->resident;
  applied.triangles = method->matrices.triangles;
  applied.low_share = cost.low_share;
  applied.start_seconds = cost.start_seconds;
  applied.vector_passes = cost.vector_passes;
  // Without node blocks, as FSAI's and SPAI's matrices are in every format.
  applied.bytes = cost.entries * static_cast<double>(value_bytes + sizeof(Index)) +
                  2.0 * applied.matrices * facts.rows * static_cast<double>(value_bytes);
  return applied;
}

IterationEstimate IterationCost::estimate(const PatternFacts& facts, const CostEstimate& product) const {
  const double bandwidth = machine.bytes_per_second;
  const bool in_double = value_bytes == sizeof(double);
  const double applied = method.precond_products * precond.bytes * (in_double ? precond.low_share : 1);
  const Resident on_chip = resident_fit(*this, facts, product);
  const auto& on_device = constants_of<DeviceIterationConstants>(machine);
  if (on_chip.fits) return {resident_seconds(*this, facts, product, applied, on_chip.matrix_on_chip), true};
  const double passes =
      method.vector_passes != nullptr ? method.vector_passes(options, facts.rows, value_bytes) : method.floor.other;
  const double precond_passes = method.precond_products * precond.vector_passes;
  const double vectors =
      (passes + precond_passes) * static_cast<double>(facts.rows) * static_cast<double>(value_bytes);
  // The product's own start is counted with the other kernels of the loop.
  CostEstimate traffic = product;
  traffic.least_seconds = 0;
  if (machine.device()) traffic.launches = 0;
  const double of_product = traffic.product_seconds(machine);
  const auto& on_host = constants_of<HostIterationConstants>(machine);
  const double kept = product.product_bytes + precond.bytes +
                      on_host.kept_vectors * static_cast<double>(facts.rows) * static_cast<double>(value_bytes);
  const double speed = machine.device() ? 1 : cached_speed(machine, on_host.last_level, kept);
  const bool cached = product.cached_seconds > 0;
  // As fast a byte as the product with A, but not faster than memory where M is too large for the caches in which A
  // stays. Rows of triangles differ in length.
  const double from_memory = cached ? applied / (bandwidth * product.bandwidth_share * speed) : 0;
  const double as_product = product.product_bytes > 0 ? applied / product.product_bytes * of_product : 0;
  const double uneven = precond.triangles ? product.uneven_row_seconds * facts.rows * precond.matrices : 0;
  const double of_precond =
      std::max(as_product, from_memory) + method.precond_products * uneven / std::max(machine.processors, 1);
  const int kernels = method.vector_kernels + method.products * (product.launches + product.dot_launches) +
                      method.precond_products * precond.matrices;
  const double start = machine.device()
                           ? (kernels * on_device.kernel_seconds + method.precond_products * precond.start_seconds) *
                                 machine.start_ratio
                           : (method.vector_kernels + method.precond_products * precond.matrices) *
                                 constants_of<HostProductConstants>(machine).wake_seconds;
  const double of_products = std::max(method.products * of_product / (cached ? 1 : speed),
                                      method.products * product.least_product_seconds(machine)) +
                             of_precond / (cached ? 1 : speed);
  const double sweep_share = machine.device() ? on_device.sweep_share : on_host.sweep_share;
  return {start + of_products + vectors / (bandwidth * sweep_share * speed), false};
}

}  // namespace newel::detail
