// SPDX-License-Identifier: Apache-2.0
// FSAI's local problems on the host: a thread has a row, and its triangle row by row in its own scratch.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include <purlin/core/parallel.hpp>
#include <purlin/precond/fsai/fsai.hpp>
#include <purlin/precond/fsai/fsai_pattern.hpp>

namespace purlin::detail {
namespace {

// Row r of a triangle that is packed by rows begins here.
std::int64_t row_at(std::int64_t r) { return r * (r + 1) / 2; }

double dot_of(const double* x, const double* y, Index count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index k = 0; k < count; ++k) sum += x[k] * y[k];
  return sum;
}

// The lower triangle of A(J, J), J ascending.
template <class T>
void assemble(const FsaiView<T>& a, const Index* J, Index m, double* triangle) {
  std::fill_n(triangle, row_at(m), 0.0);
  for (Index r = 0; r < m; ++r) {
    const Index row = J[r];
    const Index* end = a.a_col + a.a_row_ptr[row + 1];
    const Index* at = std::lower_bound(a.a_col + a.a_row_ptr[row], end, J[0]);
    Index c = 0;
    for (; at < end; ++at) {
      while (J[c] < *at) ++c;  // ends: the last column is J[r]
      if (J[c] == *at) triangle[row_at(r) + c] = static_cast<double>(a.a_val[at - a.a_col]);
    }
  }
}

// L of A = L L^T in its place, but for the diagonal, whose inverse goes to `inverse`. False: not positive definite.
bool factorise(double* triangle, Index m, double* inverse) {
  for (Index i = 0; i < m; ++i) {
    double* row = triangle + row_at(i);
    for (Index j = 0; j < i; ++j) row[j] = (row[j] - dot_of(row, triangle + row_at(j), j)) * inverse[j];
    const double pivot = row[i] - dot_of(row, row, i);
    if (!(pivot > fsai_zero_pivot * row[i])) return false;
    inverse[i] = 1 / std::sqrt(pivot);
  }
  return true;
}

// y in L^T y = e_m, which replaces `inverse`; the triangle's diagonal holds what is left of the right-hand side.
void solve_transposed(double* triangle, Index m, double* inverse) {
  double* left = triangle + row_at(m - 1);  // the last row is read first, and only then
  double y = inverse[m - 1];
  for (Index j = 0; j + 1 < m; ++j) left[j] *= -y;
  for (Index k = m - 2; k >= 0; --k) {
    inverse[k + 1] = y;
    y = left[k] * inverse[k];
    const double* row = triangle + row_at(k);
    for (Index j = 0; j < k; ++j) left[j] -= row[j] * y;
  }
  inverse[0] = y;
}

// False where the local problem does not support it.
template <class T>
bool compute_row(const FsaiView<T>& a, Index i, double* scratch) {
  const Offset begin = a.g_row_ptr[i];
  const auto m = static_cast<Index>(a.g_row_ptr[i + 1] - begin);
  double* y = scratch + row_at(m);
  assemble(a, a.g_col + begin, m, scratch);
  if (!factorise(scratch, m, y)) return false;
  solve_transposed(scratch, m, y);
  bool finite = true;
  for (Index k = 0; k < m; ++k) {
    a.g_val[begin + k] = static_cast<T>(y[k]);
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
    if (compute_row(a, i, a.scratch + member * a.scratch_length)) return;
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
