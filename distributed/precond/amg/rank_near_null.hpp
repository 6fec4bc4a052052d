// SPDX-License-Identifier: Apache-2.0
/// RankNearNull: the nodes and the near-null vectors of a rank's rows, of one kind on all ranks. Internal.
#pragma once

#include <string>

#include "distributed/precond/amg/rank_level.hpp"
#include "precond/amg/transfer/near_null_choice.hpp"

namespace newel::detail {

template <Space S>
struct RankNearNull {
  int node_rows = 1;  ///< unknowns of a node, adjacent
  NearNull<S> vectors;
  std::string name;  ///< "6 rigid body modes"

  /// As NearNullChoice on one rank; coordinates and vectors are those of this rank's rows. All ranks make theirs
  /// together. Throws InputError as NearNullChoice does, and if ranks with rows know different things.
  template <class T>
  RankNearNull(const Context<S>& ctx, const RankMatrix<T>& a, const AmgOptions& options);
};

}  // namespace newel::detail
