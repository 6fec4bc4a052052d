// SPDX-License-Identifier: Apache-2.0
// Who sends which values to whom.
#include "distributed/rows/halo.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/ranks/device_ranks.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/rows/numbers_text.hpp"

namespace newel::detail {
namespace {

// counts[r] values for or from rank r, one rank after the other.
template <class T>
std::vector<RankMessage> messages(T* values, const std::vector<std::size_t>& counts) {
  std::vector<RankMessage> made;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    if (counts[r] > 0) made.push_back({static_cast<int>(r), values, counts[r] * sizeof(T)});
    values += counts[r];
  }
  return made;
}

}  // namespace

template <Space S>
std::unique_ptr<RankExchange> exchange_in(const Context<S>& ctx, std::vector<RankMessage> out,
                                          std::vector<RankMessage> in) {
  const Ranks& ranks = *ranks_of(ctx);
  if constexpr (S == Space::device) return ranks.device->exchange(std::move(out), std::move(in), ctx.stream());
  return ranks.communicator->exchange(std::move(out), std::move(in));
}

std::vector<std::int64_t> first_rows(Communicator& communicator, std::int64_t rows) {
  std::vector<std::int64_t> first = {0};
  for (const std::string& of_rank : communicator.texts(text_of_numbers(std::vector<std::int64_t>{rows}))) {
    first.push_back(first.back() + numbers_of<std::int64_t>(of_rank).front());
  }
  return first;
}

template <class T, Space S>
ExchangedValues<T, S>::ExchangedValues(const Context<S>& ctx, std::int64_t size) : size_(size) {
  if constexpr (S == Space::device) {
    memory_ = ranks_of(ctx)->device->memory(static_cast<std::size_t>(size) * sizeof(T));
  } else {
    const auto array = std::make_shared<Array<T, S>>(ctx, size);
    memory_ = std::shared_ptr<void>(array, array->data());
  }
}

RowsToSend ask_for_rows(Communicator& communicator, const std::vector<std::int64_t>& first_rows,
                       const std::vector<std::int64_t>& ghosts, const std::vector<Index>& new_of_old) {
  RowsToSend asked;
  std::vector<std::string> wanted;
  auto begin = ghosts.begin();
  for (int r = 0; r < communicator.size(); ++r) {
    const auto end = std::lower_bound(begin, ghosts.end(), first_rows[static_cast<std::size_t>(r) + 1]);
    std::vector<Index> rows;
    std::transform(begin, end, std::back_inserter(rows), [&](std::int64_t row) {
      return static_cast<Index>(row - first_rows[static_cast<std::size_t>(r)]);
    });
    asked.received.push_back(rows.size());
    wanted.push_back(text_of_numbers(rows));
    begin = end;
  }
  for (const std::string& of_rank : communicator.all_to_all(wanted)) {
    std::vector<Index> rows = numbers_of<Index>(of_rank);
    for (Index& row : rows) row = new_of_old[static_cast<std::size_t>(row)];
    asked.of_rank.push_back(std::move(rows));
  }
  return asked;
}

// Each rank tells every other which of its rows it needs.
template <class T, Space S>
Halo<T, S>::Halo(const Context<S>& ctx, const std::vector<std::int64_t>& first_rows, const std::vector<Index>& read,
                 const std::vector<std::int64_t>& ghosts, const std::vector<Index>& new_of_old) {
  const RowsToSend asked = ask_for_rows(*ranks_of(ctx)->communicator, first_rows, ghosts, new_of_old);
  std::vector<Index> rows;
  std::vector<std::size_t> sent;
  for (const std::vector<Index>& of_rank : asked.of_rank) {
    rows.insert(rows.end(), of_rank.begin(), of_rank.end());
    sent.push_back(of_rank.size());
  }
  sent_ = static_cast<std::int64_t>(rows.size());
  rows.insert(rows.end(), read.begin(), read.end());
  rows_ = make_array(ctx, rows);
  values_ = ExchangedValues<T, S>(ctx, rows_.size() + static_cast<std::int64_t>(ghosts.size()));
  T* const all = values_.span().data;
  exchange_ = exchange_in(ctx, messages(all, sent), messages(all + rows_.size(), asked.received));
}

template <class T, Space S>
void Halo<T, S>::start(const Context<S>& ctx, Span<const T, S> x) {
  gather<T, S>(ctx, x, rows_.cspan(), values_.span().subspan(0, rows_.size()));
  exchange_->start();
}

#define X(T, S)                         \
  template class ExchangedValues<T, S>; \
  template class Halo<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X
#define X(S)                                                                                      \
  template std::unique_ptr<RankExchange> exchange_in(const Context<S>&, std::vector<RankMessage>, \
                                                     std::vector<RankMessage>);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
