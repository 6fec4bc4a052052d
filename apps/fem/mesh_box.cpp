// SPDX-License-Identifier: Apache-2.0
// Boxes cut into cells and cells into tetrahedra, block by block along a Morton curve.
#include "apps/fem/mesh.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>

namespace newel::fem {
namespace {

using Triple = std::array<Index, 3>;
constexpr Index block_side = 8;

// A box of grid points or cells; `first` is the number that its first member gets.
struct Block {
  Triple begin;
  Triple end;
  std::uint64_t key;
  std::int64_t first;

  std::int64_t size() const { return std::int64_t{end[0] - begin[0]} * (end[1] - begin[1]) * (end[2] - begin[2]); }
};

// Every third bit of the result is a bit of x.
std::uint64_t spread_bits(std::uint64_t x) {
  std::uint64_t spread = 0;
  for (int bit = 0; bit < 21; ++bit) spread |= ((x >> bit) & 1) << (3 * bit);
  return spread;
}

std::vector<Block> blocks_along_curve(const Triple& extent) {
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

template <class F>
void for_each_in(const Block& block, F&& f) {
  for (Index z = block.begin[2]; z < block.end[2]; ++z) {
    for (Index y = block.begin[1]; y < block.end[1]; ++y) {
      for (Index x = block.begin[0]; x < block.end[0]; ++x) f(Triple{x, y, z});
    }
  }
}

// The output function of the SplitMix64 generator: a well-mixed number for every input.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// In [-1, 1).
double symmetric_uniform(std::uint64_t x) { return static_cast<double>(mix(x) >> 11) * 0x1p-52 - 1; }

struct Box {
  Triple extent;
  Point length;

  std::int64_t lexicographic(const Triple& at) const {
    return at[0] + std::int64_t{extent[0]} * (at[1] + std::int64_t{extent[1]} * at[2]);
  }
  std::int64_t node_count() const { return std::int64_t{extent[0]} * extent[1] * extent[2]; }
  std::int64_t cell_count() const { return std::int64_t{extent[0] - 1} * (extent[1] - 1) * (extent[2] - 1); }
};

void check(const Box& box, const BoxOptions& options) {
  // Bounding each side keeps the products below within 64 bits.
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
  constexpr std::int64_t most = std::numeric_limits<Index>::max();
  if (box.node_count() > most || 6 * box.cell_count() > most) {
    throw InputError("a box mesh of " + std::to_string(box.node_count()) + " nodes and " +
                     std::to_string(6 * box.cell_count()) + " tetrahedra exceeds 32-bit numbers");
  }
}

// Before anything is touched: Linux promises memory that it does not have.
void check_memory(const Context<Space::host>& ctx, const Box& box) {
  const std::uint64_t wanted = static_cast<std::uint64_t>(box.node_count()) * (sizeof(Point) + sizeof(Index)) +
                               static_cast<std::uint64_t>(box.cell_count()) * 6 * sizeof(Tet);
  const auto available = ctx.memory()->available_bytes();
  if (available && wanted > *available) throw OutOfMemory("host", "a box mesh", wanted, available);
}

// new_of_old[lexicographic number]; blocks in curve order, members shuffled (Fisher and Yates).
std::vector<Index> shuffled_numbers(const Context<Space::host>& ctx, const Box& box, std::uint64_t seed) {
  const std::vector<Block> blocks = blocks_along_curve(box.extent);
  std::vector<Index> new_of_old(static_cast<std::size_t>(box.node_count()));
  parallel_for(ctx, blocks.size(), [&](std::size_t b) {
    std::array<std::int64_t, block_side * block_side * block_side> members;
    std::size_t count = 0;
    for_each_in(blocks[b], [&](const Triple& at) { members[count++] = box.lexicographic(at); });
    std::uint64_t state = mix(seed ^ mix(b));
    for (std::size_t k = count; k > 1; --k) {
      state = mix(state);
      std::swap(members[k - 1], members[state % k]);
    }
    for (std::size_t k = 0; k < count; ++k) {
      new_of_old[members[k]] = static_cast<Index>(blocks[b].first + static_cast<std::int64_t>(k));
    }
  });
  return new_of_old;
}

Point position(const Box& box, const Triple& at, const BoxOptions& options) {
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

// Corners of a cell as bits x + 2y + 4z: one path from 000 to 111 per order of the axes, positively oriented.
constexpr int kuhn_tets[6][4] = {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 3, 2, 7}, {0, 5, 1, 7}, {0, 6, 4, 7}};

}  // namespace

TetMesh make_beam(const Context<Space::host>& ctx, Index nx, Index ny, Index nz, double lx, double ly, double lz,
                  const BoxOptions& options) {
  const Box box{{nx, ny, nz}, {lx, ly, lz}};
  check(box, options);
  check_memory(ctx, box);
  const std::vector<Index> new_of_old =
      options.renumber ? shuffled_numbers(ctx, box, options.seed) : std::vector<Index>();
  const auto number = [&](const Triple& at) {
    const std::int64_t old = box.lexicographic(at);
    return new_of_old.empty() ? static_cast<Index>(old) : new_of_old[old];
  };

  TetMesh mesh;
  mesh.nodes.resize(static_cast<std::size_t>(box.node_count()));
  mesh.tets.resize(static_cast<std::size_t>(6 * box.cell_count()));
  parallel_for(ctx, nz, [&](Index z) {
    const Block layer{{0, 0, z}, {nx, ny, z + 1}, 0, 0};
    for_each_in(layer, [&](const Triple& at) { mesh.nodes[number(at)] = position(box, at, options); });
  });
  const std::vector<Block> blocks = blocks_along_curve({nx - 1, ny - 1, nz - 1});
  parallel_for(ctx, blocks.size(), [&](std::size_t b) {
    Tet* next = mesh.tets.data() + 6 * blocks[b].first;
    for_each_in(blocks[b], [&](const Triple& at) {
      Index corner[8];
      for (int bits = 0; bits < 8; ++bits) {
        corner[bits] = number({at[0] + (bits & 1), at[1] + (bits >> 1 & 1), at[2] + (bits >> 2)});
      }
      for (const auto& tet : kuhn_tets) *next++ = {corner[tet[0]], corner[tet[1]], corner[tet[2]], corner[tet[3]]};
    });
  });
  return mesh;
}

TetMesh make_cube(const Context<Space::host>& ctx, Index n, const BoxOptions& options) {
  return make_beam(ctx, n, n, n, 1, 1, 1, options);
}

}  // namespace newel::fem
