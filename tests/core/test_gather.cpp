// SPDX-License-Identifier: Apache-2.0
// gather by index and by value map, gather_sum, and the composition of value maps.
#include "tests/catch.hpp"

namespace {

// n positions below `source_size`, with a "none" now and then.
std::vector<Offset> some_positions(std::int64_t n, Index source_size, std::uint64_t seed) {
  Random random(seed);
  std::vector<Offset> positions;
  for (std::int64_t i = 0; i < n; ++i) positions.push_back(i % 5 == 3 ? Offset{-1} : random.index(source_size));
  return positions;
}

template <class T>
std::vector<T> gathered(const std::vector<T>& x, const std::vector<Offset>& positions) {
  std::vector<T> y;
  for (const Offset p : positions) y.push_back(p < 0 ? T(0) : x[p]);
  return y;
}

// The map as plain positions, -1 for none.
template <Space S>
std::vector<Offset> positions_of(const Context<S>& ctx, const ValueMap<S>& map) {
  if (map.narrow.empty()) return download(ctx, map.wide);
  std::vector<Offset> positions;
  for (const std::uint32_t p : download(ctx, map.narrow)) {
    positions.push_back(p == ValueMap<S>::none32 ? Offset{-1} : Offset{p});
  }
  return positions;
}

}  // namespace

TEST_BOTH("gather by index takes what the indices say", "[vector_ops]") {
  for (const std::int64_t n : {0, 1, 31, 32, 33, 4097, 100003}) {
    const std::vector<double> x = random_vector<double>(777);
    const std::vector<Offset> positions = some_positions(n, 777, 5);
    const std::vector<Index> from(positions.begin(), positions.end());
    const auto at_x = upload(ctx, x);
    const auto at_from = upload(ctx, from);
    auto y = poisoned<double>(ctx, n);
    gather<double>(ctx, at_x.cspan(), at_from.cspan(), y.span());
    CHECK(same_bits(download(ctx, y), gathered(x, positions)));
  }
}

TEST_BOTH("gather by a narrow and by a wide map agree with the plain loop, with 0 where the map says none",
          "[vector_ops]") {
  for (const std::int64_t n : {1, 31, 32, 33, 4097, 100003}) {
    const std::vector<float> x = random_vector<float>(1234);
    const std::vector<Offset> positions = some_positions(n, 1234, 6);
    const auto at_x = upload(ctx, x);
    const auto at_positions = upload(ctx, positions);

    const ValueMap<S> narrow = make_value_map(ctx, at_positions.cspan(), 1234);
    CHECK(narrow.narrow.size() == n);
    CHECK(narrow.wide.empty());
    CHECK_FALSE(narrow.identity());
    auto y = poisoned<float>(ctx, n);
    gather<float>(ctx, at_x.cspan(), narrow, y.span());
    CHECK(same_bits(download(ctx, y), gathered(x, positions)));

    ValueMap<S> wide;
    wide.wide = upload(ctx, positions);
    wide.source_size = 1234;
    y = poisoned<float>(ctx, n);
    gather<float>(ctx, at_x.cspan(), wide, y.span());
    CHECK(same_bits(download(ctx, y), gathered(x, positions)));
  }
}

TEST_BOTH("A map of runs fills what its positions say when they are written out", "[vector_ops]") {
  constexpr Index source_size = 500;
  const std::vector<double> x = random_vector<double>(source_size);
  const auto at_x = upload(ctx, x);
  for (const int run : {1, 2, 3, 6}) {
    for (const Index lanes : {1, 4, 32}) {
      for (const bool wide : {false, true}) {
        INFO("runs of " << run << ", " << lanes << " lanes, " << (wide ? "wide" : "narrow"));
        const std::vector<Offset> starts = some_positions(5 * lanes, source_size - run, 9);
        std::vector<Offset> expected(starts.size() * static_cast<std::size_t>(run));
        for (std::size_t i = 0; i < starts.size(); ++i) {
          for (int e = 0; e < run; ++e) {
            expected[(i / lanes * run + e) * lanes + i % lanes] = starts[i] < 0 ? -1 : starts[i] + e;
          }
        }
        const auto at_starts = upload(ctx, starts);
        ValueMap<S> map = make_value_map(ctx, at_starts.cspan(), wide ? Offset{1} << 40 : Offset{source_size});
        map.source_size = source_size;
        map.run = run;
        map.lanes = lanes;
        CHECK(map.narrow.empty() == wide);
        CHECK(newel::positions_of(ctx, map, map.size()) == expected);
        auto y = poisoned<double>(ctx, map.size());
        gather<double>(ctx, at_x.cspan(), map, y.span());
        CHECK(same_bits(download(ctx, y), gathered(x, expected)));
      }
    }
  }
}

TEST_BOTH("The empty map is the identity", "[vector_ops]") {
  const ValueMap<S> identity;
  CHECK(identity.identity());
  CHECK(identity.size() == 0);
  CHECK(identity.bytes() == 0);
  for (const std::int64_t n : {0, 1, 1000}) {
    const std::vector<double> x = random_vector<double>(n);
    const auto at_x = upload(ctx, x);
    auto y = poisoned<double>(ctx, n);
    gather<double>(ctx, at_x.cspan(), identity, y.span());
    CHECK(same_bits(download(ctx, y), x));
  }
}

