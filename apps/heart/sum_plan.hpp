// SPDX-License-Identifier: Apache-2.0
/// SumPlan: slots cut into chunks whose elements fit into a block's shared memory, with 16-bit lists. Host, once per
/// mesh; what sum_chunks_device.cu walks.
///
/// A chunk is a range of consecutive slots with the union of the elements that meet in them. Its sums are the items:
/// a constant and a list, whose result goes to one slot or to two, an entry and its mirror. Items of a chunk stand in
/// groups of 32 with lists of about one length, longest first; a group's lists are padded to its longest, with the
/// number of a zero, and stored item by item: pair p of item i is list[32 (group_begin + p) + i].
///
/// A plan may also add up a second number of each element, over the lists of a matrix's diagonal: for nodes, by the
/// way. Items of nodes then stand in groups of their own, before the others.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/heart/element_lists.hpp"

namespace newel::heart {

struct SumLimits {
  /// Slots of a chunk, at most.
  std::int64_t slots = 4096;
  /// Doubles of shared memory: a chunk's slots, its elements' values, and a zero behind those. At most 65,535.
  std::int64_t values = 9472;
};

struct SumChunk {
  std::int64_t first_slot;
  std::uint32_t slots;
  std::uint32_t first_group, groups;
  std::uint32_t first_node_group, node_groups;  ///< the first groups are of nodes; where those stand in `node`
  /// Its elements: first_run, first_run + 1, ..., `run` of them, and then `others` from other[first_other] on.
  std::uint32_t first_run, run;
  std::uint32_t first_other, others;
};

/// Two elements of a list by their numbers in the chunk, or an item's two slots by theirs (the same one twice: it has
/// one; `none`: the item fills a group).
struct alignas(4) ShortPair {
  static constexpr std::uint16_t none = 0xffff;
  std::uint16_t first, second;
};

struct SumPlan {
  static constexpr int lanes = 32;  ///< items of a group

  PlainVector<SumChunk> chunk;
  PlainVector<std::uint32_t> group_begin;  ///< per group and one more, in steps of 32 pairs
  PlainVector<double> constant;            ///< per item; empty: no constants
  PlainVector<ShortPair> place;            ///< per item
  PlainVector<ShortPair> list;
  PlainVector<Index> other;
  PlainVector<Index> node;            ///< per item of a node group: its node, -1 for one that fills it
  std::vector<std::int64_t> crowded;  ///< slots whose lists fit into no chunk: a chunk leaves 0 there
  std::int64_t most_values = 0;       ///< doubles that the largest chunk holds
};

/// For slots whose CSR entries are `entry` (-1: padding, to stay 0). `constant`: per CSR entry, or null. `node`: per
/// CSR entry the node whose second sum is made over the entry's list, -1 for none; empty: no second sums. Every sum
/// is in the order of its list. O(elements in all lists) and some sorting. Throws InputError where 32 bits do not
/// number the lists.
SumPlan plan_sums(const Context<Space::host>& ctx, const std::vector<Offset>& entry, const EntryElements& lists,
                  const double* constant, Span<const Index, Space::host> node, const SumLimits& limits);

}  // namespace newel::heart
