// SPDX-License-Identifier: Apache-2.0
// The memory of a context: its resource asked, checked and counted.
#include <newel/core/memory.hpp>

#include <limits>
#include <new>
#include <string>
#include <utility>

#include <newel/core/array.hpp>
#include <newel/core/error.hpp>

namespace newel {

ContextMemory::ContextMemory(Space space, std::shared_ptr<MemoryResource> resource, CUstream_st* stream,
                             std::shared_ptr<const void> stream_owner)
    : space_(space), stream_(stream), stream_owner_(std::move(stream_owner)), resource_(std::move(resource)) {
  if (resource_ == nullptr) throw InputError("a context needs a memory resource, found a null pointer");
}

void* ContextMemory::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* pointer = nullptr;
  try {
    pointer = resource_->allocate(bytes, stream_);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(name_of(space_), "an array", bytes, available_bytes());
  }
  const auto wrong = [&](const std::string& what) {
    return InputError("the memory resource of the " + std::string(name_of(space_)) + " returned " + what + " for " +
                      std::to_string(bytes) + " bytes; expected memory aligned to " +
                      std::to_string(memory_alignment(space_)) + " bytes, or std::bad_alloc");
  };
  if (pointer == nullptr) throw wrong("null");
  if (reinterpret_cast<std::uintptr_t>(pointer) % memory_alignment(space_) != 0) {
    resource_->release(pointer, bytes, stream_);
    throw wrong("misaligned memory");
  }
  ledger_.add(bytes);
  return pointer;
}

void ContextMemory::release(void* pointer, std::size_t bytes) noexcept {
  if (pointer == nullptr) return;
  resource_->release(pointer, bytes, stream_);
  ledger_.remove(bytes);
}

namespace detail {

OwnedMemory::OwnedMemory(std::shared_ptr<ContextMemory> memory, std::int64_t size, std::size_t value_bytes)
    : memory_(std::move(memory)), size_(size) {
  if (size < 0) throw InputError("an array cannot have a negative size");
  // A product that wraps around would look like a small request.
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  bytes_ = static_cast<std::size_t>(size) > most / value_bytes ? most : static_cast<std::size_t>(size) * value_bytes;
  data_ = memory_->allocate(bytes_);
}

}  // namespace detail
}  // namespace newel
