// SPDX-License-Identifier: Apache-2.0
// The parts of a system, each by its own formula.
#include <purlin/solver/memory_estimate.hpp>

#include <purlin/spmv/format_choice.hpp>

namespace purlin {
namespace {

// Bytes for each unknown of the vectors that a solver works with, besides b and x. "auto" begins with CG, and keeps
// the best x.
std::uint64_t solver_bytes(const SolverOptions& solver, const SystemSize& size) {
  const std::uint64_t value = size.value_bytes;
  if (solver.name == "gmres") {
    const std::uint64_t kept = basis_value_bytes(solver, size.value_bytes);
    const int cycle = gmres_cycle_length(solver, size.rows, kept);
    return (static_cast<std::uint64_t>(cycle) + 1) * kept + (kept == value ? 3 : 4) * value;
  }
  if (solver.name == "bicgstab") return 8 * value;
  return (solver.name == "auto" ? 5 : 4) * value;
}

// All of the system in single precision, its values in the caller's order, and in double: A as CSR, r, the best x;
// with two vectors in single precision for M and one for the correction.
SystemEstimate estimate_mixed(const SpmvOptions& spmv, const PrecondOptions& precond, const SolverOptions& solver,
                              SystemSize size) {
  size.mixed = false;
  size.value_bytes = sizeof(float);
  const auto n = static_cast<std::uint64_t>(size.rows), nnz = static_cast<std::uint64_t>(size.nonzeros);
  SystemEstimate estimate = estimate_system(spmv, precond, solver, size);
  estimate.matrix += nnz * sizeof(float) +
                     find_spmv_format("csr").estimate_bytes(size.rows, size.rows, size.nonzeros, sizeof(double));
  estimate.vectors += n * (2 * sizeof(double) + sizeof(float));
  if (canonical_name(precond.name) != "none") estimate.vectors += 2 * n * sizeof(float);
  if (size.reordered) {
    estimate.vectors += 2 * n * (sizeof(double) - sizeof(float));
    estimate.renumbered += nnz * (sizeof(double) - sizeof(float));
  }
  return estimate;
}

}  // namespace

SystemEstimate estimate_system(const SpmvOptions& spmv, const PrecondOptions& precond, const SolverOptions& solver,
                               const SystemSize& size) {
  if (size.mixed) return estimate_mixed(spmv, precond, solver, size);
  const auto n = static_cast<std::uint64_t>(size.rows), nnz = static_cast<std::uint64_t>(size.nonzeros);
  SpmvOptions decided = spmv;  // before a choice is made: what the smallest usual format takes
  if (is_format_choice(spmv.format)) decided.format = "csr";
  SystemEstimate estimate;
  estimate.matrix =
      find_spmv_format(decided.format).estimate_bytes(size.rows, size.rows, size.nonzeros, size.value_bytes);
  estimate.preconditioner = estimate_precond_bytes(precond, decided, size.rows, size.nonzeros, size.value_bytes);
  estimate.vectors = solver_bytes(solver, size) * n;
  if (!size.reordered) return estimate;
  estimate.vectors += 2 * n * (size.value_bytes + sizeof(Index));  // and the order itself
  estimate.renumbered = nnz * (2 * sizeof(Index) + size.value_bytes) + (n + 1) * sizeof(Offset);
  return estimate;
}

}  // namespace purlin
