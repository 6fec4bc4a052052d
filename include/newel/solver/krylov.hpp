// SPDX-License-Identifier: Apache-2.0
/// What every Krylov solver shares: stopping criterion, report, and the interface.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <newel/core/option_bag.hpp>
#include <newel/solver/failure.hpp>
#include <newel/spmv/operator.hpp>

namespace newel {

namespace detail {
template <class T, Space S>
class OperatorExchange;
}

/// Iterate until |b - A x|_2 <= max(rel_tol |b|_2, abs_tol). The residual is the unpreconditioned one.
struct StopCriterion {
  int max_iterations = 10000;     ///< products with A in CG and GMRES; BiCGStab takes two products an iteration
  double rel_tol = 1e-8;          ///< single precision reaches some 1e-5: systems in float should say so
  double abs_tol = 0;             ///< absolute, in the units of b
  double time_limit_seconds = 0;  ///< 0: none; checked every `check_every` iterations
  /// The host polls residual, clock and callback after this many iterations; 0: 1 on the host, 16 on
  /// the device, there fewer where the solve before took fewer, and up to 256 in a resident solve. Iteration counts
  /// and histories are exact whatever it is. At most 64.
  int check_every = 0;
};

/// How a solve ended. Only `converged` is success, and it is based on a true residual only.
enum class Status {
  converged,       ///< |b - A x| was formed and meets the tolerance, the bound of its own rounding added
  max_iterations,  ///< `StopCriterion::max_iterations` were made
  breakdown,       ///< the recurrence cannot continue (BiCGStab after its restarts, GMRES on a singular system)
  not_positive_definite,  ///< CG met p.Ap <= 0 (the matrix) or r.Mr <= 0 (the preconditioner); `failure` says which
  not_finite,  ///< NaN or infinity in the matrix, the right-hand side or the guess; overflow, or |b| underflows
  stagnation,  ///< the residual does not fall any more, by rounding or for want of progress; `failure` says which
  diverged,    ///< the residual grew far above |b|; x is the best iterate that was kept
  time_limit,  ///< `StopCriterion::time_limit_seconds` have passed
  stopped_by_caller,  ///< the progress callback returned false
};

/// "converged", "max_iterations", ...
std::string_view name_of(Status status);

/// One attempt of several, where a solver was chosen automatically.
struct Attempt {
  std::string solver;                      ///< as in SolveReport
  Status status = Status::max_iterations;  ///< how it ended
  int iterations = 0;                      ///< of this attempt
  double true_residual = 0;                ///< |b - A x| at its end
  double seconds = 0;                      ///< that it took
  std::string reason;                      ///< `failure` as a sentence
  double attainable_residual = 0;          ///< as in SolveReport, of this attempt alone
  std::string method;                      ///< as in SolveReport
  Failure failure = {};                    ///< why it did not converge
  std::string preconditioner = {};         ///< where several were tried
};

/// The result of a solve. Norms are 2-norms of unpreconditioned residuals, absolute.
struct SolveReport {
  Status status = Status::max_iterations;  ///< how it ended
  /// "cg", "bicgstab", "gmres"; "mixed cg" where it iterated in single precision; "division" of a diagonal matrix
  std::string solver;
  std::string method;              ///< the same as the table of solvers has it: "cg" for both; none for "division"
  Failure failure;                 ///< why it did not converge
  std::string reason;              ///< the same as a sentence (`text_of`); empty for `converged`
  int iterations = 0;              ///< of all attempts together
  double rhs_norm = 0;             ///< |b|
  double tolerance = 0;            ///< max(rel_tol |b|, abs_tol)
  double initial_residual = 0;     ///< |b - A x0|; with the constant null space, of x0 without its mean
  double recurrence_residual = 0;  ///< what the recurrence held at the end; |M r| in GMRES from the left
  double true_residual = 0;        ///< |b - A x|, formed from the last x; a null space is taken out of it afterwards
  /// How far rounding may have moved `true_residual` from the exact |b - A x|: a solve is `converged` only if the sum
  /// of both meets the tolerance. Proven where `twice_precision`; of an operator whose entries are not known it is
  /// eps |A| |x| by a product with a random vector, and 0 for a solve that did not reach the tolerance.
  double residual_error_bound = 0;
  bool twice_precision = false;  ///< b - A x was formed in twice the precision of A and x
  /// max of |b - A x|_i / (sum_j |a_ij| max|x| + |b_i|) over the rows: near 1 where a row is not solved at all, which
  /// |b - A x| / |b| does not show if the row is small beside others. Negative: the entries are not known.
  double row_residual = -1;
  /// What rounding allows, for `stagnation` only: the residual of the best x if there is evidence for it, else 0. The
  /// evidence: it is at most 100 eps |A| |x|, the tolerance is at most 10 of them (|A| estimated), x solves the
  /// system to half the digits, and all attempts that ended in stagnation agree within a factor of 100.
  double attainable_residual = 0;
  int residual_replacements = 0;  ///< how often the recurrence met the tolerance and b - A x did not
  int refinements = 0;            ///< mixed precision: residuals in double that the iteration went on from
  int cycle_length = 0;           ///< GMRES: iterations between restarts
  int restarts = 0;               ///< GMRES: cycles after the first; BiCGStab: breakdowns survived
  int second_passes = 0;          ///< GMRES: how often Gram-Schmidt ran again
  bool resident = false;          ///< all iterations, one at least, ran in a kernel that kept the vectors on the chip
  double seconds = 0;             ///< from the call to the confirmed residual
  /// What a converged solve should make its reader look at: rows that are hardly solved. Empty: nothing.
  std::string warning;
  std::vector<double> history;    ///< residual before the first and after each iteration, as the recurrence has it
  std::vector<Attempt> attempts;  ///< one or more, in order
  /// What LinearSystem replaced for this solve, and why: "format ehyb for csr after 1,200 iterations". Empty:
  /// nothing. Only such a solve allocates.
  std::string changed;

