// SPDX-License-Identifier: Apache-2.0
/// ComplexSystem: a LinearSystem for matrices and vectors of std::complex.
#pragma once

#include <complex>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <newel/solver/linear_system.hpp>
#include <newel/solver/system_facts.hpp>

namespace newel {

/// The real system that stands for a complex one.
enum class RealForm {
  /// Two real unknowns for each complex one, Re y and Im y, next to each other; an entry a is the block
  /// [Re a, -Im a; Im a, Re a]. Symmetric if A is Hermitian, and positive definite if A is.
  general,
  /// The unknowns are Re y and -Im y; an entry a is the block [Re a, Im a; Im a, -Re a]. Symmetric and indefinite if
  /// A is equal to its transpose.
  symmetric,
  /// All imaginary parts of A are zero: A itself, with two right-hand sides, Re b and Im b.
  real_parts,
};

/// Which unknowns the real system has.
enum class ComplexUnknowns {
  automatic,  ///< those of the form that fits the matrix
  /// Re x and Im x, in the form `general`: x holds the iterates during a solve, for callbacks that look at them.
  as_given,
};

/// "general", "symmetric" or "real_parts".
std::string_view name_of(RealForm form);

/// A x = b with complex A, x and b, solved by an equivalent real system (D. Day, M. Heroux, "Solving complex-valued
/// linear systems via equivalent real formulations", SIAM J. Sci. Comput. 23(2), 2001: K1 is `general`). `T` is the
/// type of real and imaginary parts. The values of std::complex<T> lie in memory as the real unknowns do, so vectors
/// are not copied.
///
/// The form is chosen once: `real_parts` if no imaginary part differs from zero; `symmetric` if the solver that is
/// named needs a symmetric matrix that may be indefinite, and A is equal to its transpose but not Hermitian; else
/// `general`. In `general`, x = i^k y: k is 0 to 3, so that the sum of the diagonal of i^k A has the largest real
/// part. That is exact, and a matrix that is mostly imaginary, or negative definite, gets a positive diagonal.
///
/// Norms, residuals, tolerances and iterations of reports are those of the complex system: 2-norms of complex vectors
/// are those of their real and imaginary parts. In `real_parts` the iterations are those of the part that needs more
/// of them, and each part meets rel_tol |its part of b| or abs_tol / sqrt(2). What SystemInfo and texts say of the
/// matrix, its format and its symmetry is about the real matrix; "symmetric" there means Hermitian in `general`. Rows
/// in the errors ZeroDiagonal, NotSymmetric and NotPositiveDefinite are complex rows.
///
/// Options that count rows or unknowns are those of the complex matrix: `old_of_new`, `part_begin`, `columns`,
/// patterns, coordinates, `AmgOptions::node_rows`, and near-null vectors, each of which is used for real and for
/// imaginary parts. Near-null vectors are real. Rigid body modes are used as in a LinearSystem, but do not follow
/// `move_nodes`.
///
/// Functions, lifetimes, streams, threads and errors are those of LinearSystem unless stated otherwise.
template <class T, Space S>
class ComplexSystem {
 public:
  using Value = std::complex<T>;  ///< of A, b and x

  /// Sets up the system for a square matrix in any form of a MatrixInput; repeated entries are summed. A half that is
  /// stored alone stands for a matrix that is equal to its transpose. Throws as LinearSystem does, and InputError for
  /// NullSpace::constant and AmgNumbering::by_component unless the form is `real_parts`. `parts` holds the caller's
  /// own M, an operator on 2 rows() real values: real and imaginary parts next to each other. With it the form is
  /// `general`, and x = y.
  ComplexSystem(const Context<S>& ctx, const MatrixInput<Value, S>& a, SystemOptions options = {},
                SystemParts<T, S> parts = {}, ComplexUnknowns unknowns = ComplexUnknowns::automatic);
  /// The same for an operator on 2 n real values, as LinearSystem takes it. The form is `general`, and x = y.
  ComplexSystem(const Context<S>& ctx, std::shared_ptr<const LinearOperator<T, S>> a, SystemOptions options = {},
                SystemParts<T, S> parts = {});

  /// Number of complex unknowns.
  Index rows() const;

  /// Replaces the values on the same pattern: see `LinearSystem::refresh`. Allocates nothing, with one exception: in
  /// `real_parts`, values with imaginary parts set up a new system in another form, with the options of the first. If
  /// that throws, the system cannot be used any more. In `real_parts` it waits for the stream.
  void refresh(Span<const Value, S> values, RefreshScope scope = RefreshScope::everything);

  /// See `LinearSystem::move_nodes`.
  void move_nodes(std::shared_ptr<const NodeCoordinates> coordinates);

  /// Solves from the guess in x, or from zero. Allocates as `LinearSystem::solve` does; in `real_parts` the first
  /// call also allocates as many values as b and x have.
  [[nodiscard]] SolveReport solve(Span<const Value, S> b, Span<Value, S> x, const ProgressFn& progress = {},
                                  InitialGuess guess = InitialGuess::in_x);

  /// Solves for several right-hand sides, stored one after another: see `LinearSystem::solve_columns`.
  [[nodiscard]] std::vector<SolveReport> solve_columns(Span<const Value, S> b, Span<Value, S> x, Index columns,
                                                       const ProgressFn& progress = {},
                                                       InitialGuess guess = InitialGuess::in_x);

  /// y = A x. The first call may allocate a vector. Throws InputError if x and y share memory.
  void multiply(Span<const Value, S> x, Span<Value, S> y);

  /// The form of the real system, and why, as a clause: "no imaginary part differs from zero".
  RealForm form() const;
  std::string form_reason() const;

  /// What the real system has chosen. `free_unknowns` are complex unknowns.
  SystemInfo info() const;
  /// What the solves of the real system have shown: a decision starts a ComplexSystem of the same pattern.
  SystemHistory<T, S> history() const;

  /// Tolerances and limits may change between solves.
  void set_stop_criterion(const StopCriterion& stop);

  /// The real system, for what this class does not offer. Its unknowns are y.
  LinearSystem<T, S>& real_system();

  /// Internal: facts of the real system for a right-hand side of each column.
  std::vector<SystemFacts> facts(Span<const Value, S> b, Index columns);

 private:
  struct Impl;
  struct EndOfImpl {
    void operator()(Impl* impl) const noexcept;
  };

  std::unique_ptr<Impl, EndOfImpl> impl_;
};

/// The facts of `facts_of` for a complex system, with complex rows. In `real_parts` it allocates as `solve` does.
template <class T, Space S>
std::vector<SystemFacts> facts_of(const Context<S>& ctx, ComplexSystem<T, S>& system,
                                  Span<const std::complex<T>, S> b, Index columns = 1);

}  // namespace newel
