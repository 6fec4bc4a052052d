// SPDX-License-Identifier: Apache-2.0
/// EhybAcross: the rows of one device in EHYB, of a matrix whose other rows are on other devices. Internal.
#pragma once

#include "spmv/ehyb/ehyb_product.hpp"

namespace newel::detail {

/// Rows and parts are numbered through all devices, in the order of ranks. Valid as long as the arrays that it views.
template <class T>
struct EhybAcross {
  EhybView<T> view;  ///< `rows`, `parts` and `part` are of this device; `halo_node` has nodes of all devices
  const unsigned char* readers;  ///< of each node of this device: bit d is set if a part of device d reads it as halo
  Offset first_row;              ///< of this device
  Offset rows;                   ///< of all devices
  int first_part;                ///< of this device
  int parts;                     ///< of all devices
};

}  // namespace newel::detail
