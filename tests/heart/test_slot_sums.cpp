// SPDX-License-Identifier: Apache-2.0
// Sums of element numbers into slots: plans walked by the test itself, and both spaces against sums in list order.
#include "apps/heart/slot_sums.hpp"

#include "tests/heart/heart_support.hpp"

using heart::EntryElements;
using heart::ShortPair;
using heart::SlotSums;
using heart::SumChunk;
using heart::SumLimits;
using heart::SumPlan;

namespace {

// Entries with lists of their own or a mirror's, slots in some order with padding between them.
struct Case {
  EntryElements lists;
  std::vector<double> constant;        // per entry
  std::vector<double> number, second;  // per element
  std::vector<Offset> entry;           // per slot
  std::vector<Index> node;             // per entry
  std::vector<Offset> entry_of_node;
};

Case make_case(std::int64_t entries, Index elements, std::uint64_t seed) {
  Random random(seed);
  Case c;
  const auto add = [&](std::uint32_t begin, std::size_t count, double constant) {
    if (c.lists.begin.empty() || c.lists.begin.back() != begin || count == 0) ++c.lists.lists;
    c.lists.list.push_back(c.lists.lists - 1);
    c.lists.begin.push_back(begin);
    c.lists.count.push_back(static_cast<std::uint16_t>(count));
    c.constant.push_back(constant);
  };
  for (std::int64_t e = 0; e < entries; ++e) {
    const std::size_t kind = static_cast<std::size_t>(random.index(8));
    std::set<Index> list;  // near one another, as in a mesh
    const Index near = static_cast<Index>(e * elements / entries);
    const Index wanted = kind == 0 ? 0 : kind == 1 ? 40 : 1 + random.index(7);
    for (Index j = 0; j < wanted; ++j) list.insert(std::min(elements - 1, near + random.index(60)));
    const auto begin = static_cast<std::uint32_t>(c.lists.element.size());
    const double constant = random.value();
    c.lists.element.insert(c.lists.element.end(), list.begin(), list.end());
    add(begin, list.size(), constant);
    if (kind < 2) {
      c.node.push_back(static_cast<Index>(c.entry_of_node.size()));
      c.entry_of_node.push_back(static_cast<Offset>(c.constant.size()) - 1);
      continue;
    }
    c.node.insert(c.node.end(), 2, -1);
    // The mirror, which in one case of six has a constant of its own.
    add(begin, list.size(), kind == 2 ? random.value() : constant);
    ++e;
  }
  c.number = random_vector<double>(elements, seed + 1);
  c.second = random_vector<double>(elements, seed + 2);
  for (std::size_t e = 0; e < c.constant.size(); ++e) {
    if (random.index(9) == 0) c.entry.push_back(-1);
    c.entry.push_back(static_cast<Offset>(e));
  }
  // Neighbours change places, so that some mirrors are far from each other.
  for (std::size_t k = 0; k + 50 < c.entry.size(); k += 1 + static_cast<std::size_t>(random.index(5))) {
    std::swap(c.entry[k], c.entry[k + static_cast<std::size_t>(random.index(50))]);
  }
  return c;
}

std::vector<double> sums_of(const Case& c, const std::vector<Offset>& entries, bool with_constants,
                            const std::vector<double>& number) {
  std::vector<double> result;
  for (const Offset e : entries) {
    double sum = e >= 0 && with_constants ? c.constant[e] : 0.0;
    for (std::uint32_t j = 0; e >= 0 && j < c.lists.count[e]; ++j) {
      sum += number[c.lists.element[c.lists.begin[e] + j]];
    }
    result.push_back(sum);
  }
  return result;
}
std::vector<double> expected_sums(const Case& c, bool with_constants) {
  return sums_of(c, c.entry, with_constants, c.number);
}
std::vector<double> expected_nodes(const Case& c) { return sums_of(c, c.entry_of_node, false, c.second); }

struct Walked {
  std::vector<double> slot, node;
};

void write_once(double& to, double value) {
  CHECK(std::isnan(to));
  to = value;
}

// Group g of a chunk, as the plan's header describes it; `second` is empty where the group is of no nodes.
void walk_group(const SumPlan& plan, const SumChunk& chunk, std::uint32_t g, const std::vector<double>& number,
                const std::vector<double>& second, Walked& result) {
  const std::uint32_t group = chunk.first_group + g;
  for (std::size_t lane = 0; lane < SumPlan::lanes; ++lane) {
    const std::size_t item = std::size_t{group} * SumPlan::lanes + lane;
    double sum = plan.constant.empty() ? 0.0 : plan.constant.at(item), node_sum = 0;
    for (std::uint32_t p = plan.group_begin.at(group); p < plan.group_begin.at(group + 1); ++p) {
      const ShortPair pair = plan.list.at(std::size_t{p} * SumPlan::lanes + lane);
      for (const std::uint16_t e : {pair.first, pair.second}) {
        sum += number.at(e);
        if (!second.empty()) node_sum += second.at(e);
      }
    }
    const ShortPair place = plan.place.at(item);
    if (!second.empty()) {
      const Index node = plan.node.at((std::size_t{chunk.first_node_group} + g) * SumPlan::lanes + lane);
      CHECK((node < 0) == (place.first == ShortPair::none));
      if (node >= 0) write_once(result.node.at(static_cast<std::size_t>(node)), node_sum);
    }
    if (place.first == ShortPair::none) continue;
    for (const std::uint16_t at : std::set<std::uint16_t>{place.first, place.second}) {
      CHECK(at < chunk.slots);
      write_once(result.slot.at(static_cast<std::size_t>(chunk.first_slot) + at), sum);
    }
  }
}

Walked walk(const SumPlan& plan, const Case& c, bool nodes, const SumLimits& limits) {
  Walked result{std::vector<double>(c.entry.size(), NAN), std::vector<double>(c.entry_of_node.size(), NAN)};
  std::int64_t next_slot = 0, most = 0;
  for (const SumChunk& chunk : plan.chunk) {
    CHECK(chunk.first_slot == next_slot);
    next_slot += chunk.slots;
    std::vector<double> number, second;
    for (std::uint32_t i = 0; i < chunk.run + chunk.others; ++i) {
      const std::size_t e = i < chunk.run
                                ? chunk.first_run + i
                                : static_cast<std::size_t>(plan.other.at(chunk.first_other + i - chunk.run));
      number.push_back(c.number.at(e));
      second.push_back(c.second.at(e));
    }
    number.push_back(0);
    second.push_back(0);
    const std::int64_t held = static_cast<std::int64_t>((nodes ? 2 : 1) * number.size()) + chunk.slots;
    most = std::max(most, held);
    CHECK(held <= limits.values);
    CHECK(chunk.slots <= limits.slots);
    for (std::uint32_t g = 0; g < chunk.groups; ++g) {
      walk_group(plan, chunk, g, number, g < chunk.node_groups ? second : std::vector<double>{}, result);
    }
  }
  CHECK(next_slot == static_cast<std::int64_t>(c.entry.size()));
  CHECK(plan.most_values == most);
  return result;
}

const std::vector<SumLimits> all_limits = {{4096, 9472}, {100, 1000}, {33, 200}, {31, 60},
                                           {1, 45},      {1000, 45},  {9, 20}};

template <Space S>
SlotSums<S> make_sums(const Context<S>& ctx, const Case& c, const double* constant, const SumLimits& limits) {
  if constexpr (S == Space::host) {
    (void)limits;
    return SlotSums<S>(ctx, c.entry, c.lists, constant);
  } else {
    return SlotSums<S>(ctx, c.entry, c.lists, constant, {}, limits);
  }
}

}  // namespace

