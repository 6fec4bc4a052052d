// SPDX-License-Identifier: Apache-2.0
/// The small steps of GMRES: scaling a basis vector, rotating a column, solving the triangle. Internal.
#pragma once

#include <cmath>

#include "core/vectors/vector_step.hpp"
#include "solver/krylov/steps/basis.hpp"

namespace newel::detail {

/// Values of the small arrays that one thread loads before it uses the first: a device serves them together.
inline constexpr int small_batch = 8;

/// Scalars of a cycle, in S.
struct GmresState {
  MonitorState monitor;
  double scale;        ///< what turns w into the next basis vector
  double after_first;  ///< w.w after the first pass of Gram-Schmidt
  double after_second;
  double epsilon;  ///< of the precision that the basis is kept in
  Orthogonality basis;
  double scratch;
  int second_passes;  ///< in this cycle
};

/// The arrays of the small least-squares problem min |g - R y|, in S; m is the length of a cycle. With `room` in
/// front of h and h2, for products with as many vectors that precede the basis, every column has h and h2 of its own.
struct GmresArrays {
  double* h;       ///< m + 2: the column of the first pass, then w.w before it
  double* h2;      ///< m + 2: the correction of the second pass, then w.w before it
  double* R;       ///< m columns of m
  double* cosine;  ///< m
  double* sine;    ///< m
  double* g;       ///< m + 1
  double* y;       ///< m
  int m;

  /// Of h of all columns, which is followed by h2 of all.
  static constexpr std::int64_t products_size(std::int64_t m, std::int64_t room) {
    return (room > 0 ? m : 1) * (room + m + 2);
  }
  static constexpr std::int64_t size(std::int64_t m, std::int64_t room) {
    return 2 * products_size(m, room) + m * m + 2 * m + (m + 1) + m;
  }
  GmresArrays(double* memory, int m_, int room, int column)
      : h(memory + room + (room > 0 ? std::int64_t{column} * (room + m_ + 2) : 0)),
        h2(h + products_size(m_, room)),
        R(memory + 2 * products_size(m_, room)),
        cosine(R + static_cast<std::int64_t>(m_) * m_),
        sine(cosine + m_),
        g(sine + m_),
        y(g + m_ + 1),
        m(m_) {}
};

/// v = scale w, as the basis keeps it in precision B; the next product takes it from `newest` where B is not T.
template <class T, class B>
struct GmresScale {
  static constexpr int sums = 0;
  const GmresState* state;
  const T* w;
  B* v;
  T* newest;  ///< null where B is T

  NEWEL_HD bool active() const { return state->monitor.running(); }
  NEWEL_HD T begin() const { return static_cast<T>(state->scale); }
  struct Loaded {
    T w;
  };
  NEWEL_HD Loaded load(std::int64_t i) const { return {w[i]}; }
  template <class Sums>
  NEWEL_HD void finish(std::int64_t i, const Loaded& at, T scale, Sums&) const {
    v[i] = static_cast<B>(scale * at.w);
    if (newest != nullptr) newest[i] = static_cast<T>(v[i]);
  }
  NEWEL_HD void end(const double*) const {}
};

/// Column j of the Hessenberg matrix becomes a column of R by Givens rotations; |g_{j+1}| is the new residual. A step
/// without elements: only its end does something, once.
struct GmresRotate {
  static constexpr int sums = 1;
  static constexpr bool without_elements = true;
  /// What is left of w after two passes is rounding below this many eps |w|.
  static constexpr double exhausted_at = 32;
  GmresState* state;
  GmresArrays a;
  int j;

  NEWEL_HD bool active() const { return state->monitor.running(); }
  NEWEL_HD NoCoefficients begin() const { return {}; }
  template <class Sums>
  NEWEL_HD void element(std::int64_t, NoCoefficients, Sums&) const {}

