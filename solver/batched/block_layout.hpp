// SPDX-License-Identifier: Apache-2.0
/// ThreadLayout, BlockSchedule and BlockMemory: how a block of a device reads a system's entries and the plan of M,
/// and what it has in shared memory. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "solver/batched/inverse/batched_fsai.hpp"
#include "solver/batched/inverse/batched_ilu_schedule.hpp"
#include "solver/batched/batched_problem.hpp"

namespace newel::detail {

/// Thread t of `threads` has the rows t + k threads, k < rows_of_thread. The rows of a warp are padded to the longest
/// of them: in step j, first[warp] <= j < first[warp + 1], every thread reads an entry of each of its rows, in the
/// first step the diagonal entries. Sources and columns of a thread lie next to each other in a step.
struct ThreadLayout {
  int rows = 0, threads = 0, rows_of_thread = 0, steps = 0;
  const int* first = nullptr;             ///< of the warps + 1
  const std::uint16_t* column = nullptr;  ///< times the bytes of a value; of padding: the row itself
  const int* source = nullptr;            ///< position of the value, -1: padding

  NEWEL_HD int padded_rows() const { return threads * rows_of_thread; }
  /// If each warp keeps `held` steps in registers.
  NEWEL_HD int slots(int held) const { return (steps - held * (threads / 32)) * 32 * rows_of_thread; }
};

/// The plan of incomplete factors or of FSAI in the device's memory; members as in IluSchedule and BatchedFsaiPattern.
struct BlockSchedule {
  int entries = 0;  ///< of the factors L and U together, or of G
  const std::uint16_t* column = nullptr;

  int step_levels = 0, lower_levels = 0, upper_levels = 0, lanes_of_row = 1;
  const int *step_level = nullptr, *lower_level = nullptr, *upper_level = nullptr;
  const FactorStep* step = nullptr;
  const FactorPair* pair = nullptr;
  const SolveRow *lower = nullptr, *upper = nullptr;

  int longest = 0;  ///< row of G; 0 for incomplete factors
  const int *row_first = nullptr, *local_first = nullptr, *local = nullptr, *transposed_first = nullptr;
  const FactorPair* transposed = nullptr;  ///< left: the entry of G; upper: its row
};

/// Where the parts of shared memory are, in bytes from the beginning, and what a launch leaves in the device's
/// memory. Before them are the sums and the record of the block, and a vector.
struct BlockMemory {
  std::size_t values = 0, columns = 0, inverse = 0, exchange = 0, scratch = 0, small = 0, basis = 0, bytes = 0;
  int workers = 0;  ///< threads that `scratch` is enough for
  bool values_on_chip = false, basis_on_chip = false;
};

/// What the parts depend on.
struct BlockDemand {
  std::size_t head_bytes, value_bytes;
  int held;  ///< steps of a warp that are in registers
  bool has_basis;
};

/// The parts if `available` bytes can be had: values stay on the chip if they fit, then the basis. `bytes` is more
/// than `available` if the system does not fit.
BlockMemory block_memory(const ThreadLayout& layout, const BlockSchedule& plan, const BatchedLimits& limits,
                         const BlockDemand& demand, std::size_t available);

}  // namespace newel::detail
