// SPDX-License-Identifier: Apache-2.0
// Products with a basis on the host: a piece of w stays in the cache while the columns pass by.
#include <purlin/solver/basis.hpp>

#include <algorithm>

#include <purlin/core/parallel.hpp>

namespace purlin::detail {
namespace {

// 2048 doubles: w's piece and one column's fit in the first-level cache.
constexpr std::int64_t piece_rows = 2048;

std::int64_t pieces_of(std::int64_t n) { return (n + piece_rows - 1) / piece_rows; }

template <class A, class B>
double piece_dot(const A* a, const B* b, std::int64_t count) {
  double lanes[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
#pragma omp simd
    for (int l = 0; l < 8; ++l) lanes[l] += double(a[i + l]) * double(b[i + l]);
  }
  double total = 0;
  for (; i < count; ++i) total += double(a[i]) * double(b[i]);
  for (const double lane : lanes) total += lane;
  return total;
}

template <class T, class B>
void piece_axpy(T alpha, const B* a, T* b, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) b[i] += alpha * T(a[i]);
}

// Calls f(piece, first row, rows) for every piece, over the context's threads.
template <class F>
void for_each_piece(const Context<Space::host>& ctx, std::int64_t n, F&& f) {
  const std::int64_t pieces = pieces_of(n);
  parallel_for(
      ctx, pieces,
      [&](std::int64_t piece) {
        const std::int64_t first = piece * piece_rows;
        f(piece, first, std::min(piece_rows, n - first));
      },
      pieces > 1 && ctx.threads() > 1 ? 1 : pieces);
}

}  // namespace

template <class T, class B>
void basis_dot(const Context<Space::host>& ctx, PassGate gate, const B* V, std::int64_t n, int k, const T* w,
               double* h, double* partial) {
  if (!gate.open()) return;
  for_each_piece(ctx, n, [&](std::int64_t piece, std::int64_t first, std::int64_t rows) {
    double* const mine = partial + piece * (k + 1);
    for (int j = 0; j < k; ++j) mine[j] = piece_dot(V + j * n + first, w + first, rows);
    mine[k] = piece_dot(w + first, w + first, rows);
  });
  std::fill(h, h + k + 1, 0.0);
  for (std::int64_t piece = 0; piece < pieces_of(n); ++piece) {
    for (int j = 0; j <= k; ++j) h[j] += partial[piece * (k + 1) + j];
  }
}

template <class T, class B>
void basis_subtract(const Context<Space::host>& ctx, PassGate gate, const B* V, std::int64_t n, int k,
                    const double* h, T* w, double* ww, double* partial) {
  if (!gate.open()) return;
  for_each_piece(ctx, n, [&](std::int64_t piece, std::int64_t first, std::int64_t rows) {
    for (int j = 0; j < k; ++j) piece_axpy(static_cast<T>(-h[j]), V + j * n + first, w + first, rows);
    partial[piece] = piece_dot(w + first, w + first, rows);
  });
  double total = 0;
  for (std::int64_t piece = 0; piece < pieces_of(n); ++piece) total += partial[piece];
  *ww = total;
}

template <class T, class B>
void basis_combine(const Context<Space::host>& ctx, const B* V, std::int64_t n, int k, const double* y, T* u) {
  for_each_piece(ctx, n, [&](std::int64_t, std::int64_t first, std::int64_t rows) {
    std::fill(u + first, u + first + rows, T(0));
    for (int j = 0; j < k; ++j) piece_axpy(static_cast<T>(y[j]), V + j * n + first, u + first, rows);
  });
}

std::int64_t basis_scratch(const Context<Space::host>&, std::int64_t n, int k) { return pieces_of(n) * (k + 1); }

#define X(T, B)                                                                                                   \
  template void basis_dot(const Context<Space::host>&, PassGate, const B*, std::int64_t, int, const T*, double*,  \
                          double*);                                                                               \
  template void basis_subtract(const Context<Space::host>&, PassGate, const B*, std::int64_t, int, const double*, \
                               T*, double*, double*);                                                             \
  template void basis_combine(const Context<Space::host>&, const B*, std::int64_t, int, const double*, T*);
X(double, double)
X(double, float)
X(float, float)
#undef X

}  // namespace purlin::detail
