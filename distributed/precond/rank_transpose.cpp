// SPDX-License-Identifier: Apache-2.0
// Entries sent to the ranks of their columns.
#include "distributed/precond/rank_transpose.hpp"

#include <utility>

#include "core/vectors/over_ranks.hpp"
#include "distributed/rows/numbers_text.hpp"

namespace newel::detail {
namespace {

// Where entries of other ranks' rows belong here.
struct Places {
  std::vector<std::int64_t> row, col;  // of the transpose, in the whole matrix
};

}  // namespace

// What a rank sends is in the order of its rows, and ranks follow each other: the columns of a row ascend as they
// come.
template <class T>
RankTranspose<T>::RankTranspose(const Context<Space::host>& ctx, const std::vector<std::int64_t>& first_rows,
                                Span<const Offset, Space::host> row_ptr, Span<const std::int64_t, Space::host> col) {
  Communicator& ranks = *ctx.ranks()->communicator;
  const auto size = static_cast<std::size_t>(ranks.size()), self = static_cast<std::size_t>(ranks.rank());
  const std::int64_t first = first_row(ctx);
  const auto rows = static_cast<Index>(row_ptr.size - 1);
  std::vector<std::vector<Offset>> sent(size);
  std::vector<Places> places(size);
  for (Index i = 0; i < rows; ++i) {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      const auto owner = static_cast<std::size_t>(owner_of(first_rows, col[k]));
      sent[owner].push_back(k);
      places[owner].row.push_back(col[k]);
      places[owner].col.push_back(first + i);
    }
  }
  std::vector<std::string> row_texts(size), col_texts(size);
  for (std::size_t r = 0; r < size; ++r) {
    if (r == self) continue;
    row_texts[r] = text_of_numbers(std::exchange(places[r].row, {}));
    col_texts[r] = text_of_numbers(std::exchange(places[r].col, {}));
  }
  row_texts = ranks.all_to_all(row_texts);
  col_texts = ranks.all_to_all(col_texts);
  std::vector<Offset> received;
  pattern_.row_ptr.assign(static_cast<std::size_t>(rows) + 1, 0);
  for (std::size_t r = 0; r < size; ++r) {
    if (r != self) places[r] = {numbers_of<std::int64_t>(row_texts[r]), numbers_of<std::int64_t>(col_texts[r])};
    received.push_back(static_cast<Offset>(places[r].row.size()));
    for (const std::int64_t row : places[r].row) ++pattern_.row_ptr[static_cast<std::size_t>(row - first) + 1];
  }
  for (std::size_t i = 1; i < pattern_.row_ptr.size(); ++i) pattern_.row_ptr[i] += pattern_.row_ptr[i - 1];
  const Offset entries = pattern_.row_ptr.back();
  pattern_.col.resize(static_cast<std::size_t>(entries));
  place_ = Array<Offset, Space::host>(ctx, entries);
  std::vector<Offset> next(pattern_.row_ptr.begin(), pattern_.row_ptr.end() - 1);
  Offset k = 0;
  for (const Places& of_rank : places) {
    for (std::size_t e = 0; e < of_rank.row.size(); ++e) {
      const Offset at = next[static_cast<std::size_t>(of_rank.row[e] - first)]++;
      pattern_.col[static_cast<std::size_t>(at)] = of_rank.col[e];
      place_[k++] = at;
    }
  }
  exchange_ = std::make_unique<ValueExchange<T>>(ctx, sent, received);
}

template <class T>
void RankTranspose<T>::values(Span<const T, Space::host> of_rows, Span<T, Space::host> transposed) {
  const Span<const T, Space::host> come = exchange_->run(of_rows);
  for (Offset k = 0; k < come.size; ++k) transposed[place_[k]] = come[k];
}

template class RankTranspose<double>;
template class RankTranspose<float>;

}  // namespace newel::detail
