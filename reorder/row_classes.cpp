// SPDX-License-Identifier: Apache-2.0
// Hash, bring together by hash, compare what has the same hash.
#include "reorder/row_classes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <newel/core/parallel.hpp>
#include "core/threads/per_thread.hpp"
#include "reorder/grouping.hpp"
#include "reorder/numbering.hpp"

namespace newel::detail {
namespace {

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

// The first row of every row's class. Rows whose hashes begin alike are brought together, and each such bucket is
// sorted by one thread.
Array<Index, Space::host> leaders(const Context<Space::host>& ctx, const Rows& rows, Index most_rows, RowHash hash) {
  constexpr Index rows_of_bucket = 1 << 11;
  constexpr int most_bucket_bits = 12;
  const Index n = rows.a.rows;
  int bits = 0;
  while (bits < most_bucket_bits && (n >> bits) > rows_of_bucket) ++bits;
  Array<std::uint64_t, Space::host> hashes(ctx, n);
  Array<Index, Space::host> bucket(ctx, n);
  parallel_for(ctx, n, [&](Index i) {
    hashes[i] = hash(rows.begin(i), rows.length(i));
    bucket[i] = bits == 0 ? 0 : static_cast<Index>(hashes[i] >> (64 - bits));
  });
  const Index buckets = Index{1} << bits;
  Grouping sorted = group(ctx, bucket.cspan(), buckets);
  Array<Index, Space::host> leader(ctx, n);
  PerThread<std::vector<std::pair<std::uint64_t, Index>>> by_hash(ctx);
  parallel_tasks(ctx, buckets, [&](Index b, int member) {
    Index* first = sorted.items.data() + sorted.begin[b];
    const Index* last = sorted.items.data() + sorted.begin[b + 1];
    // Hashes beside the rows: a comparison would otherwise read two of them from anywhere.
    std::vector<std::pair<std::uint64_t, Index>>& of_row = by_hash.of(member);
    of_row.clear();
    for (const Index* row = first; row != last; ++row) of_row.emplace_back(hashes[*row], *row);
    std::sort(of_row.begin(), of_row.end());
    for (std::size_t k = 0; k < of_row.size(); ++k) first[k] = of_row[k].second;
    for (std::size_t from = 0; from < of_row.size();) {
      std::size_t to = from + 1;
      while (to < of_row.size() && of_row[to].first == of_row[from].first) ++to;
      lead_run(rows, first + from, first + to, most_rows, leader);
      from = to;
    }
  });
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
  classes.first_row = number_groups(
      ctx, n, [&](Index i) { return leader[i]; }, classes.class_of_row);
  classes.count = static_cast<Index>(classes.first_row.size());
  classes.rows = Array<Index, Space::host>(ctx, classes.count);
  parallel_for(ctx, classes.count, [&](Index c) { classes.rows[c] = 1; });
  parallel_for(ctx, n, [&](Index i) {
    if (leader[i] == i) return;
    atomic_add(classes.rows[classes.class_of_row[i]], Index{1});
  });
  return classes;
}

}  // namespace newel::detail
