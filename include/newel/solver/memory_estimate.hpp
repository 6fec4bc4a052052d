// SPDX-License-Identifier: Apache-2.0
/// What a LinearSystem will hold, from sizes and options alone, before anything is allocated.
#pragma once

#include <newel/precond/registry.hpp>
#include <newel/solver/krylov.hpp>

namespace newel {

/// The matrix as it is handed in, and what, other than the method, decides the number of vectors.
struct SystemSize {
  Index rows = 0;                            ///< of the matrix
  Offset nonzeros = 0;                       ///< stored entries
  std::size_t value_bytes = sizeof(double);  ///< of one value
  bool reordered = false;                    ///< the solver works in an order of its own
  bool mixed = false;                        ///< iterates in single precision; value_bytes are those of double
  Index columns = 1;                         ///< right-hand sides that are solved for at once
  bool null_space = false;                   ///< the constant one
  bool several_solvers = false;  ///< another may continue from the best x, which is kept; "auto" always does
};

/// Bytes, by part.
struct SystemEstimate {
  std::uint64_t matrix = 0;          ///< in its format
  std::uint64_t renumbered = 0;      ///< the matrix in solver order, which lives until the setup is done
  std::uint64_t preconditioner = 0;  ///< see `estimate_precond_bytes`
  /// Of the first solver, of the batch where several columns begin with CG, and b and x in solver order; not the
  /// caller's b and x.
  std::uint64_t vectors = 0;

  /// All of them together.
  std::uint64_t total() const { return matrix + renumbered + preconditioner + vectors; }
};

/// At least what is held at the end of a setup, with several columns after the first solve for so many: what patterns
/// decide, such as the padding of a format or the density of a power, is not counted, nor are the arrays that a setup
/// drops again. For "auto" the least that may be chosen.
/// Throws InputError for names that there are not.
SystemEstimate estimate_system(const SpmvOptions& spmv, const PrecondOptions& precond, const SolverOptions& solver,
                               const SystemSize& size);

}  // namespace newel
