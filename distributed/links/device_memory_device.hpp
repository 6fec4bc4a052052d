// SPDX-License-Identifier: Apache-2.0
/// Streams, events and memory by which devices exchange values. Internal; needs the CUDA headers.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include "core/memory/context_device.hpp"

namespace newel::detail {

struct DestroyStream {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
struct DestroyEvent {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using OwnStream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, DestroyStream>;
using OwnEvent = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent>;

/// A stream of the current device that waits for no other.
inline OwnStream make_stream() {
  cudaStream_t stream = nullptr;
  NEWEL_CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return OwnStream(stream);
}
/// The same, whose blocks come before those of other streams.
inline OwnStream make_urgent_stream() {
  int least = 0, greatest = 0;
  NEWEL_CHECK_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t stream = nullptr;
  NEWEL_CHECK_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  return OwnStream(stream);
}
inline OwnEvent make_event() {
  cudaEvent_t event = nullptr;
  NEWEL_CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return OwnEvent(event);
}
/// Work queued on `later` from now on waits for what is on `earlier` now.
inline void let_follow(cudaStream_t later, cudaStream_t earlier, const OwnEvent& event) {
  NEWEL_CHECK_CUDA(cudaEventRecord(event.get(), earlier));
  NEWEL_CHECK_CUDA(cudaStreamWaitEvent(later, event.get(), 0));
}

/// Memory of the current device outside of any pool; null for 0 bytes. Throws OutOfMemory.
std::shared_ptr<void> plain_device_memory(std::size_t bytes);
/// Small pieces of memory outside of any pool, out of large ones: an allocation waits for the device, and maps the
/// memory on all devices that reach it. A large one is kept as long as a piece of it is.
class DevicePieces {
 public:
  /// As plain_device_memory.
  std::shared_ptr<void> take(std::size_t bytes);

 private:
  std::shared_ptr<void> large_;
  std::size_t taken_ = 0;
};

/// Page-locked memory of the host; null for 0 bytes. Throws OutOfMemory.
std::shared_ptr<void> locked_host_memory(std::size_t bytes);

}  // namespace newel::detail
