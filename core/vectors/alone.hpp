// SPDX-License-Identifier: Apache-2.0
/// What a rank may not decide by itself. Internal.
#pragma once

#include "core/vectors/over_ranks.hpp"

namespace newel::detail {

/// For a handler of OutOfMemory that continues without something: throws the error again in a context of a rank,
/// because the other ranks do not continue without it, and would wait for this one.
template <Space S>
void require_alone(const Context<S>& ctx) {
  if (ranks_of(ctx) != nullptr) throw;
}

}  // namespace newel::detail
