// SPDX-License-Identifier: Apache-2.0
// Assembly on the host: a counting sort by row whose threads take places as they come, then each row is sorted by
// column and by the position of its values. Positions differ, so that no result depends on the threads.
#include <algorithm>
#include <limits>
#include <numeric>

#include <newel/core/parallel.hpp>
#include "core/csr/input_entries.hpp"

namespace newel::detail {
namespace {

using HostContext = Context<Space::host>;

constexpr std::int64_t sorted_rows = 128;  // that a thread takes at a time

// f(k, line, index) for the items of [begin, end).
template <class F>
void for_each_item(const InputEntries& e, Offset begin, Offset end, F&& f) {
  std::int64_t line = e.compressed && begin < end ? e.line_of(begin) : 0;
  for (Offset k = begin; k < end; ++k) {
    if (e.compressed) {
      while (e.lines[line + 1] <= k) ++line;
    } else {
      line = e.lines[k];
    }
    f(k, line, e.indices[k]);
  }
}

// f(row, col, p) for all entries of the matrix, value p's, on all threads.
template <class F>
void for_each_entry(const HostContext& ctx, const InputEntries& e, F&& f) {
  parallel_ranges(ctx, e.items, [&](Offset begin, Offset end) {
    for_each_item(e, begin, end, [&](Offset k, std::int64_t line, std::int64_t index) {
      for (Offset p = k * e.per_block; p < (k + 1) * e.per_block; ++p) {
        const Place at = e.place(p, line, index);
        f(at.row, at.col, p);
        if (at.mirrored) f(at.col, at.row, p);
      }
    });
  });
}

struct Entry {
  Index col;
  Offset source;
};

bool stands_before(const Entry& a, const Entry& b) {
  return a.col < b.col || (a.col == b.col && a.source < b.source);
}

// Sorts the entries of a row and returns how many columns they have.
Offset sort_row(Entry* begin, Entry* end) {
  if (!std::is_sorted(begin, end, stands_before)) std::sort(begin, end, stands_before);
  Offset columns = begin != end ? 1 : 0;
  for (const Entry* entry = begin; entry + 1 < end; ++entry) columns += entry[0].col != entry[1].col ? 1 : 0;
  return columns;
}

// The entries of all rows as they are found, and where each row's begin, rows + 1.
Array<Entry, Space::host> entries_by_row(const HostContext& ctx, const InputEntries& e, std::vector<Offset>& first) {
  const auto rows = static_cast<std::size_t>(e.rows());
  first.assign(rows + 1, 0);
  for_each_entry(ctx, e, [&](Index row, Index, Offset) { atomic_add(first[row + 1], Offset{1}); });
  std::partial_sum(first.begin(), first.end(), first.begin());
  Array<Entry, Space::host> entries(ctx, first[rows]);
  std::vector<Offset> next(first.begin(), first.end() - 1);
  for_each_entry(ctx, e, [&](Index row, Index col, Offset p) {
    entries[atomic_add(next[row], Offset{1})] = {col, p};
  });
  return entries;
}

}  // namespace

std::int64_t first_bad_line(const HostContext& ctx, const InputEntries& e) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  const std::int64_t first = parallel_reduce(
      ctx, e.line_count(), none,
      [&](std::int64_t i, std::int64_t& least) {
        if (e.lines[i] < 0 || e.lines[i] > e.lines[i + 1] || e.lines[i + 1] > e.items) least = std::min(least, i);
      },
      [](std::int64_t& least, std::int64_t mine) { least = std::min(least, mine); });
  return first == none ? -1 : first;
}

Offset first_bad_item(const HostContext& ctx, const InputEntries& e) {
  const std::int64_t shares = share_count(ctx, e.items, light_items);
  std::vector<Offset> first(static_cast<std::size_t>(shares), -1);
  parallel_ranges(ctx, e.items, [&](Offset begin, Offset end, std::int64_t share) {
    Offset mine = -1;
    for_each_item(e, begin, end, [&](Offset k, std::int64_t line, std::int64_t index) {
      if (mine < 0 && e.fault(line, index) != EntryFault::none) mine = k;
    });
    first[static_cast<std::size_t>(share)] = mine;
  });
  const auto found = std::find_if(first.begin(), first.end(), [](Offset k) { return k >= 0; });
  return found == first.end() ? -1 : *found;
}

// The entries as they are found, their sources, and the row pointers.
std::uint64_t assembly_bytes(const HostContext&, const InputEntries& e) {
  return static_cast<std::uint64_t>(e.values()) * (sizeof(Entry) + sizeof(Offset)) +
         (static_cast<std::uint64_t>(e.rows()) + 1) * sizeof(Offset);
}

AssembledPattern<Space::host> assemble(const HostContext& ctx, const InputEntries& e) {
  const Index rows = e.rows();
  std::vector<Offset> first;
  Array<Entry, Space::host> entries = entries_by_row(ctx, e, first);

  AssembledPattern<Space::host> a;
  a.row_ptr = Array<Offset, Space::host>(ctx, Offset{rows} + 1);
  a.row_ptr[0] = 0;
  parallel_blocks(ctx, rows, sorted_rows, [&](Index i) {
    a.row_ptr[i + 1] = sort_row(entries.data() + first[i], entries.data() + first[i + 1]);
  });
  std::partial_sum(a.row_ptr.begin(), a.row_ptr.end(), a.row_ptr.begin());

  const Offset count = a.row_ptr[rows];
  a.col = Array<Index, Space::host>(ctx, count);
  a.begin = Array<Offset, Space::host>(ctx, count + 1);
  a.begin[count] = entries.size();
  a.source = Array<Offset, Space::host>(ctx, entries.size());
  parallel_blocks(ctx, rows, sorted_rows, [&](Index i) {
    Offset target = a.row_ptr[i];
    for (Offset k = first[i]; k < first[i + 1]; ++k) {
      a.source[k] = entries[k].source;
      if (k > first[i] && entries[k - 1].col == entries[k].col) continue;
      a.col[target] = entries[k].col;
      a.begin[target++] = k;
    }
  });
  return a;
}

}  // namespace newel::detail