TEST_BOTH("A map is 32 bits wide where the caller's count of values allows it", "[vector_ops]") {
  const std::vector<Offset> positions = {0, -1, 5, 0xfffffffdll};
  const auto at_positions = upload(ctx, positions);
  const ValueMap<S> narrow = make_value_map(ctx, at_positions.cspan(), 0xfffffffell);
  CHECK(narrow.narrow.size() == 4);
  CHECK(narrow.bytes() == 16);
  CHECK(positions_of(ctx, narrow) == positions);
  // The number 0xffffffff says none, so that as many values need 64 bits.
  const ValueMap<S> wide = make_value_map(ctx, at_positions.cspan(), 0xffffffffll);
  CHECK(wide.narrow.empty());
  CHECK(wide.bytes() == 32);
  CHECK(wide.source_size == 0xffffffffll);
  CHECK(positions_of(ctx, wide) == positions);
}

TEST_BOTH("A map through another is one gather instead of two", "[vector_ops]") {
  const Index caller = 500, middle = 300, n = 1000;
  const std::vector<Offset> inner = some_positions(middle, caller, 7), outer = some_positions(n, middle, 8);
  const auto at_inner = upload(ctx, inner), at_outer = upload(ctx, outer);
  std::vector<Offset> both;
  for (const Offset p : outer) both.push_back(p < 0 ? Offset{-1} : inner[p]);

  const ValueMap<S> through = make_value_map(ctx, at_inner.cspan(), caller);
  const ValueMap<S> narrow = make_value_map(ctx, at_outer.cspan(), middle, &through);
  CHECK(narrow.source_size == caller);
  CHECK(positions_of(ctx, narrow) == both);

  // A caller with more values than 32 bits count: the positions are the same, in 64 bits.
  const Offset many = Offset{1} << 33;
  const ValueMap<S> wide_through = make_value_map(ctx, at_inner.cspan(), many);
  const ValueMap<S> wide = make_value_map(ctx, at_outer.cspan(), middle, &wide_through);
  CHECK(wide.narrow.empty());
  CHECK(wide.source_size == many);
  CHECK(positions_of(ctx, wide) == both);

  const ValueMap<S> identity;
  const ValueMap<S> unchanged = make_value_map(ctx, at_outer.cspan(), middle, &identity);
  CHECK(unchanged.source_size == middle);
  CHECK(positions_of(ctx, unchanged) == outer);

  const ValueMap<S> twin = copy_of(ctx, narrow);
  CHECK(twin.source_size == caller);
  CHECK(positions_of(ctx, twin) == both);
}

TEST_BOTH("gather refuses lengths that do not fit", "[vector_ops]") {
  const auto x = upload(ctx, std::vector<double>{1, 2, 3});
  const auto four = upload(ctx, std::vector<double>{1, 2, 3, 4});
  const auto from = upload(ctx, std::vector<Index>{0, 1});
  const auto positions = upload(ctx, std::vector<Offset>{2, 0});
  const ValueMap<S> map = make_value_map(ctx, positions.cspan(), 3), identity;
  auto y = poisoned<double>(ctx, 2), longer = poisoned<double>(ctx, 3);
  CHECK_THROWS_AS(gather<double>(ctx, x.cspan(), from.cspan(), longer.span()), InputError);
  CHECK_THROWS_AS(gather<double>(ctx, x.cspan(), map, longer.span()), InputError);
  CHECK(contains(message_of<InputError>([&] { gather<double>(ctx, four.cspan(), map, y.span()); }),
                 "expected 3 values, found 4"));
  CHECK(contains(message_of<InputError>([&] { gather<double>(ctx, four.cspan(), identity, longer.span()); }),
                 "expected 3 values, found 4"));
  CHECK(all_nan(download(ctx, y)));
  CHECK(all_nan(download(ctx, longer)));
  gather<double>(ctx, x.cspan(), map, y.span());
  CHECK(download(ctx, y) == std::vector<double>{3, 1});
}

TEST_BOTH("gather_sum adds each segment in its order", "[vector_ops]") {
  for (const std::int64_t n : {0, 1, 31, 32, 33, 4097, 20011}) {
    Random random(9);
    std::vector<Offset> first = {0};
    for (std::int64_t k = 0; k < n; ++k) first.push_back(first.back() + 1 + random.index(k % 100 == 0 ? 40 : 3));
    const std::vector<Index> order = random_order(static_cast<Index>(first.back()));
    const std::vector<Offset> source(order.begin(), order.end());
    const std::vector<float> x = random_vector<float>(first.back());
    std::vector<float> expected;
    for (std::int64_t k = 0; k < n; ++k) {
      float total = x[source[first[k]]];
      for (Offset e = first[k] + 1; e < first[k + 1]; ++e) total += x[source[e]];
      expected.push_back(total);
    }
    const auto at_x = upload(ctx, x);
    const auto at_first = upload(ctx, first), at_source = upload(ctx, source);
    auto y = poisoned<float>(ctx, n);
    gather_sum<float>(ctx, at_x.cspan(), at_first.cspan(), at_source.cspan(), y.span());
    CHECK(same_bits(download(ctx, y), expected));
  }
}

TEST_BOTH("gather_sum refuses lengths that do not fit", "[vector_ops]") {
  const auto x = upload(ctx, std::vector<double>{1, 2, 3});
  const auto first = upload(ctx, std::vector<Offset>{0, 1, 3}), source = upload(ctx, std::vector<Offset>{2, 1, 0});
  auto y = poisoned<double>(ctx, 2), longer = poisoned<double>(ctx, 3);
  CHECK_THROWS_AS(gather_sum<double>(ctx, x.cspan(), first.cspan(), source.cspan(), longer.span()), InputError);
  gather_sum<double>(ctx, x.cspan(), first.cspan(), source.cspan(), y.span());
  CHECK(download(ctx, y) == std::vector<double>{3, 3});
}
