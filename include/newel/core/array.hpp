// SPDX-License-Identifier: Apache-2.0
/// Array: owning, move-only, uninitialised memory of one space; and copies between spaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <newel/core/context.hpp>
#include <newel/core/span.hpp>

namespace newel {
namespace detail {

/// Memory of a context's resource, to which it returns. Movable, not copyable.
class OwnedMemory {
 public:
  OwnedMemory() = default;
  /// For `size` values of `value_bytes` bytes; errors as those of Array.
  OwnedMemory(std::shared_ptr<ContextMemory> memory, std::int64_t size, std::size_t value_bytes);
  OwnedMemory(OwnedMemory&& other) noexcept { swap(other); }
  OwnedMemory& operator=(OwnedMemory&& other) noexcept {
    OwnedMemory taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~OwnedMemory() {
    if (data_ != nullptr) memory_->release(data_, bytes_);
  }

  void* data() const { return data_; }
  std::int64_t size() const { return size_; }  ///< values
  std::size_t bytes() const { return bytes_; }

  void swap(OwnedMemory& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(bytes_, other.bytes_);
  }

 private:
  std::shared_ptr<ContextMemory> memory_;
  void* data_ = nullptr;
  std::int64_t size_ = 0;
  std::size_t bytes_ = 0;
};

[[noreturn]] void throw_copy_size_mismatch(std::int64_t from, std::int64_t to);
void upload_bytes(const Context<Space::device>&, const void* from, void* to, std::size_t bytes);
void download_bytes(const Context<Space::device>&, const void* from, void* to, std::size_t bytes);
void copy_device_bytes(const Context<Space::device>&, const void* from, void* to, std::size_t bytes);

}  // namespace detail

/// The elements of an array `A` of values T, one by one: host only, as those of its spans. Not checked.
template <class A, class T>
class ArrayElements {
 public:
  /// Element `i`.
  T& operator[](std::int64_t i) { return array().span()[i]; }
  const T& operator[](std::int64_t i) const { return array().span()[i]; }
  /// All of them, in order.
  T* begin() { return array().span().begin(); }
  T* end() { return array().span().end(); }
  const T* begin() const { return array().span().begin(); }
  const T* end() const { return array().span().end(); }

 private:
  A& array() { return static_cast<A&>(*this); }
  const A& array() const { return static_cast<const A&>(*this); }
};

/// `size` values of a trivially copyable type in space `S`, uninitialised. Movable, not copyable. Memory comes from
/// the context's resource (newel/core/memory.hpp) and is returned to it, on the device in stream order. So an array
/// may be destroyed while kernels that use it are still queued on the same stream.
template <class T, Space S>
class Array : public ArrayElements<Array<T, S>, T> {
 public:
  Array() = default;

  /// Throws OutOfMemory with the requested and, if known, the available bytes; InputError for a negative size.
  Array(const Context<S>& ctx, std::int64_t size) : memory_(ctx.memory(), size, sizeof(T)) {
    static_assert(std::is_trivially_copyable_v<T>, "arrays hold plain values");
  }

  /// The first value; null if the array is empty.
  T* data() { return static_cast<T*>(memory_.data()); }
  const T* data() const { return static_cast<const T*>(memory_.data()); }
  /// Number of values, and their bytes.
  std::int64_t size() const { return memory_.size(); }
  std::size_t bytes() const { return memory_.bytes(); }
  bool empty() const { return size() == 0; }

  /// A view of all values; it must not outlive this array.
  Span<T, S> span() { return {data(), size()}; }
  Span<const T, S> span() const { return {data(), size()}; }
  Span<const T, S> cspan() const { return {data(), size()}; }
  operator Span<T, S>() { return span(); }
  operator Span<const T, S>() const { return span(); }

  /// Exchanges the memory of two arrays; no value is moved.
  void swap(Array& other) noexcept { memory_.swap(other.memory_); }

 private:
  detail::OwnedMemory memory_;
};

/// Copies `from` to `to`, of the same length, within or between spaces. A copy that involves the device is queued on
/// the context's stream. If one end is on the host, the call waits for completion, so that the host memory may be
/// used at once. Throws InputError if the lengths differ.
template <class T, Space From, Space To, Space C>
void copy(const Context<C>& ctx, Span<const T, From> from, Span<T, To> to) {
  if (from.size != to.size) detail::throw_copy_size_mismatch(from.size, to.size);
  if (from.size == 0) return;
  const auto bytes = static_cast<std::size_t>(from.size) * sizeof(T);
  if constexpr (From == Space::host && To == Space::host) {
    std::memmove(to.data, from.data, bytes);
  } else {
    static_assert(C == Space::device, "a copy that involves the device needs its context");
    if constexpr (To == Space::device && From == Space::device) {
      detail::copy_device_bytes(ctx, from.data, to.data, bytes);
    } else if constexpr (To == Space::device) {
      detail::upload_bytes(ctx, from.data, to.data, bytes);
    } else {
      detail::download_bytes(ctx, from.data, to.data, bytes);
    }
  }
}

/// A new array in the context's space with the values of `from`, which may be in either space.
template <class T, Space From, Space S>
Array<std::remove_const_t<T>, S> make_array(const Context<S>& ctx, Span<T, From> from) {
  using Value = std::remove_const_t<T>;
  Array<Value, S> result(ctx, from.size);
  copy<Value>(ctx, Span<const Value, From>(from.data, from.size), result.span());
  return result;
}

/// A new array in the context's space with the values of a vector.
template <class T, Space S>
Array<T, S> make_array(const Context<S>& ctx, const std::vector<T>& from) {
  return make_array(ctx, Span<const T, Space::host>(from.data(), static_cast<std::int64_t>(from.size())));
}

/// The values of `from`, in either space, as a vector. Waits for the stream if `from` is on the device.
template <class T, Space From, Space C>
std::vector<std::remove_const_t<T>> to_vector(const Context<C>& ctx, Span<T, From> from) {
  using Value = std::remove_const_t<T>;
  std::vector<Value> result(static_cast<std::size_t>(from.size));
  copy<Value>(ctx, Span<const Value, From>(from.data, from.size), Span<Value, Space::host>(result.data(), from.size));
  return result;
}

}  // namespace newel
