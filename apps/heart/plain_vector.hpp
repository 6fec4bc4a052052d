// SPDX-License-Identifier: Apache-2.0
/// PlainVector: a vector whose `resize` leaves new values undefined, for tables of hundreds of megabytes that threads
/// fill side by side. A std::vector writes zeros first, in one thread, which takes as long again.
#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace newel::heart {

/// std::allocator, but for values that are made from nothing: those stay undefined.
template <class T>
struct PlainAllocator : std::allocator<T> {
  static_assert(std::is_trivially_copyable_v<T>);
  template <class U>
  struct rebind {
    using other = PlainAllocator<U>;
  };

  PlainAllocator() = default;
  template <class U>
  PlainAllocator(const PlainAllocator<U>&) {}

  template <class U, class... From>
  void construct(U* at, From&&... from) {
    if constexpr (sizeof...(From) == 0) {
      ::new (static_cast<void*>(at)) U;
    } else {
      ::new (static_cast<void*>(at)) U(std::forward<From>(from)...);
    }
  }
};

template <class T>
using PlainVector = std::vector<T, PlainAllocator<T>>;

}  // namespace newel::heart
