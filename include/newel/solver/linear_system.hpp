// SPDX-License-Identifier: Apache-2.0
/// LinearSystem: the facade that a simulation code uses. Set up once, refresh values, solve many times.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <newel/core/error.hpp>
#include <newel/core/matrix_input.hpp>
#include <newel/precond/inverse_residual.hpp>
#include <newel/solver/candidate.hpp>
#include <newel/solver/pending_solve.hpp>
#include <newel/solver/system_info.hpp>
#include <newel/solver/system_options.hpp>
#include <newel/solver/system_parts.hpp>

namespace newel {

/// A x = b for one sparsity pattern: order, format, preconditioner and solver, with their vectors.
///
/// The constructor reads the caller's arrays and keeps no reference to them. `refresh` replaces the values.
/// Solver order is the numbering in which the system works; a time loop may keep its vectors in it
/// (`to_solver_order`, `solve_ordered`, `to_user_order`) and save two gathers per solve.
///
/// Device systems read and write on the stream of their context: what other streams wrote must be finished before it
/// is handed in. `solve` returns when x is ready for any stream; the other functions when their work is queued.
/// Vectors of a length other than `rows()` are refused with InputError.
///
/// Thread safety: one thread at a time uses a LinearSystem. While a solve of `solve_async` is pending, every call on
/// it, and on other systems with its context, throws InUse, but for `rows()`; moving, assigning to or destroying the
/// system waits for the solve. Systems with contexts of their own are independent and may be used at the same time,
/// from different threads or on different streams.
template <class T, Space S>
class LinearSystem {
 public:
  /// Sets everything up for the square canonical matrix `a`. Throws InputError for a matrix that is not square, not
  /// canonical (see SystemOptions::canonicalise), or does not support the preconditioner; OutOfMemory; DeviceError.
  /// `parts` holds an M of the caller's own.
  LinearSystem(const Context<S>& ctx, const CsrView<T, S>& a, SystemOptions options = {},
               SystemParts<T, S> parts = {});
  /// The same for a matrix in any of the forms of a MatrixInput. Throws InputError also for what `AssembledMatrix`
  /// refuses.
  LinearSystem(const Context<S>& ctx, const MatrixInput<T, S>& a, SystemOptions options = {},
               SystemParts<T, S> parts = {});
  /// The same for an operator, of which no entry is known (`borrowed(A)` for one that the caller keeps alive): no
  /// format is chosen, nothing is renumbered, and M is the caller's, none, or Jacobi where A tells its diagonal
  /// (`LinearOperator::matrix_diagonal`). Under the solver "auto" two products show whether A is symmetric. Throws
  /// InputError that names what is missing for what needs entries: other preconditioners, a format, an order.
  LinearSystem(const Context<S>& ctx, std::shared_ptr<const LinearOperator<T, S>> a, SystemOptions options = {},
               SystemParts<T, S> parts = {});
  ~LinearSystem();
  LinearSystem(LinearSystem&&) noexcept;
  LinearSystem& operator=(LinearSystem&&) noexcept;

  /// Unknowns.
  Index rows() const;

  /// New values on the same pattern: `values` in the order, form and number of those given to the constructor,
  /// repeated ones and a stored half included. No allocation.
  /// On failure (a zero diagonal entry, say) throws InputError and the system is unusable until the next refresh.
  /// An automatic choice of solver, format or preconditioner stays as it is; a later solve may exchange it (see
  /// `solve`). With `operator_only` the preconditioner keeps those of the last full refresh, or of the
  /// constructor; where that refresh failed, only a full one makes the system usable again. A system that was given
  /// an operator throws InputError: see `operator_changed`.
  void refresh(Span<const T, S> values, RefreshScope scope = RefreshScope::everything);

  /// Where the nodes of the mesh lie from now on, as many in as many dimensions as SpmvOptions::coordinates had: the
  /// next `refresh` of everything makes AMG's rigid body modes of them, and its prolongators, also where it would
  /// keep these (AmgRefresh::galerkin), but not with AmgRefresh::keep. What depends on coordinates otherwise, as an
  /// order by them, stays until it is made again. Allocates temporary memory, and waits on the stream. Throws
  /// InputError for coordinates that do not fit or are not finite, and where the system had none.
  void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates);

  /// Where the matrix keeps its values, and where the preconditioner puts those that it is made from (nothing for
  /// "none"), for callers who compute them in place instead of handing over CSR values. Entries are those of the
  /// matrix given to the constructor. Throws InputError where the matrix had to be assembled and in mixed
  /// precision. Waits on the stream.
  Slots<T, S> matrix_slots();
  Slots<T, S> preconditioner_slots();

  /// To be called when the slots have been written, on the stream of the context: what `refresh` is to new values,
  /// with the same errors. With `operator_only` the slots of the preconditioner need not have been written.
  void slots_written(RefreshScope scope = RefreshScope::everything);

  /// To be called when an operator of the caller's, A or M, stands for another matrix than before: what is known of
  /// it, its null space and the Jacobi that was made from its diagonal, is found out again, Jacobi's not with
  /// `operator_only`. Errors as those of `refresh`. Graphs are kept: an operator that says it is `capturable` has
  /// kept its addresses.
  void operator_changed(RefreshScope scope = RefreshScope::everything);

