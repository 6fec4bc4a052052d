// SPDX-License-Identifier: Apache-2.0
// Launches, and what the runtime reports about a kernel.
#include "internal.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace emu {
namespace {

std::map<const void*, int>& dynamic_limits() {
  static std::map<const void*, int> all;
  return all;
}
constexpr int pretended_static = 1024;

}  // namespace

void launch(const char* name, const Config& c, const void* key, std::function<void()> thread, bool cooperative) {
  const Lock lock;
  if (faulted) {
    result(cudaErrorLaunchFailure);
    return;
  }
  const auto refuse = [&](const char* why, cudaError_t e) {
    complain("%s <<<%u, %u, %zu>>> refused: %s", name, c.grid.x, c.block.x, c.shared, why);
    result(e);
  };
  const std::size_t threads = std::size_t{c.block.x} * c.block.y * c.block.z;
  if (threads == 0 || threads > 1024) return refuse("threads", cudaErrorInvalidConfiguration);
  if (c.grid.x == 0 || c.grid.y == 0 || c.grid.z == 0 || c.grid.x > 0x7fffffffu)
    return refuse("grid", cudaErrorInvalidConfiguration);
  int limit = (48 << 10) - pretended_static;
  if (key != nullptr && dynamic_limits().count(key) != 0) limit = std::max(limit, dynamic_limits()[key]);
  if (c.shared > static_cast<std::size_t>(limit)) return refuse("dynamic shared memory", cudaErrorInvalidValue);
  if (cooperative && c.grid.x > static_cast<unsigned>(settings().multiprocessors))
    return refuse("blocks of a cooperative launch", cudaErrorCooperativeLaunchTooLarge);
  require_current_device(c.stream, name);
  const std::string label = name;
  enqueue(c.stream, [label, c, thread, cooperative] {
    static std::set<std::string> names;
    run_kernel(names.insert(label).first->c_str(), c, thread, cooperative);
  });
}

}  // namespace emu

using namespace emu;

extern "C" {

cudaError_t cudaFuncSetAttribute(const void* f, cudaFuncAttribute a, int v) {
  const Lock lock;
  if (a == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (v < 0 || v > static_cast<int>(most_shared)) {
      complain("cudaFuncSetAttribute of %d bytes", v);
      return result(cudaErrorInvalidValue);
    }
    dynamic_limits()[f] = v;
  }
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* a, const void*) {
  std::memset(a, 0, sizeof *a);
  a->sharedSizeBytes = pretended_static;
  a->maxThreadsPerBlock = 1024;
  a->numRegs = 32;
  a->ptxVersion = a->binaryVersion = 90;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* n, const void*, int threads, std::size_t shared) {
  *n = shared + pretended_static > most_shared
           ? 0
           : std::min<int>(2048 / threads, static_cast<int>((228 << 10) / (shared + pretended_static + 1024)));
  return cudaSuccess;
}

}  // extern "C"
