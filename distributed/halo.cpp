// SPDX-License-Identifier: Apache-2.0
// Who sends which values to whom.
#include "distributed/halo.hpp"

#include <algorithm>
#include <string>

#include <newel/core/vector_ops.hpp>
#include "distributed/numbers_text.hpp"

namespace newel::detail {

std::vector<std::int64_t> first_rows(Communicator& communicator, std::int64_t rows) {
  std::vector<std::int64_t> first = {0};
  for (const std::string& of_rank : communicator.texts(text_of_numbers(std::vector<std::int64_t>{rows}))) {
    first.push_back(first.back() + numbers_of<std::int64_t>(of_rank).front());
  }
  return first;
}

// Each rank tells every other which of its rows it needs.
template <class T>
Halo<T>::Halo(const Context<Space::host>& ctx, const std::vector<std::int64_t>& first_rows,
              const std::vector<std::int64_t>& ghosts, const std::vector<Index>& new_of_old, T* into) {
  Communicator& communicator = *ctx.ranks()->communicator;
  std::vector<std::string> wanted;
  std::vector<RankMessage> in, out;
  auto begin = ghosts.begin();
  for (int r = 0; r < communicator.size(); ++r) {
    const auto end = std::lower_bound(begin, ghosts.end(), first_rows[static_cast<std::size_t>(r) + 1]);
    std::vector<Index> rows;
    std::transform(begin, end, std::back_inserter(rows), [&](std::int64_t row) {
      return static_cast<Index>(row - first_rows[static_cast<std::size_t>(r)]);
    });
    if (!rows.empty()) in.push_back({r, into + (begin - ghosts.begin()), rows.size() * sizeof(T)});
    wanted.push_back(text_of_numbers(rows));
    begin = end;
  }
  std::vector<Index> sent_rows;
  std::vector<std::size_t> counts;
  for (const std::string& of_rank : communicator.all_to_all(wanted)) {
    const std::vector<Index> rows = numbers_of<Index>(of_rank);
    for (const Index row : rows) sent_rows.push_back(new_of_old[static_cast<std::size_t>(row)]);
    counts.push_back(rows.size());
  }
  sent_rows_ = make_array(ctx, sent_rows);
  sent_ = Array<T, Space::host>(ctx, sent_rows_.size());
  T* from = sent_.data();
  for (int r = 0; r < communicator.size(); ++r) {
    const std::size_t count = counts[static_cast<std::size_t>(r)];
    if (count > 0) out.push_back({r, from, count * sizeof(T)});
    from += count;
  }
  exchange_ = communicator.exchange(std::move(out), std::move(in));
}

template <class T>
void Halo<T>::start(const Context<Space::host>& ctx, Span<const T, Space::host> x) {
  gather<T, Space::host>(ctx, x, sent_rows_.cspan(), sent_.span());
  exchange_->start();
}

template class Halo<double>;
template class Halo<float>;

}  // namespace newel::detail
