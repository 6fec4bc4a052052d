// SPDX-License-Identifier: Apache-2.0
// Pointers, the current device and streams of callers, by the CUDA runtime.
#include <newel/core/cuda_interop.hpp>

#include "core/memory/context_device.hpp"

namespace newel {

void check_cuda(int status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // or the next launch check would report it again
  const auto error = static_cast<cudaError_t>(status);
  throw DeviceError(std::string(call) + " failed: " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) +
                    ")");
}

std::optional<int> device_of(const void* pointer) {
  if (pointer == nullptr) return std::nullopt;
  cudaPointerAttributes attributes = {};
  const cudaError_t status = cudaPointerGetAttributes(&attributes, pointer);
  if (status != cudaSuccess && device_count() == 0) throw detail::no_device();
  check_cuda(status, "cudaPointerGetAttributes");
  const bool there = attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return there ? std::optional<int>(attributes.device) : std::nullopt;
}

KeptDevice::KeptDevice() noexcept {
  if (cudaGetDevice(&device_) != cudaSuccess) {
    cudaGetLastError();
    device_ = -1;
  }
}

KeptDevice::~KeptDevice() {
  int now = -1;
  if (device_ >= 0 && cudaGetDevice(&now) == cudaSuccess && now != device_) cudaSetDevice(device_);
}

StreamOrder::StreamOrder(const Context<Space::device>& ctx) : own_(ctx.stream()) {}

void StreamOrder::DestroyEvent::operator()(CUevent_st* event) const { cudaEventDestroy(event); }

CUevent_st* StreamOrder::event() {
  if (event_ == nullptr) {
    cudaEvent_t made = nullptr;
    NEWEL_CHECK_CUDA(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
    event_.reset(made);
  }
  return event_.get();
}

void StreamOrder::wait_for(CUstream_st* other) {
  if (other == own_) return;
  NEWEL_CHECK_CUDA(cudaEventRecord(event(), other));
  NEWEL_CHECK_CUDA(cudaStreamWaitEvent(own_, event(), 0));
}

void StreamOrder::let_wait(CUstream_st* other) {
  if (other == own_) return;
  NEWEL_CHECK_CUDA(cudaEventRecord(event(), own_));
  NEWEL_CHECK_CUDA(cudaStreamWaitEvent(other, event(), 0));
}

}  // namespace newel
