// SPDX-License-Identifier: Apache-2.0
/// MatrixTraits of a matrix whose rows are distributed over ranks. Internal.
#pragma once

#include <newel/core/matrix_traits.hpp>
#include "distributed/precond/near_rows.hpp"

namespace newel::detail {

/// The same on all ranks. `near` reaches one step at least. Counts are at most the largest Index, and the first rows
/// are not found. All ranks call it together.
template <class T>
MatrixTraits rank_traits(const Context<Space::host>& ctx, const NearRows<T>& near);

/// Throws NotSymmetric, on all ranks alike, if a_ij and a_ji differ by more than rounding to T.
template <class T>
void require_symmetry_on_ranks(const Context<Space::host>& ctx, const NearRows<T>& near);

}  // namespace newel::detail
