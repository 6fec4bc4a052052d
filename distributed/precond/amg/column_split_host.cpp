// SPDX-License-Identifier: Apache-2.0
// Entries of a level by their columns, on the host.
#include "distributed/precond/amg/column_split.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <newel/core/parallel.hpp>
#include "core/csr/sorted_row.hpp"

namespace newel::detail {
namespace {

// Entries first[i] .. end(i) - 1 of rows from `begin` on, with columns from `first_column` on.
template <class First, class End>
ScalarPattern<Space::host> part_of(const HostContext& ctx, const ScalarPattern<Space::host>& a, Index begin,
                                   Index rows, Index cols, Index first_column, First&& first, End&& end) {
  ScalarPattern<Space::host> part;
  part.rows = rows;
  part.cols = cols;
  part.row_ptr = Array<Offset, Space::host>(ctx, Offset{rows} + 1);
  part.row_ptr[0] = 0;
  for (Index i = 0; i < rows; ++i) part.row_ptr[i + 1] = part.row_ptr[i] + end(begin + i) - first(begin + i);
  part.col = Array<Index, Space::host>(ctx, part.row_ptr[rows]);
  part.source = Array<Offset, Space::host>(ctx, part.row_ptr[rows]);
  parallel_for(ctx, rows, [&](Index i) {
    Offset to = part.row_ptr[i];
    for (Offset k = first(begin + i); k < end(begin + i); ++k, ++to) {
      part.col[to] = a.col[k] - first_column;
      part.source[to] = a.source[k];
    }
  });
  return part;
}

}  // namespace

ColumnSplit<Space::host> split_columns(const HostContext& ctx, const ScalarPattern<Space::host>& a, Index own) {
  std::vector<Offset> middle(static_cast<std::size_t>(a.rows));
  parallel_for(ctx, a.rows,
               [&](Index i) { middle[i] = first_column_from(a.col.data(), a.row_ptr[i], a.row_ptr[i + 1], own); });
  const auto has_others = [&](Index i) { return middle[static_cast<std::size_t>(i)] < a.row_ptr[i + 1]; };
  ColumnSplit<Space::host> split;
  Index end = a.rows;
  while (split.others_begin < end && !has_others(split.others_begin)) ++split.others_begin;
  while (end > split.others_begin && !has_others(end - 1)) --end;
  const auto first = [&](Index i) { return a.row_ptr[i]; };
  const auto last = [&](Index i) { return a.row_ptr[i + 1]; };
  const auto between = [&](Index i) { return middle[static_cast<std::size_t>(i)]; };
  split.own = part_of(ctx, a, 0, a.rows, own, 0, first, between);
  split.others = part_of(ctx, a, split.others_begin, end - split.others_begin, a.cols - own, own, between, last);
  return split;
}

template <class V>
Array<V, Space::host> taken(const HostContext& ctx, Span<const V, Space::host> values,
                            Span<const Offset, Space::host> from) {
  Array<V, Space::host> to(ctx, from.size);
  parallel_for(ctx, from.size, [&](Offset k) { to[k] = values[from[k]]; });
  return to;
}

#define X(V)                                                                           \
  template Array<V, Space::host> taken(const HostContext&, Span<const V, Space::host>, \
                                       Span<const Offset, Space::host>);
X(Offset)
X(Index)
#undef X

}  // namespace newel::detail
