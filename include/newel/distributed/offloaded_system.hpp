// SPDX-License-Identifier: Apache-2.0
/// OffloadedSystem: one system of ranks whose rows and vectors lie on the host, and which some of them solve, each on
/// a GPU.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <newel/distributed/distributed_system.hpp>

namespace newel {

/// A x = b with the rows of A, b and x distributed over ranks, as in DistributedSystem, and all of them on the host.
/// A rank with a context solves in its space. A rank without one hands its rows to the nearest rank before it that
/// has one, and gets its part of x back: so a program may have more ranks than GPUs, and needs no CUDA itself.
///
/// All ranks call each function together and with the same options. Methods, results and reports are those of a
/// DistributedSystem of the ranks that solve, which have the rows of the others too. A rank that hands its rows over
/// needs host memory for its rows once more during the setup, and for two vectors. The current device of the calling
/// thread does not change.
///
/// Errors: if a rank throws, the others throw RankFailed with its message. The communicator cannot be used any more
/// after that.
template <class T, Space S>
class OffloadedSystem {
 public:
  /// Reads this rank's rows and keeps no reference to them. Coordinates and near-null vectors in the options are
  /// those of this rank's rows. Throws InputError if rank 0 has no context, for options that differ between ranks,
  /// and what DistributedSystem throws; Error if there is a rank without a context and the communicator cannot form
  /// groups.
  OffloadedSystem(std::optional<Context<S>> ctx, std::shared_ptr<Communicator> communicator, const RankRows<T>& a,
                  SystemOptions options = {}, RankLink link = RankLink::automatic);
  ~OffloadedSystem();
  OffloadedSystem(OffloadedSystem&&) noexcept;
  OffloadedSystem& operator=(OffloadedSystem&&) noexcept;

  /// The number of this rank's rows, the first of them in the whole system, and the number of all rows.
  Index rows() const;
  std::int64_t first_row() const;
  std::int64_t all_rows() const;

  /// New values on the same pattern, in the order of those before.
  void refresh(Span<const T, Space::host> values);

  /// Solves A x_c = b_c for c = 0 .. columns - 1: see DistributedSystem::solve_columns. b and x are this rank's
  /// parts. All ranks get the same reports. `progress` is called on ranks that solve; one that returns false ends the
  /// solve on all ranks.
  [[nodiscard]] std::vector<SolveReport> solve_columns(Span<const T, Space::host> b, Span<T, Space::host> x,
                                                       Index columns, const ProgressFn& progress = {},
                                                       InitialGuess guess = InitialGuess::in_x);

  /// The same for one right-hand side.
  [[nodiscard]] SolveReport solve(Span<const T, Space::host> b, Span<T, Space::host> x,
                                  const ProgressFn& progress = {}, InitialGuess guess = InitialGuess::in_x);

  /// Tolerances and limits may change between solves. All ranks pass the same. Throws InputError if they differ.
  void set_stop_criterion(const StopCriterion& stop);

  /// y = A x; both are this rank's parts; y may be x.
  void multiply(Span<const T, Space::host> x, Span<T, Space::host> y);

  /// z = M r with the preconditioner that the next solve begins with; z = r if there is none. Both are this rank's
  /// parts; z may be r.
  void precondition(Span<const T, Space::host> r, Span<T, Space::host> z);

  /// Solver, format and preconditioner. `bytes` is what this rank holds in S, 0 on ranks that hand their rows over.
  /// Each rank may call it alone.
  SystemInfo info() const;

  /// How values travel between the ranks that solve, and how many ranks hand their rows over, in words.
  std::string link() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace newel
