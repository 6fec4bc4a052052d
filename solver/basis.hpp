// SPDX-License-Identifier: Apache-2.0
/// Products with a tall and narrow basis V (n x k, column after column), for Gram-Schmidt. Internal.
#pragma once

#include <purlin/core/array.hpp>
#include <purlin/solver/monitor.hpp>

namespace purlin::detail {

/// Decides in S whether a pass of Gram-Schmidt runs: never once the recurrence has stopped, and the second pass only
/// where the first took away so much of w that rounding spoils what is left.
struct PassGate {
  const Monitor* monitor;
  const double* before;  ///< w.w before the first pass; null: the gate of the first pass
  const double* after;   ///< w.w after it

  /// |w| fell below 0.7 of its length.
  static PURLIN_HD bool needs_second(double before, double after) { return after < 0.49 * before; }
  PURLIN_HD bool open() const { return monitor->running() && (before == nullptr || needs_second(*before, *after)); }
};

/// h_j = V_j.w for j < k, h_k = w.w. `partial` is scratch of `basis_scratch` doubles.
template <class T>
void basis_dot(const Context<Space::host>& ctx, PassGate gate, const T* V, std::int64_t n, int k, const T* w,
               double* h, double* partial);
template <class T>
void basis_dot(const Context<Space::device>& ctx, PassGate gate, const T* V, std::int64_t n, int k, const T* w,
               double* h, double* partial);

/// w = w - V h and *ww = w.w
template <class T>
void basis_subtract(const Context<Space::host>& ctx, PassGate gate, const T* V, std::int64_t n, int k,
                    const double* h, T* w, double* ww, double* partial);
template <class T>
void basis_subtract(const Context<Space::device>& ctx, PassGate gate, const T* V, std::int64_t n, int k,
                    const double* h, T* w, double* ww, double* partial);

/// u = V y
template <class T>
void basis_combine(const Context<Space::host>& ctx, const T* V, std::int64_t n, int k, const double* y, T* u);
template <class T>
void basis_combine(const Context<Space::device>& ctx, const T* V, std::int64_t n, int k, const double* y, T* u);

/// Doubles of scratch that the functions above need for bases of up to `k` vectors.
std::int64_t basis_scratch(const Context<Space::host>& ctx, std::int64_t n, int k);
std::int64_t basis_scratch(const Context<Space::device>& ctx, std::int64_t n, int k);

}  // namespace purlin::detail
