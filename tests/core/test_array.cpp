// SPDX-License-Identifier: Apache-2.0
// Arrays and spans: ownership, the ledger, copies between spaces, and what happens when memory does not suffice.
#include "tests/catch.hpp"

TEST_BOTH("An array without a size is empty and holds no memory", "[core]") {
  const Array<double, S> none;
  CHECK(none.empty());
  CHECK(none.size() == 0);
  CHECK(none.data() == nullptr);
  const auto ctx = make_context<S>();
  const MemoryUse before = ctx.memory()->use();
  const Array<double, S> zero(ctx, 0);
  CHECK(zero.empty());
  CHECK(zero.data() == nullptr);
  CHECK(ctx.memory()->use().allocations == before.allocations);
}

TEST_BOTH("An array counts in its context's ledger from birth to death", "[core]") {
  const MemoryUse before = ctx.memory()->use();
  {
    const Array<double, S> a(ctx, 1000);
    CHECK(a.size() == 1000);
    CHECK(a.bytes() == 8000);
    CHECK(ctx.memory()->use().bytes == before.bytes + 8000);
    {
      const Array<float, S> b(ctx, 500);
      CHECK(ctx.memory()->use().bytes == before.bytes + 10000);
    }
    CHECK(ctx.memory()->use().bytes == before.bytes + 8000);
  }
  const MemoryUse after = ctx.memory()->use();
  CHECK(after.bytes == before.bytes);
  CHECK(after.peak_bytes >= before.bytes + 10000);
  CHECK(after.allocations == before.allocations + 2);
}

TEST_BOTH("Moving an array hands over its memory and counts nothing twice", "[core]") {
  const std::uint64_t before = ctx.memory()->use().bytes;
  Array<int, S> a = upload(ctx, std::vector<int>{1, 2, 3});
  const int* const memory = a.data();
  Array<int, S> b(std::move(a));
  CHECK(b.data() == memory);
  CHECK(a.empty());
  CHECK(a.data() == nullptr);
  CHECK(a.bytes() == 0);

  Array<int, S> c = upload(ctx, std::vector<int>{4, 5});
  c = std::move(b);
  CHECK(c.data() == memory);
  CHECK(b.empty());
  CHECK(download(ctx, c) == std::vector<int>{1, 2, 3});
  CHECK(ctx.memory()->use().bytes == before + 3 * sizeof(int));

  Array<int, S>& alias = c;
  c = std::move(alias);
  CHECK(download(ctx, c) == std::vector<int>{1, 2, 3});
  c = Array<int, S>();
  CHECK(ctx.memory()->use().bytes == before);
}

TEST_BOTH("An array outlives the context that made it", "[core]") {
  Array<double, S> a;
  {
    const auto ctx = make_context<S>();
    a = upload(ctx, std::vector<double>{1, 2, 3});
    ctx.synchronize();
  }
  CHECK(a.size() == 3);
}

TEST_BOTH("Array memory is aligned for the widest loads", "[core]") {
  const std::uintptr_t alignment = S == Space::host ? 64 : 256;
  for (const std::int64_t n : {1, 3, 17, 1000}) {
    const Array<float, S> a(ctx, n);
    CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % alignment == 0);
  }
}

TEST_BOTH("A negative size is refused", "[core]") { CHECK_THROWS_AS((Array<double, S>(ctx, -1)), InputError); }

TEST_BOTH("Too large an array says how much was wanted and how much there was", "[core]") {
  const std::int64_t petabyte = std::int64_t{1} << 50;
  const MemoryUse before = ctx.memory()->use();
  bool thrown = false;
  try {
    const Array<double, S> a(ctx, petabyte / 8);
  } catch (const OutOfMemory& e) {
    thrown = true;
    CHECK(e.wanted_bytes() == static_cast<std::uint64_t>(petabyte));
    CHECK(e.available_bytes() > 0);
    CHECK(e.available_bytes() < e.wanted_bytes());
    CHECK(e.on_device() == (S == Space::device));
    CHECK(contains(e.what(), "1.13 PB needed"));
    CHECK(contains(e.what(), std::string(name_of(S)) + " memory"));
  }
  CHECK(thrown);
  CHECK(ctx.memory()->use().bytes == before.bytes);
  CHECK(ctx.memory()->use().allocations == before.allocations);
  // The context works on.
  CHECK(download(ctx, upload(ctx, std::vector<int>{7})) == std::vector<int>{7});
}

TEST_BOTH("A size whose bytes do not fit in 64 bits is out of memory, not a small array", "[core]") {
  for (const std::int64_t n : {std::int64_t{1} << 61, (std::int64_t{1} << 61) + 1, std::int64_t{1} << 62,
                               std::numeric_limits<std::int64_t>::max()}) {
    CHECK_THROWS_AS((Array<double, S>(ctx, n)), OutOfMemory);
  }
}

