// SPDX-License-Identifier: Apache-2.0
// Patterns in other orders, and the levels of factors.
#include "precond/incomplete/factor_pattern.hpp"

#include <algorithm>
#include <numeric>

#include "core/csr/sorted_row.hpp"
#include "precond/incomplete/counted_rows.hpp"

namespace newel::detail {
namespace {

constexpr std::int64_t few_rows = 256;

std::vector<Index> inverse_of(const Context<Space::host>& ctx, const std::vector<Index>& order) {
  std::vector<Index> inverse(order.size());
  parallel_for(ctx, static_cast<Index>(order.size()), [&](Index i) { inverse[order[i]] = i; });
  return inverse;
}

// The rows old_of_new[i], renumbered.
Sparsity renumbered(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                    const std::vector<Index>& old_of_new) {
  const std::vector<Index> new_of_old = inverse_of(ctx, old_of_new);
  return counted_rows(
      ctx, a.rows, [&](Index i) { return a.row_begin(old_of_new[i] + 1) - a.row_begin(old_of_new[i]); },
      [&](Index i, Index* columns) {
        Index* end = columns;
        for (Offset k = a.row_begin(old_of_new[i]); k < a.row_begin(old_of_new[i] + 1); ++k) {
          *end++ = new_of_old[a.col[k]];
        }
        std::sort(columns, end);
      });
}

// The length of the longest chain of rows that each row waits for. A later row waits for i if L has an entry in
// column i, or U one in row i.
std::vector<Index> level_of_rows(const Triangles& parts) {
  const Index n = parts.lower.rows;
  std::vector<Index> level(static_cast<std::size_t>(n), 0);
  for (Index i = 0; i < n; ++i) {
    Index own = level[i];
    for (Offset k = parts.lower.row_ptr[i]; k < parts.lower.row_ptr[i + 1]; ++k) {
      own = std::max(own, level[parts.lower.col[k]] + 1);
    }
    level[i] = own;
    for (Offset k = parts.upper.row_ptr[i]; k < parts.upper.row_ptr[i + 1]; ++k) {
      Index& later = level[parts.upper.col[k]];
      later = std::max(later, own + 1);
    }
  }
  return level;
}

// Rows by levels, ascending within each.
std::vector<Index> sorted_by_level(const std::vector<Index>& level, std::vector<Index>& level_begin) {
  const Index levels = level.empty() ? 0 : *std::max_element(level.begin(), level.end()) + 1;
  level_begin.assign(static_cast<std::size_t>(levels) + 1, 0);
  for (const Index l : level) ++level_begin[l + 1];
  std::partial_sum(level_begin.begin(), level_begin.end(), level_begin.begin());
  std::vector<Index> next(level_begin.begin(), level_begin.end()), order(level.size());
  for (std::size_t i = 0; i < level.size(); ++i) order[next[level[i]]++] = static_cast<Index>(i);
  return order;
}

// Where A has (i, j), or else, if it is symmetric, (j, i).
Offset place_in(const Pattern<Space::host>& a, Index i, Index j, bool symmetric) {
  const Offset own = find_column<Offset>(a.col.data, a.row_begin(i), a.row_begin(i + 1), j);
  if (own >= 0 || !symmetric) return own;
  return find_column<Offset>(a.col.data, a.row_begin(j), a.row_begin(j + 1), i);
}

void find_sources(const Context<Space::host>& ctx, const Pattern<Space::host>& a, bool symmetric,
                  FactorPattern& made) {
  const Sparsity &lower = made.parts.lower, &upper = made.parts.upper;
  const Index n = lower.rows;
  const Offset of_diagonal = lower.nnz(), of_upper = of_diagonal + n;
  made.source = Array<Offset, Space::host>(ctx, symmetric ? of_upper : of_upper + upper.nnz());
  const auto find_row = [&](const Sparsity& part, Index i, Offset first) {
    for (Offset k = part.row_ptr[i]; k < part.row_ptr[i + 1]; ++k) {
      made.source[first + k] = place_in(a, made.old_of_new[i], made.old_of_new[part.col[k]], symmetric);
    }
  };
  const auto find = [&](Index i) {
    find_row(lower, i, 0);
    made.source[of_diagonal + i] = place_in(a, made.old_of_new[i], made.old_of_new[i], false);
    if (!symmetric) find_row(upper, i, of_upper);
  };
  parallel_for(ctx, n, find, few_rows);
}

}  // namespace

Sparsity in_order(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                  const std::vector<Index>& old_of_new) {
  return renumbered(ctx, a, old_of_new);
}

Sparsity with_transpose(const Context<Space::host>& ctx, const Sparsity& a) {
  const Sparsity t = transpose_of(ctx, a.view()).pattern;
  const auto row = [](const Sparsity& of, Index i) {
    return std::pair(of.col.data() + of.row_ptr[i], of.col.data() + of.row_ptr[i + 1]);
  };
  const auto length = [&](Index i) {
    const auto [x, x_end] = row(a, i);
    const auto [y, y_end] = row(t, i);
    Offset both = 0;
    for (const Index *p = x, *q = y; p < x_end && q < y_end;) {
      both += *p == *q ? 1 : 0;
      const bool step_p = *p <= *q, step_q = *q <= *p;
      p += step_p ? 1 : 0;
      q += step_q ? 1 : 0;
    }
    return (x_end - x) + (y_end - y) - both;
  };
  return counted_rows(ctx, a.rows, length, [&](Index i, Index* columns) {
    const auto [x, x_end] = row(a, i);
    const auto [y, y_end] = row(t, i);
    std::set_union(x, x_end, y, y_end, columns);
  });
}

FactorPattern by_levels(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                        const std::vector<Index>& old_of_new, const Triangles& parts, bool symmetric) {
  FactorPattern made;
  const std::vector<Index> by_level = sorted_by_level(level_of_rows(parts), made.level_begin);
  made.parts.lower = renumbered(ctx, parts.lower.view(), by_level);
  if (symmetric) {
    SourcedSparsity transposed = transpose_of(ctx, made.parts.lower.view());
    made.parts.upper = std::move(transposed.pattern);
    made.mirror = std::move(transposed.source);
  } else {
    made.parts.upper = renumbered(ctx, parts.upper.view(), by_level);
  }
  made.old_of_new.resize(by_level.size());
  parallel_for(ctx, static_cast<Index>(by_level.size()),
               [&](Index i) { made.old_of_new[i] = old_of_new[by_level[i]]; });
  find_sources(ctx, a, symmetric, made);
  return made;
}

}  // namespace newel::detail
