// SPDX-License-Identifier: Apache-2.0
// A rank's rows cut into parts, which read nodes of other ranks.
#include "distributed/rows/rank_parts.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include <newel/core/parallel.hpp>
#include "core/threads/per_thread.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/rows/numbers_text.hpp"
#include "distributed/rows/value_exchange.hpp"
#include "reorder/host_pattern.hpp"
#include "spmv/ehyb/ehyb_plan.hpp"

namespace newel::detail {
namespace {

// Whether the rows of each node read the same whole nodes of other ranks.
bool reads_whole_nodes(const ColumnsOfRank& a, const OwnPattern& own, int block) {
  std::vector<std::int64_t> first, others;
  for (Index i = 0; i < a.rows(); ++i) {
    if (i % block == 0) first.clear();
    others.clear();
    for (Offset k = a.row_ptr[i]; own.reads_others[static_cast<std::size_t>(i)] != 0 && k < a.row_ptr[i + 1]; ++k) {
      if (!a.owns(a.col[k])) others.push_back(a.col[k]);
    }
    if (i % block == 0) first = others;
    if (others != first || others.size() % static_cast<std::size_t>(block) != 0) return false;
    for (std::size_t k = 0; k < others.size(); ++k) {
      const std::size_t of_node = k % static_cast<std::size_t>(block);
      if (others[k] != others[k - of_node] + static_cast<std::int64_t>(of_node)) return false;
      if (of_node == 0 && others[k] % block != 0) return false;
    }
  }
  return true;
}

}  // namespace

OwnPattern::OwnPattern(const Context<Space::device>& ctx, const ColumnsOfRank& a)
    : reads_others(static_cast<std::size_t>(a.rows()), 0) {
  const Context<Space::host>& setup = host_context(ctx);
  std::vector<Offset> begin(static_cast<std::size_t>(a.rows()) + 1, 0);
  parallel_for(setup, a.rows(), [&](Index i) {
    const auto own = std::count_if(a.col.data + a.row_ptr[i], a.col.data + a.row_ptr[i + 1],
                                   [&](std::int64_t j) { return a.owns(j); });
    begin[static_cast<std::size_t>(i) + 1] = own;
    reads_others[static_cast<std::size_t>(i)] = own < a.row_ptr[i + 1] - a.row_ptr[i] ? 1 : 0;
  });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  Array<Index, Space::host> own(setup, begin.back());
  parallel_for(setup, a.rows(), [&](Index i) {
    Offset at = begin[static_cast<std::size_t>(i)];
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (a.owns(a.col[k])) own[at++] = static_cast<Index>(a.col[k] - a.first());
    }
  });
  row_ptr = make_array(ctx, begin);
  col = make_array(ctx, own.cspan());
}
Pattern<Space::device> OwnPattern::view() const {
  Pattern<Space::device> pattern;
  pattern.rows = pattern.cols = static_cast<Index>(reads_others.size());
  pattern.row_ptr64 = row_ptr.cspan();
  pattern.col = col.cspan();
  return pattern;
}

int node_rows(const Context<Space::device>& ctx, const ColumnsOfRank& a, const OwnPattern& own) {
  Communicator& communicator = *ranks_of(ctx)->communicator;
  std::vector<double> all(static_cast<std::size_t>(communicator.size()));
  const int found = ehyb_block(ctx, own.view());
  const double mine = reads_whole_nodes(a, own, found) ? found : 1;
  communicator.all_gather(&mine, 1, all.data());
  std::int64_t block = 0;
  for (const double one : all) block = std::gcd(block, static_cast<std::int64_t>(one));
  for (const std::int64_t first : a.first_rows) block = std::gcd(block, first);
  return static_cast<int>(block);
}

