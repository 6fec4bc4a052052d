// SPDX-License-Identifier: Apache-2.0
// The gather through chunks against a plain loop over the slots.
#include "tests/capture_device.hpp"
#include "tests/catch.hpp"

#include "spmv/plan/slot_gather.hpp"

namespace {

constexpr Space D = Space::device;

// Runs of a layout, as EHYB's block variant and the formats without runs have them.
struct Runs {
  std::vector<Offset> from;  // -1: padding
  int run = 1;
  Index lanes = 1;

  std::int64_t slots() const { return static_cast<std::int64_t>(from.size()) * run; }

  // The position that each slot is filled from.
  std::vector<Offset> of_slots() const {
    std::vector<Offset> positions;
    for (std::size_t group = 0; group < from.size(); group += static_cast<std::size_t>(lanes)) {
      for (int e = 0; e < run; ++e) {
        for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes); ++lane) {
          const Offset start = from[group + lane];
          positions.push_back(start < 0 ? Offset{-1} : start + e);
        }
      }
    }
    return positions;
  }

  ValueMap<D> map(const Context<D>& ctx, Offset source_size) const {
    ValueMap<D> map = make_value_map(ctx, upload(ctx, from).cspan(), source_size);
    map.run = run;
    map.lanes = lanes;
    return map;
  }
};

enum class Sources { scattered, rows, overlapping };

// `count` runs: in any order; or as 32 rows whose runs follow each other lie in a sliced layout; or anywhere, twice
// too. One in `padded` is padding; 1: all of them, 0: none.
Runs some_runs(Index count, int run, Index lanes, Sources sources, Index padded) {
  Runs runs{{}, run, lanes};
  Random random(7);
  const std::vector<Index> order = random_order(count, 11);
  for (Index i = 0; i < count; ++i) {
    Offset from = order[i];
    if (sources == Sources::rows) from = i % 32 * ((count + 31) / 32) + i / 32;
    if (sources == Sources::overlapping) from = random.index(count);
    if (sources != Sources::overlapping) from *= run;
    runs.from.push_back(padded > 0 && random.index(padded) == 0 ? Offset{-1} : from);
  }
  return runs;
}

template <class T>
std::vector<T> filled(const std::vector<T>& values, const std::vector<Offset>& positions) {
  std::vector<T> slots;
  for (const Offset p : positions) slots.push_back(p < 0 ? T(0) : values[static_cast<std::size_t>(p)]);
  return slots;
}

template <class T>
void check_gather(const Context<D>& ctx, const Runs& runs) {
  INFO(runs.from.size() << " runs of " << runs.run << ", " << runs.lanes << " lanes, " << sizeof(T) << " bytes");
  const Offset source_size = (static_cast<Offset>(runs.from.size()) + 32) * runs.run;
  const std::vector<Offset> positions = runs.of_slots();
  const detail::SlotGather<T, D> gather(ctx, runs.map(ctx, source_size));
  CHECK(gather.positions(ctx, runs.slots()) == positions);
  const std::vector<T> values = random_vector<T>(source_size);
  const auto at_values = upload(ctx, values);
  auto slots = poisoned<T>(ctx, runs.slots());
  gather.gather(ctx, at_values.cspan(), slots.span());
  CHECK(same_bits(download(ctx, slots), filled(values, positions)));
}

template <class T>
constexpr Index chunk_slots = detail::SlotGather<T, D>::chunk_bytes / static_cast<Index>(sizeof(T));

template <class T>
void check_sizes(const Context<D>& ctx, int run, Index lanes) {
  const Index chunk = chunk_slots<T> / (run * lanes) * lanes;
  const std::vector<Index> few = {lanes, chunk + lanes};
  const std::vector<Index> all = {lanes, chunk - lanes, chunk, chunk + lanes, 3 * chunk + 5 * lanes};
  for (const Index count : few_wanted() ? few : all) {
    for (const Sources sources : {Sources::scattered, Sources::rows, Sources::overlapping}) {
      check_gather<T>(ctx, some_runs(count, run, lanes, sources, 9));
    }
    check_gather<T>(ctx, some_runs(count, run, lanes, Sources::rows, 0));
    check_gather<T>(ctx, some_runs(count, run, lanes, Sources::rows, 1));
  }
}

}  // namespace

