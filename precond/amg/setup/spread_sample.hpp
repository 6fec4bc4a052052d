// SPDX-License-Identifier: Apache-2.0
/// SpreadSample: some of many rows or nodes, spread evenly over all. Internal.
#pragma once

#include <algorithm>
#include <cmath>

#include <newel/core/types.hpp>

namespace newel::detail {

/// At most `most` of `all`, each a golden section of all after the last one, so that no regular numbering makes the
/// sample a line of a grid, say. All, in order, if they are few.
class SpreadSample {
 public:
  SpreadSample(Index all, Index most) : all_(all), count_(std::min(all, most)) {}

  Index count() const { return count_; }
  Index operator[](Index i) const {
    if (count_ == all_) return i;
    constexpr double golden_section = 0.6180339887498949;
    const double at = i * golden_section;
    return std::min(static_cast<Index>((at - std::floor(at)) * all_), all_ - 1);
  }

 private:
  Index all_, count_;
};

}  // namespace newel::detail