TEST_ON_HOST("a plan gives every slot its constant and its elements, and nodes theirs, whatever the chunks",
             "[heart]") {
  for (const std::int64_t entries : {0, 1, 5, 32, 700, 5000}) {
    const Case c = make_case(entries, 2000, static_cast<std::uint64_t>(entries) + 3);
    for (const SumLimits& limits : all_limits) {
      for (const bool nodes : {true, false}) {
        INFO(entries << " entries, " << limits.slots << " slots, " << limits.values << " numbers, nodes " << nodes);
        // Sums of a matrix with constants and nodes, or of nodes alone.
        const SumPlan plan = heart::plan_sums(ctx, c.entry, c.lists, nodes ? c.constant.data() : nullptr,
                                              nodes ? c.node : std::vector<Index>{}, limits);
        Walked found = walk(plan, c, nodes, limits);
        const std::vector<double> expected = expected_sums(c, nodes);
        const std::vector<double> expected_node = nodes ? expected_nodes(c) : found.node;
        // Lists of up to 40 elements.
        if (limits.values >= 90) CHECK(plan.crowded.empty());
        if (limits.values <= 45 && nodes && entries >= 700) CHECK(plan.crowded.size() > 10);
        for (const std::int64_t k : plan.crowded) {
          const auto at = static_cast<std::size_t>(k);
          const auto entry = static_cast<std::size_t>(c.entry[at]);
          CHECK(1 + (nodes ? 2 : 1) * (c.lists.count[entry] + 1) > limits.values);
          CHECK(found.slot[at] == 0);
          found.slot[at] = expected[at];
          if (!nodes || c.node[entry] < 0) continue;
          const auto node = static_cast<std::size_t>(c.node[entry]);
          write_once(found.node[node], expected_node[node]);
        }
        CHECK(found.slot == expected);
        if (nodes) CHECK(found.node == expected_node);
      }
    }
  }
}

