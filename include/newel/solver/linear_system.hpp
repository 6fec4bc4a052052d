// SPDX-License-Identifier: Apache-2.0
/// LinearSystem: the main class for simulation codes. Set up once, refresh values, solve many times.
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

/// A x = b for one sparsity pattern: row order, matrix format, preconditioner, solver and their vectors.
///
/// The constructor reads the caller's arrays and keeps no reference to them. `refresh` replaces the values. Solver
/// order is the row numbering that the system uses internally. A time loop may keep its vectors in solver order
/// (`to_solver_order`, `solve_ordered`, `to_user_order`) and save two gathers per solve.
///
/// Device systems read and write on the stream of their context. Other streams must have finished writing an array
/// before it is passed in. `solve` returns when x is ready for any stream; the other functions return when their work
/// is queued. Vectors whose length is not `rows()` throw InputError.
///
/// Thread safety: use a LinearSystem from one thread at a time. While a solve of `solve_async` is pending, every call
/// on the system, and on other systems with the same context, throws InUse, except `rows()`. Moving, assigning to or
/// destroying the system waits for the pending solve. Systems with separate contexts are independent: they may be
/// used at the same time, from different threads or on different streams.
template <class T, Space S>
class LinearSystem {
 public:
  /// Sets up the system for the square canonical matrix `a`. Throws InputError if the matrix is not square, is not
  /// canonical (see SystemOptions::canonicalise) or does not support the preconditioner; OutOfMemory; DeviceError.
  /// `parts` may hold the caller's own preconditioner M.
  LinearSystem(const Context<S>& ctx, const CsrView<T, S>& a, SystemOptions options = {},
               SystemParts<T, S> parts = {});
  /// The same for a matrix in any form of a MatrixInput. Also throws InputError for input that `AssembledMatrix`
  /// refuses.
  LinearSystem(const Context<S>& ctx, const MatrixInput<T, S>& a, SystemOptions options = {},
               SystemParts<T, S> parts = {});
  /// The same for an operator, whose entries are unknown. Use `borrowed(A)` for an operator that the caller keeps
  /// alive. No format is chosen and nothing is renumbered. M is the caller's, none, or Jacobi if A provides its
  /// diagonal (`LinearOperator::matrix_diagonal`). With the solver "auto", two products test whether A is symmetric.
  /// Throws InputError, which names what is missing, for options that need entries: other preconditioners, a format
  /// or an order.
  LinearSystem(const Context<S>& ctx, std::shared_ptr<const LinearOperator<T, S>> a, SystemOptions options = {},
               SystemParts<T, S> parts = {});
  ~LinearSystem();
  LinearSystem(LinearSystem&&) noexcept;
  LinearSystem& operator=(LinearSystem&&) noexcept;

  /// Number of unknowns.
  Index rows() const;

  /// Replaces the values on the same pattern. `values` has the order, form and length of the values given to the
  /// constructor, including repeated entries and a stored half. Allocates nothing. If it fails, for example at a zero
  /// diagonal entry, it throws InputError and the system is unusable until the next successful refresh. An automatic
  /// choice of solver, format or preconditioner is kept; a later solve may change it (see `solve`). With
  /// `operator_only` the preconditioner keeps the values of the last full refresh, or of the constructor. If a full
  /// refresh failed, only another full refresh makes the system usable again. A system that was given an operator
  /// throws InputError: see `operator_changed`.
  void refresh(Span<const T, S> values, RefreshScope scope = RefreshScope::everything);

