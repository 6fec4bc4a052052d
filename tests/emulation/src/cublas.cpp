// SPDX-License-Identifier: Apache-2.0
// What is used of cuBLAS, as plain loops.
#include "internal.hpp"

#include <cublas_v2.h>

#include <cmath>

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
};

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* h) {
  if (emu::unsafe_in_capture("cublasCreate")) return CUBLAS_STATUS_INTERNAL_ERROR;
  *h = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t h) {
  delete h;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t h, cudaStream_t s) {
  h->stream = s;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t h, cublasPointerMode_t m) {
  h->mode = m;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void* p, std::size_t n) {
  emu::check_device_range("cublas: workspace", p, n);
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusString(cublasStatus_t) { return "cuBLAS of the emulation"; }

}  // extern "C"

namespace {

template <class T>
cublasStatus_t dot(cublasHandle_t h, int n, const T* x, const T* y, T* result, bool root) {
  const auto work = [=] {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += double(x[i]) * double(y[i]);
    *result = static_cast<T>(root ? std::sqrt(sum) : sum);
  };
  emu::enqueue(h->stream, work);
  if (h->mode == CUBLAS_POINTER_MODE_HOST) cudaStreamSynchronize(h->stream);
  return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t with_scalar(cublasHandle_t h, const T* alpha, std::function<void(T)> f) {
  if (h->mode == CUBLAS_POINTER_MODE_HOST) {
    const T a = *alpha;
    emu::enqueue(h->stream, [=] { f(a); });
  } else {
    emu::enqueue(h->stream, [=] { f(*alpha); });
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

#define LEVEL1(L, T)                                                                                               \
  extern "C" cublasStatus_t cublas##L##dot_v2(cublasHandle_t h, int n, const T* x, int, const T* y, int, T* r) {   \
    return dot(h, n, x, y, r, false);                                                                              \
  }                                                                                                                \
  extern "C" cublasStatus_t cublas##L##nrm2_v2(cublasHandle_t h, int n, const T* x, int, T* r) {                   \
    return dot(h, n, x, x, r, true);                                                                               \
  }                                                                                                                \
  extern "C" cublasStatus_t cublas##L##axpy_v2(cublasHandle_t h, int n, const T* a, const T* x, int, T* y, int) {  \
    return with_scalar<T>(h, a, [=](T v) {                                                                         \
      for (int i = 0; i < n; ++i) y[i] += v * x[i];                                                                \
    });                                                                                                            \
  }                                                                                                                \
  extern "C" cublasStatus_t cublas##L##scal_v2(cublasHandle_t h, int n, const T* a, T* x, int) {                   \
    return with_scalar<T>(h, a, [=](T v) {                                                                         \
      for (int i = 0; i < n; ++i) x[i] *= v;                                                                       \
    });                                                                                                            \
  }                                                                                                                \
  extern "C" cublasStatus_t cublas##L##dgmm(cublasHandle_t h, cublasSideMode_t, int m, int n, const T* A, int lda, \
                                            const T* x, int, T* C, int ldc) {                                      \
    emu::enqueue(h->stream, [=] {                                                                                  \
      for (int j = 0; j < n; ++j)                                                                                  \
        for (int i = 0; i < m; ++i) C[i + j * ldc] = A[i + j * lda] * x[i];                                        \
    });                                                                                                            \
    return CUBLAS_STATUS_SUCCESS;                                                                                  \
  }
LEVEL1(D, double)
LEVEL1(S, float)
