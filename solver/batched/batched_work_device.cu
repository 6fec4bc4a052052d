// SPDX-License-Identifier: Apache-2.0
// What a batch keeps on a device: the layout of a system's entries in a block, and the plan of M.
#include <algorithm>

#include "core/memory/context_device.hpp"
#include "solver/batched/batched_work.hpp"
#include "solver/batched/block_system_device.cuh"

namespace newel::detail {
namespace {

/// A warp a system.
template <class T>
__global__ void mark_systems(const BatchedProblem<T> problem, const Index* transposed, const Index* diagonal,
                             unsigned char* is_definite) {
  const int lane = static_cast<int>(threadIdx.x % warp);
  const auto s = static_cast<Index>((blockIdx.x * blockDim.x + threadIdx.x) / warp);
  if (s >= problem.systems) return;
  const T* const a = problem.values + s * problem.nonzeros;
  bool holds = true;
  for (Index row = lane; row < problem.rows; row += warp) {
    holds = holds && diagonal[row] >= 0 && a[diagonal[row]] > 0;
  }
  for (Offset e = lane; e < problem.nonzeros && holds; e += warp) {
    const Index other = transposed[e];
    holds = other >= 0 ? same_up_to_rounding(a[e], a[other], batched_epsilon<T>) : a[e] == 0;
  }
  holds = __all_sync(0xffffffffu, holds);
  if (lane == 0) {
    is_definite[s] = holds ? 1 : 0;
    problem.outcome[s] = BatchedOutcome{};
  }
}

ThreadLayout shape_of(Index rows, Offset nonzeros, BatchedInverse inverse, const BatchedNeeds& needs) {
  ThreadLayout shape;
  const bool is_long = inverse == BatchedInverse::blocks && rows <= BlockTuning::most_threads &&
                       nonzeros >= std::int64_t{BlockTuning::long_rows} * rows;
  const auto warps = [rows](int rows_of_thread) {
    return std::max(1, (rows + warp * rows_of_thread - 1) / (warp * rows_of_thread));
  };
  constexpr int few = BlockTuning::rows_of_thread, many = BlockTuning::many_rows;
  const bool only_basis = needs.has_basis && !needs.holds_entries;
  const bool is_worth = !only_basis && inverse == BatchedInverse::blocks &&
                        many * warps(many) <= BlockTuning::worth_many * few * warps(few);
  shape.rows = rows;
  shape.rows_of_thread = is_long ? 1 : is_worth ? many : few;
  shape.threads = warp * warps(shape.rows_of_thread);
  return shape;
}

/// Steps that a layout has at least: the diagonal, or those that threads of some method hold in registers.
int least_steps(const ThreadLayout& shape, BatchedInverse inverse, bool holds_entries) {
  if (!holds_entries || inverse != BatchedInverse::blocks) return 1;
  return shape.rows_of_thread == 1 ? BlockTuning::held_long_steps : BlockTuning::held_steps;
}

/// The arrays of a layout, on the host.
class LayoutArrays {
 public:
  std::vector<int> first = {0}, source;
  std::vector<std::uint16_t> column;

  LayoutArrays(const Pattern<Space::host>& pattern, const ThreadLayout& shape, int least, int value_bytes)
      : pattern_(pattern), shape_(shape), value_bytes_(value_bytes) {
    for (int of_warp = 0; of_warp < shape.threads / warp; ++of_warp) {
      int steps = least;
      for_rows(of_warp, [&](int, int row) {
        if (row < pattern.rows) steps = std::max(steps, 1 + others(row));
      });
      const auto begin = static_cast<std::size_t>(first.back());
      first.push_back(first.back() + steps);
      source.resize(static_cast<std::size_t>(first.back() * warp * shape.rows_of_thread), -1);
      column.resize(source.size());
      for_rows(of_warp, [&](int at, int row) { place(row, begin, static_cast<std::size_t>(at)); });
    }
  }

 private:
  // f(place in a step, row)
  template <class F>
  void for_rows(int of_warp, F&& f) const {
    for (int lane = 0; lane < warp; ++lane) {
      for (int k = 0; k < shape_.rows_of_thread; ++k)
        f(lane * shape_.rows_of_thread + k, of_warp * warp + lane + k * shape_.threads);
    }
  }

  // Entries of a row without its diagonal.
  int others(Index row) const {
    const Index* const begin = pattern_.col.data + pattern_.row_begin(row);
    const Index* const end = pattern_.col.data + pattern_.row_begin(row + 1);
    return static_cast<int>(end - begin) - (std::binary_search(begin, end, row) ? 1 : 0);
  }

  // The entries of a row, whose first step is `begin`: the diagonal, then the others.
  void place(Index row, std::size_t begin, std::size_t at) {
    const auto step_size = static_cast<std::size_t>(warp * shape_.rows_of_thread);
    const auto steps = static_cast<std::size_t>(first.back()) - begin;
    for (std::size_t j = 0; j < steps; ++j)
      column[(begin + j) * step_size + at] = static_cast<std::uint16_t>(row * value_bytes_);
    if (row >= pattern_.rows) return;
    std::size_t j = begin + 1;
    for (Offset e = pattern_.row_begin(row); e < pattern_.row_begin(row + 1); ++e) {
      const Index col = pattern_.col[e];
      const std::size_t slot = (col == row ? begin : j++) * step_size + at;
      source[slot] = static_cast<int>(e);
      column[slot] = static_cast<std::uint16_t>(col * value_bytes_);
    }
  }

