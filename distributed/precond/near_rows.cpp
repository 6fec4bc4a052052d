// SPDX-License-Identifier: Apache-2.0
// Rows of other ranks, fetched step by step, and their values.
#include "distributed/precond/near_rows.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "core/vectors/over_ranks.hpp"
#include "distributed/rows/numbers_text.hpp"

namespace newel::detail {
namespace {

void ascending_once(std::vector<std::int64_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

template <class T>
NearRows<T>::NearRows(const Context<Space::host>& ctx, const std::vector<std::int64_t>& first_rows,
                      const RankRows<T>& own, int reach)
    : first_row_(detail::first_row(ctx)), own_rows_(static_cast<Index>(own.row_ptr.size - 1)) {
  std::vector<Ring> rings;
  const auto outside = [&](std::int64_t j) { return !is_own(j); };
  std::copy_if(own.col.begin(), own.col.end(), std::back_inserter(outside_), outside);
  ascending_once(outside_);
  std::vector<std::int64_t> wanted = outside_;
  for (int step = 0; step < reach; ++step) {
    rings.push_back(fetch(ctx, first_rows, own, std::move(wanted)));
    std::vector<std::int64_t> met, known;
    std::copy_if(rings.back().col.begin(), rings.back().col.end(), std::back_inserter(met), outside);
    ascending_once(met);
    wanted.clear();
    std::set_difference(met.begin(), met.end(), outside_.begin(), outside_.end(), std::back_inserter(wanted));
    std::merge(outside_.begin(), outside_.end(), wanted.begin(), wanted.end(), std::back_inserter(known));
    outside_ = std::move(known);
  }
  build(ctx, own, rings);
  for (Ring& ring : rings) exchanges_.push_back(std::move(ring.values));
  refresh(own.val);
}

// Each rank asks the others for rows, and then sends the patterns of those that it was asked for.
template <class T>
typename NearRows<T>::Ring NearRows<T>::fetch(const Context<Space::host>& ctx,
                                              const std::vector<std::int64_t>& first_rows, const RankRows<T>& own,
                                              std::vector<std::int64_t> wanted) const {
  Communicator& ranks = *ctx.ranks()->communicator;
  const auto size = static_cast<std::size_t>(ranks.size());
  std::vector<std::string> texts(size);
  auto begin = wanted.begin();
  for (std::size_t r = 0; r < size; ++r) {
    const auto end = std::lower_bound(begin, wanted.end(), first_rows[r + 1]);
    texts[r] = text_of_numbers(std::vector<std::int64_t>(begin, end));
    begin = end;
  }
  std::vector<std::vector<Offset>> sent(size);
  texts = ranks.all_to_all(texts);
  for (std::size_t r = 0; r < size; ++r) {
    std::vector<std::int64_t> lengths_and_columns;
    for (const std::int64_t row : numbers_of<std::int64_t>(texts[r])) {
      const Offset first = own.row_ptr[row - first_row_], last = own.row_ptr[row - first_row_ + 1];
      lengths_and_columns.push_back(last - first);
      for (Offset k = first; k < last; ++k) {
        lengths_and_columns.push_back(own.col[k]);
        sent[r].push_back(k);
      }
    }
    texts[r] = text_of_numbers(lengths_and_columns);
  }
  Ring ring;
  ring.rows = std::move(wanted);
  std::vector<Offset> received;
  for (const std::string& text : ranks.all_to_all(texts)) {
    const std::vector<std::int64_t> come = numbers_of<std::int64_t>(text);
    const std::size_t before = ring.col.size();
    for (auto at = come.begin(); at != come.end();) {
      const auto end = at + 1 + *at;
      ring.col.insert(ring.col.end(), at + 1, end);
      ring.row_ptr.push_back(static_cast<Offset>(ring.col.size()));
      at = end;
    }
    received.push_back(static_cast<Offset>(ring.col.size() - before));
  }
  ring.values = std::make_unique<ValueExchange<T>>(ctx, sent, received);
  return ring;
}

template <class T>
Index NearRows<T>::row_of(std::int64_t number) const {
  if (is_own(number)) return own_begin_ + static_cast<Index>(number - first_row_);
  const auto at = std::lower_bound(outside_.begin(), outside_.end(), number) - outside_.begin();
  return static_cast<Index>(at) + (number < first_row_ ? 0 : own_rows_);
}

template <class T>
void NearRows<T>::build(const Context<Space::host>& ctx, const RankRows<T>& own, const std::vector<Ring>& rings) {
  const auto total = static_cast<std::int64_t>(outside_.size()) + own_rows_;
  if (total >= std::numeric_limits<Index>::max()) {
    throw Error("the rows of a rank and those that they reach are " + std::to_string(total) + ", more than 2^31 - 2");
  }
  own_begin_ = static_cast<Index>(std::lower_bound(outside_.begin(), outside_.end(), first_row_) - outside_.begin());
  row_ptr_ = Array<Offset, Space::host>(ctx, total + 1);
  std::fill(row_ptr_.begin(), row_ptr_.end(), Offset{0});
  for (Index i = 0; i < own_rows_; ++i) row_ptr_[own_begin_ + i + 1] = own.row_ptr[i + 1] - own.row_ptr[i];
  for (const Ring& ring : rings) {
    for (std::size_t i = 0; i < ring.rows.size(); ++i) {
      row_ptr_[row_of(ring.rows[i]) + 1] = ring.row_ptr[i + 1] - ring.row_ptr[i];
    }
  }
  for (std::int64_t i = 0; i < total; ++i) row_ptr_[i + 1] += row_ptr_[i];
  col_ = Array<Index, Space::host>(ctx, row_ptr_[total]);
  val_ = Array<T, Space::host>(ctx, row_ptr_[total]);
  Offset at = row_ptr_[own_begin_];
  for (const std::int64_t j : own.col) col_[at++] = row_of(j);
  for (const Ring& ring : rings) {
    std::vector<Piece>& pieces = pieces_.emplace_back();
    for (std::size_t i = 0; i < ring.rows.size(); ++i) {
      const Offset into = row_ptr_[row_of(ring.rows[i])], from = ring.row_ptr[i], count = ring.row_ptr[i + 1] - from;
      for (Offset k = 0; k < count; ++k) col_[into + k] = row_of(ring.col[static_cast<std::size_t>(from + k)]);
      pieces.push_back({from, into, count});
    }
  }
}

template <class T>
void NearRows<T>::refresh(Span<const T, Space::host> own_values) {
  std::copy(own_values.begin(), own_values.end(), val_.begin() + row_ptr_[own_begin_]);
  for (std::size_t step = 0; step < exchanges_.size(); ++step) {
    const Span<const T, Space::host> come = exchanges_[step]->run(own_values);
    for (const Piece& piece : pieces_[step]) {
      std::copy_n(come.begin() + piece.from, piece.count, val_.begin() + piece.into);
    }
  }
}

template <class T>
CsrView<T, Space::host> NearRows<T>::view() const {
  return CsrView<T, Space::host>(rows(), rows(), row_ptr_.cspan(), col_.cspan(), val_.cspan());
}

template <class T>
std::uint64_t NearRows<T>::bytes() const {
  std::uint64_t total = row_ptr_.bytes() + col_.bytes() + val_.bytes() + outside_.size() * sizeof(std::int64_t);
  for (const auto& exchange : exchanges_) total += exchange->bytes();
  for (const auto& pieces : pieces_) total += pieces.size() * sizeof(Piece);
  return total;
}

template class NearRows<double>;
template class NearRows<float>;

}  // namespace newel::detail
