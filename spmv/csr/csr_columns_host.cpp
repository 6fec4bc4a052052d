// SPDX-License-Identifier: Apache-2.0
// CSR on the host with k vectors at once: the shares and the sums of a product with one, each entry read once.
#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include "spmv/csr/csr_shares.hpp"
#include "spmv/plan/slot_sum_columns_host.hpp"

namespace newel::detail {

template <class T>
template <int k, bool prefetch, class RowPtr>
void CsrShares<T>::share_columns(const Context<Space::host>& ctx, const RowPtr* row_ptr, T alpha, const T* x, T beta,
                                 T* y, double* xy) const {
  struct alignas(64) Carry {
    T value[k];
    double dot[k];
  };
  const std::int64_t shares = count();
  Carry carry[most_shares];
  const T* const val = val_.data();
  const Index* const col = col_.data();
  const bool parallel = shares > 1 && (val_.size() + rows_) * k >= least_parallel;
  parallel_tasks(
      ctx, shares,
      [&](std::int64_t share) {
        with_wide_vectors([&] {
          const Cut first = cuts_[share], last = cuts_[share + 1];
          Offset at = first.entry;
          T sum[k];
          ColumnDots<k> dot;
          for (Index i = first.row; i < last.row; ++i) {
            const Offset end = row_ptr[i + 1];
            sum_run_columns<k, prefetch>(unlike_lengths_, val, col, at, end, x, sum);
            T* const yi = y + Offset{i} * k;
            for (int c = 0; c < k; ++c) {
              const T product = alpha * sum[c];
              sum[c] = beta == T(0) ? product : product + beta * yi[c];
            }
            for (int c = 0; c < k; ++c) yi[c] = sum[c];
            if (xy != nullptr) dot.add_products(x + Offset{i} * k, sum);
            at = end;
          }
          sum_run_columns<k, prefetch>(unlike_lengths_, val, col, at, last.entry, x, sum);
          for (int c = 0; c < k; ++c) carry[share].value[c] = alpha * sum[c];
          dot.store(carry[share].dot);
        });
      },
      threads_if(parallel));
  double total[k] = {};
  for (std::int64_t share = 0; share < shares; ++share) {
    for (int c = 0; c < k; ++c) total[c] += carry[share].dot[c];
    const Index i = cuts_[share + 1].row;
    if (i >= rows_ || cuts_[share + 1].entry == row_ptr[i]) continue;  // nothing was left unfinished
    for (int c = 0; c < k; ++c) {
      y[Offset{i} * k + c] += carry[share].value[c];
      if (xy != nullptr) total[c] += double(x[Offset{i} * k + c]) * double(carry[share].value[c]);
    }
  }
  for (int c = 0; c < k && xy != nullptr; ++c) xy[c] = total[c];
}

template <class T>
template <int k>
void CsrShares<T>::columns_product(const Context<Space::host>& ctx, T alpha, const T* x, T beta, T* y,
                                   double* xy) const {
  const auto apply_with = [&](const auto* row_ptr) {
    if (prefetch_) {
      share_columns<k, true>(ctx, row_ptr, alpha, x, beta, y, xy);
    } else {
      share_columns<k, false>(ctx, row_ptr, alpha, x, beta, y, xy);
    }
  };
  with_row_ptr(view(), [&](auto row_ptr) { apply_with(row_ptr.data); });
}

#define X(T, k) \
  template void CsrShares<T>::columns_product<k>(const Context<Space::host>&, T, const T*, T, T*, double*) const;
X(double, 2)
X(double, 4)
X(double, 8)
X(float, 2)
X(float, 4)
X(float, 8)
#undef X

}  // namespace newel::detail
