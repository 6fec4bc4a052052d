// SPDX-License-Identifier: Apache-2.0
// A system as its sequence of solves sees it; and that sequence as plain numbers, for another run.
#include <algorithm>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
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

// An iteration as the cost model has it, where it knows the format; what a guess moves by its bytes, as fast as the
// iteration moves its own, and on a device by the launches of small kernels.
template <class T, Space S>
GuessCosts costs_of(Operators<T, S>& operators, int vectors) {
  constexpr double launch_seconds = S == Space::device ? GuessWork::launch_seconds : 0;
  constexpr double wait_seconds = S == Space::device ? GuessWork::device_wait : GuessWork::host_wait;
  const Machine& machine = operators.machine;
  const double launch = launch_seconds * machine.start_ratio;
  const IterationModel model = SystemEstimates<T, S>(operators).model();
  const Index n = operators.matrix().rows();
  const double vector_bytes = static_cast<double>(n) * sizeof(T);
  // An operator of unknown entries is taken for a pass over a few vectors.
  const double known_bytes = bytes_of_product(&operators.matrix());
  const double product_bytes = known_bytes > 0 ? known_bytes : GuessWork::unknown_product * vector_bytes;
  const double iteration_bytes = model.bytes(product_bytes, n) + bytes_of_product(operators.preconditioner());
  double second_per_byte = 1 / machine.bytes_per_second;
  GuessCosts costs;
  costs.iteration = iteration_bytes * second_per_byte + (model.method.vector_kernels + 1) * launch;
  if (model.facts != nullptr) {
    if (const auto product = model.product(operators.options.spmv.format)) {
      const IterationEstimate estimate = model.iteration(operators.options.precond.name, *product);
      costs.iteration = estimate.seconds;
      if (!estimate.resident) second_per_byte = std::min(second_per_byte, estimate.seconds / iteration_bytes);
    }
  }
  costs.product = launch + product_bytes * second_per_byte;
  costs.vectors = GuessWork::launches * launch + GuessWork::waits * wait_seconds +
                  (GuessWork::passes_a_vector * vectors + GuessWork::other_passes) * vector_bytes * second_per_byte;
  return costs;
}

[[noreturn]] void refuse(const std::string& what) { throw InputError("the state of guesses " + what); }

// The numbers of a state: rows, columns of right-hand sides, vectors of each; then the policy, then each column.
constexpr std::size_t sizes = 3, of_column = 3;

void check(const GuessState& state, Index rows, const GuessRule& rule) {
  const std::vector<std::int64_t>& counts = state.counts;
  if (counts.size() < sizes + GuessPolicy::count_size) refuse("is too short");
  if (counts[0] != rows)
    refuse("is of " + std::to_string(counts[0]) + " unknowns, and the system has " + std::to_string(rows));
  if (counts[2] != rule.vectors)
    refuse("keeps " + std::to_string(counts[2]) + " solutions, and the option guess asks for " +
           std::to_string(rule.vectors));
  const std::size_t known = sizes + GuessPolicy::count_size;
  const auto columns = static_cast<std::size_t>(counts[1]);
  if (counts[1] < 0 || (counts.size() - known) / of_column != columns || (counts.size() - known) % of_column != 0)
    refuse("has another number of counts than its columns need");
  std::int64_t vectors = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    const std::int64_t held = counts[known + of_column * c], next = counts[known + of_column * c + 1];
    if (held < 0 || held > rule.vectors || next < 0 || next >= rule.vectors || (held < rule.vectors && next != held))
      refuse("has counts that do not belong together");
    vectors += held + 1;
  }
  if (static_cast<std::int64_t>(state.values.size()) != vectors * rows)
    refuse("has " + std::to_string(state.values.size()) + " values, expected " + std::to_string(vectors * rows));
}

}  // namespace

template <class T, Space S>
SequenceSystem<T, S> SystemState<T, S>::sequence_system() {
  SequenceSystem<T, S> system{ctx, operators->matrix()};
  if (!sequence.used()) return system;
  const SolverMethod& first = operators->first_method();
  system.definite = first.demands == Demand::definite;
  system.needs_no_guess =
      first.from_matrix() || operators->free_unknowns.count > 0 || last_resort.answers() || divides(*operators);
  system.costs = [this] { return costs_of(*operators, sequence.rule().vectors); };
  return system;
}

template <class T, Space S>
GuessState SystemState<T, S>::guess_state() {
  GuessState state;
  const GuessRule& rule = sequence.rule();
  if (!rule.keeps()) return state;
  std::vector<PastSolutions<T, S>>& columns = sequence.columns();
  state.counts = {rows, static_cast<std::int64_t>(columns.size()), rule.vectors};
  for (const std::int64_t count : sequence.policy().counts()) state.counts.push_back(count);
  Array<T, S> user(ctx, rows);
  const auto add = [&](Span<const T, S> vector) {
    gather_to_user_order(vector, user.span());
    const std::vector<T> values = to_vector(ctx, user.cspan());
    state.values.insert(state.values.end(), values.begin(), values.end());
  };
  for (PastSolutions<T, S>& past : columns) {
    const PastState of = past.state();
    state.counts.insert(state.counts.end(), {of.held, of.next, of.images_current ? 1 : 0});
    for (int j = 0; j < of.held; ++j) add(past.difference(j));
    add(past.last());
  }
  return state;
}

template <class T, Space S>
void SystemState<T, S>::set_guess_state(const GuessState& state) {
  if (state.counts.empty()) return sequence.begin_state(ctx, rows, {}, {});
  check(state, rows, sequence.rule());
  const auto counts = state.counts.begin();
  std::vector<PastState> columns;
  for (std::size_t at = sizes + GuessPolicy::count_size; at < state.counts.size(); at += of_column) {
    columns.push_back(
        {static_cast<int>(state.counts[at]), static_cast<int>(state.counts[at + 1]), state.counts[at + 2] != 0});
  }
  sequence.begin_state(ctx, rows, columns, {counts + sizes, counts + sizes + GuessPolicy::count_size});
  std::size_t at = 0;
  const auto n = static_cast<std::size_t>(rows);
  const auto take = [&](Span<T, S> vector) {
    const std::vector<T> values(state.values.begin() + static_cast<std::ptrdiff_t>(at),
                                state.values.begin() + static_cast<std::ptrdiff_t>(at + n));
    at += n;
    const Array<T, S> user = make_array(ctx, values);
    gather_to_solver_order(user.cspan(), vector);
  };
  for (PastSolutions<T, S>& past : sequence.columns()) {
    for (int j = 0; j < past.held(); ++j) take(past.difference(j));
    take(past.last());
  }
  ctx.synchronize();
}

#define X(T, S)                                                       \
  template SequenceSystem<T, S> SystemState<T, S>::sequence_system(); \
  template GuessState SystemState<T, S>::guess_state();               \
  template void SystemState<T, S>::set_guess_state(const GuessState&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
