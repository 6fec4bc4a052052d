// SPDX-License-Identifier: Apache-2.0
// Nodes in the order in which a Hilbert curve meets them: near on the curve is near in space.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include "reorder/grouping.hpp"
#include "reorder/parallel_sort.hpp"
#include "reorder/partitioners.hpp"

namespace newel::detail {
namespace {

// Three coordinates share 64 bits.
constexpr int bits = 21;

// J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707, 2004: in place from coordinates to the digits of
// the position on the curve, one bit of each word a digit.
template <int dimension>
void to_curve(std::uint32_t* x) {
  // Bits are as good as random: masks, no branches.
  for (int bit = bits - 1; bit > 0; --bit) {
    const std::uint32_t below = (std::uint32_t{1} << bit) - 1;
    for (int d = 0; d < dimension; ++d) {
      const std::uint32_t set = 0 - ((x[d] >> bit) & 1);
      const std::uint32_t swapped = ~set & (x[0] ^ x[d]) & below;
      x[0] ^= (set & below) | swapped;
      x[d] ^= swapped;
    }
  }
  for (int d = 1; d < dimension; ++d) x[d] ^= x[d - 1];
  std::uint32_t flip = 0;
  for (int bit = bits - 1; bit > 0; --bit) {
    flip ^= (0 - ((x[dimension - 1] >> bit) & 1)) & ((std::uint32_t{1} << bit) - 1);
  }
  for (int d = 0; d < dimension; ++d) x[d] ^= flip;
}

// The 21 bits of x, each followed by the others' places: by halves, then halves of these, ...
std::uint64_t spread_by_2(std::uint64_t x) {
  x = (x | x << 16) & 0x0000ffff0000ffffu;
  x = (x | x << 8) & 0x00ff00ff00ff00ffu;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fu;
  x = (x | x << 2) & 0x3333333333333333u;
  return (x | x << 1) & 0x5555555555555555u;
}
std::uint64_t spread_by_3(std::uint64_t x) {
  x = (x | x << 32) & 0x001f00000000ffffu;
  x = (x | x << 16) & 0x001f0000ff0000ffu;
  x = (x | x << 8) & 0x100f00f00f00f00fu;
  x = (x | x << 4) & 0x10c30c30c30c30c3u;
  return (x | x << 2) & 0x1249249249249249u;
}

std::uint64_t place_on_curve(std::uint32_t* x, int dimension) {
  if (dimension == 1) {
    to_curve<1>(x);
    return x[0];
  }
  if (dimension == 2) {
    to_curve<2>(x);
    return spread_by_2(x[0]) << 1 | spread_by_2(x[1]);
  }
  to_curve<3>(x);
  return spread_by_3(x[0]) << 2 | spread_by_3(x[1]) << 1 | spread_by_3(x[2]);
}

// The smallest cube that holds all points. Halves, so that no difference overflows.
struct Cube {
  double low[3] = {0, 0, 0};
  double side = 0;

