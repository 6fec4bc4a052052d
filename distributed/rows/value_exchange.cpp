// SPDX-License-Identifier: Apache-2.0
// Values that ranks send to each other.
#include "distributed/rows/value_exchange.hpp"

#include <algorithm>
#include <utility>

namespace newel::detail {

int owner_of(const std::vector<std::int64_t>& first_rows, std::int64_t row) {
  return static_cast<int>(std::upper_bound(first_rows.begin(), first_rows.end(), row) - first_rows.begin()) - 1;
}

template <class T, Space S>
ValueExchange<T, S>::ValueExchange(const Context<Space::host>& ctx, const std::vector<std::vector<Offset>>& sent,
                                   const std::vector<Offset>& received) {
  Communicator& ranks = *ctx.ranks()->communicator;
  std::vector<Offset> positions;
  for (const std::vector<Offset>& of_rank : sent) positions.insert(positions.end(), of_rank.begin(), of_rank.end());
  Offset total = 0;
  for (const Offset count : received) total += count;
  positions_ = make_array(ctx, positions);
  sent_ = Array<T, Space::host>(ctx, positions_.size());
  received_ = Array<T, Space::host>(ctx, total);
  std::vector<RankMessage> out, in;
  Offset from = 0, into = 0;
  for (int r = 0; r < ranks.size(); ++r) {
    const auto to_send = static_cast<Offset>(sent[static_cast<std::size_t>(r)].size());
    const Offset to_receive = received[static_cast<std::size_t>(r)];
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

template <class T, Space S>
Span<const T, Space::host> ValueExchange<T, S>::run(Span<const T, Space::host> values) {
  for (Offset k = 0; k < positions_.size(); ++k) sent_[k] = values[positions_[k]];
  exchange_->start();
  std::copy_n(sent_.begin() + own_begin_, own_count_, received_.begin() + own_place_);
  exchange_->finish();
  return received_.cspan();
}

template class ValueExchange<double>;
template class ValueExchange<float>;

}  // namespace newel::detail
