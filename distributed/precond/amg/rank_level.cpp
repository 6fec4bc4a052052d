// SPDX-License-Identifier: Apache-2.0
// The rows of a rank as the first level of multigrid.
#include "distributed/precond/amg/rank_level.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <newel/config.hpp>
#include <newel/core/matrix_traits.hpp>
#include <newel/core/parallel.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/links/device_link.hpp"
#include "distributed/precond/rank_refusal.hpp"
#include "precond/amg/setup/first_level.hpp"

namespace newel::detail {
namespace {

// A rank's rows with this rank's columns first, and where their entries stand among the caller's.
template <class T>
struct LocalRows {
  Array<Offset, Space::host> row_ptr, place;
  Array<Index, Space::host> col;
  Array<T, Space::host> val;
  std::vector<std::int64_t> ghosts;  ///< nodes of other ranks, ascending

  LocalRows(const HostContext& ctx, const RankMatrix<T>& a, int b)
      : row_ptr(make_array(ctx, a.rows.row_ptr)),
        place(ctx, a.rows.col.size),
        col(ctx, a.rows.col.size),
        val(ctx, a.rows.col.size) {
    const std::int64_t first = first_row(ctx), end = first + a.rows.row_ptr.size - 1;
    for (const std::int64_t j : a.rows.col) {
      if (j < first || j >= end) ghosts.push_back(j / b);
    }
    std::sort(ghosts.begin(), ghosts.end());
    ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
    const auto rows = static_cast<Index>(end - first);
    parallel_for(ctx, rows, [&](Index i) {
      const std::int64_t *const from = a.rows.col.data + row_ptr[i], *const to = a.rows.col.data + row_ptr[i + 1];
      const auto own_begin = std::lower_bound(from, to, first), own_end = std::lower_bound(own_begin, to, end);
      Offset at = row_ptr[i];
      const auto take = [&](const std::int64_t* k, Index column) {
        place[at] = k - a.rows.col.data;
        val[at] = a.rows.val[place[at]];
        col[at++] = column;
      };
      for (auto k = own_begin; k < own_end; ++k) take(k, static_cast<Index>(*k - first));
      for (auto k = from; k < to; ++k) {
        if (k >= own_begin && k < own_end) continue;
        const auto node = std::lower_bound(ghosts.begin(), ghosts.end(), *k / b) - ghosts.begin();
        take(k, rows + static_cast<Index>(node) * b + static_cast<Index>(*k % b));
      }
    });
  }
  Index rows() const { return static_cast<Index>(row_ptr.size()) - 1; }
};

}  // namespace

template <Space S>
RankLevel<S>::RankLevel(const Context<S>& ctx, std::vector<std::int64_t> first, BlockCsr<S> a,
                        std::vector<std::int64_t> ghost_numbers)
    : first_nodes(std::move(first)),
      rank(ranks_of(ctx)->communicator->rank()),
      ghosts(host_context(ctx), first_nodes, std::move(ghost_numbers)) {
  own.a = std::move(a);
  ghost_rows = ghosts.exchange(ctx, own.a.row_block);
}

template <Space S>
std::vector<std::int64_t> RankLevel<S>::first_rows() const {
  std::vector<std::int64_t> rows = first_nodes;
  for (std::int64_t& row : rows) row *= own.a.row_block;
  return rows;
}

namespace {

template <Space S>
Context<S> context_with(const Context<S>& ctx, Ranks ranks) {
  if constexpr (S == Space::device) {
    return with_ranks(ctx, std::move(ranks));
  } else {
    return ctx.with_ranks(std::move(ranks));
  }
}

}  // namespace

template <Space S>
Context<S> context_of_rows(const Context<S>& ctx, const std::vector<std::int64_t>& first_rows) {
  Ranks ranks = *ranks_of(ctx);
  ranks.first_row = first_rows[static_cast<std::size_t>(ranks.communicator->rank())];
  ranks.all_rows = first_rows.back();
  return context_with(ctx, std::move(ranks));
}

template <Space S>
Context<S> context_for_setup(const Context<S>& ctx) {
  Ranks ranks = *ranks_of(ctx);
  ranks.device = nullptr;
  return context_with(ctx, std::move(ranks));
}

template <Space S>
Context<S> context_alone(const Context<S>& ctx) {
  return context_with(ctx, Ranks{thread_ranks(1).front()});
}

template <class T>
RankFirstLevel<Space::host> make_rank_first_level(const HostContext& ctx, const RankMatrix<T>& a, int node_rows) {
  LocalRows<T> local(ctx, a, node_rows);
  const auto ghost_rows = static_cast<Index>(local.ghosts.size()) * node_rows;
  const CsrView<T, Space::host> view(local.rows(), local.rows() + ghost_rows, local.row_ptr.cspan(),
                                     local.col.cspan(), local.val.cspan());
  Array<Offset, Space::host> source;
  HostBlockCsr blocks = make_block_csr(ctx, view, {}, node_rows, source);
  blocks.pattern.cols = view.cols / node_rows;
  if (source.size() == 0)
    source = std::move(local.place);
  else
    parallel_for(ctx, source.size(), [&](Offset k) { source[k] = source[k] < 0 ? -1 : local.place[source[k]]; });
  std::vector<std::int64_t> first_nodes = a.first_rows;
  for (std::int64_t& first : first_nodes) first /= node_rows;
  RankFirstLevel<Space::host> made;
  made.source = make_value_map(ctx, source.cspan(), a.rows.val.size);
  made.level = RankLevel<Space::host>(ctx, std::move(first_nodes), std::move(blocks), std::move(local.ghosts));
  return made;
}

template <class T>
int node_rows_on_ranks(const HostContext& ctx, const RankMatrix<T>& a) {
  const LocalRows<T> local(ctx, a, 1);
  const Index rows = local.rows();
  std::vector<Offset> row_ptr = {0};
  std::vector<Index> col;
  for (Index i = 0; i < rows; ++i) {
    for (Offset k = local.row_ptr[i]; k < local.row_ptr[i + 1] && local.col[k] < rows; ++k) {
      col.push_back(local.col[k]);
    }
    row_ptr.push_back(static_cast<Offset>(col.size()));
  }
  Pattern<Space::host> own;
  own.rows = own.cols = rows;
  own.row_ptr64 = Span<const Offset, Space::host>(row_ptr);
  own.col = Span<const Index, Space::host>(col);
  const int mine = rows == 0 ? 0 : node_block_size(ctx, own, largest_node);
  return common_node_rows(*ctx.ranks()->communicator, mine, a.first_rows);
}

int common_node_rows(Communicator& ranks, int mine, const std::vector<std::int64_t>& first_rows) {
  const double own = mine;
  std::vector<double> all(static_cast<std::size_t>(ranks.size()));
  ranks.all_gather(&own, 1, all.data());
  std::int64_t size = 0;
  for (const double of_rank : all) size = std::gcd(size, static_cast<std::int64_t>(of_rank));
  for (const std::int64_t first : first_rows) size = std::gcd(size, first);
  return static_cast<int>(std::max<std::int64_t>(size, 1));
}

template <Space S>
void require_diagonal_on_ranks(const Context<S>& ctx, const RankLevel<S>& level) {
  const RefusedDiagonals own = refused_diagonals(ctx, level.own.a, NodeNumbering{level.own.a.row_block, 0});
  auto count = static_cast<double>(own.count);
  sum_over_ranks(ctx, &count, 1);
  if (count == 0) return;
  const bool here = own.count > 0;
  const auto mine =
      static_cast<double>(here ? level.first_node() * level.own.a.row_block + own.first : level.all_rows());
  const double first = least_over_ranks(host_context(ctx), mine);
  double value = here && mine == first ? own.value : 0;
  sum_over_ranks(ctx, &value, 1);
  throw ZeroDiagonal(static_cast<std::int64_t>(first), static_cast<std::int64_t>(count), value);
}

// Columns of a row are those of this rank, then those of ghosts; in the whole level some ghosts come before.
template <Space S>
LevelRows::LevelRows(const Context<S>& ctx, const RankLevel<S>& level) {
  const HostBlockPattern& a = on_host(ctx, level.own.a.pattern);
  const int b = level.own.a.row_block;
  std::vector<std::pair<std::int64_t, Offset>> blocks;  // column in the whole level, and block
  for (Index node = 0; node < a.rows; ++node) {
    blocks.clear();
    for (Offset k = a.row_ptr[node]; k < a.row_ptr[node + 1]; ++k) {
      blocks.emplace_back(level.number_of(a.col[k]), k);
    }
    std::sort(blocks.begin(), blocks.end());
    for (int r = 0; r < b; ++r) {
      for (const auto& [column, k] : blocks) {
        for (int c = 0; c < b; ++c) {
          pattern.col.push_back(column * b + c);
          source.push_back((k * b + r) * b + c);
        }
      }
      pattern.row_ptr.push_back(static_cast<Offset>(pattern.col.size()));
    }
  }
}

#define X(T)                                                                                                 \
  template RankFirstLevel<Space::host> make_rank_first_level(const HostContext&, const RankMatrix<T>&, int); \
  template int node_rows_on_ranks(const HostContext&, const RankMatrix<T>&);
X(double)
X(float)
#undef X

#define X(S)                                                                                \
  template Context<S> context_of_rows(const Context<S>&, const std::vector<std::int64_t>&); \
  template Context<S> context_for_setup(const Context<S>&);                                 \
  template Context<S> context_alone(const Context<S>&);                                     \
  template struct RankLevel<S>;                                                             \
  template void require_diagonal_on_ranks(const Context<S>&, const RankLevel<S>&);          \
  template LevelRows::LevelRows(const Context<S>&, const RankLevel<S>&);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
