// SPDX-License-Identifier: Apache-2.0
/// The arrays of EHYB for a pattern that is already cut into parts: sliced ELL over cached entries of x with 16-bit
/// columns, and the extra rows (ER) for what reads x from elsewhere. Internal.
#pragma once

#include <optional>
#include <vector>

#include <newel/core/csr.hpp>

namespace newel::detail {

/// The request for a layout.
struct EhybShape {
  int block = 1;            ///< rows of a node: 1, or the pattern consists of full aligned blocks of 2, 3 or 6
  bool halo = true;         ///< cache also the entries of x that a part reads from outside
  Index cached_length = 0;  ///< entries of x that a part has room for; its own must fit
  int lanes = 32;           ///< of a slice: the warp's width, or a host vector's
  int share = 1;            ///< lanes of a node, a power of two up to `lanes`

  int slice_nodes() const { return lanes / share; }
};

/// A part: a range of nodes, of the list of halo nodes, and of the slices.
struct EhybPart {
  Index node_begin, node_end;
  Index halo_begin, halo_end;
  Index slice_begin, slice_end;
};

/// A node of `block` rows has `share` neighbouring lanes, one as a rule; with block = 1 nodes are rows.
///
/// Slice s of part p holds nodes node_begin + (s - slice_begin) slice_nodes + lane / share. Its columns k =
/// slice_first[s] .. slice_first[s + 1] - 1 are places of `lanes` block slots, which take the node's blocks in turn:
/// block j lies in place j / share, lane j % share of the node's. `column[k lanes + lane]` is a position among the
/// part's cached nodes (its own, then its halo), and number (d, e) of the block is slot
/// (k block^2 + d block + e) lanes + lane. Padding repeats a column that the node reads anyway.
///
/// What is not cached: rows of `er_row`, longest first, sliced in the same way with 32-bit columns; and, where there
/// are more than `long_row` of them in a row, one after the other in segments.
///
/// Slots are numbered through: cached blocks, then ER, then long rows. The values of a block's row follow each other
/// in the matrix, so that one position stands for them.
template <Space S>
struct EhybLayout {
  static constexpr Index long_row = 128;  ///< entries outside the cache from which a row is cut into segments
  static constexpr Index segment = 1024;  ///< entries of a segment

  EhybShape shape;
  Index nodes = 0;
  Array<EhybPart, S> part;
  Array<Index, S> halo_node;       ///< ascending within a part
  Array<Index, S> slice_first;     ///< slices + 1
  Array<std::uint16_t, S> column;  ///< lanes x slice_first.back()
  Array<Index, S> er_row;          ///< by count, descending
  Array<Index, S> er_slice_first;  ///< ER slices + 1, in columns of `lanes` slots
  Array<Index, S> er_column;       ///< lanes x er_slice_first.back()
  Array<Index, S> long_rows;       ///< ascending
  Array<Index, S> long_segment;    ///< long rows + 1: the first segment of each
  Array<Offset, S> segment_begin;  ///< segments + 1: places in `long_column`
  Array<Index, S> long_column;     ///< entries of long rows
  Array<Offset, S> run_source;     ///< (k block + d) lanes + lane: where row d of the block begins, or -1
  Array<Offset, S> rest_source;    ///< ER and long slots: position of each slot's number, -1 for padding

  Offset block_slots = 0;     ///< numbers in cached blocks, padding included
  Offset er_slots = 0;        ///< numbers in ER slices, padding included
  Offset cached_entries = 0;  ///< entries whose x is cached
  Index longest_cache = 0;    ///< entries of x that the fullest part caches

  Offset long_slots() const { return long_column.size(); }
  Index er_slices() const { return static_cast<Index>(er_slice_first.size()) - 1; }
  Index segments() const { return static_cast<Index>(segment_begin.size()) - 1; }
  bool has_remainder() const { return !er_row.empty() || !long_rows.empty(); }
};

/// The sizes of a layout, from its first pass alone.
struct EhybSizes {
  Offset block_columns = 0;  ///< places of `lanes` block slots
  Offset er_columns = 0;     ///< places of `lanes` ER slots
  Offset long_entries = 0;
  Offset halo_nodes = 0;
  Offset cached_entries = 0;
  Index rows = 0;
  EhybShape shape;

  /// What a product moves: each array once, x once for the parts and once more for each halo entry and each entry
  /// that is not cached, y once, twice for the rows of the remainder.
  std::uint64_t product_bytes(std::size_t value_bytes) const;
};

/// The sizes of a layout that is made.
template <Space S>
EhybSizes sizes_of(const EhybLayout<S>& layout) {
  EhybSizes sizes;
  sizes.shape = layout.shape;
  sizes.rows = layout.nodes * layout.shape.block;
  sizes.block_columns = layout.column.size() / layout.shape.lanes;
  sizes.er_columns = layout.er_column.size() / layout.shape.lanes;
  sizes.long_entries = layout.long_column.size();
  sizes.halo_nodes = layout.halo_node.size();
  sizes.cached_entries = layout.cached_entries;
  return sizes;
}

/// The first pass only. `part_begin` has parts + 1 rows, multiples of the block; the pattern is canonical. Columns
/// that have no row belong to no part, and are cached in halos.
EhybSizes measure_ehyb(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                       const std::vector<Index>& part_begin, const EhybShape& shape);

/// Parallel over parts; the same layout whatever the number of threads. O(nnz log halo). Throws InputError where a
/// part's own entries do not fit into the cache.
EhybLayout<Space::host> make_ehyb_layout(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                         const std::vector<Index>& part_begin, const EhybShape& shape);

/// The same arrays, element by element, for slices of a warp. Nothing where the layout would have a remainder, and
/// without halos: the host has to make it. Waits for the stream. Moves the pattern twice, a bit for each node and
/// part two to three times, and what it writes; its other memory is the bits, of some parts after the other
/// where all would take more than 8 bytes an entry. Throws as the other does.
std::optional<EhybLayout<Space::device>> make_ehyb_layout(const Context<Space::device>& ctx,
                                                          const Pattern<Space::device>& a,
                                                          const std::vector<Index>& part_begin,
                                                          const EhybShape& shape);

/// The arrays of a layout in the context's space.
template <Space S>
EhybLayout<S> layout_in(const Context<S>& ctx, EhybLayout<Space::host> layout) {
  if constexpr (S == Space::host) {
    return layout;
  } else {
    const auto there = [&](const auto& array) { return make_array(ctx, array.cspan()); };
    return {layout.shape, layout.nodes, there(layout.part), there(layout.halo_node), there(layout.slice_first),
            there(layout.column), there(layout.er_row), there(layout.er_slice_first), there(layout.er_column),
            there(layout.long_rows), there(layout.long_segment), there(layout.segment_begin),
            there(layout.long_column), there(layout.run_source), there(layout.rest_source),
            //
            layout.block_slots, layout.er_slots, layout.cached_entries, layout.longest_cache};
  }
}

}  // namespace newel::detail