TEST_CASE("a plan adds up an entry and its mirror once where they share a chunk", "[heart]") {
  Case c;
  c.number = c.second = {1, 2, 4, 8};
  c.lists.element = {1, 2, 0, 1, 2, 3};
  c.lists.begin = {0, 0, 2};
  c.lists.list = {0, 0, 1};
  c.lists.lists = 2;
  c.lists.count = {2, 2, 4};
  c.constant = {0.5, 0.5, 0.25};
  c.entry = {1, 2, -1, 0};
  const Context<Space::host> ctx;
  const SumPlan plan = heart::plan_sums(ctx, c.entry, c.lists, c.constant.data(), {}, {4, 20});
  REQUIRE(plan.chunk.size() == 1);
  CHECK(plan.chunk[0].run == 4);
  CHECK(plan.chunk[0].others == 0);
  CHECK(plan.place.size() == 32);  // three items, the longest first, and 29 that fill their group
  CHECK(plan.place[0].first == 1);
  CHECK(plan.place[0].second == 1);
  CHECK(plan.place[1].first == 0);
  CHECK(plan.place[1].second == 3);
  CHECK(plan.place[2].first == 2);
  CHECK(plan.place[3].first == ShortPair::none);
  CHECK(plan.list.size() == 64);
  CHECK(walk(plan, c, false, {4, 20}).slot == std::vector<double>{6.5, 15.25, 0, 6.5});
}

TEST_ON_HOST("limits that no chunk can keep are refused", "[heart]") {
  const Case c = make_case(10, 100, 1);
  CHECK_THROWS_AS(heart::plan_sums(ctx, c.entry, c.lists, nullptr, {}, {0, 100}), InputError);
  CHECK_THROWS_AS(heart::plan_sums(ctx, c.entry, c.lists, nullptr, {}, {10, 4}), InputError);
  CHECK_THROWS_AS(heart::plan_sums(ctx, c.entry, c.lists, nullptr, {}, {10, 65536}), InputError);
}

