// SPDX-License-Identifier: Apache-2.0
// How BCE's arrays are built: assignment of rows to sets, cutting into blocks, filling.
#include "spmv/bce/bce_layout.hpp"

#include <algorithm>

#include <newel/core/parallel.hpp>
#include "spmv/cost/row_sharing.hpp"
#include "spmv/plan/stable_buckets.hpp"

namespace newel {
namespace {

using detail::Buckets;
using Host = Context<Space::host>;

constexpr Index least_piece_lanes = 4, most_piece_lanes = least_piece_lanes << (BceGrid::classes - 1);

Index width_of(const Pattern<Space::host>& a, Index i) {
  return static_cast<Index>(a.row_begin(i + 1) - a.row_begin(i));
}

// A block before it has its place.
struct BlockCut {
  Index set;
  Offset first;  // in the buckets' order
  Index rows;
};

// Equal blocks of at most `block_rows` rows, a multiple of `lanes` but for the last of a set.
std::vector<BlockCut> cut_into_blocks(const Buckets& sets, std::size_t count, const BceShape& shape) {
  std::vector<BlockCut> cuts;
  for (std::size_t set = 0; set < count; ++set) {
    const Offset rows = sets.size(set);
    if (rows == 0) continue;
    const Offset blocks = (rows + shape.block_rows - 1) / shape.block_rows;
    const Offset share = (rows + blocks - 1) / blocks;
    const Offset step = (share + shape.lanes - 1) / shape.lanes * shape.lanes;
    for (Offset done = 0; done < rows; done += step) {
      cuts.push_back(
          {static_cast<Index>(set), sets.begin[set] + done, static_cast<Index>(std::min(step, rows - done))});
    }
  }
  return cuts;
}

// The numbers of the blocks, ascending by their first row. No two share one, so that a mark at each row sorts them.
std::vector<Index> by_first_row(const Host& ctx, const Buckets& sets, const std::vector<BlockCut>& cuts, Index rows) {
  const auto blocks = static_cast<Index>(cuts.size());
  Array<Index, Space::host> block_at(ctx, rows);
  parallel_for(ctx, rows, [&](Index i) { block_at[i] = -1; });
  parallel_for(ctx, blocks, [&](Index b) { block_at[sets.member[cuts[static_cast<std::size_t>(b)].first]] = b; });
  const Buckets marked = detail::stable_buckets(ctx, rows, 2, [&](Index i) { return block_at[i] < 0 ? 1 : 0; });
  std::vector<Index> order(cuts.size());
  parallel_for(ctx, blocks, [&](Index b) { order[static_cast<std::size_t>(b)] = block_at[marked.member[b]]; });
  return order;
}

void place_blocks(const Host& ctx, const Buckets& sets, std::size_t count, const BceShape& shape, BceLayout& to) {
  const std::vector<BlockCut> cuts = cut_into_blocks(sets, count, shape);
  const std::vector<Index> order = by_first_row(ctx, sets, cuts, to.rows);
  const auto blocks = static_cast<Index>(cuts.size());
  to.row_no = Array<Index, Space::host>(ctx, sets.begin[count]);
  to.block_row = Array<Index, Space::host>(ctx, Offset{blocks} + 1);
  to.block_width = Array<Index, Space::host>(ctx, blocks);
  to.block_slot = Array<Offset, Space::host>(ctx, Offset{blocks} + 1);
  Index row = 0;
  Offset slot = 0;
  for (Index b = 0; b < blocks; ++b) {
    const BlockCut& cut = cuts[static_cast<std::size_t>(order[static_cast<std::size_t>(b)])];
    to.block_row[b] = row;
    to.block_slot[b] = slot;
    to.block_width[b] = cut.set == 0 ? 0 : to.bounds[static_cast<std::size_t>(cut.set) - 1];
    row += cut.rows;
    slot += Offset{cut.rows} * to.block_width[b];
    slot = (slot + shape.lanes - 1) / shape.lanes * shape.lanes;
  }
  to.block_row[blocks] = row;
  to.block_slot[blocks] = slot;
  parallel_for(ctx, blocks, [&](Index b) {
    const BlockCut& cut = cuts[static_cast<std::size_t>(order[static_cast<std::size_t>(b)])];
    std::copy_n(sets.member.begin() + cut.first, cut.rows, to.row_no.begin() + to.block_row[b]);
  });
}

void fill_blocks(const Host& ctx, const Pattern<Space::host>& a, BceLayout& to) {
  const Index blocks = to.blocks();
  parallel_blocks(ctx, blocks, 64, [&](Index b) {
    const Index rows = to.block_row[b + 1] - to.block_row[b];
    Offset used = to.block_slot[b];
    for (Index r = 0; r < rows; ++r) {
      const Index i = to.row_no[to.block_row[b] + r];
      const Offset begin = a.row_begin(i), width = a.row_begin(i + 1) - begin;
      for (Index k = 0; k < to.block_width[b]; ++k) {
        const Offset slot = to.block_slot[b] + Offset{k} * rows + r;
        to.slot_source[slot] = k < width ? begin + k : Offset{-1};
        to.col[slot] = a.col[begin + std::min<Offset>(k, width - 1)];
      }
    }
    used += Offset{rows} * to.block_width[b];
    for (; used < to.block_slot[b + 1]; ++used) {
      to.slot_source[used] = -1;
      to.col[used] = 0;
    }
  });
}

void fill_pieces(const Host& ctx, const Pattern<Space::host>& a, const std::vector<Index>& long_rows, BceLayout& to) {
  std::vector<Offset> slot{to.block_slot[to.blocks()]};
  for (const Index i : long_rows) slot.push_back(slot.back() + a.row_begin(i + 1) - a.row_begin(i));
  const auto count = static_cast<std::int64_t>(long_rows.size());
  parallel_tasks(ctx, count, [&](std::int64_t r) {
    const Offset begin = a.row_begin(long_rows[static_cast<std::size_t>(r)]);
    const Offset first = slot[static_cast<std::size_t>(r)], last = slot[static_cast<std::size_t>(r) + 1];
    for (Offset k = first; k < last; ++k) {
      to.slot_source[k] = begin + k - first;
      to.col[k] = a.col[begin + k - first];
    }
  });
}

}  // namespace

BceShape bce_shape(const Machine& machine) {
  BceShape shape;
  shape.lanes = machine.lanes;
  if (machine.device()) {
    const Index share = machine.resident_threads * 3 / 32;
    shape.block_rows = std::clamp((share + machine.lanes - 1) / machine.lanes, 1, 8) * machine.lanes;
  } else {
    shape.block_rows = machine.lanes;
    shape.widest = 4096;
    shape.piece_slots = 16384;
  }
  shape.least_rows = shape.block_rows;
  return shape;
}

BceShape bce_shape(const Machine& machine, const RowLengths& lengths, std::size_t value_bytes) {
  BceShape shape = bce_shape(machine);
  if (!machine.device()) return shape;
  detail::SharingChoices choices;
  choices.longest_alone = shape.widest;
  // Of a current device's 2048 threads the kernel's 48 and 64 registers leave 1280 and 1024.
  choices.workers = {{4, machine.resident_threads * 5 / 8}, {8, machine.resident_threads / 2}};
  choices.thread_slots = {shape.thread_slots, 16, 8};
  choices.piece_slots = {shape.piece_slots, 512, 256};
  choices.least_lanes = least_piece_lanes;
  choices.most_lanes = most_piece_lanes;
  const detail::RowSharing sharing = detail::share_rows(lengths, machine, value_bytes, choices);
  shape.widest = sharing.longest_alone;
  shape.thread_slots = sharing.thread_slots;
  shape.piece_slots = sharing.piece_slots;
  shape.batch = sharing.batch;
  Offset blocked = 0;
  for (const auto& [length, rows] : lengths) blocked += length <= shape.widest ? rows : 0;
  const Offset share = blocked / (Offset{2} * machine.processors) / shape.lanes * shape.lanes;
  shape.block_rows = static_cast<Index>(std::clamp<Offset>(share, shape.lanes, shape.block_rows));
  return shape;
}

BceGrid bce_grid(const BceLayout& layout, const BceShape& shape, const Machine& machine) {
  constexpr int blocks_of_processor = 4;
  BceGrid grid;
  grid.block_threads = (shape.block_rows + 31) / 32 * 32;
  grid.groups = std::clamp(layout.blocks() / (blocks_of_processor * machine.processors), 1,
                           std::max(1, bce_most_threads / grid.block_threads));
  const auto& pieces = layout.pieces;
  const auto count = static_cast<Index>(pieces.piece_row.size());
  std::fill_n(grid.piece, BceGrid::classes + 1, count);
  for (Index p = count; p > 0; --p) {
    const bool joined = pieces.piece_row[p - 1] < 0;
    const Offset slots = joined ? shape.piece_slots : pieces.piece_slot[p] - pieces.piece_slot[p - 1];
    const Index lanes = detail::lanes_of_piece(slots, shape.thread_slots, least_piece_lanes, most_piece_lanes);
    for (int c = 0; c < BceGrid::classes && (least_piece_lanes << c) <= lanes; ++c) grid.piece[c] = p - 1;
  }
  Index warps = 0;
  for (int c = 0; c < BceGrid::classes; ++c) warps += grid.class_warps(c);
  const int warps_a_block = grid.threads() / 32;
  grid.piece_blocks = static_cast<unsigned>((warps + warps_a_block - 1) / warps_a_block);
  grid.blocks = grid.piece_blocks + static_cast<unsigned>((layout.blocks() + grid.groups - 1) / grid.groups);
  return grid;
}

BceLayout make_bce_layout(const Context<Space::host>& ctx, const Pattern<Space::host>& a, const BceShape& shape,
                          std::vector<Index> bounds) {
  BceLayout layout;
  layout.rows = a.rows;
  layout.bounds = std::move(bounds);
  // Set 0 holds the empty rows (M_0 = 0), the one behind the last the rows too wide for a block.
  const std::size_t blocked = layout.bounds.size() + 1;
  const auto set_of = [&](Index i) {
    const Index width = width_of(a, i);
    if (width == 0) return std::size_t{0};
    if (width > shape.widest) return blocked;
    const auto bound = std::lower_bound(layout.bounds.begin(), layout.bounds.end(), width);
    return static_cast<std::size_t>(bound - layout.bounds.begin()) + 1;
  };
  const Buckets sets = detail::stable_buckets(ctx, a.rows, blocked + 1, set_of);
  place_blocks(ctx, sets, blocked, shape, layout);

  std::vector<Index> long_rows(sets.member.begin() + sets.begin[blocked], sets.member.end());
  std::stable_sort(long_rows.begin(), long_rows.end(),
                   [&](Index i, Index j) { return width_of(a, i) < width_of(a, j); });
  for (const Index i : long_rows) layout.pieces.append(i, width_of(a, i), shape.piece_slots, shape.lanes);
  layout.pieces.close();

  const Offset slots = layout.block_slot[layout.blocks()] + layout.pieces.piece_slot.back();
  layout.col = Array<Index, Space::host>(ctx, slots);
  layout.slot_source = Array<Offset, Space::host>(ctx, slots);
  fill_blocks(ctx, a, layout);
  fill_pieces(ctx, a, long_rows, layout);
  return layout;
}

}  // namespace newel
