// SPDX-License-Identifier: Apache-2.0
// cuSPARSE's product with a CSR matrix: descriptors, one analysis, and the call.
#include "spmv/csr/csr_cusparse.hpp"

#include "core/memory/cusparse_device.hpp"

namespace newel::detail {
namespace {

template <class T>
constexpr cudaDataType value_type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;

constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

}  // namespace

template <class T>
CusparseCsr<T>::CusparseCsr(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a,
                            cusparseSpMVAlg_t algorithm)
    : algorithm_(algorithm) {
  const Cusparse& api = cusparse();
  const cusparseIndexType_t width = a.wide() ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  void* const row_ptr =
      with_row_ptr(a, [](auto from) -> void* { return const_cast<void*>(static_cast<const void*>(from.data)); });
  NEWEL_CHECK_CUSPARSE(api.cusparseCreateCsr(&use_.matrix, a.rows, a.cols, a.nnz(), row_ptr,
                                             const_cast<Index*>(a.col.data), const_cast<T*>(a.val.data), width,
                                             CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, value_type<T>));
  Array<T, Space::device> some_x(ctx, a.cols), some_y(ctx, a.rows);
  NEWEL_CHECK_CUSPARSE(api.cusparseCreateDnVec(&use_.x, a.cols, some_x.data(), value_type<T>));
  NEWEL_CHECK_CUSPARSE(api.cusparseCreateDnVec(&use_.y, a.rows, some_y.data(), value_type<T>));
  const T one = 1, zero = 0;
  std::size_t bytes = 0;
  NEWEL_CHECK_CUSPARSE(api.cusparseSpMV_bufferSize(cusparse_handle(ctx), plain, &one, use_.matrix, use_.x, &zero,
                                                   use_.y, value_type<T>, algorithm_, &bytes));
  buffer_ = Array<char, Space::device>(ctx, static_cast<std::int64_t>(bytes));
  NEWEL_CHECK_CUSPARSE(api.cusparseSpMV_preprocess(cusparse_handle(ctx), plain, &one, use_.matrix, use_.x, &zero,
                                                   use_.y, value_type<T>, algorithm_, buffer_.data()));
}

template <class T>
CusparseCsr<T>::Descriptors::~Descriptors() {
  if (matrix == nullptr && x == nullptr && y == nullptr) return;
  const Cusparse& api = cusparse();
  if (matrix != nullptr) api.cusparseDestroySpMat(matrix);
  if (x != nullptr) api.cusparseDestroyDnVec(x);
  if (y != nullptr) api.cusparseDestroyDnVec(y);
}

template <class T>
void CusparseCsr<T>::product(const Context<Space::device>& ctx, T alpha, const T* x, T beta, T* y) const {
  const Cusparse& api = cusparse();
  NEWEL_CHECK_CUSPARSE(api.cusparseDnVecSetValues(use_.x, const_cast<T*>(x)));
  NEWEL_CHECK_CUSPARSE(api.cusparseDnVecSetValues(use_.y, y));
  NEWEL_CHECK_CUSPARSE(api.cusparseSpMV(cusparse_handle(ctx), plain, &alpha, use_.matrix, use_.x, &beta, use_.y,
                                        value_type<T>, algorithm_, buffer_.data()));
}

template class CusparseCsr<double>;
template class CusparseCsr<float>;

}  // namespace newel::detail
