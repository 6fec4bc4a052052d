// SPDX-License-Identifier: Apache-2.0
// The built-in memory of a device: a stream-ordered pool, measured against what the device has left.
#include "core/memory/memory_device.hpp"

#include "core/memory/available_memory.hpp"
#include "core/memory/context_device.hpp"

namespace newel::detail {
namespace {

class DevicePool final : public MemoryResource {
 public:
  explicit DevicePool(int device) : device_(device) {
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    NEWEL_CHECK_CUDA(cudaMemPoolCreate(&pool_, &properties));
    std::uint64_t keep = UINT64_MAX;
    NEWEL_CHECK_CUDA(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep));
  }
  ~DevicePool() override { cudaMemPoolDestroy(pool_); }
  DevicePool(const DevicePool&) = delete;
  DevicePool& operator=(const DevicePool&) = delete;

  void* allocate(std::size_t bytes, cudaStream_t stream) override {
    // Large requests are measured against the memory there is, which also keeps a failing call out of the driver's
    // log.
    constexpr std::size_t worth_asking = std::size_t{256} << 20;
    if (bytes >= worth_asking && bytes > free_bytes()) fail(bytes);
    void* pointer = nullptr;
    const cudaError_t status = cudaMallocFromPoolAsync(&pointer, bytes, pool_, stream);
    // A request beyond what the driver can count is refused with another code than one beyond the memory there is.
    if (status == cudaErrorMemoryAllocation || (status == cudaErrorInvalidValue && bytes > free_bytes())) {
      cudaGetLastError();  // not sticky: clear it, or the next launch check would report it
      fail(bytes);
    }
    check_cuda(status, "cudaMallocFromPoolAsync");
    return pointer;
  }
  void release(void* pointer, std::size_t, cudaStream_t stream) noexcept override { cudaFreeAsync(pointer, stream); }
  std::optional<std::uint64_t> available_bytes() const override { return free_bytes(); }
  // Freed, and not given back: to be had without asking the driver for memory.
  std::uint64_t kept_bytes() const {
    std::uint64_t reserved = 0, used = 0;
    cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved);
    cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used);
    return reserved - used;
  }
  void release_unused() override { NEWEL_CHECK_CUDA(cudaMemPoolTrimTo(pool_, 0)); }

 private:
  std::uint64_t free_bytes() const {
    std::size_t free = 0, total = 0;
    if (cudaSetDevice(device_) != cudaSuccess) return 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) return 0;
    return free + kept_bytes();
  }

  [[noreturn]] void fail(std::size_t bytes) const { throw OutOfMemory("device", "an array", bytes, free_bytes()); }

  int device_;
  cudaMemPool_t pool_ = nullptr;
};

}  // namespace

bool keeps(const MemoryResource& memory, std::uint64_t bytes) {
  const auto* const pool = dynamic_cast<const DevicePool*>(&memory);
  return pool != nullptr && bytes <= pool->kept_bytes();
}

std::shared_ptr<MemoryResource> device_memory(int device) { return std::make_shared<DevicePool>(device); }

}  // namespace newel::detail
