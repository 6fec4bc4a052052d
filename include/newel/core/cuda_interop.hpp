// SPDX-License-Identifier: Apache-2.0
/// What programs with CUDA code or device memory of their own need, such as interfaces to other languages: calls that
/// are checked, where a pointer leads, which device is current, and an order between streams. Without a CUDA header;
/// defined only with CUDA on.
#pragma once

#include <memory>
#include <optional>

#include <newel/core/context.hpp>

// The type behind cudaEvent_t.
struct CUevent_st;

namespace newel {

/// Throws DeviceError with the call and CUDA's own words where `status`, a cudaError_t, is no success.
void check_cuda(int status, const char* call);

/// The device that the memory behind `pointer` belongs to, device or managed memory; empty for memory of the host,
/// page-locked or not, and for null. Throws DeviceError.
std::optional<int> device_of(const void* pointer);

/// Makes the device that is current in this thread current again when it goes, whatever was made current meanwhile.
class KeptDevice {
 public:
  KeptDevice() noexcept;
  ~KeptDevice();
  KeptDevice(const KeptDevice&) = delete;
  KeptDevice& operator=(const KeptDevice&) = delete;

 private:
  int device_ = -1;
};

/// Orders the work of a context's stream and of other streams of its device. No thread of the host waits. Used by
/// one thread at a time, with the context's device current.
class StreamOrder {
 public:
  /// Of the context's stream; waits for nothing yet.
  explicit StreamOrder(const Context<Space::device>& ctx);

  /// What is queued on the context's stream from now on waits for what `other` holds now. Null is the legacy default
  /// stream. Nothing happens where `other` is the context's own. Throws DeviceError.
  void wait_for(CUstream_st* other);
  /// What is queued on `other` from now on waits for what the context's stream holds now.
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
