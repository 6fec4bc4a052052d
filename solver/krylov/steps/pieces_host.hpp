// SPDX-License-Identifier: Apache-2.0
/// HostPieces: rows of several vectors in pieces, for the threads of a host. Internal.
#pragma once

#include <algorithm>
#include <cstdint>

#include <newel/core/parallel.hpp>
#include "core/vectors/wide_host.hpp"

namespace newel::detail {

/// Pieces of equal length, so that threads have as much to do. A piece of some vectors fits in a cache. How many
/// there are depends on n alone, and with them the order of sums.
struct HostPieces {
  std::int64_t n, rows;  ///< of all, and of each piece but the last

  /// The rows of a piece are a multiple of `multiple`.
  explicit HostPieces(std::int64_t n_, std::int64_t multiple = 1) : n(n_) {
    constexpr std::int64_t most = 2048, least = 256, usual = 8;
    rows = (std::clamp((n + usual - 1) / usual, least, most) + multiple - 1) / multiple * multiple;
  }
  std::int64_t count() const { return (n + rows - 1) / rows; }

  /// Calls f(piece, first row, rows) for every piece, over the context's threads.
  template <class F>
  void for_each(const Context<Space::host>& ctx, F&& f) const {
    const std::int64_t pieces = count();
    parallel_for(
        ctx, pieces,
        [&](std::int64_t piece) {
          const std::int64_t first = piece * rows;
          with_wide_vectors([&] { f(piece, first, std::min(rows, n - first)); });
        },
        pieces > 1 && ctx.threads() > 1 ? 1 : pieces);
  }
};

}  // namespace newel::detail
