// SPDX-License-Identifier: Apache-2.0
// The rows of a rank as the first level of multigrid on its device.
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
  std::vector<std::int64_t> ghosts = nodes_of_others(host, columns, node_rows);
  const auto row_ptr = make_array(ctx, a.rows.row_ptr);
  const auto col = make_array(ctx, columns_of(host, columns, ghosts, node_rows).cspan());
  const auto val = make_array(ctx, a.rows.val);
  CallersPattern pattern;
  pattern.pattern.rows = columns.rows();
  pattern.pattern.cols = columns.rows() + static_cast<Index>(ghosts.size()) * node_rows;
  pattern.pattern.row_ptr64 = row_ptr.cspan();
  pattern.pattern.col = col.cspan();
  Array<Offset, Space::device> source;
  BlockCsr<Space::device> blocks = make_block_csr<T>(ctx, pattern, val.cspan(), node_rows, source);
  std::vector<std::int64_t> first_nodes = a.first_rows;
  for (std::int64_t& first : first_nodes) first /= node_rows;
  RankFirstLevel<Space::device> made;
  made.source = make_value_map(ctx, source.cspan(), a.rows.val.size);
  made.level = RankLevel<Space::device>(ctx, std::move(first_nodes), std::move(blocks), std::move(ghosts));
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
