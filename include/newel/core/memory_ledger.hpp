// SPDX-License-Identifier: Apache-2.0
/// Counts the memory held by a context's arrays. Atomic, because another thread may destroy them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace newel {

/// Memory used by a context's arrays, for tests and the memory report.
struct MemoryUse {
  std::uint64_t bytes = 0;        ///< held now
  std::uint64_t peak_bytes = 0;   ///< maximum so far
  std::uint64_t allocations = 0;  ///< number of allocations so far
};

namespace detail {

class MemoryLedger {
 public:
  void add(std::size_t bytes) noexcept {
    const std::uint64_t now = bytes_.fetch_add(bytes) + bytes;
    allocations_.fetch_add(1);
    std::uint64_t peak = peak_.load();
    while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
    }
  }
  void remove(std::size_t bytes) noexcept { bytes_.fetch_sub(bytes); }
  MemoryUse use() const noexcept { return {bytes_.load(), peak_.load(), allocations_.load()}; }

 private:
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> peak_{0};
  std::atomic<std::uint64_t> allocations_{0};
};

}  // namespace detail
}  // namespace newel
