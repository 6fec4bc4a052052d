// SPDX-License-Identifier: Apache-2.0
// Panels of vectors on the host: pieces of rows for threads, and sums in the order of the pieces.
#include <algorithm>
#include <type_traits>

#include "solver/eigen/panels.hpp"
#include "solver/krylov/steps/pieces_host.hpp"

namespace newel::detail {
namespace {

constexpr int most_sums = 64;

// Calls f with the width as a constant.
template <class F>
void with_width(int width, F&& f) {
  switch (width) {
    case 1:
      return f(std::integral_constant<int, 1>());
    case 2:
      return f(std::integral_constant<int, 2>());
    case 4:
      return f(std::integral_constant<int, 4>());
    default:
      return f(std::integral_constant<int, 8>());
  }
}

// Half of a's columns at a time: the sums of eight by eight would not fit in registers.
template <int A, int B>
void piece_dots(const double* a, const double* b, const double* weights, std::int64_t rows, double* sums) {
  constexpr int together = A < 4 ? A : 4;
  for (int first = 0; first < A; first += together) {
    double sum[together][B] = {};
    for (std::int64_t r = 0; r < rows; ++r) {
      const double weight = weights == nullptr ? 1.0 : weights[r];
      for (int i = 0; i < together; ++i) {
        const double left = a[r * A + first + i] * weight;
#pragma omp simd
        for (int j = 0; j < B; ++j) sum[i][j] += left * b[r * B + j];
      }
    }
    for (int i = 0; i < together; ++i) {
      for (int j = 0; j < B; ++j) sums[(first + i) * B + j] = sum[i][j];
    }
  }
}

template <int W>
void piece_sum(const PanelList& from, const double* coefficients, bool adds, std::int64_t first, std::int64_t rows,
               double* to) {
  for (std::int64_t r = first; r < first + rows; ++r) {
    double sum[W] = {};
    const double* next = coefficients;
    for (int p = 0; p < from.count; ++p) {
      const int width = from.panel[p].width;
      const double* const values = from.panel[p].values + r * width;
      for (int c = 0; c < width; ++c, next += W) {
#pragma omp simd
        for (int j = 0; j < W; ++j) sum[j] += values[c] * next[j];
      }
    }
    for (int j = 0; j < W; ++j) to[r * W + j] = adds ? to[r * W + j] + sum[j] : sum[j];
  }
}

}  // namespace

void panel_dots(const Context<Space::host>& ctx, std::int64_t n, PanelView a, PanelView b, const double* weights,
                double* sums, double* partial) {
  with_width(a.width, [&](auto width_a) {
    with_width(b.width, [&](auto width_b) {
      HostPieces(n).for_each(ctx, [&](std::int64_t piece, std::int64_t first, std::int64_t rows) {
        piece_dots<width_a, width_b>(a.values + first * width_a, b.values + first * width_b,
                                     weights == nullptr ? nullptr : weights + first, rows,
                                     partial + piece * most_sums);
      });
    });
  });
  const int count = a.width * b.width;
  std::fill(sums, sums + count, 0.0);
  for (std::int64_t piece = 0; piece < HostPieces(n).count(); ++piece) {
    for (int k = 0; k < count; ++k) sums[k] += partial[piece * most_sums + k];
  }
}

void combine_panels(const Context<Space::host>& ctx, std::int64_t n, const PanelList& from,
                    const double* coefficients, bool adds, double* to, int to_width) {
  with_width(to_width, [&](auto width) {
    HostPieces(n).for_each(ctx, [&](std::int64_t, std::int64_t first, std::int64_t rows) {
      piece_sum<width>(from, coefficients, adds, first, rows, to);
    });
  });
}

std::int64_t panel_scratch(const Context<Space::host>&, std::int64_t n) { return HostPieces(n).count() * most_sums; }

}  // namespace newel::detail
