// SPDX-License-Identifier: Apache-2.0
/// UsualBlas: the few cuBLAS calls of a Krylov loop, for float and double, on a stream. Internal to the measures.
#pragma once

#include <cublas_v2.h>

#include <string>
#include <type_traits>

#include "core/memory/context_device.hpp"

namespace newel::bench {

inline void check_cublas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw DeviceError(std::string(call) + " failed: " + cublasGetStatusString(status));
}
#define NEWEL_CHECK_CUBLAS(call) ::newel::bench::check_cublas((call), #call)

/// A handle of its own. Scalars are read and written where `mode` says: by the host, which waits for each dot
/// product, or on the device, in stream order. It is given its workspace, so that a capture records no allocation.
template <class T>
class UsualBlas {
 public:
  UsualBlas(const Context<Space::device>& ctx, int n, cublasPointerMode_t mode)
      : n_(n), workspace_(ctx, std::int64_t{32} << 20) {
    NEWEL_CHECK_CUBLAS(cublasCreate(&handle_));
    NEWEL_CHECK_CUBLAS(cublasSetStream(handle_, ctx.stream()));
    NEWEL_CHECK_CUBLAS(cublasSetWorkspace(handle_, workspace_.data(), static_cast<std::size_t>(workspace_.size())));
    NEWEL_CHECK_CUBLAS(cublasSetPointerMode(handle_, mode));
  }
  ~UsualBlas() {
    if (handle_ != nullptr) cublasDestroy(handle_);
  }
  UsualBlas(const UsualBlas&) = delete;
  UsualBlas& operator=(const UsualBlas&) = delete;

  /// *result = x.y
  void dot(const T* x, const T* y, T* result) const {
    if constexpr (is_double) {
      NEWEL_CHECK_CUBLAS(cublasDdot(handle_, n_, x, 1, y, 1, result));
    } else {
      NEWEL_CHECK_CUBLAS(cublasSdot(handle_, n_, x, 1, y, 1, result));
    }
  }
  /// y += alpha x
  void axpy(const T* alpha, const T* x, T* y) const {
    if constexpr (is_double) {
      NEWEL_CHECK_CUBLAS(cublasDaxpy(handle_, n_, alpha, x, 1, y, 1));
    } else {
      NEWEL_CHECK_CUBLAS(cublasSaxpy(handle_, n_, alpha, x, 1, y, 1));
    }
  }
  /// x *= alpha
  void scal(const T* alpha, T* x) const {
    if constexpr (is_double) {
      NEWEL_CHECK_CUBLAS(cublasDscal(handle_, n_, alpha, x, 1));
    } else {
      NEWEL_CHECK_CUBLAS(cublasSscal(handle_, n_, alpha, x, 1));
    }
  }
  /// y_i = d_i x_i
  void multiply_by_diagonal(const T* d, const T* x, T* y) const {
    if constexpr (is_double) {
      NEWEL_CHECK_CUBLAS(cublasDdgmm(handle_, CUBLAS_SIDE_LEFT, n_, 1, x, n_, d, 1, y, n_));
    } else {
      NEWEL_CHECK_CUBLAS(cublasSdgmm(handle_, CUBLAS_SIDE_LEFT, n_, 1, x, n_, d, 1, y, n_));
    }
  }

 private:
  static constexpr bool is_double = std::is_same_v<T, double>;

  int n_;
  Array<char, Space::device> workspace_;
  cublasHandle_t handle_ = nullptr;
};

}  // namespace newel::bench