RankOrder order_of_parts(const Context<Space::device>& ctx, const OwnPattern& own, const FormatRequest& request) {
  std::vector<Index> old_of_new, part_begin;
  if (const std::optional<RowOrder<Space::device>> planned = plan_ehyb_order(ctx, own.view(), request)) {
    old_of_new = to_vector(ctx, planned->old_of_new.cspan());
    part_begin = planned->part_begin;
  } else {
    const HostPattern here(ctx, own.view());
    const RowOrder<Space::host> order = plan_ehyb_order(host_context(ctx), here.view(), request);
    old_of_new.assign(order.old_of_new.begin(), order.old_of_new.end());
    part_begin = order.part_begin;
  }
  RankOrder sorted;
  for (const bool wanted : {false, true}) {
    for (std::size_t p = 0; p + 1 < part_begin.size(); ++p) {
      const auto begin = old_of_new.begin() + part_begin[p], end = old_of_new.begin() + part_begin[p + 1];
      const bool reads =
          std::any_of(begin, end, [&](Index i) { return own.reads_others[static_cast<std::size_t>(i)] != 0; });
      if (begin == end || reads != wanted) continue;
      sorted.old_of_new.insert(sorted.old_of_new.end(), begin, end);
      sorted.part_begin.push_back(static_cast<Index>(sorted.old_of_new.size()));
      if (!reads) ++sorted.inner_parts;
    }
  }
  return sorted;
}

std::vector<std::int64_t> nodes_of_others(const Context<Space::host>& ctx, const ColumnsOfRank& a, int block) {
  PerThread<std::vector<std::int64_t>> found(ctx);
  constexpr std::int64_t at_once = 1 << 16;
  parallel_blocks(ctx, a.col.size, at_once, [&](Offset k, int member) {
    if (!a.owns(a.col[k])) found.of(member).push_back(a.col[k] / block);
  });
  std::vector<std::int64_t> nodes;
  for (int member = 0; member < ctx.threads(); ++member) {
    nodes.insert(nodes.end(), found.of(member).begin(), found.of(member).end());
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

OtherNodes find_others(const Context<Space::host>& ctx, const ColumnsOfRank& a, const std::vector<Index>& new_of_old,
                       int block) {
  Communicator& communicator = *ctx.ranks()->communicator;
  OtherNodes others;
  others.node = nodes_of_others(ctx, a, block);

  std::vector<std::vector<Index>> asked(static_cast<std::size_t>(communicator.size()));
  for (const std::int64_t node : others.node) {
    const auto owner = static_cast<std::size_t>(owner_of(a.first_rows, node * block));
    asked[owner].push_back(static_cast<Index>(node * block - a.first_rows[owner]));
  }
  std::vector<std::string> texts;
  for (const std::vector<Index>& rows : asked) texts.push_back(text_of_numbers(rows));
  const std::vector<std::string> questions = communicator.all_to_all(texts);

  others.readers.assign(static_cast<std::size_t>(a.rows() / block), 0);
  for (std::size_t r = 0; r < questions.size(); ++r) {
    std::vector<Index> places;
    for (const Index row : numbers_of<Index>(questions[r])) {
      const Index node = new_of_old[static_cast<std::size_t>(row)] / block;
      others.readers[static_cast<std::size_t>(node)] |= static_cast<unsigned char>(1u << r);
      places.push_back(static_cast<Index>(a.first() / block) + node);
    }
    texts[r] = text_of_numbers(places);
  }
  for (const std::string& answer : communicator.all_to_all(texts)) {
    const std::vector<Index> places = numbers_of<Index>(answer);
    others.place.insert(others.place.end(), places.begin(), places.end());
  }
  return others;
}

Array<Index, Space::host> columns_of(const Context<Space::host>& ctx, const ColumnsOfRank& a,
                                     const std::vector<std::int64_t>& other_nodes, int block) {
  Array<Index, Space::host> col(ctx, a.col.size);
  parallel_for(ctx, a.col.size, [&](Offset k) {
    const std::int64_t j = a.col[k];
    Index& here = col[k];
    if (a.owns(j)) {
      here = static_cast<Index>(j - a.first());
    } else {
      const auto at = std::lower_bound(other_nodes.begin(), other_nodes.end(), j / block) - other_nodes.begin();
      here = a.rows() + static_cast<Index>(at) * block + static_cast<Index>(j % block);
    }
  });
  return col;
}

}  // namespace newel::detail
