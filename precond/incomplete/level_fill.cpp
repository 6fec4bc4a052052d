// SPDX-License-Identifier: Apache-2.0
// The fill of ILU(k), row by row.
#include <algorithm>

#include "core/memory/work_limit.hpp"
#include "core/threads/per_thread.hpp"
#include "precond/incomplete/counted_rows.hpp"
#include "precond/incomplete/factor_pattern.hpp"

namespace newel::detail {
namespace {

constexpr std::int64_t block_rows = 256;

// Marks of the vertices that a search has reached, and a list of those from which it continues.
struct Search {
  std::vector<Index> reached_from, front, next;
  explicit Search(Index n) : reached_from(static_cast<std::size_t>(n), -1) {}
};

// The columns above the diagonal of row i of the filled pattern: what up to level + 1 edges reach from i through
// vertices below i.
void search_row(const Sparsity& a, Index i, int level, Search& search, std::vector<Index>& columns) {
  columns.clear();
  search.front.assign(1, i);
  search.reached_from[i] = i;
  for (int edges = 0; edges <= level && !search.front.empty(); ++edges) {
    search.next.clear();
    for (const Index v : search.front) {
      for (Offset k = a.row_ptr[v]; k < a.row_ptr[v + 1]; ++k) {
        const Index j = a.col[k];
        if (search.reached_from[j] == i) continue;
        search.reached_from[j] = i;
        (j > i ? columns : search.next).push_back(j);
      }
    }
    search.front.swap(search.next);
  }
  std::sort(columns.begin(), columns.end());
}

// Blocks of rows keep what they have found until all lengths are known.
Sparsity upper_fill(const Context<Space::host>& ctx, const Sparsity& a, int level) {
  const std::int64_t blocks = (a.rows + block_rows - 1) / block_rows;
  std::vector<std::vector<Index>> found(static_cast<std::size_t>(blocks));
  std::vector<Offset> begin(static_cast<std::size_t>(a.rows) + 1);
  PerThread<Search> searches(ctx);
  PerThread<std::vector<Index>> columns(ctx);
  const WorkLimit& limit = work_limit(ctx);
  parallel_tasks(ctx, blocks, [&](std::int64_t block, int member) {
    Search& search = searches.of(member, a.rows);
    std::vector<Index>& row = columns.of(member);
    const Index end = static_cast<Index>(std::min<std::int64_t>(a.rows, (block + 1) * block_rows));
    for (Index i = static_cast<Index>(block * block_rows); i < end; ++i) {
      limit.check();
      search_row(a, i, level, search, row);
      begin[i] = static_cast<Offset>(found[block].size());
      found[block].insert(found[block].end(), row.begin(), row.end());
    }
  });
  const auto end_of = [&](Index i) {
    const std::vector<Index>& block = found[i / block_rows];
    return i + 1 == a.rows || (i + 1) % block_rows == 0 ? static_cast<Offset>(block.size()) : begin[i + 1];
  };
  return counted_rows(
      ctx, a.rows, [&](Index i) { return end_of(i) - begin[i]; },
      [&](Index i, Index* to) {
        const Index* const from = found[i / block_rows].data();
        std::copy(from + begin[i], from + end_of(i), to);
      });
}

}  // namespace

Triangles level_fill(const Context<Space::host>& ctx, const Sparsity& a, int level, bool symmetric) {
  Triangles made;
  made.upper = upper_fill(ctx, a, level);
  if (symmetric) {
    made.lower = transpose_of(ctx, made.upper.view()).pattern;
    return made;
  }
  // L's columns are the rows above the diagonal of the transpose.
  const Sparsity columns = upper_fill(ctx, transpose_of(ctx, a.view()).pattern, level);
  made.lower = transpose_of(ctx, columns.view()).pattern;
  return made;
}

}  // namespace newel::detail
