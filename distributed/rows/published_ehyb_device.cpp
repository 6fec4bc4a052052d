// SPDX-License-Identifier: Apache-2.0
// Where the rows of a rank's vectors are stored on other devices, and the products that wait for theirs.
#include "distributed/rows/published_ehyb.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/over_ranks.hpp"
#include "distributed/rows/halo.hpp"
#include "distributed/rows/numbers_text.hpp"

namespace newel::detail {
namespace {

// Bytes before the values, of the counters of all ranks.
std::size_t counter_bytes(int ranks) {
  constexpr std::size_t line = 256;
  return (static_cast<std::size_t>(ranks) * sizeof(std::uint64_t) + line - 1) / line * line;
}

// Of each rank: the place among its ghosts of the first row of this one.
std::vector<std::int64_t> first_places(Communicator& communicator, const std::vector<std::size_t>& received) {
  std::vector<std::string> texts;
  std::int64_t place = 0;
  for (const std::size_t count : received) {
    texts.push_back(text_of_numbers(std::vector<std::int64_t>{place}));
    place += static_cast<std::int64_t>(count);
  }
  std::vector<std::int64_t> first;
  for (const std::string& text : communicator.all_to_all(texts)) {
    first.push_back(numbers_of<std::int64_t>(text).front());
  }
  return first;
}

// Rows from `first` on, with the addresses to which each goes.
struct RowTargets {
  std::int64_t first;
  std::vector<Index> place;
  std::vector<std::uint64_t> target;

  // `to`: row and address.
  RowTargets(std::vector<std::pair<Index, std::uint64_t>> to, Index rows) {
    std::sort(to.begin(), to.end());
    first = to.empty() ? rows : to.front().first;
    place.assign(static_cast<std::size_t>(rows - first), -1);
    for (std::size_t k = 0; k < to.size(); ++k) {
      Index& of_row = place[static_cast<std::size_t>(to[k].first - first)];
      if (of_row < 0)
        of_row = static_cast<Index>(k);
      else
        target.back() |= 1;
      target.push_back(to[k].second);
    }
  }
};

}  // namespace

template <class T>
std::unique_ptr<PublishedEhyb<T>> PublishedEhyb<T>::make(const Context<Space::device>& ctx, const EhybView<T>& view,
                                                         Index first_part,
                                                         const std::vector<std::int64_t>& first_rows,
                                                         const std::vector<std::int64_t>& ghosts,
                                                         const std::vector<Index>& new_of_old) {
  const Ranks& ranks = *ranks_of(ctx);
  if (ranks.device->peer_sums() == nullptr) return nullptr;
  Communicator& communicator = *ranks.communicator;
  const std::size_t before = counter_bytes(communicator.size());
  std::unique_ptr<PublishedEhyb> made(new PublishedEhyb);
  made->ranks_ = ranks.device;
  made->shared_bytes_ = before + ghosts.size() * sizeof(T);
  made->shared_ = ranks.device->shared_memory(made->shared_bytes_);
  if (made->shared_.empty()) return nullptr;
  const auto counters = [&](std::size_t r) { return static_cast<std::uint64_t*>(made->shared_[r].get()); };
  const auto values = [&](std::size_t r) {
    return reinterpret_cast<T*>(static_cast<char*>(made->shared_[r].get()) + before);
  };

  const auto rank = static_cast<std::size_t>(communicator.rank());
  const RowsToSend asked = ask_for_rows(communicator, first_rows, ghosts, new_of_old);
  const std::vector<std::int64_t> first_place = first_places(communicator, asked.received);
  std::vector<std::pair<Index, std::uint64_t>> to;
  std::vector<std::uint64_t*> told_there;
  std::vector<const std::uint64_t*> told_here;
  for (std::size_t r = 0; r < asked.of_rank.size(); ++r) {
    T* at = values(r) + first_place[r];
    for (const Index row : asked.of_rank[r]) to.emplace_back(row, reinterpret_cast<std::uintptr_t>(at++));
    if (!asked.of_rank[r].empty()) told_there.push_back(counters(r) + rank);
    if (asked.received[r] > 0) told_here.push_back(counters(rank) + r);
  }
  const RowTargets targets(std::move(to), view.rows);
  made->place_ = make_array(ctx, targets.place);
  made->target_ = make_array(ctx, targets.target);
  made->rounds_ = make_array(ctx, std::vector<std::uint64_t>{0});
  made->told_there_ = make_array(ctx, told_there);
  made->told_here_ = make_array(ctx, told_here);
  made->rows_ = {targets.first, made->place_.data(), made->target_.data(), made->rounds_.data()};
  made->view_ = view;
  made->view_.beyond = values(rank);
  prepare_ehyb_arriving(ctx, made->view_);
  made->arriving_ = {
      first_part,
      {static_cast<int>(told_there.size()), made->told_there_.data(), static_cast<int>(told_here.size()),
       made->told_here_.data(), made->rounds_.data(), ranks.device->peer_sums()->failed}};
  return made;
}

template <class T>
void PublishedEhyb<T>::multiply(const Context<Space::device>& ctx, Span<const T, Space::device> x,
                                Span<T, Space::device> y, double* xy) const {
  ranks_->check();
  ehyb_product_arriving(ctx, view_, arriving_, {T(1), x.data, T(0), y.data, xy});
}

template class PublishedEhyb<double>;
template class PublishedEhyb<float>;

}  // namespace newel::detail
