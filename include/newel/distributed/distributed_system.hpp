// SPDX-License-Identifier: Apache-2.0
/// DistributedSystem: one system whose rows are distributed over ranks: threads of a process, or
/// processes under MPI.
#pragma once

#include <memory>
#include <vector>

#include <newel/core/communicator.hpp>
#include <newel/solver/linear_system.hpp>

namespace newel {

/// The rows of a matrix that a rank has, as CSR with columns of the whole matrix. They follow the rows of the
/// previous rank. A rank may have no rows.
template <class T>
struct RankRows {
  Span<const Offset, Space::host> row_ptr;    ///< rows + 1, from 0
  Span<const std::int64_t, Space::host> col;  ///< of the whole matrix, from 0, strictly ascending in each row
  Span<const T, Space::host> val;             ///< as many as columns
};

/// A x = b with the rows of A, b and x distributed over ranks. All ranks call each function together and with the
/// same options. Each rank passes its own rows and gets its own part of x.
///
/// Solvers, stopping, statuses and reports are those of LinearSystem. Sums are added in the order of ranks, so the
/// bits depend only on the number of ranks and threads. One rank gives the bits of a LinearSystem with the format
/// "csr", if the options name solver and preconditioner.
///
/// The preconditioner is "jacobi", "fsai", "spai", "spai0" or "none". FSAI and SPAI are the matrices that one rank
/// computes: rows of other ranks are fetched at setup, and their values at every refresh. Their options are honoured,
/// except given patterns and `SpaiOptions::adaptive`. "auto" tries a few iterations with Jacobi, and with FSAI or
/// SPAI if the cost model expects a gain; it does not change the preconditioner during a solve.
///
/// Errors: if a rank throws, the others throw RankFailed with its message. The communicator cannot be used any more
/// after that.
template <class T>
class DistributedSystem {
 public:
  /// Reads this rank's rows and keeps no reference to them. `ctx` has this rank's threads. Throws InputError for rows
  /// that do not fit RankRows, for options that differ between ranks, and for options that ranks do not have: formats,
  /// orders, mixed precision, other preconditioners. Throws ZeroDiagonal, NotSymmetric and NotPositiveDefinite, on all
  /// ranks with the same row of the whole system, and OutOfMemory.
  DistributedSystem(const Context<Space::host>& ctx, std::shared_ptr<Communicator> communicator, const RankRows<T>& a,
                    SystemOptions options = {});
  ~DistributedSystem();
  DistributedSystem(DistributedSystem&&) noexcept;
  DistributedSystem& operator=(DistributedSystem&&) noexcept;

  /// The number of this rank's rows, the first of them in the whole system, and the number of all rows.
  Index rows() const;
  std::int64_t first_row() const;
  std::int64_t all_rows() const;

  /// New values on the same pattern, in the order of those before; the preconditioner too gets new ones.
  void refresh(Span<const T, Space::host> values);

  /// Solves from the guess in x or from zero: see LinearSystem::solve. b and x are this rank's parts. The report is
  /// the same on all ranks; `seconds` is the longest time of a rank. `progress` may be given on some ranks only. The
  /// solve ends on all ranks if one of them returns false. If some ranks pass a guess and others InitialGuess::zero, the
  /// parts of the latter are zero.
  [[nodiscard]] SolveReport solve(Span<const T, Space::host> b, Span<T, Space::host> x,
                                  const ProgressFn& progress = {}, InitialGuess guess = InitialGuess::in_x);

  /// Solves A x_c = b_c for c = 0 .. columns - 1: see LinearSystem::solve_columns. b and x have `rows()` x `columns`
  /// values, this rank's part of column 0 first. Returns one report per column, the same on all ranks. The time limit
  /// applies to the whole call; `progress` as for `solve`.
  [[nodiscard]] std::vector<SolveReport> solve_columns(Span<const T, Space::host> b, Span<T, Space::host> x,
                                                       Index columns, const ProgressFn& progress = {},
                                                       InitialGuess guess = InitialGuess::in_x);

  /// Tolerances and limits may change between solves. All ranks pass the same. Throws InputError if they differ.
  void set_stop_criterion(const StopCriterion& stop);

  /// z = M r with the preconditioner that the next solve begins with; z = r if there is none. r and z are this rank's
  /// parts. Throws InputError if they share memory.
  void precondition(Span<const T, Space::host> r, Span<T, Space::host> z);

  /// y = A x; both are this rank's parts.
  void multiply(Span<const T, Space::host> x, Span<T, Space::host> y);

  /// The solver, format and preconditioner of the system. Sizes and bytes of the matrix are those of all ranks;
  /// `bytes` is what this rank holds. Each rank may call it alone.
  SystemInfo info() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace newel
