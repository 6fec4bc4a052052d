// SPDX-License-Identifier: Apache-2.0
// Device memory, pools, page-locked memory, copies.
#include "internal.hpp"

#include <algorithm>
#include <map>

struct CUmemPoolHandle_st {
  int device = 0;
  std::uint64_t used = 0;
};

namespace emu {
namespace {

struct Allocation {
  std::size_t bytes;
  CUmemPoolHandle_st* pool;
  int device;
};
std::map<std::uintptr_t, Allocation>& allocations() {
  static std::map<std::uintptr_t, Allocation> all;
  return all;
}
std::map<std::uintptr_t, std::size_t>& pinned() {
  static std::map<std::uintptr_t, std::size_t> all;
  return all;
}
std::size_t used_bytes = 0;

const Allocation* find(const void* p, std::size_t bytes) {
  auto& all = allocations();
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  auto it = all.upper_bound(at);
  if (it == all.begin()) return nullptr;
  --it;
  return at + bytes <= it->first + it->second.bytes && at < it->first + std::max<std::size_t>(it->second.bytes, 1)
             ? &it->second
             : nullptr;
}
bool is_pinned(const void* p) {
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  auto it = pinned().upper_bound(at);
  if (it == pinned().begin()) return false;
  --it;
  return at < it->first + it->second;
}

cudaError_t allocate(void** p, std::size_t bytes, CUmemPoolHandle_st* pool) {
  const Lock lock;
  if (p == nullptr) return result(cudaErrorInvalidValue);
  *p = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (bytes > settings().device_bytes || used_bytes + bytes > settings().device_bytes)
    return result(cudaErrorMemoryAllocation);
  void* at = nullptr;
  // The device's allocations start at multiples of 256 bytes; 8 here would hide a fault, 256 shows what is too short.
  if (posix_memalign(&at, 256, bytes) != 0) return result(cudaErrorMemoryAllocation);
  std::memset(at, settings().fill_byte, bytes);
  allocations()[reinterpret_cast<std::uintptr_t>(at)] = {bytes, pool,
                                                         pool != nullptr ? pool->device : current_device()};
  used_bytes += bytes;
  if (pool != nullptr) pool->used += bytes;
  *p = at;
  return cudaSuccess;
}
cudaError_t release(void* p) {
  if (p == nullptr) return cudaSuccess;
  const Lock lock;
  auto it = allocations().find(reinterpret_cast<std::uintptr_t>(p));
  if (it == allocations().end()) {
    complain("free of what is no device allocation: %p", p);
    return result(cudaErrorInvalidValue);
  }
  used_bytes -= it->second.bytes;
  if (it->second.pool != nullptr) it->second.pool->used -= it->second.bytes;
#if !EMU_ASAN
  std::memset(p, 0xfb, it->second.bytes);
#endif
  allocations().erase(it);
  std::free(p);
  return cudaSuccess;
}

}  // namespace

bool check_device_range(const char* what, const void* p, std::size_t bytes) {
  const Lock lock;
  if (bytes == 0 || find(p, bytes) != nullptr) return true;
  complain("%s: [%p, + %zu) is not inside a live device allocation", what, p, bytes);
  return false;
}

}  // namespace emu

using namespace emu;

extern "C" {

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = settings().device_bytes - used_bytes;
  *total = settings().device_bytes;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** p, std::size_t n) {
  if (unsafe_in_capture("cudaMalloc")) return result(cudaErrorStreamCaptureUnsupported);
  return allocate(p, n, nullptr);
}
cudaError_t cudaFree(void* p) {
  const Lock lock;
  drain_all();
  return release(p);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* a, const void* p) {
  const Lock lock;
  std::memset(a, 0, sizeof *a);
  if (const Allocation* const found = find(p, 1)) a->device = found->device;
  a->type = find(p, 1) != nullptr ? cudaMemoryTypeDevice
            : is_pinned(p)        ? cudaMemoryTypeHost
                                  : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}
