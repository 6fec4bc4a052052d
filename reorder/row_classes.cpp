// SPDX-License-Identifier: Apache-2.0
// Hash, sort by hash, compare what has the same hash.
#include <purlin/reorder/row_classes.hpp>

#include <algorithm>

#include <purlin/reorder/parallel_sort.hpp>

namespace purlin::detail {
namespace {

struct HashedRow {
  std::uint64_t hash;
  Index row;
};

struct Rows {
  const Pattern<Space::host>& a;

  const Index* begin(Index i) const { return a.col.data + a.row_begin(i); }
  const Index* end(Index i) const { return a.col.data + a.row_begin(i + 1); }
  Offset length(Index i) const { return a.row_begin(i + 1) - a.row_begin(i); }
  bool equal(Index i, Index j) const { return length(i) == length(j) && std::equal(begin(i), end(i), begin(j)); }
  bool less(Index i, Index j) const { return std::lexicographical_compare(begin(i), end(i), begin(j), end(j)); }
};

// Writes the leader of every row of one pattern, `most_rows` at a time.
void lead(const Rows& rows, const Index* first, const Index* last, Index most_rows,
          Array<Index, Space::host>& leader) {
  const Index together = rows.length(*first) == 0 ? 1 : most_rows;
  for (std::int64_t k = 0; k < last - first; ++k) leader[first[k]] = first[k - k % together];
}

// Rows of one hash, ascending. Where their patterns differ, sorting brings equal ones together.
void lead_run(const Rows& rows, Index* first, Index* last, Index most_rows, Array<Index, Space::host>& leader) {
  const bool same = std::all_of(first + 1, last, [&](Index row) { return rows.equal(*first, row); });
  if (same) return lead(rows, first, last, most_rows, leader);
  std::sort(first, last, [&](Index i, Index j) {
    if (rows.less(i, j)) return true;
    return !rows.less(j, i) && i < j;
  });
  for (Index* from = first; from != last;) {
    Index* to = from + 1;
    while (to != last && rows.equal(*from, *to)) ++to;
    lead(rows, from, to, most_rows, leader);
    from = to;
  }
}

// The first row of every row's class.
Array<Index, Space::host> leaders(const Context<Space::host>& ctx, const Rows& rows, Index most_rows, RowHash hash) {
  const Index n = rows.a.rows;
  Array<HashedRow, Space::host> sorted(ctx, n);
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
  for (Index i = 0; i < n; ++i) sorted[i] = {hash(rows.begin(i), rows.length(i)), i};
  parallel_sort(ctx, sorted, [](const HashedRow& x, const HashedRow& y) {
    return x.hash != y.hash ? x.hash < y.hash : x.row < y.row;
  });
  Array<Index, Space::host> row(ctx, n);
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
  for (Index i = 0; i < n; ++i) row[i] = sorted[i].row;
  Array<Index, Space::host> leader(ctx, n);
  // Whoever meets the first row of a run of equal hashes does the whole run.
#pragma omp parallel for num_threads(ctx.threads()) schedule(dynamic, 1024)
  for (Index i = 0; i < n; ++i) {
    if (i > 0 && sorted[i - 1].hash == sorted[i].hash) continue;
    Index end = i + 1;
    while (end < n && sorted[end].hash == sorted[i].hash) ++end;
    lead_run(rows, row.data() + i, row.data() + end, most_rows, leader);
  }
  return leader;
}

}  // namespace

std::uint64_t hash_of_columns(const Index* columns, Offset count) {
  std::uint64_t h = 0x9e3779b97f4a7c15u ^ static_cast<std::uint64_t>(count);
  for (Offset k = 0; k < count; ++k) {
    h = (h ^ static_cast<std::uint32_t>(columns[k])) * 0xbf58476d1ce4e5b9u;
    h ^= h >> 29;
  }
  return h;
}

RowClasses find_row_classes(const Context<Space::host>& ctx, const Pattern<Space::host>& a, Index most_rows,
                            RowHash hash) {
  const Index n = a.rows;
  const Array<Index, Space::host> leader = leaders(ctx, Rows{a}, std::max<Index>(most_rows, 1), hash);
  RowClasses classes;
  classes.class_of_row = Array<Index, Space::host>(ctx, n);
  // A leader stands before its followers, so one pass numbers all.
  for (Index i = 0; i < n; ++i) {
    classes.class_of_row[i] = leader[i] == i ? classes.count++ : classes.class_of_row[leader[i]];
  }
  classes.first_row = Array<Index, Space::host>(ctx, classes.count);
  classes.rows = Array<Index, Space::host>(ctx, classes.count);
  std::fill(classes.rows.begin(), classes.rows.end(), 0);
  for (Index i = 0; i < n; ++i) {
    const Index c = classes.class_of_row[i];
    if (classes.rows[c]++ == 0) classes.first_row[c] = i;
  }
  return classes;
}

}  // namespace purlin::detail
