// SPDX-License-Identifier: Apache-2.0
/// The vector steps of IDR(s) and its scalars, for both spaces. Internal.
#pragma once

#include <cmath>

#include "core/vectors/vector_step.hpp"
#include "solver/krylov/steps/monitor_state.hpp"

namespace newel::detail {

/// Scalars of the recurrence, in S. Names as in the paper (see idrs.cpp); k is the present column, from 0.
struct IdrsState {
  static constexpr int most = 8;  ///< shadow vectors
  /// Least cosine of the angle between A r and r for which omega minimises |r|; below, omega is larger.
  static constexpr double least_cosine = 0.7;

  MonitorState monitor;
  double M[most * most];  ///< row by row: p_i.g_j, lower triangular
  double f[most];         ///< p_i.r
  double c[most];         ///< M c = f for the columns from k on
  double alpha[most];     ///< multiples of the columns before k that make g_k orthogonal to their shadow vectors
  double beta;            ///< f_k / M_kk
  double omega;
  double shadow[most + 1];  ///< P^T g and g.g, or P^T r and r.r
  double t_dots[2];         ///< t.r and t.t
  double shadow_norm;       ///< |p_i|
  double epsilon;           ///< of the vectors' precision
  double scratch;
  int s;

  NEWEL_HD double& at(int i, int j) { return M[i * most + j]; }
  NEWEL_HD double at(int i, int j) const { return M[i * most + j]; }

  /// M c = f for the columns and rows from k on.
  NEWEL_HD void solve_from(int k) {
    for (int i = k; i < s; ++i) {
      double rest = f[i];
      for (int j = k; j < i; ++j) rest -= at(i, j) * c[j];
      c[i] = rest / at(i, i);
    }
  }
};

/// A step without elements: only its end does something, once.
struct IdrsScalars {
  static constexpr int sums = 1;
  static constexpr bool without_elements = true;
  IdrsState* state;

  NEWEL_HD explicit IdrsScalars(IdrsState* state_) : state(state_) {}
  NEWEL_HD bool active() const { return state->monitor.running(); }
  NEWEL_HD NoCoefficients begin() const { return {}; }
  template <class Sums>
  NEWEL_HD void element(std::int64_t, NoCoefficients, Sums&) const {}
};

/// f = P^T r, and c for the first column
struct IdrsShadow : IdrsScalars {
  using IdrsScalars::IdrsScalars;
  NEWEL_HD void end(const double*) const {
    IdrsState& s = *state;
    for (int i = 0; i < s.s; ++i) s.f[i] = s.shadow[i];
    s.solve_from(0);
  }
};

/// From P^T g: alpha, column k of M, beta, and for the next column f and c.
struct IdrsColumn : IdrsScalars {
  int k;
  NEWEL_HD IdrsColumn(IdrsState* state_, int k_) : IdrsScalars(state_), k(k_) {}

  NEWEL_HD void end(const double*) const {
    IdrsState& s = *state;
    for (int i = 0; i < k; ++i) s.alpha[i] = without_earlier(i, i) / s.at(i, i);
    for (int i = k; i < s.s; ++i) s.at(i, k) = without_earlier(i, k);
    const double length = sqrt(s.shadow[s.s]);
    s.beta = s.f[k] / s.at(k, k);
    if (!(length - length == 0)) {
      s.monitor.event = Event::not_finite;
    } else if (!(fabs(s.at(k, k)) > s.epsilon * s.shadow_norm * length) || !(s.beta - s.beta == 0)) {
      s.monitor.event = Event::rho_vanished;
    }
    for (int i = k + 1; i < s.s; ++i) s.f[i] -= s.beta * s.at(i, k);
    s.solve_from(k + 1);
  }

 private:
  // p_i.g without its part along g_0 .. g_{columns-1}
  NEWEL_HD double without_earlier(int i, int columns) const {
    double rest = state->shadow[i];
    for (int j = 0; j < columns; ++j) rest -= state->at(i, j) * state->alpha[j];
    return rest;
  }
};

/// `count` columns of length n from `first` on, with a coefficient each. Steps read `width` of them: those that are
/// not there are the first again, with 0.
template <class T, int width>
struct IdrsColumns {
  T coefficient[width];
  std::int64_t offset[width];

  NEWEL_HD IdrsColumns(const double* coefficients, int first, int count, std::int64_t n) {
    for (int j = 0; j < width; ++j) {
      const bool there = j < count;
      coefficient[j] = there ? static_cast<T>(coefficients[first + j]) : T(0);
      offset[j] = (first + (there ? j : 0)) * n;
    }
  }
  NEWEL_HD T combine(const T* V, std::int64_t i) const {
    T sum = 0;
    NEWEL_UNROLL
    for (int j = 0; j < width; ++j) sum += coefficient[j] * V[offset[j] + i];
    return sum;
  }
};

/// What M makes of v = r - G c.
enum class IdrsPrecond { none, diagonal, other };

/// v = r - sum_{j>=k} c_j g_j and, unless M is `other`, u_k = omega M v + sum_{j>=k} c_j u_j
template <class T, IdrsPrecond precond, int width>
struct IdrsDirection {
  static constexpr int sums = 0;
  const IdrsState* state;
  int k;
  std::int64_t n;
  const T *d, *r, *G;
  T *U, *v;

