// SPDX-License-Identifier: Apache-2.0
// The device, its driver and the toolkit.
#include <cuda_runtime.h>

#include <newel/config.hpp>
#include "core/memory/context_device.hpp"

#include "machine_facts.hpp"

namespace newel::bench {
namespace {

std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

Json machine_facts(const Context<Space::device>& ctx) {
  int driver = 0, runtime = 0;
  NEWEL_CHECK_CUDA(cudaDriverGetVersion(&driver));
  NEWEL_CHECK_CUDA(cudaRuntimeGetVersion(&runtime));
  return {{"device", ctx.device_name()},
          {"multiprocessors", ctx.multiprocessors()},
          {"driver_supports_cuda", cuda_version(driver)},
          {"cuda_runtime", cuda_version(runtime)},
          {"cuda_toolkit", NEWEL_CUDA_TOOLKIT},
          {"cuda_architectures", NEWEL_CUDA_ARCHITECTURES}};
}

}  // namespace newel::bench
