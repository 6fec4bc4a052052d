// SPDX-License-Identifier: Apache-2.0
/// How a rank's rows are cut into EHYB's parts, and what they read of other ranks. Internal; only in builds with
/// CUDA.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <newel/core/communicator.hpp>
#include <newel/spmv/format.hpp>

namespace newel::detail {

/// The rows of a rank as the functions below read them.
struct ColumnsOfRank {
  Span<const Offset, Space::host> row_ptr;
  Span<const std::int64_t, Space::host> col;
  const std::vector<std::int64_t>& first_rows;  ///< see halo.hpp
  int rank;

  Index rows() const { return static_cast<Index>(row_ptr.size) - 1; }
  std::int64_t first() const { return first_rows[static_cast<std::size_t>(rank)]; }
  bool owns(std::int64_t column) const { return column >= first() && column < first() + rows(); }
};

/// The entries in columns of this rank, a square pattern, on the device.
struct OwnPattern {
  Array<Offset, Space::device> row_ptr;
  Array<Index, Space::device> col;
  std::vector<unsigned char> reads_others;  ///< of each row

  OwnPattern(const Context<Space::device>& ctx, const ColumnsOfRank& a);
  Pattern<Space::device> view() const;
};

/// Rows of a node, of all ranks: their greatest common divisor. All ranks call it together.
int node_rows(const Context<Space::device>& ctx, const ColumnsOfRank& a, const OwnPattern& own);

/// The order of the rows and the first row of each part, parts that read other ranks last.
struct RankOrder {
  std::vector<Index> old_of_new;
  std::vector<Index> part_begin = {0};
  Index inner_parts = 0;  ///< that read no other rank
};
RankOrder order_of_parts(const Context<Space::device>& ctx, const OwnPattern& own, const FormatRequest& request);

/// The nodes of other ranks that these rows read, by the caller's numbers, ascending.
std::vector<std::int64_t> nodes_of_others(const Context<Space::host>& ctx, const ColumnsOfRank& a, int block);

/// Nodes of other ranks that this rank reads, and its own that others read.
struct OtherNodes {
  std::vector<std::int64_t> node;      ///< by the caller's numbers, ascending
  std::vector<Index> place;            ///< of each: its number in the order of all ranks
  std::vector<unsigned char> readers;  ///< of each own node in that order: bit r is set if rank r < 8 reads it
};
/// All ranks call it together. `ctx` has ranks.
OtherNodes find_others(const Context<Space::host>& ctx, const ColumnsOfRank& a, const std::vector<Index>& new_of_old,
                       int block);

/// Columns as this rank numbers them: its rows, and behind them the rows of nodes of others.
Array<Index, Space::host> columns_of(const Context<Space::host>& ctx, const ColumnsOfRank& a,
                                     const std::vector<std::int64_t>& other_nodes, int block);

/// A rank's rows on its device.
template <class T>
struct RowsOnDevice {
  std::vector<std::int64_t> other_nodes;  ///< of other ranks, as `nodes_of_others` finds them
  int block;                              ///< rows of a node
  Array<Offset, Space::device> row_ptr;
  Array<Index, Space::device> col;  ///< as `columns_of` numbers them
  Array<T, Space::device> val;

  RowsOnDevice(const Context<Space::device>& ctx, const ColumnsOfRank& a, Span<const T, Space::host> values,
               std::vector<std::int64_t> nodes, int rows_of_node)
      : other_nodes(std::move(nodes)),
        block(rows_of_node),
        row_ptr(make_array(ctx, a.row_ptr)),
        col(make_array(ctx, columns_of(host_context(ctx), a, other_nodes, block).cspan())),
        val(make_array(ctx, values)) {}

  Index rows() const { return static_cast<Index>(row_ptr.size()) - 1; }
  Pattern<Space::device> pattern() const {
    Pattern<Space::device> whole;
    whole.rows = rows();
    whole.cols = rows() + static_cast<Index>(other_nodes.size()) * block;
    whole.row_ptr64 = row_ptr.cspan();
    whole.col = col.cspan();
    return whole;
  }
};

}  // namespace newel::detail