  /// Replaces the coordinates of the mesh nodes: as many points and dimensions as SpmvOptions::coordinates had. The
  /// next refresh with RefreshScope::everything recomputes AMG's rigid body modes and its prolongators, even if
  /// AmgRefresh::galerkin would keep the prolongators, but not with AmgRefresh::keep. Other uses of coordinates, such
  /// as a row order, change only when they are built again. Allocates temporary memory and waits on the stream.
  /// Throws InputError if the number of points or dimensions differs, if a coordinate is not finite, if the system
  /// had no coordinates, or if it was given an operator.
  void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates);

  /// Where the matrix stores its values, and where the preconditioner stores the values that it is built from (empty
  /// for "none"). For callers that compute values in place instead of passing CSR values. Entries are those of the
  /// matrix given to the constructor. Throws InputError if the matrix had to be assembled, and in mixed precision.
  /// Waits on the stream.
  Slots<T, S> matrix_slots();
  Slots<T, S> preconditioner_slots();

  /// Call this when the slots have been written, on the stream of the context. It does what `refresh` does for new
  /// values, with the same errors. With `operator_only` the preconditioner's slots need not be written.
  void slots_written(RefreshScope scope = RefreshScope::everything);

  /// Call this when an operator of the caller, A or M, represents a different matrix than before. The null space is
  /// checked again, and Jacobi is rebuilt from the new diagonal unless the scope is `operator_only`. Errors as for
  /// `refresh`. CUDA graphs are kept: an operator that reports `capturable` must have kept its addresses.
  void operator_changed(RefreshScope scope = RefreshScope::everything);

  /// Solves from the guess in x, or from zero. Starting from zero saves a product and ignores x; the result has the
  /// same bits as a start from zeros in x. b and x are in the caller's order; see KrylovSolver::solve.
  ///
  /// If a solver or preconditioner chosen by "auto" fails, the next one is tried. Under "auto", format and
  /// preconditioner may also be replaced by others that are worth their setup cost, before or during the solve
  /// (SolveReport::changed); see docs/automatic-choices.md. If the first solver has failed and squares of the
  /// values overflow or underflow in T, the system is scaled by powers of two and solved again; that allocates.
  [[nodiscard]] SolveReport solve(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress = {},
                                  InitialGuess guess = InitialGuess::in_x);

  /// The same with b and x in solver order.
  [[nodiscard]] SolveReport solve_ordered(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress = {},
                                          InitialGuess guess = InitialGuess::in_x);

  /// Runs `solve` on a separate thread and returns at once; x, counts and history are the same. The memory of b and
  /// x, and what `progress` refers to, must stay valid and unchanged until the report is taken (`PendingSolve::get`)
  /// or the PendingSolve is destroyed. `progress` is called on that thread. `get` rethrows what `solve` throws. Until
  /// then the context and its copies belong to the solve; on the device, their stream too. Throws InUse if a solve is
  /// pending, and std::system_error if no thread can be started.
  [[nodiscard]] PendingSolve solve_async(Span<const T, S> b, Span<T, S> x, ProgressFn progress = {},
                                         InitialGuess guess = InitialGuess::in_x);

  /// Solves A x_c = b_c for c = 0 .. columns - 1, each from its own guess, or all from zero. b and x hold `rows()` x
  /// `columns` values in the caller's order, column after column; column c starts at c rows(). Returns one report per
  /// column, in order: columns converge, fail and are counted independently.
  ///
  /// If the solver is CG, or if CG is tried first, up to eight columns iterate together and share the reads of the
  /// matrix. CSR and EHYB have special products for this. When a column ends, the next one takes its place. Counts
  /// and histories equal those of single solves up to rounding; on the host the order of sums is the same. On a
  /// device, batches do not use the resident kernel. BiCGStab, GMRES and mixed precision solve one column after
  /// another.
  ///
  /// The callback is called for one column at a time (Progress::column); if it returns false, all columns stop
  /// iterating. The time limit applies to the whole call. `SolveReport::seconds` is the time from a column's start to
  /// its end, including iterations of other columns.
  ///
  /// The first call allocates what it needs beyond the vectors of one column. That is five vectors for each of up to
  /// eight columns; with a reordered matrix, two more per column; with the solver "auto" and for null spaces, one
  /// more each. A later call with no more columns allocates nothing. Throws InputError if lengths do not fit or b and
  /// x share memory; OutOfMemory.
  [[nodiscard]] std::vector<SolveReport> solve_columns(Span<const T, S> b, Span<T, S> x, Index columns,
                                                       const ProgressFn& progress = {},
                                                       InitialGuess guess = InitialGuess::in_x);

  /// Runs `solve_columns` on a separate thread; see `solve_async`.
  [[nodiscard]] PendingColumns solve_columns_async(Span<const T, S> b, Span<T, S> x, Index columns,
                                                   ProgressFn progress = {}, InitialGuess guess = InitialGuess::in_x);

  /// `solve_columns` with the vectors in solver order.
  [[nodiscard]] std::vector<SolveReport> solve_columns_ordered(Span<const T, S> b, Span<T, S> x, Index columns,
                                                               const ProgressFn& progress = {},
                                                               InitialGuess guess = InitialGuess::in_x);

  /// Renumbers the vector `user_order` into `solver_order`. Queued on the stream.
  void to_solver_order(Span<const T, S> user_order, Span<T, S> solver_order) const;
  /// The inverse of `to_solver_order`.
  void to_user_order(Span<const T, S> solver_order, Span<T, S> user_order) const;

  /// y = A x in the caller's order. Throws InputError if x and y share memory, and after a failed refresh.
  void multiply(Span<const T, S> x, Span<T, S> y);

  /// The present configuration of the system; a solve under "auto" may change it.
  SystemInfo info() const;

  /// The combinations of format and preconditioner that the automatic choices compare by the cost model, fastest for
  /// one solve first. Iterations are estimated from earlier solves, or else from the size. Empty if the model does
  /// not apply: for operators, for mixed precision with a named format or preconditioner, for the caller's own M, for
  /// measured formats, and if both format and preconditioner were named. Reads the pattern.
  std::vector<SystemCandidate> candidates() const;

  /// What has been decided and learnt so far, to start a new system from (`SystemOptions::decision`), for example in
  /// a later run. Measures no times. Values of A and M are not included.
  SystemDecision decision() const;

  /// The past solutions that guesses are made from (GuessOptions) and the recycled vectors (RecycleOptions), for
  /// `set_guess_state` of a system of another run: with the matrix values of this one and the same options, its
  /// further solves then have the same bits as those of this one, as far as `SystemOptions::decision` says. Empty if
  /// nothing is kept. Waits on the stream.
  GuessState guess_state() const;
  /// Continues from that state, or forgets what is kept if it is empty. Throws InputError if the state is of another
  /// number of unknowns or of other options. The values are not checked: see GuessOptions and
  /// RecycleOptions.
  void set_guess_state(const GuessState& state);

  /// Changes to a better format or preconditioner if "auto" chose the present one and the iterations of all solves so
  /// far have recovered the setup cost of the new one. Returns whether anything changed. `solve` does this by itself
  /// until the caller uses `order`, slots, ordered operators or vectors in solver order. If this returns true, those
  /// obtained before are invalid.
  bool improve();

  /// The row numbering of solver order, for the caller's own operators in addition to A (`permute`, `make_spmv`). If
  /// it is used before the first solve, the system first changes to the format and preconditioner that are expected
  /// to be worth their setup cost: solves cannot change them afterwards. Slots and ordered operators do the same.
  const RowOrder<S>& order() const;
  /// A in solver order; valid as long as the system.
  const LinearOperator<T, S>& ordered_matrix() const;
  /// M in solver order; null if there is none.
  const LinearOperator<T, S>* ordered_preconditioner() const;

  /// How far the preconditioner M is from the inverse of A, in the norm of M's side (`precond_side`); see
  /// `inverse_residual` for its cost. Without a preconditioner, M = I is measured.
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