  struct Coefficients {
    IdrsColumns<T, width> c;
    T omega;
  };
  NEWEL_HD bool active() const { return state->monitor.running(); }
  NEWEL_HD Coefficients begin() const { return {{state->c, k, state->s - k, n}, static_cast<T>(state->omega)}; }
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, const Coefficients& at, Sums&) const {
    const T vi = r[i] - at.c.combine(G, i);
    if constexpr (precond == IdrsPrecond::other) {
      v[i] = vi;
    } else {
      const T z = precond == IdrsPrecond::diagonal ? d[i] * vi : vi;
      U[k * n + i] = at.omega * z + at.c.combine(U, i);
    }
  }
  NEWEL_HD void end(const double*) const {}
};

/// u_k = omega z + sum_{j>=k} c_j u_j
template <class T, int width>
struct IdrsCombine {
  static constexpr int sums = 0;
  const IdrsState* state;
  int k;
  std::int64_t n;
  const T* z;
  T* U;

  struct Coefficients {
    IdrsColumns<T, width> c;
    T omega;
  };
  NEWEL_HD bool active() const { return state->monitor.running(); }
  NEWEL_HD Coefficients begin() const { return {{state->c, k, state->s - k, n}, static_cast<T>(state->omega)}; }
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, const Coefficients& at, Sums&) const {
    U[k * n + i] = at.omega * z[i] + at.c.combine(U, i);
  }
  NEWEL_HD void end(const double*) const {}
};

/// g_k = g_k - sum_{j<k} alpha_j g_j, u_k likewise, r = r - beta g_k, x = x + beta u_k, r.r
template <class T, int width>
struct IdrsUpdate {
  static constexpr int sums = 1;
  IdrsState* state;
  int k;
  std::int64_t n;
  T *G, *U, *r, *x;

  struct Coefficients {
    IdrsColumns<T, width> alpha;
    T beta;
  };
  NEWEL_HD bool active() const { return state->monitor.running(); }
  NEWEL_HD Coefficients begin() const { return {{state->alpha, 0, k, n}, static_cast<T>(state->beta)}; }
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, const Coefficients& at, Sums& total) const {
    const T g = G[k * n + i] - at.alpha.combine(G, i);
    const T u = U[k * n + i] - at.alpha.combine(U, i);
    const T ri = r[i] - at.beta * g;
    G[k * n + i] = g;
    U[k * n + i] = u;
    r[i] = ri;
    x[i] += at.beta * u;
    total.add(0, double(ri) * double(ri));
  }
  NEWEL_HD void end(const double* totals) const { state->monitor.finish_iteration(sqrt(totals[0])); }
};

/// omega from t.r and t.t, x = x + omega z, r = r - omega t, r.r
template <class T>
struct IdrsStabilise {
  static constexpr int sums = 1;
  IdrsState* state;
  const T *t, *z;  ///< z is r itself without M
  T *x, *r;

  NEWEL_HD bool active() const { return state->monitor.running(); }
  /// The minimiser of |r|; where t and r are nearly orthogonal, larger: a small omega spoils the next directions.
  NEWEL_HD double omega() const {
    const double tr = state->t_dots[0], tt = state->t_dots[1];
    const double cosine = fabs(tr) / (sqrt(tt) * state->monitor.residual), least = tr / tt;
    if (!(cosine > state->epsilon)) return 0;
    return cosine < IdrsState::least_cosine ? least * (IdrsState::least_cosine / cosine) : least;
  }
  NEWEL_HD T begin() const { return static_cast<T>(omega()); }
  struct Loaded {
    T t, z, x, r;
  };
  NEWEL_HD Loaded load(std::int64_t i) const { return {t[i], z[i], x[i], r[i]}; }
  template <class Sums>
  NEWEL_HD void finish(std::int64_t i, const Loaded& at, T omega, Sums& total) const {
    if (omega == 0) return;
    const T ri = at.r - omega * at.t;
    x[i] = at.x + omega * at.z;
    r[i] = ri;
    total.add(0, double(ri) * double(ri));
  }
  NEWEL_HD void end(const double* totals) const {
    state->omega = omega();
    if (state->omega != 0) return state->monitor.finish_iteration(sqrt(totals[0]));
    state->monitor.event = state->t_dots[1] - state->t_dots[1] == 0 ? Event::omega_vanished : Event::not_finite;
  }
};

}  // namespace newel::detail
