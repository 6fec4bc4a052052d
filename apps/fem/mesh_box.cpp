// SPDX-License-Identifier: Apache-2.0
// Boxes cut into cells and cells into tetrahedra, block by block along a Morton curve.
#include "apps/fem/mesh.hpp"

#include <limits>
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>

#include "apps/fem/box_numbers.hpp"

namespace newel::fem {
namespace {

using namespace detail;

void check(const Box& box, const BoxOptions& options) {
  check_box(box, options);
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

// new_of_old[lexicographic number]; blocks in curve order, members shuffled.
std::vector<Index> shuffled_numbers(const Context<Space::host>& ctx, const Box& box, std::uint64_t seed) {
  const std::vector<Block> blocks = blocks_along_curve(box.extent);
  std::vector<Index> new_of_old(static_cast<std::size_t>(box.node_count()));
  parallel_for(ctx, blocks.size(), [&](std::size_t b) {
    std::array<std::int64_t, most_members> nodes;
    std::array<Index, most_members> members;
    std::size_t next = 0;
    for_each_in(blocks[b], [&](const Triple& at) { nodes[next++] = box.lexicographic(at); });
    const std::size_t count = shuffled_members(blocks[b], b, seed, members);
    for (std::size_t k = 0; k < count; ++k) {
      new_of_old[nodes[members[k]]] = static_cast<Index>(blocks[b].first + static_cast<std::int64_t>(k));
    }
  });
  return new_of_old;
}

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
