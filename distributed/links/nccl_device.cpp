// SPDX-License-Identifier: Apache-2.0
// Where NCCL is found: as the system finds libraries.
#include "distributed/links/nccl_device.hpp"

#include <string>

#include <newel/core/error.hpp>
#include "core/memory/dynamic_library.hpp"

namespace newel::detail {
namespace {

Nccl load_nccl() {
  const DynamicLibrary library("NCCL, which links the devices of ranks,", {"libnccl.so.2"});
  Nccl functions;
#define X(name) library.find(#name, functions.name);
  X(ncclGetVersion)
  X(ncclGetErrorString)
  X(ncclGetUniqueId)
  X(ncclCommInitRank)
  X(ncclCommDestroy)
  X(ncclCommAbort)
  X(ncclGroupStart)
  X(ncclGroupEnd)
  X(ncclAllGather)
  X(ncclSend)
  X(ncclRecv)
#undef X
  return functions;
}

}  // namespace

const Nccl& nccl() {
  static const Nccl functions = load_nccl();
  return functions;
}

std::string nccl_version() {
  int version = 0;
  NEWEL_CHECK_NCCL(nccl().ncclGetVersion(&version));
  const int major = version / 10000, minor = version / 100 % 100, patch = version % 100;
  return "NCCL " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

void check_nccl(int result, const char* call) {
  if (result == 0) return;
  throw DeviceError(std::string(call) + " failed: " + nccl().ncclGetErrorString(result));
}

}  // namespace newel::detail
