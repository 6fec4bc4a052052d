// SPDX-License-Identifier: Apache-2.0
/// PeerMemory: memory of one device that kernels of other devices write. Internal; defined only in builds with CUDA.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <newel/core/communicator.hpp>
#include <newel/core/context.hpp>

namespace newel::detail {

/// How the ranks reach each other's memory. Ranks are threads of one process, or each is a process of one host.
class PeerMemory {
 public:
  virtual ~PeerMemory() = default;

  /// Memory of the current device that `share` takes; null for 0 bytes. Throws OutOfMemory.
  virtual std::shared_ptr<void> allocate(std::size_t bytes) = 0;

  /// The memory that each rank brings, in the order of ranks, at addresses of this process. All ranks call it
  /// together. What this rank brings is zeros when it returns, on all ranks. A rank may write to another's after that
  /// rank has ended: so each keeps all of them. Waits for the device.
  virtual std::vector<std::shared_ptr<void>> share(const std::shared_ptr<void>& mine, std::size_t bytes) = 0;

  /// How, for reports.
  virtual std::string name() const = 0;
};

/// The ways of these ranks. Null if there is none: `why_not` then says why, the same on all ranks, which call it
/// together. Each rank has a device of its own.
std::shared_ptr<PeerMemory> peer_memory(const Context<Space::device>& ctx,
                                        const std::shared_ptr<Communicator>& communicator, std::string& why_not);

}  // namespace newel::detail
