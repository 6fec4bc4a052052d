// SPDX-License-Identifier: Apache-2.0
// Estimating memory from sizes and options alone.
#include "memory_estimate.hpp"

#include <purlin/core/error.hpp>

namespace purlin::cli {
namespace {

// Vectors of length n that each method keeps, besides b and x.
std::uint64_t solver_vectors(const SolverOptions& solver, Index rows, std::size_t value_bytes) {
  if (solver.name == "cg") return 4;
  if (solver.name == "gmres") return static_cast<std::uint64_t>(gmres_cycle_length(solver, rows, value_bytes)) + 4;
  return 9;  // BiCGStab with its best x; "auto" may come to it
}

}  // namespace

std::uint64_t estimate_solve_bytes(const SystemOptions& options, Index rows, Index cols, Offset nonzeros,
                                   std::size_t value_bytes, Space space) {
  constexpr std::uint64_t system_vectors = 5;  // b and x, both once more in solver order, and the preconditioner
  const auto n = static_cast<std::uint64_t>(rows);
  const auto nnz = static_cast<std::uint64_t>(nonzeros);
  std::uint64_t bytes = (solver_vectors(options.solver, rows, value_bytes) + system_vectors) * n * value_bytes;
  // Before a choice is made: at least what the smallest usual format takes.
  const std::string format = is_format_choice(options.spmv.format) ? "csr" : options.spmv.format;
  bytes += find_spmv_format(format).estimate_bytes(rows, cols, nonzeros, value_bytes);
  // The CSR that the format reads is uploaded first; on the host it is there, but for values in another precision.
  if (space == Space::device) {
    bytes += nnz * (sizeof(Index) + value_bytes) + (n + 1) * sizeof(Offset);
  } else if (value_bytes != sizeof(double)) {
    bytes += nnz * value_bytes;
  }
  return bytes;
}

void require_bytes(Space space, std::uint64_t wanted, std::uint64_t available) {
  if (wanted <= available) return;
  throw OutOfMemory(name_of(space), "matrix, preconditioner and vectors of this solve", wanted, available);
}

}  // namespace purlin::cli
