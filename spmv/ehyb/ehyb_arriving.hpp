// SPDX-License-Identifier: Apache-2.0
/// EHYB's product on a device, with a vector of which other devices send a part meanwhile. Internal; only in builds
/// with CUDA.
#pragma once

#include "core/ranks/peer_rows.hpp"
#include "spmv/ehyb/ehyb_product.hpp"

namespace newel::detail {

struct EhybArriving {
  Index first_part;  ///< parts from this one on read rows of other devices, and wait for them
  PeerArrivals rows;
};

/// As ehyb_product, of a layout without a remainder, with x.y.
template <class T>
void ehyb_product_arriving(const Context<Space::device>& ctx, const EhybView<T>& a, const EhybArriving& arriving,
                           const ProductArgs<T>& args);

/// As prepare_ehyb.
template <class T>
void prepare_ehyb_arriving(const Context<Space::device>& ctx, const EhybView<T>& a);

}  // namespace newel::detail
