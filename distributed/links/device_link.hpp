// SPDX-License-Identifier: Apache-2.0
/// How the devices of ranks are linked, and their contexts. Internal; defined only in builds with CUDA.
#pragma once

#include <newel/distributed/distributed_system.hpp>
#include "core/ranks/device_ranks.hpp"
#include "distributed/links/peer_memory.hpp"

namespace newel::detail {

/// Links the devices of all ranks, for the stream of `ctx`, which must not have ranks itself. All ranks call it
/// together. Throws DeviceError if the link that is asked for cannot be made, on all ranks.
std::shared_ptr<DeviceRanks> link_devices(const Context<Space::device>& ctx,
                                          const std::shared_ptr<Communicator>& communicator, RankLink link);

/// A context for the device, stream and memory of `ctx` whose sums are those of all ranks. `ctx` must outlive it.
/// `in_process`: ranks that are threads of this process, and share the host's threads.
Context<Space::device> with_ranks(const Context<Space::device>& ctx, Ranks ranks, int in_process = 1);

/// The same rank's context with another stream. `ctx` and the stream must outlive it.
Context<Space::device> with_stream(const Context<Space::device>& ctx, CUstream_st* stream);

/// Exchanges by way of the host and the communicator. `why` says why, for `name`.
std::shared_ptr<DeviceRanks> staged_ranks(const Context<Space::device>& ctx,
                                          const std::shared_ptr<Communicator>& communicator, const std::string& why);

/// Exchanges by packets that devices store in each other's memory. The ranks are at most PeerSums::most_ranks, on
/// devices of their own.
std::shared_ptr<DeviceRanks> peer_ranks(const Context<Space::device>& ctx,
                                        const std::shared_ptr<Communicator>& communicator,
                                        std::shared_ptr<PeerMemory> memory);

/// Exchanges through NCCL, of which every rank has loaded a version. `why` it is not done by packets, for `name`;
/// empty: it was asked for.
std::shared_ptr<DeviceRanks> nccl_ranks(const Context<Space::device>& ctx,
                                        const std::shared_ptr<Communicator>& communicator, const std::string& why);

/// The first text of a rank that is not empty; empty if there is none. The same on all ranks, which call it together.
std::string first_reason(Communicator& communicator, const std::string& mine);

}  // namespace newel::detail
