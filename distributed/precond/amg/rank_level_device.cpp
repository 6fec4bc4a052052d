// SPDX-License-Identifier: Apache-2.0
// The rows of a rank as the first level of multigrid on its device.
#include <optional>
#include <utility>

#include "core/vectors/over_ranks.hpp"
#include "distributed/precond/amg/rank_level.hpp"
#include "distributed/rows/rank_parts.hpp"
#include "precond/amg/blocks/block_csr_device.hpp"
#include "precond/amg/setup/node_numbering.hpp"

namespace newel::detail {

template <class T>
RankFirstLevel<Space::device> make_rank_first_level(const DeviceContext& ctx, const RankMatrix<T>& a, int node_rows) {
  const HostContext& host = host_context(ctx);
  const ColumnsOfRank columns{a.rows.row_ptr, a.rows.col, a.first_rows, host.ranks()->communicator->rank()};
  std::optional<RowsOnDevice<T>> made_here;
  const RowsOnDevice<T>* rows = a.on_device;
  if (rows == nullptr || rows->block != node_rows) {
    rows = &made_here.emplace(ctx, columns, a.rows.val, nodes_of_others(host, columns, node_rows), node_rows);
  }
  CallersPattern pattern;
  pattern.pattern = rows->pattern();
  Array<Offset, Space::device> source;
  BlockCsr<Space::device> blocks = make_block_csr<T>(ctx, pattern, rows->val.cspan(), node_rows, source);
  std::vector<std::int64_t> first_nodes = a.first_rows;
  for (std::int64_t& first : first_nodes) first /= node_rows;
  RankFirstLevel<Space::device> made;
  made.source = make_value_map(ctx, source.cspan(), a.rows.val.size);
  made.level = RankLevel<Space::device>(ctx, std::move(first_nodes), std::move(blocks), rows->other_nodes);
  return made;
}

template <class T>
int node_rows_on_ranks(const DeviceContext& ctx, const RankMatrix<T>& a) {
  Communicator& ranks = *ranks_of(ctx)->communicator;
  const ColumnsOfRank columns{a.rows.row_ptr, a.rows.col, a.first_rows, ranks.rank()};
  const OwnPattern own(ctx, columns);
  const int mine = columns.rows() == 0 ? 0 : full_block_on_device(ctx, own.view(), largest_node);
  return common_node_rows(ranks, mine, a.first_rows);
}

#define X(T)                                                                                                     \
  template RankFirstLevel<Space::device> make_rank_first_level(const DeviceContext&, const RankMatrix<T>&, int); \
  template int node_rows_on_ranks(const DeviceContext&, const RankMatrix<T>&);
X(double)
X(float)
#undef X

}  // namespace newel::detail
