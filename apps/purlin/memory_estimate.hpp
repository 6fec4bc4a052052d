// SPDX-License-Identifier: Apache-2.0
/// An estimate of what a solve will hold, before anything is allocated.
#pragma once

#include <purlin/solver/linear_system.hpp>

namespace purlin::cli {

/// Bytes for the format, the matrix that it is built from where that has to be made first, and the vectors of
/// system, preconditioner and solver. An estimate: formats know their padding only from the pattern.
std::uint64_t estimate_solve_bytes(const SystemOptions& options, Index rows, Index cols, Offset nonzeros,
                                   std::size_t value_bytes, Space space);

/// Throws OutOfMemory when `space` has less than `wanted` bytes.
void require_bytes(Space space, std::uint64_t wanted, std::uint64_t available);

template <Space S>
void require_memory(const Context<S>& ctx, const SystemOptions& options, Index rows, Index cols, Offset nonzeros,
                    std::size_t value_bytes) {
  require_bytes(S, estimate_solve_bytes(options, rows, cols, nonzeros, value_bytes, S),
                ctx.memory()->available_bytes());
}

}  // namespace purlin::cli
