// SPDX-License-Identifier: Apache-2.0
/// SolverMethod: the description of a solver for the rest of Newel, one row of the table in
/// `newel/solver/registry.hpp`.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <newel/core/factory_columns.hpp>
#include <newel/core/matrix_traits.hpp>
#include <newel/core/method_option.hpp>
#include <newel/reorder/row_order.hpp>
#include <newel/solver/batch_solver.hpp>
#include <newel/solver/krylov.hpp>
#include <newel/solver/low_system.hpp>

namespace newel {

/// Makes the method for systems of n unknowns. `options.name` is the requested name: "auto", or the method's.
template <class T, Space S>
using MakeSolver = std::unique_ptr<KrylovSolver<T, S>> (*)(const Context<S>&, Index n, const SolverOptions& options);

/// What a method that is made from a matrix may read. References are valid only during the call.
template <class T, Space S>
struct SolverMatrix {
  CsrView<T, S> a;                       ///< square and canonical, in solver order
  const RowOrder<S>& order;              ///< that order; with the map for new values in the caller's order
  const MatrixTraits* traits = nullptr;  ///< of the matrix in the caller's row numbers; null: not known
  /// If the setup is estimated to take longer, the method throws InputError, which says so.
  double most_seconds = std::numeric_limits<double>::infinity();
};

/// Makes a method from the matrix that it will solve with, for example a direct solver, which factorises it. Throws
/// InputError for a matrix that the method does not support. New values arrive through `KrylovSolver::refresh`.
template <class T, Space S>
using MakeFromMatrix = std::unique_ptr<KrylovSolver<T, S>> (*)(const Context<S>&, const SolverMatrix<T, S>&,
                                                               const SolverOptions& options);

/// The same for a system in double that iterates in single precision; only the double columns are used.
template <class T, Space S>
using MakeMixedSolver = std::unique_ptr<KrylovSolver<double, S>> (*)(const Context<S>&, const LowSystem<S>&,
                                                                     const SolverOptions& options);

/// Makes the method for several right-hand sides of n unknowns, iterated in lockstep.
template <class T, Space S>
using MakeBatchSolver = std::unique_ptr<BatchSolver<T, S>> (*)(const Context<S>&, Index n);

/// A number that depends on the options, the number of unknowns and the bytes per value.
using MethodFigure = double (*)(const SolverOptions& options, Index n, std::size_t value_bytes);

/// What the method requires of A and M.
enum class Demand {
  nothing,    ///< works for any regular matrix
  symmetric,  ///< symmetric, possibly indefinite
  definite,   ///< symmetric positive definite
  diagonal,   ///< A is diagonal without zeros, and M is its inverse
};

/// In which order "auto" tries a method: 1 first, 2 next; 0 never.
struct AutoRank {
  int definite = 0;   ///< for symmetric matrices with a positive diagonal
  int symmetric = 0;  ///< for other symmetric matrices, which are not positive definite
  int general = 0;    ///< for all other matrices
  int diagonal = 0;   ///< for diagonal matrices, before the three above
  /// After all of these have failed with every preconditioner; such a method is made from the matrix.
  int last_resort = 0;
};

/// Lower bound on the vectors read or written per iteration, without the products with A and M.
struct VectorFloor {
  double none = 0;              ///< without M
  double diagonal = 0;          ///< M is a diagonal matrix
  double other = 0;             ///< any other M
  double per_basis_vector = 0;  ///< additional, for each vector of a cycle's basis
};

/// Storage and synchronisations per iteration of a kernel that keeps its vectors on the chip.
struct ResidentShape {
  int halo_vectors = 0;      ///< vectors that include the halo (rows of other parts)
  int diagonal_vectors = 0;  ///< additional vectors with halo if M is a diagonal matrix
  int own_vectors = 0;       ///< vectors without halo
  int synchronisations = 0;  ///< grid synchronisations per iteration
  int precond_matrices = 0;  ///< M may be none, diagonal, or consist of this many sparse matrices; 0: only none or
                             ///< diagonal
};

/// What a method is, and what it needs.
struct SolverTraits {
  int products = 1;                   ///< products with A per iteration
  int precond_products = 1;           ///< applications of M per iteration; 0: it uses no M, and none may be named
  Demand demands = Demand::nothing;   ///< what A and M must be for the method to converge
  bool short_recurrence = false;      ///< a step needs a fixed number of vectors, independent of the number of steps
  bool minimises = false;             ///< its residual is minimal over the space of a cycle, so it never grows
  bool restarts = false;              ///< runs in cycles (SolveReport::cycle_length); a longer cycle may help
  bool flexible = false;              ///< M may be another operator in every iteration
  bool keeps_values = false;          ///< keeps values of the matrix, so all new values must come through `refresh`
  bool resident = false;              ///< has a kernel for systems that fit on the chip of a device
  ResidentShape resident_shape = {};  ///< of that kernel
  bool resident_in_mixed = false;     ///< that kernel also works in mixed precision
};

/// What a method costs.
struct SolverCosts {
  int vector_kernels = 2;  ///< kernels per iteration on a device, without those of A and M
  /// Bytes of work vectors per unknown, without b and x.
  MethodFigure bytes_per_unknown = nullptr;
  std::uint64_t fixed_bytes = 0;  ///< additional bytes, independent of the number of unknowns
  /// Bytes of what the method makes from the matrix. Null: nothing.
  std::uint64_t (*matrix_bytes)(const SolverOptions&, Index rows, Offset nonzeros, std::size_t value_bytes) = nullptr;
  /// Average number of vectors read or written per iteration, without the products with A and M.
  MethodFigure vector_passes = nullptr;
  VectorFloor floor;            ///< vectors assumed by the cost model
  double mixed_iterations = 1;  ///< typical ratio of iterations, mixed precision over double
  /// Vectors that a batch adds: per column in the batch, and once.
  int batch_vectors = 0, batch_vectors_once = 0;
};

/// One row of the table of solvers.
struct SolverMethod : SolverTraits, SolverCosts {
  std::string name;                   ///< as users write it
  std::string title;                  ///< as sentences spell it: "GMRES"
  std::string summary;                ///< one line for help texts
  std::vector<MethodOption> options;  ///< its own options, one entry each
  /// Throws InputError for invalid options. Null: all options are valid.
  void (*check)(const SolverOptions&) = nullptr;
  AutoRank rank;                                         ///< its role under `auto`
  FactoryColumns<MakeSolver> make = {};                  ///< one for each precision and space
  FactoryColumns<MakeFromMatrix> make_from_matrix = {};  ///< used instead of `make`; null: the method only needs
                                                         ///< products
  FactoryColumns<MakeMixedSolver> make_mixed = {};       ///< null: no mixed precision
  FactoryColumns<MakeBatchSolver> make_batch = {};       ///< null: columns are solved one after another

  /// Whether several right-hand sides are solved in lockstep.
  bool batched() const { return make_batch.host_double != nullptr; }

  /// Whether the method is made from a matrix.
  bool from_matrix() const { return make_from_matrix.host_double != nullptr; }
};

}  // namespace newel