  /// Whether it ended with `Status::converged`.
  bool converged() const { return status == Status::converged; }
  /// residual / |b|, or the residual itself for b = 0.
  double relative(double residual) const { return rhs_norm > 0 ? residual / rhs_norm : residual; }
};

/// What a progress callback sees.
struct Progress {
  std::string_view solver;       ///< the one that iterates, as in SolveReport
  int iteration = 0;             ///< iterations so far
  double residual = 0;           ///< of the recurrence; |M r| in GMRES from the left
  double relative_residual = 0;  ///< over |b|
  double tolerance = 0;          ///< absolute, in the same norm
  double seconds = 0;            ///< since the solve began
  Index column = 0;              ///< of a solve for several right-hand sides: which of them this is about
  Index columns = 1;             ///< how many there are
  /// About the iterations to go, by the residuals so far; 0: not known yet.
  double iterations_left = 0;
};

/// Called on the calling thread at every check; returning false ends the solve with `stopped_by_caller`.
using ProgressFn = std::function<bool(const Progress&)>;

namespace detail {

/// Why a solve ends here as `stagnation`; nothing: it does not.
using GiveUpFn = std::function<std::optional<Failure>(const Progress&)>;

}  // namespace detail

/// Where a solve starts from.
enum class InitialGuess {
  in_x,  ///< what x holds
  zero,  ///< zero, whatever x holds: the first residual is b, for which no product is needed
};

/// One solve: the system, where it starts and when it ends. It refers to what the caller keeps.
template <class T, Space S>
struct SolveRequest {
  const Context<S>& ctx;          ///< where it works
  const LinearOperator<T, S>& A;  ///< square
  const LinearOperator<T, S>* M;  ///< the preconditioner; null: none
  Span<const T, S> b;             ///< the right-hand side
  Span<T, S> x;                   ///< the guess, and the result
  const StopCriterion& stop;      ///< tolerances and limits
  const ProgressFn& progress;     ///< called at every check; empty: nobody is
  /// `zero`: x holds zeros, so that b - A x is b. Methods that do not ask form it.
  InitialGuess guess = InitialGuess::in_x;
  /// For those who own A and M and may replace them during the solve; null: nobody does. The library's own.
  detail::OperatorExchange<T, S>* exchange = nullptr;
  /// Asked at every check, after `progress`; null: nobody is. The library's own.
  const detail::GiveUpFn* give_up = nullptr;
};

/// A method for A x = b with an optional preconditioner M, an operator close to A's inverse. Owns its work
/// vectors: made once for a length, used many times; a solve after the first allocates nothing in S. On the device it
/// keeps its iterations as CUDA graphs where A and M are `capturable`; the driver holds some kilobytes for each
/// kernel.
template <class T, Space S>
class KrylovSolver {
 public:
  virtual ~KrylovSolver() = default;

  /// As in the table of solvers.
  virtual std::string_view name() const = 0;

  /// Does now what the first solve with these A and M would do once, allocations and choices that depend on them; a
  /// solve with others does it again. Waits on the context's stream. Throws DeviceError.
  virtual void prepare(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) {
    static_cast<void>(ctx), static_cast<void>(A), static_cast<void>(M);
  }

  /// New values of the matrix that it was made from, in the order of the caller's: see
  /// `SolverMethod::make_from_matrix`. Other methods see them in A. Throws InputError for values that it does not
  /// serve.
  virtual void refresh(const Context<S>& ctx, Span<const T, S> values) {
    static_cast<void>(ctx), static_cast<void>(values);
  }

  /// Solves from the guess in x, which receives the result: the last iterate, or the best one where that is said.
  /// M may be null. Lengths, and that b and x share no memory, are checked (InputError). Waits on the context's
  /// stream at its check points. Several solvers may share A and M as long as one thread uses them at a time.
  [[nodiscard]] SolveReport solve(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                                  Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                                  const ProgressFn& progress = {}) {
    return run({ctx, A, M, b, x, stop, progress});
  }

  /// The same of a request: what a method implements.
  [[nodiscard]] virtual SolveReport run(const SolveRequest<T, S>& request) = 0;
};

/// Which method, and its choices.
struct SolverOptions {
  std::string name = "auto";  ///< "auto" (LinearSystem only) or a name of the table: "cg", "bicgstab", "gmres"
  OptionBag methods = {};     ///< of each method its own: CgOptions, BicgstabOptions, GmresOptions

  /// The options of one method: `options.of<GmresOptions>().restart = 100`.
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
