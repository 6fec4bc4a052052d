// SPDX-License-Identifier: Apache-2.0
// A system as its sequence of solves sees it.
#include <algorithm>

#include "core/vectors/instantiate.hpp"
#include "solver/cost/profiles/guess_constants.hpp"
#include "solver/operators/system_estimates.hpp"
#include "solver/system/system_state.hpp"

namespace newel::detail {
namespace {

template <class T, Space S>
double bytes_of_product(const LinearOperator<T, S>* op) {
  return op != nullptr ? static_cast<double>(op->info().bytes_per_product) : 0;
}

// An iteration as the cost model has it, where it knows the format, and how fast it moves its bytes.
struct IterationSpeed {
  double iteration = 0, second_per_byte = 0;  ///< seconds
  double launch = 0;                          ///< of a kernel
  double product_bytes = 0;
  double one_kernel = 0;  ///< seconds that the same iteration in separate kernels takes more; 0: it is
};

template <class T, Space S>
IterationSpeed speed_of(Operators<T, S>& operators) {
  constexpr double launch_seconds = S == Space::device ? GuessWork::launch_seconds : 0;
  const Machine& machine = operators.machine;
  const IterationModel model = SystemEstimates<T, S>(operators).model();
  const Index n = operators.matrix().rows();
  // An operator of unknown entries is taken for a pass over a few vectors.
  const double known_bytes = bytes_of_product(&operators.matrix());
  IterationSpeed speed;
  speed.launch = launch_seconds * machine.start_ratio;
  speed.product_bytes =
      known_bytes > 0 ? known_bytes : GuessWork::unknown_product * static_cast<double>(n) * sizeof(T);
  const double bytes = model.bytes(speed.product_bytes, n) + bytes_of_product(operators.preconditioner());
  speed.second_per_byte = 1 / machine.bytes_per_second;
  const double separate = bytes * speed.second_per_byte + (model.method.vector_kernels + 1) * speed.launch;
  speed.iteration = separate;
  if (model.facts == nullptr) return speed;
  if (const auto product = model.product(operators.options.spmv.format)) {
    const IterationEstimate estimate = model.iteration(operators.options.precond.name, *product);
    speed.iteration = estimate.seconds;
    if (estimate.resident) speed.one_kernel = std::max(0.0, separate - estimate.seconds);
    if (!estimate.resident) speed.second_per_byte = std::min(speed.second_per_byte, estimate.seconds / bytes);
  }
  return speed;
}

// What a guess moves by its bytes, as fast as the iteration moves its own, and on a device by the launches of small
// kernels.
template <class T, Space S>
GuessCosts costs_of(Operators<T, S>& operators, int vectors) {
  constexpr double wait_seconds = S == Space::device ? GuessWork::device_wait : GuessWork::host_wait;
  const IterationSpeed speed = speed_of(operators);
  const double vector_bytes = static_cast<double>(operators.matrix().rows()) * sizeof(T);
  GuessCosts costs;
  costs.iteration = speed.iteration;
  costs.product = speed.launch + speed.product_bytes * speed.second_per_byte;
  costs.vectors =
      GuessWork::launches * speed.launch + GuessWork::waits * wait_seconds +
      (GuessWork::passes_a_vector * vectors + GuessWork::other_passes) * vector_bytes * speed.second_per_byte;
  return costs;
}

}  // namespace

template <class T, Space S>
SequenceSystem<T, S> sequence_system(SystemState<T, S>& s) {
  SequenceSystem<T, S> system{s.ctx, s.operators->matrix()};
  if (!s.sequence.used()) return system;
  const SolverMethod& first = s.operators->first_method();
  system.definite = first.demands == Demand::definite;
  system.needs_no_guess =
      first.from_matrix() || s.operators->free_unknowns.count > 0 || s.last_resort.answers() || divides(*s.operators);
  system.costs = [&s] { return costs_of(*s.operators, s.sequence.rule().vectors); };
  return system;
}

template <class T, Space S>
RecycleCosts recycle_costs(const SystemState<T, S>& s, RecycledKind kind, int vectors) {
  const IterationSpeed speed = speed_of(*s.operators);
  const double n = static_cast<double>(s.operators->matrix().rows());
  RecycleCosts costs;
  costs.iteration = speed.iteration;
  costs.product = speed.launch + speed.product_bytes * speed.second_per_byte;
  if (kind == RecycledKind::cycles) {
    costs.deflation = n * RecycleWork::passes_a_vector * vectors * sizeof(T) * speed.second_per_byte;
    costs.product += speed.launch + bytes_of_product(s.operators->preconditioner()) * speed.second_per_byte;
  } else {
    const double bytes =
        n * (RecycleWork::passes_a_vector * vectors * sizeof(float) + RecycleWork::other_passes * sizeof(T));
    costs.deflation = bytes * speed.second_per_byte + RecycleWork::launches * speed.launch + speed.one_kernel;
  }
  return costs;
}

#define X(T, S)                                                      \
  template SequenceSystem<T, S> sequence_system(SystemState<T, S>&); \
  template RecycleCosts recycle_costs(const SystemState<T, S>&, RecycledKind, int);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
