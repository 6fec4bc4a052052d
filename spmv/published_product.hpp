// SPDX-License-Identifier: Apache-2.0
/// PublishedProduct: a product with a vector that the kernel which makes it sends to the other devices. Internal;
/// only in builds with CUDA.
#pragma once

#include <newel/core/context.hpp>
#include "core/ranks/peer_rows.hpp"

namespace newel::detail {

template <class T>
class PublishedProduct {
 public:
  virtual ~PublishedProduct() = default;

  /// Where the kernel that makes x sends it. Valid as long as the product.
  virtual const PeerRows<T>& rows() const = 0;

  /// y = A x, and x.y of all ranks. All of them have sent their x since their last call, by `rows`; none has sent
  /// another one.
  virtual void multiply(const Context<Space::device>& ctx, Span<const T, Space::device> x, Span<T, Space::device> y,
                        double* xy) const = 0;
};

}  // namespace newel::detail
