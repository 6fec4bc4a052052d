// SPDX-License-Identifier: Apache-2.0
// The rows of a rank as the first level of multigrid on its device.
#include <optional>
#include <utility>

#include "core/vectors/over_ranks.hpp"
#include "distributed/precond/amg/rank_level.hpp"
#include "distributed/rows/rows_on_device.hpp"
#include "precond/amg/blocks/block_csr_device.hpp"
#include "precond/amg/setup/node_numbering.hpp"

namespace newel::detail {

template <class T>
RankFirstLevel<Space::device> make_rank_first_level(const DeviceContext& ctx, const RankMatrix<T>& a, int node_rows) {
  const HostContext& host = host_context(ctx);
  const ColumnsOfRank columns{a.rows.row_ptr, a.rows.col, a.first_rows, host.ranks()->communicator->rank()};
  std::optional<RowsOnDevice<T>> made_here;
  const RowsOnDevice<T>* rows = a.on_device;
  if (rows == nullptr) rows = &made_here.emplace(ctx, columns, a.rows.val);
  const NumberedColumns& numbered = *rows->columns;
  std::vector<std::int64_t> other_nodes = nodes_of_rows(numbered.others, node_rows);
  const auto cols = numbered.rows() + static_cast<Index>(other_nodes.size()) * node_rows;
  Array<Index, Space::device> in_nodes;
  CallersPattern pattern;
  pattern.pattern = numbered.pattern();
  if (pattern.pattern.cols < cols) {
    in_nodes = columns_in_nodes(ctx, numbered, other_nodes, node_rows);
    pattern.pattern = numbered.pattern(in_nodes.cspan(), cols);
  }
  Array<Offset, Space::device> source;
  BlockCsr<Space::device> blocks = make_block_csr<T>(ctx, pattern, rows->val.cspan(), node_rows, source);
  std::vector<std::int64_t> first_nodes = a.first_rows;
  for (std::int64_t& first : first_nodes) first /= node_rows;
  RankFirstLevel<Space::device> made;
  made.source = make_value_map(ctx, source.cspan(), a.rows.val.size);
  made.level = RankLevel<Space::device>(ctx, std::move(first_nodes), std::move(blocks), std::move(other_nodes));
  return made;
}

template <class T>
int node_rows_on_ranks(const DeviceContext& ctx, const RankMatrix<T>& a) {
  Communicator& ranks = *ranks_of(ctx)->communicator;
  const ColumnsOfRank columns{a.rows.row_ptr, a.rows.col, a.first_rows, ranks.rank()};
  std::optional<NumberedColumns> made_here;
  const NumberedColumns& numbered = a.on_device != nullptr ? *a.on_device->columns : made_here.emplace(ctx, columns);
  const OwnPattern own(ctx, numbered);
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
