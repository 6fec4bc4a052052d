// SPDX-License-Identifier: Apache-2.0
// Products with dense blocks on the host.
#include "precond/amg/blocks/block_rows_host.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <newel/core/parallel.hpp>
#include "spmv/column_lanes_host.hpp"
#include "spmv/plan/slot_sum_host.hpp"

namespace newel::detail {
namespace {

constexpr int most_lanes = 8;

// The rows of a block side by side: as many lanes as they need, of which the last may hold what is not used.
constexpr int lanes_for(int m) { return m <= 2 ? 2 : m <= 4 ? 4 : most_lanes; }

// y_r = sum over the blocks [begin, end) of row r, for r < m. Two sums: one would wait for itself.
template <int m, int n, class T>
void sum_blocks(const T* val, const Index* col, Offset begin, Offset end, const T* x, T* y) {
  constexpr int lanes = lanes_for(m);
  typedef T Vector __attribute__((vector_size(lanes * sizeof(T))));
  Vector sums[2] = {};
  const T* at = val + begin * (m * n);
  for (Offset k = begin; k < end; ++k, at += m * n) {
    const T* const from = x + Offset{col[k]} * n;
    for (int c = 0; c < n; ++c) {
      Vector column;
      std::memcpy(&column, at + c * m, sizeof column);
      sums[c % 2] += column * from[c];
    }
  }
  const Vector sum = sums[0] + sums[1];
  std::memcpy(y, &sum, m * sizeof(T));
}

template <class T>
void sum_any_blocks(int m, int n, const T* val, const Index* col, Offset begin, Offset end, const T* x, T* y) {
  std::fill_n(y, m, T(0));
  for (Offset k = begin; k < end; ++k) {
    for (int c = 0; c < n; ++c) {
      const T from = x[Offset{col[k]} * n + c];
      for (int r = 0; r < m; ++r) y[r] += val[(k * n + c) * m + r] * from;
    }
  }
}

}  // namespace

template <class T>
HostBlockRows<T>::HostBlockRows(const HostContext& ctx, const HostBlockCsr& a,
                                const TransposedPattern<Space::host>* transposed)
    : m_(a.row_block), n_(a.col_block), blocks_(a.pattern.blocks()) {
  const HostBlockPattern& pattern = transposed == nullptr ? a.pattern : transposed->pattern;
  if (transposed != nullptr) {
    std::swap(m_, n_);
    source_ = transposed->source.data();
  }
  rows_ = pattern.rows;
  cols_ = pattern.cols;
  row_ptr_ = pattern.row_ptr.data();
  col_ = pattern.col.data();
  val_ = Array<T, Space::host>(ctx, blocks_ * m_ * n_ + most_lanes);
  std::fill(val_.end() - most_lanes, val_.end(), T(0));
  place(ctx, a.val.data());

  const auto work_before = [&](Index i) { return row_ptr_[i] * m_ * n_ + Offset{i} * m_; };
  const bool parallel = work_before(rows_) >= least_parallel_work;
  const int shares = parallel ? std::min(ctx.threads(), most_host_shares) : 1;
  for (int share = 0; share <= shares; ++share) cuts_.push_back(cut_at(rows_, share, shares, work_before));
}

// Block after block, each column by column.
template <class T>
template <class From>
void HostBlockRows<T>::place(const HostContext& ctx, const From* values) {
  const int m = m_, n = n_;
  parallel_for(ctx, blocks_, [&](Offset k) {
    const From* const from = values + (source_ == nullptr ? k : source_[k]) * (m * n);
    T* const to = val_.data() + k * (m * n);
    if (source_ != nullptr) {  // the columns of the transposed block are its rows
      for (int e = 0; e < m * n; ++e) to[e] = static_cast<T>(from[e]);
      return;
    }
    for (int r = 0; r < m; ++r) {
      for (int c = 0; c < n; ++c) to[c * m + r] = static_cast<T>(from[r * n + c]);
    }
  });
}

template <class T>
void HostBlockRows<T>::refresh(const HostContext& ctx, Span<const T, Space::host> values) {
  place(ctx, values.data);
}

template <class T>
void HostBlockRows<T>::replace(const HostContext& ctx, Span<const double, Space::host> values) {
  place(ctx, values.data);
}

// m = 0: blocks of any size.
template <class T>
template <int m, int n>
void HostBlockRows<T>::multiply(const HostContext& ctx, T alpha, const T* x, T beta, T* y) const {
  parallel_tasks(ctx, static_cast<Index>(cuts_.size()) - 1, [&](Index share) {
    std::vector<T> any(m == 0 ? static_cast<std::size_t>(m_) : 0);
    with_wide_vectors([&] {
      T fixed[m == 0 ? 1 : m];
      T* const sum = m == 0 ? any.data() : fixed;
      const int rows = m == 0 ? m_ : m;
      for (Index i = cuts_[static_cast<std::size_t>(share)]; i < cuts_[static_cast<std::size_t>(share) + 1]; ++i) {
        const Offset begin = row_ptr_[i], end = row_ptr_[i + 1];
        if constexpr (m == 0) {
          sum_any_blocks(m_, n_, val_.data(), col_, begin, end, x, sum);
        } else if constexpr (m == 1 && n == 1) {
          sum[0] = sum_run<false>(val_.data(), col_, begin, end, x);
        } else {
          sum_blocks<m, n>(val_.data(), col_, begin, end, x, sum);
        }
        T* const to = y + Offset{i} * rows;
        for (int r = 0; r < rows; ++r) to[r] = beta == T(0) ? alpha * sum[r] : alpha * sum[r] + beta * to[r];
      }
    });
  });
}

template <class T>
void HostBlockRows<T>::apply(const HostContext& ctx, T alpha, Span<const T, Space::host> x, T beta,
                             Span<T, Space::host> y) const {
  const auto is = [&](int m, int n) { return m_ == m && n_ == n; };
  if (is(1, 1)) return multiply<1, 1>(ctx, alpha, x.data, beta, y.data);
  if (is(2, 2)) return multiply<2, 2>(ctx, alpha, x.data, beta, y.data);
  if (is(2, 3)) return multiply<2, 3>(ctx, alpha, x.data, beta, y.data);
  if (is(3, 2)) return multiply<3, 2>(ctx, alpha, x.data, beta, y.data);
  if (is(3, 3)) return multiply<3, 3>(ctx, alpha, x.data, beta, y.data);
  if (is(3, 6)) return multiply<3, 6>(ctx, alpha, x.data, beta, y.data);
  if (is(6, 3)) return multiply<6, 3>(ctx, alpha, x.data, beta, y.data);
  if (is(6, 6)) return multiply<6, 6>(ctx, alpha, x.data, beta, y.data);
  multiply<0, 0>(ctx, alpha, x.data, beta, y.data);
}

// Rows of blocks begin .. end - 1 times k vectors. m = 0: blocks of any size, whose rows come one by one.
template <class T>
template <int m, int k>
void HostBlockRows<T>::multiply_column_share(Index begin, Index end, T alpha, const T* x, T beta, T* y) const {
  constexpr int rows_at_once = m == 0 ? 1 : m;
  const int n = n_, of_block = m_;
  for (Index i = begin; i < end; ++i) {
    for (int first = 0; first < of_block; first += rows_at_once) {
      ColumnLanes<T, k> sums[rows_at_once];
      for (Offset at = row_ptr_[i]; at < row_ptr_[i + 1]; ++at) {
        const T* val = val_.data() + at * of_block * n + first;
        const T* from = x + Offset{col_[at]} * n * k;
        for (int c = 0; c < n; ++c, val += of_block, from += k) {
          for (int r = 0; r < rows_at_once; ++r) sums[r].add_product(val[r], from);
        }
      }
      T* const to = y + (Offset{i} * of_block + first) * k;
      for (int r = 0; r < rows_at_once; ++r) {
        T sum[k];
        sums[r].store(sum);
        for (int c = 0; c < k; ++c) {
          T& value = to[r * k + c];
          value = beta == T(0) ? alpha * sum[c] : alpha * sum[c] + beta * value;
        }
      }
    }
  }
}

template <class T>
template <int k>
void HostBlockRows<T>::multiply_columns(const HostContext& ctx, T alpha, const T* x, T beta, T* y) const {
  parallel_tasks(ctx, static_cast<Index>(cuts_.size()) - 1, [&](Index share) {
    const Index begin = cuts_[static_cast<std::size_t>(share)], end = cuts_[static_cast<std::size_t>(share) + 1];
    with_wide_vectors([&] {
      if (m_ == 6) return multiply_column_share<6, k>(begin, end, alpha, x, beta, y);
      if (m_ == 3) return multiply_column_share<3, k>(begin, end, alpha, x, beta, y);
      if (m_ == 2) return multiply_column_share<2, k>(begin, end, alpha, x, beta, y);
      multiply_column_share<0, k>(begin, end, alpha, x, beta, y);
    });
  });
}

template <class T>
void HostBlockRows<T>::apply_columns(const HostContext& ctx, int columns, T alpha, Span<const T, Space::host> x,
                                     T beta, Span<T, Space::host> y, Span<char, Space::host>) const {
  switch (columns) {
    case 8:
      return multiply_columns<8>(ctx, alpha, x.data, beta, y.data);
    case 4:
      return multiply_columns<4>(ctx, alpha, x.data, beta, y.data);
    case 2:
      return multiply_columns<2>(ctx, alpha, x.data, beta, y.data);
    default:
      return apply(ctx, alpha, x, beta, y);
  }
}

template <class T>
OperatorInfo HostBlockRows<T>::info() const {
  OperatorInfo info;
  info.name = "blocks of " + std::to_string(m_) + " x " + std::to_string(n_);
  info.rows = rows();
  info.cols = cols();
  info.nonzeros = info.stored_slots = blocks_ * m_ * n_;
  info.bytes = {{"values", val_.bytes()}};  // the pattern is the hierarchy's
  info.bytes_per_product = val_.bytes() + static_cast<std::uint64_t>(blocks_) * sizeof(Index) +
                           (static_cast<std::uint64_t>(rows_) + 1) * sizeof(Offset) +
                           (static_cast<std::uint64_t>(rows()) + static_cast<std::uint64_t>(cols())) * sizeof(T);
  return info;
}

template class HostBlockRows<double>;
template class HostBlockRows<float>;

}  // namespace newel::detail
