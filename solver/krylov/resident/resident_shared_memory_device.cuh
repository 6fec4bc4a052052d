// SPDX-License-Identifier: Apache-2.0
/// The layout of a block's shared memory in a resident kernel, the same on the host's side. Internal.
#pragma once

#include "core/vectors/warp_device.cuh"
#include "solver/krylov/resident/resident_exchange_device.cuh"
#include "solver/krylov/resident/resident_system.hpp"

namespace newel::detail {
namespace {

/// Positions in bytes, one after the other.
struct ResidentSharedMemory {
  std::size_t next = 0;

  NEWEL_HD std::size_t take(std::size_t count, std::size_t bytes) {
    const std::size_t at = (next + bytes - 1) / bytes * bytes;
    next = at + count * bytes;
    return at;
  }
};

struct ResidentVectorSpace {
  std::size_t sums, vectors;
};
/// Vectors of a part with `own` rows; those with a halo have `reach` entries, and stand first.
template <class T>
NEWEL_HD ResidentVectorSpace take_vectors(ResidentSharedMemory& memory, const ResidentNeeds& needs, int own,
                                          int reach, int parts) {
  const std::size_t sums = memory.take(Exchange::scratch_length(needs.sums, parts), sizeof(double));
  const auto entries = static_cast<std::size_t>(needs.vectors) * static_cast<std::size_t>(reach) +
                       static_cast<std::size_t>(needs.own_vectors) * static_cast<std::size_t>(own);
  return {sums, memory.take(entries, sizeof(T))};
}

struct ResidentMatrixSpace {
  std::size_t value, halo, slice, column, marked;
};
/// A part's share of a matrix, its values and columns only where they stay.
template <class T>
NEWEL_HD ResidentMatrixSpace take_matrix(ResidentSharedMemory& memory, int block, int nodes, int halo_nodes,
                                         int slices, int places, bool on_chip) {
  const auto slots = on_chip ? static_cast<std::size_t>(places) * warp : 0;
  ResidentMatrixSpace at{};
  at.value = memory.take(slots * block * block, sizeof(T));
  at.halo = memory.take(static_cast<std::size_t>(halo_nodes), sizeof(Index));
  at.slice = memory.take(static_cast<std::size_t>(slices + 1), sizeof(Index));
  at.column = memory.take(slots, sizeof(std::uint16_t));
  at.marked = memory.take(static_cast<std::size_t>(nodes), 1);
  return at;
}

struct ResidentRowSpace {
  std::size_t row, value, column;
};
/// A block's share of a CSR matrix: where its rows begin, and its entries if they stay.
template <class T>
NEWEL_HD ResidentRowSpace take_rows(ResidentSharedMemory& memory, int own, int entries, bool on_chip) {
  const auto kept = on_chip ? static_cast<std::size_t>(entries) : 0;
  ResidentRowSpace at{};
  at.value = memory.take(kept, sizeof(T));
  at.column = memory.take(kept, sizeof(Index));
  at.row = memory.take(static_cast<std::size_t>(own) + 1, sizeof(Index));
  return at;
}

/// How many matrices M is.
NEWEL_HD constexpr int matrices_of(ResidentPrecond precond) {
  return precond == ResidentPrecond::factors ? 2 : precond == ResidentPrecond::matrix ? 1 : 0;
}
/// Rows of a node of M's matrices; of A's where there are none.
template <ResidentPrecond precond, int B>
constexpr int lead_block = precond == ResidentPrecond::factors ? 1 : B;

/// Where a block's share of a matrix lies, in bytes from the beginning of its shared memory. A kernel with several
/// matrices keeps these there too: its registers do not hold as many shares.
struct ResidentRecord {
  int halo, slices, first_place, lanes;
  unsigned value, halo_node, slice_first, column, marked;
};

/// Records of A and M's matrices; none where A is alone.
NEWEL_HD std::size_t take_records(ResidentSharedMemory& memory, int matrices) {
  const std::size_t words = matrices > 1 ? matrices * sizeof(ResidentRecord) / sizeof(unsigned) : 0;
  return memory.take(words, sizeof(unsigned));
}

}  // namespace
}  // namespace newel::detail
