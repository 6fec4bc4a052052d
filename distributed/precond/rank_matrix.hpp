// SPDX-License-Identifier: Apache-2.0
/// RankMatrix: what preconditioners on ranks are made from. Internal.
#pragma once

#include <cstdint>
#include <vector>

#include <newel/distributed/distributed_system.hpp>

namespace newel::detail {

template <class T>
struct RowsOnDevice;  // in builds with CUDA

/// A rank's rows, and how they lie in the whole. The arrays are the caller's.
template <class T>
struct RankMatrix {
  const RankRows<T>& rows;
  const std::vector<std::int64_t>& first_rows;   ///< see halo.hpp
  Span<const Index, Space::host> old_of_new;     ///< the order of vectors, see StoredRows
  const NodeCoordinates* coordinates = nullptr;  ///< of the nodes of these rows; null: not known
  const RowsOnDevice<T>* on_device = nullptr;    ///< the rows where products with them are; null: not there
};

}  // namespace newel::detail
