// SPDX-License-Identifier: Apache-2.0
/// The threads, warps and blocks of the kernel that runs.
#pragma once

#include <map>

#include "internal.hpp"

namespace emu {

/// The warp operations of one mask: those lanes meet there again and again, other lanes of the warp elsewhere.
struct Meeting {
  unsigned arrived = 0, generation = 0;
  Kind kind = op_syncwarp;
  unsigned present[2] = {};
  // What the lanes bring to a warp operation, 16 bytes each; two, because a fast lane may already be at the next one.
  alignas(16) unsigned char slot[2][32 * 16];

  /// The operation is complete, by the lanes that have arrived.
  void close() {
    present[generation & 1] = arrived;
    arrived = 0;
    ++generation;
  }
};

struct Warp {
  unsigned alive = 0, exited = 0;
  std::map<unsigned, Meeting> meetings;  // by mask
};

struct SharedArray {
  int id;
  void* at;
};

struct Block {
  int alive = 0, waiting = 0;
  unsigned generation = 0;
  std::vector<Warp> warps;
  std::vector<SharedArray> shared;
  std::size_t static_bytes = 0, dynamic_bytes = 0;
  void* dynamic = nullptr;
  ~Block();
};

/// An asynchronous copy to shared memory that is under way.
struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
  unsigned group;
};

struct Fiber : Thread {
  void* stack_pointer = nullptr;
  char* stack = nullptr;
  const unsigned* wait_on = nullptr;
  unsigned wait_value = 0;
  const char* waits_at = "";
  bool done = false, spinning = false;
  std::vector<Copy> copies;
  unsigned group = 0;
};

extern const char* kernel_name;
/// What __launch_bounds__ of the running kernel has been compared with.
extern unsigned bound_seen;

inline Fiber* running() { return static_cast<Fiber*>(current); }
/// From a fiber to the scheduler.
void leave(Fiber* fiber);
/// Lets other threads run until the word is another than `value`.
void wait_for(const unsigned* word, unsigned value, const char* where);

}  // namespace emu
