// SPDX-License-Identifier: Apache-2.0
/// What all Krylov solvers share: stopping criterion, report and interface.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <newel/core/option_bag.hpp>
#include <newel/solver/failure.hpp>
#include <newel/solver/guess.hpp>
#include <newel/solver/recycle.hpp>
#include <newel/spmv/operator.hpp>

namespace newel {

template <class T, Space S>
class BatchSolver;

namespace detail {
template <class T, Space S>
class OperatorExchange;
template <class T, Space S>
class Recycling;
}  // namespace detail

/// Iterate until |b - A x|_2 <= max(rel_tol |b|_2, abs_tol). The residual is unpreconditioned.
struct StopCriterion {
  int max_iterations = 10000;     ///< one product with A per iteration, two in BiCGStab
  double rel_tol = 1e-8;          ///< relative; systems in float reach only about 1e-5 and need a larger value
  double abs_tol = 0;             ///< absolute, in the units of b
  double time_limit_seconds = 0;  ///< 0: no limit; checked every `check_every` iterations
  /// Iterations between two polls of residual, clock and callback by the host; at most 64. 0: automatic, 1 on the
  /// host and 16 on the device; fewer on the device if the previous solve took fewer, and up to 256 in a resident
  /// solve. Iteration counts and histories do not depend on it.
  int check_every = 0;
};

/// How a solve ended. Only `converged` is success, and it is based only on a computed residual b - A x.
enum class Status {
  converged,              ///< |b - A x| plus its own rounding bound meets the tolerance
  max_iterations,         ///< `StopCriterion::max_iterations` were made
  breakdown,              ///< it cannot continue (BiCGStab, IDR(s) after restarts; GMRES, `direct`: singular A)
  not_positive_definite,  ///< CG met p.Ap <= 0 (the matrix), or CG or MINRES r.Mr <= 0 (M); `failure` says which
  not_finite,  ///< NaN or infinity in the matrix, the right-hand side or the guess; overflow, or |b| underflows
  stagnation,  ///< the residual no longer falls, because of rounding or lack of progress; `failure` says which
  diverged,    ///< the residual grew far above |b|; x is the best iterate that was kept
  time_limit,  ///< `StopCriterion::time_limit_seconds` have passed
  stopped_by_caller,  ///< the progress callback returned false
};

/// "converged", "max_iterations", ...
std::string_view name_of(Status status);

/// One attempt of several, if the solver was chosen automatically.
struct Attempt {
  std::string solver;                      ///< as in SolveReport
  Status status = Status::max_iterations;  ///< how it ended
  int iterations = 0;                      ///< of this attempt only
  double true_residual = 0;                ///< |b - A x| at its end
  double seconds = 0;                      ///< of this attempt
  std::string reason;                      ///< `failure` as a sentence
  double attainable_residual = 0;          ///< as in SolveReport, of this attempt only
  std::string method;                      ///< as in SolveReport
  Failure failure = {};                    ///< why it did not converge
  std::string preconditioner = {};         ///< if several were tried
};

/// How well a solve has solved. Norms are 2-norms of unpreconditioned residuals, absolute.
struct SolveResiduals {
  double rhs_norm = 0;             ///< |b|
  double tolerance = 0;            ///< max(rel_tol |b|, abs_tol)
  double initial_residual = 0;     ///< |b - A x0|; with the constant null space, x0 minus its mean
  double recurrence_residual = 0;  ///< the recurrence's residual at the end; |M r| in left-preconditioned GMRES
  double true_residual = 0;        ///< |b - A x| of the last x, computed before a null space is removed from x
  /// Bound on the rounding error of `true_residual`. A solve is `converged` only if their sum meets the tolerance.
  /// The bound is proven if `twice_precision`. For an operator with unknown entries it is eps |A| |x|, estimated by a
  /// product with a random vector; 0 if the solve did not reach the tolerance.
  double residual_error_bound = 0;
  bool twice_precision = false;  ///< b - A x was computed in twice the precision of A and x
  /// max over the rows of |b - A x|_i / (sum_j |a_ij| max|x| + |b_i|). Near 1 if some row is not solved at all. The
  /// ratio |b - A x| / |b| does not show this if the row is small compared with others. Negative: the entries are
  /// unknown.
  double row_residual = -1;
  /// If rows were scaled (ScalingOptions): |E (b - A x)| / |E b|, where E divides each row by its largest entry; no
  /// row is far larger than others there. Negative: the rows were not scaled.
  double scaled_residual = -1;
  /// For `stagnation` only: the residual that rounding allows, that of the best x; 0 without evidence for it. The
  /// evidence: it is at most 100 eps |A| |x|, with |A| estimated; the tolerance is at most 10 eps |A| |x|; x solves
  /// the system to half the digits; and all attempts that ended in stagnation agree within a factor of 100.
  double attainable_residual = 0;

