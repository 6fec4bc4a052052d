// SPDX-License-Identifier: Apache-2.0
/// The row of cuDSS in the table of factorisations. Internal; in builds with CUDA.
#pragma once

#include <newel/solver/factorisations.hpp>

namespace newel::detail {

/// Looks for cuDSS at the first call.
Factorisation cudss_row();

}  // namespace newel::detail
