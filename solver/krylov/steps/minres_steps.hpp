// SPDX-License-Identifier: Apache-2.0
/// The vector steps of MINRES and its scalars, for both spaces. Internal.
#pragma once

#include <cmath>

#include "core/vectors/vector_step.hpp"
#include "solver/krylov/steps/monitor_state.hpp"

namespace newel::detail {

/// Scalars of the recurrence, in S. Names and numbers as in the book (see minres.cpp); j is the present iteration.
struct MinresState {
  MonitorState monitor;
  double delta;               ///< u.A u
  double vv, vz;              ///< v.v and v.M v of the newest v
  double gamma, gamma_old;    ///< sqrt(v.M v) of v_j and v_{j-1}
  double cosine, cosine_old;  ///< of the last two rotations
  double sine, sine_old;      ///< likewise
  double eta;                 ///< its size is |r| in the norm of M, which is minimal
  double uu;                  ///< u.u
  double lanczos_norm;        ///< of the columns of T so far in this solve, the largest
  double matrix_norm;         ///< of |A u| / |u| so far in this solve, the largest
  double first_x_norm;        ///< |x| where the recurrence began
  double epsilon;             ///< of the vectors' precision
  double scratch;
  bool preconditioned;

  /// gamma^2 of the newest v.
  NEWEL_HD double newest() const { return preconditioned ? vz : vv; }
};

/// Column j of T, turned into a column of R by Givens rotations, and what follows for the vectors.
struct MinresColumn {
  /// A diagonal entry of R below this many eps |T| is rounding: A maps the newest direction to zero.
  static constexpr double exhausted_at = 32;

  double gamma_next;      ///< gamma_{j+1}
  double alpha0;          ///< the diagonal entry before the rotation j
  double alpha1;          ///< after it
  double alpha2, alpha3;  ///< above it
  double norm;            ///< the largest of the columns of T up to this one
  double cosine, sine;    ///< of the rotation j
  double eta_next;
  Event event;  ///< why the step cannot be taken, or none

  NEWEL_HD explicit MinresColumn(const MinresState& s) {
    const double square = s.newest(), delta = s.delta, sum = square + s.vv + delta;
    gamma_next = s.vv == 0 ? 0 : sqrt(square);
    alpha0 = s.cosine * delta - s.cosine_old * s.sine * s.gamma;
    alpha1 = hypot(alpha0, gamma_next);
    alpha2 = s.sine * delta + s.cosine_old * s.cosine * s.gamma;
    alpha3 = s.sine_old * s.gamma;
    norm = fmax(s.lanczos_norm, hypot(delta, gamma_next));
    cosine = alpha0 / alpha1;
    sine = gamma_next / alpha1;
    eta_next = -sine * s.eta;
    event = Event::none;
    if (!(sum - sum == 0)) {
      event = Event::not_finite;
    } else if (s.vv > 0 && !(square > 0)) {
      event = Event::precond_not_positive;
    } else if (!(alpha1 > exhausted_at * s.epsilon * norm)) {
      event = Event::recurrence_spent;
    }
  }
};

/// u = z / gamma_1; |x| and the scalars in front of the first iteration.
template <class T>
struct MinresStart {
  static constexpr int sums = 2;
  MinresState* state;
  const T *z, *x;
  T* u;

  NEWEL_HD bool active() const { return state->monitor.running(); }
  NEWEL_HD T begin() const { return static_cast<T>(1 / sqrt(state->newest())); }
  struct Loaded {
    T z, x;
  };
  NEWEL_HD Loaded load(std::int64_t i) const { return {z[i], x[i]}; }
  template <class Sums>
  NEWEL_HD void finish(std::int64_t i, const Loaded& at, T scale, Sums& total) const {
    const T ui = scale * at.z;
    u[i] = ui;
    total.add(0, double(ui) * double(ui));
    total.add(1, double(at.x) * double(at.x));
  }
  NEWEL_HD void end(const double* totals) const {
    const double square = state->newest();
    state->gamma = state->eta = sqrt(square);
    state->uu = totals[0];
    state->first_x_norm = sqrt(totals[1]);
    if (square > 0 && square - square == 0) return;
    state->monitor.event = square - square == 0 ? Event::precond_not_positive : Event::not_finite;
  }
};

/// v_{j+1} = q - (delta / gamma_j) v_j - (gamma_j / gamma_{j-1}) v_{j-1}, v.v, q.q, with `scaled` v.d v too
template <class T, bool scaled>
struct MinresLanczos {
  static constexpr int sums = scaled ? 3 : 2;
  MinresState* state;
  const T *d, *q;
  T *v, *v_old;

