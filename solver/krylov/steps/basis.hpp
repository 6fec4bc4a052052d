// SPDX-License-Identifier: Apache-2.0
/// Products with a tall and narrow basis V (n x k, column after column), for Gram-Schmidt. V may be kept in a shorter
/// precision B than the vectors' T. Internal.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <newel/core/array.hpp>
#include "solver/krylov/steps/monitor_state.hpp"

namespace newel::detail {

/// How far a basis may be from orthogonal, and the decision to run Gram-Schmidt again.
///
/// Let `loss` be |I - V^T V|. One classical pass leaves V^T (w - V V^T w) = (I - V^T V) V^T w, at most loss |w| long,
/// so that the next vector, w' / |w'|, has at most loss |w| / |w'| in the basis: what it adds to the loss, a factor
/// that grows slowly with the number of vectors left out. A second pass takes that away down to rounding (L. Giraud,
/// J. Langou, M. Rozloznik, "The loss of orthogonality in the Gram-Schmidt orthogonalization process", Comput. Math.
/// Appl. 50, 2005, on both), so it is worth its price only where the loss would exceed the limit.
///
/// V in a shorter precision B than the vectors' T loses orthogonality from its first vector on: each of its n entries
/// is rounded for itself. Where these errors have random signs and entries are of similar size, that adds about
/// eps(B) / sqrt(n) to a product of two vectors; where a few entries hold a vector, eps(B), and the loss is
/// underestimated by sqrt(n) at most.
///
/// GMRES needs little: A V_j = V_{j+1} H holds to rounding whatever V is, and its residual is V_{j+1} (beta e_1 - H
/// y), the estimate to within a relative error of loss / 2. The limit is what the second pass needs, which itself
/// leaves loss^2 |w| / |w'|: a basis of nearly parallel vectors, each of which loses three digits, is as orthogonal
/// as 1e-5 with it, and lost with 1e-2. Systems of meshes take the same numbers of iterations with 1e-4 and with
/// 1e-2.
struct Orthogonality {
  /// Below 1 / 32, so that vectors of rounding errors always see the second pass.
  static constexpr double limit = 1e-3;
  double loss;  ///< of the vectors so far; starts with that of rounding them

  /// For vectors of length n in T that are kept in B.
  template <class T, class B>
  static Orthogonality start(std::int64_t n) {
    constexpr double eps = std::numeric_limits<T>::epsilon(), eps_kept = std::numeric_limits<B>::epsilon();
    const double rounding = std::max(eps, eps_kept / std::sqrt(static_cast<double>(n)));
    return {std::is_same_v<T, B> ? eps : rounding};
  }

  /// w.w before and after the first pass.
  NEWEL_HD bool needs_second(double before, double after) const {
    return loss * loss * before > limit * limit * after;
  }
  NEWEL_HD void keep_first(double before, double after) {
    if (before > after) loss *= sqrt(before / after);
  }
};

/// Decides in S whether a pass of Gram-Schmidt runs: never once the recurrence has stopped, and the second pass only
/// where the first leaves too little of w for the basis to stay orthogonal.
struct PassGate {
  const MonitorState* monitor;
  const Orthogonality* basis;  ///< null: the gate of the first pass
  const double* before;        ///< w.w before the first pass
  const double* after;         ///< w.w after it

  NEWEL_HD bool open() const {
    return monitor->running() && (basis == nullptr || basis->needs_second(*before, *after));
  }
};

/// h_j = V_j.w for j < k, h_k = w.w; k is 1 or more. `partial` is scratch of `basis_scratch` doubles.
template <class T, class B>
void basis_dot(const Context<Space::host>& ctx, PassGate gate, const B* V, std::int64_t n, int k, const T* w,
               double* h, double* partial);
template <class T, class B>
void basis_dot(const Context<Space::device>& ctx, PassGate gate, const B* V, std::int64_t n, int k, const T* w,
               double* h, double* partial);

/// w = w - V h and *ww = w.w; k is 1 or more.
template <class T, class B>
void basis_subtract(const Context<Space::host>& ctx, PassGate gate, const B* V, std::int64_t n, int k,
                    const double* h, T* w, double* ww, double* partial);
template <class T, class B>
void basis_subtract(const Context<Space::device>& ctx, PassGate gate, const B* V, std::int64_t n, int k,
                    const double* h, T* w, double* ww, double* partial);

/// u = V y; k is 1 or more.
template <class T, class B>
void basis_combine(const Context<Space::host>& ctx, const B* V, std::int64_t n, int k, const double* y, T* u);
template <class T, class B>
void basis_combine(const Context<Space::device>& ctx, const B* V, std::int64_t n, int k, const double* y, T* u);

/// Doubles of scratch that the functions above need for bases of up to `k` vectors.
std::int64_t basis_scratch(const Context<Space::host>& ctx, std::int64_t n, int k);
std::int64_t basis_scratch(const Context<Space::device>& ctx, std::int64_t n, int k);

}  // namespace newel::detail
