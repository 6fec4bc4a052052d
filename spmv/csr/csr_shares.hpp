// SPDX-License-Identifier: Apache-2.0
/// CsrShares: a CSR matrix on the host, cut into equal shares of work, and its products. Internal.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <newel/core/csr.hpp>

namespace newel::detail {

/// The path through rows and entries is cut wherever the cut falls (D. Merrill and M. Garland, "Merge-based Parallel
/// Sparse Matrix-Vector Multiplication", SC 2016), so that neither a dense row nor many empty ones leave a thread
/// without work. There is one share per thread at construction. Row pointers are kept in 32 bits where they suffice.
template <class T>
class CsrShares {
 public:
  CsrShares() = default;
  /// Copies the canonical matrix `a`.
  CsrShares(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a);

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  /// How many there are.
  std::int64_t count() const { return static_cast<std::int64_t>(cuts_.size()) - 1; }
  /// The matrix, without a value map.
  CsrView<T, Space::host> view() const;
  Span<T, Space::host> values() { return val_.span(); }
  /// Of its arrays, by name.
  std::vector<std::pair<std::string, std::uint64_t>> bytes() const {
    return {{"values", val_.bytes()},
            {"columns", col_.bytes()},
            {"row pointers", row_ptr32_.bytes() + row_ptr64_.bytes()}};
  }

  /// y = alpha A x + beta y, and x.y unless `xy` is null.
  void product(const Context<Space::host>& ctx, T alpha, const T* x, T beta, T* y, double* xy) const;
  /// The same of k vectors, entry by entry side by side.
  template <int k>
  void columns_product(const Context<Space::host>& ctx, T alpha, const T* x, T beta, T* y, double* xy) const;

 private:
  /// Where a share begins: entry `entry` of row `row`.
  struct Cut {
    Index row;
    Offset entry;
  };
  void look_at_lengths();

  template <bool prefetch, bool unlike_lengths, class RowPtr>
  void share_products(const Context<Space::host>& ctx, const RowPtr* row_ptr, T alpha, const T* x, T beta, T* y,
                      double* xy) const;
  template <int k, bool prefetch, class RowPtr>
  void share_columns(const Context<Space::host>& ctx, const RowPtr* row_ptr, T alpha, const T* x, T beta, T* y,
                     double* xy) const;

  static constexpr std::int64_t least_parallel = 32768;  ///< entries and rows for which waking the threads pays
  static constexpr int most_shares = 256;                ///< a product keeps the sums of as many on its stack

  Index rows_ = 0;
  Index cols_ = 0;
  Array<std::int32_t, Space::host> row_ptr32_;
  Array<Offset, Space::host> row_ptr64_;
  Array<Index, Space::host> col_;  ///< nnz, and a few zeros behind where `prefetch_` looks ahead
  Array<T, Space::host> val_;
  bool prefetch_ = false;        ///< x is too large for the caches
  bool unlike_lengths_ = false;  ///< so many rows differ from those before them that their ends are not guessed
  std::vector<Cut> cuts_;        ///< shares + 1
};

}  // namespace newel::detail
