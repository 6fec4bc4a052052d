// SPDX-License-Identifier: Apache-2.0
// CG with Jacobi by cuBLAS and cuSPARSE calls alone.
#include "usual_cg_device.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include <algorithm>
#include <cmath>

#include <purlin/core/context_device.hpp>

namespace purlin::bench {
namespace {

// cudaMalloc'ed memory with the values of a host array.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) {
    PURLIN_CHECK_CUDA(cudaMalloc(&data_, std::max<std::size_t>(1, count) * sizeof(T)));
  }
  explicit Buffer(const std::vector<T>& from) : Buffer(from.data(), from.size()) {}
  Buffer(const T* from, std::size_t count) : Buffer(count) {
    PURLIN_CHECK_CUDA(cudaMemcpy(data_, from, count * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
};

std::vector<double> inverse_diagonal(const fem::HostCsr& a) {
  std::vector<double> d(static_cast<std::size_t>(a.rows), 1.0);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (a.col[k] == i) d[static_cast<std::size_t>(i)] = 1 / a.val[k];
    }
  }
  return d;
}

constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

}  // namespace

struct UsualDevice::State {
  explicit State(const fem::HostCsr& a)
      : n(a.rows),
        row_ptr(std::vector<int>(a.row_ptr.begin(), a.row_ptr.end())),
        col(a.col.data(), static_cast<std::size_t>(a.nnz())),
        val(a.val.data(), static_cast<std::size_t>(a.nnz())),
        d(inverse_diagonal(a)),
        x(n),
        r(n),
        z(n),
        p(n),
        q(n) {
    PURLIN_CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    PURLIN_CHECK_CUBLAS(cublasCreate(&blas));
    PURLIN_CHECK_CUBLAS(cublasSetStream(blas, stream));
    PURLIN_CHECK_CUBLAS(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_HOST));
    PURLIN_CHECK_CUSPARSE(cusparseCreate(&sparse));
    PURLIN_CHECK_CUSPARSE(cusparseSetStream(sparse, stream));
    PURLIN_CHECK_CUSPARSE(cusparseCreateDnVec(&p_vector, n, p.get(), CUDA_R_64F));
    PURLIN_CHECK_CUSPARSE(cusparseCreateDnVec(&q_vector, n, q.get(), CUDA_R_64F));
    for (int k = 0; k < 2; ++k) {
      const cusparseSpMVAlg_t algorithm = k == 0 ? CUSPARSE_SPMV_CSR_ALG1 : CUSPARSE_SPMV_CSR_ALG2;
      PURLIN_CHECK_CUSPARSE(cusparseCreateCsr(&matrix[k], n, n, a.nnz(), row_ptr.get(), col.get(), val.get(),
                                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                              CUDA_R_64F));
      const double one = 1, zero = 0;
      std::size_t bytes = 0;
      PURLIN_CHECK_CUSPARSE(cusparseSpMV_bufferSize(sparse, plain, &one, matrix[k], p_vector, &zero, q_vector,
                                                    CUDA_R_64F, algorithm, &bytes));
      buffer[k] = std::make_unique<Buffer<char>>(bytes);
      PURLIN_CHECK_CUSPARSE(cusparseSpMV_preprocess(sparse, plain, &one, matrix[k], p_vector, &zero, q_vector,
                                                    CUDA_R_64F, algorithm, buffer[k]->get()));
    }
  }
  ~State() {
    cudaStreamSynchronize(stream);
    for (cusparseSpMatDescr_t m : matrix) cusparseDestroySpMat(m);
    cusparseDestroyDnVec(p_vector);
    cusparseDestroyDnVec(q_vector);
    cusparseDestroy(sparse);
    cublasDestroy(blas);
    cudaStreamDestroy(stream);
  }

  // q = A p
  void multiply(int which = 0) {
    const double one = 1, zero = 0;
    PURLIN_CHECK_CUSPARSE(cusparseSpMV(sparse, plain, &one, matrix[which], p_vector, &zero, q_vector, CUDA_R_64F,
                                       which == 0 ? CUSPARSE_SPMV_CSR_ALG1 : CUSPARSE_SPMV_CSR_ALG2,
                                       buffer[which]->get()));
  }
  double dot(const Buffer<double>& u, const Buffer<double>& v) {
    double result = 0;
    PURLIN_CHECK_CUBLAS(cublasDdot(blas, n, u.get(), 1, v.get(), 1, &result));
    return result;
  }

  int n;
  cudaStream_t stream = nullptr;
  cublasHandle_t blas = nullptr;
  cusparseHandle_t sparse = nullptr;
  Buffer<int> row_ptr;
  Buffer<Index> col;
  Buffer<double> val, d, x, r, z, p, q;
  cusparseSpMatDescr_t matrix[2] = {};
  cusparseDnVecDescr_t p_vector = nullptr, q_vector = nullptr;
  std::unique_ptr<Buffer<char>> buffer[2];
};

