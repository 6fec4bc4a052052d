// SPDX-License-Identifier: Apache-2.0
/// SlotSums: slot_k = constant_k + the numbers of the elements that meet in the slot's entry, in either space.
#pragma once

#include <vector>

#include <newel/core/array.hpp>

#include "apps/heart/heart_loops.hpp"
#include "apps/heart/sum_plan.hpp"

namespace newel::heart {

/// What both spaces offer: sums of one number per element into slots, without atomics, each sum in the order of its
/// list of elements: the same bits on every run and in both spaces.
template <Space S>
class SlotSums;

/// On the host: a thread walks a slot's list, in caches that find what neighbours have read; with constants, once for
/// the slots of an entry and of its mirror.
template <>
class SlotSums<Space::host> {
 public:
  SlotSums() = default;
  /// `entry`: the CSR entry of each slot, -1 for padding, which becomes 0. `constant`: per CSR
  /// entry, or null. lists.element stays where it is as long as this lives.
  SlotSums(const Context<Space::host>& ctx, const std::vector<Offset>& entry, const EntryElements& lists,
           const double* constant);
  /// Writes all slots.
  void add_up(const Context<Space::host>& ctx, const double* per_element, double* slot) const;
  std::uint64_t bytes() const { return begin_.bytes() + count_.bytes() + constant_.bytes() + pair_.bytes(); }

 private:
  Array<std::uint32_t, Space::host> begin_;
  Array<std::uint16_t, Space::host> count_;
  Array<double, Space::host> constant_;
  Array<detail::SlotPair, Space::host> pair_;
  const Index* element_ = nullptr;
};

/// What sum_chunks walks: a SumPlan on the device.
struct SumPlanView {
  const SumChunk* chunk;
  const std::uint32_t* group_begin;
  const double* constant;  ///< null: none
  const ShortPair* place;
  const ShortPair* list;
  const Index* other;
  const Index* node;
  std::uint32_t chunks;
  std::uint32_t shared_bytes;
};

/// Second sums of a plan with nodes.
struct NodeSums {
  const double* per_element;
  double* sum;       ///< per node
  double* diagonal;  ///< per node, receives what goes to the slot of its diagonal entry too; null: not wanted
};

/// On the device: a block walks a chunk of the plan; lists that fit into none are walked as on the host.
template <>
class SlotSums<Space::device> {
 public:
  SlotSums() = default;
  /// `node`: as plan_sums has it; such sums take `add_up_with_nodes`.
  SlotSums(const Context<Space::device>& ctx, const std::vector<Offset>& entry, const EntryElements& lists,
           const double* constant, Span<const Index, Space::host> node = {});
  /// With chunks of other limits than the device's.
  SlotSums(const Context<Space::device>& ctx, const std::vector<Offset>& entry, const EntryElements& lists,
           const double* constant, Span<const Index, Space::host> node, const SumLimits& limits);
  void add_up(const Context<Space::device>& ctx, const double* per_element, double* slot) const;
  /// The same, and the nodes' sums of other values by the way.
  void add_up_with_nodes(const Context<Space::device>& ctx, const double* per_element, double* slot,
                         const NodeSums& nodes) const;
  std::uint64_t bytes() const;

 private:
  template <class T>
  using OnDevice = Array<T, Space::device>;

  // Sums whose lists fit into no chunk: their lists, constants, and where they go.
  struct Crowded {
    OnDevice<std::int64_t> place;
    OnDevice<std::uint32_t> begin;
    OnDevice<std::uint16_t> count;
    OnDevice<double> constant;
    OnDevice<Index> list;

    Crowded() = default;
    Crowded(const Context<Space::device>& ctx, const std::vector<std::int64_t>& place,
            const std::vector<Offset>& entry, const EntryElements& lists, const double* constant);
    void add_up(const Context<Space::device>& ctx, const double* per_element, bool constants, double* to) const;
    std::uint64_t bytes() const {
      return place.bytes() + begin.bytes() + count.bytes() + constant.bytes() + list.bytes();
    }
  };

  void keep_crowded(const Context<Space::device>& ctx, const std::vector<std::int64_t>& slots,
                    const std::vector<Offset>& entry, const EntryElements& lists, const double* constant,
                    Span<const Index, Space::host> node);
  SumPlanView view() const;

  OnDevice<SumChunk> chunk_;
  OnDevice<std::uint32_t> group_begin_;
  OnDevice<double> constant_;
  OnDevice<ShortPair> place_, list_;
  OnDevice<Index> other_, node_;
  std::uint32_t shared_bytes_ = 0;
  Crowded crowded_slots_, crowded_nodes_;
};

/// The chunks that a device's blocks like for so many slots of a matrix (`constants`) or of nodes.
SumLimits sum_limits(const Context<Space::device>& ctx, std::int64_t slots, bool constants);
/// Once before sum_chunks: lets its blocks have all of the device's shared memory.
void prepare_sum_chunks(const Context<Space::device>& ctx);
/// Writes every slot of the plan, and with `nodes` every node; null: none, also where the plan has some.
void sum_chunks(const Context<Space::device>& ctx, const SumPlanView& plan, const double* per_element, double* slot,
                const NodeSums* nodes);

}  // namespace newel::heart
