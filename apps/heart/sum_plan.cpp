// SPDX-License-Identifier: Apache-2.0
// Plans of sums: ranges of slots are planned side by side, halved until their elements fit, and then put together.
#include "apps/heart/sum_plan.hpp"

#include <algorithm>
#include <limits>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>

namespace newel::heart {
namespace {

// What plans are made from.
struct Source {
  const std::vector<Offset>& entry;
  const EntryElements& lists;
  const double* constant;
  Span<const Index, Space::host> node;
  SumLimits limits;

  double constant_of(std::int64_t slot) const { return constant == nullptr ? 0.0 : constant[entry[slot]]; }
  Index node_of(Offset e) const { return node.empty() ? -1 : node[e]; }
  // What a chunk of so many slots and elements holds.
  std::int64_t values(std::int64_t slots, std::int64_t elements) const {
    return slots + (node.empty() ? 1 : 2) * (elements + 1);
  }
  // Not even a chunk of one slot holds the list.
  bool crowded(Offset e) const { return values(1, lists.count[e]) > limits.values; }
};

// A sum on its way into a group.
struct Item {
  std::uint32_t begin;  // its list
  std::uint16_t count;
  std::uint16_t key;  // the first element of the list, in the chunk
  double constant;
  ShortPair place;
  Index node;  // -1: none

  int pairs() const { return (count + 1) / 2; }
};

// Plans chunks one after another, into a plan of its own.
class Planner {
 public:
  Planner(const Source& source, std::int64_t elements) : source_(source), number_(elements, unknown) {}

  // The chunks of slots first .. last - 1.
  void plan(std::int64_t first, std::int64_t last) {
    take_items(first, last);
    take_elements();
    const std::int64_t values = source_.values(last - first, static_cast<std::int64_t>(element_.size()));
    if (values > source_.limits.values) {
      forget_elements();
      const std::int64_t middle = first + (last - first) / 2;
      plan(first, middle);
      plan(middle, last);
      return;
    }
    SumChunk chunk{};
    chunk.first_slot = first;
    chunk.slots = static_cast<std::uint32_t>(last - first);
    number_elements(chunk);
    write_groups(chunk);
    forget_elements();
    result.most_values = std::max(result.most_values, values);
    result.chunk.push_back(chunk);
  }

  SumPlan result;  // without the end of group_begin

 private:
  static constexpr std::uint16_t unknown = 0xffff;

  void take_items(std::int64_t first, std::int64_t last) {
    const EntryElements& lists = source_.lists;
    slots_.clear();
    items_.clear();
    empty_.clear();
    crowded_.clear();
    for (std::int64_t k = first; k < last; ++k) {
      const Offset e = source_.entry[k];
      if (e >= 0 && source_.crowded(e)) crowded_.push_back(k);
      (e < 0 || source_.crowded(e) || lists.count[e] == 0 ? empty_ : slots_).push_back(k);
    }
    // An entry and its mirror share their list, and nothing else has it.
    std::sort(slots_.begin(), slots_.end(), [&](std::int64_t a, std::int64_t b) {
      const std::uint32_t s = lists.begin[source_.entry[a]], t = lists.begin[source_.entry[b]];
      return s != t ? s < t : a < b;
    });
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const std::int64_t k = slots_[i];
      const Offset e = source_.entry[k];
      const auto at = static_cast<std::uint16_t>(k - first);
      Item item{lists.begin[e], lists.count[e], 0, source_.constant_of(k), {at, at}, source_.node_of(e)};
      if (item.node < 0 && i + 1 < slots_.size() && lists.begin[source_.entry[slots_[i + 1]]] == item.begin &&
          source_.constant_of(slots_[i + 1]) == item.constant) {
        item.place.second = static_cast<std::uint16_t>(slots_[++i] - first);
      }
      items_.push_back(item);
    }
    for (const std::int64_t k : empty_) {
      const auto at = static_cast<std::uint16_t>(k - first);
      const Offset e = source_.entry[k];
      const bool alone = e >= 0 && !source_.crowded(e);
      items_.push_back({0, 0, 0, alone ? source_.constant_of(k) : 0.0, {at, at}, alone ? source_.node_of(e) : -1});
    }
  }

