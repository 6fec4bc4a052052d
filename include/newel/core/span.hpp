// SPDX-License-Identifier: Apache-2.0
/// Span: a pointer and a length; its type says which space the memory is in.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include <newel/core/types.hpp>

namespace newel {

/// A non-owning view of `size` consecutive values in space `S`. Passed by value. Host code cannot read elements of a
/// device span: `operator[]`, iteration and conversion from a vector exist for the host only.
template <class T, Space S>
struct Span {
  T* data = nullptr;      ///< the first value; null if there are none
  std::int64_t size = 0;  ///< values, not bytes; at least 0

  constexpr Span() = default;
  /// From memory that the caller keeps. Nothing is checked.
  constexpr Span(T* data_, std::int64_t size_) : data(data_), size(size_) {}

  /// A mutable span converts to a read-only one.
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  constexpr Span(const Span<U, S>& other) : data(other.data), size(other.size) {}

  /// Host vectors convert: a mutable one to either span, a constant one to a read-only span.
  template <class U, Space Here = S,
            class = std::enable_if_t<Here == Space::host && (std::is_same_v<U, T> || std::is_same_v<const U, T>)>>
  Span(std::vector<U>& v) : data(v.data()), size(static_cast<std::int64_t>(v.size())) {}
  template <class U, Space Here = S, class = std::enable_if_t<Here == Space::host && std::is_same_v<const U, T>>>
  Span(const std::vector<U>& v) : data(v.data()), size(static_cast<std::int64_t>(v.size())) {}

  /// Whether there are no values.
  constexpr bool empty() const { return size == 0; }

  /// `count` values starting at `first`. Not checked.
  constexpr Span subspan(std::int64_t first, std::int64_t count) const { return {data + first, count}; }

  /// Element `i`, host only. Not checked.
  constexpr T& operator[](std::int64_t i) const {
    static_assert(S == Space::host, "device memory cannot be read by host code: copy it first");
    return data[i];
  }
  constexpr T* begin() const {
    static_assert(S == Space::host, "device memory cannot be read by host code: copy it first");
    return data;
  }
  constexpr T* end() const { return begin() + size; }
};

}  // namespace newel