  const Pattern<Space::host>& pattern_;
  const ThreadLayout& shape_;
  int value_bytes_;
};

}  // namespace

BlockMemory block_memory(const ThreadLayout& layout, const BlockSchedule& plan, const BatchedLimits& limits,
                         const BlockDemand& demand, std::size_t available) {
  BlockMemory memory;
  std::size_t next = demand.head_bytes;
  const auto take = [&](std::size_t numbers, std::size_t bytes) {
    constexpr std::size_t aligned = BlockTuning::chunk_bytes;
    const std::size_t at = next;
    next += (numbers * bytes + aligned - 1) / aligned * aligned;
    return at;
  };
  const auto rows = static_cast<std::size_t>(layout.padded_rows()), size = demand.value_bytes;
  const auto slots = static_cast<std::size_t>(layout.slots(demand.held));
  const auto width = static_cast<std::size_t>(limits.block_rows);
  const std::size_t vectors = limits.inverse == BatchedInverse::fsai               ? 2
                              : limits.inverse == BatchedInverse::ilu || width > 1 ? 1
                                                                                   : 0;
  take(rows, size);  // what is published
  memory.inverse = take(static_cast<std::size_t>(plan.entries) + (width > 1 ? rows * width : 0), size);
  memory.exchange = take(rows * vectors, size);
  if (plan.longest > 0) {
    const auto of_worker = static_cast<std::size_t>(fsai_local_size(plan.longest));
    const auto most = std::max<std::size_t>(BlockTuning::scratch_bytes / (of_worker * sizeof(double)), 1);
    memory.workers = std::min(layout.threads, static_cast<int>(most));
    memory.scratch = take(static_cast<std::size_t>(memory.workers) * of_worker, sizeof(double));
  }
  const std::size_t small = demand.has_basis ? static_cast<std::size_t>(BatchedSmall{limits.restart}.count()) : 0;
  memory.small = take(small, sizeof(double));
  memory.bytes = next;
  memory.values = take(slots, size);
  memory.columns = take(slots, sizeof(std::uint16_t));
  memory.values_on_chip = next <= available;
  next = memory.bytes = memory.values_on_chip ? next : memory.bytes;
  memory.basis = take(demand.has_basis ? rows * static_cast<std::size_t>(limits.restart + 1) : 0, size);
  memory.basis_on_chip = next <= available;
  memory.bytes = memory.basis_on_chip ? next : memory.bytes;
  return memory;
}

template <class T>
BatchedWork<T, Space::device>::BatchedWork(const Context<Space::device>& ctx, const Pattern<Space::host>& pattern,
                                           const BatchedLimits& limits, const BatchedNeeds& needs)
    : ctx_(ctx) {
  if (pattern.rows > BlockTuning::most_rows) return;
  shape_ = shape_of(pattern.rows, pattern.nnz(), limits.inverse, needs);
  const LayoutArrays arrays(pattern, shape_, least_steps(shape_, limits.inverse, needs.holds_entries),
                            static_cast<int>(sizeof(T)));
  shape_.steps = arrays.first.back();
  int available = 0;
  NEWEL_CHECK_CUDA(cudaDeviceGetAttribute(&available, cudaDevAttrMaxSharedMemoryPerBlockOptin, ctx.device()));
  const auto most = static_cast<std::size_t>(available);
  if (limits.inverse == BatchedInverse::ilu && pattern.nnz() * static_cast<Offset>(sizeof(T)) > available) return;
  plan_ = BlockPlan(ctx, pattern, limits.inverse, shape_.threads);
  const BlockDemand demand{block_head_bytes, sizeof(T), 0, needs.has_basis};
  fits_ = block_memory(shape_, plan_.view(), limits, demand, most).bytes <= most;
  if (!fits_) return;
  first_ = make_array(ctx, arrays.first);
  source_ = make_array(ctx, arrays.source);
  column_ = make_array(ctx, arrays.column);
  const MirrorPositions mirror = mirror_positions(pattern);
  transposed_ = make_array(ctx, mirror.transposed);
  diagonal_ = make_array(ctx, mirror.diagonal);
}

template <class T>
ThreadLayout BatchedWork<T, Space::device>::layout() const {
  ThreadLayout result = shape_;
  result.first = first_.data();
  result.column = column_.data();
  result.source = source_.data();
  return result;
}

template <class T>
T* BatchedWork<T, Space::device>::basis_memory(std::int64_t numbers) {
  if (basis_.size() < numbers) basis_ = Array<T, Space::device>(ctx_, numbers);
  return basis_.data();
}

template <class T>
void BatchedWork<T, Space::device>::mark_definite(const BatchedProblem<T>& problem, unsigned char* is_definite) {
  constexpr unsigned threads = 256;
  const auto blocks = (static_cast<unsigned>(problem.systems) * warp + threads - 1) / threads;
  mark_systems<T>
      <<<blocks, threads, 0, ctx_.state().stream()>>>(problem, transposed_.data(), diagonal_.data(), is_definite);
  NEWEL_CHECK_LAUNCH();
}

template class BatchedWork<double, Space::device>;
template class BatchedWork<float, Space::device>;

}  // namespace newel::detail
