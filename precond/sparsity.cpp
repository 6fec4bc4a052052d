// SPDX-License-Identifier: Apache-2.0
// Patterns for approximate inverses: each is counted by rows, summed up, and filled by rows.
#include "precond/sparsity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include "core/memory/work_limit.hpp"
#include "core/threads/per_thread.hpp"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {
namespace {

// How a thread takes rows of very different lengths.
constexpr Index merged_rows = 1024;

// Calls f(i) for every row. f may throw.
template <class F>
void for_rows(const Context<Space::host>& ctx, Index rows, F&& f) {
  parallel_tasks(ctx, (std::int64_t{rows} + merged_rows - 1) / merged_rows, [&](std::int64_t chunk) {
    const std::int64_t end = std::min<std::int64_t>(rows, (chunk + 1) * merged_rows);
    for (std::int64_t i = chunk * merged_rows; i < end; ++i) f(static_cast<Index>(i));
  });
}

// A pattern with room for `length(i)` entries in row i.
template <class Length>
Sparsity with_capacity(const Context<Space::host>& ctx, Index rows, Index cols, Length&& length) {
  Sparsity result;
  result.rows = rows;
  result.cols = cols;
  result.row_ptr = Array<Offset, Space::host>(ctx, Offset{rows} + 1);
  result.row_ptr[rows] = 0;
  for_rows(ctx, rows, [&](Index i) { result.row_ptr[i] = length(i); });
  exclusive_sum(ctx, result.row_ptr);
  result.col = Array<Index, Space::host>(ctx, result.row_ptr[rows]);
  return result;
}

template <class View>
void require_square(const View& a) {
  if (a.rows == a.cols) return;
  throw InputError("an approximate inverse needs a square matrix, not " + std::to_string(a.rows) + " x " +
                   std::to_string(a.cols));
}

// The first entry of row i on or behind column j.
template <class View>
Offset first_from(const View& a, Index i, Index j) {
  const Index* begin = a.col.data + a.row_begin(i);
  return std::lower_bound(begin, a.col.data + a.row_begin(i + 1), j) - a.col.data;
}

template <class View>
bool has_entry(const View& a, Index i, Offset k, Index j) {
  return k < a.row_begin(i + 1) && a.col[k] == j;
}

// The marks of one thread: `seen[j] == stamp` where column j has been met in the row at hand.
struct Marks {
  std::vector<Index> seen;
  Index stamp = 0;
  std::vector<Index> columns;

  void begin_row(Index cols) {
    if (seen.empty()) seen.assign(static_cast<std::size_t>(cols), 0);
    ++stamp;
    columns.clear();
  }
  void add(Index j) {
    if (seen[j] == stamp) return;
    seen[j] = stamp;
    columns.push_back(j);
  }
};

// Row i of (I + |B|) (I + |A|), unsorted, of which the columns up to `last` are kept.
void product_row(const Pattern<Space::host>& b, const Pattern<Space::host>& a, Index i, Index last, Marks& marks) {
  marks.begin_row(a.cols);
  const auto add_row = [&](Index row) {
    if (row <= last) marks.add(row);
    for (Offset k = a.row_begin(row); k < a.row_begin(row + 1) && a.col[k] <= last; ++k) marks.add(a.col[k]);
  };
  add_row(i);
  for (Offset k = b.row_begin(i); k < b.row_begin(i + 1); ++k) add_row(b.col[k]);
}

// The pattern of (I + |B|) (I + |A|). Chunks of rows keep their columns until the row pointers are known, so that no
// row is formed twice.
Sparsity product_of(const Context<Space::host>& ctx, const Pattern<Space::host>& b, const Pattern<Space::host>& a,
                    Triangle triangle) {
  const std::int64_t chunks = (std::int64_t{a.rows} + merged_rows - 1) / merged_rows;
  std::vector<std::vector<Index>> columns(static_cast<std::size_t>(chunks));
  PerThread<Marks> marks(ctx);
  const WorkLimit& limit = work_limit(ctx);
  Array<Offset, Space::host> length(ctx, a.rows);
  const auto row_end = [&](std::int64_t chunk) {
    return static_cast<Index>(std::min<std::int64_t>(a.rows, (chunk + 1) * merged_rows));
  };
  parallel_tasks(ctx, chunks, [&](std::int64_t chunk, int member) {
    Marks& mine = marks.of(member);
    for (Index i = static_cast<Index>(chunk) * merged_rows; i < row_end(chunk); ++i) {
      limit.check();
      product_row(b, a, i, triangle == Triangle::lower ? i : a.cols - 1, mine);
      std::sort(mine.columns.begin(), mine.columns.end());
      length[i] = static_cast<Offset>(mine.columns.size());
      columns[chunk].insert(columns[chunk].end(), mine.columns.begin(), mine.columns.end());
    }
  });
  Sparsity result = with_capacity(ctx, a.rows, a.cols, [&](Index i) { return length[i]; });
  parallel_tasks(ctx, chunks, [&](std::int64_t chunk) {
    std::copy(columns[chunk].begin(), columns[chunk].end(),
              result.col.begin() + result.row_ptr[static_cast<Index>(chunk) * merged_rows]);
    columns[chunk] = {};
  });
  return result;
}

}  // namespace

