// SPDX-License-Identifier: Apache-2.0
/// SlotGather: how the caller's values reach the slots of a format, in an order that suits the memory. Internal.
#pragma once

#include <newel/core/vector_ops.hpp>
#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// Fills slot k with the value at the position that a ValueMap gives for it, or with 0. On the host: the map itself,
/// read slot by slot.
template <class T, Space S>
class SlotGather {
 public:
  SlotGather() = default;
  SlotGather(const Context<S>&, ValueMap<S> map) : map_(std::move(map)) {}

  /// Every slot is written. Throws InputError when the number of values is not the map's, or of slots.
  void gather(const Context<S>& ctx, Span<const T, S> values, Span<T, S> slots) const {
    newel::gather<T, S>(ctx, values, map_, slots);
  }
  /// What the map says, written out: see `positions_of`.
  std::vector<Offset> positions(const Context<S>& ctx, std::int64_t size) const {
    return positions_of(ctx, map_, size);
  }
  std::size_t bytes() const { return map_.bytes(); }

 private:
  ValueMap<S> map_;
};

/// 32 runs of a chunk in the order of their sources: bit i of `starts` says that run i does not follow run i - 1
/// there, `before` counts the pieces that began in this chunk before them.
struct alignas(8) SlotGatherGroup {
  std::uint32_t starts;
  std::uint32_t before;
};

/// How slots are cut into chunks. No chunks: the map is read slot by slot.
struct SlotGatherShape {
  std::int64_t runs = 0;
  Index chunks = 0;
  Index chunk_runs = 0;  ///< whole groups of `lanes`; the last chunk may have fewer
  int run = 1;           ///< see ValueMap
  Index lanes = 1;

  NEWEL_HD Index groups_of_chunk() const { return (chunk_runs + 31) / 32; }
  NEWEL_HD std::int64_t first_run(std::int64_t chunk) const { return chunk * chunk_runs; }
  NEWEL_HD Index runs_of(std::int64_t chunk) const {
    const std::int64_t left = runs - first_run(chunk);
    return left < chunk_runs ? static_cast<Index>(left) : chunk_runs;
  }
  /// The slot of a run's first value, in its chunk; r counts from the chunk's first run, in the order of the map.
  NEWEL_HD Index place(Index r) const { return r / lanes * run * lanes + r % lanes; }
};

/// The first `held` runs of a chunk have a source, the others are padding; its pieces begin at `first_piece`.
struct alignas(8) SlotGatherChunk {
  std::uint32_t held;
  std::uint32_t first_piece;
};

/// On the device slot order is a bad order to read in: the slots of 32 lanes belong to as many rows, so that each
/// load of a warp takes the 4 to 24 bytes of a value or a run out of 32 places far apart, and the sector around them
/// is fetched again for the next slots. So the slots are cut into chunks that fit shared memory. A chunk is read in
/// the order of its sources, in which those of a row follow each other, and put in order in shared memory; it is
/// written as a whole.
///
/// In that order the sources form pieces, in which each run begins where the one before it ends. A run takes 2 bytes
/// for its place in the chunk and a quarter of a byte for the bit that says where pieces begin; a piece takes 4
/// bytes. A position for each run would move half as much again, with values of 4 bytes.
///
/// Maps that need 64 bits are read slot by slot.
template <class T>
class SlotGather<T, Space::device> {
 public:
  /// Bytes of values in a chunk: several blocks share a multiprocessor.
  static constexpr int chunk_bytes = 32768;

  SlotGather() = default;
  /// Waits for the stream. Sorts each chunk in shared memory.
  SlotGather(const Context<Space::device>& ctx, ValueMap<Space::device> map);

  /// Allocates nothing, does not wait, may be captured.
  void gather(const Context<Space::device>& ctx, Span<const T, Space::device> values,
              Span<T, Space::device> slots) const;
  std::vector<Offset> positions(const Context<Space::device>& ctx, std::int64_t size) const;
  std::size_t bytes() const {
    return map_.bytes() + place_.bytes() + group_.bytes() + chunk_.bytes() + piece_.bytes();
  }

 private:
  SlotGatherShape shape_;
  ValueMap<Space::device> map_;                  ///< the plain one; its positions are dropped where there are chunks
  Array<std::uint16_t, Space::device> place_;    ///< the slot of a run's first value, in its chunk; sorted by source
  Array<SlotGatherGroup, Space::device> group_;  ///< groups_of_chunk() of each chunk
  Array<SlotGatherChunk, Space::device> chunk_;
  Array<std::uint32_t, Space::device> piece_;  ///< source of run r is this + r run, modulo 2^32
};

}  // namespace newel::detail
