// SPDX-License-Identifier: Apache-2.0
// CSR on the host: equal shares of the path through rows and entries.
#include "spmv/csr/csr_shares.hpp"

#include <algorithm>
#include <limits>

#include <newel/core/parallel.hpp>
#include <newel/core/vector_ops.hpp>
#include "spmv/plan/slot_sum_host.hpp"

namespace newel::detail {
namespace {

// Entries and rows of a share, at least.
constexpr std::int64_t least_share = 4096;

}  // namespace

template <class T>
CsrShares<T>::CsrShares(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a)
    : rows_(a.rows), cols_(a.cols) {
  if (a.nnz() <= std::numeric_limits<std::int32_t>::max()) {
    row_ptr32_ = Array<std::int32_t, Space::host>(ctx, Offset{rows_} + 1);
    for (Index i = 0; i <= rows_; ++i) row_ptr32_[i] = static_cast<std::int32_t>(a.row_begin(i));
  } else {
    row_ptr64_ = Array<Offset, Space::host>(ctx, Offset{rows_} + 1);
    for (Index i = 0; i <= rows_; ++i) row_ptr64_[i] = a.row_begin(i);
  }
  prefetch_ = prefetch_pays(cols_, sizeof(T));
  if (prefetch_) {
    col_ = Array<Index, Space::host>(ctx, a.nnz() + prefetch_ahead);
    std::fill(std::copy(a.col.begin(), a.col.end(), col_.begin()), col_.end(), Index{0});
  } else {
    col_ = make_array(ctx, a.col);
  }
  val_ = make_array(ctx, a.val);

  // Row i takes places row_begin(i) + i .. row_begin(i + 1) + i of the path: its entries, then its end.
  const std::int64_t path = a.nnz() + rows_;
  const std::int64_t shares =
      std::clamp<std::int64_t>(path / least_share, 1, std::min(ctx.threads(), int{most_shares}));
  for (std::int64_t share = 0; share <= shares; ++share) {
    const std::int64_t place = path / shares * share + path % shares * share / shares;
    Index low = 0, high = rows_;  // the first row whose last place is at or behind `place`
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (a.row_begin(middle + 1) + middle < place)
        low = middle + 1;
      else
        high = middle;
    }
    cuts_.push_back({low, place - low});
  }
  look_at_lengths();
}

// Some thousand rows a thread whose lengths change are guessed by what the last product has left, as long as no other
// matrix is multiplied in between.
template <class T>
void CsrShares<T>::look_at_lengths() {
  constexpr std::int64_t guessed = 4000;
  const auto unlike = [&](const auto& row_ptr) {
    std::int64_t found = 0;
    for (Index i = 2; i <= rows_; ++i) {
      found += row_ptr[i] - row_ptr[i - 1] != row_ptr[i - 1] - row_ptr[i - 2] ? 1 : 0;
    }
    return found;
  };
  unlike_lengths_ = (row_ptr32_.empty() ? unlike(row_ptr64_) : unlike(row_ptr32_)) > guessed * count();
}

template <class T>
template <bool prefetch, bool unlike_lengths, class RowPtr>
void CsrShares<T>::share_products(const Context<Space::host>& ctx, const RowPtr* row_ptr, T alpha, const T* x, T beta,
                                  T* y, double* xy) const {
  struct alignas(64) Carry {
    T value;     // of the row that the share leaves unfinished
    double dot;  // x.y over the rows that it finishes
  };
  const std::int64_t shares = count();
  Carry carry[most_shares];
  const T* const val = val_.data();
  const Index* const col = col_.data();
  const bool parallel = shares > 1 && val_.size() + rows_ >= least_parallel;
  constexpr auto run_end = unlike_lengths ? RunEnd::step : RunEnd::one_by_one;
  parallel_tasks(
      ctx, shares,
      [&](std::int64_t share) {
        with_wide_vectors([&] {
          const Cut first = cuts_[share], last = cuts_[share + 1];
          Offset k = first.entry;
          double dot = 0;
          const T of_sum = alpha, of_before = beta;
          const T* const from = x;
          T* const to = y;
          const bool adds = beta != T(0), with_dot = xy != nullptr;
          const Index last_row = last.row;
          for (Index i = first.row; i < last_row; ++i) {
            const Offset end = row_ptr[i + 1];
            T product = of_sum * sum_run<prefetch, run_end>(val, col, k, end, from);
            if (adds) product += of_before * to[i];
            to[i] = product;
            if (with_dot) dot += double(from[i]) * double(product);
            k = end;
          }
          carry[share] = {of_sum * sum_run<prefetch, run_end>(val, col, k, last.entry, from), dot};
        });
      },
      threads_if(parallel));
  double total = 0;
  for (std::int64_t share = 0; share < shares; ++share) {
    total += carry[share].dot;
    const Index i = cuts_[share + 1].row;
    if (i >= rows_ || cuts_[share + 1].entry == row_ptr[i]) continue;  // nothing was left unfinished
    y[i] += carry[share].value;
    if (xy != nullptr) total += double(x[i]) * double(carry[share].value);
  }
  if (xy != nullptr) *xy = total;
}

template <class T>
void CsrShares<T>::product(const Context<Space::host>& ctx, T alpha, const T* x, T beta, T* y, double* xy) const {
  const auto apply_with = [&](const auto* row_ptr) {
    if (prefetch_ && unlike_lengths_) {
      share_products<true, true>(ctx, row_ptr, alpha, x, beta, y, xy);
    } else if (prefetch_) {
      share_products<true, false>(ctx, row_ptr, alpha, x, beta, y, xy);
    } else if (unlike_lengths_) {
      share_products<false, true>(ctx, row_ptr, alpha, x, beta, y, xy);
    } else {
      share_products<false, false>(ctx, row_ptr, alpha, x, beta, y, xy);
    }
  };
  with_row_ptr(view(), [&](auto row_ptr) { apply_with(row_ptr.data); });
}

template <class T>
CsrView<T, Space::host> CsrShares<T>::view() const {
  CsrView<T, Space::host> view;
  view.rows = rows_;
  view.cols = cols_;
  view.row_ptr32 = row_ptr32_.cspan();
  view.row_ptr64 = row_ptr64_.cspan();
  view.val = val_.cspan();
  view.col = col_.cspan().subspan(0, val_.size());
  return view;
}

template class CsrShares<double>;
template class CsrShares<float>;

}  // namespace newel::detail
