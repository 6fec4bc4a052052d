// SPDX-License-Identifier: Apache-2.0
/// SolverMethod: what the rest of Newel knows of a solver, one line of the table in
/// `newel/solver/registry.hpp`.
#pragma once

#include <cstdint>
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

/// Makes the method for systems of n unknowns. `options.name` is the one that was requested: "auto", or the method's.
template <class T, Space S>
using MakeSolver = std::unique_ptr<KrylovSolver<T, S>> (*)(const Context<S>&, Index n, const SolverOptions& options);

/// What a method that is made from a matrix may read of it. Nothing of it outlives the call.
template <class T, Space S>
struct SolverMatrix {
  CsrView<T, S> a;                       ///< square and canonical, in solver order
  const RowOrder<S>& order;              ///< that order; with the map of its values, in which new ones come
  const MatrixTraits* traits = nullptr;  ///< rows as the caller numbers them; null: not known
};

/// Makes a method from the matrix that it will solve with: a direct solver factorises it, say. Throws InputError for
/// a matrix that it does not serve. New values come by `KrylovSolver::refresh`.
template <class T, Space S>
using MakeFromMatrix = std::unique_ptr<KrylovSolver<T, S>> (*)(const Context<S>&, const SolverMatrix<T, S>&,
                                                               const SolverOptions& options);

/// The same for a system in double that iterates in single precision; only the double columns are used.
template <class T, Space S>
using MakeMixedSolver = std::unique_ptr<KrylovSolver<double, S>> (*)(const Context<S>&, const LowSystem<S>&,
                                                                     const SolverOptions& options);

/// Makes the method for several right-hand sides of n unknowns in lockstep.
template <class T, Space S>
using MakeBatchSolver = std::unique_ptr<BatchSolver<T, S>> (*)(const Context<S>&, Index n);

/// A figure of a method that depends on its options, on the number of unknowns and on the bytes of a value.
using MethodFigure = double (*)(const SolverOptions& options, Index n, std::size_t value_bytes);

/// What A and M have to be.
enum class Demand {
  nothing,    ///< any regular matrix may be solved
  symmetric,  ///< symmetric, of either sign
  definite,   ///< symmetric positive definite
  diagonal,   ///< A is diagonal, without zeros there, and M its inverse
};

/// When "auto" tries a method: 1 first, 2 next; 0 never.
struct AutoRank {
  int definite = 0;   ///< for symmetric matrices with a positive diagonal
  int symmetric = 0;  ///< for other symmetric ones, which are not positive definite
  int general = 0;    ///< for all others
  int diagonal = 0;   ///< for diagonal ones, before any of these
};

/// The fewest vectors that an iteration has to read or write, without the products with A and M.
struct VectorFloor {
  double none = 0;              ///< without M
  double diagonal = 0;          ///< M is a diagonal matrix
  double other = 0;             ///< any other M
  double per_basis_vector = 0;  ///< for each vector of a cycle besides
};

/// What a kernel that keeps its vectors on the chip stores and how often its blocks synchronise in an iteration.
struct ResidentShape {
  int halo_vectors = 0;      ///< with rows of other parts
  int diagonal_vectors = 0;  ///< further ones where M is a diagonal matrix
  int own_vectors = 0;       ///< without
  int synchronisations = 0;  ///< of all blocks
  int precond_matrices = 0;  ///< so many sparse matrices may M consist of, besides none and a diagonal one; 0: none
};

/// One line of the table.
struct SolverMethod {
  std::string name;                   ///< as users write it
  std::string title;                  ///< as sentences have it: "GMRES"
  std::string summary;                ///< one line for help texts
  std::vector<MethodOption> options;  ///< its own, a row each
  /// Throws InputError for options that make no sense. Null: none can.
  void (*check)(const SolverOptions&) = nullptr;
  /// Products with A and applications of M in an iteration.
  int products = 1;
  int precond_products = 1;           ///< the latter
  Demand demands = Demand::nothing;   ///< of A and M, for it to converge
  bool short_recurrence = false;      ///< a step needs a few vectors, however many steps there were
  bool minimises = false;             ///< its residual is the least of a cycle's space: it never grows
  bool restarts = false;              ///< runs in cycles (SolveReport::cycle_length), so that a longer one may help
  bool resident = false;              ///< has a kernel that solves what fits on the chip of a device
  ResidentShape resident_shape = {};  ///< of that kernel
  bool resident_in_mixed = false;     ///< in mixed precision too
  int vector_kernels = 2;             ///< of an iteration on a device, besides those of A and M
  AutoRank rank;                      ///< its role under `auto`
  /// Bytes of the vectors that it works with for each unknown, besides b and x.
  MethodFigure bytes_per_unknown = nullptr;
  std::uint64_t fixed_bytes = 0;  ///< besides, however few unknowns there are
  /// Bytes of what it makes from the matrix. Null: nothing.
  std::uint64_t (*matrix_bytes)(const SolverOptions&, Index rows, Offset nonzeros, std::size_t value_bytes) = nullptr;
  /// Vectors read or written in an iteration on average, without the products with A and M.
  MethodFigure vector_passes = nullptr;
  VectorFloor floor;                                     ///< what the cost model takes for its vectors
  FactoryColumns<MakeSolver> make = {};                  ///< one for each precision and space
  FactoryColumns<MakeFromMatrix> make_from_matrix = {};  ///< in the place of `make`; null: it needs products alone
  bool keeps_values = false;  ///< of the matrix that it was made from, so that all new ones have to come by `refresh`
  FactoryColumns<MakeMixedSolver> make_mixed = {};  ///< null: not in mixed precision
  double mixed_iterations = 1;  ///< of a solve in mixed precision over those of one in double, as a rule
  FactoryColumns<MakeBatchSolver> make_batch = {};  ///< null: columns are taken one after the other
  /// Vectors that a batch adds: for each place, and once.
  int batch_vectors = 0, batch_vectors_once = 0;

  /// Whether several right-hand sides are solved in lockstep.
  bool batched() const { return make_batch.host_double != nullptr; }

  /// Whether it is made from a matrix.
  bool from_matrix() const { return make_from_matrix.host_double != nullptr; }
};

}  // namespace newel
