// SPDX-License-Identifier: Apache-2.0
/// The generator of everything that looks random: SplitMix64 by counter, the same in both spaces and on every
/// machine. Internal.
#pragma once

#include <cstdint>

#include <newel/core/context.hpp>
#include <newel/core/span.hpp>
#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// Output i, from 0, of SplitMix64 started from `seed` (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom
/// number generators", OOPSLA 2014). It needs no other output, so that threads share a sequence.
NEWEL_HD constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// 1 or -1, by the top bit.
NEWEL_HD constexpr double random_sign(std::uint64_t seed, std::uint64_t i) {
  return random_bits(seed, i) >> 63 == 0 ? 1.0 : -1.0;
}

/// In [-1, 1): 2 u - 1, where u is the upper 53 bits over 2^53.
NEWEL_HD constexpr double random_uniform(std::uint64_t seed, std::uint64_t i) {
  return static_cast<double>(random_bits(seed, i) >> 11) * 0x1p-52 - 1;
}

/// Of either sign and of lengths in [1, 2): the sign by the lowest bit, the length by the upper 52.
NEWEL_HD constexpr double random_signed_length(std::uint64_t seed, std::uint64_t i) {
  const std::uint64_t bits = random_bits(seed, i);
  const double length = 1 + static_cast<double>(bits >> 12) * 0x1p-52;
  return bits % 2 == 0 ? length : -length;
}

enum class RandomKind { sign, signed_length };

/// x_k = value first + k of the sequence of `seed`, made where x is; queued on the context's stream. With ranks the
/// k of the whole system.
template <class T, Space S>
void fill_random(const Context<S>& ctx, RandomKind kind, std::uint64_t seed, std::int64_t first, Span<T, S> x);

}  // namespace newel::detail
