// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other of their nodes.
#include "distributed/precond/amg/ghost_nodes.hpp"

#include <algorithm>
#include <utility>

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

std::unique_ptr<ValueExchange<double>> GhostNodes::exchange(const HostContext& ctx, int width) const {
  std::vector<std::vector<Offset>> sent(asked_.size());
  std::vector<Offset> received;
  for (std::size_t r = 0; r < asked_.size(); ++r) {
    for (const Index node : asked_[r]) {
      for (int e = 0; e < width; ++e) sent[r].push_back(Offset{node} * width + e);
    }
    received.push_back(Offset{of_rank_[r]} * width);
  }
  return std::make_unique<ValueExchange<double>>(ctx, sent, received);
}

void GhostNodes::fill(ValueExchange<double>& exchange, std::vector<double>& values) {
  const Span<const double, Space::host> come = exchange.run(values);
  std::copy(come.begin(), come.end(), values.end() - static_cast<std::ptrdiff_t>(come.size));
}

void GhostNodes::append(const HostContext& ctx, int width, std::vector<double>& values) const {
  values.resize(values.size() + numbers_.size() * static_cast<std::size_t>(width));
  fill(*exchange(ctx, width), values);
}

std::uint64_t GhostNodes::bytes() const {
  std::uint64_t bytes = numbers_.size() * sizeof(std::int64_t);
  for (const std::vector<Index>& of_rank : asked_) bytes += of_rank.size() * sizeof(Index);
  return bytes;
}

// A text has the length and the columns of each row that was asked for; its values follow at once.
ColumnRows::ColumnRows(const HostContext& ctx, const GhostNodes& ghosts, const HostBlockCsr& p,
                       const std::vector<std::int64_t>& first_coarse) {
  Communicator& ranks = *ctx.ranks()->communicator;
  const std::int64_t first = first_coarse[static_cast<std::size_t>(ranks.rank())];
  const Offset size = p.block_size();
  std::vector<std::string> texts;
  std::vector<std::vector<Offset>> sent(ghosts.asked().size());
  for (std::size_t r = 0; r < sent.size(); ++r) {
    std::vector<std::int64_t> lengths_and_columns;
    for (const Index node : ghosts.asked()[r]) {
      const Offset begin = p.pattern.row_ptr[node], end = p.pattern.row_ptr[node + 1];
      lengths_and_columns.push_back(end - begin);
      for (Offset k = begin; k < end; ++k) lengths_and_columns.push_back(first + p.pattern.col[k]);
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

  rows_.row_block = p.row_block;
  rows_.col_block = p.col_block;
  HostBlockPattern& pattern = rows_.pattern;
  pattern.rows = p.pattern.rows + ghosts.count();
  pattern.cols = p.pattern.cols + static_cast<Index>(coarse_ghosts_.size());
  pattern.row_ptr = Array<Offset, Space::host>(ctx, Offset{pattern.rows} + 1);
  std::copy(p.pattern.row_ptr.begin(), p.pattern.row_ptr.end(), pattern.row_ptr.begin());
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    Offset* const row = pattern.row_ptr.begin() + p.pattern.rows + static_cast<std::ptrdiff_t>(i);
    row[1] = row[0] + lengths[i];
  }
  pattern.col = Array<Index, Space::host>(ctx, pattern.row_ptr[pattern.rows]);
  Index* const of_ghosts = std::copy(p.pattern.col.begin(), p.pattern.col.end(), pattern.col.begin());
  std::transform(columns.begin(), columns.end(), of_ghosts, [&](std::int64_t j) {
    const auto at = std::lower_bound(coarse_ghosts_.begin(), coarse_ghosts_.end(), j) - coarse_ghosts_.begin();
    return p.pattern.cols + static_cast<Index>(at);
  });
  rows_.val = Array<double, Space::host>(ctx, pattern.blocks() * size);
  values_ = std::make_unique<ValueExchange<double>>(ctx, sent, received);
  refresh(p);
}

void ColumnRows::refresh(const HostBlockCsr& p) {
  double* const of_ghosts = std::copy(p.val.begin(), p.val.end(), rows_.val.begin());
  const Span<const double, Space::host> come = values_->run(p.val.cspan());
  std::copy(come.begin(), come.end(), of_ghosts);
}

}  // namespace newel::detail
