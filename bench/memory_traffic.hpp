// SPDX-License-Identifier: Apache-2.0
/// The memory of a space by itself: the bandwidth of a copy, and emptying the caches.
#pragma once

#include <cstdint>

#include <newel/core/array.hpp>

#include "measure.hpp"

namespace newel::bench {

/// What a copy of an array larger than the caches moves: bytes read and bytes written, by its seconds.
struct CopyBandwidth {
  std::uint64_t bytes = 0;  ///< copied: as many are read, and as many written
  Samples gigabytes_per_second;

  double bytes_per_second() const { return 1e9 * median(gigabytes_per_second); }
};

/// Host: all threads of the context copy a piece each, of 512 MiB or `most_bytes` together. Device: device to device,
/// 4 GiB or `most_bytes`. At most a quarter of the free memory is taken for each end.
CopyBandwidth measure_copy(const Context<Space::host>& ctx, int repeats, std::uint64_t most_bytes = UINT64_MAX);
CopyBandwidth measure_copy(const Context<Space::device>& ctx, int repeats, std::uint64_t most_bytes = UINT64_MAX);

/// Twice the last cache before the memory, or `most_bytes`. On the host at most 256 MiB: what the system names may be
/// shared with other processors.
std::uint64_t displacing_bytes(const Context<Space::host>& ctx, std::uint64_t most_bytes = UINT64_MAX);
std::uint64_t displacing_bytes(const Context<Space::device>& ctx, std::uint64_t most_bytes = UINT64_MAX);

/// Writes `to`, so that little else is left in the caches; on the device queued on the stream.
void displace_caches(const Context<Space::host>& ctx, Span<char, Space::host> to);
void displace_caches(const Context<Space::device>& ctx, Span<char, Space::device> to);

}  // namespace newel::bench
