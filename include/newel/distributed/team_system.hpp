// SPDX-License-Identifier: Apache-2.0
/// TeamSystem: one system on several GPUs of a host, used like a LinearSystem from one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <newel/core/matrix_input.hpp>
#include <newel/distributed/distributed_system.hpp>

namespace newel {

/// A x = b for a whole matrix on the host, whose rows ranks of this process share. Each rank has a context: in the
/// device space a GPU, which several contexts may name. The caller has one thread and whole vectors on the host; the
/// class starts a thread for each further rank in every call, and copies parts of vectors to the devices and back.
///
/// Methods, results and reports are those of DistributedSystem, with its preconditioners and its restrictions.
/// Coordinates and near-null vectors are those of the whole matrix. A rank gets about as many entries as the others
/// (`row_bounds`).
///
/// Wrong lengths throw InputError and change nothing. After any other exception the system cannot be used any more.
/// The current device of the calling thread does not change. Use it from one thread at a time.
template <class T, Space S>
class TeamSystem {
 public:
  /// Sets the system up. The arrays of `a` are needed only during the call. Throws InputError if there is no context,
  /// for a matrix that is not square, and what DistributedSystem and AssembledMatrix throw.
  TeamSystem(std::vector<Context<S>> contexts, const MatrixInput<T, Space::host>& a, SystemOptions options = {},
             RankLink link = RankLink::automatic);
  ~TeamSystem();
  TeamSystem(TeamSystem&&) noexcept;
  TeamSystem& operator=(TeamSystem&&) noexcept;

  Index rows() const;  ///< of the whole matrix
  /// The first row of each rank, and the number of all rows at the end.
  const std::vector<std::int64_t>& first_rows() const;

  /// New values on the same pattern, in the order of `MatrixInput::values`; the preconditioner too gets new ones.
  void refresh(Span<const T, Space::host> values);

  /// Solves A x_c = b_c for c = 0 .. columns - 1, column after column in b and x: see
  /// `DistributedSystem::solve_columns`. `progress` is called on the calling thread.
  [[nodiscard]] std::vector<SolveReport> solve_columns(Span<const T, Space::host> b, Span<T, Space::host> x,
                                                       Index columns, const ProgressFn& progress = {},
                                                       InitialGuess guess = InitialGuess::in_x);

  /// The same for one right-hand side.
  [[nodiscard]] SolveReport solve(Span<const T, Space::host> b, Span<T, Space::host> x,
                                  const ProgressFn& progress = {}, InitialGuess guess = InitialGuess::in_x);

  /// Tolerances and limits may change between solves.
  void set_stop_criterion(const StopCriterion& stop);

  /// z = M r with the preconditioner that the next solve begins with; z = r if there is none. z may be r.
  void precondition(Span<const T, Space::host> r, Span<T, Space::host> z);

  /// y = A x; y may be x.
  void multiply(Span<const T, Space::host> x, Span<T, Space::host> y);

  /// As `DistributedSystem::info`; `bytes` is what all ranks hold.
  SystemInfo info() const;

  /// How values travel between the ranks, in words: see `DistributedSystem::link`.
  std::string link() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace newel
