// SPDX-License-Identifier: Apache-2.0
// Constants and rigid body modes.
#include <purlin/precond/amg/near_null.hpp>

#include <algorithm>
#include <array>

namespace purlin::detail {
namespace {

// Coordinates around 0, of a size around 1.
struct Frame {
  std::array<double, 3> middle{};
  double scale = 1;

  explicit Frame(const NodeCoordinates& c) {
    std::array<double, 3> low{}, high{};
    for (std::size_t i = 0; i < c.xyz.size(); ++i) {
      const auto d = i % static_cast<std::size_t>(c.dimension);
      const bool first = i < static_cast<std::size_t>(c.dimension);
      low[d] = first ? c.xyz[i] : std::min(low[d], c.xyz[i]);
      high[d] = first ? c.xyz[i] : std::max(high[d], c.xyz[i]);
    }
    double extent = 0;
    for (int d = 0; d < 3; ++d) {
      middle[d] = 0.5 * (low[d] + high[d]);
      extent = std::max(extent, high[d] - low[d]);
    }
    if (extent > 0) scale = 2 / extent;
  }
  double at(const NodeCoordinates& c, std::size_t point, int d) const {
    return (c.xyz[point * static_cast<std::size_t>(c.dimension) + static_cast<std::size_t>(d)] - middle[d]) * scale;
  }
};

}  // namespace

NearNull constant_components(Index rows, int block) {
  NearNull result;
  result.vectors = block;
  result.values.assign(static_cast<std::size_t>(rows) * static_cast<std::size_t>(block), 0.0);
  for (Index i = 0; i < rows; ++i) result.values[static_cast<std::size_t>(Offset{i} * block + i % block)] = 1;
  return result;
}

NearNull rigid_body_modes(const NodeCoordinates& c) {
  const Frame frame(c);
  const auto points = c.xyz.size() / static_cast<std::size_t>(c.dimension);
  NearNull result;
  result.vectors = c.dimension == 3 ? 6 : 3;
  result.values.reserve(c.xyz.size() * static_cast<std::size_t>(result.vectors));
  for (std::size_t i = 0; i < points; ++i) {
    const double x = frame.at(c, i, 0), y = frame.at(c, i, 1);
    if (c.dimension == 2) {
      result.values.insert(result.values.end(), {1, 0, -y, 0, 1, x});
    } else {
      const double z = frame.at(c, i, 2);
      result.values.insert(result.values.end(), {1, 0, 0, 0, z, -y, 0, 1, 0, -z, 0, x, 0, 0, 1, y, -x, 0});
    }
  }
  return result;
}

}  // namespace purlin::detail
