// SPDX-License-Identifier: Apache-2.0
/// The figures of an operator whose rows are distributed over ranks. Internal.
#pragma once

#include <newel/core/context.hpp>
#include <newel/spmv/operator.hpp>

namespace newel::detail {

/// Two parts of the rows of a rank as one operator: sizes and bytes are added.
OperatorInfo joined(OperatorInfo first, const OperatorInfo& second);

/// The sizes and bytes of all ranks together, from those of each; rows and columns are those of the whole system, or
/// the largest Index if they are more. All ranks call it together, with operators of the same kind.
OperatorInfo over_all_ranks(const Context<Space::host>& ctx, OperatorInfo own);

}  // namespace newel::detail
