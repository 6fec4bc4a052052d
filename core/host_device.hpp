// SPDX-License-Identifier: Apache-2.0
/// PURLIN_HD marks a small function that both g++ and nvcc compile, for host and device; PURLIN_UNROLL, in front of a
/// loop with few fixed steps, unrolls it where that function is compiled for the device. Internal.
#pragma once

#ifdef __CUDACC__
#define PURLIN_HD __host__ __device__ __forceinline__
#else
#define PURLIN_HD inline
#endif

#ifdef __CUDA_ARCH__
#define PURLIN_UNROLL _Pragma("unroll")
#else
#define PURLIN_UNROLL
#endif
