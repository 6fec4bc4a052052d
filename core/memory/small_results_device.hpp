// SPDX-License-Identifier: Apache-2.0
/// Small results of several kernels that come to the host together. Internal; needs the CUDA headers.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "core/memory/context_device.hpp"

namespace newel::detail {

/// Memory for results of kernels, all bytes 0 before. The host waits once for all of them, where a copy of each would
/// make it wait as often as there are kernels.
class SmallResults {
 public:
  explicit SmallResults(const Context<Space::device>& ctx) : ctx_(ctx), found_(ctx, capacity / word) {
    NEWEL_CHECK_CUDA(cudaMemsetAsync(found_.data(), 0, found_.bytes(), ctx.state().stream()));
  }

  /// Room for `count` values on the device.
  template <class T>
  T* take(std::int64_t count) {
    static_assert(alignof(T) <= word);
    const std::int64_t words = (count * static_cast<std::int64_t>(sizeof(T)) + word - 1) / word;
    if (used_ + words > found_.size()) throw std::logic_error("too many small results");
    T* const at = reinterpret_cast<T*>(found_.data() + used_);
    used_ += words;
    return at;
  }

  /// Waits for the kernels queued so far. `at` below reads what they have left.
  void fetch() {
    if (used_ > 0) host_ = to_vector(ctx_, found_.cspan().subspan(0, used_));
  }

  /// What `take` gave room for, once it has been fetched.
  template <class T>
  std::vector<T> at(const T* taken, std::int64_t count) const {
    const auto* const first = reinterpret_cast<const std::uint64_t*>(taken);
    std::vector<T> found(static_cast<std::size_t>(count));
    std::memcpy(found.data(), host_.data() + (first - found_.data()), found.size() * sizeof(T));
    return found;
  }

 private:
  static constexpr std::int64_t word = sizeof(std::uint64_t), capacity = std::int64_t{1} << 15;

  Context<Space::device> ctx_;
  Array<std::uint64_t, Space::device> found_;
  std::vector<std::uint64_t> host_;
  std::int64_t used_ = 0;
};

}  // namespace newel::detail
