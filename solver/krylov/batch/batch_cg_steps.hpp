// SPDX-License-Identifier: Apache-2.0
/// The steps of CG for a batch of columns and their scalars, for both spaces. On the host a column has the bits that
/// it would have alone. Internal.
#pragma once

#include "core/vectors/column_step.hpp"
#include "core/vectors/vector_step.hpp"
#include "solver/krylov/steps/cg_recurrence.hpp"

namespace newel::detail {

/// Scalars of the recurrences, in S. A place without a column has a monitor that has stopped.
struct BatchState {
  MonitorState monitor[most_columns];
  double rr[most_columns];       ///< r.r
  double rz[most_columns];       ///< r.M r, left by the preconditioner or by the update that holds its diagonal
  double rho_old[most_columns];  ///< r.M r of the iteration before; infinite before the first: then beta is 0
  double pq[most_columns];       ///< p.A p
  double alpha[most_columns];    ///< what x still lacks is alpha p
  double scratch;
  bool preconditioned;

  NEWEL_HD double rho(int c) const { return preconditioned ? rz[c] : rr[c]; }
  NEWEL_HD bool sound(int c) const { return cg_is_sound(rho(c), pq[c]); }
  NEWEL_HD CgStepScalars step(int c) { return {rho(c), pq[c], alpha[c], rho_old[c], rr[c], rz[c], monitor[c]}; }
};

/// Column c, `k` wide, begins: r and x are put in place, p = 0.
template <class T>
struct BatchPlace : PlainStep {
  const T *r, *x;
  T *batch_r, *batch_x, *batch_p;
  std::int64_t k;
  BatchPlace(const T* r_, const T* x_, T* batch_r_, T* batch_x_, T* batch_p_, std::int64_t k_)
      : r(r_), x(x_), batch_r(batch_r_), batch_x(batch_x_), batch_p(batch_p_), k(k_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    batch_r[i * k] = r[i];
    batch_x[i * k] = x[i];
    batch_p[i * k] = 0;
  }
};

/// x = x + alpha p of a column whose iteration has ended: what the next direction would have done.
template <class T>
struct BatchTake {
  static constexpr int sums = 0;
  const double* alpha;
  const T *batch_x, *batch_p;
  std::int64_t k;
  T* x;

  struct Coefficients {
    T alpha;
    bool lacks;
  };
  NEWEL_HD bool active() const { return true; }
  NEWEL_HD Coefficients begin() const { return {static_cast<T>(*alpha), *alpha != 0}; }
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, Coefficients c, Sums&) const {
    const T before = batch_x[i * k];
    if (c.lacks) return cg_next_x(before, c.alpha, batch_p[i * k], x[i]);
    x[i] = before;
  }
  NEWEL_HD void end(const double*) const {}
};

/// to[i narrow + c] = from[i wide + kept_c]: a batch that continues with fewer columns.
template <class T>
struct BatchNarrow : PlainStep {
  const T* from;
  T* to;
  int wide, narrow;
  int kept[most_columns];
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    for (int c = 0; c < narrow; ++c) to[i * narrow + c] = from[i * wide + kept[c]];
  }
};

/// x = x + alpha p, p = z + (rho / rho_old) p; with `scaled`, z = d r is formed on the way. Before the first
/// iteration alpha and p are 0.
template <class T, int k, bool scaled>
struct BatchDirection {
  using Value = T;
  static constexpr int columns = k, sums = 0, coefficients = 2;
  const BatchState* state;
  const T *d, *z;
  T *p, *x;

