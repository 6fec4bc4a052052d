// SPDX-License-Identifier: Apache-2.0
// Sums into slots: lists as they are on the host, chunks on the device.
#include "apps/heart/slot_sums.hpp"

#include <limits>
#include <string>

#include <purlin/config.hpp>
#include <purlin/core/error.hpp>
#include <purlin/core/parallel.hpp>

namespace purlin::heart {

using purlin::detail::sweep;

namespace {

// The slots of each list two by two, lists ascending; a list of an odd number ends with a slot alone. Padding is in
// no pair.
std::vector<detail::SlotPair> pair_slots(const std::vector<Offset>& entry_of_slot, const EntryElements& lists) {
  const auto slots = static_cast<std::int64_t>(entry_of_slot.size());
  if (slots > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError("a matrix of " + std::to_string(slots) + " slots, too many for 32-bit numbers");
  }
  std::vector<std::uint32_t> first_pair(std::size_t{lists.lists} + 1, 0);
  for (const Offset entry : entry_of_slot) {
    if (entry >= 0) ++first_pair[lists.list[entry] + 1];
  }
  for (std::size_t l = 0; l < lists.lists; ++l) first_pair[l + 1] = first_pair[l] + (first_pair[l + 1] + 1) / 2;
  std::vector<detail::SlotPair> pairs(first_pair.back());
  std::vector<std::uint32_t> placed(lists.lists, 0);
  for (std::int64_t k = 0; k < slots; ++k) {
    if (entry_of_slot[k] < 0) continue;
    const std::uint32_t l = lists.list[entry_of_slot[k]], place = placed[l]++;
    detail::SlotPair& pair = pairs[first_pair[l] + place / 2];
    const auto slot = static_cast<std::uint32_t>(k);
    pair = {place % 2 == 0 ? slot : pair.first, slot};
  }
  return pairs;
}

// The pairs whose constants agree; the slots of the others, and padding, alone.
std::vector<detail::SlotPair> pairs_with_constants(const std::vector<Offset>& entry, const EntryElements& lists,
                                                   const double* constant) {
  std::vector<detail::SlotPair> pairs;
  for (const detail::SlotPair& pair : pair_slots(entry, lists)) {
    if (constant[entry[pair.first]] == constant[entry[pair.second]]) {
      pairs.push_back(pair);
    } else {
      pairs.push_back({pair.first, pair.first});
      pairs.push_back({pair.second, pair.second});
    }
  }
  for (std::size_t k = 0; k < entry.size(); ++k) {
    const auto slot = static_cast<std::uint32_t>(k);
    if (entry[k] < 0) pairs.push_back({slot, slot});
  }
  return pairs;
}

}  // namespace

SlotSums<Space::host>::SlotSums(const Context<Space::host>& ctx, const std::vector<Offset>& entry,
                                const EntryElements& lists, const double* constant)
    : element_(lists.element.data()) {
  const bool paired = constant != nullptr;
  const std::vector<detail::SlotPair> pairs =
      paired ? pairs_with_constants(entry, lists, constant) : std::vector<detail::SlotPair>();
  const std::size_t count = paired ? pairs.size() : entry.size();
  std::vector<std::uint32_t> begin(count, 0);
  std::vector<std::uint16_t> length(count, 0);
  std::vector<double> constants(paired ? count : 0, 0.0);
  purlin::detail::parallel_for(ctx, count, [&](std::size_t k) {
    const Offset e = entry[paired ? pairs[k].first : k];
    if (e < 0) return;
    begin[k] = lists.begin[e];
    length[k] = lists.count[e];
    if (paired) constants[k] = constant[e];
  });
  begin_ = make_array(ctx, begin);
  count_ = make_array(ctx, length);
  constant_ = make_array(ctx, constants);
  pair_ = make_array(ctx, pairs);
}

void SlotSums<Space::host>::add_up(const Context<Space::host>& ctx, const double* per_element, double* slot) const {
  const detail::ElementLists lists{begin_.data(), count_.data(), element_};
  if (pair_.empty()) {
    sweep(ctx, begin_.size(), detail::SumLoads(lists, per_element, slot));
  } else {
    sweep(ctx, begin_.size(), detail::FillSlots(lists, constant_.data(), pair_.data(), per_element, slot));
  }
}

#if PURLIN_HAS_CUDA
SlotSums<Space::device>::SlotSums(const Context<Space::device>& ctx, const std::vector<Offset>& entry,
                                  const EntryElements& lists, const double* constant, const std::vector<Index>& node)
    : SlotSums(ctx, entry, lists, constant, node,
               sum_limits(ctx, static_cast<std::int64_t>(entry.size()), constant != nullptr)) {}

SlotSums<Space::device>::SlotSums(const Context<Space::device>& ctx, const std::vector<Offset>& entry,
                                  const EntryElements& lists, const double* constant, const std::vector<Index>& node,
                                  const SumLimits& limits) {
  const SumPlan plan = plan_sums(host_context(ctx), entry, lists, constant, node, limits);
  chunk_ = make_array(ctx, plan.chunk);
  group_begin_ = make_array(ctx, plan.group_begin);
  constant_ = make_array(ctx, plan.constant);
  place_ = make_array(ctx, plan.place);
  list_ = make_array(ctx, plan.list);
  other_ = make_array(ctx, plan.other);
  node_ = make_array(ctx, plan.node);
  shared_bytes_ = static_cast<std::uint32_t>(plan.most_values * sizeof(double));
  prepare_sum_chunks(ctx);
  if (!plan.crowded.empty()) keep_crowded(ctx, plan.crowded, entry, lists, constant, node);
}

void SlotSums<Space::device>::keep_crowded(const Context<Space::device>& ctx, const std::vector<std::int64_t>& slots,
                                           const std::vector<Offset>& entry, const EntryElements& lists,
                                           const double* constant, const std::vector<Index>& node) {
  std::vector<Offset> of_slot, of_node;
  std::vector<std::int64_t> nodes;
  for (const std::int64_t k : slots) {
    const Offset e = entry[static_cast<std::size_t>(k)];
    of_slot.push_back(e);
    if (node.empty() || node[e] < 0) continue;
    of_node.push_back(e);
    nodes.push_back(node[e]);
  }
  crowded_slots_ = Crowded(ctx, slots, of_slot, lists, constant);
  crowded_nodes_ = Crowded(ctx, nodes, of_node, lists, constant);
}

SlotSums<Space::device>::Crowded::Crowded(const Context<Space::device>& ctx, const std::vector<std::int64_t>& place_,
                                          const std::vector<Offset>& entry, const EntryElements& lists,
                                          const double* constant_) {
  std::vector<std::uint32_t> begins;
  std::vector<std::uint16_t> counts;
  std::vector<double> constants;
  std::vector<Index> elements;
  for (const Offset e : entry) {
    begins.push_back(static_cast<std::uint32_t>(elements.size()));
    counts.push_back(lists.count[e]);
    constants.push_back(constant_ != nullptr ? constant_[e] : 0.0);
    const auto first = lists.element.begin() + lists.begin[e];
    elements.insert(elements.end(), first, first + lists.count[e]);
  }
  place = make_array(ctx, place_);
  begin = make_array(ctx, begins);
  count = make_array(ctx, counts);
  constant = make_array(ctx, constants);
  list = make_array(ctx, elements);
}

void SlotSums<Space::device>::Crowded::add_up(const Context<Space::device>& ctx, const double* per_element,
                                              bool constants, double* to) const {
  sweep(ctx, place.size(),
        detail::FillCrowded({begin.data(), count.data(), list.data()}, constants ? constant.data() : nullptr,
                            place.data(), per_element, to));
}

SumPlanView SlotSums<Space::device>::view() const {
  return {
      chunk_.data(), group_begin_.data(), constant_.empty() ? nullptr : constant_.data(), place_.data(), list_.data(),
      other_.data(), node_.data(),        static_cast<std::uint32_t>(chunk_.size()),      shared_bytes_};
}

void SlotSums<Space::device>::add_up(const Context<Space::device>& ctx, const double* per_element,
                                     double* slot) const {
  sum_chunks(ctx, view(), per_element, slot, nullptr);
  crowded_slots_.add_up(ctx, per_element, true, slot);
}

void SlotSums<Space::device>::add_up_with_nodes(const Context<Space::device>& ctx, const double* per_element,
                                                double* slot, const NodeSums& nodes) const {
  sum_chunks(ctx, view(), per_element, slot, &nodes);
  crowded_slots_.add_up(ctx, per_element, true, slot);
  crowded_nodes_.add_up(ctx, nodes.per_element, false, nodes.sum);
  if (nodes.diagonal != nullptr) crowded_nodes_.add_up(ctx, per_element, true, nodes.diagonal);
}

std::uint64_t SlotSums<Space::device>::bytes() const {
  return chunk_.bytes() + group_begin_.bytes() + constant_.bytes() + place_.bytes() + list_.bytes() + other_.bytes() +
         node_.bytes() + crowded_slots_.bytes() + crowded_nodes_.bytes();
}
#endif

}  // namespace purlin::heart
