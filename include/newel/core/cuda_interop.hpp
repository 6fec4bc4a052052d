// SPDX-License-Identifier: Apache-2.0
/// Helpers for programs with their own CUDA code or device memory, such as interfaces to other languages: checked
/// calls, the device of a pointer, the current device, and ordering between streams. Needs no CUDA header; defined
/// only in builds with CUDA.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <newel/core/context.hpp>

// The type behind cudaEvent_t.
struct CUevent_st;

namespace newel {

/// Throws DeviceError with the call and CUDA's message if `status`, a cudaError_t, is not success.
void check_cuda(int status, const char* call);

/// The size of a grid whose threads take every (grid size)-th of `n` elements: blocks of `threads` threads, at least
/// one, at most `of_multiprocessor` on each multiprocessor.
inline unsigned blocks_to_share(const Context<Space::device>& ctx, std::int64_t n, int threads,
                                int of_multiprocessor) {
  const std::int64_t wanted = (n + threads - 1) / threads;
  const std::int64_t most = std::int64_t{ctx.multiprocessors()} * of_multiprocessor;
  return static_cast<unsigned>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

/// The device of the memory at `pointer` (device or managed memory). Empty for host memory, page-locked or not, and
/// for null. Throws DeviceError.
std::optional<int> device_of(const void* pointer);

/// Remembers the current device of this thread and makes it current again on destruction.
class KeptDevice {
 public:
  KeptDevice() noexcept;
  ~KeptDevice();
  KeptDevice(const KeptDevice&) = delete;
  KeptDevice& operator=(const KeptDevice&) = delete;

 private:
  int device_ = -1;
};

/// Orders work between a context's stream and other streams of its device. No host thread waits. Use it from one
/// thread at a time, with the context's device current.
class StreamOrder {
 public:
  /// For the context's stream; waits for nothing yet.
  explicit StreamOrder(const Context<Space::device>& ctx);

  /// Work queued on the context's stream from now on waits for the work that is on `other` now. Null is the legacy
  /// default stream. Does nothing if `other` is the context's own stream. Throws DeviceError.
  void wait_for(CUstream_st* other);
  /// Work queued on `other` from now on waits for the work that is on the context's stream now.
  void let_wait(CUstream_st* other);

 private:
  struct DestroyEvent {
    void operator()(CUevent_st* event) const;
  };
  CUevent_st* event();

  CUstream_st* own_;
  std::unique_ptr<CUevent_st, DestroyEvent> event_;  // made when first needed
};

}  // namespace newel
