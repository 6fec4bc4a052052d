// SPDX-License-Identifier: Apache-2.0
/// What a product and a setup will cost in a format that is not built: from sizes and row lengths, not from a clock.
#pragma once

#include <utility>
#include <vector>

#include <newel/core/csr.hpp>
#include <newel/core/machine.hpp>

namespace newel {

/// Row lengths that occur, ascending, with how many rows have each.
using RowLengths = std::vector<std::pair<Index, Index>>;

/// One pass over the row pointers.
RowLengths row_lengths(const Pattern<Space::host>& pattern);
/// Counted on the device. Waits for the stream.
RowLengths row_lengths(const Context<Space::device>& ctx, const Pattern<Space::device>& pattern);

/// The input of all cost estimates.
struct PatternFacts {
  Index rows = 0;         ///< of the matrix
  Index cols = 0;         ///< of the matrix
  Offset nonzeros = 0;    ///< stored entries
  Index longest_row = 0;  ///< entries
  int block = 1;          ///< rows of a node, where the pattern consists of full aligned blocks (`node_block_size`)
  RowLengths lengths;     ///< of all rows

  /// How likely two rows differ in length: 0 where all are alike, towards 1 where lengths are many.
  double unevenness() const;
  /// Slots of rows sorted by length and padded in groups of `lanes`.
  Offset sorted_slots(int lanes) const;
};

/// Facts that row lengths show; the block is 1.
PatternFacts facts_of_lengths(Index rows, Index cols, Offset nonzeros, RowLengths lengths);

/// Reads the pattern once or twice; parallel.
PatternFacts pattern_facts(const Context<Space::host>& ctx, const Pattern<Space::host>& pattern);
/// The same of a pattern on a device. Waits for the stream.
PatternFacts pattern_facts(const Context<Space::device>& ctx, const Pattern<Space::device>& pattern);

/// The cost of a format, estimated from bytes; docs/performance.md has measured times.
struct CostEstimate {
  double product_bytes = 0;  ///< infinite where the format is not to be chosen
  /// The share of the copy bandwidth that the product reaches, from measurements of large systems.
  double bandwidth_share = 1;
  /// Seconds of one host thread if the matrix stays in its caches, where bytes do not determine the time; 0: from
  /// bytes.
  double cached_seconds = 0;
  /// Seconds of one host thread for each row of a matrix whose rows differ in length, in addition: the branch at
  /// their ends is not predicted.
  double uneven_row_seconds = 0;
  /// Seconds of one host thread that a product takes at the least, however fast its bytes come; 0: bytes alone count.
  double least_seconds = 0;
  /// Seconds of one host thread for each entry, from CSR to a product that can start.
  double setup_seconds_per_entry = 0;
  /// Bytes that setup moves to a device.
  double upload_bytes = 0;
  /// Seconds of a setup on the device, in place of the two before; 0: on the host.
  double device_setup_seconds = 0;
  int launches = 1;      ///< kernels of a product on a device
  int dot_launches = 0;  ///< further kernels where the product leaves x.y too
  /// Parts that a kernel which keeps its vectors on the chip would have, one a multiprocessor; 0: there is none.
  Index resident_parts = 0;
  double halo = 0;  ///< nodes of other parts that a part reads, over its own
  /// The parts of that kernel are rows of a CSR matrix, which share the vector in memory.
  bool resident_rows = false;

  /// `seconds` of one host thread for a product whose bytes are at hand: all of it where the matrix stays in the
  /// caches from product to product, which the same limit decides for every format, else the least of it. Nothing on
  /// a device.
  void set_thread_seconds(const PatternFacts& facts, const Machine& machine, std::size_t value_bytes, double seconds);
  /// Of one product y = A x.
  double product_seconds(const Machine& machine) const;
  /// Of one product, by `least_seconds` alone.
  double least_product_seconds(const Machine& machine) const;
  /// With `host_threads` threads of the machine that plans.
  double setup_seconds(const Machine& machine, Offset nonzeros, int host_threads) const;
};

}  // namespace newel