TEST_BOTH("Values survive the way into a space, within it and back", "[core]") {
  for (const std::int64_t n : {0, 1, 31, 100003}) {
    const std::vector<double> x = random_vector<double>(n);
    const Array<double, S> there = upload(ctx, x);
    Array<double, S> other = poisoned<double>(ctx, n);
    copy<double>(ctx, there.span(), other.span());
    CHECK(same_bits(download(ctx, other), x));
    CHECK(same_bits(to_vector(ctx, make_array(ctx, other.cspan()).cspan()), x));
    std::vector<double> back(x.size());
    copy<double>(ctx, other.cspan(), Span<double, Space::host>(back.data(), n));
    CHECK(same_bits(back, x));
  }
}

TEST_BOTH("Many megabytes survive the way into a space and back, whatever is left of the last piece", "[core]") {
  constexpr std::int64_t piece = std::int64_t{8} << 20;  // of the device's copies, in bytes
  for (const std::int64_t size : {2 * piece - 1, 2 * piece, 3 * piece + 77}) {
    std::vector<unsigned char> values(static_cast<std::size_t>(size));
    Random random(static_cast<std::uint64_t>(size));
    for (unsigned char& value : values) value = static_cast<unsigned char>(random.index(256));
    const auto there = make_array(ctx, values);
    CHECK((to_vector(ctx, there.cspan()) == values));
  }
}

// From 256 MB on there are more pieces under way, and each is used several times.
TEST_BOTH("Hundreds of megabytes survive the way into a space and back", "[core]") {
  constexpr std::int64_t count = (std::int64_t{300} << 20) / 8 + 5;
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = i * 1000003;
  const auto there = make_array(ctx, values);
  const std::int64_t last = fetch(ctx, there.data() + count - 1);
  CHECK(last == values.back());
  CHECK((to_vector(ctx, there.cspan()) == values));
}

TEST_BOTH("A copy between different lengths is refused with both", "[core]") {
  const Array<float, S> three = upload(ctx, std::vector<float>{1, 2, 3});
  Array<float, S> four(ctx, 4);
  std::vector<float> two(2);
  const std::string within = message_of<InputError>([&] { copy<float>(ctx, three.cspan(), four.span()); });
  CHECK(contains(within, "3 values"));
  CHECK(contains(within, "an array of 4"));
  CHECK_THROWS_AS(copy<float>(ctx, three.cspan(), Span<float, Space::host>(two.data(), 2)), InputError);
  CHECK_THROWS_AS(copy<float>(ctx, Span<const float, Space::host>(two.data(), 2), four.span()), InputError);
  CHECK_THROWS_AS(copy<float>(ctx, Span<const float, S>(), four.span()), InputError);
}

TEST_BOTH("fetch reads one value", "[core]") {
  const Array<double, S> a = upload(ctx, std::vector<double>{1.5, 2.5, 3.5});
  CHECK(fetch(ctx, a.data() + 1) == 2.5);
}

TEST_CASE("Spans convert to read-only ones and never the other way or across spaces", "[core]") {
  using Mutable = Span<double, Space::host>;
  using Constant = Span<const double, Space::host>;
  using Elsewhere = Span<double, Space::device>;
  CHECK(std::is_convertible_v<Mutable, Constant>);
  CHECK_FALSE(std::is_convertible_v<Constant, Mutable>);
  CHECK_FALSE(std::is_convertible_v<Mutable, Elsewhere>);
  CHECK_FALSE(std::is_convertible_v<Elsewhere, Constant>);
  CHECK_FALSE(std::is_convertible_v<Span<float, Space::host>, Constant>);
  CHECK(std::is_trivially_copyable_v<Mutable>);
  CHECK_FALSE(std::is_copy_constructible_v<Array<double, Space::host>>);
}

TEST_CASE("A span is a window on its array", "[core]") {
  const Context<Space::host> ctx(1);
  Array<int, Space::host> a = upload(ctx, std::vector<int>{0, 10, 20, 30, 40});
  const Span<int, Space::host> all = a;
  const Span<const int, Space::host> middle = all.subspan(1, 3);
  CHECK(middle.size == 3);
  CHECK(std::vector<int>(middle.begin(), middle.end()) == std::vector<int>{10, 20, 30});
  all[2] = 21;
  CHECK(a[2] == 21);
  CHECK(middle[1] == 21);
  CHECK(all.subspan(5, 0).empty());
}

TEST_CASE("A host context has the threads that were asked for", "[core]") {
  CHECK(Context<Space::host>(3).threads() == 3);
  CHECK(Context<Space::host>().threads() >= 1);
  CHECK_THROWS_AS(Context<Space::host>(-1), InputError);
  const Context<Space::host> a(2), b(2), copy_of_a = a;
  const Array<int, Space::host> held(a, 10);
  CHECK(copy_of_a.memory()->use().bytes == 40);
  CHECK(b.memory()->use().bytes == 0);
}

TEST_CASE("Bytes are written for people in powers of ten", "[core]") {
  CHECK(human_bytes(0) == "0 B");
  CHECK(human_bytes(999) == "999 B");
  CHECK(human_bytes(1000) == "1.00 kB");
  CHECK(human_bytes(1500000000) == "1.50 GB");
  CHECK(human_bytes(312000) == "312 kB");
  CHECK(human_bytes(999999) == "1.00 MB");
}