  /// residual / |b|, or the residual itself if b = 0.
  double relative(double residual) const { return rhs_norm > 0 ? residual / rhs_norm : residual; }
};

/// What a solve has done.
struct SolveWork {
  int iterations = 0;             ///< total of all attempts
  int residual_replacements = 0;  ///< how often the recurrence met the tolerance but b - A x did not
  /// Mixed precision: residuals in double from which the iteration continued; `direct`: steps of iterative refinement
  int refinements = 0;
  int cycle_length = 0;   ///< GMRES: iterations between restarts
  int restarts = 0;       ///< GMRES: cycles after the first; BiCGStab, IDR(s): restarts after breakdowns
  int second_passes = 0;  ///< GMRES: second passes of Gram-Schmidt
  bool resident = false;  ///< all iterations, at least one, ran in a kernel that kept the vectors on the chip
  double seconds = 0;     ///< from the call to the confirmed residual
};

/// The result of a solve.
struct SolveReport : SolveResiduals, SolveWork {
  Status status = Status::max_iterations;  ///< how it ended
  /// "cg", "minres", "bicgstab", "idrs", "gmres", "fgmres"; "mixed cg" if it iterated in single precision; "division"
  /// for a diagonal matrix; "direct"
  std::string solver;
  std::string method;  ///< name in the table of solvers: "cg" also for "mixed cg"; empty for "division"
  Failure failure;     ///< why it did not converge
  std::string reason;  ///< `failure` as a sentence (`text_of`); empty for `converged`
  /// A warning for a converged solve: some rows are hardly solved. Empty: no warning.
  std::string warning;
  std::vector<double> history;    ///< residual before the first and after each iteration, by the recurrence
  std::vector<Attempt> attempts;  ///< one or more, in order
  GuessReport guess;              ///< what the solve began with, if the system keeps past solutions (GuessOptions)
  RecycleReport recycle;          ///< approximate eigenvectors of earlier solves that were used (RecycleOptions)
  /// What LinearSystem replaced in this solve, and why: "format ehyb for csr after 1,200 iterations". Empty: nothing.
  /// Only solves that change something, or that inspect values to decide, allocate.
  std::string changed;

