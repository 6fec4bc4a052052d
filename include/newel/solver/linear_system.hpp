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
#include <newel/solver/decision.hpp>
#include <newel/solver/pending_solve.hpp>
#include <newel/solver/registry.hpp>
#include <newel/solver/system_parts.hpp>
#include <newel/spmv/format_choice.hpp>

namespace newel {

/// Directions that A maps to zero, taken out of the solution.
enum class NullSpace {
  none,  ///< A is regular
  /// The vector of ones: pure Neumann problems. The returned x has mean zero. Where the columns of A sum to zero too
  /// and b does not, x solves the system for b without its mean, and the status is `stagnation`.
  constant,
};

/// What `LinearSystem::refresh` replaces.
enum class RefreshScope {
  everything,  ///< the matrix and the preconditioner
  /// The matrix; the preconditioner keeps its values. For values that change little from solve to solve: an old
  /// approximate inverse then works nearly as well as a new one and costs nothing.
  operator_only,
};

/// What estimates are multiplied by, to see what wrong ones cost.
struct EstimateScale {
  double iterations = 1;      ///< iterations to come
  double single_seconds = 1;  ///< seconds of an iteration in single precision
};

/// The options of a LinearSystem.
struct SystemOptions {
  /// The format may also be "auto", the default, or "measure": see `choose_format_by_cost` and `measure_formats`.
  SpmvOptions spmv{"auto"};
  /// Products that this setup will be used for, which a chosen format must pay back in; 0: those of one solve, as
  /// `expected_products` estimates them.
  double expected_products = 0;
  /// Right-hand sides that a solve will bring at once: with several, "auto" leaves out formats that multiply one
  /// vector after the other, and memory is checked for their vectors too. Any number, 1 at the least; others may come
  /// all the same.
  int columns = 1;
  /// The name may also be "auto", the default: see `choose_precond`. If the solvers fail with the one that was
  /// chosen, the others follow.
  PrecondOptions precond{"auto"};
  SolverOptions solver;  ///< which method, and its choices
  /// Tolerances and limits of a solve. The time limit counts for the constructor too, and what that takes counts as a
  /// part of the first solve. If it ends the setup of a preconditioner, solves return `Status::time_limit` at once.
  /// No setup is begun in a solve that is estimated to take longer than what is left.
  StopCriterion stop;
  NullSpace null_space = NullSpace::none;  ///< what is known of it
  /// Iterate in single precision, and form residuals in double: for systems in double, whose solution is as good as
  /// that of an iteration in double. Matrix and preconditioner are stored in single precision, and the matrix also in
  /// double as CSR. If single precision is not enough, the solver continues in double, and the report says so; if it
  /// does not support the preconditioner, everything is done in double, and `SystemInfo::precision_reason` says so.
  ///
  /// Where format and preconditioner are "auto", the precision is chosen like them: the system iterates in single
  /// precision if that is expected to be faster than double with the best preconditioner, and else in double.
  bool mixed = false;
  /// The same bits on every run on the same machine or device with as many threads: what is chosen by measuring times
  /// (the format "measure") or may differ from run to run ("csr:alg1" on a device) is refused with InputError, and no
  /// device is measured for the cost model. All else keeps its bits anyway.
  bool deterministic = false;
  /// The caller's own numbering: new row i is the caller's row old_of_new[i]. Empty: the format decides.
  std::vector<Index> old_of_new;
  /// Bounds of parts in that numbering, or without one in the caller's, parts + 1, ascending from 0 to n: for formats
  /// with parts, which else cut into equal ranges. An order and its parts may be kept (`LinearSystem::order`) and
  /// given to a later system. Bounds that do not fit are refused with InputError.
  std::vector<Index> part_begin;
  /// Where an earlier system of the same pattern stood (`LinearSystem::decision`): what the options leave to "auto"
  /// is taken from it instead of being decided, and the system goes on where that one was. Made from the values that
  /// the other one had, its solves have the same bits, on the same machine with as many threads; on a device with
  /// Jacobi or none, and up to rounding with other preconditioners; with AMG, whose levels stay those of the values
  /// that it was set up from, only if these have not changed. With `old_of_new` and `part_begin` of that system its
  /// order is not planned again. Throws InputError where the sizes differ, and for names that the tables do not have.
  std::optional<SystemDecision> decision;
  /// Accept CSR rows with unsorted or repeated columns: sort and sum them. Otherwise they are refused. Other forms of
  /// a MatrixInput than CSR, and CSR that has to be converted anyway (`MatrixInput::as_csr`), are always sorted and
  /// summed.
  bool canonicalise = false;
  EstimateScale estimate_scale;  ///< for studies of what wrong estimates cost; leave it as it is
};

/// What `LinearSystem::info` returns.
struct SystemInfo {
  OperatorInfo matrix;                ///< A in its format
  OperatorInfo preconditioner;        ///< name "none" where there is none
  LocatedText preconditioner_reason;  ///< why, where it was chosen automatically
  bool mixed = false;                 ///< `matrix` and `preconditioner` are those in single precision
  std::string precision_reason;       ///< where mixed precision was requested and is not used: why
  /// Mixed precision: A in double, for true residuals, and the values that the one in single precision is refreshed
  /// from. Without a name otherwise.
  OperatorInfo residual_matrix;
  std::string solver;         ///< the one that a solve starts with
  std::string method;         ///< the same as the table of solvers has it: "cg" for "mixed cg" and before "division"
  std::string solver_reason;  ///< why, where it was chosen automatically
  FormatChoice format;        ///< with its grounds, where it was chosen
  OrderReport order;          ///< the order of its rows
  bool reordered = false;     ///< whether that is not the caller's
  /// Unknowns in whose columns no entry is stored: no residual depends on them, and a solve leaves them as its guess
  /// has them. Caller's numbering.
  RowCount free_unknowns;
  std::vector<std::pair<std::string, double>> setup_seconds;  ///< by phase
  std::uint64_t bytes = 0;                                    ///< held in S by all that was made with this context
};

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
