// SPDX-License-Identifier: Apache-2.0
/// What the host has made, where a preconditioner works. Internal.
#pragma once

#include <utility>

#include <newel/core/array.hpp>

namespace newel::detail {

/// The array itself, or a copy on the device.
template <class V>
Array<V, Space::host> placed(const Context<Space::host>&, Array<V, Space::host>&& from) {
  return std::move(from);
}
template <class V>
Array<V, Space::device> placed(const Context<Space::device>& ctx, Array<V, Space::host>&& from) {
  return make_array(ctx, from.cspan());
}

}  // namespace newel::detail
