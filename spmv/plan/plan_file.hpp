// SPDX-License-Identifier: Apache-2.0
/// The form of a file of the plan cache. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "spmv/plan/plan_cache.hpp"

namespace newel::detail {

/// The finaliser of splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014).
constexpr std::uint64_t mixed_bits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// The bytes of a file, with version, key and checksum.
std::string encoded_plan(const PlanKey& key, const CachedPlan& plan);

/// The way back: what is wrong with the bytes; empty where nothing is.
std::string decode_plan(std::string bytes, const PlanKey& key, CachedPlan& plan);

/// The bytes of a file; nothing where there is none. Returns what is wrong where it is something else than a file: a
/// pipe would be waited for, and a device has no end.
std::string read_plan_file(const std::string& name, std::optional<std::string>& bytes);

}  // namespace newel::detail
