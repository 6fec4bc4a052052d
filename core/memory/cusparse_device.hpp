// SPDX-License-Identifier: Apache-2.0
/// The functions of cuSPARSE that the library calls, loaded when a format is the first to need them: loading cuSPARSE
/// with every program would take longer than most solves. Internal; needs the CUDA headers.
#pragma once

#include <cusparse.h>

#include "core/memory/context_device.hpp"

namespace newel::detail {

#define NEWEL_CUSPARSE_FUNCTIONS(X) \
  X(cusparseGetErrorString)         \
  X(cusparseCreate)                 \
  X(cusparseDestroy)                \
  X(cusparseSetStream)              \
  X(cusparseCreateCsr)              \
  X(cusparseDestroySpMat)           \
  X(cusparseCreateDnVec)            \
  X(cusparseDestroyDnVec)           \
  X(cusparseDnVecSetValues)         \
  X(cusparseSpMV_bufferSize)        \
  X(cusparseSpMV_preprocess)        \
  X(cusparseSpMV)

/// Pointers to functions, which have the names of the functions.
struct Cusparse {
#define X(name) decltype(&::name) name = nullptr;
  NEWEL_CUSPARSE_FUNCTIONS(X)
#undef X
};

/// Loads them on the first call. Throws DeviceError where they are not there. Safe to call by several threads.
const Cusparse& cusparse();

/// The handle of a context, bound to its stream; created by the first call. Throws as `cusparse`.
cusparseHandle_t cusparse_handle(const Context<Space::device>& ctx);

void check_cusparse(cusparseStatus_t status, const char* call);

}  // namespace newel::detail

#define NEWEL_CHECK_CUSPARSE(call) ::newel::detail::check_cusparse((call), #call)
