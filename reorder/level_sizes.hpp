// SPDX-License-Identifier: Apache-2.0
/// How far graphs are coarsened and refined, on host and device. Internal.
#pragma once

#include <newel/core/types.hpp>

namespace newel::detail {

/// Vertices per part that coarsening leaves: with fewer, parts of equal size are hard to find.
inline constexpr Index vertices_per_part = 40;
/// With fewer METIS bisects what it cannot, and complains on standard output.
inline constexpr Index fewest_vertices_per_part = 4;
inline constexpr int refinement_passes = 3;
/// Refinement fills a part up to a mean and this share of it. Measured on six meshes of 73,000 to 2.4 million rows in
/// 132 parts, against a sixteenth: the fullest part has 1 to 3 % fewer entries, halos are 1 to 5 % larger.
inline constexpr Index room_above_mean = 32;
/// Where ranges of rows cut no more than this share of the entries, a better order has little to win.
inline constexpr double natural_is_good = 0.05;

}  // namespace newel::detail
