// SPDX-License-Identifier: Apache-2.0
// Seconds of an iteration.
#include "solver/cost/iteration_cost.hpp"

#include <algorithm>

namespace newel::detail {
namespace {

// Measured on an H200: from the start of a kernel of a captured graph to the start of the next, sums included.
constexpr double kernel_seconds = 4.2e-6;
// How much faster than memory a cache that all processors share serves bytes that come again: so much up to a share
// of its size, and not at all from another on, where every byte has been displaced when it is wanted again.
struct SharedCache {
  double speed, all_to, none_from;
};
// The last level of a host. Measured on an EPYC with 32 MB.
constexpr SharedCache last_level{3, 0.75, 1.75};
constexpr double kept_vectors = 5;  // that an iteration comes back to
// Of the copy bandwidth, by sweeps over vectors.
constexpr double sweep_share = 0.85;

// Of a kernel that keeps its vectors on the chip: for each grid synchronisation and for each product what precedes
// its reads. Matrices that stay on the chip are read so much faster than memory, node blocks faster still, whose
// columns are few.
constexpr double synchronisation_seconds = 1.5e-6, product_start_seconds = 2.5e-6, on_chip_speed = 1.45;
constexpr double blocks_on_chip_speed = 1.6;
// The second level of a device, for a matrix that streams past such vectors.
constexpr SharedCache second_level{1.5, 0.5, 0.65};
// Of such a kernel by rows, which synchronises twice as often: what precedes the reads of a product, whose operand
// comes through the second-level cache; and the speed of the entries over that of memory, where they stay on the chip
// and where they stream by.
constexpr double row_product_start_seconds = 2.3e-6, rows_on_chip_speed = 1, rows_streaming_speed = 0.57;
// The largest halo over the mean of all, and shared memory that is not for vectors.
constexpr double uneven_halo = 1.6;
constexpr double reserved_bytes = 6000;

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
  const double own = static_cast<double>(facts.rows) / product.resident_parts;
  const double halo = own * product.halo * uneven_halo;
  const int with_halo = shape.halo_vectors + (cost.precond.diagonal ? shape.diagonal_vectors : 0);
  const double lists = product.resident_rows ? own : (1 + cost.precond.matrices) * halo / facts.block;  // of indices
  const double vectors =
      static_cast<double>(cost.value_bytes) * (with_halo * (own + halo) + shape.own_vectors * own) +
      lists * sizeof(Index) + reserved_bytes;
  const auto room = static_cast<double>(cost.machine.cache_bytes);
  const double stored = product.resident_rows ? static_cast<double>(facts.nonzeros) *
                                                    static_cast<double>(cost.value_bytes + sizeof(Index))
                                              : product.product_bytes + cost.precond.bytes;
  const double matrix = stored / product.resident_parts;
  return {vectors <= room, vectors + matrix <= room};
}

}  // namespace

PrecondCost precond_cost(const std::string& name, const PrecondOptions& options, const PatternFacts& facts,
                         std::size_t value_bytes) {
  const bool automatic = same_name(name, "auto");
  const PrecondMethod* method = nullptr;
  if (automatic) method = automatic_preconditioner(AutoPrecond::simple);
  if (!automatic && !same_name(name, "none")) method = &find_preconditioner(name);
  if (method == nullptr) return {};
  PrecondCost cost;
  cost.diagonal = method->diagonal;
  if (method->diagonal) return cost;
  cost.matrices = std::max(1, method->products);
  cost.resident = method->resident;
  cost.triangles = method->triangles;
  const bool blocks = facts.block > 1;
  cost.low_share = blocks ? std::min(method->low_share, method->low_block_share) : method->low_share;
  cost.low_share_on_host =
      blocks ? std::min(method->low_share_on_host, method->low_block_share) : method->low_share_on_host;
  cost.device_start_seconds = blocks ? std::max(method->device_start_seconds, method->device_block_start_seconds)
                                     : method->device_start_seconds;
  if (blocks) cost.device_start_seconds += method->device_block_node_seconds * facts.rows / facts.block;
  if (method->vector_passes != nullptr) cost.vector_passes = method->vector_passes(options);
  // Without node blocks, as FSAI's and SPAI's matrices are in every format.
  const double entries = precond_entries(*method, options, facts.rows, facts.nonzeros);
  cost.bytes = entries * static_cast<double>(value_bytes + sizeof(Index)) +
               2.0 * cost.matrices * facts.rows * static_cast<double>(value_bytes);
  return cost;
}

IterationEstimate IterationCost::estimate(const PatternFacts& facts, const CostEstimate& product) const {
  const double bandwidth = machine.bytes_per_second;
  const bool in_double = value_bytes == sizeof(double);
  const double low_share = machine.device() ? precond.low_share : precond.low_share_on_host;
  const double applied = method.precond_products * precond.bytes * (in_double ? low_share : 1);
  const Resident on_chip = resident_fit(*this, facts, product);
  if (on_chip.fits) {
    const double products = method.products + method.precond_products * precond.matrices;
    const int synchronisations = method.resident_shape.synchronisations + method.precond_products * precond.matrices;
    const double bytes = method.products * product.product_bytes + applied;
    if (product.resident_rows) {
      return {(products * row_product_start_seconds + 2 * synchronisations * synchronisation_seconds) *
                      machine.start_ratio +
                  bytes / (bandwidth * (on_chip.matrix_on_chip ? rows_on_chip_speed : rows_streaming_speed)),
              true};
    }
    const double kept_speed = facts.block > 1 ? blocks_on_chip_speed : on_chip_speed;
    const double speed = on_chip.matrix_on_chip ? kept_speed : cached_speed(machine, second_level, bytes);
    return {(products * product_start_seconds + synchronisations * synchronisation_seconds) * machine.start_ratio +
                bytes / (bandwidth * speed),
            true};
  }
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
  const double kept = product.product_bytes + precond.bytes +
                      kept_vectors * static_cast<double>(facts.rows) * static_cast<double>(value_bytes);
  const double speed = machine.device() ? 1 : cached_speed(machine, last_level, kept);
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
  const double start =
      machine.device()
          ? (kernels * kernel_seconds + method.precond_products * precond.device_start_seconds) * machine.start_ratio
          : (method.vector_kernels + method.precond_products * precond.matrices) * wake_seconds;
  const double of_products = std::max(method.products * of_product / (cached ? 1 : speed),
                                      method.products * product.least_product_seconds(machine)) +
                             of_precond / (cached ? 1 : speed);
  return {start + of_products + vectors / (bandwidth * sweep_share * speed), false};
}

}  // namespace newel::detail
