// SPDX-License-Identifier: Apache-2.0
// Panels of vectors on the host: pieces of rows for threads, and sums in the order of the pieces.
#include <algorithm>
#include <type_traits>

#include <newel/core/parallel.hpp>
#include "core/vectors/wide_host.hpp"
#include "solver/eigen/panels.hpp"

namespace newel::detail {
namespace {

// A piece's part of a panel of eight fits in the second-level cache. How many there are depends on n alone.
constexpr std::int64_t most_piece_rows = 2048, least_piece_rows = 256, usual_pieces = 8;
constexpr int most_sums = 64;

std::int64_t piece_rows(std::int64_t n) {
  return std::clamp((n + usual_pieces - 1) / usual_pieces, least_piece_rows, most_piece_rows);
}
std::int64_t pieces_of(std::int64_t n) { return (n + piece_rows(n) - 1) / piece_rows(n); }

template <class F>
void for_each_piece(const Context<Space::host>& ctx, std::int64_t n, F&& f) {
  const std::int64_t pieces = pieces_of(n), each = piece_rows(n);
  parallel_for(
      ctx, pieces,
      [&](std::int64_t piece) {
        const std::int64_t first = piece * each;
        with_wide_vectors([&] { f(piece, first, std::min(each, n - first)); });
      },
      pieces > 1 && ctx.threads() > 1 ? 1 : pieces);
}

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
      for_each_piece(ctx, n, [&](std::int64_t piece, std::int64_t first, std::int64_t rows) {
        piece_dots<width_a, width_b>(a.values + first * width_a, b.values + first * width_b,
                                     weights == nullptr ? nullptr : weights + first, rows,
                                     partial + piece * most_sums);
      });
    });
  });
  const int count = a.width * b.width;
  std::fill(sums, sums + count, 0.0);
  for (std::int64_t piece = 0; piece < pieces_of(n); ++piece) {
    for (int k = 0; k < count; ++k) sums[k] += partial[piece * most_sums + k];
  }
}

void combine_panels(const Context<Space::host>& ctx, std::int64_t n, const PanelList& from,
                    const double* coefficients, bool adds, double* to, int to_width) {
  with_width(to_width, [&](auto width) {
    for_each_piece(ctx, n, [&](std::int64_t, std::int64_t first, std::int64_t rows) {
      piece_sum<width>(from, coefficients, adds, first, rows, to);
    });
  });
}

std::int64_t panel_scratch(const Context<Space::host>&, std::int64_t n) { return pieces_of(n) * most_sums; }

}  // namespace newel::detail
