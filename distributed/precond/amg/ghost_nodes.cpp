// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other of their nodes.
#include "distributed/precond/amg/ghost_nodes.hpp"

#include <algorithm>
#include <utility>

#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/precond/amg/column_split.hpp"
#include "distributed/rows/numbers_text.hpp"

namespace newel::detail {

GhostNodes::GhostNodes(const HostContext& ctx, const std::vector<std::int64_t>& first_nodes,
                       std::vector<std::int64_t> numbers)
    : numbers_(std::move(numbers)) {
  Communicator& ranks = *ctx.ranks()->communicator;
  std::vector<std::string> wanted;
  auto begin = numbers_.begin();
  for (int r = 0; r < ranks.size(); ++r) {
    const std::int64_t first = first_nodes[static_cast<std::size_t>(r)];
    const auto end = std::lower_bound(begin, numbers_.end(), first_nodes[static_cast<std::size_t>(r) + 1]);
    std::vector<Index> nodes;
    for (; begin != end; ++begin) nodes.push_back(static_cast<Index>(*begin - first));
    of_rank_.push_back(static_cast<Index>(nodes.size()));
    wanted.push_back(text_of_numbers(nodes));
  }
  for (const std::string& text : ranks.all_to_all(wanted)) asked_.push_back(numbers_of<Index>(text));
}

template <Space S>
std::unique_ptr<ValueExchange<double, S>> GhostNodes::exchange(const Context<S>& ctx, int width) const {
  std::vector<std::vector<Offset>> sent;
  for (const std::vector<Index>& nodes : asked_) sent.emplace_back(nodes.begin(), nodes.end());
  const std::vector<Offset> received(of_rank_.begin(), of_rank_.end());
  return std::make_unique<ValueExchange<double, S>>(ctx, sent, received, width);
}

std::uint64_t GhostNodes::bytes() const {
  std::uint64_t bytes = numbers_.size() * sizeof(std::int64_t);
  for (const std::vector<Index>& of_rank : asked_) bytes += of_rank.size() * sizeof(Index);
  return bytes;
}

namespace {

// The rows that each rank asks for: their lengths and columns, and where their blocks stand.
template <Space S>
struct AskedRows {
  std::vector<std::string> texts;  // the length and the columns of each row
  std::vector<std::vector<Offset>> blocks;

  AskedRows(const Context<S>& ctx, const std::vector<std::vector<Index>>& asked, const BlockPattern<S>& own) {
    std::vector<Offset> ends, all;
    for (const std::vector<Index>& nodes : asked) {
      for (const Index node : nodes) ends.insert(ends.end(), {Offset{node}, Offset{node} + 1});
    }
    ends = to_vector(ctx, taken(ctx, own.row_ptr.cspan(), make_array(ctx, ends).cspan()).cspan());
    auto end = ends.begin();
    for (const std::vector<Index>& nodes : asked) {
      std::vector<Offset>& of_rank = blocks.emplace_back();
      for (std::size_t i = 0; i < nodes.size(); ++i, end += 2) {
        for (Offset k = end[0]; k < end[1]; ++k) of_rank.push_back(k);
      }
      all.insert(all.end(), of_rank.begin(), of_rank.end());
    }
    const std::vector<Index> columns =
        to_vector(ctx, taken(ctx, own.col.cspan(), make_array(ctx, all).cspan()).cspan());
    end = ends.begin();
    auto column = columns.begin();
    for (const std::vector<Index>& nodes : asked) {
      std::vector<Index> lengths_and_columns;
      for (std::size_t i = 0; i < nodes.size(); ++i, end += 2) {
        const Offset length = end[1] - end[0];
        lengths_and_columns.push_back(static_cast<Index>(length));
        lengths_and_columns.insert(lengths_and_columns.end(), column, column + length);
        column += length;
      }
      texts.push_back(text_of_numbers(lengths_and_columns));
    }
  }
};

// What other ranks send of their rows, and the coarse nodes among their columns.
struct ComeRows {
  std::vector<Offset> lengths, blocks_of_rank;
  std::vector<Index> columns;  // numbers among `coarse_ghosts`
  std::vector<std::int64_t> coarse_ghosts;

