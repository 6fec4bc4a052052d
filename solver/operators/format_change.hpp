// SPDX-License-Identifier: Apache-2.0
/// rebuild_in_format: the operators of a matrix in another format than they began with. Internal.
#pragma once

#include <string>

#include "solver/operators/operators.hpp"

namespace newel::detail {

/// Rebuilds `operators` in another format, which begin in CSR and in the caller's numbering. M is renumbered, or made
/// again. False: they do not. Throws as `build` does, and nothing has changed then.
template <class T, Space S>
bool rebuild_in_format(Operators<T, S>& operators, const std::string& format);

}  // namespace newel::detail
