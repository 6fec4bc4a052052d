// SPDX-License-Identifier: Apache-2.0
/// The allocator behind a context: aligned host memory, or a stream-ordered device pool, with a ledger.
#pragma once

#include <cstddef>
#include <cstdint>

#include <purlin/core/types.hpp>

namespace purlin {

/// What a context's arrays use. Tests and the memory report read it.
struct MemoryUse {
  std::uint64_t bytes = 0;        ///< held now
  std::uint64_t peak_bytes = 0;   ///< the most ever held
  std::uint64_t allocations = 0;  ///< how many were made so far
};

/// Gives and takes memory of one space. Made by a context and kept alive by its arrays.
class MemoryResource {
 public:
  virtual ~MemoryResource() = default;

  /// `bytes` bytes, aligned to at least 64 bytes (256 on the device); null for 0 bytes. Throws OutOfMemory.
  virtual void* allocate(std::size_t bytes) = 0;

  /// Returns memory from `allocate` of the same size. Never throws.
  virtual void release(void* pointer, std::size_t bytes) noexcept = 0;

  /// Bytes that could be had now: free memory of the device, or an estimate for the host.
  virtual std::uint64_t available_bytes() const = 0;

  virtual MemoryUse use() const = 0;
};

}  // namespace purlin
