// SPDX-License-Identifier: Apache-2.0
/// Rows that are copied from others, with their entries in another order: what a batch solves with where the caller's
/// arrays do not have it so.
#pragma once

#include <newel/core/array.hpp>
#include <newel/core/parallel.hpp>

namespace newel::python {

/// to[r * width + e] = from[rows[r] * width + entries[e]], for all whole rows of `to`. Without `rows` from row r,
/// without `entries` entry e. `to` must not overlap the others. Numbers are not checked.
template <class T>
void gather_rows(const Context<Space::host>& ctx, Span<const T, Space::host> from,
                 Span<const Index, Space::host> rows, Span<const Index, Space::host> entries, std::int64_t width,
                 Span<T, Space::host> to) {
  if (width == 0) return;
  parallel_for(ctx, to.size / width, [&](std::int64_t r) {
    const T* const source = from.data + (rows.size > 0 ? rows[r] : r) * width;
    for (std::int64_t e = 0; e < width; ++e) to[r * width + e] = source[entries.size > 0 ? entries[e] : e];
  });
}

/// The same on the device. Defined only with CUDA on.
template <class T>
void gather_rows(const Context<Space::device>& ctx, Span<const T, Space::device> from,
                 Span<const Index, Space::device> rows, Span<const Index, Space::device> entries, std::int64_t width,
                 Span<T, Space::device> to);

}  // namespace newel::python
