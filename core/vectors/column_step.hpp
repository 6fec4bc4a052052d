// SPDX-License-Identifier: Apache-2.0
/// Column steps: one pass over a few batches of vectors with sums for each column, written once and run in either
/// space. Internal.
///
/// The k vectors of a batch are interleaved: number i k + c of the batch is entry i of column c, so that one read of
/// a matrix entry serves k vectors. A column step is to a batch what a vector step (vector_step.hpp) is to vectors:
///
///     using Value = T;                                      // of the vectors
///     static constexpr int columns;                         // k: 1, 2, 4 or 8
///     static constexpr int sums;                            // 0 to 2 sums over the entries of each column
///     static constexpr int coefficients;                    // numbers of type T that `begin` leaves
///     bool active(int c) const;                             // false: column c stays as it is
///     void begin(int c, C& coefficient) const;              // coefficient(j) = ..., once per thread; active columns
///     template <class V> struct Loaded;                     // what is read of an entry, as numbers V
///     void load(const L& lanes, int64 at, int64 row, Loaded<V>&) const;
///     void finish(const L& lanes, int64 at, const Loaded<V>&, const C& coefficient, Sums&) const;
///     void end(int c, const double* totals) const;          // after all entries; active columns, where sums > 0
///
/// Entries come one by one (V is T) or several columns of a row at once (V holds as many numbers, at = row k + the
/// first of them). `lanes` reads and writes them: `lanes.read(p, at, v)`, `lanes.same(p, row, v)` (one number for
/// all), `lanes.sum_of_products(a, b, c, d, v)` forms v = a b + c d, `lanes.write(p, at, old, v)`, which leaves what
/// is `old` in columns that are not active. `Sums::add(s, a, b)` adds a b to sum s in double. Each column's sums are
/// added in the order in which a vector step adds them: on the host they have the same bits.
#pragma once

#include <cstdint>

#include <newel/core/context.hpp>
#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// The most vectors of a batch.
constexpr int most_columns = 8;

/// Runs `step` over n rows. Defined in column_step_host.hpp and column_step_device.cuh, instantiated per step in the
/// sources that include them.
template <class Step>
void sweep_columns(const Context<Space::host>& ctx, std::int64_t n, const Step& step);
template <class Step>
void sweep_columns(const Context<Space::device>& ctx, std::int64_t n, const Step& step);

}  // namespace newel::detail
