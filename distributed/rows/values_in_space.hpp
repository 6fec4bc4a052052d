// SPDX-License-Identifier: Apache-2.0
/// Values of a rank between the host, where setups work, and the space of its vectors. Internal.
#pragma once

#include <vector>

#include <newel/core/array.hpp>
#include <newel/core/context.hpp>

namespace newel::detail {

/// Values of the host in S: as they are, or copied to `kept`.
template <class V, Space S>
Span<const V, S> in_space(const Context<S>& ctx, Span<const V, Space::host> values, Array<V, S>& kept) {
  if constexpr (S == Space::host) return values;
  kept = make_array(ctx, values);
  return {kept.data(), kept.size()};
}

/// Values of S on the host: as they are, or copied to `kept`. Waits for a device.
template <class V, Space S>
Span<const V, Space::host> on_host(const Context<S>& ctx, Span<const V, S> values, std::vector<V>& kept) {
  if constexpr (S == Space::host) return values;
  kept = to_vector(ctx, values);
  return {kept.data(), static_cast<std::int64_t>(kept.size())};
}

}  // namespace newel::detail