  // The union of the items' lists.
  void take_elements() {
    element_.clear();
    for (const Item& item : items_) {
      for (std::uint32_t j = 0; j < item.count; ++j) {
        const Index e = source_.lists.element[item.begin + j];
        if (number_[e] != unknown) continue;
        number_[e] = 0;
        element_.push_back(e);
      }
    }
    std::sort(element_.begin(), element_.end());
  }
  void forget_elements() {
    for (const Index e : element_) number_[e] = unknown;
  }

  // The longest run of consecutive elements comes first; it needs no list.
  void number_elements(SumChunk& chunk) {
    const std::size_t count = element_.size();
    std::size_t first = 0, length = 0;
    for (std::size_t i = 0, end; i < count; i = end) {
      for (end = i + 1; end < count && element_[end] == element_[end - 1] + 1;) ++end;
      if (end - i > length) first = i, length = end - i;
    }
    chunk.first_run = count > 0 ? static_cast<std::uint32_t>(element_[first]) : 0;
    chunk.run = static_cast<std::uint32_t>(length);
    chunk.first_other = static_cast<std::uint32_t>(result.other.size());
    chunk.others = static_cast<std::uint32_t>(count - length);
    for (std::size_t i = 0; i < count; ++i) {
      const bool runs = i >= first && i < first + length;
      number_[element_[i]] = static_cast<std::uint16_t>(runs ? i - first : i < first ? length + i : i);
      if (!runs) result.other.push_back(element_[i]);
    }
  }

  void write_groups(SumChunk& chunk) {
    for (Item& item : items_) item.key = item.count > 0 ? number_[source_.lists.element[item.begin]] : 0;
    std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
      if ((a.node < 0) != (b.node < 0)) return b.node < 0;
      if (a.pairs() != b.pairs()) return a.pairs() > b.pairs();
      return a.key != b.key ? a.key < b.key : a.place.first < b.place.first;
    });
    const auto others =
        std::find_if(items_.begin(), items_.end(), [](const Item& item) { return item.node < 0; }) - items_.begin();
    const auto nodes = static_cast<std::size_t>(others);
    chunk.first_group = static_cast<std::uint32_t>(result.group_begin.size());
    chunk.first_node_group = static_cast<std::uint32_t>(result.node.size() / SumPlan::lanes);
    for (std::size_t i = 0; i < nodes; i += SumPlan::lanes, ++chunk.node_groups) write_group(chunk, i, nodes);
    chunk.groups = chunk.node_groups;
    for (std::size_t i = nodes; i < items_.size(); i += SumPlan::lanes, ++chunk.groups) {
      write_group(chunk, i, items_.size());
    }
    result.crowded.insert(result.crowded.end(), crowded_.begin(), crowded_.end());
  }

  // Items first to first + 31, or to the last of their kind.
  void write_group(const SumChunk& chunk, std::size_t first, std::size_t last) {
    const auto zero = static_cast<std::uint16_t>(chunk.run + chunk.others);
    const std::size_t base = result.list.size();
    const bool of_nodes = items_[first].node >= 0;
    result.group_begin.push_back(static_cast<std::uint32_t>(base / SumPlan::lanes));
    result.list.resize(base + static_cast<std::size_t>(SumPlan::lanes * items_[first].pairs()), {zero, zero});
    for (std::size_t lane = 0; lane < SumPlan::lanes; ++lane) {
      const bool fills = first + lane >= last;
      const Item item = fills ? Item{0, 0, 0, 0.0, {ShortPair::none, ShortPair::none}, -1} : items_[first + lane];
      for (std::uint32_t j = 0; j < item.count; ++j) {
        ShortPair& pair = result.list[base + SumPlan::lanes * (j / 2) + lane];
        (j % 2 == 0 ? pair.first : pair.second) = number_[source_.lists.element[item.begin + j]];
      }
      result.place.push_back(item.place);
      if (source_.constant != nullptr) result.constant.push_back(item.constant);
      if (of_nodes) result.node.push_back(item.node);
    }
  }

  const Source& source_;
  std::vector<std::uint16_t> number_;  // per element, in the chunk
  std::vector<std::int64_t> slots_, empty_, crowded_;
  std::vector<Item> items_;
  std::vector<Index> element_;
};

// Where the pieces of each part begin in the whole, and behind the last where they end.
struct Begins {
  std::size_t chunk = 0, group = 0, constant = 0, item = 0, list = 0, other = 0, node = 0;
};

