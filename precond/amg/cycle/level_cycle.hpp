// SPDX-License-Identifier: Apache-2.0
/// A cycle over levels: the smoothing of one around the correction of the next, on one rank and on several. Internal.
///
/// A Level has the matrix `a`, and `smoother`, `steps`, `sparse`, vectors and `again` as a SmoothedLevel. Levels have
/// * levels[l];
/// * levels.coarsens(l): whether there is a next level;
/// * levels.end(ctx, l, b, x): x from b where another operator ends the cycle; false, and nothing done, elsewhere;
/// * levels.correct_below(ctx, l, next): d of level l from its r, next() making x of the next level from its b;
/// * levels.own_b, own_x: vectors of the cycle's precision, where it converts.
#pragma once

#include <type_traits>

#include <newel/core/vector_ops.hpp>
#include "precond/amg/blocks/amg_steps.hpp"
#include "precond/amg/cycle/two_cycles.hpp"
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

/// b - A x of a level, to be the b of its second cycle.
template <class T, Space S, class Level>
void residual_between(const Context<S>& ctx, const Level& level) {
  auto& again = *level.again;
  if constexpr (std::is_same_v<T, double>) {
    copy<T>(ctx, level.b.cspan(), again.b.span());
    level.a->apply(ctx, -1.0, level.x.cspan(), 1.0, again.b.span());
  } else {
    convert(ctx, level.b.cspan(), again.exact_r.span());
    convert(ctx, level.x.cspan(), again.exact_x.span());
    again.exact->apply(ctx, -1.0, again.exact_x.cspan(), 1.0, again.exact_r.span());
    convert(ctx, again.exact_r.cspan(), again.b.span());
  }
}

/// x from b on a level below the first, by one cycle or by two of them (AmgCycle): descend(b, x) makes a cycle.
template <class T, Space S, class Level, class Descend>
void correct_level(const Context<S>& ctx, const Level& level, Descend&& descend) {
  if (level.again == nullptr) return descend(level.b.cspan(), level.x.span());
  auto& again = *level.again;
  descend(level.b.cspan(), again.x.span());
  axpby(ctx, static_cast<T>(1 / TwoCycles::first_root), again.x.cspan(), T(0), level.x.span());
  residual_between<T>(ctx, level);
  descend(Span<const T, S>(again.b.cspan()), again.x.span());
  axpy(ctx, static_cast<T>(1 / TwoCycles::second_root), again.x.cspan(), level.x.span());
}

template <class T, Space S, class Levels>
void cycle_from(const Context<S>& ctx, const Levels& levels, std::size_t l, Span<const T, S> b, Span<T, S> x);

/// x of level l, below the first, from its b.
template <class T, Space S, class Levels>
void correct_from(const Context<S>& ctx, const Levels& levels, std::size_t l) {
  correct_level<T>(ctx, levels[l], [&](Span<const T, S> b, Span<T, S> x) { cycle_from(ctx, levels, l, b, x); });
}

/// What follows the first step on level l.
template <class T, Space S, class Levels, class Last>
void smooth_from(const Context<S>& ctx, const Levels& levels, std::size_t l, T* x, Last&& last) {
  const auto& level = levels[l];
  if (!levels.coarsens(l)) return smooth_further<T>(ctx, level, x, x, last);
  const auto correct = [&] { levels.correct_below(ctx, l, [&] { correct_from<T>(ctx, levels, l + 1); }); };
  smooth_around(ctx, level, x, correct, last);
}

/// x from b by one cycle from level l on.
template <class T, Space S, class Levels>
void cycle_from(const Context<S>& ctx, const Levels& levels, std::size_t l, Span<const T, S> b, Span<T, S> x) {
  if (levels.end(ctx, l, b, x)) return;
  start_smoothing(ctx, levels[l], b.data, x.data);
  smooth_from(ctx, levels, l, x.data, [&](const AmgNextStep<T>& step) { sweep(ctx, x.size, step); });
}

/// x = M b, and *bx = b.x unless it is null. The first step reads b as it comes, and the last one writes x as it goes
/// out, with b.x where that is wanted.
template <class T, Space S, class Levels, class V>
void apply_cycle(const Context<S>& ctx, const Levels& levels, Span<const V, S> b, Span<V, S> x, double* bx) {
  constexpr bool converts = !std::is_same_v<T, V>;
  Span<T, S> own;
  if constexpr (converts)
    own = levels.own_x.span();
  else
    own = x;
  if (const auto& level = levels[0]; !level.steps.next.empty()) {
    start_smoothing(ctx, level, b.data, own.data);
    return smooth_from(ctx, levels, 0, own.data, [&](const AmgNextStep<T>& s) {
      if (bx != nullptr) {
        return sweep(ctx, x.size, AmgLastStep<T, V>(s.c1, s.c2, s.s, s.r, s.before, s.x, b.data, x.data, bx));
      }
      sweep(ctx, x.size, s);
      if constexpr (converts) convert(ctx, Span<const T, S>(own), x);
    });
  }
  if constexpr (converts) {
    convert(ctx, b, levels.own_b.span());
    cycle_from(ctx, levels, 0, levels.own_b.cspan(), own);
    convert(ctx, Span<const T, S>(own), x);
  } else {
    cycle_from(ctx, levels, 0, b, x);
  }
  if (bx != nullptr) dot(ctx, b, Span<const V, S>(x), bx);
}

}  // namespace newel::detail
