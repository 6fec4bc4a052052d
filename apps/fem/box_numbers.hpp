// SPDX-License-Identifier: Apache-2.0
/// How the nodes and cells of a box are numbered, block by block along a Morton curve, and where its nodes lie.
/// Included by what makes meshes of boxes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <newel/core/error.hpp>

#include "apps/fem/mesh.hpp"

namespace newel::fem::detail {

using Triple = std::array<Index, 3>;
inline constexpr Index block_side = 8;
inline constexpr std::size_t most_members = block_side * block_side * block_side;

/// A box of grid points or cells; `first` is the number that its first member gets.
struct Block {
  Triple begin;
  Triple end;
  std::uint64_t key;
  std::int64_t first;

  std::int64_t size() const { return std::int64_t{end[0] - begin[0]} * (end[1] - begin[1]) * (end[2] - begin[2]); }
};

/// Every third bit of the result is a bit of x.
inline std::uint64_t spread_bits(std::uint64_t x) {
  std::uint64_t spread = 0;
  for (int bit = 0; bit < 21; ++bit) spread |= ((x >> bit) & 1) << (3 * bit);
  return spread;
}

/// Of a box of so many points or cells, in the order of the curve.
inline std::vector<Block> blocks_along_curve(const Triple& extent) {
  std::vector<Block> blocks;
  for (Index z = 0; z < extent[2]; z += block_side) {
    for (Index y = 0; y < extent[1]; y += block_side) {
      for (Index x = 0; x < extent[0]; x += block_side) {
        Block block{{x, y, z}, {}, 0, 0};
        for (int axis = 0; axis < 3; ++axis) {
          block.end[axis] = std::min(block.begin[axis] + block_side, extent[axis]);
          block.key |= spread_bits(static_cast<std::uint64_t>(block.begin[axis] / block_side)) << axis;
        }
        blocks.push_back(block);
      }
    }
  }
  std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.key < b.key; });
  std::int64_t first = 0;
  for (Block& block : blocks) {
    block.first = first;
    first += block.size();
  }
  return blocks;
}

/// f(x, y, z) for each member, x fastest.
template <class F>
void for_each_in(const Block& block, F&& f) {
  for (Index z = block.begin[2]; z < block.end[2]; ++z) {
    for (Index y = block.begin[1]; y < block.end[1]; ++y) {
      for (Index x = block.begin[0]; x < block.end[0]; ++x) f(Triple{x, y, z});
    }
  }
}

/// The output function of the SplitMix64 generator: a well-mixed number for every input.
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// In [-1, 1).
inline double symmetric_uniform(std::uint64_t x) { return static_cast<double>(mix(x) >> 11) * 0x1p-52 - 1; }

struct Box {
  Triple extent;
  Point length;

  std::int64_t lexicographic(const Triple& at) const {
    return at[0] + std::int64_t{extent[0]} * (at[1] + std::int64_t{extent[1]} * at[2]);
  }
  std::int64_t node_count() const { return std::int64_t{extent[0]} * extent[1] * extent[2]; }
  std::int64_t cell_count() const { return std::int64_t{extent[0] - 1} * (extent[1] - 1) * (extent[2] - 1); }
};

/// Throws InputError for a box that has no such mesh, whatever its size.
inline void check_box(const Box& box, const BoxOptions& options) {
  // Bounding each side keeps counts within 64 bits.
  constexpr Index longest = 1 << 20;
  for (int axis = 0; axis < 3; ++axis) {
    if (box.extent[axis] < 2 || box.extent[axis] > longest) {
      throw InputError("a box mesh must have 2 to " + std::to_string(longest) + " nodes along an axis, not " +
                       std::to_string(box.extent[axis]));
    }
    if (!(box.length[axis] > 0)) {
      throw InputError("a box mesh must have positive lengths, not " + std::to_string(box.length[axis]));
    }
  }
  if (!(options.jitter >= 0 && options.jitter < 1.0 / 6)) {
    throw InputError("the jitter of a box mesh must be in [0, 1/6), not " + std::to_string(options.jitter));
  }
}

/// The members of block `b` in the order of their numbers, each as `for_each_in` counts it: shuffled (Fisher and
/// Yates). Returns how many there are.
inline std::size_t shuffled_members(const Block& block, std::size_t b, std::uint64_t seed,
                                    std::array<Index, most_members>& members) {
  const auto count = static_cast<std::size_t>(block.size());
  for (std::size_t k = 0; k < count; ++k) members[k] = static_cast<Index>(k);
  std::uint64_t state = mix(seed ^ mix(b));
  for (std::size_t k = count; k > 1; --k) {
    state = mix(state);
    std::swap(members[k - 1], members[state % k]);
  }
  return count;
}

/// Of the node at a grid point.
inline Point position(const Box& box, const Triple& at, const BoxOptions& options) {
  bool interior = true;
  for (int axis = 0; axis < 3; ++axis) interior &= at[axis] > 0 && at[axis] + 1 < box.extent[axis];
  const auto number = static_cast<std::uint64_t>(box.lexicographic(at));
  Point point;
  for (int axis = 0; axis < 3; ++axis) {
    const Index intervals = box.extent[axis] - 1;
    const double shift = interior ? options.jitter * symmetric_uniform(mix(options.seed) ^ (3 * number + axis)) : 0.0;
    // The last node lies on the face exactly.
    point[axis] = at[axis] == intervals ? box.length[axis] : (at[axis] + shift) / intervals * box.length[axis];
  }
  return point;
}

/// Corners of a cell as bits x + 2y + 4z: one path from 000 to 111 per order of the axes, positively oriented.
inline constexpr int kuhn_tets[6][4] = {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7},
                                        {0, 3, 2, 7}, {0, 5, 1, 7}, {0, 6, 4, 7}};

}  // namespace newel::fem::detail