TEST_BOTH("slots receive the same bits in both spaces, at chunks' borders and where a list fits into none",
          "[heart]") {
  for (const std::int64_t entries : {1, 31, 700, 5000}) {
    const Case c = make_case(entries, 2000, static_cast<std::uint64_t>(entries) + 7);
    const auto number = upload(ctx, c.number);
    for (const SumLimits& limits : all_limits) {
      for (const bool constants : {true, false}) {
        INFO(entries << " entries, " << limits.slots << " slots, " << limits.values << " numbers");
        const SlotSums<S> sums = make_sums(ctx, c, constants ? c.constant.data() : nullptr, limits);
        auto slot = poisoned<double>(ctx, static_cast<std::int64_t>(c.entry.size()));
        sums.add_up(ctx, number.data(), slot.data());
        CHECK(download(ctx, slot) == expected_sums(c, constants));
      }
    }
  }
}

#if NEWEL_HAS_CUDA
TEST_ON_DEVICE("nodes receive their sums and their diagonal entries with the slots", "[heart][device]") {
  const Case c = make_case(3000, 2000, 11);
  const auto number = upload(ctx, c.number), second = upload(ctx, c.second);
  const auto nodes = static_cast<std::int64_t>(c.entry_of_node.size());
  for (const SumLimits& limits : all_limits) {
    INFO(limits.slots << " slots, " << limits.values << " numbers");
    const SlotSums<Space::device> sums(ctx, c.entry, c.lists, c.constant.data(), c.node, limits);
    for (const bool wanted : {true, false}) {
      auto slot = poisoned<double>(ctx, static_cast<std::int64_t>(c.entry.size()));
      auto node = poisoned<double>(ctx, nodes), diagonal = poisoned<double>(ctx, nodes);
      sums.add_up_with_nodes(ctx, number.data(), slot.data(),
                             {second.data(), node.data(), wanted ? diagonal.data() : nullptr});
      CHECK(download(ctx, slot) == expected_sums(c, true));
      CHECK(download(ctx, node) == expected_nodes(c));
      if (wanted) CHECK(download(ctx, diagonal) == sums_of(c, c.entry_of_node, true, c.number));
    }
    auto slot = poisoned<double>(ctx, static_cast<std::int64_t>(c.entry.size()));
    sums.add_up(ctx, number.data(), slot.data());
    CHECK(download(ctx, slot) == expected_sums(c, true));
  }
}
#endif

TEST_BOTH("the slots of every format receive their entries' sums", "[heart]") {
  const heart::HeartModel model = small_heart(7, 6);
  const fem::HostCsr conduction =
      heart::assemble_conduction(Context<Space::host>(), model.mesh, model.fibers, model.conductivity);
  for (const char* format : {"csr", "ehyb", "bce", "ellwarp:k1rs", "ellwarp:k2rs", "evchyb"}) {
    INFO(format);
    heart::Monodomain<S> heart(ctx, model, 0.25, sharp_options(format), heart::AssemblyKind::in_place,
                               sharp_newton());
    const Slots<double, S> slots = heart.system().in_place().matrix();
    std::vector<Index> order(static_cast<std::size_t>(model.mesh.tet_count()));
    for (std::size_t e = 0; e < order.size(); ++e) order[e] = static_cast<Index>(e);
    Case c;
    c.lists =
        heart::entry_elements(Context<Space::host>(), model.mesh, fem::node_tets(Context<Space::host>(), model.mesh),
                              CsrView<double, Space::host>(conduction), order, {});
    c.constant = std::vector<double>(conduction.val.begin(), conduction.val.end());
    c.number = random_vector<double>(model.mesh.tet_count());
    c.entry = slots.entry;
    const SlotSums<S> sums = make_sums(ctx, c, c.constant.data(), {300, 1500});
    const auto number = upload(ctx, c.number);
    auto slot = poisoned<double>(ctx, static_cast<std::int64_t>(c.entry.size()));
    sums.add_up(ctx, number.data(), slot.data());
    CHECK(download(ctx, slot) == expected_sums(c, true));
  }
}

