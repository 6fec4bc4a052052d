// SPDX-License-Identifier: Apache-2.0
// FSAI's local problems on the host: a thread has a row, and its triangle row by row in its own scratch.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include <purlin/core/parallel.hpp>
#include <purlin/core/wide_host.hpp>
#include <purlin/precond/fsai/fsai.hpp>
#include <purlin/precond/fsai/fsai_pattern.hpp>

namespace purlin::detail {
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
// rows at a time are subtracted from those below, in runs without sums across them. False: not positive definite.
bool factorise(double* triangle, Index m, double* inverse) {
  for (Index i = 0; i < m; ++i) inverse[i] = *row_of(triangle, m, i);
  for (Index i = 0; i < m; i += 2) {
    double* const first = row_of(triangle, m, i);
    if (!scale_row(first, inverse[i], m - i, inverse[i])) return false;
    if (i + 1 == m) return true;
    double* const second = row_of(triangle, m, i + 1);
    subtract(second, first[1], first + 1, m - i - 1);
    if (!scale_row(second, inverse[i + 1], m - i - 1, inverse[i + 1])) return false;
    for (Index k = i + 2; k < m; ++k) {
      subtract(row_of(triangle, m, k), first[k - i], first + (k - i), second[k - i - 1], second + (k - i - 1), m - k);
    }
  }
  return true;
}

// x in U x = e_m, which replaces `inverse`.
void solve_upper(double* triangle, Index m, double* inverse) {
  for (Index k = m - 2; k >= 0; --k) {
    const double* const row = row_of(triangle, m, k);
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (Index j = 1; j < m - k; ++j) sum += row[j] * inverse[k + j];
    inverse[k] *= -sum;
  }
}

// False where the local problem does not support it.
template <class T>
bool compute_row(const FsaiView<T>& a, Index i, double* scratch) {
  const Offset begin = a.g_row_ptr[i];
  const auto m = static_cast<Index>(a.g_row_ptr[i + 1] - begin);
  double* x = scratch + packed_size(m);
  assemble(a, a.g_col + begin, m, scratch);
  if (!factorise(scratch, m, x)) return false;
  solve_upper(scratch, m, x);
  bool finite = true;
  for (Index k = 0; k < m; ++k) {
    a.g_val[begin + k] = static_cast<T>(x[k]);
    finite = finite && std::isfinite(a.g_val[begin + k]);
  }
  return finite;
}

}  // namespace

template <class T>
void fsai_numeric(const Context<Space::host>& ctx, const FsaiView<T>& a, const std::vector<FsaiClass>&) {
  const auto none = std::numeric_limits<unsigned long long>::max();
  unsigned long long first = none, count = 0;
  std::mutex failed;
  const auto row = [&](Index i, int member) {
    bool sound = true;
    with_wide_vectors([&] { sound = compute_row(a, i, a.scratch + member * a.scratch_length); });
    if (sound) return;
    const std::lock_guard<std::mutex> lock(failed);
    first = std::min(first, static_cast<unsigned long long>(a.user_row == nullptr ? i : a.user_row[i]));
    ++count;
  };
  parallel_blocks(ctx, a.rows, 64, row, std::max(1, static_cast<int>(a.scratch_groups)));
  *a.verdict = {first, count};
}

template void fsai_numeric(const Context<Space::host>&, const FsaiView<double>&, const std::vector<FsaiClass>&);
template void fsai_numeric(const Context<Space::host>&, const FsaiView<float>&, const std::vector<FsaiClass>&);

}  // namespace purlin::detail
