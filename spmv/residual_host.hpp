// SPDX-License-Identifier: Apache-2.0
/// How the rows of a format become a residual on the host: places in fixed chunks over the context's threads.
/// Internal.
#pragma once

#include <algorithm>
#include <vector>

#include <newel/core/parallel.hpp>
#include "core/vectors/wide_host.hpp"
#include "spmv/residual.hpp"

namespace newel::detail {

/// Minus the products of `count` slots with x, added to `sum`.
template <class T, class ColumnOf>
inline void subtract_products(const T* val, Offset stride, Offset count, const ColumnOf& column_of, const T* x,
                              double minus_zero, TwiceSum& sum) {
  for (Offset k = 0; k < count; ++k) {
    sum.add_product(-static_cast<double>(val[k * stride]), static_cast<double>(x[column_of(k)]), minus_zero);
  }
}

/// The same for any number of slots, side by side but for short rows.
template <class T, class ColumnOf>
inline TwiceSum minus_products(const T* val, Offset stride, Offset count, const ColumnOf& column_of, const T* x,
                               double minus_zero) {
  constexpr int lanes = TwiceLanes::lanes;
  TwiceSum sum;
  if (count < lanes) {
    subtract_products(val, stride, count, column_of, x, minus_zero, sum);
    return sum;
  }
  TwiceLanes side_by_side;
  Offset k = 0;
  for (; k + lanes <= count; k += lanes) {
    double a[lanes], at[lanes];
    for (int l = 0; l < lanes; ++l) {
      a[l] = -static_cast<double>(val[(k + l) * stride]);
      at[l] = static_cast<double>(x[column_of(k + l)]);
    }
    side_by_side.add_products(a, at, minus_zero);
  }
  const auto column_after = [&](Offset rest) { return column_of(k + rest); };
  subtract_products(val + k * stride, stride, count - k, column_after, x, minus_zero, sum);
  for (int l = 0; l < lanes; ++l) sum.merge(side_by_side.lane(l));
  return sum;
}

/// r = b - A x and its sums, by places [begin, end).
template <class T, class Walk>
inline ResidualSums residual_chunk(const Walk& walk, const ResidualArgs<T>& args, std::int64_t begin,
                                   std::int64_t end, double minus_zero) {
  ResidualSums sums;
  sums.x_max = *args.scale.x_max;
  for (std::int64_t place = begin; place < end; ++place) {
    TwiceSum sum;
    const auto add = [&](const T* val, Offset stride, Offset count, const auto& column_of) {
      sum.merge(minus_products(val, stride, count, column_of, args.x, minus_zero));
    };
    const Index row = walk.row(place, 0, 1, add);
    finish_residual_row(args, row, sum, static_cast<double>(walk.entries(place)), sums);
  }
  return sums;
}

/// Adds the sums of a later part of the rows.
inline void add_sums(ResidualSums& total, const ResidualSums& part) {
  total.square += part.square;
  total.sum += part.sum;
  total.error_sum += part.error_sum;
  total.beyond_square += part.beyond_square;
  total.worst_row = std::max(total.worst_row, part.worst_row);
  total.x_max = part.x_max;
}

/// r = b - A x in twice the precision of double. The same bits whatever the number of threads.
template <class T, class Walk>
ResidualSums residual_by(const Context<Space::host>& ctx, const Walk& walk, const ResidualArgs<T>& args) {
  constexpr std::int64_t least_chunk = 256, most_chunks = 512, least_parallel = 4096;
  const std::int64_t places = walk.places();
  const std::int64_t size = std::max(least_chunk, (places + most_chunks - 1) / most_chunks);
  const std::int64_t chunks = (places + size - 1) / size;
  const double minus_zero = unknown_minus_zero();
  ResidualSums of_chunk[most_chunks];
  parallel_tasks(
      ctx, chunks,
      [&](std::int64_t chunk) {
        with_wide_vectors([&] {
          of_chunk[chunk] =
              residual_chunk(walk, args, chunk * size, std::min(places, (chunk + 1) * size), minus_zero);
        });
      },
      threads_if(places >= least_parallel));
  ResidualSums total;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) add_sums(total, of_chunk[chunk]);
  return total;
}

}  // namespace newel::detail