std::vector<Begins> begins_of(const std::vector<SumPlan>& parts) {
  std::vector<Begins> begins(parts.size() + 1);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Begins& at = begins[k];
    const SumPlan& part = parts[k];
    begins[k + 1] = {at.chunk + part.chunk.size(),       at.group + part.group_begin.size(),
                     at.constant + part.constant.size(), at.item + part.place.size(),
                     at.list + part.list.size(),         at.other + part.other.size(),
                     at.node + part.node.size()};
  }
  return begins;
}

// Puts the parts one behind another and frees them.
SumPlan joined(const Context<Space::host>& ctx, std::vector<SumPlan>& parts) {
  const std::vector<Begins> begins = begins_of(parts);
  const Begins& end = begins.back();
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
  if (end.list / SumPlan::lanes > most || end.other > most) {
    throw InputError("a mesh with too many tetrahedra for 32-bit lists");
  }
  SumPlan whole;
  whole.chunk.resize(end.chunk);
  whole.group_begin.resize(end.group + 1);
  whole.constant.resize(end.constant);
  whole.place.resize(end.item);
  whole.list.resize(end.list);
  whole.other.resize(end.other);
  whole.node.resize(end.node);
  parallel_tasks(ctx, parts.size(), [&](std::size_t k) {
    const Begins& at = begins[k];
    const SumPlan& part = parts[k];
    std::transform(part.chunk.begin(), part.chunk.end(), whole.chunk.begin() + at.chunk, [&](SumChunk chunk) {
      chunk.first_group += static_cast<std::uint32_t>(at.group);
      chunk.first_other += static_cast<std::uint32_t>(at.other);
      chunk.first_node_group += static_cast<std::uint32_t>(at.node / SumPlan::lanes);
      return chunk;
    });
    const auto list = static_cast<std::uint32_t>(at.list / SumPlan::lanes);
    std::transform(part.group_begin.begin(), part.group_begin.end(), whole.group_begin.begin() + at.group,
                   [&](std::uint32_t begin) { return begin + list; });
    std::copy(part.constant.begin(), part.constant.end(), whole.constant.begin() + at.constant);
    std::copy(part.place.begin(), part.place.end(), whole.place.begin() + at.item);
    std::copy(part.list.begin(), part.list.end(), whole.list.begin() + at.list);
    std::copy(part.other.begin(), part.other.end(), whole.other.begin() + at.other);
    std::copy(part.node.begin(), part.node.end(), whole.node.begin() + at.node);
  });
  whole.group_begin.back() = static_cast<std::uint32_t>(end.list / SumPlan::lanes);
  for (const SumPlan& part : parts) {
    whole.crowded.insert(whole.crowded.end(), part.crowded.begin(), part.crowded.end());
    whole.most_values = std::max(whole.most_values, part.most_values);
  }
  parts.clear();
  return whole;
}

}  // namespace

SumPlan plan_sums(const Context<Space::host>& ctx, const std::vector<Offset>& entry, const EntryElements& lists,
                  const double* constant, Span<const Index, Space::host> node, const SumLimits& limits) {
  if (limits.slots < 1 || limits.values < 5 || limits.values > ShortPair::none) {
    throw InputError("a chunk needs a slot and 5 to 65,535 values");
  }
  const Source source{entry, lists, constant, node, limits};
  const auto count = static_cast<std::int64_t>(entry.size());
  const std::int64_t size = std::min(limits.slots, limits.values - 1), ranges = (count + size - 1) / size;
  const Index elements =
      1 + parallel_max(ctx, lists.element.size(), Index{-1}, [&](std::size_t k) { return lists.element[k]; });
  // A part for each share of the ranges; put together, they do not depend on how many there are.
  std::vector<SumPlan> parts(static_cast<std::size_t>(share_count(ctx, ranges, 1)));
  parallel_ranges(
      ctx, ranges,
      [&](std::int64_t range_begin, std::int64_t range_end, std::int64_t share) {
        Planner planner(source, elements);
        for (std::int64_t k = range_begin; k < range_end; ++k)
          planner.plan(k * size, std::min(count, (k + 1) * size));
        parts[static_cast<std::size_t>(share)] = std::move(planner.result);
      },
      1);
  return joined(ctx, parts);
}

}  // namespace newel::heart
