// SPDX-License-Identifier: Apache-2.0
/// Tags, the numbers by which a Gmsh file calls its nodes and elements, and vectors that are given by tag.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "apps/fem/mesh.hpp"

namespace newel::fem::detail {

/// From the numbers that a file calls things by to their places.
class Tags {
 public:
  explicit Tags(const std::vector<std::int64_t>& tags) : tags_(tags) {
    for (std::size_t i = 0; i < tags.size() && counted_; ++i) counted_ = tags[i] == static_cast<std::int64_t>(i) + 1;
    if (counted_) return;
    by_tag_.resize(tags.size());
    std::iota(by_tag_.begin(), by_tag_.end(), 0);
    std::sort(by_tag_.begin(), by_tag_.end(), [&](Index a, Index b) { return tags[a] < tags[b]; });
  }
  /// -1 where there is none.
  Index find(std::int64_t tag) const {
    if (counted_)
      return tag >= 1 && tag <= static_cast<std::int64_t>(tags_.size()) ? static_cast<Index>(tag - 1) : -1;
    const auto at = std::lower_bound(by_tag_.begin(), by_tag_.end(), tag,
                                     [&](Index place, std::int64_t wanted) { return tags_[place] < wanted; });
    return at != by_tag_.end() && tags_[*at] == tag ? *at : -1;
  }
  /// A tag that occurs twice, or 0 where none does.
  std::int64_t repeated() const {
    for (std::size_t k = 1; k < by_tag_.size(); ++k) {
      if (tags_[by_tag_[k]] == tags_[by_tag_[k - 1]]) return tags_[by_tag_[k]];
    }
    return 0;
  }

 private:
  const std::vector<std::int64_t>& tags_;
  std::vector<Index> by_tag_;
  bool counted_ = true;
};

/// Vectors by tag, put into their places when everything is read.
struct Vectors {
  bool found = false;
  std::string name;
  std::vector<std::int64_t> tags;
  std::vector<Point> values;

  std::vector<Point> placed(const std::vector<std::int64_t>& wanted) const {
    if (!found) return {};
    const Tags places(wanted);
    std::vector<Point> result(wanted.size(), Point{});
    for (std::size_t k = 0; k < tags.size(); ++k) {
      const Index place = places.find(tags[k]);
      if (place >= 0) result[place] = values[k];  // others belong to elements that were skipped
    }
    return result;
  }
};

}  // namespace newel::fem::detail
