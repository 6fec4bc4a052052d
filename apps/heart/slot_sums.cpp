// SPDX-License-Identifier: Apache-2.0
// Sums into slots: lists as they are on the host, chunks on the device.
#include "apps/heart/slot_sums.hpp"

#include <limits>
#include <string>

#include <newel/config.hpp>
#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>

namespace newel::heart {

namespace {

using SlotPairs = Array<detail::SlotPair, Space::host>;

// The list of each slot, `no_list` for padding.
constexpr std::uint32_t no_list = std::numeric_limits<std::uint32_t>::max();

Array<std::uint32_t, Space::host> list_of_slots(const Context<Space::host>& ctx,
                                                const std::vector<Offset>& entry_of_slot,
                                                const EntryElements& lists) {
  const auto slots = static_cast<std::int64_t>(entry_of_slot.size());
  if (slots > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError("a matrix of " + std::to_string(slots) + " slots, too many for 32-bit numbers");
  }
  Array<std::uint32_t, Space::host> list(ctx, slots);
  parallel_for(ctx, slots,
               [&](std::int64_t k) { list[k] = entry_of_slot[k] < 0 ? no_list : lists.list[entry_of_slot[k]]; });
  return list;
}

// The slots of each list two by two, lists ascending; a list of an odd number ends with a slot alone. Padding is in
// no pair. Every thread walks all slots, and counts and places those of its own range of lists.
SlotPairs pair_slots(const Context<Space::host>& ctx, const Array<std::uint32_t, Space::host>& list_of_slot,
                     std::uint32_t lists) {
  const auto for_own = [&](std::uint32_t begin, std::uint32_t end, auto&& f) {
    for (std::int64_t k = 0; k < list_of_slot.size(); ++k) {
      if (list_of_slot[k] >= begin && list_of_slot[k] < end) f(static_cast<std::uint32_t>(k), list_of_slot[k]);
    }
  };
  Array<std::uint32_t, Space::host> first_pair(ctx, std::int64_t{lists} + 1), placed(ctx, lists);
  parallel_ranges(ctx, lists, [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t l = begin; l < end; ++l) placed[l] = 0;
    for_own(begin, end, [&](std::uint32_t, std::uint32_t l) { ++placed[l]; });
  });
  first_pair[0] = 0;
  for (std::uint32_t l = 0; l < lists; ++l) {
    first_pair[l + 1] = first_pair[l] + (placed[l] + 1) / 2;
    placed[l] = 0;
  }
  SlotPairs pairs(ctx, first_pair[lists]);
  parallel_ranges(ctx, lists, [&](std::uint32_t begin, std::uint32_t end) {
    for_own(begin, end, [&](std::uint32_t slot, std::uint32_t l) {
      const std::uint32_t place = placed[l]++;
      detail::SlotPair& pair = pairs[first_pair[l] + place / 2];
      pair = {place % 2 == 0 ? slot : pair.first, slot};
    });
  });
  return pairs;
}

// What f(k, append) appends for k in [0, n), in the order of k. f is called twice for each k.
template <class F>
SlotPairs appended(const Context<Space::host>& ctx, std::int64_t n, F&& f) {
  const std::int64_t shares = share_count(ctx, n, light_items);
  std::vector<std::int64_t> first(static_cast<std::size_t>(shares) + 1, 0);
  parallel_ranges(ctx, n, [&](std::int64_t begin, std::int64_t end, std::int64_t share) {
    std::int64_t count = 0;
    for (std::int64_t k = begin; k < end; ++k) f(k, [&](const detail::SlotPair&) { ++count; });
    first[static_cast<std::size_t>(share) + 1] = count;
  });
  for (std::size_t share = 1; share < first.size(); ++share) first[share] += first[share - 1];
  SlotPairs result(ctx, first.back());
  parallel_ranges(ctx, n, [&](std::int64_t begin, std::int64_t end, std::int64_t share) {
    std::int64_t at = first[static_cast<std::size_t>(share)];
    for (std::int64_t k = begin; k < end; ++k) f(k, [&](const detail::SlotPair& pair) { result[at++] = pair; });
  });
  return result;
}

// The pairs whose constants agree; the slots of the others, and padding, alone.
SlotPairs pairs_with_constants(const Context<Space::host>& ctx, const std::vector<Offset>& entry,
                               const EntryElements& lists, const double* constant) {
  const Array<std::uint32_t, Space::host> list_of_slot = list_of_slots(ctx, entry, lists);
  const SlotPairs pairs = pair_slots(ctx, list_of_slot, lists.lists);
  return appended(ctx, pairs.size() + list_of_slot.size(), [&](std::int64_t k, auto&& append) {
    if (k >= pairs.size()) {
      const auto slot = static_cast<std::uint32_t>(k - pairs.size());
      if (list_of_slot[slot] == no_list) append({slot, slot});
      return;
    }
    const detail::SlotPair& pair = pairs[k];
    if (constant[entry[pair.first]] == constant[entry[pair.second]]) return append(pair);
    append({pair.first, pair.first});
    append({pair.second, pair.second});
  });
}

}  // namespace

