// SPDX-License-Identifier: Apache-2.0
// Powers of two for rows and columns on the host's threads.
#include <algorithm>
#include <utility>
#include <vector>

#include <newel/core/parallel.hpp>
#include "core/vectors/instantiate.hpp"
#include "reorder/scaling/scale_powers.hpp"

namespace newel::detail {
namespace {

constexpr Space host = Space::host;
using HostContext = Context<host>;
using Powers = ScalePowers<host>;

// Visits column and exponent of the entries of row i.
template <class RowPtr, class T, class Visit>
void each_exponent(const RowPtr& row_ptr, const CsrView<T, host>& a, Index i, const Visit& visit) {
  for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
    const std::int32_t exponent = exponent_of(a.val[k]);
    if (exponent != no_exponent) visit(a.col[k], exponent);
  }
}

template <class RowPtr, class T>
void scale_rows(const HostContext& ctx, const RowPtr& row_ptr, const CsrView<T, host>& a, Powers& powers) {
  parallel_for(ctx, a.rows, [&](Index i) {
    std::int32_t most = no_exponent;
    each_exponent(row_ptr, a, i, [&](Index j, std::int32_t e) { most = std::max(most, e + powers.column[j]); });
    if (most != no_exponent) powers.row[i] = -most;
  });
}

// The greatest of each column does not depend on the order in which threads find it.
template <class RowPtr, class T>
void scale_columns(const HostContext& ctx, const RowPtr& row_ptr, const CsrView<T, host>& a, Powers& powers) {
  using Most = std::vector<std::int32_t>;
  const auto of_row = [&](Index i, Most& most) {
    if (most.empty()) most.assign(static_cast<std::size_t>(a.cols), no_exponent);
    each_exponent(row_ptr, a, i, [&](Index j, std::int32_t e) {
      std::int32_t& there = most[static_cast<std::size_t>(j)];
      there = std::max(there, e + powers.row[i]);
    });
  };
  const auto join = [](Most& total, const Most& mine) {
    if (total.empty()) total = mine;
    for (std::size_t j = 0; j < mine.size(); ++j) total[j] = std::max(total[j], mine[j]);
  };
  const Most most = parallel_reduce(ctx, a.rows, Most{}, of_row, join);
  if (most.empty()) return;
  parallel_for(ctx, a.cols, [&](Index j) {
    const std::int32_t found = most[static_cast<std::size_t>(j)];
    if (found != no_exponent) powers.column[j] = -found;
  });
}

// Sizes of entries in parts of a bit, by rows or by columns.
struct EntryLines {
  std::vector<Offset> begin;
  Array<Index, host> other;         // the column of an entry in a row, the row of one in a column
  Array<std::int32_t, host> parts;  // of a bit

  EntryLines(const HostContext& ctx, std::vector<Offset> of_line)
      : begin(std::move(of_line)), other(ctx, begin.back()), parts(ctx, begin.back()) {}
  static std::size_t at(std::int64_t line) { return static_cast<std::size_t>(line); }

  // The mean of f(other, parts) over a line with entries.
  template <class F>
  std::int64_t mean(Index line, const F& f) const {
    std::int64_t sum = 0;
    for (Offset k = begin[at(line)]; k < begin[at(line) + 1]; ++k) sum += f(other[k], parts[k]);
    return sum / (begin[at(line) + 1] - begin[at(line)]);
  }
  bool empty(Index line) const { return begin[at(line)] == begin[at(line) + 1]; }
};

template <class RowPtr, class T>
EntryLines rows_of(const HostContext& ctx, const RowPtr& row_ptr, const CsrView<T, host>& a) {
  std::vector<Offset> begin(EntryLines::at(a.rows) + 1, 0);
  parallel_for(ctx, a.rows, [&](Index i) {
    each_exponent(row_ptr, a, i, [&](Index, std::int32_t) { ++begin[EntryLines::at(i) + 1]; });
  });
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  EntryLines rows(ctx, std::move(begin));
  parallel_for(ctx, a.rows, [&](Index i) {
    Offset k = rows.begin[EntryLines::at(i)];
    each_exponent(row_ptr, a, i, [&](Index j, std::int32_t e) {
      rows.other[k] = j;
      rows.parts[k++] = e * parts_of_bit;
    });
  });
  return rows;
}

EntryLines columns_of(const HostContext& ctx, const EntryLines& rows, Index n) {
  std::vector<Offset> begin(EntryLines::at(n) + 1, 0);
  for (std::int64_t k = 0; k < rows.other.size(); ++k) ++begin[EntryLines::at(rows.other[k]) + 1];
  for (std::size_t j = 1; j < begin.size(); ++j) begin[j] += begin[j - 1];
  std::vector<Offset> next(begin.begin(), begin.end() - 1);
  EntryLines columns(ctx, std::move(begin));
  for (std::size_t i = 0; i + 1 < rows.begin.size(); ++i) {
    for (Offset k = rows.begin[i]; k < rows.begin[i + 1]; ++k) {
      const Offset place = next[EntryLines::at(rows.other[k])]++;
      columns.other[place] = static_cast<Index>(i);
      columns.parts[place] = rows.parts[k];
    }
  }
  return columns;
}

// The power of each column, such that the sizes of the scaled entries have mean 0 in nearly all rows and columns.
template <class RowPtr, class T>
void scale_columns_by_means(const HostContext& ctx, const RowPtr& row_ptr, const CsrView<T, host>& a,
                            Powers& powers) {
  const EntryLines rows = rows_of(ctx, row_ptr, a), columns = columns_of(ctx, rows, a.cols);
  Array<std::int64_t, host> of_row(ctx, a.rows), now(ctx, a.cols), before(ctx, a.cols);
  parallel_for(ctx, a.cols, [&](Index j) { now[j] = before[j] = std::int64_t{powers.column[j]} * parts_of_bit; });
  MeanStep step;
  for (int k = 0; k < mean_steps; ++k, step = step.next()) {
    parallel_for(ctx, a.rows, [&](Index i) {
      if (!rows.empty(i)) of_row[i] = rows.mean(i, [&](Index j, std::int32_t parts) { return parts + now[j]; });
    });
    parallel_for(ctx, a.cols, [&](Index j) {
      if (columns.empty(j)) return;
      const std::int64_t mean = columns.mean(j, [&](Index i, std::int32_t parts) { return of_row[i] - parts; });
      const std::int64_t next = step(mean, now[j], before[j]);
      before[j] = now[j];
      now[j] = next;
    });
  }
  parallel_for(ctx, a.cols, [&](Index j) { powers.column[j] = whole_bits(static_cast<std::int32_t>(now[j])); });
}

// Of a matrix with the powers that it has, each row's largest entry goes half of the way to 1.
template <class RowPtr, class T>
void scale_symmetrically(const HostContext& ctx, const RowPtr& row_ptr, const CsrView<T, host>& a, Powers& powers) {
  Array<std::int32_t, host> now(ctx, a.rows), next(ctx, a.rows);
  parallel_for(ctx, a.rows, [&](Index i) { now[i] = powers.row[i] * parts_of_bit; });
  for (int step = 0; step < ruiz_steps; ++step) {
    parallel_for(ctx, a.rows, [&](Index i) {
      std::int32_t most = no_exponent;
      each_exponent(row_ptr, a, i,
                    [&](Index j, std::int32_t e) { most = std::max(most, e * parts_of_bit + now[i] + now[j]); });
      next[i] = most == no_exponent ? now[i] : now[i] - most / 2;
    });
    std::swap(now, next);
  }
  parallel_for(ctx, a.rows, [&](Index i) { powers.row[i] = powers.column[i] = whole_bits(now[i]); });
}

}  // namespace

