// SPDX-License-Identifier: Apache-2.0
/// PerThread: what each thread of a parallel loop has for itself. Internal.
#pragma once

#include <optional>
#include <vector>

#include <newel/core/context.hpp>

namespace newel::detail {

/// A T for each thread of a context. No two of them share a cache line, nor one of those that are fetched together:
/// threads that write to the same line wait for each other.
template <class T>
class PerThread {
 public:
  explicit PerThread(const Context<Space::host>& ctx) : slots_(static_cast<std::size_t>(ctx.threads())) {}

  /// That of the thread with this number in a loop, made of `arguments` by the thread's first call: in its own part
  /// of the heap.
  template <class... Arguments>
  T& of(int member, const Arguments&... arguments) {
    std::optional<T>& own = slots_[static_cast<std::size_t>(member)].own;
    if (!own) own.emplace(arguments...);
    return *own;
  }

 private:
  static constexpr std::size_t two_lines = 128;
  struct alignas(two_lines) Slot {
    std::optional<T> own;
  };
  std::vector<Slot> slots_;
};

}  // namespace newel::detail