SlotSums<Space::host>::SlotSums(const Context<Space::host>& ctx, const std::vector<Offset>& entry,
                                const EntryElements& lists, const double* constant)
    : element_(lists.element.data()) {
  const bool paired = constant != nullptr;
  if (paired) pair_ = pairs_with_constants(ctx, entry, lists, constant);
  const std::int64_t count = paired ? pair_.size() : static_cast<std::int64_t>(entry.size());
  begin_ = Array<std::uint32_t, Space::host>(ctx, count);
  count_ = Array<std::uint16_t, Space::host>(ctx, count);
  constant_ = Array<double, Space::host>(ctx, paired ? count : 0);
  parallel_for(ctx, count, [&](std::int64_t k) {
    const Offset e = entry[paired ? pair_[k].first : static_cast<std::uint32_t>(k)];
    begin_[k] = e < 0 ? 0 : lists.begin[e];
    count_[k] = e < 0 ? 0 : lists.count[e];
    if (paired) constant_[k] = e < 0 ? 0 : constant[e];
  });
}

void SlotSums<Space::host>::add_up(const Context<Space::host>& ctx, const double* per_element, double* slot) const {
  const detail::ElementLists lists{begin_.data(), count_.data(), element_};
  if (pair_.empty()) {
    detail::for_elements(ctx, begin_.size(), detail::SumLoads{{}, lists, per_element, slot});
  } else {
    detail::for_elements(ctx, begin_.size(),
                         detail::FillSlots{{}, lists, constant_.data(), pair_.data(), per_element, slot});
  }
}

#if NEWEL_HAS_CUDA
namespace {

template <class T>
Array<T, Space::device> uploaded(const Context<Space::device>& ctx, const PlainVector<T>& values) {
  return make_array(ctx, Span<const T, Space::host>(values.data(), static_cast<std::int64_t>(values.size())));
}

}  // namespace

SlotSums<Space::device>::SlotSums(const Context<Space::device>& ctx, const std::vector<Offset>& entry,
                                  const EntryElements& lists, const double* constant,
                                  Span<const Index, Space::host> node)
    : SlotSums(ctx, entry, lists, constant, node,
               sum_limits(ctx, static_cast<std::int64_t>(entry.size()), constant != nullptr)) {}

SlotSums<Space::device>::SlotSums(const Context<Space::device>& ctx, const std::vector<Offset>& entry,
                                  const EntryElements& lists, const double* constant,
                                  Span<const Index, Space::host> node, const SumLimits& limits) {
  const SumPlan plan = plan_sums(host_context(ctx), entry, lists, constant, node, limits);
  chunk_ = uploaded(ctx, plan.chunk);
  group_begin_ = uploaded(ctx, plan.group_begin);
  constant_ = uploaded(ctx, plan.constant);
  place_ = uploaded(ctx, plan.place);
  list_ = uploaded(ctx, plan.list);
  other_ = uploaded(ctx, plan.other);
  node_ = uploaded(ctx, plan.node);
  shared_bytes_ = static_cast<std::uint32_t>(plan.most_values * sizeof(double));
  prepare_sum_chunks(ctx);
  if (!plan.crowded.empty()) keep_crowded(ctx, plan.crowded, entry, lists, constant, node);
}

void SlotSums<Space::device>::keep_crowded(const Context<Space::device>& ctx, const std::vector<std::int64_t>& slots,
                                           const std::vector<Offset>& entry, const EntryElements& lists,
                                           const double* constant, Span<const Index, Space::host> node) {
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
  detail::for_elements(ctx, place.size(),
                       detail::FillCrowded{{},
                                           {begin.data(), count.data(), list.data()},
                                           constants ? constant.data() : nullptr,
                                           place.data(),
                                           per_element,
                                           to});
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

}  // namespace newel::heart
