// SPDX-License-Identifier: Apache-2.0
// Patterns on near rows.
#include "distributed/precond/rank_sparsity.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/vectors/over_ranks.hpp"

namespace newel::detail {
namespace {

template <class T>
bool is_own(const NearRows<T>& near, Index i) {
  return i >= near.own_begin() && i < near.own_begin() + near.own_rows();
}

}  // namespace

template <class T>
Sparsity only_own(const Context<Space::host>& ctx, const NearRows<T>& near, const Sparsity& from, OtherRows others) {
  const Offset of_others = others == OtherRows::diagonal ? 1 : 0;
  Sparsity own;
  own.rows = own.cols = from.rows;
  own.row_ptr = Array<Offset, Space::host>(ctx, Offset{from.rows} + 1);
  own.row_ptr[0] = 0;
  for (Index i = 0; i < from.rows; ++i) {
    own.row_ptr[i + 1] = own.row_ptr[i] + (is_own(near, i) ? from.row_length(i) : of_others);
  }
  own.col = Array<Index, Space::host>(ctx, own.row_ptr[from.rows]);
  for (Index i = 0; i < from.rows; ++i) {
    Index* const into = own.col.begin() + own.row_ptr[i];
    if (is_own(near, i)) {
      std::copy_n(from.col.begin() + from.row_ptr[i], from.row_length(i), into);
    } else if (of_others > 0) {
      *into = i;
    }
  }
  return own;
}

template <class T>
Sparsity without_long_rows_on_ranks(const Context<Space::host>& ctx, const NearRows<T>& near, Sparsity own,
                                    Offset least, const EntryWorth& worth, Index* shortened) {
  const Index begin = near.own_begin(), end = begin + near.own_rows();
  auto entries = static_cast<double>(own.row_ptr[end] - own.row_ptr[begin]);
  sum_over_ranks(ctx, &entries, 1);
  const auto rows = std::min<std::int64_t>(all_rows(ctx, near.own_rows()), std::numeric_limits<Index>::max());
  const double mean = entries / static_cast<double>(std::max<std::int64_t>(rows, 1));
  const Offset most = most_of_row(least, mean, static_cast<Index>(rows));
  return without_long_rows(ctx, std::move(own), most, worth, shortened, [&](Index i) { return near.number(i); });
}

template <class T>
RankPattern in_whole(const NearRows<T>& near, Span<const Offset, Space::host> row_ptr,
                     Span<const Index, Space::host> col) {
  const Index begin = near.own_begin(), end = begin + near.own_rows();
  RankPattern pattern;
  for (Index i = begin; i < end; ++i) {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) pattern.col.push_back(near.number(col[k]));
    pattern.row_ptr.push_back(static_cast<Offset>(pattern.col.size()));
  }
  return pattern;
}

#define X(T)                                                                                                      \
  template Sparsity only_own(const Context<Space::host>&, const NearRows<T>&, const Sparsity&, OtherRows);        \
  template Sparsity without_long_rows_on_ranks(const Context<Space::host>&, const NearRows<T>&, Sparsity, Offset, \
                                               const EntryWorth&, Index*);                                        \
  template RankPattern in_whole(const NearRows<T>&, Span<const Offset, Space::host>, Span<const Index, Space::host>);
X(double)
X(float)
#undef X

}  // namespace newel::detail
