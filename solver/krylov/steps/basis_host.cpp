// SPDX-License-Identifier: Apache-2.0
// Products with a basis on the host: a piece of w stays in the cache while the columns pass by.
#include "solver/krylov/steps/basis.hpp"

#include <algorithm>
#include <array>

#include "core/vectors/over_ranks.hpp"
#include "solver/krylov/steps/pieces_host.hpp"

namespace newel::detail {
namespace {

constexpr int lanes = 8, together = 4;

// A piece of w, and as much of some columns, fit in the first-level cache.
HostPieces pieces_of(std::int64_t n) { return HostPieces(n, lanes); }

// h_c = a_c.b for `columns` columns that lie `stride` apart. Several at a time, which keeps more of them on their way
// from memory; each sum has its own order all the same.
template <int columns, class A, class B>
void piece_dots(const A* a, std::int64_t stride, const B* b, std::int64_t count, double* h) {
  double sums[columns][lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (int c = 0; c < columns; ++c) {
#pragma omp simd
      for (int l = 0; l < lanes; ++l) sums[c][l] += double(a[c * stride + i + l]) * double(b[i + l]);
    }
  }
  for (int c = 0; c < columns; ++c) {
    double total = 0;
    for (std::int64_t k = i; k < count; ++k) total += double(a[c * stride + k]) * double(b[k]);
    for (const double sum : sums[c]) total += sum;
    h[c] = total;
  }
}

// b += alpha_c a_c, a column after the other in each element.
template <int columns, class T, class B>
void piece_axpys(const T* alpha, const B* a, std::int64_t stride, T* b, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    T sum = b[i];
    for (int c = 0; c < columns; ++c) sum += alpha[c] * T(a[c * stride + i]);
    b[i] = sum;
  }
}

template <class T, class B>
void all_dots(const B* V, std::int64_t n, int k, const T* w, std::int64_t count, double* h) {
  int j = 0;
  for (; j + together <= k; j += together) piece_dots<together>(V + j * n, n, w, count, h + j);
  for (; j < k; ++j) piece_dots<1>(V + j * n, n, w, count, h + j);
  piece_dots<1>(w, n, w, count, h + k);
}

// w += sign h_j v_j for all j < k
template <class T, class B>
void all_axpys(double sign, const double* h, const B* V, std::int64_t n, int k, T* w, std::int64_t count) {
  const auto alphas = [&](int j) {
    std::array<T, together> alpha{};
    for (int c = 0; c < together && j + c < k; ++c)
      alpha[static_cast<std::size_t>(c)] = static_cast<T>(sign * h[j + c]);
    return alpha;
  };
  int j = 0;
  for (; j + together <= k; j += together) piece_axpys<together>(alphas(j).data(), V + j * n, n, w, count);
  for (; j < k; ++j) piece_axpys<1>(alphas(j).data(), V + j * n, n, w, count);
}

}  // namespace

template <class T, class B>
void basis_dot(const Context<Space::host>& ctx, PassGate gate, const B* V, std::int64_t n, int k, const T* w,
               double* h, double* partial) {
  if (!gate.open()) return;
  pieces_of(n).for_each(ctx, [&](std::int64_t piece, std::int64_t first, std::int64_t rows) {
    double* const mine = partial + piece * (k + 1);
    all_dots(V + first, n, k, w + first, rows, mine);
  });
  std::fill(h, h + k + 1, 0.0);
  for (std::int64_t piece = 0; piece < pieces_of(n).count(); ++piece) {
    for (int j = 0; j <= k; ++j) h[j] += partial[piece * (k + 1) + j];
  }
  sum_over_ranks(ctx, h, k + 1);
}

template <class T, class B>
void basis_subtract(const Context<Space::host>& ctx, PassGate gate, const B* V, std::int64_t n, int k,
                    const double* h, T* w, double* ww, double* partial) {
  if (!gate.open()) return;
  pieces_of(n).for_each(ctx, [&](std::int64_t piece, std::int64_t first, std::int64_t rows) {
    all_axpys(-1, h, V + first, n, k, w + first, rows);
    piece_dots<1>(w + first, n, w + first, rows, partial + piece);
  });
  double total = 0;
  for (std::int64_t piece = 0; piece < pieces_of(n).count(); ++piece) total += partial[piece];
  sum_over_ranks(ctx, &total, 1);
  *ww = total;
}

template <class T, class B>
void basis_combine(const Context<Space::host>& ctx, const B* V, std::int64_t n, int k, const double* y, T* u) {
  pieces_of(n).for_each(ctx, [&](std::int64_t, std::int64_t first, std::int64_t rows) {
    std::fill(u + first, u + first + rows, T(0));
    all_axpys(1, y, V + first, n, k, u + first, rows);
  });
}

std::int64_t basis_scratch(const Context<Space::host>&, std::int64_t n, int k) {
  return pieces_of(n).count() * (k + 1);
}

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

}  // namespace newel::detail