  /// Whether the status is `Status::converged`.
  bool converged() const { return status == Status::converged; }
};

/// What a progress callback receives.
struct Progress {
  std::string_view solver;       ///< the current solver, as in SolveReport
  int iteration = 0;             ///< iterations so far
  double residual = 0;           ///< of the recurrence; |M r| in left-preconditioned GMRES
  double relative_residual = 0;  ///< residual / |b|
  double tolerance = 0;          ///< absolute, in the same norm
  double seconds = 0;            ///< since the start of the solve
  Index column = 0;              ///< with several right-hand sides: which one this is about
  Index columns = 1;             ///< number of right-hand sides
  /// Estimate of the remaining iterations, from the residuals so far; 0: not known yet.
  double iterations_left = 0;
};

/// Called on the calling thread at every check. Returning false ends the solve with `stopped_by_caller`.
using ProgressFn = std::function<bool(const Progress&)>;

namespace detail {

/// Why a solve ends now as `stagnation`; nullopt: it continues.
using GiveUpFn = std::function<std::optional<Failure>(const Progress&)>;

}  // namespace detail

/// The starting point of a solve.
enum class InitialGuess {
  in_x,  ///< the values in x
  zero,  ///< zero, whatever x holds: the first residual is b and needs no product
};

/// One solve: the system, its start and its stopping criterion. Refers to objects that the caller keeps alive.
template <class T, Space S>
struct SolveRequest {
  const Context<S>& ctx;          ///< where it runs
  const LinearOperator<T, S>& A;  ///< square
  const LinearOperator<T, S>* M;  ///< the preconditioner; null: none
  Span<const T, S> b;             ///< the right-hand side
  Span<T, S> x;                   ///< the guess, and the result
  const StopCriterion& stop;      ///< tolerances and limits
  const ProgressFn& progress;     ///< called at every check; may be empty
  /// `zero`: x holds zeros, so b - A x = b. Methods that ignore this compute b - A x.
  InitialGuess guess = InitialGuess::in_x;
  /// Internal: for the owner of A and M, who may replace them during the solve; null: nobody does.
  detail::OperatorExchange<T, S>* exchange = nullptr;
  /// Internal: called at every check, after `progress`; may be null.
  const detail::GiveUpFn* give_up = nullptr;
  /// Internal: what the sequence of solves recycles; null: nothing.
  detail::Recycling<T, S>* recycling = nullptr;
};

/// A method for A x = b with an optional preconditioner M, an operator close to the inverse of A. It owns its work
/// vectors: construct it once for a length and use it many times. Only the first solve allocates in S. On the device,
/// iterations are kept as CUDA graphs if A and M are `capturable`; the driver holds a few kilobytes per kernel.
template <class T, Space S>
class KrylovSolver {
 public:
  virtual ~KrylovSolver() = default;

  /// Name in the table of solvers.
  virtual std::string_view name() const = 0;

  /// Does the one-time work of the first solve with these A and M: allocations and choices that depend on them. A
  /// solve with other operators repeats it. Waits on the context's stream. Throws DeviceError.
  virtual void prepare(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) {
    static_cast<void>(ctx), static_cast<void>(A), static_cast<void>(M);
  }

  /// Replaces the values of the matrix that the method was made from, in the caller's order: see
  /// `SolverMethod::make_from_matrix`. Other methods see new values in A. Throws InputError for values that the
  /// method does not support.
  virtual void refresh(const Context<S>& ctx, Span<const T, S> values) {
    static_cast<void>(ctx), static_cast<void>(values);
  }

  /// This solver, if it takes several right-hand sides together; null: it does not. Asked only of methods that are
  /// made from the matrix: others have `SolverMethod::make_batch`.
  virtual BatchSolver<T, S>* as_batch() { return nullptr; }

  /// Solves from the guess in x and overwrites x with the result: the last iterate, or the best one for methods that
  /// say so. M may be null. Throws InputError if lengths do not fit or b and x share memory. Waits on the context's
  /// stream at its check points. Several solvers may share A and M if only one thread uses them at a time.
  [[nodiscard]] SolveReport solve(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                                  Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                                  const ProgressFn& progress = {}) {
    return run({ctx, A, M, b, x, stop, progress});
  }

  /// The same for a request; methods implement this.
  [[nodiscard]] virtual SolveReport run(const SolveRequest<T, S>& request) = 0;
};

/// Which method, and its options.
struct SolverOptions {
  std::string name =
      "auto";              ///< "auto" (LinearSystem only) or a name of the table: "cg", "bicgstab", "gmres", "minres"
  OptionBag methods = {};  ///< options of each method: CgOptions, GmresOptions, ...; ScalingOptions, GuessOptions,
                           ///< RecycleOptions

  /// The options of one method, for example `options.of<GmresOptions>().restart = 100`.
  template <class Options>
  Options& of() {
    return methods.of<Options>();
  }
  template <class Options>
  const Options& of() const {
    return methods.of<Options>();
  }
};

}  // namespace newel
