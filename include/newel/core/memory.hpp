// SPDX-License-Identifier: Apache-2.0
/// Memory of a context's arrays: the built-in resource of a space, or one from the caller.
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

/// Alignment of every allocation in `space`, in bytes.
constexpr std::size_t memory_alignment(Space space) { return space == Space::host ? 64 : 256; }

/// Allocates and frees memory of one space. Callers derive from it, for example around a pool of RMM, and pass it to
/// a context.
///
/// All arrays of the context use it: matrices, preconditioners, vectors and what is built from them. Not allocated
/// from it: small vectors and graphs of a setup on the host, files that are read, page-locked memory, and internal
/// memory of the CUDA libraries. The host part of a device context's setup uses host memory.
///
/// The context and its arrays keep the resource alive. Different threads may create and destroy arrays of a context.
/// If they do so at the same time, for one context or for several that share the resource, the resource must be
/// thread-safe.
class MemoryResource {
 public:
  virtual ~MemoryResource() = default;

  /// Returns `bytes` bytes (more than 0), aligned to `memory_alignment` of the space, for use in the order of
  /// `stream`. On the host `stream` is null; on the device null is the legacy default stream. The context's device is
  /// current if a LinearSystem or a solver calls this. Throw std::bad_alloc if there is no memory; the library's
  /// caller sees OutOfMemory. Other exceptions are passed on. Null or misaligned memory is refused with InputError.
  virtual void* allocate(std::size_t bytes, CUstream_st* stream) = 0;

  /// Frees memory of `bytes` bytes from `allocate`. Work queued on `stream` before this call may still use it. May be
  /// called from any thread, with any device current. A stream created by the context is destroyed after the last
  /// release.
  virtual void release(void* pointer, std::size_t bytes, CUstream_st* stream) noexcept = 0;

  /// Bytes available now; unknown by default. If unknown, memory estimates are not checked before the work begins,
  /// and a system that does not fit fails at an allocation.
  virtual std::optional<std::uint64_t> available_bytes() const { return std::nullopt; }

  /// Returns memory kept for later allocations to its source; by default does nothing.
  virtual void release_unused() {}
};

/// The memory of one context and its copies: the resource, its stream, and the amounts in use. Created by the context
/// and kept alive by its arrays.
class ContextMemory final {
 public:
  /// `resource` must not be null (InputError); `stream_owner` is kept alive until the resource has been released.
  ContextMemory(Space space, std::shared_ptr<MemoryResource> resource, CUstream_st* stream = nullptr,
                std::shared_ptr<const void> stream_owner = nullptr);

  /// Memory for an array, counted; null for 0 bytes. Throws OutOfMemory, InputError for a resource that breaks its
  /// contract, and any exception of the resource other than std::bad_alloc.
  void* allocate(std::size_t bytes);
  /// Returns memory from `allocate` of the same size.
  void release(void* pointer, std::size_t bytes) noexcept;

  /// See MemoryResource.
  std::optional<std::uint64_t> available_bytes() const { return resource_->available_bytes(); }
  void release_unused() { resource_->release_unused(); }

  /// The memory held by arrays of this context, even if the resource is shared.
  MemoryUse use() const { return ledger_.use(); }

  /// The resource that memory comes from.
  const MemoryResource& resource() const { return *resource_; }

 private:
  Space space_;
  CUstream_st* stream_;
  std::shared_ptr<const void> stream_owner_;
  std::shared_ptr<MemoryResource> resource_;  // goes before the owner of the stream does
  detail::MemoryLedger ledger_;
};

namespace detail {
/// The built-in resource of the host: aligned memory, in huge pages if it is large. `release_unused` calls glibc's
/// malloc_trim; with other C libraries it does nothing.
std::shared_ptr<MemoryResource> host_memory();
}  // namespace detail

}  // namespace newel
