// SPDX-License-Identifier: Apache-2.0
// SPAI's local problems: thinned where dense rows would swell them, and measured.
#include "precond/spai/spai_layout.hpp"

#include <algorithm>
#include <vector>

#include <newel/core/parallel.hpp>
#include "core/memory/work_limit.hpp"

namespace newel::detail {
namespace {

constexpr Index rows_a_piece = 2048;

// Calls f(first, last, marks) for pieces of the rows; marks has a number per row, all below `first` when f begins.
template <class F>
void with_marks(const Context<Space::host>& ctx, Index n, F&& f) {
  const std::int64_t pieces = std::min<std::int64_t>((n + rows_a_piece - 1) / rows_a_piece, 8 * ctx.threads());
  parallel_tasks(ctx, pieces, [&](std::int64_t piece) {
    std::vector<Index> marks(static_cast<std::size_t>(n), -1);
    f(static_cast<Index>(n * piece / pieces), static_cast<Index>(n * (piece + 1) / pieces), marks);
  });
}

struct ProblemList {
  const Pattern<Space::host>& b;
  const SpaiLimits& limits;

  bool admitted(Index k) const { return b.row_begin(k + 1) - b.row_begin(k) <= limits.longest_row; }

  // The columns that problem j keeps, with the diagonal in any case.
  Index columns(const Sparsity& pattern, Index j) const {
    if (!admitted(j)) return 1;
    Index count = 0;
    for (Offset k = pattern.row_ptr[j]; k < pattern.row_ptr[j + 1]; ++k) {
      count += pattern.col[k] == j || admitted(pattern.col[k]) ? 1 : 0;
    }
    return count;
  }

