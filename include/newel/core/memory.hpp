// SPDX-License-Identifier: Apache-2.0
/// Where a context's arrays get their memory: the built-in resource of a space, or one of the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <newel/core/memory_ledger.hpp>
#include <newel/core/types.hpp>

// Public headers include no CUDA header: the type behind cudaStream_t.
struct CUstream_st;

namespace newel {

/// The alignment in bytes that every allocation in `space` has.
constexpr std::size_t memory_alignment(Space space) { return space == Space::host ? 64 : 256; }

/// Gives and takes memory of one space. A caller derives from it, around a pool of RMM say, and hands it to a
/// context.
///
/// All arrays of the context come from it: matrices, preconditioners, vectors and what is built from them. What does
/// not are the small vectors and the graphs of a setup on the host, files that are read, page-locked memory, and what
/// the CUDA libraries allocate for themselves; for the setup of a device context the host part stays with the host.
///
/// The context and its arrays keep the resource alive. Arrays of a context may be made and destroyed by different
/// threads: where these do so at the same time, for one context or for several that share the resource, it has to be
/// safe to call from all of them.
class MemoryResource {
 public:
  virtual ~MemoryResource() = default;

  /// `bytes` bytes, more than 0, aligned to `memory_alignment` of the space, for use in the order of `stream` (null
  /// on the host; on the device null is the legacy default stream). The device of the context is current where a
  /// LinearSystem or a solver asks. Throws std::bad_alloc where there is no such memory, which the caller of the
  /// library sees as OutOfMemory; other exceptions pass through. Null or misaligned memory is refused with
  /// InputError.
  virtual void* allocate(std::size_t bytes, CUstream_st* stream) = 0;

  /// Takes back memory of `bytes` bytes from `allocate`. Work queued on `stream` before this call may still use it.
  /// Called by any thread, with any device current. A stream that the context made itself ends after the last
  /// release.
  virtual void release(void* pointer, std::size_t bytes, CUstream_st* stream) noexcept = 0;

  /// Bytes that could be had now; unknown by default. Where they are unknown, estimates of what a system will hold
  /// are not checked before the work begins, and a system that does not fit fails in an allocation.
  virtual std::optional<std::uint64_t> available_bytes() const { return std::nullopt; }

  /// Gives memory that is kept for later allocations back to where it came from; by default does nothing.
  virtual void release_unused() {}
};

/// The memory of one context and its copies: the resource, the stream that its memory is used on, and what is held.
/// Made by the context and kept alive by its arrays.
class ContextMemory final {
 public:
  /// `resource` is not null (InputError); `stream_owner` lives until the resource has been let go.
  ContextMemory(Space space, std::shared_ptr<MemoryResource> resource, CUstream_st* stream = nullptr,
                std::shared_ptr<const void> stream_owner = nullptr);

  /// Memory for an array, counted; null for 0 bytes. Throws OutOfMemory, InputError for a resource that breaks its
  /// contract, and what the resource throws beside std::bad_alloc.
  void* allocate(std::size_t bytes);
  /// Returns memory from `allocate` of the same size.
  void release(void* pointer, std::size_t bytes) noexcept;

  /// See MemoryResource.
  std::optional<std::uint64_t> available_bytes() const { return resource_->available_bytes(); }
  void release_unused() { resource_->release_unused(); }

  /// What the arrays of this context hold, whoever shares the resource.
  MemoryUse use() const { return ledger_.use(); }

  /// What memory comes from.
  const MemoryResource& resource() const { return *resource_; }

 private:
  Space space_;
  CUstream_st* stream_;
  std::shared_ptr<const void> stream_owner_;
  std::shared_ptr<MemoryResource> resource_;  // goes before the owner of the stream does
  detail::MemoryLedger ledger_;
};

namespace detail {
/// The built-in resource of the host: aligned memory in huge pages where it is large. `release_unused` is glibc's
/// malloc_trim, and nothing with another C library.
std::shared_ptr<MemoryResource> host_memory();
}  // namespace detail

}  // namespace newel
