// SPDX-License-Identifier: Apache-2.0
/// b - A x in twice the working precision, with a bound of what is still lost: what a solve is judged by. Internal.
#pragma once

#include <newel/core/types.hpp>
#include <newel/spmv/residual_sums.hpp>
#include "core/vectors/twice_sum.hpp"

namespace newel::detail {

/// The arrays of a residual; r may be b.
template <class T>
struct ResidualArgs {
  const T* b;
  const T* x;
  T* r;
  ResidualScale scale;
};

/// Ends row i: writes r_i and adds to the sums, whose x_max is set. `minus_ax` is minus the row's product, after
/// `terms` of its entries.
template <class T>
NEWEL_HD void finish_residual_row(const ResidualArgs<T>& args, std::int64_t i, TwiceSum minus_ax, double terms,
                                  ResidualSums& sums) {
  const double b = args.b[i];
  minus_ax.add(b);
  const double r = minus_ax.value(), per_unit = 1 / args.scale.unit;
  const double in_units = r * per_unit;
  args.r[i] = static_cast<T>(r);
  sums.square += in_units * in_units;
  sums.sum += fabs(in_units);
  sums.error_sum += minus_ax.error_of(terms) * per_unit;
  if (minus_ax.size == 0) sums.beyond_square += (b * per_unit) * (b * per_unit);
  const double size = minus_ax.size * sums.x_max + fabs(b), of_row = fabs(r) / size;
  if (size > 0 && of_row > sums.worst_row) sums.worst_row = of_row;
}

// A format says where its rows lie by a small struct of pointers, its *walk*:
//
//     std::int64_t places() const;                      // units of work; each is one whole row of the matrix
//     bool is_long(std::int64_t place) const;           // a device's warp shares the row
//     Offset entries(std::int64_t place) const;         // slots of the row, padding included, or more
//     Index row(place, int member, int members, F& f)   // f(values, stride, count, column_of) for each run of slots
//                                                       // of the member's share; the row's number
//
// Every row of the matrix has one place. `column_of(k)` is the column of slot k of the run, whose value is at
// values[k stride].

/// A run of slots that follow each other `stride` apart, as most formats have them.
template <class T, class F>
NEWEL_HD void walk_run(const T* val, const Index* col, Offset stride, Offset count, int member, int members, F& f) {
  if (member >= count) return;
  const Index* const first = col + member * stride;
  const Offset step = stride * members;
  f(val + member * stride, step, (count - member + members - 1) / members,
    [first, step](Offset k) { return first[k * step]; });
}

/// The last of `count` ascending numbers number_at(0), number_at(1), ... at or below `value`, by its position; 0 where
/// all are above.
template <class NumberAt, class V>
NEWEL_HD Index last_place_at_or_below(Index count, V value, NumberAt&& number_at) {
  Index low = 0, high = count - 1;
  while (low < high) {
    const Index middle = low + (high - low + 1) / 2;
    if (number_at(middle) <= value)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/// The same for `count` + 1 numbers in memory; count - 1 at most.
template <class I, class V>
NEWEL_HD Index last_at_or_below(const I* ascending, Index count, V value) {
  return last_place_at_or_below(count, value, [ascending](Index k) { return ascending[k]; });
}

}  // namespace newel::detail
