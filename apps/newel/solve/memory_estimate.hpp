// SPDX-License-Identifier: Apache-2.0
/// What a solve of the command line will hold in addition to its LinearSystem, before anything is allocated.
#pragma once

#include <optional>

#include <newel/solver/linear_system.hpp>

namespace newel::cli {

/// Bytes for the system (see `estimate_system`), b and x of all columns, and the matrix that the system is made from
/// where that has to be made first.
std::uint64_t estimate_solve_bytes(const SystemOptions& options, Index rows, Offset nonzeros, std::size_t value_bytes,
                                   Space space);

/// Throws OutOfMemory when `space` is known to have less than `wanted` bytes.
void require_bytes(Space space, std::uint64_t wanted, std::optional<std::uint64_t> available);

template <Space S>
void require_memory(const Context<S>& ctx, const SystemOptions& options, Index rows, Offset nonzeros,
                    std::size_t value_bytes) {
  require_bytes(S, estimate_solve_bytes(options, rows, nonzeros, value_bytes, S), ctx.memory()->available_bytes());
}

}  // namespace newel::cli
