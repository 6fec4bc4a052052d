// SPDX-License-Identifier: Apache-2.0
// Values that ranks send to each other.
#include "distributed/rows/value_exchange.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace newel::detail {

int owner_of(const std::vector<std::int64_t>& first_rows, std::int64_t row) {
  return static_cast<int>(std::upper_bound(first_rows.begin(), first_rows.end(), row) - first_rows.begin()) - 1;
}

std::vector<Offset> in_order_of_ranks(const std::vector<std::vector<Offset>>& sent) {
  std::vector<Offset> all;
  for (const std::vector<Offset>& of_rank : sent) all.insert(all.end(), of_rank.begin(), of_rank.end());
  return all;
}

std::vector<Offset> values_of_blocks(std::vector<Offset> blocks, int width) {
  for (Offset& count : blocks) count *= width;
  return blocks;
}
std::vector<Offset> values_of_blocks(const std::vector<std::vector<Offset>>& blocks, int width) {
  std::vector<Offset> counts;
  for (const std::vector<Offset>& of_rank : blocks) counts.push_back(static_cast<Offset>(of_rank.size()));
  return values_of_blocks(std::move(counts), width);
}

template <class T>
MessageExchange<T>::MessageExchange(const Context<Space::host>& ctx, const std::vector<Offset>& sent,
                                    const std::vector<Offset>& received)
    : sent_(ctx, std::accumulate(sent.begin(), sent.end(), Offset{0})),
      received_(ctx, std::accumulate(received.begin(), received.end(), Offset{0})) {
  Communicator& ranks = *ctx.ranks()->communicator;
  std::vector<RankMessage> out, in;
  Offset from = 0, into = 0;
  for (int r = 0; r < ranks.size(); ++r) {
    const Offset to_send = sent[static_cast<std::size_t>(r)], to_receive = received[static_cast<std::size_t>(r)];
    if (r == ranks.rank()) {
      own_begin_ = from;
      own_count_ = to_send;
      own_place_ = into;
    } else {
      if (to_send > 0) out.push_back({r, sent_.data() + from, static_cast<std::size_t>(to_send) * sizeof(T)});
      if (to_receive > 0)
        in.push_back({r, received_.data() + into, static_cast<std::size_t>(to_receive) * sizeof(T)});
    }
    from += to_send;
    into += to_receive;
  }
  exchange_ = ranks.exchange(std::move(out), std::move(in));
}

template <class T>
Span<const T, Space::host> MessageExchange<T>::run() {
  exchange_->start();
  std::copy_n(sent_.begin() + own_begin_, own_count_, received_.begin() + own_place_);
  exchange_->finish();
  return received_.cspan();
}

template <class T, Space S>
ValueExchange<T, S>::ValueExchange(const Context<Space::host>& ctx, const std::vector<std::vector<Offset>>& sent,
                                   const std::vector<Offset>& received, int width)
    : width_(width),
      positions_(make_array(ctx, in_order_of_ranks(sent))),
      messages_(ctx, values_of_blocks(sent, width), values_of_blocks(received, width)) {}

template <class T, Space S>
Span<const T, Space::host> ValueExchange<T, S>::run(Span<const T, Space::host> values) {
  T* to = messages_.to_send().data;
  for (const Offset block : positions_) to = std::copy_n(values.data + block * width_, width_, to);
  return messages_.run();
}

template class MessageExchange<double>;
template class MessageExchange<float>;
template class ValueExchange<double>;
template class ValueExchange<float>;

}  // namespace newel::detail
