// SPDX-License-Identifier: Apache-2.0
// The built-in memory of the host: aligned, and measured against what the machine and its control group have left.
#include <newel/core/memory.hpp>

#include <malloc.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <newel/core/error.hpp>
#include "core/memory/available_memory.hpp"

namespace newel {
namespace {

// The first number in a file; `missing` where there is none ("max", or no such file).
std::uint64_t number_in(const std::string& path, std::uint64_t missing) {
  unsigned long long number = 0;
  bool found = false;
  if (std::FILE* file = std::fopen(path.c_str(), "r")) {
    found = std::fscanf(file, "%llu", &number) == 1;
    std::fclose(file);
  }
  return found ? number : missing;
}

// What the control group of this process (a container, a batch job) leaves, by version 2 or 1 of the interface.
std::uint64_t available_in_group() {
  constexpr std::uint64_t unlimited = UINT64_MAX;
  std::string folder = "/sys/fs/cgroup";
  if (std::FILE* file = std::fopen("/proc/self/cgroup", "r")) {
    char line[1024];
    while (std::fgets(line, sizeof line, file) != nullptr) {
      if (std::strncmp(line, "0::", 3) != 0) continue;
      std::string path = line + 3;
      path.erase(path.find_last_not_of("\n/") + 1);
      if (number_in(folder + path + "/memory.current", unlimited) != unlimited) folder += path;
    }
    std::fclose(file);
  }
  const std::uint64_t most = std::min(number_in(folder + "/memory.max", unlimited),
                                      number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes", unlimited));
  if (most == unlimited) return unlimited;
  const std::uint64_t used =
      std::max(number_in(folder + "/memory.current", 0), number_in("/sys/fs/cgroup/memory/memory.usage_in_bytes", 0));
  return used < most ? most - used : 0;
}

// What Linux says it could hand out without swapping; the whole memory where it does not say.
std::uint64_t available_on_machine() {
  if (std::FILE* meminfo = std::fopen("/proc/meminfo", "r")) {
    char line[256];
    unsigned long long kilobytes = 0;
    bool found = false;
    while (!found && std::fgets(line, sizeof line, meminfo) != nullptr) {
      found = std::sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1;
    }
    std::fclose(meminfo);
    if (found) return kilobytes * 1024;
  }
  struct sysinfo info = {};
  return sysinfo(&info) == 0 ? std::uint64_t{info.totalram} * info.mem_unit : 0;
}

std::uint64_t available_host_bytes() { return std::min(available_on_machine(), available_in_group()); }

class HostMemory final : public MemoryResource {
 public:
  void* allocate(std::size_t bytes, CUstream_st*) override {
    // Large requests are measured against the memory there is before the system promises it: Linux overcommits,
    // and the process would die at the first touch.
    constexpr std::size_t worth_asking = std::size_t{256} << 20;
    if (bytes >= worth_asking && bytes > available_host_bytes()) fail(bytes);
    void* pointer = nullptr;
    const bool large = bytes >= huge_page;
    if (posix_memalign(&pointer, large ? huge_page : memory_alignment(Space::host), bytes) != 0) fail(bytes);
    // Streaming through a matrix in 4 KiB pages costs a sixth of the bandwidth in address translation. A system that
    // has no huge pages to give refuses, and nothing is lost.
    if (large) madvise(pointer, bytes, MADV_HUGEPAGE);
    return pointer;
  }
  void release(void* pointer, std::size_t, CUstream_st*) noexcept override { std::free(pointer); }
  std::optional<std::uint64_t> available_bytes() const override { return available_host_bytes(); }
  // Large arrays go back at once, or stay as free memory of the heap, which only this returns.
  void release_unused() override {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
  }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20;

  [[noreturn]] static void fail(std::size_t bytes) {
    throw OutOfMemory("host", "an array", bytes, available_host_bytes());
  }
};

}  // namespace

std::shared_ptr<MemoryResource> detail::host_memory() { return std::make_shared<HostMemory>(); }

bool detail::is_negligible(const ContextMemory& memory, std::uint64_t bytes) {
  constexpr std::uint64_t most = std::uint64_t{16} << 20;
  return bytes <= most && dynamic_cast<const HostMemory*>(&memory.resource()) != nullptr;
}

}  // namespace newel
