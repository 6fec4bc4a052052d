// SPDX-License-Identifier: Apache-2.0
/// What a thread of the host does with a part of an EHYB matrix: its x, and the sums of a slice. Internal.
#pragma once

#include <cstring>

#include "spmv/ehyb/ehyb_product.hpp"
#include "spmv/plan/slot_sum_host.hpp"

namespace newel::detail {

/// The part's entries of x: its own range of x where it reads no other, else a copy with the halo behind.
template <class T, int B>
inline const T* cached_x(const EhybView<T>& a, const EhybPart& part, const T* x, T* cache) {
  const T* own = x + Offset{part.node_begin} * B;
  if (part.halo_begin == part.halo_end) return own;
  const Offset own_entries = Offset{part.node_end - part.node_begin} * B;
  std::memcpy(cache, own, static_cast<std::size_t>(own_entries) * sizeof(T));
  T* to = cache + own_entries;
  for (Index h = part.halo_begin; h < part.halo_end; ++h) {
    const T* from = x + Offset{a.halo_node[h]} * B;
    for (int e = 0; e < B; ++e) *to++ = from[e];
  }
  return cache;
}

/// sums[d][lane] = rows d of the nodes of a slice.
template <class T, int B>
inline void slice_sums(const EhybView<T>& a, Index slice, const T* xs, T (&sums)[B][host_lanes]) {
  constexpr int lanes = host_lanes;
  HostLanes<T> sum[B], from;
  const Offset first = a.slice_first[slice], last = a.slice_first[slice + 1];
  const std::uint16_t* column = a.column + first * lanes;
  const T* value = a.value + first * lanes * B * B;
  for (Offset k = first; k < last; ++k, column += lanes, value += lanes * B * B) {
    for (int e = 0; e < B; ++e) {
      from.gather(xs, [&](int lane) { return Offset{column[lane]} * B + e; });
      for (int d = 0; d < B; ++d) sum[d].add_product(value + (d * B + e) * lanes, from);
    }
  }
  for (int d = 0; d < B; ++d) sum[d].store(sums[d]);
}

}  // namespace newel::detail
