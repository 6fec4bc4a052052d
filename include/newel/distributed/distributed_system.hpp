// SPDX-License-Identifier: Apache-2.0
/// DistributedSystem: one system whose rows are distributed over ranks: threads of a process, or processes under MPI;
/// on the host, or each with a device.
#pragma once

#include <memory>
#include <string>
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

/// How values travel between the devices of ranks.
enum class RankLink {
  automatic,  ///< the first of these that is possible
  peers,      ///< packets that GPUs store in each other's memory: for ranks of one host, each with a GPU
  nccl,       ///< NCCL, which is loaded: each rank has a GPU, and the communicator knows of failures
  host,       ///< through memory of the host and the communicator; slower, but ranks may share a GPU
};

/// A x = b with the rows of A, b and x distributed over ranks. All ranks call each function together and with the
/// same options. Each rank passes its own rows and gets its own part of x.
///
/// In the device space each rank has a device, and b and x are on it; several ranks may share one. Ranks in threads
/// of one process, each with a device, are several GPUs for one system.
///
/// Solvers, stopping, statuses and reports are those of LinearSystem. Sums are added in the order of ranks, so the
/// bits depend only on the number of ranks and threads or, on devices, on ranks and device. One rank gives the bits
/// of a LinearSystem with the format "csr", if the options name solver and preconditioner.
///
/// On the host rows are in CSR. In the device space they are in EHYB if there are several ranks and all rows suit it,
/// unless the format is "csr". If the devices reach each other's memory (RankLink::peers) and the vectors fit on the
/// chips, CG with Jacobi or without a preconditioner is one kernel on each device (`SolveReport::resident`).
///
/// The preconditioner is "jacobi", "l1-jacobi", "fsai", "spai", "spai0", "amg" or "none". FSAI and SPAI are the
/// matrices that one rank computes: rows of other ranks are fetched at setup, and their values at every refresh.
/// Their options are honoured, except given patterns and `SpaiOptions::adaptive`. "auto" tries a few iterations with
/// Jacobi, and with the best of the others if the cost model expects a gain; it does not change the preconditioner
/// during a solve. In the device space the host computes FSAI, SPAI and AMG's levels, and the device multiplies with
/// them.
///
/// AMG joins the nodes of a rank, and takes few more iterations than on one rank. Coordinates and near-null vectors
/// in the options are those of this rank's rows. The unknowns of a node are adjacent, and of one rank. Coarse levels
/// of few rows are gathered on every rank. A system with few rows has the M of one rank.
///
/// Errors: if a rank throws, the others throw RankFailed with its message. The communicator cannot be used any more
/// after that.
template <class T, Space S = Space::host>
class DistributedSystem {
 public:
  /// Reads this rank's rows and keeps no reference to them. `ctx` has this rank's threads, or its device and stream.
  /// Throws InputError for rows that do not fit RankRows, for options that differ between ranks, and for options that
  /// ranks do not have: formats, orders, mixed precision, other preconditioners. Throws ZeroDiagonal, NotSymmetric
  /// and NotPositiveDefinite with the row of the whole system, on one rank at least; the others may throw RankFailed
  /// with the same words. Throws OutOfMemory.
  ///
  /// `link`: how values travel between devices, which all ranks choose alike. A choice also throws DeviceError if
  /// that link cannot be made, and InputError on the host.
  DistributedSystem(const Context<S>& ctx, std::shared_ptr<Communicator> communicator, const RankRows<T>& a,
                    SystemOptions options = {}, RankLink link = RankLink::automatic);
  ~DistributedSystem();
  DistributedSystem(DistributedSystem&&) noexcept;
  DistributedSystem& operator=(DistributedSystem&&) noexcept;

  /// The number of this rank's rows, the first of them in the whole system, and the number of all rows.
  Index rows() const;
  std::int64_t first_row() const;
  std::int64_t all_rows() const;

  /// New values on the same pattern, in the order of those before; the preconditioner too gets new ones.
  void refresh(Span<const T, S> values);

  /// Solves from the guess in x or from zero: see LinearSystem::solve. b and x are this rank's parts. The report is
  /// the same on all ranks; `seconds` is the longest time of a rank. `progress` may be given on some ranks only. The
  /// solve ends on all ranks if one of them returns false. If some ranks pass a guess and others InitialGuess::zero,
  /// the parts of the latter are zero.
  [[nodiscard]] SolveReport solve(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress = {},
                                  InitialGuess guess = InitialGuess::in_x);

  /// Solves A x_c = b_c for c = 0 .. columns - 1: see LinearSystem::solve_columns. b and x have `rows()` x `columns`
  /// values, this rank's part of column 0 first. Returns one report per column, the same on all ranks. The time limit
  /// applies to the whole call; `progress` as for `solve`.
  [[nodiscard]] std::vector<SolveReport> solve_columns(Span<const T, S> b, Span<T, S> x, Index columns,
                                                       const ProgressFn& progress = {},
                                                       InitialGuess guess = InitialGuess::in_x);

  /// Tolerances and limits may change between solves. All ranks pass the same. Throws InputError if they differ.
  void set_stop_criterion(const StopCriterion& stop);

  /// z = M r with the preconditioner that the next solve begins with; z = r if there is none. r and z are this rank's
  /// parts. Throws InputError if they share memory.
  void precondition(Span<const T, S> r, Span<T, S> z);

  /// y = A x; both are this rank's parts. On a device queued on the context's stream.
  void multiply(Span<const T, S> x, Span<T, S> y);

  /// The solver, format and preconditioner of the system. Sizes and bytes of the matrix are those of all ranks;
  /// `bytes` is what this rank holds. Each rank may call it alone.
  SystemInfo info() const;

  /// How values travel between ranks, in words: for example "NCCL 2.28.9", or why they go by way of the
  /// host.
  std::string link() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace newel
