// SPDX-License-Identifier: Apache-2.0
/// LinearSystem: the main class for simulation codes. Set up once, refresh values, solve many times.
#pragma once

#include <memory>
#include <vector>

#include <newel/core/error.hpp>
#include <newel/core/matrix_input.hpp>
#include <newel/precond/inverse_residual.hpp>
#include <newel/solver/system_info.hpp>
#include <newel/solver/system_options.hpp>
#include <newel/solver/system_parts.hpp>
#include <newel/solver/system_views.hpp>

namespace newel {
namespace detail {

/// Ends a system: waits for its pending solve.
template <class T, Space S>
struct EndOfSystem {
  void operator()(SystemState<T, S>* state) const noexcept;
};

}  // namespace detail

/// A x = b for one sparsity pattern: row order, matrix format, preconditioner, solver and their vectors.
///
/// The constructor reads the caller's arrays and keeps no reference to them. `refresh` replaces the values. Solver
/// order is the row numbering that the system uses internally. A time loop may keep its vectors in solver order
/// (`ordered`) and save two gathers per solve.
///
/// What most callers never need stands in four views: `async`, `ordered`, `in_place` and `history`.
///
/// Device systems read and write on the stream of their context. Other streams must have finished writing an array
/// before it is passed in. `solve` returns when x is ready for any stream; the other functions return when their work
/// is queued. Vectors whose length is not `rows()` throw InputError.
///
/// Thread safety: use a LinearSystem from one thread at a time. While a solve of `async()` is pending, every call on
/// the system, and on other systems with the same context, throws InUse, except `rows()` and what returns a view.
/// Assigning to or destroying the system waits for the pending solve. A system that is moved takes the solve and its
/// views along. Systems with separate contexts are independent: they may be used at the same time, from different
/// threads or on different streams.
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

  /// Number of unknowns.
  Index rows() const;

  /// Replaces the values on the same pattern. `values` has the order, form and length of the values given to the
  /// constructor, including repeated entries and a stored half. Allocates nothing. If it fails, for example at a zero
  /// diagonal entry, it throws InputError and the system is unusable until the next successful refresh. An automatic
  /// choice of solver, format or preconditioner is kept; a later solve may change it (see `solve`). With
  /// `operator_only` the preconditioner keeps the values of the last full refresh, or of the constructor. If a full
  /// refresh failed, only another full refresh makes the system usable again. A system that was given an operator
  /// throws InputError: see `InPlaceValues::operator_changed`.
  void refresh(Span<const T, S> values, RefreshScope scope = RefreshScope::everything);

  /// Replaces the coordinates of the mesh nodes: as many points and dimensions as SpmvOptions::coordinates had. The
  /// next refresh with RefreshScope::everything recomputes AMG's rigid body modes and its prolongators, even if
  /// AmgRefresh::galerkin would keep the prolongators, but not with AmgRefresh::keep. Other uses of coordinates, such
  /// as a row order, change only when they are built again. Allocates temporary memory and waits on the stream.
  /// Throws InputError if the number of points or dimensions differs, if a coordinate is not finite, if the system
  /// had no coordinates, or if it was given an operator.
  void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates);

  /// Solves from the guess in x, or from zero. Starting from zero saves a product and ignores x; the result has the
  /// same bits as a start from zeros in x. b and x are in the caller's order; see KrylovSolver::solve.
  ///
  /// If a solver or preconditioner chosen by "auto" fails, the next one is tried. Under "auto", format and
  /// preconditioner may also be replaced by others that are worth their setup cost, before or during the solve
  /// (SolveReport::changed); see docs/automatic-choices.md. If the first solver has failed and squares of the
  /// values overflow or underflow in T, the system is scaled by powers of two and solved again; that allocates.
  [[nodiscard]] SolveReport solve(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress = {},
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

  /// y = A x in the caller's order. Throws InputError if x and y share memory, and after a failed refresh.
  void multiply(Span<const T, S> x, Span<T, S> y);

  /// The present configuration of the system; a solve under "auto" may change it.
  SystemInfo info() const;

  /// Tolerances and limits may change between solves.
  void set_stop_criterion(const StopCriterion& stop);

  /// The same solves on a separate thread.
  AsyncSolves<T, S> async() const { return AsyncSolves<T, S>(*state_); }
  /// Vectors, A and M in solver order.
  OrderedSystem<T, S> ordered() const { return OrderedSystem<T, S>(*state_); }
  /// Values that the caller changes in the system's own memory, or in an operator of the caller.
  InPlaceValues<T, S> in_place() const { return InPlaceValues<T, S>(*state_); }
  /// What earlier solves have shown, to continue from.
  SystemHistory<T, S> history() const { return SystemHistory<T, S>(*state_); }

 private:
  template <class U, Space P>
  friend InverseResidual inverse_residual(const LinearSystem<U, P>& system);

  std::unique_ptr<detail::SystemState<T, S>, detail::EndOfSystem<T, S>> state_;
};

/// How far the preconditioner M of a system is from the inverse of A, in the norm of M's side (`precond_side`); see
/// the `inverse_residual` of operators for its cost. Without a preconditioner, M = I is measured.
template <class T, Space S>
InverseResidual inverse_residual(const LinearSystem<T, S>& system);

}  // namespace newel
