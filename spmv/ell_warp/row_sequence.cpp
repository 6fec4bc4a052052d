// SPDX-License-Identifier: Apache-2.0
// Long rows set apart, and a counting sort of row lengths for each window.
#include "spmv/ell_warp/row_sequence.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <newel/core/parallel.hpp>
#include "core/threads/per_thread.hpp"

namespace newel::detail {
namespace {

Offset length_of(const Pattern<Space::host>& a, Index row) { return a.row_begin(row + 1) - a.row_begin(row); }

// Sorts positions [begin, end) into `to`; `first` has room for a count of each length.
void sort_window(const Pattern<Space::host>& a, const RowSequence& given, Index begin, Index end,
                 std::vector<Index>& first, Index* to) {
  Offset longest = 0;
  for (Index p = begin; p < end; ++p) longest = std::max(longest, length_of(a, given.row_at(p)));
  std::fill(first.begin(), first.begin() + longest + 1, Index{0});
  for (Index p = begin; p < end; ++p) ++first[length_of(a, given.row_at(p))];
  Index place = begin;
  for (Offset length = longest; length >= 0; --length) place += std::exchange(first[length], place);
  for (Index p = begin; p < end; ++p) {
    const Index row = given.row_at(p);
    to[first[length_of(a, row)]++] = row;
  }
}

}  // namespace

RowSequence given_sequence(const Context<Space::host>& ctx, const Pattern<Space::host>& a, Offset longest_warp_row) {
  const auto shared_rows =
      parallel_count<Index>(ctx, a.rows, [&](Index i) { return length_of(a, i) > longest_warp_row; });
  RowSequence sequence;
  sequence.first = shared_rows;
  sequence.count = a.rows - shared_rows;
  if (shared_rows == 0) return sequence;

  sequence.shared_row = Array<Index, Space::host>(ctx, shared_rows);
  sequence.row_list = Array<Index, Space::host>(ctx, sequence.count);
  Index shared = 0, position = 0;
  for (Index i = 0; i < a.rows; ++i) {
    if (length_of(a, i) > longest_warp_row)
      sequence.shared_row[shared++] = i;
    else
      sequence.row_list[position++] = i;
  }
  if (sequence.shared_row[shared_rows - 1] == shared_rows - 1) sequence.row_list = {};
  return sequence;
}

RowSequence sorted_sequence(const Context<Space::host>& ctx, const Pattern<Space::host>& a, const RowSequence& given,
                            Index window) {
  RowSequence sorted;
  sorted.shared_row = make_array(ctx, given.shared_row.cspan());
  sorted.row_list = Array<Index, Space::host>(ctx, given.count);
  sorted.first = given.first;
  sorted.count = given.count;

  const Offset longest =
      parallel_max(ctx, given.count, Offset{0}, [&](Index p) { return length_of(a, given.row_at(p)); });
  PerThread<std::vector<Index>> counts(ctx);
  const Offset windows = (Offset{given.count} + window - 1) / window;
  parallel_tasks(ctx, windows, [&](Offset w, int member) {
    const auto begin = static_cast<Index>(w * window);
    const auto end = static_cast<Index>(std::min<Offset>(given.count, (w + 1) * window));
    sort_window(a, given, begin, end, counts.of(member, static_cast<std::size_t>(longest) + 1),
                sorted.row_list.data());
  });
  return sorted;
}

bool is_natural(const Context<Space::host>& ctx, const RowSequence& sequence) {
  const auto shared_rows = static_cast<Index>(sequence.shared_row.size());
  if (shared_rows > 0 && sequence.shared_row[shared_rows - 1] != shared_rows - 1) return false;
  return parallel_all(ctx, sequence.count, [&](Index p) { return sequence.row_at(p) == shared_rows + p; });
}

}  // namespace newel::detail