  Cube(const Context<Space::host>& ctx, const std::vector<double>& xyz, int dimension) {
    const auto points = static_cast<std::int64_t>(xyz.size()) / dimension;
    for (int d = 0; d < dimension; ++d) {
      struct Range {
        double least, most;
        std::int64_t bad;  // the first point that is not finite
      };
      const Range range = parallel_reduce(
          ctx, points, Range{xyz[d], xyz[d], points},
          [&](std::int64_t i, Range& r) {
            const double c = xyz[i * dimension + d];
            if (!std::isfinite(c)) r.bad = std::min(r.bad, i);
            r.least = std::min(r.least, c);
            r.most = std::max(r.most, c);
          },
          [](Range& all, const Range& r) {
            all = {std::min(all.least, r.least), std::max(all.most, r.most), std::min(all.bad, r.bad)};
          });
      if (range.bad < points)
        throw InputError("the coordinates of node " + std::to_string(range.bad) + " are not finite");
      low[d] = range.least / 2;
      side = std::max(side, range.most / 2 - low[d]);
    }
  }
  std::uint32_t cell(double c, int d) const {
    constexpr double cells = (std::uint32_t{1} << bits) - 1;
    return side > 0 ? static_cast<std::uint32_t>((c / 2 - low[d]) / side * cells) : 0;
  }
};

Array<std::uint64_t, Space::host> places_on_curve(const Context<Space::host>& ctx, const NodeCoordinates& coordinates,
                                                  Index points) {
  const int dimension = coordinates.dimension;
  const Cube cube(ctx, coordinates.xyz, dimension);
  Array<std::uint64_t, Space::host> place(ctx, points);
  parallel_for(ctx, points, [&](Index i) {
    std::uint32_t x[3] = {0, 0, 0};
    for (int d = 0; d < dimension; ++d) x[d] = cube.cell(coordinates.xyz[Offset{i} * dimension + d], d);
    place[i] = place_on_curve(x, dimension);
  });
  return place;
}

// The nodes in an order in which equal ranges are those of the curve: stretches of it that lie in one part, and these
// are nearly all, stay as they come.
std::vector<Index> order_by_ranges(const Context<Space::host>& ctx, const Array<std::uint64_t, Space::host>& place,
                                   int dimension, Index parts) {
  constexpr int stretch_bits = 16;
  constexpr Index worth_all_threads = 1 << 16;
  const auto points = static_cast<Index>(place.size());
  Array<Index, Space::host> stretch(ctx, points);
  parallel_for(ctx, points,
               [&](Index i) { stretch[i] = static_cast<Index>(place[i] >> (bits * dimension - stretch_bits)); });
  constexpr Index stretches = Index{1} << stretch_bits;
  Grouping nodes = group(ctx, stretch.cspan(), stretches);
  const auto before = [&](Index a, Index b) { return place[a] != place[b] ? place[a] < place[b] : a < b; };
  const auto is_cut = [&](Index s) {
    return nodes.begin[s] < nodes.begin[s + 1] &&
           part_of_position(nodes.begin[s], points, parts) != part_of_position(nodes.begin[s + 1] - 1, points, parts);
  };
  const auto length = [&](Index s) { return nodes.begin[s + 1] - nodes.begin[s]; };
  parallel_blocks(ctx, stretches, 64, [&](Index s) {
    if (!is_cut(s) || length(s) >= worth_all_threads) return;
    std::sort(nodes.items.data() + nodes.begin[s], nodes.items.data() + nodes.begin[s + 1], before);
  });
  for (Index s = 0; s < stretches; ++s) {
    if (!is_cut(s) || length(s) < worth_all_threads) continue;
    Index* first = nodes.items.data() + nodes.begin[s];
    Array<Index, Space::host> sorted = make_array(ctx, Span<const Index, Space::host>(first, length(s)));
    parallel_sort(ctx, sorted, before);
    copy<Index>(ctx, sorted.cspan(), Span<Index, Space::host>(first, length(s)));
  }
  return std::move(nodes.items);
}

}  // namespace

void require_finite(const NodeCoordinates& coordinates) {
  const auto is_bad = [](double c) { return !std::isfinite(c); };
  const auto bad = std::find_if(coordinates.xyz.begin(), coordinates.xyz.end(), is_bad);
  if (bad == coordinates.xyz.end()) return;
  const auto node = (bad - coordinates.xyz.begin()) / coordinates.dimension;
  throw InputError("the coordinates of node " + std::to_string(node) + " are not finite");
}

Index rows_of_point(const NodeCoordinates* coordinates, Index rows) {
  if (coordinates == nullptr) throw InputError("partitioning by coordinates needs the coordinates of the nodes");
  const int dimension = coordinates->dimension;
  const auto numbers = static_cast<Offset>(coordinates->xyz.size());
  if (dimension < 1 || dimension > 3) {
    throw InputError("coordinates must have 1, 2 or 3 dimensions, not " + std::to_string(dimension));
  }
  const Offset points = numbers / dimension;
  if (numbers % dimension != 0 || points == 0 || rows % points != 0) {
    throw InputError(std::to_string(numbers) + " coordinates in " + std::to_string(dimension) +
                     " dimensions cannot be divided among " + std::to_string(rows) + " rows");
  }
  return static_cast<Index>(rows / points);
}

std::vector<Index> partition_by_curve(const Context<Space::host>& ctx, const NodeCoordinates& coordinates, Index rows,
                                      Index parts) {
  const auto points = static_cast<Index>(coordinates.xyz.size() / static_cast<std::size_t>(coordinates.dimension));
  const Index node_rows = rows / points;
  const std::vector<Index> node =
      order_by_ranges(ctx, places_on_curve(ctx, coordinates, points), coordinates.dimension, parts);
  std::vector<Index> part_of_row(static_cast<std::size_t>(rows));
  parallel_for(ctx, points, [&](Index i) {
    std::fill_n(part_of_row.begin() + Offset{node[i]} * node_rows, node_rows, part_of_position(i, points, parts));
  });
  return part_of_row;
}

}  // namespace newel::detail
