// SPDX-License-Identifier: Apache-2.0
/// A memory resource that a test can look into, and that fails when told to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>

#include <newel/config.hpp>
#include <newel/core/context.hpp>
#include <newel/core/memory.hpp>
#if NEWEL_HAS_CUDA
#include "core/memory/memory_device.hpp"
#endif

namespace newel::testing {

/// The built-in resource of a space.
template <Space S>
std::shared_ptr<MemoryResource> built_in_memory() {
#if NEWEL_HAS_CUDA
  if constexpr (S == Space::device) return detail::device_memory(0);
#endif
  return detail::host_memory();
}

/// Memory of the built-in resource, with every allocation kept on record.
template <Space S>
class ObservedMemory final : public MemoryResource {
 public:
  void* allocate(std::size_t bytes, CUstream_st* stream) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++allocations;
    last_stream = stream;
    if (left-- <= 0) fail();
    void* const pointer = below_->allocate(bytes, stream);
    live[static_cast<const char*>(pointer)] = bytes;
    return pointer;
  }
  void release(void* pointer, std::size_t bytes, CUstream_st* stream) noexcept override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = live.find(static_cast<const char*>(pointer));
    if (at == live.end() || at->second != bytes) ++wrong_releases;
    if (at != live.end()) live.erase(at);
    last_stream = stream;
    below_->release(pointer, bytes, stream);
  }
  std::optional<std::uint64_t> available_bytes() const override { return available; }
  void release_unused() override { ++releases_of_unused; }

  std::uint64_t live_bytes() const {
    std::uint64_t total = 0;
    for (const auto& [pointer, bytes] : live) total += bytes;
    return total;
  }
  /// Whether these bytes lie in one live allocation.
  bool holds(const void* begin, std::size_t bytes) const {
    const char* const from = static_cast<const char*>(begin);
    return std::any_of(live.begin(), live.end(),
                       [&](const auto& a) { return from >= a.first && from + bytes <= a.first + a.second; });
  }

  std::uint64_t allocations = 0;
  std::int64_t left = std::numeric_limits<std::int64_t>::max();  ///< allocations before they fail
  std::function<void()> fail = [] { throw std::bad_alloc(); };
  std::optional<std::uint64_t> available;  ///< unknown at first
  int wrong_releases = 0, releases_of_unused = 0;
  CUstream_st* last_stream = nullptr;
  std::map<const char*, std::size_t> live;

 private:
  std::shared_ptr<MemoryResource> below_ = built_in_memory<S>();
  std::mutex mutex_;
};

/// The first argument of a context's constructor: default threads, or device 0.
inline constexpr int usual = 0;

}  // namespace newel::testing