TEST_CASE("the host's slots receive the same bits with any number of threads", "[heart]") {
  const Case c = make_case(6000, 2000, 3);
  const Context<Space::host> one(1);
  for (const int threads : {1, 2, 5, 16}) {
    const Context<Space::host> ctx(threads);
    for (const bool constants : {true, false}) {
      INFO(threads << " threads");
      const SlotSums<Space::host> sums(ctx, c.entry, c.lists, constants ? c.constant.data() : nullptr);
      CHECK(sums.bytes() ==
            SlotSums<Space::host>(one, c.entry, c.lists, constants ? c.constant.data() : nullptr).bytes());
      std::vector<double> slot(c.entry.size(), -7);
      sums.add_up(ctx, c.number.data(), slot.data());
      CHECK(slot == expected_sums(c, constants));
    }
  }
}

TEST_CASE("elements are ordered by their lowest node, and lists made, alike by any number of threads", "[heart]") {
  const heart::HeartModel model = small_heart(13, 6);
  const Context<Space::host> one(1);
  const fem::HostCsr conduction = heart::assemble_conduction(one, model.mesh, model.fibers, model.conductivity);
  const CsrView<double, Space::host> pattern(conduction);
  std::vector<Index> new_of_old(model.mesh.nodes.size()), old_of_new(model.mesh.nodes.size());
  for (std::size_t i = 0; i < new_of_old.size(); ++i) {
    new_of_old[i] = static_cast<Index>(i * 1009 % new_of_old.size());  // 13^3 and 1009 have no common factor
    old_of_new[static_cast<std::size_t>(new_of_old[i])] = static_cast<Index>(i);
  }
  const auto lowest = [&](Index t) {
    Index low = model.mesh.node_count();
    for (const Index node : model.mesh.tets[t]) low = std::min(low, new_of_old[node]);
    return low;
  };
  std::vector<Index> expected(model.mesh.tets.size());
  for (std::size_t t = 0; t < expected.size(); ++t) expected[t] = static_cast<Index>(t);
  std::stable_sort(expected.begin(), expected.end(), [&](Index s, Index t) { return lowest(s) < lowest(t); });
  const EntryElements lists =
      heart::entry_elements(one, model.mesh, fem::node_tets(one, model.mesh), pattern, expected, old_of_new);
  for (const int threads : {1, 2, 5, 16}) {
    const Context<Space::host> ctx(threads);
    REQUIRE(heart::order_elements(ctx, model.mesh, new_of_old) == expected);
    const EntryElements same =
        heart::entry_elements(ctx, model.mesh, fem::node_tets(ctx, model.mesh), pattern, expected, old_of_new);
    REQUIRE(same.begin == lists.begin);
    REQUIRE(same.count == lists.count);
    REQUIRE(same.list == lists.list);
    REQUIRE(same.lists == lists.lists);
    REQUIRE(same.element == lists.element);
  }
  // The elements of an entry are those that have both nodes, ascending in the order.
  std::vector<Index> place(expected.size());
  for (std::size_t e = 0; e < expected.size(); ++e)
    place[static_cast<std::size_t>(expected[e])] = static_cast<Index>(e);
  for (const Index a : {Index{0}, Index{77}, Index{2196}}) {
    for (Offset k = conduction.row_ptr[a]; k < conduction.row_ptr[a + 1]; ++k) {
      std::vector<Index> both;
      for (Index t = 0; t < model.mesh.tet_count(); ++t) {
        const fem::Tet& tet = model.mesh.tets[t];
        const auto has = [&](Index node) { return std::find(tet.begin(), tet.end(), node) != tet.end(); };
        if (has(a) && has(conduction.col[k])) both.push_back(place[t]);
      }
      std::sort(both.begin(), both.end());
      const auto first = lists.element.begin() + lists.begin[k];
      REQUIRE(std::vector<Index>(first, first + lists.count[k]) == both);
    }
  }
}
