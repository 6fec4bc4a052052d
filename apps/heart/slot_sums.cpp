// SPDX-License-Identifier: Apache-2.0
// Sums into slots: lists as they are on the host, chunks on the device.
#include "apps/heart/slot_sums.hpp"

#include <purlin/config.hpp>

namespace purlin::heart {

using purlin::detail::sweep;

SlotSums<Space::host>::SlotSums(const Context<Space::host>& ctx, const std::vector<Offset>& entry,
                                const EntryElements& lists, const double* constant)
    : element_(lists.element.data()) {
  const std::size_t count = entry.size();
  std::vector<std::uint32_t> begin(count, 0);
  std::vector<std::uint16_t> length(count, 0);
  std::vector<double> constants(constant != nullptr ? count : 0, 0.0);
  for (std::size_t k = 0; k < count; ++k) {
    if (entry[k] < 0) continue;
    begin[k] = lists.begin[entry[k]];
    length[k] = lists.count[entry[k]];
    if (constant != nullptr) constants[k] = constant[entry[k]];
  }
  begin_ = make_array(ctx, begin);
  count_ = make_array(ctx, length);
  constant_ = make_array(ctx, constants);
}

void SlotSums<Space::host>::add_up(const Context<Space::host>& ctx, const double* per_element, double* slot) const {
  const detail::ElementLists lists{begin_.data(), count_.data(), element_};
  if (constant_.empty()) {
    sweep(ctx, begin_.size(), detail::SumLoads(lists, per_element, slot));
  } else {
    sweep(ctx, begin_.size(), detail::FillSlots(lists, constant_.data(), per_element, slot));
  }
}

#if PURLIN_HAS_CUDA
SlotSums<Space::device>::SlotSums(const Context<Space::device>& ctx, const std::vector<Offset>& entry,
                                  const EntryElements& lists, const double* constant)
    : SlotSums(ctx, entry, lists, constant, sum_limits(ctx, static_cast<std::int64_t>(entry.size()))) {}

SlotSums<Space::device>::SlotSums(const Context<Space::device>& ctx, const std::vector<Offset>& entry,
                                  const EntryElements& lists, const double* constant, const SumLimits& limits) {
  const SumPlan plan = plan_sums(host_context(ctx), entry, lists, constant, limits);
  chunk_ = make_array(ctx, plan.chunk);
  group_begin_ = make_array(ctx, plan.group_begin);
  constant_ = make_array(ctx, plan.constant);
  place_ = make_array(ctx, plan.place);
  list_ = make_array(ctx, plan.list);
  other_ = make_array(ctx, plan.other);
  shared_bytes_ = static_cast<std::uint32_t>(plan.most_numbers * sizeof(double));
  prepare_sum_chunks(ctx);
  if (!plan.crowded.empty()) keep_crowded(ctx, plan.crowded, entry, lists, constant);
}

void SlotSums<Space::device>::keep_crowded(const Context<Space::device>& ctx,
                                           const std::vector<std::int64_t>& crowded, const std::vector<Offset>& entry,
                                           const EntryElements& lists, const double* constant) {
  std::vector<std::uint32_t> begin;
  std::vector<std::uint16_t> count;
  std::vector<double> constants;
  std::vector<Index> list;
  for (const std::int64_t k : crowded) {
    const Offset e = entry[static_cast<std::size_t>(k)];
    begin.push_back(static_cast<std::uint32_t>(list.size()));
    count.push_back(lists.count[e]);
    constants.push_back(constant != nullptr ? constant[e] : 0.0);
    list.insert(list.end(), lists.element.begin() + lists.begin[e],
                lists.element.begin() + lists.begin[e] + lists.count[e]);
  }
  crowded_slot_ = make_array(ctx, crowded);
  crowded_begin_ = make_array(ctx, begin);
  crowded_count_ = make_array(ctx, count);
  crowded_constant_ = make_array(ctx, constants);
  crowded_list_ = make_array(ctx, list);
}

SumPlanView SlotSums<Space::device>::view() const {
  return {chunk_.data(), group_begin_.data(), constant_.empty() ? nullptr : constant_.data(), place_.data(),
          list_.data(),  other_.data(),       static_cast<std::uint32_t>(chunk_.size()),      shared_bytes_};
}

void SlotSums<Space::device>::add_up(const Context<Space::device>& ctx, const double* per_element,
                                     double* slot) const {
  if (chunk_.empty()) return;
  sum_chunks(ctx, view(), per_element, slot);
  if (crowded_slot_.empty()) return;
  const detail::ElementLists lists{crowded_begin_.data(), crowded_count_.data(), crowded_list_.data()};
  sweep(ctx, crowded_slot_.size(),
        detail::FillCrowded(lists, crowded_constant_.data(), crowded_slot_.data(), per_element, slot));
}

std::uint64_t SlotSums<Space::device>::bytes() const {
  return chunk_.bytes() + group_begin_.bytes() + constant_.bytes() + place_.bytes() + list_.bytes() + other_.bytes() +
         crowded_slot_.bytes() + crowded_begin_.bytes() + crowded_count_.bytes() + crowded_constant_.bytes() +
         crowded_list_.bytes();
}
#endif

}  // namespace purlin::heart
