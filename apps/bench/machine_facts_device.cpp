// SPDX-License-Identifier: Apache-2.0
// The device, its driver and the toolkit.
#include <cuda_runtime.h>

#include <purlin/config.hpp>
#include <purlin/core/context_device.hpp>

#include "machine_facts.hpp"

namespace purlin::bench {
namespace {

std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

Json machine_facts(const Context<Space::device>& ctx) {
  int driver = 0, runtime = 0;
  PURLIN_CHECK_CUDA(cudaDriverGetVersion(&driver));
  PURLIN_CHECK_CUDA(cudaRuntimeGetVersion(&runtime));
  return {{"device", ctx.device_name()},
          {"multiprocessors", ctx.multiprocessors()},
          {"driver_supports_cuda", cuda_version(driver)},
          {"cuda_runtime", cuda_version(runtime)},
          {"cuda_toolkit", PURLIN_CUDA_TOOLKIT},
          {"cuda_architectures", PURLIN_CUDA_ARCHITECTURES}};
}

}  // namespace purlin::bench