  Index rows(const Sparsity& pattern, Index j, std::vector<Index>& marks) const {
    Index count = 0;
    for (Offset k = pattern.row_ptr[j]; k < pattern.row_ptr[j + 1]; ++k) {
      const Index i = pattern.col[k];
      if (!admitted(i)) continue;
      for (Offset e = b.row_begin(i); e < b.row_begin(i + 1); ++e) {
        Index& mark = marks[static_cast<std::size_t>(b.col[e])];
        count += mark != j ? 1 : 0;
        mark = j;
      }
    }
    return count;
  }
};

// Only what the problems keep.
Sparsity thinned(const Context<Space::host>& ctx, const ProblemList& problems, const Sparsity& from,
                 const std::vector<Index>& columns) {
  Sparsity to;
  to.rows = to.cols = from.rows;
  to.row_ptr = Array<Offset, Space::host>(ctx, Offset{from.rows} + 1);
  to.row_ptr[0] = 0;
  for (Index j = 0; j < from.rows; ++j) to.row_ptr[j + 1] = to.row_ptr[j] + columns[j];
  to.col = Array<Index, Space::host>(ctx, to.row_ptr[from.rows]);
  parallel_for(ctx, from.rows, [&](Index j) {
    Offset at = to.row_ptr[j];
    for (Offset k = from.row_ptr[j]; k < from.row_ptr[j + 1]; ++k) {
      const Index i = from.col[k];
      if (i == j || (columns[j] > 1 && problems.admitted(i))) to.col[at++] = i;
    }
  });
  return to;
}

}  // namespace

SpaiLimits spai_limits(double entries, Index rows) {
  constexpr double far_longer = 16, least = 1024;
  SpaiLimits limits;
  const double longest = std::max(least, far_longer * entries / std::max<Index>(rows, 1));
  limits.longest_row = std::min(limits.longest_row, static_cast<Offset>(longest));
  return limits;
}

SpaiLayout make_spai_layout(const Context<Space::host>& ctx, const Pattern<Space::host>& b, Sparsity pattern,
                            const SpaiLimits& limits) {
  const Index n = b.rows;
  const ProblemList problems{b, limits};
  SpaiLayout layout;
  layout.touched = Array<Index, Space::host>(ctx, n);
  std::vector<Index> columns(static_cast<std::size_t>(n));
  const WorkLimit& limit = work_limit(ctx);
  with_marks(ctx, n, [&](Index first, Index last, std::vector<Index>& marks) {
    for (Index j = first; j < last; ++j) {
      limit.check();
      columns[j] = problems.columns(pattern, j);
      layout.touched[j] = columns[j] > 1 ? problems.rows(pattern, j, marks) : 0;
      if (Offset{layout.touched[j]} * (columns[j] + 1) <= limits.most_values) continue;
      columns[j] = 1;
      layout.touched[j] = 0;
    }
  });
  for (Index j = 0; j < n; ++j) {
    layout.limited += columns[j] < pattern.row_length(j) ? 1 : 0;
    layout.most_rows = std::max(layout.most_rows, layout.touched[j]);
    layout.most_columns = std::max(layout.most_columns, columns[j]);
    layout.most_values = std::max(layout.most_values, Offset{layout.touched[j]} * (columns[j] + 1));
  }
  layout.pattern = layout.limited > 0 ? thinned(ctx, problems, pattern, columns) : std::move(pattern);
  return layout;
}

Sparsity diagonal_sparsity(const Context<Space::host>& ctx, Index n) {
  Sparsity d;
  d.rows = d.cols = n;
  d.row_ptr = Array<Offset, Space::host>(ctx, Offset{n} + 1);
  d.col = Array<Index, Space::host>(ctx, n);
  for (Index i = 0; i <= n; ++i) d.row_ptr[i] = i;
  for (Index i = 0; i < n; ++i) d.col[i] = i;
  return d;
}

SymmetricUnion symmetric_union(const Context<Space::host>& ctx, const Sparsity& pattern) {
  const SourcedSparsity transposed = transpose_of(ctx, pattern.view());
  const Sparsity& t = transposed.pattern;
  const Index n = pattern.rows;
  // Walks both rows in step: f(column, position in the pattern or -1, position in the transposed one or -1).
  const auto merge = [&](Index i, auto&& f) {
    Offset k = pattern.row_ptr[i], l = t.row_ptr[i];
    const Offset k_end = pattern.row_ptr[i + 1], l_end = t.row_ptr[i + 1];
    while (k < k_end || l < l_end) {
      const bool own = l == l_end || (k < k_end && pattern.col[k] <= t.col[l]);
      const bool other = k == k_end || (l < l_end && t.col[l] <= pattern.col[k]);
      f(own ? pattern.col[k] : t.col[l], own ? k : Offset{-1}, other ? l : Offset{-1});
      k += own ? 1 : 0;
      l += other ? 1 : 0;
    }
  };
  SymmetricUnion both;
  both.pattern.rows = both.pattern.cols = n;
  both.pattern.row_ptr = Array<Offset, Space::host>(ctx, Offset{n} + 1);
  both.pattern.row_ptr[0] = 0;
  parallel_for(ctx, n, [&](Index i) {
    Offset count = 0;
    merge(i, [&](Index, Offset, Offset) { ++count; });
    both.pattern.row_ptr[i + 1] = count;
  });
  for (Index i = 0; i < n; ++i) both.pattern.row_ptr[i + 1] += both.pattern.row_ptr[i];
  both.pattern.col = Array<Index, Space::host>(ctx, both.pattern.row_ptr[n]);
  both.own = Array<Offset, Space::host>(ctx, both.pattern.row_ptr[n]);
  both.mirrored = Array<Offset, Space::host>(ctx, both.pattern.row_ptr[n]);
  parallel_for(ctx, n, [&](Index i) {
    Offset at = both.pattern.row_ptr[i];
    merge(i, [&](Index j, Offset k, Offset l) {
      both.pattern.col[at] = j;
      both.own[at] = k;
      both.mirrored[at++] = l >= 0 ? transposed.source[l] : Offset{-1};
    });
  });
  return both;
}

}  // namespace newel::detail
