// SPDX-License-Identifier: Apache-2.0
/// PURLIN_HD marks a small function that both g++ and nvcc compile, for host and device. Internal.
#pragma once

#ifdef __CUDACC__
#define PURLIN_HD __host__ __device__ __forceinline__
#else
#define PURLIN_HD inline
#endif
