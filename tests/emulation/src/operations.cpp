// SPDX-License-Identifier: Apache-2.0
// What a thread calls: shared memory, barriers, warp operations, asynchronous copies.
#include "threads.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

namespace emu {

int new_shared_id() {
  static int ids = 0;
  return ids++;
}

void* static_shared(int id, std::size_t bytes) {
  Block& b = *current->block;
  for (const SharedArray& s : b.shared) {
    if (s.id == id) return s.at;
  }
  void* at = nullptr;
  if (posix_memalign(&at, 16, bytes) != 0) std::abort();
  std::memset(at, settings().fill_byte, bytes);
  b.shared.push_back({id, at});
  b.static_bytes += bytes;
  return at;
}

void* dynamic_shared() { return current->block->dynamic; }

void fault(const char* what) {
  complain("%s: %s (block %u, thread %u)", kernel_name, what, current->block_idx.x, current->thread_idx.x);
  faulted = true;
  leave(running());
  std::abort();
}

void launch_bound(unsigned most) {
  if (most == bound_seen) return;
  bound_seen = most;
  const dim3& b = current->block_dim;
  if (b.x * b.y * b.z > most) fault("more threads than __launch_bounds__ says");
}

void syncthreads() {
  Fiber* f = running();
  Block& b = *f->block;
  const unsigned now = b.generation;
  if (++b.waiting == b.alive) {
    b.waiting = 0;
    ++b.generation;
    return;
  }
  wait_for(&b.generation, now, "__syncthreads");
}

const unsigned char* meet_warp(unsigned mask, Kind kind, const void* value, std::size_t bytes, unsigned* present) {
  Fiber* f = running();
  Warp& w = *f->warp;
  const unsigned mine = 1u << f->lane;
  if ((mask & mine) == 0) fault("a warp operation whose mask leaves out the caller");
  if (mask & w.exited) {
    static std::set<std::string> reported;
    if (reported.insert(kernel_name).second)
      complain("%s: a warp operation names lanes that have ended", kernel_name);
  }
  Meeting& m = w.meetings[mask];
  if (m.arrived == 0) {
    m.kind = kind;
  } else if (m.kind != kind) {
    fault("lanes meet at different warp operations");
  }
  const unsigned now = m.generation;
  unsigned char* table = m.slot[now & 1];
  if (bytes > 0) std::memcpy(table + f->lane * 16, value, bytes);
  m.arrived |= mine;
  if ((m.arrived & mask) == (w.alive & mask)) {
    m.close();
  } else {
    static const char* const names[] = {"__syncwarp", "__shfl", "__ballot"};
    wait_for(&m.generation, now, names[kind]);
  }
  *present = m.present[now & 1];
  return table;
}

void spin() {
  Fiber* f = running();
  f->spinning = true;
  f->waits_at = "a relaxed load";
  leave(f);
}

void pipeline_copy(void* to, const void* from, std::size_t bytes) {
  if (bytes != 4 && bytes != 8 && bytes != 16) fault("an asynchronous copy of another size than 4, 8 or 16");
  if (reinterpret_cast<std::uintptr_t>(to) % bytes != 0 || reinterpret_cast<std::uintptr_t>(from) % bytes != 0)
    fault("an asynchronous copy that is not aligned");
  Fiber* f = running();
  f->copies.push_back({to, from, bytes, f->group});
}
void pipeline_commit() { ++running()->group; }
void pipeline_wait(unsigned prior) {
  Fiber* f = running();
  auto& all = f->copies;
  std::size_t kept = 0;
  for (const Copy& c : all) {
    if (c.group + prior < f->group)
      std::memcpy(c.to, c.from, c.bytes);
    else
      all[kept++] = c;
  }
  all.resize(kept);
}

}  // namespace emu
