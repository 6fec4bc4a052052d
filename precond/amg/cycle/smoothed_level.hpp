// SPDX-License-Identifier: Apache-2.0
/// SmoothedLevel: what a cycle has of a level besides its matrix, on one rank and on several. Internal.
#pragma once

#include <memory>

#include <newel/core/vector_ops.hpp>
#include "precond/amg/blocks/placed_csr.hpp"
#include "precond/amg/cycle/two_cycles.hpp"
#include "precond/amg/smooth/amg_smoother.hpp"

namespace newel::detail {

inline constexpr double power_method_margin = 1.1;  ///< the power method comes from below

/// A smoother, the vectors of a cycle, and whether a second cycle follows. `Exact` multiplies with A in double.
template <class T, Space S, class Exact>
struct SmoothedLevel {
  /// Between two cycles of a level. The residual is one in double: of a coarse matrix of a body that is hardly held
  /// one in single precision is lost in rounding.
  struct Again {
    Array<T, S> b, x;
    std::unique_ptr<Exact> exact;  ///< A; null: the level's is one in double
    Array<double, S> exact_r, exact_x;

    std::uint64_t vector_bytes() const { return b.bytes() + x.bytes() + exact_r.bytes() + exact_x.bytes(); }
  };

  SparseSmoother<T, S> sparse;
  Array<T, S> smoother;      ///< D^-1 / lambda; with a sparse one 1 / lambda
  mutable Array<T, S> r, d;  ///< residual and direction
  mutable Array<T, S> z;     ///< the sparse smoother times r
  SmootherSteps steps;
  mutable Array<T, S> b, x;      ///< of levels below the first
  std::unique_ptr<Again> again;  ///< null: one cycle solves it

  std::uint64_t vector_bytes() const {
    return z.bytes() + r.bytes() + d.bytes() + b.bytes() + x.bytes() + (again == nullptr ? 0 : again->vector_bytes());
  }
};

/// The largest eigenvalue that the sparse smoother of a level makes of its matrix `a`; 0 without one. `old_of_new`:
/// the order of vectors. See `largest_eigenvalue`.
template <class T, Space S, class Exact>
double sparse_lambda(const Context<S>& ctx, const LinearOperator<T, S>& a, const SmoothedLevel<T, S, Exact>& level,
                     AmgSmoother smoother, Span<const Index, S> old_of_new) {
  if (level.sparse.m == nullptr) return 0;
  return largest_eigenvalue<T, S>(ctx, a, *level.sparse.m, smoother == AmgSmoother::fsai, old_of_new);
}

/// The steps of the smoother that the level has, `smoother` being wanted.
template <class T, Space S, class Exact>
void take_steps(SmoothedLevel<T, S, Exact>& level, AmgSmoother smoother, int degree) {
  const bool is_sparse = level.sparse.m != nullptr;
  level.steps = smoother_steps(used_smoother(smoother, is_sparse), degree, is_sparse && level.sparse.of_groups);
}

/// The factor of a smoother: of a sparse one by its `lambda`, else the diagonal of the level `from`.
template <class T, Space S, class Exact>
void place_smoother(const Context<S>& ctx, SmoothedLevel<T, S, Exact>& level, const AmgLevel<S>& from,
                    Span<const Index, S> old_of_new, double lambda, ConvertedValues<T, S>& converted) {
  if (level.sparse.m != nullptr) {
    return fill<T, S>(ctx, static_cast<T>(1 / (power_method_margin * lambda)), level.smoother.span());
  }
  const Span<const T, S> values = converted.of(ctx, span_of(from.smoother_diagonal));
  if (old_of_new.empty()) return copy<T>(ctx, values, level.smoother.span());
  gather<T, S>(ctx, values, old_of_new, level.smoother.span());
}

/// By two cycles of the first level's `degree`: two of them smooth as often as one of a higher degree, or more.
/// make_exact() returns A in double, for cycles in single precision.
template <class T, Space S, class Exact, class MakeExact>
void solve_twice(const Context<S>& ctx, SmoothedLevel<T, S, Exact>& level, AmgSmoother smoother, int degree,
                 const MakeExact& make_exact) {
  take_steps(level, smoother, degree);
  level.again = std::make_unique<typename SmoothedLevel<T, S, Exact>::Again>();
  auto& again = *level.again;
  again.b = Array<T, S>(ctx, level.b.size());
  again.x = Array<T, S>(ctx, level.b.size());
  if constexpr (!std::is_same_v<T, double>) {
    again.exact = make_exact();
    again.exact_r = Array<double, S>(ctx, level.b.size());
    again.exact_x = Array<double, S>(ctx, level.b.size());
  }
}

/// Has two cycles solve a level with the matrix `a` if CG converges slowly with one, and faster with two. correct()
/// makes its x from b; twice() has two cycles do it from then on.
template <class T, Space S, class Exact, class Correct, class Twice>
void try_two_cycles(const Context<S>& ctx, const LinearOperator<T, S>& a, SmoothedLevel<T, S, Exact>& level,
                    const Correct& correct, const Twice& twice) {
  LevelTrial<T, S> trial(
      ctx, level.x.size(),
      [&](const Array<T, S>& x, Array<T, S>& y) { a.apply(ctx, T(1), x.cspan(), T(0), y.span()); },
      [&](Span<const T, S> b, Span<T, S> x) {
        copy<T>(ctx, b, level.b.span());
        correct();
        copy<T>(ctx, level.x.cspan(), x);
      });
  if (!trial.is_slow()) return;
  const SmootherSteps steps = level.steps;
  twice();
  if (trial.is_faster_now()) return;
  level.steps = steps;
  level.again.reset();
}

}  // namespace newel::detail
