// SPDX-License-Identifier: Apache-2.0
/// Arrays from the first rank to all, and back, in pieces that no limit of a message's length meets.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <newel/core/communicator.hpp>
#include <newel/core/span.hpp>

namespace newel::cli {

/// The text of the first rank, on all ranks.
std::string from_first(Communicator& ranks, const std::string& text);

/// parts[r] of the first rank to rank r. The others pass no parts.
std::string scatter_bytes(Communicator& ranks, const std::vector<std::string_view>& parts);

/// What all ranks pass, one after the other, on the first; nothing on the others.
std::string gather_bytes(Communicator& ranks, std::string_view mine);

template <class Value>
std::string_view bytes_of(Span<const Value, Space::host> values) {
  return {reinterpret_cast<const char*>(values.data), static_cast<std::size_t>(values.size) * sizeof(Value)};
}

template <class Value>
std::vector<Value> values_of(const std::string& bytes) {
  std::vector<Value> values(bytes.size() / sizeof(Value));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Rank r's part of an array of the first rank: entries bounds[r] to bounds[r + 1]. The others pass an empty array
/// and no bounds.
template <class Value>
std::vector<Value> scatter(Communicator& ranks, Span<const Value, Space::host> all,
                           const std::vector<std::int64_t>& bounds) {
  std::vector<std::string_view> parts;
  for (std::size_t r = 0; r + 1 < bounds.size(); ++r) {
    parts.push_back(bytes_of(all.subspan(bounds[r], bounds[r + 1] - bounds[r])));
  }
  return values_of<Value>(scatter_bytes(ranks, parts));
}

}  // namespace newel::cli