  /// Solves from the guess in x, or from zero, which spares a product and passes over x, with the same bits as from
  /// zeros in x. b and x are in the caller's order; see KrylovSolver::solve. Under "auto" solvers and
  /// preconditioners that fail are followed by the next; format and preconditioner by others that are worth their
  /// setup, before the solve or on its way (SolveReport::changed): docs/automatic-choices.md. A system so near the
  /// ends of the range of T that squares leave it is solved in other units, powers of two, once the first solver has
  /// failed; that allocates.
  [[nodiscard]] SolveReport solve(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress = {},
                                  InitialGuess guess = InitialGuess::in_x);

  /// The same with b and x in solver order.
  [[nodiscard]] SolveReport solve_ordered(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress = {},
                                          InitialGuess guess = InitialGuess::in_x);

  /// `solve` on a thread of its own: returns at once, with the same x, counts and history. Where b and x lie, and
  /// what `progress` refers to, stays as it is until the report is taken (`PendingSolve::get`) or given up;
  /// `progress` is called on that thread. What `solve` throws comes out of `get`. The context and its copies belong
  /// to the solve until then; on the device their stream too. Throws InUse where a solve is pending,
  /// std::system_error where the system has no more threads.
  [[nodiscard]] PendingSolve solve_async(Span<const T, S> b, Span<T, S> x, ProgressFn progress = {},
                                         InitialGuess guess = InitialGuess::in_x);

  /// Solves A x_c = b_c for c = 0 .. columns - 1, each from its own guess, or all from zero. b and x hold `rows()` x
  /// `columns` numbers, column after column (column c from c rows() on), in the caller's order. Returns a report for
  /// each column, in order: columns converge, fail and are counted independently.
  ///
  /// Where CG is the solver (or the first that is tried), up to eight columns iterate side by side and share the
  /// reads of the matrix, for which CSR and EHYB have products of their own; a column that ends makes room for the
  /// next. Counts and histories are those of a `solve` alone but for rounding: on the host sums keep their order. On
  /// a device no batch runs in the resident kernel. BiCGStab, GMRES and mixed precision take column after column.
  ///
  /// The callback is called for one column at a time (Progress::column); if it returns false, no column iterates any
  /// further. The time limit is that of the call. `SolveReport::seconds` is the time from a column's start to its
  /// end, in which others have iterated too. The first call allocates what it needs beyond the vectors of one column:
  /// five vectors for each of up to eight columns, with a reordered matrix two for each column, and under the solver
  /// "auto" and for null spaces one more of each; a later one for no more columns allocates nothing. Throws
  /// InputError for lengths that do not fit and for b and x that share memory; OutOfMemory.
  [[nodiscard]] std::vector<SolveReport> solve_columns(Span<const T, S> b, Span<T, S> x, Index columns,
                                                       const ProgressFn& progress = {},
                                                       InitialGuess guess = InitialGuess::in_x);

  /// `solve_columns` on a thread of its own; see `solve_async`.
  [[nodiscard]] PendingColumns solve_columns_async(Span<const T, S> b, Span<T, S> x, Index columns,
                                                   ProgressFn progress = {}, InitialGuess guess = InitialGuess::in_x);

  /// The same with the vectors in solver order.
  [[nodiscard]] std::vector<SolveReport> solve_columns_ordered(Span<const T, S> b, Span<T, S> x, Index columns,
                                                               const ProgressFn& progress = {},
                                                               InitialGuess guess = InitialGuess::in_x);

  /// solver_order = the vector `user_order` renumbered. Queued on the stream.
  void to_solver_order(Span<const T, S> user_order, Span<T, S> solver_order) const;
  /// The way back.
  void to_user_order(Span<const T, S> solver_order, Span<T, S> user_order) const;

  /// y = A x in the caller's order. Throws InputError for x and y that share memory, and after a refresh that failed.
  void multiply(Span<const T, S> x, Span<T, S> y);

  /// What the system is made of now; a solve under `auto` may change it.
  SystemInfo info() const;

  /// The combinations of format and preconditioner that the automatic choices compare, by the cost model, the one of
  /// fewest seconds for one solve first. Their iterations follow from those of the solves so far, else from the size.
  /// Empty where the model knows nothing: for operators, mixed precision with a named format or preconditioner, an M
  /// of the caller's, measured formats, and where both were named. Reads the pattern.
  std::vector<SystemCandidate> candidates() const;

  /// What has been decided and learnt up to now, for a system that is to begin here (`SystemOptions::decision`): in a
  /// later run, say. Reads no clock. Values, M's included, are not part of it.
  SystemDecision decision() const;

  /// Moves the system to the format or the preconditioner whose setup the iterations of all solves so far have paid
  /// for, if "auto" chose the present one and another is worth it. `solve` does that by itself until a caller uses
  /// `order`, slots, ordered operators or vectors in solver order: those that were handed out before are void where
  /// this returns true.
  bool improve();

  /// The numbering of solver order, for the caller's own operators in addition to A (`permute`, `make_spmv`). Where
  /// it is used before the first solve, as slots and ordered operators too, the system first takes the format and the
  /// preconditioner that are expected to pay, since a solve cannot change them any more.
  const RowOrder<S>& order() const;
  /// A in solver order, as long as the system lives.
  const LinearOperator<T, S>& ordered_matrix() const;
  /// M in solver order; null where there is none.
  const LinearOperator<T, S>* ordered_preconditioner() const;

  /// How far the preconditioner M is from the inverse of A, in its own side's norm; see `inverse_residual` for its
  /// cost. A system without preconditioner is measured with M = I.
  InverseResidual preconditioner_residual() const;

  /// Tolerances and limits may change between solves.
  void set_stop_criterion(const StopCriterion& stop);
  const StopCriterion& stop_criterion() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> settled() noexcept;

  std::unique_ptr<Impl> impl_;
};

}  // namespace newel
