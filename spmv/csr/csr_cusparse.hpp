// SPDX-License-Identifier: Apache-2.0
/// cuSPARSE's generic product with a CSR matrix: the variants of `csr` that name it. Internal.
#pragma once

#include <cusparse.h>

#include <newel/core/array.hpp>
#include <newel/core/csr.hpp>

namespace newel::detail {

/// Descriptors of a matrix, whose arrays stay as long as this object, and the buffer of the analysis.
template <class T>
class CusparseCsr {
 public:
  /// Analysed once (`cusparseSpMV_preprocess`). The matrix has entries.
  CusparseCsr(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, cusparseSpMVAlg_t algorithm);

  /// y = alpha A x + beta y
  void product(const Context<Space::device>& ctx, T alpha, const T* x, T beta, T* y) const;
  std::size_t bytes() const { return buffer_.bytes(); }

 private:
  struct Descriptors {
    cusparseSpMatDescr_t matrix = nullptr;
    cusparseDnVecDescr_t x = nullptr, y = nullptr;  ///< set to the addresses of each product

    Descriptors() = default;
    ~Descriptors();
    Descriptors(const Descriptors&) = delete;
    Descriptors& operator=(const Descriptors&) = delete;
  };

  cusparseSpMVAlg_t algorithm_;
  Descriptors use_;
  mutable Array<char, Space::device> buffer_;
};

}  // namespace newel::detail
