// SPDX-License-Identifier: Apache-2.0
/// DistributedSystem: one system whose rows are shared out among ranks, threads of a process or processes under MPI.
#pragma once

#include <memory>

#include <newel/core/communicator.hpp>
#include <newel/solver/linear_system.hpp>

namespace newel {

/// The rows of a matrix that a rank has, as CSR with the columns of the whole. They follow the rows of the rank
/// before it. Any rank may have none.
template <class T>
struct RankRows {
  Span<const Offset, Space::host> row_ptr;    ///< rows + 1, from 0
  Span<const std::int64_t, Space::host> col;  ///< of the whole matrix, from 0, ascending strictly within a row
  Span<const T, Space::host> val;             ///< as many
};

/// A x = b with the rows of A, b and x shared out among ranks. All ranks call each function together, and with the
/// same options; each hands over its own rows, and gets its own part of x.
///
/// Solvers, stopping, statuses and reports are those of LinearSystem; sums are taken over all ranks in the order of
/// ranks, so that the bits depend on the number of ranks and on nothing else. One rank has the bits of a LinearSystem
/// with the format "csr". The preconditioner is "jacobi" (also under "auto") or "none".
///
/// Errors: where a rank throws, the others throw RankFailed with its message, and the communicator can no longer be
/// used.
template <class T>
class DistributedSystem {
 public:
  /// Reads this rank's rows and keeps no reference to them. `ctx`: this rank's threads. Throws InputError for rows
  /// that are not as RankRows says, for options that differ between ranks, and for those that need the whole matrix:
  /// formats, orders, mixed precision, other preconditioners; ZeroDiagonal; OutOfMemory.
  DistributedSystem(const Context<Space::host>& ctx, std::shared_ptr<Communicator> communicator, const RankRows<T>& a,
                    SystemOptions options = {});
  ~DistributedSystem();
  DistributedSystem(DistributedSystem&&) noexcept;
  DistributedSystem& operator=(DistributedSystem&&) noexcept;

  /// This rank's rows, the number of the first of them, and the rows of all ranks.
  Index rows() const;
  std::int64_t first_row() const;
  std::int64_t all_rows() const;

  /// New values on the same pattern, in the order of those before.
  void refresh(Span<const T, Space::host> values);

  /// Solves from the guess in x or from zero: see LinearSystem::solve. b and x are this rank's parts. The report is
  /// the same on all ranks, `seconds` being the longest of them. A rank may watch: `progress` is called where it is
  /// given, and the solve ends on all ranks where one returns false.
  [[nodiscard]] SolveReport solve(Span<const T, Space::host> b, Span<T, Space::host> x,
                                  const ProgressFn& progress = {}, InitialGuess guess = InitialGuess::in_x);

  /// y = A x.
  void multiply(Span<const T, Space::host> x, Span<T, Space::host> y);

  /// What the system is made of.
  SystemInfo info() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace newel