UsualDevice::UsualDevice(const fem::HostCsr& a) : state_(std::make_unique<State>(a)) {}
UsualDevice::~UsualDevice() = default;

float UsualDevice::time_products(int count, bool alg2) {
  State& s = *state_;
  PURLIN_CHECK_CUDA(cudaMemcpyAsync(s.p.get(), s.d.get(), sizeof(double) * s.n, cudaMemcpyDeviceToDevice, s.stream));
  cudaEvent_t start, stop;
  PURLIN_CHECK_CUDA(cudaEventCreate(&start));
  PURLIN_CHECK_CUDA(cudaEventCreate(&stop));
  PURLIN_CHECK_CUDA(cudaEventRecord(start, s.stream));
  for (int k = 0; k < count; ++k) s.multiply(alg2 ? 1 : 0);
  PURLIN_CHECK_CUDA(cudaEventRecord(stop, s.stream));
  PURLIN_CHECK_CUDA(cudaEventSynchronize(stop));
  float milliseconds = 0;
  PURLIN_CHECK_CUDA(cudaEventElapsedTime(&milliseconds, start, stop));
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  return milliseconds / static_cast<float>(count);
}

UsualDevice::Outcome UsualDevice::solve_cg(const std::vector<double>& b, int max_iterations, double tolerance) {
  State& s = *state_;
  const auto blas = s.blas;
  const int n = s.n;
  PURLIN_CHECK_CUDA(cudaMemcpyAsync(s.r.get(), b.data(), sizeof(double) * n, cudaMemcpyHostToDevice, s.stream));
  PURLIN_CHECK_CUDA(cudaMemsetAsync(s.x.get(), 0, sizeof(double) * n, s.stream));
  double norm = std::sqrt(s.dot(s.r, s.r)), rho_old = 1;  // cublasDnrm2 guards against overflow and is slower
  const double rhs_norm = norm;
  int k = 0;
  for (; k < max_iterations && norm > tolerance * rhs_norm; ++k) {
    PURLIN_CHECK_CUBLAS(cublasDdgmm(blas, CUBLAS_SIDE_LEFT, n, 1, s.r.get(), n, s.d.get(), 1, s.z.get(), n));
    const double rho = s.dot(s.r, s.z);
    const double one = 1, beta = rho / rho_old;
    if (k == 0) {
      PURLIN_CHECK_CUBLAS(cublasDcopy(blas, n, s.z.get(), 1, s.p.get(), 1));
    } else {
      PURLIN_CHECK_CUBLAS(cublasDscal(blas, n, &beta, s.p.get(), 1));
      PURLIN_CHECK_CUBLAS(cublasDaxpy(blas, n, &one, s.z.get(), 1, s.p.get(), 1));
    }
    s.multiply();
    const double alpha = rho / s.dot(s.p, s.q), minus_alpha = -alpha;
    PURLIN_CHECK_CUBLAS(cublasDaxpy(blas, n, &alpha, s.p.get(), 1, s.x.get(), 1));
    PURLIN_CHECK_CUBLAS(cublasDaxpy(blas, n, &minus_alpha, s.q.get(), 1, s.r.get(), 1));
    norm = std::sqrt(s.dot(s.r, s.r));
    rho_old = rho;
  }
  PURLIN_CHECK_CUDA(cudaStreamSynchronize(s.stream));
  return {k, norm / rhs_norm};
}

std::vector<double> UsualDevice::x() const {
  std::vector<double> result(static_cast<std::size_t>(state_->n));
  PURLIN_CHECK_CUDA(
      cudaMemcpy(result.data(), state_->x.get(), sizeof(double) * result.size(), cudaMemcpyDeviceToHost));
  return result;
}

}  // namespace purlin::bench