  ComeRows(const std::vector<std::string>& texts, const std::vector<std::int64_t>& first_coarse) {
    for (std::size_t r = 0; r < texts.size(); ++r) {
      const std::vector<Index> come = numbers_of<Index>(texts[r]);
      const std::size_t before = columns.size();
      for (auto at = come.begin(); at != come.end();) {
        lengths.push_back(*at);
        const auto end = at + 1 + *at;
        columns.insert(columns.end(), at + 1, end);
        at = end;
      }
      blocks_of_rank.push_back(static_cast<Offset>(columns.size() - before));
      number(columns.begin() + static_cast<std::ptrdiff_t>(before), first_coarse[r], first_coarse[r + 1]);
    }
  }

 private:
  // Columns of one rank, counted from its first, become numbers among the ghosts.
  void number(std::vector<Index>::iterator begin, std::int64_t first, std::int64_t end) {
    if (begin == columns.end()) return;
    std::vector<Index> number_of(static_cast<std::size_t>(end - first), -1);
    for (auto at = begin; at != columns.end(); ++at) number_of[static_cast<std::size_t>(*at)] = 0;
    for (std::size_t j = 0; j < number_of.size(); ++j) {
      if (number_of[j] < 0) continue;
      number_of[j] = static_cast<Index>(coarse_ghosts.size());
      coarse_ghosts.push_back(first + static_cast<std::int64_t>(j));
    }
    for (auto at = begin; at != columns.end(); ++at) *at = number_of[static_cast<std::size_t>(*at)];
  }
};

}  // namespace

// The pattern of the ghosts' rows is appended to that of this rank's; their values follow at once.
template <Space S>
ColumnRows<S>::ColumnRows(const Context<S>& ctx, const GhostNodes& ghosts, const BlockCsr<S>& p,
                          const std::vector<std::int64_t>& first_coarse) {
  const AskedRows<S> asked(ctx, ghosts.asked(), p.pattern);
  ComeRows come(host_context(ctx).ranks()->communicator->all_to_all(asked.texts), first_coarse);
  coarse_ghosts_ = std::move(come.coarse_ghosts);
  const Offset own_blocks = p.pattern.blocks();
  std::vector<Offset> ends;
  for (const Offset length : come.lengths) ends.push_back((ends.empty() ? own_blocks : ends.back()) + length);
  for (Index& column : come.columns) column += p.pattern.cols;
  BlockPattern<S>& pattern = rows_.pattern;
  pattern.rows = p.pattern.rows + ghosts.count();
  pattern.cols = p.pattern.cols + static_cast<Index>(coarse_ghosts_.size());
  pattern.row_ptr = Array<Offset, S>(ctx, Offset{pattern.rows} + 1);
  pattern.col = Array<Index, S>(ctx, own_blocks + static_cast<Offset>(come.columns.size()));
  copy<Offset>(ctx, p.pattern.row_ptr.cspan(), pattern.row_ptr.span().subspan(0, p.pattern.row_ptr.size()));
  copy<Offset>(ctx, Span<const Offset, Space::host>(ends), last_of(pattern.row_ptr.span(), ghosts.count()));
  copy<Index>(ctx, p.pattern.col.cspan(), pattern.col.span().subspan(0, own_blocks));
  copy<Index>(ctx, Span<const Index, Space::host>(come.columns),
              last_of(pattern.col.span(), static_cast<std::int64_t>(come.columns.size())));
  rows_.val = Array<double, S>(ctx, pattern.blocks() * p.block_size());
  rows_.row_block = p.row_block;
  rows_.col_block = p.col_block;
  values_ = std::make_unique<ValueExchange<double, S>>(ctx, asked.blocks, come.blocks_of_rank,
                                                       static_cast<int>(p.block_size()));
  refresh(ctx, p);
}

template <Space S>
void ColumnRows<S>::refresh(const Context<S>& ctx, const BlockCsr<S>& p) {
  copy<double>(ctx, p.val.cspan(), rows_.val.span().subspan(0, p.val.size()));
  const Span<const double, S> come = values_->run(p.val.cspan());
  copy<double>(ctx, come, last_of(rows_.val.span(), come.size));
}

#define X(S)                                                                                                \
  template std::unique_ptr<ValueExchange<double, S>> GhostNodes::exchange<S>(const Context<S>&, int) const; \
  template class ColumnRows<S>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