  struct Coefficients {
    T of_v, of_old;
  };
  NEWEL_HD bool active() const { return state->monitor.running(); }
  NEWEL_HD Coefficients begin() const {
    return {static_cast<T>(state->delta / state->gamma), static_cast<T>(state->gamma / state->gamma_old)};
  }
  struct Loaded {
    T d, q, v, v_old;
  };
  NEWEL_HD Loaded load(std::int64_t i) const { return {scaled ? d[i] : T(1), q[i], v[i], v_old[i]}; }
  template <class Sums>
  NEWEL_HD void finish(std::int64_t i, const Loaded& at, Coefficients c, Sums& total) const {
    const T next = at.q - c.of_v * at.v - c.of_old * at.v_old;
    v_old[i] = at.v;
    v[i] = next;
    total.add(0, double(next) * double(next));
    total.add(1, double(at.q) * double(at.q));
    if constexpr (scaled) total.add(2, double(next) * double(at.d * next));
  }
  NEWEL_HD void end(const double* totals) const {
    state->vv = totals[0];
    state->matrix_norm = fmax(state->matrix_norm, sqrt(totals[1] / state->uu));
    if constexpr (scaled) state->vz = totals[2];
  }
};

/// w_{j+1} = (u - alpha_3 w_{j-1} - alpha_2 w_j) / alpha_1, x = x + c eta w_{j+1},
/// r = s^2 r + (c eta_{j+1} / gamma_{j+1}) v_{j+1}, u = z / gamma_{j+1}, with `scaled` z = d v; r.r, x.x, u.u
template <class T, bool scaled>
struct MinresUpdate {
  static constexpr int sums = 3;
  /// Rounding of A x, as a share of |r|, from which r is no longer b - A x: of what x has grown by, and of x.
  static constexpr double most_rounding = 0.1, most_of_all = 1;
  MinresState* state;
  const T *d, *v, *z;
  T *u, *w, *w_old, *x, *r;

  struct Coefficients {
    T per_alpha1, alpha2, alpha3, step, of_r, of_v, per_gamma;
    bool sound;
  };
  NEWEL_HD bool active() const { return state->monitor.running(); }
  NEWEL_HD Coefficients begin() const {
    const MinresColumn c(*state);
    const double per_gamma = c.gamma_next > 0 ? 1 / c.gamma_next : 0.0;
    return {static_cast<T>(1 / c.alpha1),    static_cast<T>(c.alpha2),
            static_cast<T>(c.alpha3),        static_cast<T>(c.cosine * state->eta),
            static_cast<T>(c.sine * c.sine), static_cast<T>(c.cosine * c.eta_next * per_gamma),
            static_cast<T>(per_gamma),       c.event == Event::none};
  }
  struct Loaded {
    T d, v, z, u, w, w_old, x, r;
  };
  NEWEL_HD Loaded load(std::int64_t i) const {
    return {scaled ? d[i] : T(1), v[i], scaled ? T(0) : z[i], u[i], w[i], w_old[i], x[i], r[i]};
  }
  template <class Sums>
  NEWEL_HD void finish(std::int64_t i, const Loaded& at, const Coefficients& c, Sums& total) const {
    if (!c.sound) return;
    const T next_w = (at.u - c.alpha3 * at.w_old - c.alpha2 * at.w) * c.per_alpha1;
    const T next_x = at.x + c.step * next_w;
    const T next_r = c.of_r * at.r + c.of_v * at.v;
    const T next_u = c.per_gamma * (scaled ? at.d * at.v : at.z);
    w_old[i] = at.w;
    w[i] = next_w;
    x[i] = next_x;
    r[i] = next_r;
    u[i] = next_u;
    total.add(0, double(next_r) * double(next_r));
    total.add(1, double(next_x) * double(next_x));
    total.add(2, double(next_u) * double(next_u));
  }
  NEWEL_HD void end(const double* totals) const {
    const MinresColumn column(*state);
    if (column.event != Event::none) {
      state->monitor.event = column.event;
      return;
    }
    advance(column);
    state->uu = totals[2];
    const double residual = sqrt(totals[0]);
    state->monitor.finish_iteration(residual);
    const double x_norm = sqrt(totals[1]), of_unit = state->epsilon * state->matrix_norm;
    const double of_growth = of_unit * (x_norm - state->first_x_norm), of_all = of_unit * x_norm;
    const bool drifts = of_growth > most_rounding * residual || of_all > most_of_all * residual;
    if (state->monitor.running() && drifts && of_all - of_all == 0) state->monitor.event = Event::recurrence_spent;
  }

 private:
  // The scalars of the next iteration.
  NEWEL_HD void advance(const MinresColumn& column) const {
    MinresState& s = *state;
    s.gamma_old = s.gamma;
    s.gamma = column.gamma_next;
    s.cosine_old = s.cosine;
    s.cosine = column.cosine;
    s.sine_old = s.sine;
    s.sine = column.sine;
    s.eta = column.eta_next;
    s.lanczos_norm = column.norm;
  }
};

}  // namespace newel::detail
