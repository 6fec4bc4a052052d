// SPDX-License-Identifier: Apache-2.0
/// How a column step runs on the host: the chunks and lanes of a vector step, each lane as wide as the batch.
/// Internal.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <newel/core/parallel.hpp>
#include "core/vectors/column_step.hpp"
#include "core/vectors/vector_step_host.hpp"

namespace newel::detail {

/// As many columns as go into a register together: four numbers of either precision, whose sums are of double.
template <int columns>
constexpr int columns_together = columns < 4 ? columns : 4;

/// V is a register of `width` numbers. It is handed on by reference: how it would go by value depends on the
/// instructions that a function is compiled for.
template <class T, int width>
struct HostColumns {
  using Bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  typedef T V __attribute__((vector_size(width * sizeof(T))));
  typedef Bits Mask __attribute__((vector_size(width * sizeof(T))));
  typedef double Wide __attribute__((vector_size(width * sizeof(double))));
  Mask on = {};  ///< -1 for columns that are active
  bool all_on = true;

  explicit HostColumns(const bool* active) {
    for (int c = 0; c < width; ++c) {
      on[c] = active[c] ? -1 : 0;
      all_on = all_on && active[c];
    }
  }
  void read(const T* p, std::int64_t at, V& v) const { std::memcpy(&v, p + at, sizeof v); }
  void same(const T* p, std::int64_t row, V& v) const { v = p[row] - V{}; }
  /// a b + c d, as GCC makes it of this formula in a vector step: only c d is rounded before the sum.
  void sum_of_products(const V& a, const V& b, const V& c, const V& d, V& v) const {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
    v = a * b + __builtin_assoc_barrier(c * d);
#else
    v = a * b + c * d;
#endif
  }
  void write(T* p, std::int64_t at, const V& old, const V& v) const {
    if (all_on) {
      std::memcpy(p + at, &v, sizeof v);
    } else {
      const V kept = on ? v : old;
      std::memcpy(p + at, &kept, sizeof kept);
    }
  }
};

/// Coefficients of all columns: those of a kind are adjacent.
template <class Step>
struct ColumnPartials {
  using T = typename Step::Value;
  static constexpr int columns = Step::columns;
  bool on[columns];
  T coefficient[Step::coefficients > 0 ? Step::coefficients : 1][columns];

  struct Filling {
    ColumnPartials* table;
    int c;
    T& operator()(int j) const { return table->coefficient[j][c]; }
  };
};

/// Of the columns in a register.
template <class Lanes, int count>
struct ColumnCoefficients {
  typename Lanes::V value[count > 0 ? count : 1];
  const typename Lanes::V& operator()(int j) const { return value[j]; }
};

/// One lane's view of the sums of the columns in a register.
template <class Lanes, int columns>
struct ColumnSums {
  double* at;
  void add(int s, const typename Lanes::V& a, const typename Lanes::V& b) const {
    using Wide = typename Lanes::Wide;
    double* const sum = at + s * Chunks::lanes * columns;
    Wide total;
    std::memcpy(&total, sum, sizeof total);
    total += __builtin_convertvector(a, Wide) * __builtin_convertvector(b, Wide);
    std::memcpy(sum, &total, sizeof total);
  }
};

template <class Step>
void sweep_column_chunk(const Step& step, const ColumnPartials<Step>& table, std::int64_t begin, std::int64_t end,
                        double* totals) {
  constexpr int k = Step::columns, lanes = Chunks::lanes, width = columns_together<k>;
  using Lanes = HostColumns<typename Step::Value, width>;
  double sum[(Step::sums > 0 ? Step::sums : 1) * lanes * k] = {};
  for (int first = 0; first < k; first += width) {
    if (std::none_of(table.on + first, table.on + first + width, [](bool on) { return on; })) continue;
    const Lanes columns(table.on + first);
    ColumnCoefficients<Lanes, Step::coefficients> coefficient;
    for (int j = 0; j < Step::coefficients; ++j) columns.read(table.coefficient[j], first, coefficient.value[j]);
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t at = row * k + first;
      const ColumnSums<Lanes, k> sums{sum + (row - begin) % lanes * k + first};
      typename Step::template Loaded<typename Lanes::V> loaded{};
      step.load(columns, at, row, loaded);
      step.finish(columns, at, loaded, coefficient, sums);
    }
  }
  for (int s = 0; s < Step::sums; ++s) {
    for (int c = 0; c < k; ++c) {
      double total = 0;
      for (int lane = 0; lane < lanes; ++lane) total += sum[(s * lanes + lane) * k + c];
      totals[s * k + c] = total;
    }
  }
}

template <class Step>
void sweep_columns(const Context<Space::host>& ctx, std::int64_t n, const Step& step) {
  constexpr int k = Step::columns;
  ColumnPartials<Step> table = {};
  bool any = false;
  for (int c = 0; c < k; ++c) {
    table.on[c] = step.active(c);
    if (!table.on[c]) continue;
    any = true;
    step.begin(c, typename ColumnPartials<Step>::Filling{&table, c});
  }
  if (!any) return;
  constexpr int sums = Step::sums * k;
  const Chunks chunks(n);
  double partial[Chunks::most * (sums > 0 ? sums : 1)];
  const bool parallel = n * k >= Chunks::least_parallel && chunks.count > 1 && ctx.threads() > 1;
  parallel_for(
      ctx, chunks.count,
      [&](std::int64_t chunk) {
        with_wide_vectors(
            [&] { sweep_column_chunk(step, table, chunks.begin(chunk), chunks.end(chunk), partial + chunk * sums); });
      },
      parallel ? 1 : chunks.count);
  if constexpr (sums > 0) {
    double totals[sums] = {};
    for (std::int64_t chunk = 0; chunk < chunks.count; ++chunk) {
      for (int s = 0; s < sums; ++s) totals[s] += partial[chunk * sums + s];
    }
    sum_over_ranks(ctx, totals, sums);
    for (int c = 0; c < k; ++c) {
      if (!table.on[c]) continue;
      double own[Step::sums];
      for (int s = 0; s < Step::sums; ++s) own[s] = totals[s * k + c];
      step.end(c, own);
    }
  }
}

}  // namespace newel::detail

/// Instantiates `sweep_columns` for one step on the host.
#define NEWEL_SWEEP_COLUMNS_HOST(...) \
  template void newel::detail::sweep_columns(const Context<Space::host>&, std::int64_t, const __VA_ARGS__&);
