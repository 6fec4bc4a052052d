// SPDX-License-Identifier: Apache-2.0
// Estimating memory from sizes and options alone.
#include "memory_estimate.hpp"

#include <newel/core/error.hpp>
#include <newel/solver/memory_estimate.hpp>

namespace newel::cli {

std::uint64_t estimate_solve_bytes(const SystemOptions& options, Index rows, Offset nonzeros, std::size_t value_bytes,
                                   Space space) {
  const auto n = static_cast<std::uint64_t>(rows), nnz = static_cast<std::uint64_t>(nonzeros);
  SystemSize size{rows, nonzeros, value_bytes, !options.old_of_new.empty(), options.mixed};
  size.columns = options.columns;
  size.null_space = options.null_space == NullSpace::constant;
  std::uint64_t bytes = estimate_system(options.spmv, options.precond, options.solver, size).total();
  bytes += 2 * n * static_cast<std::uint64_t>(options.columns) * value_bytes;
  // The CSR that the format reads is uploaded first; on the host it is there, but for values in another precision.
  if (space == Space::device) {
    bytes += nnz * (sizeof(Index) + value_bytes) + (n + 1) * sizeof(Offset);
  } else if (value_bytes != sizeof(double)) {
    bytes += nnz * value_bytes;
  }
  return bytes;
}

void require_bytes(Space space, std::uint64_t wanted, std::optional<std::uint64_t> available) {
  if (!available || wanted <= *available) return;
  throw OutOfMemory(name_of(space), "matrix, preconditioner and vectors of this solve", wanted, available);
}

}  // namespace newel::cli