TEST_ON_DEVICE("A gather through chunks fills each slot from its position, whatever the order", "[spmv][device]") {
  for (const int run : {1, 2, 3, 6}) {
    check_sizes<double>(ctx, run, 32);
    if (!few_wanted()) check_sizes<float>(ctx, run, 32);
  }
  check_sizes<double>(ctx, 1, 1);
  check_sizes<float>(ctx, 1, 1);
  check_sizes<float>(ctx, 3, 8);
}

TEST_ON_DEVICE("A chunk of padding between others is filled with zeros", "[spmv][device]") {
  Runs runs = some_runs(3 * chunk_slots<double>, 1, 1, Sources::scattered, 0);
  std::fill_n(runs.from.begin() + chunk_slots<double>, chunk_slots<double>, Offset{-1});
  check_gather<double>(ctx, runs);
}

TEST_ON_DEVICE("A gather without slots takes no values", "[spmv][device]") {
  const detail::SlotGather<double, D> none, empty(ctx, Runs().map(ctx, 0));
  Array<double, D> nothing(ctx, 0);
  none.gather(ctx, nothing.cspan(), nothing.span());
  empty.gather(ctx, nothing.cspan(), nothing.span());
  CHECK(empty.positions(ctx, 0).empty());
  CHECK(none.bytes() == 0);
  CHECK(empty.bytes() == 0);
}

TEST_ON_DEVICE("Runs that follow each other share four bytes, and take two each and their bit", "[spmv][device]") {
  // Rows of 20 runs; slots of 64 rows side by side.
  Runs rows{{}, 3, 32};
  for (Index place = 0; place < 20; ++place) {
    for (Index row = 0; row < 64; ++row) rows.from.push_back(Offset{row} * 100 + place * 3);
  }
  const detail::SlotGather<double, D> gather(ctx, rows.map(ctx, 6400));
  CHECK(gather.bytes() == 1280 * 2 + 40 * 8 + 8 + 64 * 4);  // 40 groups of 32 runs, one chunk, 64 pieces
  CHECK(gather.positions(ctx, rows.slots()) == rows.of_slots());
}

TEST_ON_DEVICE("Positions up to the last of 32 bits are kept, and wider ones as they are", "[spmv][device]") {
  const Offset last = 0xfffffffdll;
  const Runs runs{{last, 0, 5, -1, 1, last - 1, 6, 0x80000000ll}, 1, 1};
  const detail::SlotGather<double, D> narrow(ctx, runs.map(ctx, last + 1)), wide(ctx, runs.map(ctx, last + 2));
  CHECK(narrow.positions(ctx, 8) == runs.from);
  CHECK(wide.positions(ctx, 8) == runs.from);
  CHECK(wide.bytes() == 64);
}

TEST_ON_DEVICE("A gather through chunks refuses lengths that do not fit", "[spmv][device]") {
  const detail::SlotGather<double, D> gather(ctx, Runs{{2, 0}, 1, 1}.map(ctx, 3));
  const auto three = upload(ctx, std::vector<double>{1, 2, 3}), four = upload(ctx, std::vector<double>{1, 2, 3, 4});
  auto two = poisoned<double>(ctx, 2), longer = poisoned<double>(ctx, 3);
  CHECK(contains(message_of<InputError>([&] { gather.gather(ctx, four.cspan(), two.span()); }),
                 "expected 3 values, found 4"));
  CHECK(contains(message_of<InputError>([&] { gather.gather(ctx, three.cspan(), longer.span()); }),
                 "expected 2 slots, found 3"));
  CHECK(all_nan(download(ctx, two)));
  CHECK(all_nan(download(ctx, longer)));
}

TEST_ON_DEVICE("A gather through chunks may be captured in a graph", "[spmv][device]") {
  const Runs runs = some_runs(3000, 3, 1, Sources::scattered, 9);
  const detail::SlotGather<float, D> gather(ctx, runs.map(ctx, 9000));
  auto values = poisoned<float>(ctx, 9000), slots = poisoned<float>(ctx, 9000);
  const CapturedGraph graph(ctx, [&] { gather.gather(ctx, values.cspan(), slots.span()); });
  for (const std::uint64_t seed : {1, 2}) {
    const std::vector<float> fresh = random_vector<float>(9000, seed);
    copy<float>(ctx, Span<const float, Space::host>(fresh.data(), 9000), values.span());
    graph.launch();
    CHECK(same_bits(download(ctx, slots), filled(fresh, runs.of_slots())));
  }
}
