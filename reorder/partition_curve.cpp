// SPDX-License-Identifier: Apache-2.0
// Nodes in the order in which a Hilbert curve meets them: near on the curve is near in space.
#include <algorithm>
#include <cmath>
#include <string>

#include <purlin/core/error.hpp>
#include <purlin/reorder/parallel_sort.hpp>
#include <purlin/reorder/partitioners.hpp>

namespace purlin::detail {
namespace {

struct NodeOnCurve {
  std::uint64_t place;
  Index node;
};

// Three coordinates share 64 bits.
constexpr int bits = 21;

// J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707, 2004: in place from coordinates to the digits of
// the position on the curve, one bit of each word a digit.
void to_curve(std::uint32_t* x, int dimension) {
  constexpr std::uint32_t top = std::uint32_t{1} << (bits - 1);
  for (std::uint32_t bit = top; bit > 1; bit >>= 1) {
    const std::uint32_t below = bit - 1;
    for (int d = 0; d < dimension; ++d) {
      const std::uint32_t swapped = (x[d] & bit) != 0 ? 0 : (x[0] ^ x[d]) & below;
      x[0] ^= (x[d] & bit) != 0 ? below : swapped;
      x[d] ^= swapped;
    }
  }
  for (int d = 1; d < dimension; ++d) x[d] ^= x[d - 1];
  std::uint32_t flip = 0;
  for (std::uint32_t bit = top; bit > 1; bit >>= 1) {
    if ((x[dimension - 1] & bit) != 0) flip ^= bit - 1;
  }
  for (int d = 0; d < dimension; ++d) x[d] ^= flip;
}

std::uint64_t place_on_curve(std::uint32_t* x, int dimension) {
  to_curve(x, dimension);
  std::uint64_t place = 0;
  for (int bit = bits - 1; bit >= 0; --bit) {
    for (int d = 0; d < dimension; ++d) place = place << 1 | ((x[d] >> bit) & 1);
  }
  return place;
}

// The smallest cube that holds all points. Halves, so that no difference overflows.
struct Cube {
  double low[3] = {0, 0, 0};
  double side = 0;

  Cube(const std::vector<double>& xyz, int dimension) {
    const auto points = static_cast<std::int64_t>(xyz.size()) / dimension;
    for (int d = 0; d < dimension; ++d) {
      double least = xyz[d], most = xyz[d];
      for (std::int64_t i = 0; i < points; ++i) {
        const double c = xyz[i * dimension + d];
        if (!std::isfinite(c)) throw InputError("the coordinates of node " + std::to_string(i) + " are not finite");
        least = std::min(least, c);
        most = std::max(most, c);
      }
      low[d] = least / 2;
      side = std::max(side, most / 2 - low[d]);
    }
  }
  std::uint32_t cell(double c, int d) const {
    constexpr double cells = (std::uint32_t{1} << bits) - 1;
    return side > 0 ? static_cast<std::uint32_t>((c / 2 - low[d]) / side * cells) : 0;
  }
};

}  // namespace

std::vector<Index> partition_by_curve(const Context<Space::host>& ctx, const NodeCoordinates& coordinates, Index rows,
                                      Index parts) {
  const int dimension = coordinates.dimension;
  const auto points = static_cast<Index>(coordinates.xyz.size() / static_cast<std::size_t>(dimension));
  const Index node_rows = rows / points;
  const Cube cube(coordinates.xyz, dimension);
  Array<NodeOnCurve, Space::host> nodes(ctx, points);
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
  for (Index i = 0; i < points; ++i) {
    std::uint32_t x[3];
    for (int d = 0; d < dimension; ++d) x[d] = cube.cell(coordinates.xyz[Offset{i} * dimension + d], d);
    nodes[i] = {place_on_curve(x, dimension), i};
  }
  parallel_sort(ctx, nodes, [](const NodeOnCurve& a, const NodeOnCurve& b) {
    return a.place != b.place ? a.place < b.place : a.node < b.node;
  });
  std::vector<Index> part_of_row(static_cast<std::size_t>(rows));
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
  for (Index i = 0; i < points; ++i) {
    const Index part = part_of_position(i, points, parts);
    std::fill_n(part_of_row.begin() + Offset{nodes[i].node} * node_rows, node_rows, part);
  }
  return part_of_row;
}

}  // namespace purlin::detail
