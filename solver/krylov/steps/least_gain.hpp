// SPDX-License-Identifier: Apache-2.0
/// When a step of an iteration that restarts has made no progress. Internal.
#pragma once

namespace newel::detail {

/// A cycle of GMRES, or a correction in mixed precision, has made progress where it took away this share of the
/// residual.
constexpr double least_gain = 1e-4;

}  // namespace newel::detail
