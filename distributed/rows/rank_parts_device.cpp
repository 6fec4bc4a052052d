// SPDX-License-Identifier: Apache-2.0
// A rank's rows cut into parts, which read nodes of other ranks.
#include "distributed/rows/rank_parts.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <newel/core/parallel.hpp>
#include "core/vectors/over_ranks.hpp"
#include "distributed/rows/numbers_text.hpp"
#include "distributed/rows/value_exchange.hpp"
#include "reorder/host_pattern.hpp"
#include "spmv/ehyb/ehyb_plan.hpp"

namespace newel::detail {
namespace {

// Whether the rows of a node read the same whole nodes of other ranks.
bool reads_whole_nodes(const ColumnsOfRank& a, Index node, int block) {
  std::vector<std::int64_t> first, others;
  for (int r = 0; r < block; ++r) {
    const Index i = node * block + r;
    others.clear();
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (!a.owns(a.col[k])) others.push_back(a.col[k]);
    }
    if (r == 0) first = others;
    if (others != first || others.size() % static_cast<std::size_t>(block) != 0) return false;
  }
  for (std::size_t k = 0; k < first.size(); ++k) {
    const std::size_t of_node = k % static_cast<std::size_t>(block);
    if (first[k] != first[k - of_node] + static_cast<std::int64_t>(of_node)) return false;
    if (of_node == 0 && first[k] % block != 0) return false;
  }
  return true;
}

}  // namespace

int node_rows(const Context<Space::device>& ctx, const ColumnsOfRank& a, const OwnPattern& own,
              const std::vector<unsigned char>& reads_others) {
  Communicator& communicator = *ranks_of(ctx)->communicator;
  std::vector<double> all(static_cast<std::size_t>(communicator.size()));
  const int found = ehyb_block(ctx, own.view());
  const auto is_whole = [&](Index node) {
    const auto* const reads = reads_others.data() + std::int64_t{node} * found;
    return std::all_of(reads, reads + found, [](unsigned char r) { return r == 0; }) ||
           reads_whole_nodes(a, node, found);
  };
  const double mine = parallel_all(host_context(ctx), a.rows() / found, is_whole) ? found : 1;
  communicator.all_gather(&mine, 1, all.data());
  std::int64_t block = 0;
  for (const double one : all) block = std::gcd(block, static_cast<std::int64_t>(one));
  for (const std::int64_t first : a.first_rows) block = std::gcd(block, first);
  return static_cast<int>(block);
}

RankOrder order_of_parts(const Context<Space::device>& ctx, const OwnPattern& own,
                         const std::vector<unsigned char>& reads_others, const FormatRequest& request) {
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
          std::any_of(begin, end, [&](Index i) { return reads_others[static_cast<std::size_t>(i)] != 0; });
      if (begin == end || reads != wanted) continue;
      sorted.old_of_new.insert(sorted.old_of_new.end(), begin, end);
      sorted.part_begin.push_back(static_cast<Index>(sorted.old_of_new.size()));
      if (!reads) ++sorted.inner_parts;
    }
  }
  return sorted;
}

OtherNodes find_others(const Context<Space::host>& ctx, const ColumnsOfRank& a, std::vector<std::int64_t> nodes,
                       const std::vector<Index>& new_of_old, int block) {
  Communicator& communicator = *ctx.ranks()->communicator;
  OtherNodes others;
  others.node = std::move(nodes);

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

std::vector<std::int64_t> ghost_rows(const RankPlan& plan) {
  std::vector<std::int64_t> rows;
  for (const std::int64_t node : plan.others.node) {
    for (int d = 0; d < plan.block; ++d) rows.push_back(node * plan.block + d);
  }
  return rows;
}

}  // namespace newel::detail