  template <class V>
  struct Loaded {
    V d, z, p, x;
  };
  NEWEL_HD bool active(int c) const { return state->monitor[c].running(); }
  template <class C>
  NEWEL_HD void begin(int c, C&& coefficient) const {
    coefficient(0) = static_cast<T>(state->alpha[c]);
    coefficient(1) = static_cast<T>(cg_beta(state->rho(c), state->rho_old[c]));
  }
  template <class Lanes>
  NEWEL_HD void load(const Lanes& lanes, std::int64_t at, std::int64_t row, Loaded<typename Lanes::V>& l) const {
    lanes.read(z, at, l.z);
    lanes.read(p, at, l.p);
    lanes.read(x, at, l.x);
    if constexpr (scaled) lanes.same(d, row, l.d);
  }
  template <class Lanes, class C, class Sums>
  NEWEL_HD void finish(const Lanes& lanes, std::int64_t at, const Loaded<typename Lanes::V>& l, const C& coefficient,
                       Sums&) const {
    typename Lanes::V next;
    cg_next_x<typename Lanes::V>(l.x, coefficient(0), l.p, next);
    lanes.write(x, at, l.x, next);
    if constexpr (scaled) {  // z = d r: of the two products the vector steps round the second
      lanes.sum_of_products(l.d, l.z, coefficient(1), l.p, next);
    } else {
      cg_next_p<typename Lanes::V>(l.z, coefficient(1), l.p, next);
    }
    lanes.write(p, at, l.p, next);
  }
  NEWEL_HD void end(int, const double*) const {}
};

/// alpha = rho / p.q, r = r - alpha q, r.r, with `scaled` r.d r too; or an event where rho or p.q is not positive
template <class T, int k, bool scaled>
struct BatchUpdate {
  using Value = T;
  static constexpr int columns = k, sums = scaled ? 2 : 1, coefficients = 1;
  BatchState* state;
  const T *d, *q;
  T* r;

  template <class V>
  struct Loaded {
    V d, q, r;
  };
  NEWEL_HD bool active(int c) const { return state->monitor[c].running(); }
  template <class C>
  NEWEL_HD void begin(int c, C&& coefficient) const {
    coefficient(0) = state->sound(c) ? static_cast<T>(cg_alpha(state->rho(c), state->pq[c])) : T(0);
  }
  template <class Lanes>
  NEWEL_HD void load(const Lanes& lanes, std::int64_t at, std::int64_t row, Loaded<typename Lanes::V>& l) const {
    lanes.read(q, at, l.q);
    lanes.read(r, at, l.r);
    if constexpr (scaled) lanes.same(d, row, l.d);
  }
  template <class Lanes, class C, class Sums>
  NEWEL_HD void finish(const Lanes& lanes, std::int64_t at, const Loaded<typename Lanes::V>& l, const C& coefficient,
                       Sums& total) const {
    typename Lanes::V next;
    cg_next_r<typename Lanes::V>(l.r, coefficient(0), l.q, next);
    lanes.write(r, at, l.r, next);
    total.add(0, next, next);
    if constexpr (scaled) total.add(1, next, l.d * next);
  }
  NEWEL_HD void end(int c, const double* totals) const { state->step(c).finish<scaled>(totals); }
};

#define NEWEL_BATCH_CG_STEPS_OF(COLUMNS, T, k)        \
  COLUMNS(newel::detail::BatchDirection<T, k, false>) \
  COLUMNS(newel::detail::BatchDirection<T, k, true>)  \
  COLUMNS(newel::detail::BatchUpdate<T, k, false>)    \
  COLUMNS(newel::detail::BatchUpdate<T, k, true>)
#define NEWEL_BATCH_CG_STEPS(SWEEP, COLUMNS, T) \
  SWEEP(newel::detail::BatchPlace<T>)           \
  SWEEP(newel::detail::BatchTake<T>)            \
  SWEEP(newel::detail::BatchNarrow<T>)          \
  NEWEL_BATCH_CG_STEPS_OF(COLUMNS, T, 1)        \
  NEWEL_BATCH_CG_STEPS_OF(COLUMNS, T, 2)        \
  NEWEL_BATCH_CG_STEPS_OF(COLUMNS, T, 4)        \
  NEWEL_BATCH_CG_STEPS_OF(COLUMNS, T, 8)

}  // namespace newel::detail
