// SPDX-License-Identifier: Apache-2.0
/// Whether a matrix is symmetric, bit for bit, in one pass over its entries in the order in which they stand.
/// Internal.
#pragma once

#include <algorithm>
#include <cstdint>

#include <newel/core/types.hpp>
#include "core/vectors/random.hpp"

namespace newel::detail {

/// What entry (i, j) adds to a sum that is 0, modulo 2^64, where (j, i) with the same `content` stands for every (i,
/// j). Where one lacks, it is 0 with a probability of 2^-64, as if the terms were random. Nothing on the diagonal.
inline std::uint64_t symmetry_term(Index i, Index j, std::uint64_t content) {
  const auto low = static_cast<std::uint64_t>(std::min(i, j)), high = static_cast<std::uint64_t>(std::max(i, j));
  const std::uint64_t bits = random_bits(content * 0xd1b54a32d192ed03u, low << 32 | high);
  return i < j ? bits : i > j ? std::uint64_t{0} - bits : 0;
}

}  // namespace newel::detail
