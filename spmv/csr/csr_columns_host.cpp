// SPDX-License-Identifier: Apache-2.0
// CSR on the host with k vectors at once: the shares and the sums of a product with one, each entry read once.
#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include "spmv/csr/csr.hpp"
#include "spmv/plan/slot_sum_columns_host.hpp"

namespace newel {
template <class T>
template <int k, bool prefetch, class RowPtr>
void CsrOperator<T, Space::host>::apply_column_shares(const Context<Space::host>& ctx, const RowPtr* row_ptr, T alpha,
                                                      const T* x, T beta, T* y, double* xy) const {
  struct alignas(64) Carry {
    T value[k];
    double dot[k];
  };
  const auto shares = static_cast<std::int64_t>(cuts_.size()) - 1;
  Carry carry[most_shares];
  const T* const val = val_.data();
  const Index* const col = col_.data();
  const bool parallel = shares > 1 && (val_.size() + rows_) * k >= least_parallel;
  parallel_tasks(
      ctx, shares,
      [&](std::int64_t share) {
        detail::with_wide_vectors([&] {
          const Cut first = cuts_[share], last = cuts_[share + 1];
          Offset at = first.entry;
          T sum[k];
          detail::ColumnDots<k> dot;
          for (Index i = first.row; i < last.row; ++i) {
            const Offset end = row_ptr[i + 1];
            detail::sum_run_columns<k, prefetch>(unlike_lengths_, val, col, at, end, x, sum);
            T* const yi = y + Offset{i} * k;
            for (int c = 0; c < k; ++c) {
              const T product = alpha * sum[c];
              sum[c] = beta == T(0) ? product : product + beta * yi[c];
            }
            for (int c = 0; c < k; ++c) yi[c] = sum[c];
            if (xy != nullptr) dot.add_products(x + Offset{i} * k, sum);
            at = end;
          }
          detail::sum_run_columns<k, prefetch>(unlike_lengths_, val, col, at, last.entry, x, sum);
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
void CsrOperator<T, Space::host>::apply_batch(const Context<Space::host>& ctx, T alpha, const T* x, T beta, T* y,
                                              double* xy) const {
  const auto apply_with = [&](const auto* row_ptr) {
    if (prefetch_) {
      apply_column_shares<k, true>(ctx, row_ptr, alpha, x, beta, y, xy);
    } else {
      apply_column_shares<k, false>(ctx, row_ptr, alpha, x, beta, y, xy);
    }
  };
  if (!row_ptr32_.empty())
    apply_with(row_ptr32_.data());
  else
    apply_with(row_ptr64_.data());
}

template <class T>
void CsrOperator<T, Space::host>::apply_columns(const Context<Space::host>& ctx, int columns, T alpha,
                                                Span<const T, Space::host> x, T beta, Span<T, Space::host> y,
                                                Span<char, Space::host>) const {
  switch (columns) {
    case 8:
      return apply_batch<8>(ctx, alpha, x.data, beta, y.data, nullptr);
    case 4:
      return apply_batch<4>(ctx, alpha, x.data, beta, y.data, nullptr);
    case 2:
      return apply_batch<2>(ctx, alpha, x.data, beta, y.data, nullptr);
    default:
      return apply(ctx, alpha, x, beta, y);
  }
}

template <class T>
void CsrOperator<T, Space::host>::apply_dot_columns(const Context<Space::host>& ctx, int columns,
                                                    Span<const T, Space::host> x, Span<T, Space::host> y, double* xy,
                                                    Span<char, Space::host>) const {
  switch (columns) {
    case 8:
      return apply_batch<8>(ctx, T(1), x.data, T(0), y.data, xy);
    case 4:
      return apply_batch<4>(ctx, T(1), x.data, T(0), y.data, xy);
    case 2:
      return apply_batch<2>(ctx, T(1), x.data, T(0), y.data, xy);
    default:
      return apply_dot(ctx, x, y, xy);
  }
}

#define NEWEL_CSR_COLUMNS(T)                                                                                     \
  template void CsrOperator<T, Space::host>::apply_columns(const Context<Space::host>&, int, T,                  \
                                                           Span<const T, Space::host>, T, Span<T, Space::host>,  \
                                                           Span<char, Space::host>) const;                       \
  template void CsrOperator<T, Space::host>::apply_dot_columns(const Context<Space::host>&, int,                 \
                                                               Span<const T, Space::host>, Span<T, Space::host>, \
                                                               double*, Span<char, Space::host>) const;
NEWEL_CSR_COLUMNS(double)
NEWEL_CSR_COLUMNS(float)
#undef NEWEL_CSR_COLUMNS

}  // namespace newel
