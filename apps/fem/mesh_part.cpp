// SPDX-License-Identifier: Apache-2.0
// The blocks of nodes that a part touches, the cells around its nodes, and numbers for both.
#include "apps/fem/mesh_part.hpp"

#include <limits>
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>

#include "apps/fem/box_numbers.hpp"

namespace newel::fem {
namespace {

using namespace detail;

// A block of nodes that has own nodes, or neighbours of them.
struct TouchedBlock {
  std::size_t number = 0;                   // along the curve
  std::array<Index, most_members> place;    // of a member, as for_each_in counts it, among the shuffled
  std::array<Index, most_members> in_part;  // the node's number in the part, by place; -1: it is not there
};

void require_count(std::int64_t count) {
  if (count <= std::numeric_limits<Index>::max()) return;
  throw InputError("a part of a mesh with " + std::to_string(count) +
                   " nodes or tetrahedra exceeds 32-bit numbers: use more ranks");
}

// The block of a grid point, by position.
Triple block_of(const Triple& at) { return {at[0] / block_side, at[1] / block_side, at[2] / block_side}; }

// The numbers of a cube's nodes in the whole, and which of them belong to a part.
class CubePart {
 public:
  CubePart(const Context<Space::host>& ctx, Index n, std::int64_t first, std::int64_t end, const BoxOptions& options)
      : ctx_(ctx),
        options_(options),
        box_{{n, n, n}, {1, 1, 1}},
        side_((n + block_side - 1) / block_side),
        first_(first),
        end_(end),
        blocks_(blocks_along_curve(box_.extent)) {
    touch();
  }

  MeshPart make() {
    MeshPart part;
    number_nodes(part);
    const auto own = std::lower_bound(part.number.begin(), part.number.end(), first_);
    part.first_own = static_cast<Index>(own - part.number.begin());
    part.own = static_cast<Index>(end_ - first_);
    add_cells(part);
    return part;
  }

 private:
  std::size_t at_curve(const Triple& block) const {
    return block_at_[static_cast<std::size_t>(block[0] +
                                              std::int64_t{side_} * (block[1] + std::int64_t{side_} * block[2]))];
  }
  bool has_own(const Block& block) const { return block.first < end_ && block.first + block.size() > first_; }
  bool is_whole(const Block& block) const { return block.first >= first_ && block.first + block.size() <= end_; }

  // f(block of nodes) for those at an offset of 0 or -1 (`back`) to `forth` in each direction that exist.
  template <class F>
  void for_near(const Triple& block, Index back, Index forth, F&& f) const {
    for (Index z = std::max(block[2] + back, 0); z <= std::min(block[2] + forth, side_ - 1); ++z) {
      for (Index y = std::max(block[1] + back, 0); y <= std::min(block[1] + forth, side_ - 1); ++y) {
        for (Index x = std::max(block[0] + back, 0); x <= std::min(block[0] + forth, side_ - 1); ++x) {
          f(at_curve({x, y, z}));
        }
      }
    }
  }

  // Finds the blocks around own nodes, in the order of the curve, and shuffles them as the whole mesh does.
  void touch() {
    block_at_.resize(blocks_.size());
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const Triple at = block_of(blocks_[b].begin);
      block_at_[static_cast<std::size_t>(at[0] + std::int64_t{side_} * (at[1] + std::int64_t{side_} * at[2]))] = b;
    }
    slot_.assign(blocks_.size(), -1);
    for (const Block& block : blocks_) {
      if (has_own(block)) for_near(block_of(block.begin), -1, 1, [&](std::size_t b) { slot_[b] = 0; });
    }
    std::size_t count = 0;
    for (std::int64_t& slot : slot_) slot = slot < 0 ? -1 : static_cast<std::int64_t>(count++);
    touched_.resize(count);
    parallel_for(ctx_, blocks_.size(), [&](std::size_t b) {
      if (slot_[b] < 0) return;
      TouchedBlock& touched = touched_[static_cast<std::size_t>(slot_[b])];
      touched.number = b;
      std::array<Index, most_members> members;
      const std::size_t size = shuffled_members(blocks_[b], b, options_.seed, members);
      for (std::size_t k = 0; k < size; ++k)
        touched.place[static_cast<std::size_t>(members[k])] = static_cast<Index>(k);
    });
  }

  // The touched block of a grid point.
  TouchedBlock& touched_at(const Triple& at) {
    return touched_[static_cast<std::size_t>(slot_[at_curve(block_of(at))])];
  }
  // Where it is among the shuffled members of its block.
  std::size_t place_of(const TouchedBlock& touched, const Triple& at) const {
    const Block& block = blocks_[touched.number];
    const Index dx = block.end[0] - block.begin[0], dy = block.end[1] - block.begin[1];
    const Index member = at[0] - block.begin[0] + dx * (at[1] - block.begin[1] + dy * (at[2] - block.begin[2]));
    return static_cast<std::size_t>(touched.place[static_cast<std::size_t>(member)]);
  }
  bool is_own(const Triple& at) {
    const std::size_t b = at_curve(block_of(at));
    if (slot_[b] < 0 || !has_own(blocks_[b])) return false;
    const TouchedBlock& touched = touched_[static_cast<std::size_t>(slot_[b])];
    const std::int64_t number = blocks_[b].first + static_cast<std::int64_t>(place_of(touched, at));
    return number >= first_ && number < end_;
  }
  // Whether any grid point from `low` to `high`, cut off at the cube's faces, is own.
  bool any_own(const Triple& low, const Triple& high) {
    const auto last = [&](int axis) { return std::min(high[axis], box_.extent[axis] - 1); };
    for (Index z = std::max(low[2], 0); z <= last(2); ++z) {
      for (Index y = std::max(low[1], 0); y <= last(1); ++y) {
        for (Index x = std::max(low[0], 0); x <= last(0); ++x) {
          if (is_own({x, y, z})) return true;
        }
      }
    }
    return false;
  }
  // A node belongs to the part if a cell has it and an own node, which are then at most 1 apart along each axis.
  bool is_in_part(const Triple& at) {
    return any_own({at[0] - 1, at[1] - 1, at[2] - 1}, {at[0] + 1, at[1] + 1, at[2] + 1});
  }