  NEWEL_HD void end(const double*) const {
    const double before = a.h[j + 1];
    const bool second = state->basis.needs_second(before, state->after_first);
    if (second) {
      ++state->second_passes;
    } else {
      state->basis.keep_first(before, state->after_first);
    }
    const double next = sqrt(second ? state->after_second : state->after_first);
    double* const column = a.R + static_cast<std::int64_t>(j) * a.m;
    const double entry = rotate_earlier(second, column);
    // NaN or an overflow in w would pass the comparisons below as if the space had ended.
    const double sum = before + next + entry;
    if (!(sum - sum == 0)) {
      state->monitor.finish_iteration(sum - sum);
      return;
    }
    // Where nothing but rounding is left of both, the Krylov space ends in a direction that A maps to zero.
    const double rounding = exhausted_at * state->epsilon * sqrt(before);
    const bool exhausted = next <= rounding;
    const double length = exhausted && fabs(entry) <= rounding ? 0.0 : hypot(entry, next);
    const double cosine = length > 0 ? entry / length : 0.0;
    const double sine = length > 0 ? next / length : 1.0;
    column[j] = length;
    a.cosine[j] = cosine;
    a.sine[j] = sine;
    a.g[j + 1] = -sine * a.g[j];
    a.g[j] = cosine * a.g[j];

    state->scale = 1 / next;
    state->monitor.finish_iteration(fabs(a.g[j + 1]));
    if (state->monitor.running() && exhausted) state->monitor.event = Event::krylov_space_exhausted;
  }

 private:
  // The rotations before j; returns the diagonal entry that is left for rotation j. Numbers are loaded in batches.
  NEWEL_HD double rotate_earlier(bool second, double* column) const {
    constexpr int batch = small_batch;
    double entry = a.h[0] + (second ? a.h2[0] : 0.0);
    for (int first = 0; first < j; first += batch) {
      double once[batch], again[batch], cosine[batch], sine[batch];
      NEWEL_UNROLL
      for (int k = 0; k < batch; ++k) {
        const int i = first + k < j ? first + k : j - 1;
        once[k] = a.h[i + 1];
        again[k] = a.h2[i + 1];
        cosine[k] = a.cosine[i];
        sine[k] = a.sine[i];
      }
      NEWEL_UNROLL
      for (int k = 0; k < batch; ++k) {
        if (first + k >= j) break;
        const double below = once[k] + (second ? again[k] : 0.0);
        column[first + k] = cosine[k] * entry + sine[k] * below;
        entry = cosine[k] * below - sine[k] * entry;
      }
    }
    return entry;
  }
};

/// R y = g for the first `columns` columns; a zero on R's diagonal (a singular matrix) gives y_i = 0.
struct GmresBackSolve {
  static constexpr int sums = 1;
  static constexpr bool without_elements = true;
  GmresArrays a;
  int columns;

  NEWEL_HD bool active() const { return true; }
  NEWEL_HD NoCoefficients begin() const { return {}; }
  template <class Sums>
  NEWEL_HD void element(std::int64_t, NoCoefficients, Sums&) const {}
  NEWEL_HD void end(const double*) const {
    for (int i = columns - 1; i >= 0; --i) {
      const double rest = without_later(i, a.g[i]);
      const double diagonal = a.R[static_cast<std::int64_t>(i) * a.m + i];
      a.y[i] = diagonal != 0 ? rest / diagonal : 0.0;
    }
  }

 private:
  // rest - sum of R_ik y_k over k > i. Numbers are loaded in batches.
  NEWEL_HD double without_later(int i, double rest) const {
    constexpr int batch = small_batch;
    for (int first = i + 1; first < columns; first += batch) {
      double R[batch], y[batch];
      NEWEL_UNROLL
      for (int c = 0; c < batch; ++c) {
        const int k = first + c < columns ? first + c : columns - 1;
        R[c] = a.R[static_cast<std::int64_t>(k) * a.m + i];
        y[c] = a.y[k];
      }
      NEWEL_UNROLL
      for (int c = 0; c < batch; ++c) {
        if (first + c < columns) rest -= R[c] * y[c];
      }
    }
    return rest;
  }
};

}  // namespace newel::detail
