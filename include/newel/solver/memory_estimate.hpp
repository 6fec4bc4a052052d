// SPDX-License-Identifier: Apache-2.0
/// Estimated memory of a LinearSystem, from sizes and options alone, before anything is allocated.
#pragma once

#include <newel/precond/registry.hpp>
#include <newel/solver/krylov.hpp>

namespace newel {

/// The size of the input matrix, and what else decides the number of vectors, except the method.
struct SystemSize {
  Index rows = 0;                            ///< of the matrix
  Offset nonzeros = 0;                       ///< stored entries
  std::size_t value_bytes = sizeof(double);  ///< per value
  bool reordered = false;                    ///< the solver works in its own row order
  bool mixed = false;                        ///< iterates in single precision; `value_bytes` is that of double
  Index columns = 1;                         ///< right-hand sides per solve
  bool null_space = false;                   ///< the constant null space
  bool several_solvers = false;  ///< other solvers may continue from the best x, which is kept; always with "auto"
};

/// Bytes of each part of a system.
struct SystemEstimate {
  std::uint64_t matrix = 0;          ///< in its format
  std::uint64_t renumbered = 0;      ///< the matrix in solver order, until the setup is done
  std::uint64_t preconditioner = 0;  ///< see `estimate_precond_bytes`
  /// Vectors of the first solver, or of the batch if several columns start with CG, and b and x in solver order; not
  /// the caller's b and x.
  std::uint64_t vectors = 0;

  /// Sum of all parts.
  std::uint64_t total() const { return matrix + renumbered + preconditioner + vectors; }
};

/// Lower bound on the memory held after setup; with several columns, or with guesses from past solutions
/// (GuessOptions), after the first solve for that many. It does not
/// count what depends on the pattern, such as padding of a format or the density of a power, nor temporary arrays of
/// the setup. For "auto", the smallest possible choice is counted. Throws InputError for unknown names.
SystemEstimate estimate_system(const SpmvOptions& spmv, const PrecondOptions& precond, const SolverOptions& solver,
                               const SystemSize& size);

}  // namespace newel
