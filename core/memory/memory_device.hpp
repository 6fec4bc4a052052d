// SPDX-License-Identifier: Apache-2.0
/// The built-in memory of a device. Internal.
#pragma once

#include <memory>

#include <newel/core/memory.hpp>

namespace newel::detail {

/// A stream-ordered pool on device number `device`. Memory that is released stays in it, so that the next allocation
/// of a time loop costs nothing; `release_unused` (cudaMemPoolTrimTo) gives back what no queued work may still use.
std::shared_ptr<MemoryResource> device_memory(int device);

}  // namespace newel::detail
