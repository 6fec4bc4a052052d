// SPDX-License-Identifier: Apache-2.0
// The settings, complaints and errors of the emulation, and the device that it reports.
#include "internal.hpp"

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace emu {
namespace {

long number(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != 0 ? std::strtol(text, nullptr, 0) : otherwise;
}

Order order() {
  const char* text = std::getenv("NEWEL_EMU_ORDER");
  const std::string name = text != nullptr ? text : "";
  return name == "reverse" ? Order::reverse : name == "random" ? Order::random : Order::forward;
}

thread_local cudaError_t last_error = cudaSuccess;
thread_local int device = 0;

}  // namespace

const Settings& settings() {
  static const Settings all = {order(),
                               static_cast<unsigned>(number("NEWEL_EMU_SEED", 1)),
                               number("NEWEL_EMU_LAZY", 0) != 0,
                               number("NEWEL_EMU_TRACE", 0) != 0,
                               number("NEWEL_EMU_PROFILE", 0) != 0,
                               number("NEWEL_EMU_ABORT", 0) != 0,
                               static_cast<int>(number("NEWEL_EMU_FILL", 0xff)),
                               static_cast<int>(number("NEWEL_EMU_SMS", 8)),
                               static_cast<int>(number("NEWEL_EMU_DEVICES", 1)),
                               static_cast<int>(number("NEWEL_EMU_PATIENCE", 30)),
                               static_cast<std::size_t>(number("NEWEL_EMU_DEVICE_MB", 6144)) << 20};
  return all;
}

int current_device() { return device; }

bool faulted = false;

namespace {

std::mutex the_lock;
thread_local int held = 0;

}  // namespace

Lock::Lock() {
  if (held++ == 0) the_lock.lock();
}
Lock::~Lock() {
  if (--held == 0) the_lock.unlock();
}
void Lock::give_way() {
  constexpr std::chrono::microseconds for_others{20};  // or this thread would take it again
  the_lock.unlock();
  std::this_thread::sleep_for(for_others);
  the_lock.lock();
}

void complain(const char* format, ...) {
  va_list list;
  va_start(list, format);
  std::fprintf(stderr, "EMU: ");
  std::vfprintf(stderr, format, list);
  std::fprintf(stderr, "\n");
  va_end(list);
  if (settings().abort) std::abort();
}

cudaError_t result(cudaError_t e) {
  if (e != cudaSuccess) last_error = e;
  return e;
}

cudaError_t take_launch_error() { return last_error; }

}  // namespace emu

using namespace emu;

extern "C" {

cudaError_t cudaGetLastError() {
  const cudaError_t e = last_error;
  last_error = cudaSuccess;
  return faulted && e == cudaSuccess ? cudaErrorLaunchFailure : e;
}
cudaError_t cudaPeekAtLastError() { return faulted ? cudaErrorLaunchFailure : last_error; }
const char* cudaGetErrorName(cudaError_t e) {
  switch (e) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
    case cudaErrorStreamCaptureUnsupported:
      return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated:
      return "cudaErrorStreamCaptureInvalidated";
    default:
      return "cudaErrorOfTheEmulation";
  }
}
const char* cudaGetErrorString(cudaError_t e) { return cudaGetErrorName(e); }

cudaError_t cudaGetDeviceCount(int* n) {
  *n = settings().devices;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int d) {
  if (d < 0 || d >= settings().devices) return result(cudaErrorInvalidDevice);
  device = d;
  return cudaSuccess;
}
// Devices have one memory.
cudaError_t cudaDeviceCanAccessPeer(int* can, int from, int to) {
  *can = from != to;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }
cudaError_t cudaGetDevice(int* d) {
  *d = device;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* v) {
  *v = 13000;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* v) {
  *v = 13000;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int d) {
  if (d < 0 || d >= settings().devices) return result(cudaErrorInvalidDevice);
  std::memset(p, 0, sizeof *p);
  p->uuid.bytes[0] = static_cast<char>(d);
  std::strcpy(p->name, "Emulated device");
  p->totalGlobalMem = settings().device_bytes;
  p->sharedMemPerBlock = 48 << 10;
  p->sharedMemPerBlockOptin = most_shared;
  p->sharedMemPerMultiprocessor = 228 << 10;
  p->warpSize = 32;
  p->maxThreadsPerBlock = 1024;
  p->multiProcessorCount = settings().multiprocessors;
  p->major = 9;
  p->l2CacheSize = 50 << 20;
  p->maxThreadsPerMultiProcessor = 2048;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* v, cudaDeviceAttr a, int) {
  switch (a) {
    case cudaDevAttrMemoryClockRate:
      *v = 2619000;
      break;
    case cudaDevAttrGlobalMemoryBusWidth:
      *v = 6144;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *v = most_shared;
      break;
    case cudaDevAttrWarpSize:
      *v = 32;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *v = 2048;
      break;
    case cudaDevAttrCooperativeLaunch:
      *v = 1;
      break;
    case cudaDevAttrL2CacheSize:
      *v = 50 << 20;
      break;
    case cudaDevAttrMultiProcessorCount:
      *v = settings().multiprocessors;
      break;
    default:
      complain("attribute %d is not known", int(a));
      return result(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

}  // extern "C"
