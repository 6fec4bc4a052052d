// SPDX-License-Identifier: Apache-2.0
// Sums of element numbers into slots: plans walked by the test itself, and both spaces against sums in list order.
#include "apps/heart/slot_sums.hpp"

#include <algorithm>
#include <set>

#include <purlin/core/error.hpp>

#include "tests/catch.hpp"
#include "tests/heart/heart_support.hpp"

using namespace purlin;
using namespace purlin::testing;
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
  std::vector<double> constant, number;  // per entry; per element
  std::vector<Offset> entry;             // per slot
};

Case make_case(std::int64_t entries, Index elements, std::uint64_t seed) {
  Random random(seed);
  Case c;
  const auto add = [&](std::uint32_t begin, std::size_t count, double constant) {
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
    if (kind < 2) continue;
    // The mirror, which in one case of six has a constant of its own.
    add(begin, list.size(), kind == 2 ? random.value() : constant);
    ++e;
  }
  c.number = random_vector<double>(elements, seed + 1);
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

std::vector<double> expected_sums(const Case& c, bool with_constants) {
  std::vector<double> result;
  for (const Offset e : c.entry) {
    double sum = e >= 0 && with_constants ? c.constant[e] : 0.0;
    for (std::uint32_t j = 0; e >= 0 && j < c.lists.count[e]; ++j) {
      sum += c.number[c.lists.element[c.lists.begin[e] + j]];
    }
    result.push_back(sum);
  }
  return result;
}

// The plan as its header describes it.
std::vector<double> walk(const SumPlan& plan, const Case& c, const SumLimits& limits) {
  std::vector<double> result(c.entry.size(), NAN);
  std::int64_t next_slot = 0, most = 0;
  for (const SumChunk& chunk : plan.chunk) {
    CHECK(chunk.first_slot == next_slot);
    next_slot += chunk.slots;
    std::vector<double> number;
    for (std::uint32_t i = 0; i < chunk.run; ++i) number.push_back(c.number.at(chunk.first_run + i));
    for (std::uint32_t i = 0; i < chunk.others; ++i) {
      number.push_back(c.number.at(static_cast<std::size_t>(plan.other.at(chunk.first_other + i))));
    }
    number.push_back(0);
    const auto held = static_cast<std::int64_t>(number.size()) + chunk.slots;
    most = std::max(most, held);
    CHECK(held <= limits.numbers);
    CHECK(chunk.slots <= limits.slots);
    for (std::uint32_t g = chunk.first_group; g < chunk.first_group + chunk.groups; ++g) {
      for (std::size_t lane = 0; lane < SumPlan::lanes; ++lane) {
        const std::size_t item = std::size_t{g} * SumPlan::lanes + lane;
        double sum = plan.constant.empty() ? 0.0 : plan.constant.at(item);
        for (std::uint32_t p = plan.group_begin.at(g); p < plan.group_begin.at(g + 1); ++p) {
          const ShortPair pair = plan.list.at(std::size_t{p} * SumPlan::lanes + lane);
          sum += number.at(pair.first);
          sum += number.at(pair.second);
        }
        const ShortPair place = plan.place.at(item);
        if (place.first == ShortPair::none) continue;
        CHECK(place.second < chunk.slots);
        for (const std::uint16_t at : std::set<std::uint16_t>{place.first, place.second}) {
          double& slot = result.at(static_cast<std::size_t>(chunk.first_slot) + at);
          CHECK(std::isnan(slot));  // written once
          slot = sum;
        }
      }
    }
  }
  CHECK(next_slot == static_cast<std::int64_t>(c.entry.size()));
  CHECK(plan.most_numbers == most);
  for (const std::int64_t k : plan.crowded) CHECK(result.at(static_cast<std::size_t>(k)) == 0);
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
    return SlotSums<S>(ctx, c.entry, c.lists, constant, limits);
  }
}

}  // namespace