template <class T>
void equilibrate(const HostContext& ctx, const CsrView<T, host>& a, Equilibration how, Powers& powers) {
  with_row_ptr(a, [&](const auto& row_ptr) {
    if (how == Equilibration::symmetric) return scale_symmetrically(ctx, row_ptr, a, powers);
    if (how == Equilibration::means) scale_columns_by_means(ctx, row_ptr, a, powers);
    scale_rows(ctx, row_ptr, a, powers);
    if (how != Equilibration::rows) scale_columns(ctx, row_ptr, a, powers);
  });
}

void add_powers(const HostContext& ctx, const Powers& more, Powers& powers) {
  parallel_for(ctx, powers.row.size(), [&](std::int64_t i) { powers.row[i] += more.row[i]; });
  parallel_for(ctx, powers.column.size(), [&](std::int64_t j) { powers.column[j] += more.column[j]; });
}

template <class T>
void scale_values(const HostContext& ctx, const CsrView<T, host>& a, const Powers& powers, Span<T, host> scaled) {
  with_row_ptr(a, [&](const auto& row_ptr) {
    parallel_for(ctx, a.rows, [&](Index i) {
      for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
        scaled[k] = std::ldexp(a.val[k], powers.row[i] + powers.column[a.col[k]]);
      }
    });
  });
}

template <class T>
void scale_vector(const HostContext& ctx, Span<const std::int32_t, host> powers, int sign, int shift,
                  Span<const T, host> x, Span<T, host> y) {
  parallel_for(ctx, x.size, [&](std::int64_t i) { y[i] = std::ldexp(x[i], sign * powers[i] + shift); });
}

template <class T>
int greatest_exponent(const HostContext& ctx, Span<const std::int32_t, host> powers, Span<const T, host> x) {
  const auto of = [&](std::int64_t i, std::int32_t& most) {
    const std::int32_t exponent = exponent_of(x[i]);
    if (exponent != no_exponent) most = std::max(most, exponent + powers[i]);
  };
  return parallel_reduce(ctx, x.size, no_exponent, of,
                         [](std::int32_t& total, std::int32_t mine) { total = std::max(total, mine); });
}

template <class T>
Index rows_with_tiny_diagonal(const HostContext& ctx, const CsrView<T, host>& a, int bits) {
  return with_row_ptr(a, [&](const auto& row_ptr) {
    const auto inspect = [&](Index i, Index& count) {
      std::int32_t most = no_exponent, diagonal = no_exponent;
      each_exponent(row_ptr, a, i, [&](Index j, std::int32_t e) {
        most = std::max(most, e);
        if (i == j) diagonal = e;
      });
      count += most != no_exponent && diagonal < most - bits ? 1 : 0;
    };
    return parallel_reduce(ctx, a.rows, Index{0}, inspect, [](Index& total, Index mine) { total += mine; });
  });
}

#define X(T, S)                                                                                           \
  template void equilibrate(const Context<S>&, const CsrView<T, S>&, Equilibration, ScalePowers<S>&);     \
  template void scale_values(const Context<S>&, const CsrView<T, S>&, const ScalePowers<S>&, Span<T, S>); \
  template void scale_vector(const Context<S>&, Span<const std::int32_t, S>, int, int, Span<const T, S>,  \
                             Span<T, S>);                                                                 \
  template int greatest_exponent(const Context<S>&, Span<const std::int32_t, S>, Span<const T, S>);       \
  template Index rows_with_tiny_diagonal(const Context<S>&, const CsrView<T, S>&, int);
NEWEL_FOR_TYPES(X, Space::host)
#undef X

}  // namespace newel::detail
