// SPDX-License-Identifier: Apache-2.0
// One thread a part: its outside columns are marked in a bitmap of the thread.
#include "reorder/partition_report.hpp"

#include <algorithm>

#include <newel/core/parallel.hpp>
#include "core/threads/per_thread.hpp"
#include "reorder/grouping.hpp"

namespace newel::detail {
namespace {

// Distinct columns. Cleared by walking over them again.
class ColumnSet {
 public:
  explicit ColumnSet(Index columns) : words_(static_cast<std::size_t>(columns) / 64 + 1, 0) {}
  bool insert(Index column) {
    std::uint64_t& word = words_[static_cast<std::size_t>(column) / 64];
    const std::uint64_t bit = std::uint64_t{1} << (column % 64);
    const bool fresh = (word & bit) == 0;
    word |= bit;
    return fresh;
  }
  void erase(Index column) { words_[static_cast<std::size_t>(column) / 64] = 0; }

 private:
  std::vector<std::uint64_t> words_;
};

Index halo_of_part(const Pattern<Space::host>& a, const std::vector<Index>& part_of_row, const Index* first,
                   const Index* last, Index part, ColumnSet& seen) {
  Index halo = 0;
  const auto for_outside = [&](auto&& f) {
    for (const Index* row = first; row != last; ++row) {
      for (Offset k = a.row_begin(*row); k < a.row_begin(*row + 1); ++k) {
        if (part_of_row[a.col[k]] != part) f(a.col[k]);
      }
    }
  };
  for_outside([&](Index column) { halo += seen.insert(column) ? 1 : 0; });
  for_outside([&](Index column) { seen.erase(column); });
  return halo;
}

}  // namespace

Offset count_cut(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                 const std::vector<Index>& part_of_row) {
  return parallel_count<Offset>(ctx, a.rows, [&](Index i) {
    Offset cut = 0;
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      cut += part_of_row[a.col[k]] != part_of_row[i] ? 1 : 0;
    }
    return cut;
  });
}

void measure(const Context<Space::host>& ctx, const Pattern<Space::host>& a, Partition& partition) {
  PartitionReport& report = partition.report;
  report.parts = partition.parts;
  report.cut = count_cut(ctx, a, partition.part_of_row);
  const Grouping rows = group(ctx, {partition.part_of_row.data(), a.rows}, partition.parts);
  PerThread<ColumnSet> seen(ctx);
  std::vector<Index> halo(static_cast<std::size_t>(partition.parts), 0);
  parallel_tasks(ctx, partition.parts, [&](Index p, int member) {
    halo[p] = halo_of_part(a, partition.part_of_row, rows.items.data() + rows.begin[p],
                           rows.items.data() + rows.begin[p + 1], p, seen.of(member, a.cols));
  });
  report.halo = 0;
  report.largest_part = report.largest_halo = report.fullest_part = 0;
  report.smallest_part = partition.parts > 0 ? a.rows : 0;
  for (Index p = 0; p < partition.parts; ++p) {
    const Index own = rows.begin[p + 1] - rows.begin[p];
    report.halo += halo[p];
    report.largest_part = std::max(report.largest_part, own);
    report.smallest_part = std::min(report.smallest_part, own);
    report.largest_halo = std::max(report.largest_halo, halo[p]);
    report.fullest_part = std::max(report.fullest_part, own + halo[p]);
  }
}

}  // namespace newel::detail
