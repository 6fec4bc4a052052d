// SPDX-License-Identifier: Apache-2.0
/// One local least-squares problem of SPAI on the host, with the memory that it is solved in. Internal.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/memory/work_limit.hpp"
#include "precond/spai/spai_numeric.hpp"

namespace newel::detail {

/// The rows of B that problems are made of.
template <class T>
struct SpaiRows {
  const Offset* row_ptr;
  const Index* col;
  const T* val;

  Offset begin(Index k) const { return row_ptr[k]; }
  Offset end(Index k) const { return row_ptr[k + 1]; }

  /// b_kj, 0 where it is not stored.
  T entry(Index k, Index j) const {
    const Index* const last = col + end(k);
    const Index* const at = std::lower_bound(col + begin(k), last, j);
    return at != last && *at == j ? val[at - col] : T(0);
  }

  /// |b_k| without overflow; not finite where an entry is not.
  double norm(Index k) const {
    double largest = 0;
    for (Offset e = begin(k); e < end(k); ++e) largest = std::max(largest, std::fabs(static_cast<double>(val[e])));
    if (largest == 0) largest = 1;  // also where all are NaN: the sum then is too
    double sum = 0;
    for (Offset e = begin(k); e < end(k); ++e) {
      const double part = val[e] / largest;
      sum += part * part;
    }
    return largest * std::sqrt(sum);
  }
};

/// What came of one problem.
struct LocalResult {
  double residual = 0;
  bool fell_back = false;
};

/// The problem of one column: the entry goes to *value.
template <class T>
LocalResult solve_diagonal(const SpaiRows<T>& b, Index j, T* value) {
  LocalResult result;
  *value = diagonal_value<T>(b.norm(j), b.entry(j, j), &result.fell_back);
  double sum = 0;
  bool own = false;
  for (Offset e = b.begin(j); e < b.end(j); ++e) {
    const double product = static_cast<double>(*value) * b.val[e];
    const double rest = b.col[e] == j ? product - 1 : product;
    own = own || b.col[e] == j;
    sum += rest * rest;
  }
  result.residual = std::sqrt(own ? sum : sum + 1);
  if (!std::isfinite(result.residual)) result.residual = HUGE_VAL;
  return result;
}

/// Dense, by columns, with the right-hand side behind the last column. Used by one thread, for one problem after the
/// other.
template <class T>
class LocalProblem {
 public:
  /// For problems of a matrix of n rows.
  LocalProblem(const Context<Space::host>& ctx, Index n) : ctx_(ctx), place_(ctx, n) {
    std::fill(place_.begin(), place_.end(), Index{-1});
  }

  /// Makes room for problems up to this size, where there is none yet.
  void reserve(Index rows, Index columns, Offset values) {
    if (rows > rows_.size()) grow(rows_, rows);
    if (columns > norm_.size()) {
      grow(norm_, columns);
      grow(diagonal_, columns);
    }
    if (values > matrix_.size()) grow(matrix_, values);
  }
  std::size_t bytes() const {
    return place_.bytes() + rows_.bytes() + norm_.bytes() + diagonal_.bytes() + matrix_.bytes();
  }

  /// Numbers the rows that the `columns` rows `k` of B have entries in; returns how many. There must be room for
  /// them.
  Index enter(const SpaiRows<T>& b, const Index* k, Index columns) {
    m_ = 0;
    for (Index c = 0; c < columns; ++c) {
      for (Offset e = b.begin(k[c]); e < b.end(k[c]); ++e) {
        Index& place = place_[b.col[e]];
        if (place >= 0) continue;
        rows_[m_] = b.col[e];
        place = m_++;
      }
    }
    return m_;
  }

  /// Solves for problem j what was entered. `solution` has one place a column. False where the rank is deficient or
  /// the solution not finite; the solution then means nothing.
  bool solve(const SpaiRows<T>& b, const Index* k, Index columns, Index j, T* solution, double* residual) {
    n_ = columns;
    tolerance_ = std::numeric_limits<T>::epsilon() * m_;
    if (m_ < n_ || place_[j] < 0 || !fill(b, k)) return false;
    std::fill_n(column(n_), m_, T(0));
    column(n_)[place_[j]] = T(1);
    return factor() && substitute(solution, residual);
  }

