// SPDX-License-Identifier: Apache-2.0
// The generator against published outputs and a plain loop of its own.
#include "tests/catch.hpp"

#include "core/vectors/random.hpp"

using detail::RandomKind;

namespace {

// SplitMix64 as its authors wrote it: a state that each output moves on.
struct SplitMix64 {
  unsigned long long state;
  unsigned long long next() {
    unsigned long long z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
};

}  // namespace

TEST_CASE("The generator's outputs are those published for SplitMix64", "[random]") {
  constexpr unsigned long long published[] = {6457827717110365317ull, 3203168211198807973ull, 9817491932198370423ull};
  for (std::uint64_t i = 0; i < 3; ++i) CHECK(detail::random_bits(1234567, i) == published[i]);
}

TEST_BOTH("A vector of random values holds the sequence from any place on", "[random]") {
  for (const std::int64_t n : {0, 1, 33, 4097}) {
    for (const std::int64_t first : {std::int64_t{0}, std::int64_t{7}, std::int64_t{1} << 33}) {
      INFO(n << " from " << first);
      SplitMix64 plain{5 + 0x9E3779B97F4A7C15ull * static_cast<unsigned long long>(first)};
      std::vector<double> signs, lengths;
      for (std::int64_t k = 0; k < n; ++k) {
        const unsigned long long bits = plain.next();
        signs.push_back(bits < 1ull << 63 ? 1 : -1);
        const double length = 1 + std::ldexp(static_cast<double>(bits >> 12), -52);
        lengths.push_back(bits % 2 == 0 ? length : -length);
      }
      auto x = poisoned<double>(ctx, n);
      detail::fill_random(ctx, RandomKind::sign, 5, first, x.span());
      CHECK(to_vector(ctx, x.cspan()) == signs);
      detail::fill_random(ctx, RandomKind::signed_length, 5, first, x.span());
      CHECK(to_vector(ctx, x.cspan()) == lengths);
      auto narrow = poisoned<float>(ctx, n);
      detail::fill_random(ctx, RandomKind::signed_length, 5, first, narrow.span());
      CHECK(to_vector(ctx, narrow.cspan()) == std::vector<float>(lengths.begin(), lengths.end()));
    }
  }
}