Sparsity copy_of(const Context<Space::host>& ctx, const Pattern<Space::host>& a) {
  Sparsity result = with_capacity(ctx, a.rows, a.cols, [&](Index i) { return a.row_begin(i + 1) - a.row_begin(i); });
  for_rows(ctx, a.rows, [&](Index i) {
    std::copy(a.col.data + a.row_begin(i), a.col.data + a.row_begin(i + 1), result.col.begin() + result.row_ptr[i]);
  });
  return result;
}

template <class T>
Sparsity thresholded(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a, double drop) {
  require_square(a);
  Array<double, Space::host> scale(ctx, a.rows);
  for_rows(ctx, a.rows, [&](Index i) {
    const Offset k = first_from(a, i, i);
    scale[i] = has_entry(a, i, k, i) ? std::sqrt(std::fabs(static_cast<double>(a.val[k]))) : 0.0;
  });
  const auto kept = [&](Index i, Offset k) {
    const Index j = a.col[k];
    return i == j || std::fabs(static_cast<double>(a.val[k])) > drop * (scale[i] * scale[j]);
  };
  Sparsity result = with_capacity(ctx, a.rows, a.cols, [&](Index i) {
    Offset count = 0;
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) count += kept(i, k) ? 1 : 0;
    return count;
  });
  for_rows(ctx, a.rows, [&](Index i) {
    Offset at = result.row_ptr[i];
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      if (kept(i, k)) result.col[at++] = a.col[k];
    }
  });
  return result;
}

Sparsity power_of(const Context<Space::host>& ctx, const Pattern<Space::host>& a, int power, Triangle triangle) {
  require_square(a);
  if (power < 1) throw InputError("the power of a pattern must be at least 1, not " + std::to_string(power));
  // The identity as the first factor: an empty pattern, to which the product adds its diagonal.
  Sparsity result = with_capacity(ctx, a.rows, a.cols, [](Index) { return Offset{0}; });
  for (int k = 1; k <= power; ++k) {
    result = product_of(ctx, result.view(), a, k == power ? triangle : Triangle::whole);
  }
  return result;
}

SourcedSparsity lower_of(const Context<Space::host>& ctx, const Pattern<Space::host>& a) {
  require_square(a);
  SourcedSparsity result;
  result.pattern =
      with_capacity(ctx, a.rows, a.cols, [&](Index i) { return first_from(a, i, i) - a.row_begin(i) + 1; });
  result.source = Array<Offset, Space::host>(ctx, result.pattern.nnz());
  for_rows(ctx, a.rows, [&](Index i) {
    const Offset diagonal = first_from(a, i, i);
    Offset at = result.pattern.row_ptr[i];
    for (Offset k = a.row_begin(i); k < diagonal; ++k, ++at) {
      result.pattern.col[at] = a.col[k];
      result.source[at] = k;
    }
    result.pattern.col[at] = i;
    result.source[at] = has_entry(a, i, diagonal, i) ? diagonal : Offset{-1};
  });
  return result;
}

SourcedSparsity transpose_of(const Context<Space::host>& ctx, const Pattern<Space::host>& a) {
  // Ranges of rows of about equal work count their columns; the counts, summed in the order of the ranges, tell each
  // range where its entries go, and so rows ascend within a column whatever thread takes which range.
  const std::int64_t ranges = std::clamp<std::int64_t>(ctx.threads(), 1, std::max<Index>(a.rows, 1));
  const auto cut = [&](std::int64_t range) {
    if (range == ranges) return a.rows;
    const Offset entry = a.nnz() * range / ranges;
    Index low = 0, high = a.rows;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (a.row_begin(middle) < entry)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  std::vector<std::vector<Offset>> next(static_cast<std::size_t>(ranges));
  parallel_tasks(ctx, ranges, [&](std::int64_t range) {
    auto& counts = next[range];
    counts.assign(static_cast<std::size_t>(a.cols), 0);
    for (Offset k = a.row_begin(cut(range)); k < a.row_begin(cut(range + 1)); ++k) ++counts[a.col[k]];
  });
  SourcedSparsity result;
  result.pattern = with_capacity(ctx, a.cols, a.rows, [&](Index j) {
    Offset count = 0;
    for (const auto& counts : next) count += counts[j];
    return count;
  });
  for_rows(ctx, a.cols, [&](Index j) {
    Offset at = result.pattern.row_ptr[j];
    for (auto& counts : next) at += std::exchange(counts[j], at);
  });
  result.source = Array<Offset, Space::host>(ctx, a.nnz());
  parallel_tasks(ctx, ranges, [&](std::int64_t range) {
    auto& at = next[range];
    for (Index i = cut(range); i < cut(range + 1); ++i) {
      for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
        const Offset to = at[a.col[k]]++;
        result.pattern.col[to] = i;
        result.source[to] = k;
      }
    }
  });
  return result;
}

template Sparsity thresholded(const Context<Space::host>&, const CsrView<double, Space::host>&, double);
template Sparsity thresholded(const Context<Space::host>&, const CsrView<float, Space::host>&, double);

}  // namespace newel::detail