  Index rows() const { return m_; }
  Index row(Index at) const { return rows_[at]; }
  Index place(Index row) const { return place_[row]; }

  /// Forgets the rows.
  void leave() {
    for (Index at = 0; at < m_; ++at) place_[rows_[at]] = -1;
    m_ = 0;
  }

 private:
  template <class V>
  void grow(Array<V, Space::host>& array, std::int64_t size) {
    Array<V, Space::host> larger(ctx_, size);
    std::copy(array.begin(), array.end(), larger.begin());
    array = std::move(larger);
  }

  T* column(Index c) { return matrix_.data() + static_cast<Offset>(c) * m_; }

  bool fill(const SpaiRows<T>& b, const Index* k) {
    std::fill_n(matrix_.data(), static_cast<Offset>(m_) * n_, T(0));
    for (Index c = 0; c < n_; ++c) {
      const double norm = b.norm(k[c]);
      if (!usable(norm)) return false;
      norm_[c] = norm;
      for (Offset e = b.begin(k[c]); e < b.end(k[c]); ++e) {
        column(c)[place_[b.col[e]]] = static_cast<T>(b.val[e] / norm);
      }
    }
    return true;
  }

  // Column c becomes the vector v of H = I - beta v v^T, with H x = r e_c; r goes to diagonal_. Returns beta, 0 where
  // |x| is not above the tolerance.
  T reflector(Index c) {
    T* const x = column(c);
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (Index i = c; i < m_; ++i) sum += x[i] * x[i];
    const T norm = std::sqrt(sum);
    if (!(norm > tolerance_)) return 0;
    const T head = x[c];
    diagonal_[c] = head > 0 ? -norm : norm;
    x[c] = head - diagonal_[c];
    return 1 / (norm * (norm + std::fabs(head)));
  }

  bool factor() {
    constexpr Offset large = 1 << 16;
    const bool asks = Offset{m_} * n_ > large;
    for (Index c = 0; c < n_; ++c) {
      if (asks) limit_.check();
      const T beta = reflector(c);
      if (beta == T(0)) return false;
      const T* const v = column(c);
      for (Index other = c + 1; other <= n_; ++other) {
        T* const y = column(other);
        T dot = 0;
#pragma omp simd reduction(+ : dot)
        for (Index i = c; i < m_; ++i) dot += v[i] * y[i];
        dot *= beta;
#pragma omp simd
        for (Index i = c; i < m_; ++i) y[i] -= dot * v[i];
      }
    }
    return true;
  }

  bool substitute(T* solution, double* residual) {
    T* const y = column(n_);
    double inside = 0, outside = 0;
    for (Index i = 0; i < n_; ++i) inside += double(y[i]) * double(y[i]);
    for (Index i = n_; i < m_; ++i) outside += double(y[i]) * double(y[i]);
    if (!(std::sqrt(inside) > tolerance_)) return false;
    *residual = std::sqrt(outside);
    bool finite = true;
    for (Index c = n_ - 1; c >= 0; --c) {
      const T z = y[c] / diagonal_[c];
      const T* const r = column(c);
#pragma omp simd
      for (Index i = 0; i < c; ++i) y[i] -= r[i] * z;
      solution[c] = static_cast<T>(z / norm_[c]);
      finite = finite && solution[c] - solution[c] == T(0);
    }
    return finite;
  }

  Context<Space::host> ctx_;
  const WorkLimit& limit_ = work_limit(ctx_);  ///< which the context keeps
  Array<Index, Space::host> place_;            ///< of a row of B's columns among those of the problem, -1: not in it
  Array<Index, Space::host> rows_;
  Array<double, Space::host> norm_;
  Array<T, Space::host> diagonal_;  ///< of R
  Array<T, Space::host> matrix_;
  Index m_ = 0, n_ = 0;
  T tolerance_ = 0;
};

/// Solves problems first .. first + count - 1 as `solve_spai` does all of them; the verdict is theirs.
template <class T>
void solve_spai_rows(const Context<Space::host>& ctx, const SpaiView<T>& a, Index first, Index count,
                     SpaiScratch<T, Space::host>& scratch);

}  // namespace newel::detail
