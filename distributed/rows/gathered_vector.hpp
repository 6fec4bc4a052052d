// SPDX-License-Identifier: Apache-2.0
/// GatheredVector: a vector whose parts ranks have, of which each rank gets the whole. Internal.
#pragma once

#include <memory>
#include <vector>

#include "distributed/rows/halo.hpp"

namespace newel::detail {

/// All ranks make theirs together, and gather together. Contexts have ranks.
template <class T, Space S>
class GatheredVector {
 public:
  GatheredVector() = default;
  /// `first_rows`: see halo.hpp.
  GatheredVector(const Context<S>& ctx, const std::vector<std::int64_t>& first_rows);

  /// This rank's part, to be written before `gather`.
  Span<T, S> own() { return own_; }
  /// The whole vector, until the part is written again; on a device for the work that follows on the stream.
  Span<const T, S> gather();
  /// Of this rank in a vector as long as the whole.
  template <class Vector>
  Vector part_of(Vector whole) const {
    return whole.subspan(first_, own_.size);
  }

  std::uint64_t bytes() const { return static_cast<std::uint64_t>(all_.span().size) * sizeof(T); }

 private:
  ExchangedValues<T, S> all_;
  Span<T, S> own_;
  std::int64_t first_ = 0;
  std::unique_ptr<RankExchange> exchange_;
};

}  // namespace newel::detail
