// SPDX-License-Identifier: Apache-2.0
// Each rank sends its part to every other.
#include "distributed/rows/gathered_vector.hpp"

#include <utility>

#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"

namespace newel::detail {

template <class T, Space S>
GatheredVector<T, S>::GatheredVector(const Context<S>& ctx, const std::vector<std::int64_t>& first_rows)
    : all_(ctx, first_rows.back()) {
  const Communicator& ranks = *ranks_of(ctx)->communicator;
  const auto part = [&](int r) {
    const std::int64_t first = first_rows[static_cast<std::size_t>(r)];
    return all_.span().subspan(first, first_rows[static_cast<std::size_t>(r) + 1] - first);
  };
  own_ = part(ranks.rank());
  first_ = first_rows[static_cast<std::size_t>(ranks.rank())];
  const auto message = [](int r, Span<T, S> values) {
    return RankMessage{r, values.data, static_cast<std::size_t>(values.size) * sizeof(T)};
  };
  std::vector<RankMessage> out, in;
  for (int r = 0; r < ranks.size(); ++r) {
    if (r == ranks.rank()) continue;
    if (own_.size > 0) out.push_back(message(r, own_));
    if (part(r).size > 0) in.push_back(message(r, part(r)));
  }
  if (ranks.size() > 1) exchange_ = exchange_in(ctx, std::move(out), std::move(in));
}

template <class T, Space S>
Span<const T, S> GatheredVector<T, S>::gather() {
  if (exchange_ != nullptr) {
    exchange_->start();
    exchange_->finish();
  }
  return all_.span();
}

#define X(T, S) template class GatheredVector<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
