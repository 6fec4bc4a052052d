// SPDX-License-Identifier: Apache-2.0
// The host context and its aligned memory.
#include <purlin/core/context.hpp>

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <purlin/core/array.hpp>
#include <purlin/core/error.hpp>
#include <purlin/core/memory_ledger.hpp>
#include <purlin/core/thread_team.hpp>

namespace purlin {
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
  void* allocate(std::size_t bytes) override {
    if (bytes == 0) return nullptr;
    // Large requests are measured against the memory there is before the system promises it: Linux overcommits,
    // and the process would die at the first touch.
    constexpr std::size_t worth_asking = std::size_t{256} << 20;
    if (bytes >= worth_asking && bytes > available_host_bytes()) fail(bytes);
    void* pointer = nullptr;
    const bool large = bytes >= huge_page;
    if (posix_memalign(&pointer, large ? huge_page : alignment, bytes) != 0) fail(bytes);
    // Streaming through a matrix in 4 KiB pages costs a sixth of the bandwidth in address translation. A system that
    // has no huge pages to give refuses, and nothing is lost.
    if (large) madvise(pointer, bytes, MADV_HUGEPAGE);
    ledger_.add(bytes);
    return pointer;
  }
  void release(void* pointer, std::size_t bytes) noexcept override {
    std::free(pointer);
    ledger_.remove(bytes);
  }
  std::uint64_t available_bytes() const override { return available_host_bytes(); }
  MemoryUse use() const override { return ledger_.use(); }

 private:
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t huge_page = std::size_t{2} << 20;

  [[noreturn]] static void fail(std::size_t bytes) {
    throw OutOfMemory("host", "an array", bytes, available_host_bytes());
  }

  detail::MemoryLedger ledger_;
};

// The one variable of the environment that the library reads: what runs several processes on a machine shares out its
// processors by it. A list for nested regions ("4,2") begins with the number that is meant.
int default_threads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  const long wanted = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
  const long threads = wanted > 0 ? wanted : detail::available_processors();
  return static_cast<int>(std::min<long>(threads, Context<Space::host>::most_threads));
}

}  // namespace

Context<Space::host>::Context(int threads)
    : threads_(threads == 0 ? default_threads() : threads), memory_(std::make_shared<HostMemory>()) {
  if (threads < 0 || threads > most_threads) {
    throw InputError("the number of threads is 0 (all) or 1 to " + std::to_string(most_threads) + ", not " +
                     std::to_string(threads));
  }
  team_ = std::make_shared<detail::ThreadTeam>(threads_);
}

namespace detail {

void throw_negative_array_size() { throw InputError("an array cannot have a negative size"); }

void throw_copy_size_mismatch(std::int64_t from, std::int64_t to) {
  throw InputError("copy of " + std::to_string(from) + " values into room for " + std::to_string(to));
}

}  // namespace detail
}  // namespace purlin
