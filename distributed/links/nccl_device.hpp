// SPDX-License-Identifier: Apache-2.0
/// The functions of NCCL that link devices, loaded when they are first needed. Internal; needs the CUDA headers.
///
/// The declarations are those of NCCL 2.7 and newer (NCCL User Guide, "NCCL API"): no header of NCCL is needed.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>

namespace newel::detail {

struct NcclId {
  char bytes[128];
};
using NcclCommunicator = void*;

/// Names as in NCCL. A result other than 0 is an error.
struct Nccl {
  static constexpr int bytes = 0, doubles = 8;  ///< types of values

  int (*ncclGetVersion)(int* version);
  const char* (*ncclGetErrorString)(int result);
  int (*ncclGetUniqueId)(NcclId* id);
  int (*ncclCommInitRank)(NcclCommunicator* made, int ranks, NcclId id, int rank);
  int (*ncclCommDestroy)(NcclCommunicator communicator);
  int (*ncclCommAbort)(NcclCommunicator communicator);
  int (*ncclGroupStart)();
  int (*ncclGroupEnd)();
  int (*ncclAllGather)(const void* mine, void* all, std::size_t count, int type, NcclCommunicator, cudaStream_t);
  int (*ncclSend)(const void* data, std::size_t count, int type, int rank, NcclCommunicator, cudaStream_t);
  int (*ncclRecv)(void* data, std::size_t count, int type, int rank, NcclCommunicator, cudaStream_t);
};

/// Loads NCCL at the first call. Throws DeviceError if there is none.
const Nccl& nccl();

/// "NCCL 2.28.9"
std::string nccl_version();

/// Throws DeviceError for an error of `call`.
void check_nccl(int result, const char* call);

}  // namespace newel::detail

#define NEWEL_CHECK_NCCL(call) ::newel::detail::check_nccl((call), #call)
