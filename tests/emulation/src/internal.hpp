// SPDX-License-Identifier: Apache-2.0
/// What the parts of the emulation share.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#ifndef EMU_ASAN
#define EMU_ASAN 0
#endif

namespace emu {

enum class Order { forward, reverse, random };

/// From the environment: README.md says what each means.
struct Settings {
  Order order;
  unsigned seed;
  bool lazy, trace, profile, abort;
  int fill_byte, multiprocessors, devices, patience;
  std::size_t device_bytes;
};
const Settings& settings();

/// Of this thread.
int current_device();

constexpr std::size_t most_shared = 227 << 10;

/// Held by every call of the runtime: one thread of the host at a time, which may hold several.
class Lock {
 public:
  Lock();
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  /// Lets another thread of the host go first, whatever this one holds: its kernel waits for one of another device.
  static void give_way();
};

/// One line on standard error that begins with "EMU:".
void complain(const char* format, ...) __attribute__((format(printf, 1, 2)));
/// Keeps an error for cudaGetLastError, and returns it.
cudaError_t result(cudaError_t error);
/// Set by the first fault inside a kernel: as on a device, all that follows fails.
extern bool faulted;

/// Queues on the stream: runs at once, waits (NEWEL_EMU_LAZY=1), or is recorded in a capture.
void enqueue(cudaStream_t stream, std::function<void()> op);
bool capturing(cudaStream_t stream);
/// Complains where the stream is of another device.
void require_current_device(cudaStream_t stream, const char* what);
void drain(cudaStream_t stream);
void drain_all();
/// True, and the captures are spoilt, where one forbids the call.
bool unsafe_in_capture(const char* what);

/// Complains where [p, p + bytes) is not inside one live device allocation.
bool check_device_range(const char* what, const void* p, std::size_t bytes);

/// Runs a kernel to its end; `together`: all blocks are under way at once, as in a cooperative launch.
void run_kernel(const char* name, const Config& config, std::function<void()> thread, bool together);

}  // namespace emu
