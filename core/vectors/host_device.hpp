// SPDX-License-Identifier: Apache-2.0
/// NEWEL_HD marks a small function that both g++ and nvcc compile, for host and device; NEWEL_UNROLL, in front of a
/// loop with few fixed steps, unrolls it where that function is compiled for the device. Internal.
#pragma once

#ifdef __CUDACC__
#define NEWEL_HD __host__ __device__ __forceinline__
#else
#define NEWEL_HD inline
#endif

#ifdef __CUDA_ARCH__
#define NEWEL_UNROLL _Pragma("unroll")
#else
#define NEWEL_UNROLL
#endif
