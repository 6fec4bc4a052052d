// SPDX-License-Identifier: Apache-2.0
// The parts of a system, each by its own formula.
#include <newel/solver/memory_estimate.hpp>

#include <algorithm>

#include <newel/solver/guess.hpp>
#include <newel/solver/recycle.hpp>
#include <newel/solver/registry.hpp>
#include <newel/spmv/format_choice.hpp>
#include "solver/krylov/batch/batch_cg.hpp"

namespace newel {
namespace {

// Bytes for each unknown of the vectors that a method adds for a batch of several columns, those that all columns
// keep included.
std::uint64_t batch_bytes(const SolverMethod& method, const SystemSize& size) {
  if (size.columns <= 1 || !method.batched()) return 0;
  const auto columns = static_cast<std::uint64_t>(size.columns);
  const auto places = static_cast<std::uint64_t>(detail::batch_width(size.columns));
  const auto vectors = static_cast<std::uint64_t>(method.batch_vectors) * places +
                       static_cast<std::uint64_t>(method.batch_vectors_once);
  return (vectors + (size.several_solvers ? columns : 0) + (size.null_space ? columns : 0)) * size.value_bytes;
}

// Of all vectors of the solvers as they are after a setup.
std::uint64_t solver_bytes(const SolverOptions& solver, const SystemSize& size) {
  const auto n = static_cast<std::uint64_t>(size.rows);
  const auto bytes_of = [&](const SolverMethod& method) {
    const double own =
        method.bytes_per_unknown != nullptr ? method.bytes_per_unknown(solver, size.rows, size.value_bytes) : 0;
    const std::uint64_t made =
        method.matrix_bytes != nullptr ? method.matrix_bytes(solver, size.rows, size.nonzeros, size.value_bytes) : 0;
    return (static_cast<std::uint64_t>(own) + batch_bytes(method, size)) * n + method.fixed_bytes + made;
  };
  std::uint64_t bytes = 0;
  if (canonical_name(solver.name) == "auto") {
    bytes = UINT64_MAX;
    for (const SolverMethod& method : solver_methods()) {
      const AutoRank& rank = method.rank;
      if (rank.definite > 0 || rank.symmetric > 0 || rank.general > 0) bytes = std::min(bytes, bytes_of(method));
    }
  } else {
    bytes = bytes_of(find_solver(solver.name));
  }
  // The best x; with a null space the projections of r and b, and an image.
  return bytes + ((size.several_solvers ? 1 : 0) + (size.null_space ? 3 : 0)) * size.value_bytes * n;
}

// Of past solutions: their differences, the products with these, the last solution and a residual, for each column.
std::uint64_t guess_bytes(const SolverOptions& solver, const SystemSize& size) {
  const GuessRule rule = guess_rule(solver.of<GuessOptions>().guess);
  if (!rule.keeps()) return 0;
  const auto vectors = static_cast<std::uint64_t>(2 * rule.vectors + 2) * static_cast<std::uint64_t>(size.columns);
  return vectors * static_cast<std::uint64_t>(size.rows) * size.value_bytes;
}

// Of recycled vectors, once for all columns. What a method needs to find them is part of its own vectors.
std::uint64_t recycled_bytes(const SolverOptions& solver, const SystemSize& size) {
  const auto vectors = static_cast<std::uint64_t>(recycle_rule(solver.of<RecycleOptions>().recycle).vectors);
  return static_cast<std::uint64_t>(size.rows) * vectors * sizeof(float);
}

SystemEstimate estimate_plain(const SpmvOptions& spmv, const PrecondOptions& precond, const SolverOptions& solver,
                              const SystemSize& size) {
  const auto n = static_cast<std::uint64_t>(size.rows), nnz = static_cast<std::uint64_t>(size.nonzeros);
  SpmvOptions decided = spmv;  // before a choice is made: what the smallest usual format takes
  if (is_format_choice(spmv.format)) decided.format = "csr";
  SystemEstimate estimate;
  estimate.matrix =
      find_spmv_format(decided.format).estimate_bytes(size.rows, size.rows, size.nonzeros, size.value_bytes);
  estimate.preconditioner = estimate_precond_bytes(precond, decided, size.rows, size.nonzeros, size.value_bytes);
  estimate.vectors = solver_bytes(solver, size);
  if (!size.reordered) return estimate;
  estimate.vectors += 2 * n * (size.value_bytes + sizeof(Index));  // and the order itself
  estimate.renumbered = nnz * (2 * sizeof(Index) + size.value_bytes) + (n + 1) * sizeof(Offset);
  return estimate;
}

// All of the system in single precision, its values in the caller's order, and in double: A as CSR, r, the best x,
// with a null space its two projections and an image; with two vectors in single precision for M. CG holds its
// correction instead of where it began. There is no batch.
SystemEstimate estimate_mixed(const SpmvOptions& spmv, const PrecondOptions& precond, const SolverOptions& solver,
                              const SystemSize& size) {
  SystemSize low{size.rows, size.nonzeros, sizeof(float), size.reordered};
  const auto n = static_cast<std::uint64_t>(size.rows), nnz = static_cast<std::uint64_t>(size.nonzeros);
  SystemEstimate estimate = estimate_plain(spmv, precond, solver, low);
  estimate.matrix += nnz * sizeof(float) +
                     find_spmv_format("csr").estimate_bytes(size.rows, size.rows, size.nonzeros, sizeof(double));
  estimate.vectors += 2 * n * sizeof(double);
  if (canonical_name(precond.name) != "none") estimate.vectors += 2 * n * sizeof(float);
  if (size.null_space) estimate.vectors += n * (3 * sizeof(double) + sizeof(float));
  if (size.reordered) {
    estimate.vectors += 2 * n * (sizeof(double) - sizeof(float));
    estimate.renumbered += nnz * (sizeof(double) - sizeof(float));
  }
  return estimate;
}

}  // namespace

SystemEstimate estimate_system(const SpmvOptions& spmv, const PrecondOptions& precond,
                               const SolverOptions& given_solver, const SystemSize& given) {
  SystemSize size = given;
  SolverOptions solver = given_solver;
  if (size.mixed) solver.of<RecycleOptions>() = {};  // it keeps no vectors
  size.several_solvers = size.several_solvers || solver.name == "auto";
  SystemEstimate estimate = (size.mixed ? estimate_mixed : estimate_plain)(spmv, precond, solver, size);
  const auto n = static_cast<std::uint64_t>(size.rows);
  if (canonical_name(precond.name) == "auto" && !size.mixed) {  // the guess, for another preconditioner
    estimate.vectors += n * static_cast<std::uint64_t>(size.value_bytes);
  }
  estimate.vectors += guess_bytes(solver, size) + recycled_bytes(solver, size);
  if (size.reordered && size.columns > 1) {  // all columns of b and x in solver order
    estimate.vectors += 2 * static_cast<std::uint64_t>(size.rows) * static_cast<std::uint64_t>(size.columns) *
                        static_cast<std::uint64_t>(size.value_bytes);
  }
  return estimate;
}

}  // namespace newel
