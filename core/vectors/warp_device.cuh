// SPDX-License-Identifier: Apache-2.0
/// The threads of a warp. Internal.
#pragma once

namespace newel::detail {

inline constexpr int warp = 32;

}  // namespace newel::detail