// Processes have no memory in common here.
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) { return result(cudaErrorNotSupported); }
cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned) { return result(cudaErrorNotSupported); }
cudaError_t cudaMallocHost(void** p, std::size_t n) {
  const Lock lock;
  if (unsafe_in_capture("cudaMallocHost")) return result(cudaErrorStreamCaptureUnsupported);
  *p = nullptr;
  if (posix_memalign(p, 4096, n) != 0) return result(cudaErrorMemoryAllocation);
  std::memset(*p, settings().fill_byte, n);
  pinned()[reinterpret_cast<std::uintptr_t>(*p)] = n;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* p) {
  const Lock lock;
  drain_all();
  if (p == nullptr) return cudaSuccess;
  if (pinned().erase(reinterpret_cast<std::uintptr_t>(p)) == 0) {
    complain("cudaFreeHost of what is not page-locked");
    return result(cudaErrorInvalidValue);
  }
  std::free(p);
  return cudaSuccess;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* p, const cudaMemPoolProps* properties) {
  *p = new CUmemPoolHandle_st{properties->location.id};
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t p) {
  const Lock lock;
  drain_all();
  for (auto& [at, a] : allocations()) {
    if (a.pool == p) {
      complain("a pool is destroyed while %zu bytes of it are in use", a.bytes);
      a.pool = nullptr;
    }
  }
  delete p;
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) {  // what is released here is free at once
  const Lock lock;
  drain_all();
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t p, cudaMemPoolAttr, void* v) {
  *static_cast<std::uint64_t*>(v) = p->used;
  return cudaSuccess;
}
cudaError_t cudaMallocFromPoolAsync(void** p, std::size_t n, cudaMemPool_t pool, cudaStream_t stream) {
  const Lock lock;
  const cudaError_t e = allocate(p, n, pool);
  if (e == cudaSuccess && capturing(stream)) complain("an allocation of %zu bytes while the stream is captured", n);
  return e;
}
cudaError_t cudaFreeAsync(void* p, cudaStream_t stream) {
  const Lock lock;
  if (capturing(stream)) {
    complain("a release while the stream is captured");
    return cudaSuccess;  // kept
  }
  if (p != nullptr && allocations().count(reinterpret_cast<std::uintptr_t>(p)) == 0) {
    complain("cudaFreeAsync of what is no device allocation: %p", p);
    return result(cudaErrorInvalidValue);
  }
  enqueue(stream, [p] { release(p); });
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t n, cudaMemcpyKind kind, cudaStream_t stream) {
  const Lock lock;
  if (n == 0) return cudaSuccess;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  bool sound = true;
  if (to_device) sound = check_device_range("cudaMemcpyAsync, destination", to, n) && sound;
  if (from_device) sound = check_device_range("cudaMemcpyAsync, source", from, n) && sound;
  if (!to_device && find(to, 1) != nullptr) complain("cudaMemcpyAsync to the host has a device destination");
  if (!from_device && find(from, 1) != nullptr) complain("cudaMemcpyAsync from the host has a device source");
  if (!sound) return result(cudaErrorInvalidValue);
  const bool captured = capturing(stream);
  if (kind == cudaMemcpyHostToDevice && !is_pinned(from) && !captured) {
    // Pageable memory is staged before the call returns.
    auto staged =
        std::make_shared<std::vector<char>>(static_cast<const char*>(from), static_cast<const char*>(from) + n);
    enqueue(stream, [to, staged, n] { std::memcpy(to, staged->data(), n); });
    return cudaSuccess;
  }
  const auto copy = [to, from, n] {
    if (static_cast<const char*>(to) < static_cast<const char*>(from) + n &&
        static_cast<const char*>(from) < static_cast<const char*>(to) + n && to != from)
      complain("cudaMemcpyAsync of memory that overlaps");
    std::memmove(to, from, n);
  };
  enqueue(stream, copy);
  if (kind == cudaMemcpyDeviceToHost && !is_pinned(to) && !captured) drain(stream);
  return faulted ? result(cudaErrorLaunchFailure) : cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t n, cudaMemcpyKind kind) {
  const cudaError_t e = cudaMemcpyAsync(to, from, n, kind, nullptr);
  drain(nullptr);
  return e;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t n, cudaStream_t stream) {
  const Lock lock;
  if (n == 0) return cudaSuccess;
  if (!check_device_range("cudaMemsetAsync", to, n)) return result(cudaErrorInvalidValue);
  enqueue(stream, [to, value, n] { std::memset(to, value, n); });
  return cudaSuccess;
}
cudaError_t cudaMemset(void* to, int value, std::size_t n) { return cudaMemsetAsync(to, value, n, nullptr); }

}  // extern "C"
