// SPDX-License-Identifier: Apache-2.0
/// Estimated cost of a product and of a setup for a format that is not built: from sizes and row lengths, without a
/// clock.
#pragma once

#include <utility>
#include <vector>

#include <newel/core/csr.hpp>
#include <newel/core/machine.hpp>

namespace newel {

/// The row lengths that occur, ascending, each with its number of rows.
using RowLengths = std::vector<std::pair<Index, Index>>;

/// Reads the row pointers once.
RowLengths row_lengths(const Pattern<Space::host>& pattern);
/// Counts on the device. Waits for the stream.
RowLengths row_lengths(const Context<Space::device>& ctx, const Pattern<Space::device>& pattern);

/// The input of all cost estimates.
struct PatternFacts {
  Index rows = 0;         ///< of the matrix
  Index cols = 0;         ///< of the matrix
  Offset nonzeros = 0;    ///< stored entries
  Index longest_row = 0;  ///< entries of the longest row
  int block = 1;          ///< rows per node, if the pattern consists of full aligned blocks (`node_block_size`)
  RowLengths lengths;     ///< of all rows

  /// Probability that two rows differ in length: 0 if all lengths are equal, near 1 for many different lengths.
  double unevenness() const;
  /// Slots needed if rows are sorted by length and padded in groups of `lanes`.
  Offset sorted_slots(int lanes) const;
};

/// Facts derived from row lengths; the block is 1.
PatternFacts facts_of_lengths(Index rows, Index cols, Offset nonzeros, RowLengths lengths);

/// Reads the pattern once or twice; parallel.
PatternFacts pattern_facts(const Context<Space::host>& ctx, const Pattern<Space::host>& pattern);
/// The same for a pattern on a device. Waits for the stream.
PatternFacts pattern_facts(const Context<Space::device>& ctx, const Pattern<Space::device>& pattern);

/// The estimated cost of a format; docs/performance.md has measured times.
struct CostEstimate {
  double product_bytes = 0;  ///< infinite if the format must not be chosen
  /// Share of the copy bandwidth that the product reaches, measured on large systems.
  double bandwidth_share = 1;
  /// Seconds of one host thread if the matrix stays in its caches, where bytes do not determine the time; 0: use
  /// bytes.
  double cached_seconds = 0;
  /// Additional seconds of one host thread per row if row lengths differ: the branch at the end of a row is
  /// mispredicted.
  double uneven_row_seconds = 0;
  /// Lower bound on the seconds of one host thread for a product, however fast memory is; 0: bytes alone count.
  double least_seconds = 0;
  /// Seconds of one host thread per entry, from CSR to the first product.
  double setup_seconds_per_entry = 0;
  /// Bytes that the setup copies to a device.
  double upload_bytes = 0;
  /// Seconds of a setup on the device, instead of the two fields above; 0: the setup runs on the host.
  double device_setup_seconds = 0;
  int launches = 1;      ///< kernels per product on a device
  int dot_launches = 0;  ///< additional kernels if the product also computes x.y
  /// Parts of a kernel that keeps its vectors on the chip, one per multiprocessor; 0: there is no such kernel.
  Index resident_parts = 0;
  double halo = 0;  ///< nodes that a part reads from other parts, divided by its own
  /// The parts of that kernel are rows of a CSR matrix and share the vector in memory.
  bool resident_rows = false;

  /// Sets the compute time of a product: `seconds` of one host thread if its data is in cache. It becomes
  /// `cached_seconds` if the matrix stays in the caches between products (the same limit for every format), otherwise
  /// `least_seconds`. Does nothing on a device.
  void set_thread_seconds(const PatternFacts& facts, const Machine& machine, std::size_t value_bytes, double seconds);
  /// Seconds of one product y = A x.
  double product_seconds(const Machine& machine) const;
  /// Seconds of one product from `least_seconds` alone.
  double least_product_seconds(const Machine& machine) const;
  /// Seconds of a setup with `host_threads` host threads.
  double setup_seconds(const Machine& machine, Offset nonzeros, int host_threads) const;
};

}  // namespace newel
