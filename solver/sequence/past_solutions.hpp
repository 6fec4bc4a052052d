// SPDX-License-Identifier: Apache-2.0
/// PastSolutions: the last solutions of a sequence of systems, and the guess for the next that they give. Internal.
#pragma once

#include <vector>

#include <newel/core/array.hpp>
#include <newel/solver/guess.hpp>
#include <newel/solver/krylov.hpp>
#include "solver/krylov/steps/monitor_state.hpp"
#include "solver/sequence/small_projection.hpp"
#include "solver/sequence/solution_ring.hpp"

namespace newel::detail {

/// What a guess is made for.
template <class T, Space S>
struct GuessRequest {
  const LinearOperator<T, S>& A;
  bool definite;  ///< A is symmetric positive definite, as far as the method that solves demands it
  Span<const T, S> b;
  Span<T, S> x;       ///< what the caller gave; then the guess
  InitialGuess from;  ///< whether x is what the caller gave, or zero is
};

/// Of PastSolutions, besides its vectors.
struct PastState {
  int held = 0;                 ///< columns in use
  int next = 0;                 ///< the one that is replaced next
  bool images_current = false;  ///< the products with them have been made, for the present values of A
};

/// D and C = A D are those of a SolutionRing. A guess is g + D y, where g is
/// what the caller gave, or the last solution if that is nothing or no better than zero; its residual is b - A g - C
/// y. "project" takes y from W^T C y = W^T (b - A g), with W = D if A is definite (the error is then the smallest in
/// the energy norm; P. Fischer, Comput. Methods Appl. Mech. Engrg. 163, 1998, section 2) and W = C otherwise (the
/// residual is). W^T C keeps more digits with differences than with solutions, which are nearly parallel in a smooth
/// sequence.
///
/// Products with the columns are those with all m of them, so that
/// the order of sums does not depend on how many there are: after `begin_state` the bits are those of a sequence
/// without a break.
template <class T, Space S>
class PastSolutions {
 public:
  explicit PastSolutions(const GuessRule& rule) : rule_(rule), ring_(rule.vectors), gram_(rule.vectors) {}

  /// Replaces x by the best guess. Returns where the solve begins. Two products (three for "extrapolate" if the
  /// caller gave a guess), and one for each vector after `values_changed`; waits for the stream.
  InitialGuess prepare(const Context<S>& ctx, const GuessRequest<T, S>& request, GuessReport& report);
  /// Keeps the solution x. The first call allocates. At most one product; waits for the stream only if nothing was
  /// prepared since the last call. Throws OutOfMemory.
  void keep(const Context<S>& ctx, const LinearOperator<T, S>& A, bool definite, Span<const T, S> x);
  /// A has other values: C is computed again before it is used.
  void values_changed() { images_current_ = false; }

  SolutionRing<T, S>& ring() { return ring_; }
  /// Products with A so far.
  std::int64_t products() const { return products_; }
  /// Makes room for the differences and the last solution of another run, which the caller writes.
  void begin_state(const Context<S>& ctx, std::int64_t rows, const PastState& state);
  PastState state() const { return {ring_.held(), ring_.next(), images_current_}; }

 private:
  void allocate(const Context<S>& ctx, std::int64_t n);
  void update_images(const Context<S>& ctx, const LinearOperator<T, S>& A);
  void start_gram_row(const Context<S>& ctx, int column);
  void finish_gram_row(const Context<S>& ctx);
  /// r = b - A g, W^T r and r.r
  void start_from(const Context<S>& ctx, const GuessRequest<T, S>& of, Span<const T, S> g);
  std::vector<double> coefficients(double rr) const;
  /// r = r - C y; returns |r|.
  double combine(const Context<S>& ctx, const std::vector<double>& y);

  GuessRule rule_;
  SolutionRing<T, S> ring_;
  SmallProjection gram_;         ///< W^T C
  int row_under_way_ = -1;       ///< of W^T C, in S alone; -1: none
  bool images_current_ = false;  ///< C = A D
  bool images_counted_ = false;  ///< among the products of the run that a state came from
  bool definite_ = false;        ///< W = D
  std::int64_t products_ = 0;
  Array<T, S> r_;
  Array<double, S> small_, partial_;
  Array<MonitorState, S> running_;
  std::vector<double> numbers_;  ///< of small_, on the host
};

}  // namespace newel::detail
