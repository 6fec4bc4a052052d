// SPDX-License-Identifier: Apache-2.0
/// RankLevel: a level of multigrid whose nodes are distributed over ranks, as one of them has it. Internal.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "distributed/precond/amg/ghost_nodes.hpp"
#include "distributed/precond/rank_matrix.hpp"
#include "distributed/precond/rank_transpose.hpp"
#include "distributed/rows/values_in_space.hpp"
#include "precond/amg/cycle/hierarchy.hpp"

namespace newel::detail {

/// Aggregates contain nodes of one rank, so that a prolongator leads from a rank's coarse nodes to its own nodes.
template <Space S>
struct RankLevel {
  RankLevel() = default;
  /// `a`: this rank's nodes by these and the ghosts. All ranks make theirs together.
  RankLevel(const Context<S>& ctx, std::vector<std::int64_t> first_nodes, BlockCsr<S> a,
            std::vector<std::int64_t> ghosts);

  Index nodes() const { return own.a.pattern.rows; }
  std::int64_t first_node() const { return first_nodes[static_cast<std::size_t>(rank)]; }
  /// The number in the whole level of a column of `a`.
  std::int64_t number_of(Index column) const {
    return column < nodes() ? first_node() + column : ghosts.numbers()[static_cast<std::size_t>(column - nodes())];
  }
  std::int64_t all_nodes() const { return first_nodes.back(); }
  std::int64_t all_rows() const { return all_nodes() * own.a.row_block; }
  /// As `first_nodes`, of rows.
  std::vector<std::int64_t> first_rows() const;
  /// Sets the values of the ghosts in a vector of the level.
  void fill_ghosts(const Context<S>& ctx, StageArray<double, S>& vector) const {
    GhostNodes::fill<S>(ctx, *ghost_rows, vector);
  }

  std::vector<std::int64_t> first_nodes;  ///< of each rank, and how many there are
  int rank = 0;
  AmgLevel<S> own;  ///< of this rank: columns of `a` are its nodes, then the ghosts
  GhostNodes ghosts;
  std::unique_ptr<ValueExchange<double, S>> ghost_rows;  ///< of the values of a vector
  ColumnRows<S> p_rows;                                  ///< empty on the last level
};

/// A context for the vectors of a system with these rows, of the ranks of `ctx`.
template <Space S>
Context<S> context_of_rows(const Context<S>& ctx, const std::vector<std::int64_t>& first_rows);
/// A context for setups on ranks. On a device vectors belong to this rank alone, and sums over ranks go by way of the
/// host.
template <Space S>
Context<S> context_for_setup(const Context<S>& ctx);
/// A context for work that this rank does alone.
template <Space S>
Context<S> context_alone(const Context<S>& ctx);

/// The rows of a rank with columns that this rank numbers: its own first, then those of others, in whole nodes.
template <Space S>
struct RankFirstLevel {
  RankLevel<S> level;
  ValueMap<S> source;  ///< of the values of `level.own.a`, in those of the rank's rows
};
/// In nodes of `node_rows` rows, which divide the rows of each rank. On a device blocks of zeros make the pattern of
/// the rank's own columns symmetric.
template <class T>
RankFirstLevel<Space::host> make_rank_first_level(const HostContext& ctx, const RankMatrix<T>& a, int node_rows);
template <class T>
RankFirstLevel<Space::device> make_rank_first_level(const DeviceContext& ctx, const RankMatrix<T>& a, int node_rows);

/// The largest number of rows that a node may have by the patterns of all ranks, as on one rank. The same on all.
template <class T>
int node_rows_on_ranks(const HostContext& ctx, const RankMatrix<T>& a);
template <class T>
int node_rows_on_ranks(const DeviceContext& ctx, const RankMatrix<T>& a);
/// The number that divides those of all ranks, which are 0 without rows, and the first row of each.
int common_node_rows(Communicator& ranks, int mine, const std::vector<std::int64_t>& first_rows);

/// Throws ZeroDiagonal, on all ranks alike, for the first row whose diagonal entry has no finite inverse.
template <Space S>
void require_diagonal_on_ranks(const Context<S>& ctx, const RankLevel<S>& level);

/// The rows of a level in single entries, with columns of the whole level, and where each value stands in its blocks:
/// on the host, for smoothers that are set up there.
struct LevelRows {
  RankPattern pattern;
  std::vector<Offset> source;

  template <Space S>
  LevelRows(const Context<S>& ctx, const RankLevel<S>& level);
  template <class T, Space S>
  std::vector<T> values(const Context<S>& ctx, const BlockCsr<S>& blocks) const {
    std::vector<double> kept;
    const Span<const double, Space::host> of_blocks = on_host(ctx, blocks.val.cspan(), kept);
    std::vector<T> values(source.size());
    for (std::size_t k = 0; k < source.size(); ++k) values[k] = static_cast<T>(of_blocks[source[k]]);
    return values;
  }
};

}  // namespace newel::detail
