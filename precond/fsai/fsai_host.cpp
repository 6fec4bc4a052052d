// SPDX-License-Identifier: Apache-2.0
// FSAI's local problems on the host: a thread has a piece of rows, and the triangle of the last of them row by row in
// its own scratch.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include <newel/core/parallel.hpp>
#include "core/vectors/wide_host.hpp"
#include "core/memory/work_limit.hpp"
#include "precond/fsai/fsai.hpp"
#include "precond/fsai/fsai_pattern.hpp"

namespace newel::detail {
namespace {

// Row r of an upper triangle of m rows, from its diagonal on, packed by rows.
double* row_of(double* triangle, std::int64_t m, std::int64_t r) { return triangle + r * m - r * (r - 1) / 2; }
std::int64_t packed_size(std::int64_t m) { return m * (m + 1) / 2; }

// The upper triangle of A(J, J), J ascending, from the rows of A's lower one.
template <class T>
void assemble(const FsaiView<T>& a, const Index* J, Index m, double* triangle) {
  std::fill_n(triangle, packed_size(m), 0.0);
  for (Index r = 0; r < m; ++r) {
    const Index row = J[r];
    const Index* end = a.a_col + a.a_row_ptr[row + 1];
    const Index* at = std::lower_bound(a.a_col + a.a_row_ptr[row], end, J[0]);
    Index c = 0;
    for (; at < end; ++at) {
      while (J[c] < *at) ++c;  // ends: the last column is J[r]
      if (J[c] == *at) row_of(triangle, m, c)[r - c] = static_cast<double>(a.a_val[at - a.a_col]);
    }
  }
}

// to -= x a + y b
void subtract(double* to, double x, const double* a, double y, const double* b, Index count) {
#pragma omp simd
  for (Index k = 0; k < count; ++k) to[k] -= x * a[k] + y * b[k];
}
void subtract(double* to, double x, const double* a, Index count) {
#pragma omp simd
  for (Index k = 0; k < count; ++k) to[k] -= x * a[k];
}

// Scales row r, from whose diagonal all but rounding has been subtracted; the inverse of the factor's diagonal entry
// goes to `inverse`. False: not positive definite.
bool scale_row(double* row, double before, Index count, double& inverse) {
  if (!(row[0] > fsai_zero_pivot * before)) return false;
  inverse = 1 / std::sqrt(row[0]);
  for (Index k = 1; k < count; ++k) row[k] *= inverse;
  return true;
}

// U of A = U^T U in its place, but for the diagonal, whose inverse takes the place of A's diagonal in `inverse`: two
// rows at a time are subtracted from those below, in runs without sums across them. Returns how many rows of U there
// are: fewer than m where A is not positive definite.
Index factorise(const WorkLimit& limit, double* triangle, Index m, double* inverse) {
  constexpr Index large = 256;
  for (Index i = 0; i < m; ++i) inverse[i] = *row_of(triangle, m, i);
  for (Index i = 0; i < m; i += 2) {
    if (m > large) limit.check();
    double* const first = row_of(triangle, m, i);
    if (!scale_row(first, inverse[i], m - i, inverse[i])) return i;
    if (i + 1 == m) return m;
    double* const second = row_of(triangle, m, i + 1);
    subtract(second, first[1], first + 1, m - i - 1);
    if (!scale_row(second, inverse[i + 1], m - i - 1, inverse[i + 1])) return i + 1;
    for (Index k = i + 2; k < m; ++k) {
      subtract(row_of(triangle, m, k), first[k - i], first + (k - i), second[k - i - 1], second + (k - i - 1), m - k);
    }
  }
  return m;
}

// x in U x = e_n, U being the first n columns of the factor of order m.
void solve_upper(double* triangle, Index m, Index n, const double* inverse, double* x) {
  x[n - 1] = inverse[n - 1];
  for (Index k = n - 2; k >= 0; --k) {
    const double* const row = row_of(triangle, m, k);
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (Index j = 1; j < n - k; ++j) sum += row[j] * x[k + j];
    x[k] = inverse[k] * -sum;
  }
}

// refuse(i) for every row that its local problem does not support.
template <class T, class Refuse>
void compute_piece(const WorkLimit& limit, const FsaiView<T>& a, const FsaiPiece& piece, double* scratch,
                   Refuse&& refuse) {
  const Offset begin = a.g_row_ptr[piece.last];
  const auto m = static_cast<Index>(a.g_row_ptr[piece.last + 1] - begin);
  double *const inverse = scratch + packed_size(m), *const x = inverse + m;
  assemble(a, a.g_col + begin, m, scratch);
  const Index sound = factorise(limit, scratch, m, inverse);
  for (Index before = 0; before < piece.count; ++before) {
    const Index i = piece.last - before, own = m - before;
    bool finite = own <= sound;
    if (finite) solve_upper(scratch, m, own, inverse, x);
    T* const g = a.g_val + a.g_row_ptr[i];
    for (Index k = 0; finite && k < own; ++k) {
      g[k] = static_cast<T>(x[k]);
      finite = std::isfinite(g[k]);
    }
    if (!finite) refuse(i);
  }
}

}  // namespace

template <class T>
void fsai_numeric(const Context<Space::host>& ctx, const FsaiView<T>& a, const std::vector<FsaiClass>&) {
  const auto none = std::numeric_limits<unsigned long long>::max();
  unsigned long long first = none, count = 0;
  std::mutex failed;
  const auto refuse = [&](Index i) {
    const std::lock_guard<std::mutex> lock(failed);
    first = std::min(first, static_cast<unsigned long long>(a.user_row == nullptr ? i : a.user_row[i]));
    ++count;
  };
  const WorkLimit& limit = work_limit(ctx);
  const auto piece = [&](Index k, int member) {
    limit.check();
    with_wide_vectors([&] { compute_piece(limit, a, a.pieces[k], a.scratch + member * a.scratch_length, refuse); });
  };
  parallel_blocks(ctx, a.piece_count, 32, piece, std::max(1, static_cast<int>(a.scratch_groups)));
  *a.verdict = {first, count};
}

template void fsai_numeric(const Context<Space::host>&, const FsaiView<double>&, const std::vector<FsaiClass>&);
template void fsai_numeric(const Context<Space::host>&, const FsaiView<float>&, const std::vector<FsaiClass>&);

}  // namespace newel::detail
