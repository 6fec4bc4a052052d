// SPDX-License-Identifier: Apache-2.0
// Long rows set apart, and a counting sort of row lengths for each window.
#include <purlin/spmv/ell_warp/row_sequence.hpp>

#include <omp.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace purlin::detail {
namespace {

constexpr auto host = Space::host;

Offset length_of(const Pattern<host>& a, Index row) { return a.row_begin(row + 1) - a.row_begin(row); }

// Sorts positions [begin, end) into `to`; `first` has room for a count of each length.
void sort_window(const Pattern<host>& a, const RowSequence& given, Index begin, Index end, std::vector<Index>& first,
                 Index* to) {
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

RowSequence given_sequence(const Context<host>& ctx, const Pattern<host>& a, Offset longest_warp_row) {
  Index shared_rows = 0;
#pragma omp parallel for schedule(static) num_threads(ctx.threads()) reduction(+ : shared_rows)
  for (Index i = 0; i < a.rows; ++i) shared_rows += length_of(a, i) > longest_warp_row ? 1 : 0;
  RowSequence sequence;
  sequence.first = shared_rows;
  sequence.count = a.rows - shared_rows;
  if (shared_rows == 0) return sequence;

  sequence.shared_row = Array<Index, host>(ctx, shared_rows);
  sequence.row_list = Array<Index, host>(ctx, sequence.count);
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

RowSequence sorted_sequence(const Context<host>& ctx, const Pattern<host>& a, const RowSequence& given,
                            Index window) {
  RowSequence sorted;
  sorted.shared_row = make_array(ctx, given.shared_row.cspan());
  sorted.row_list = Array<Index, host>(ctx, given.count);
  sorted.first = given.first;
  sorted.count = given.count;

  Offset longest = 0;
#pragma omp parallel for schedule(static) num_threads(ctx.threads()) reduction(max : longest)
  for (Index p = 0; p < given.count; ++p) longest = std::max(longest, length_of(a, given.row_at(p)));
  std::vector<std::vector<Index>> counts(static_cast<std::size_t>(ctx.threads()));
  for (auto& first : counts) first.resize(static_cast<std::size_t>(longest) + 1);
  const Offset windows = (Offset{given.count} + window - 1) / window;
#pragma omp parallel for schedule(static) num_threads(ctx.threads())
  for (Offset w = 0; w < windows; ++w) {
    const auto begin = static_cast<Index>(w * window);
    const auto end = static_cast<Index>(std::min<Offset>(given.count, (w + 1) * window));
    sort_window(a, given, begin, end, counts[omp_get_thread_num()], sorted.row_list.data());
  }
  return sorted;
}

bool is_natural(const Context<host>& ctx, const RowSequence& sequence) {
  const auto shared_rows = static_cast<Index>(sequence.shared_row.size());
  if (shared_rows > 0 && sequence.shared_row[shared_rows - 1] != shared_rows - 1) return false;
  bool natural = true;
#pragma omp parallel for schedule(static) num_threads(ctx.threads()) reduction(&& : natural)
  for (Index p = 0; p < sequence.count; ++p) natural = natural && sequence.row_at(p) == shared_rows + p;
  return natural;
}

}  // namespace purlin::detail
