// SPDX-License-Identifier: Apache-2.0
/// The functions of cuDSS that the direct solver calls, loaded when they are first needed. Internal; needs the CUDA
/// headers.
///
/// The declarations are those of cuDSS 1 (NVIDIA cuDSS, "API reference"): no header of cuDSS is needed. Earlier
/// versions have other numbers and arguments, and are refused by their version.
#pragma once

#include <cuda_runtime.h>
#include <library_types.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace newel::detail {

using CudssHandle = struct CudssHandleState*;
using CudssConfig = struct CudssConfigState*;
using CudssData = struct CudssDataState*;
using CudssMatrix = struct CudssMatrixState*;

/// Names as in cuDSS. A result other than 0 is an error.
struct Cudss {
  static constexpr int analysis = 3, factorisation = 4, refactorisation = 8, solve = 1008;  ///< phases
  static constexpr int general = 0, symmetric = 1, positive_definite = 3;                   ///< kinds of matrices
  static constexpr int whole = 0, lower = 1;             ///< the entries that are read
  static constexpr int from_zero = 0, by_columns = 0;    ///< numbering; order of a dense matrix
  static constexpr int info = 0, memory_estimates = 13;  ///< of `cudssDataGet`
  static constexpr int out_of_memory = 2;                ///< a result

  int (*cudssGetProperty)(libraryPropertyType property, int* value);
  int (*cudssCreate)(CudssHandle*);
  int (*cudssDestroy)(CudssHandle);
  int (*cudssSetStream)(CudssHandle, cudaStream_t);
  int (*cudssConfigCreate)(CudssConfig*);
  int (*cudssConfigDestroy)(CudssConfig);
  int (*cudssDataCreate)(CudssHandle, CudssData*);
  int (*cudssDataDestroy)(CudssHandle, CudssData);
  int (*cudssDataGet)(CudssHandle, CudssData, int parameter, void* value, std::size_t bytes, std::size_t* written);
  int (*cudssMatrixCreateCsr)(CudssMatrix*, std::int64_t rows, std::int64_t cols, std::int64_t entries,
                              const void* row_begin, const void* row_end, const void* col, const void* values,
                              cudaDataType_t offset_type, cudaDataType_t index_type, cudaDataType_t value_type,
                              int kind, int view, int base);
  int (*cudssMatrixCreateDn)(CudssMatrix*, std::int64_t rows, std::int64_t cols, std::int64_t stride,
                             const void* values, cudaDataType_t value_type, int layout);
  int (*cudssMatrixDestroy)(CudssMatrix);
  int (*cudssExecute)(CudssHandle, int phase, CudssConfig, CudssData, CudssMatrix a, CudssMatrix x, CudssMatrix b);
};

/// Null: it is not there, and `cudss_missing` says why. Loads cuDSS at the first call.
const Cudss* cudss();
const std::string& cudss_missing();

}  // namespace newel::detail