  void number_nodes(MeshPart& part) {
    parallel_for(ctx_, touched_.size(), [&](std::size_t t) {
      TouchedBlock& touched = touched_[t];
      const Block& block = blocks_[touched.number];
      touched.in_part.fill(-1);
      for_each_in(block, [&](const Triple& at) {
        if (is_whole(block) || is_in_part(at)) touched.in_part[place_of(touched, at)] = 0;
      });
    });
    std::int64_t count = 0;
    for (TouchedBlock& touched : touched_) {
      for (Index& number : touched.in_part) {
        if (number == 0) number = static_cast<Index>(count++);
      }
      require_count(count);
    }
    part.number.resize(static_cast<std::size_t>(count));
    part.mesh.nodes.resize(static_cast<std::size_t>(count));
    parallel_for(ctx_, touched_.size(), [&](std::size_t t) {
      const TouchedBlock& touched = touched_[t];
      const Block& block = blocks_[touched.number];
      for_each_in(block, [&](const Triple& at) {
        const std::size_t place = place_of(touched, at);
        const Index number = touched.in_part[place];
        if (number < 0) return;
        part.number[static_cast<std::size_t>(number)] = block.first + static_cast<std::int64_t>(place);
        part.mesh.nodes[static_cast<std::size_t>(number)] = position(box_, at, options_);
      });
    });
  }

  // Cells with an own node, in the order of the whole mesh. Blocks of cells begin where blocks of nodes do.
  void add_cells(MeshPart& part) {
    const std::vector<Block> cells = blocks_along_curve({box_.extent[0] - 1, box_.extent[1] - 1, box_.extent[2] - 1});
    const auto may_have = [&](const Block& block) {
      bool found = false;
      for_near(block_of(block.begin), 0, 1, [&](std::size_t b) { found |= has_own(blocks_[b]); });
      return found;
    };
    const auto is_wanted = [&](const Triple& at) { return any_own(at, {at[0] + 1, at[1] + 1, at[2] + 1}); };
    std::vector<std::int64_t> first_cell(cells.size() + 1, 0);
    parallel_for(ctx_, cells.size(), [&](std::size_t b) {
      if (!may_have(cells[b])) return;
      std::int64_t count = 0;
      for_each_in(cells[b], [&](const Triple& at) { count += is_wanted(at) ? 1 : 0; });
      first_cell[b + 1] = count;
    });
    for (std::size_t b = 0; b < cells.size(); ++b) first_cell[b + 1] += first_cell[b];
    require_count(6 * first_cell.back());
    part.mesh.tets.resize(static_cast<std::size_t>(6 * first_cell.back()));
    parallel_for(ctx_, cells.size(), [&](std::size_t b) {
      if (first_cell[b + 1] == first_cell[b]) return;
      Tet* next = part.mesh.tets.data() + 6 * first_cell[b];
      for_each_in(cells[b], [&](const Triple& at) {
        if (!is_wanted(at)) return;
        Index corner[8];
        for (int bits = 0; bits < 8; ++bits) {
          const Triple node = {at[0] + (bits & 1), at[1] + (bits >> 1 & 1), at[2] + (bits >> 2)};
          const TouchedBlock& touched = touched_at(node);
          corner[bits] = touched.in_part[place_of(touched, node)];
        }
        for (const auto& tet : kuhn_tets) *next++ = {corner[tet[0]], corner[tet[1]], corner[tet[2]], corner[tet[3]]};
      });
    });
  }

  const Context<Space::host>& ctx_;
  const BoxOptions& options_;
  Box box_;
  Index side_;  // blocks along an axis
  std::int64_t first_, end_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> block_at_;  // along the curve, by position
  std::vector<std::int64_t> slot_;     // of each block in `touched_`; -1: it is not there
  std::vector<TouchedBlock> touched_;
};

}  // namespace

MeshPart make_cube_part(const Context<Space::host>& ctx, Index n, std::int64_t first, std::int64_t end,
                        const BoxOptions& options) {
  const std::int64_t nodes = std::int64_t{n} * n * n;
  if (!options.renumber) throw InputError("a part of a cube's mesh needs renumbered nodes");
  check_box({{n, n, n}, {1, 1, 1}}, options);
  if (first < 0 || end < first || end > nodes) {
    throw InputError("expected nodes among " + std::to_string(nodes) + ", found " + std::to_string(first) + " to " +
                     std::to_string(end));
  }
  if (first == end) return {};
  return CubePart(ctx, n, first, end, options).make();
}

}  // namespace newel::fem