TEST_CASE("a plan gives every slot its constant and its elements, whatever the chunks", "[heart]") {
  const Context<Space::host> ctx;
  for (const std::int64_t entries : {0, 1, 5, 32, 700, 5000}) {
    const Case c = make_case(entries, 2000, static_cast<std::uint64_t>(entries) + 3);
    for (const SumLimits& limits : all_limits) {
      for (const bool constants : {true, false}) {
        INFO(entries << " entries, " << limits.slots << " slots, " << limits.numbers << " numbers");
        const SumPlan plan = heart::plan_sums(ctx, c.entry, c.lists, constants ? c.constant.data() : nullptr, limits);
        std::vector<double> found = walk(plan, c, limits);
        const std::vector<double> expected = expected_sums(c, constants);
        CHECK(plan.crowded.empty() == (limits.numbers > 42 || entries < 32));
        for (const std::int64_t k : plan.crowded) {
          const auto at = static_cast<std::size_t>(k);
          CHECK(c.lists.count[c.entry[at]] + 2 > limits.numbers);
          found[at] = expected[at];
        }
        CHECK(found == expected);
      }
    }
  }
}

TEST_CASE("a plan adds up an entry and its mirror once where they share a chunk", "[heart]") {
  Case c;
  c.number = {1, 2, 4, 8};
  c.lists.element = {1, 2, 0, 1, 2, 3};
  c.lists.begin = {0, 0, 2};
  c.lists.count = {2, 2, 4};
  c.constant = {0.5, 0.5, 0.25};
  c.entry = {1, 2, -1, 0};
  const Context<Space::host> ctx;
  const SumPlan plan = heart::plan_sums(ctx, c.entry, c.lists, c.constant.data(), {4, 20});
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
  CHECK(walk(plan, c, {4, 20}) == std::vector<double>{6.5, 15.25, 0, 6.5});
}

TEST_CASE("limits that no chunk can keep are refused", "[heart]") {
  const Context<Space::host> ctx;
  const Case c = make_case(10, 100, 1);
  CHECK_THROWS_AS(heart::plan_sums(ctx, c.entry, c.lists, nullptr, {0, 100}), InputError);
  CHECK_THROWS_AS(heart::plan_sums(ctx, c.entry, c.lists, nullptr, {10, 3}), InputError);
  CHECK_THROWS_AS(heart::plan_sums(ctx, c.entry, c.lists, nullptr, {10, 65536}), InputError);
}

TEST_BOTH("slots receive the same bits in both spaces, at chunks' borders and where a list fits into none",
          "[heart]") {
  const Context<S> ctx;
  for (const std::int64_t entries : {1, 31, 700, 5000}) {
    const Case c = make_case(entries, 2000, static_cast<std::uint64_t>(entries) + 7);
    const auto number = upload(ctx, c.number);
    for (const SumLimits& limits : all_limits) {
      for (const bool constants : {true, false}) {
        INFO(entries << " entries, " << limits.slots << " slots, " << limits.numbers << " numbers");
        const SlotSums<S> sums = make_sums(ctx, c, constants ? c.constant.data() : nullptr, limits);
        auto slot = poisoned<double>(ctx, static_cast<std::int64_t>(c.entry.size()));
        sums.add_up(ctx, number.data(), slot.data());
        CHECK(download(ctx, slot) == expected_sums(c, constants));
      }
    }
  }
}

TEST_BOTH("the matrix and what the preconditioner reads of it have the same sums in every format", "[heart]") {
  const Context<S> ctx;
  const heart::HeartModel model = small_heart(7, 6);
  const fem::HostCsr conduction =
      heart::assemble_conduction(Context<Space::host>(), model.mesh, model.fibers, model.conductivity);
  for (const char* format : {"csr:alg2", "ehyb", "bce", "ellwarp:k1rs", "ellwarp:k2rs", "evchyb"}) {
    INFO(format);
    heart::Monodomain<S> heart(ctx, model, 0.25, sharp_options(format), heart::AssemblyKind::in_place,
                               sharp_newton());
    const Slots<double, S> slots = heart.system().matrix_slots();
    std::vector<Index> order(static_cast<std::size_t>(model.mesh.tet_count()));
    for (std::size_t e = 0; e < order.size(); ++e) order[e] = static_cast<Index>(e);
    Case c;
    c.lists = heart::entry_elements(Context<Space::host>(), model.mesh, CsrView<double, Space::host>(conduction),
                                    order, {});
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
