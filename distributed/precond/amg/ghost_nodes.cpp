// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other of their nodes.
#include "distributed/precond/amg/ghost_nodes.hpp"

#include <algorithm>
#include <utility>

#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
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
  std::vector<std::vector<Offset>> sent(asked_.size());
  std::vector<Offset> received;
  for (std::size_t r = 0; r < asked_.size(); ++r) {
    for (const Index node : asked_[r]) {
      for (int e = 0; e < width; ++e) sent[r].push_back(Offset{node} * width + e);
    }
    received.push_back(Offset{of_rank_[r]} * width);
  }
  return std::make_unique<ValueExchange<double, S>>(ctx, sent, received);
}

std::uint64_t GhostNodes::bytes() const {
  std::uint64_t bytes = numbers_.size() * sizeof(std::int64_t);
  for (const std::vector<Index>& of_rank : asked_) bytes += of_rank.size() * sizeof(Index);
  return bytes;
}

// A text has the length and the columns of each row that was asked for; its values follow at once.
template <Space S>
ColumnRows<S>::ColumnRows(const Context<S>& ctx, const GhostNodes& ghosts, const BlockCsr<S>& p,
                          const std::vector<std::int64_t>& first_coarse) {
  const HostContext& host = host_context(ctx);
  Communicator& ranks = *host.ranks()->communicator;
  const HostBlockPattern& own = on_host(ctx, p.pattern);
  const std::int64_t first = first_coarse[static_cast<std::size_t>(ranks.rank())];
  const Offset size = p.block_size();
  std::vector<std::string> texts;
  std::vector<std::vector<Offset>> sent(ghosts.asked().size());
  for (std::size_t r = 0; r < sent.size(); ++r) {
    std::vector<std::int64_t> lengths_and_columns;
    for (const Index node : ghosts.asked()[r]) {
      const Offset begin = own.row_ptr[node], end = own.row_ptr[node + 1];
      lengths_and_columns.push_back(end - begin);
      for (Offset k = begin; k < end; ++k) lengths_and_columns.push_back(first + own.col[k]);
      for (Offset v = begin * size; v < end * size; ++v) sent[r].push_back(v);
    }
    texts.push_back(text_of_numbers(lengths_and_columns));
  }
  std::vector<Offset> received, lengths;
  std::vector<std::int64_t> columns;
  for (const std::string& text : ranks.all_to_all(texts)) {
    const std::vector<std::int64_t> come = numbers_of<std::int64_t>(text);
    const std::size_t before = columns.size();
    for (auto at = come.begin(); at != come.end();) {
      lengths.push_back(*at);
      const auto end = at + 1 + *at;
      columns.insert(columns.end(), at + 1, end);
      at = end;
    }
    received.push_back(static_cast<Offset>(columns.size() - before) * size);
  }
  coarse_ghosts_ = columns;
  std::sort(coarse_ghosts_.begin(), coarse_ghosts_.end());
  coarse_ghosts_.erase(std::unique(coarse_ghosts_.begin(), coarse_ghosts_.end()), coarse_ghosts_.end());

  HostBlockPattern pattern;
  pattern.rows = own.rows + ghosts.count();
  pattern.cols = own.cols + static_cast<Index>(coarse_ghosts_.size());
  pattern.row_ptr = Array<Offset, Space::host>(host, Offset{pattern.rows} + 1);
  std::copy(own.row_ptr.begin(), own.row_ptr.end(), pattern.row_ptr.begin());
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    Offset* const row = pattern.row_ptr.begin() + own.rows + static_cast<std::ptrdiff_t>(i);
    row[1] = row[0] + lengths[i];
  }
  pattern.col = Array<Index, Space::host>(host, pattern.row_ptr[pattern.rows]);
  Index* const of_ghosts = std::copy(own.col.begin(), own.col.end(), pattern.col.begin());
  std::transform(columns.begin(), columns.end(), of_ghosts, [&](std::int64_t j) {
    const auto at = std::lower_bound(coarse_ghosts_.begin(), coarse_ghosts_.end(), j) - coarse_ghosts_.begin();
    return own.cols + static_cast<Index>(at);
  });
  rows_.val = Array<double, S>(ctx, pattern.blocks() * size);
  rows_.row_block = p.row_block;
  rows_.col_block = p.col_block;
  rows_.pattern = in_space(ctx, std::move(pattern));
  values_ = std::make_unique<ValueExchange<double, S>>(ctx, sent, received);
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
