// SPDX-License-Identifier: Apache-2.0
/// PastGuess: guesses from past solutions, for solves by another library or by code of one's own.
#pragma once

#include <memory>
#include <string>

#include <newel/solver/guess.hpp>
#include <newel/solver/krylov.hpp>

namespace newel {

namespace detail {
template <class T, Space S>
class PastSolutions;
}  // namespace detail

/// What GuessOptions does within a LinearSystem, on its own: before a solve it replaces x by the best combination of
/// past solutions, and after it it keeps the new one. A may be any operator; its products are all that is needed.
template <class T, Space S>
class PastGuess {
 public:
  /// Throws InputError unless `rule` is "extrapolate", "project" or "project:M" (GuessOptions::guess).
  explicit PastGuess(const std::string& rule);
  PastGuess(PastGuess&&) noexcept;             ///< vectors stay where they are
  PastGuess& operator=(PastGuess&&) noexcept;  ///< likewise
  ~PastGuess();

  /// Writes the guess for A x = b into x. `from`: whether x is what the caller has, or zero is. `definite`: A is
  /// symmetric positive definite; the error in the energy norm is then the smallest, otherwise the residual. The
  /// guess is never worse than what the caller has, by |b - A x|. Two or three products, and one for each vector
  /// after `values_changed`. Waits for the stream of ctx.
  GuessReport prepare(const Context<S>& ctx, const LinearOperator<T, S>& A, bool definite, Span<const T, S> b,
                      Span<T, S> x, InitialGuess from);
  /// Keeps the solution x of the same A. The first call allocates; one product. Throws OutOfMemory.
  void keep(const Context<S>& ctx, const LinearOperator<T, S>& A, bool definite, Span<const T, S> x);
  /// A has other values.
  void values_changed();
  /// Past solutions that are there.
  int vectors() const;

 private:
  std::unique_ptr<detail::PastSolutions<T, S>> past_;
};

}  // namespace newel
