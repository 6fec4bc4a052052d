// SPDX-License-Identifier: Apache-2.0
/// The smoothing of a level around the correction of the next one, for a cycle on one rank and on several. Internal.
///
/// A Level has the matrix `a`, `smoother`, `steps` and `sparse` as in AmgCycle, and the vectors r, d and, with a
/// sparse smoother, z.
#pragma once

#include <newel/core/vector_ops.hpp>
#include "precond/amg/blocks/amg_steps.hpp"
#include "precond/amg/smooth/amg_smoother.hpp"

namespace newel::detail {

/// S r but for 1 / lambda; r itself where S is a diagonal, which the steps multiply with.
template <class T, Space S, class Level>
const T* smoothed(const Context<S>& ctx, const Level& level, const T* r) {
  if (level.sparse.m == nullptr) return r;
  level.sparse.m->apply(ctx, T(1), Span<const T, S>(r, level.z.size()), T(0), level.z.span());
  return level.z.data();
}

/// The first step of a smoother, from x = 0: r = b.
template <class T, Space S, class Level, class V>
void start_smoothing(const Context<S>& ctx, const Level& level, const V* b, T* x) {
  const auto first = static_cast<T>(level.steps.first);
  const T* const s = level.smoother.data();
  T* const r = level.r.data();
  const std::int64_t n = level.r.size();
  if constexpr (!std::is_same_v<T, V>) {
    if (level.sparse.m == nullptr) return sweep(ctx, n, AmgFirstStep<T, V>(first, s, b, b, x, r));
    convert(ctx, Span<const V, S>(b, n), level.r.span());
    start_smoothing<T>(ctx, level, static_cast<const T*>(r), x);
  } else {
    sweep(ctx, n, AmgFirstStep<T>(first, s, b, smoothed(ctx, level, b), x, r));
  }
}

/// The steps of a smoother after its first, whose direction is `before`: last(step) makes the last one.
template <class T, Space S, class Level, class Last>
void smooth_further(const Context<S>& ctx, const Level& level, const T* before, T* x, Last&& last) {
  const std::int64_t n = level.r.size();
  T* const d = level.d.data();
  for (std::size_t i = 0; i < level.steps.next.size(); ++i) {
    const auto& [c1, c2] = level.steps.next[i];
    level.a->apply(ctx, T(-1), Span<const T, S>(before, n), T(1), level.r.span());
    const T* const r = smoothed(ctx, level, static_cast<const T*>(level.r.data()));
    const AmgNextStep<T> step(static_cast<T>(c1), static_cast<T>(c2), level.smoother.data(), r, before, d, x);
    if (i + 1 == level.steps.next.size())
      last(step);
    else
      sweep(ctx, n, step);
    before = d;
  }
}

/// What follows the first step of a level: its other steps, `correct()`, which makes d = P cycle(P^T r), and the
/// smoother again, whose last step is last(step).
template <class T, Space S, class Level, class Correct, class Last>
void smooth_around(const Context<S>& ctx, const Level& level, T* x, Correct&& correct, Last&& last) {
  const std::int64_t n = level.r.size();
  T* const d = level.d.data();
  smooth_further<T>(ctx, level, x, x, [&](const AmgNextStep<T>& step) { sweep(ctx, n, step); });
  const T* const before = level.steps.next.empty() ? x : d;
  level.a->apply(ctx, T(-1), Span<const T, S>(before, n), T(1), level.r.span());
  correct();
  level.a->apply(ctx, T(-1), level.d.cspan(), T(1), level.r.span());
  const T* const r = smoothed(ctx, level, static_cast<const T*>(level.r.data()));
  sweep(ctx, n, AmgAgainStep<T>(static_cast<T>(level.steps.first), level.smoother.data(), r, d, x));
  smooth_further<T>(ctx, level, d, x, last);
}

}  // namespace newel::detail
