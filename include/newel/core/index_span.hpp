// SPDX-License-Identifier: Apache-2.0
/// IndexSpan: a caller's array of row, column or entry indices of any integer type.
#pragma once

#include <newel/core/array.hpp>

namespace newel {

/// The integer type of an IndexSpan.
enum class IndexKind { int32, uint32, int64, uint64 };

/// Whether I is an integer of 32 or 64 bits, such as `int`, `unsigned`, `long`, `long long` or `std::size_t`.
template <class I>
constexpr bool is_index_v = std::is_integral_v<I> && (sizeof(I) == 4 || sizeof(I) == 8);

/// The IndexKind of I; does not compile for other types.
template <class I>
constexpr IndexKind index_kind_of() {
  static_assert(is_index_v<I>, "row, column and entry numbers are integers of 32 or 64 bits");
  if constexpr (sizeof(I) == 4) return std::is_signed_v<I> ? IndexKind::int32 : IndexKind::uint32;
  return std::is_signed_v<I> ? IndexKind::int64 : IndexKind::uint64;
}

/// A non-owning view of `size` consecutive integers in space `S`. Passed by value; made from a span, an array, a
/// vector (host only) or a pointer.
template <Space S>
struct IndexSpan {
  const void* data = nullptr;         ///< `size` integers of type `kind`
  std::int64_t size = 0;              ///< number of integers, not bytes
  IndexKind kind = IndexKind::int32;  ///< type of the integers

  constexpr IndexSpan() = default;
  /// From memory that the caller keeps.
  template <class I, class = std::enable_if_t<is_index_v<I>>>
  constexpr IndexSpan(const I* data_, std::int64_t size_) : data(data_), size(size_), kind(index_kind_of<I>()) {}
  template <class I, class = std::enable_if_t<is_index_v<std::remove_const_t<I>>>>
  constexpr IndexSpan(Span<I, S> from) : IndexSpan(static_cast<const I*>(from.data), from.size) {}
  template <class I, class = std::enable_if_t<is_index_v<I>>>
  IndexSpan(const Array<I, S>& from) : IndexSpan(from.data(), from.size()) {}
  template <class I, Space Here = S, class = std::enable_if_t<Here == Space::host && is_index_v<I>>>
  IndexSpan(const std::vector<I>& from) : IndexSpan(from.data(), static_cast<std::int64_t>(from.size())) {}
};

}  // namespace newel
