// SPDX-License-Identifier: Apache-2.0
// A kernel's threads as fibers of one host thread, and who runs next.
#include "threads.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <random>
#include <string>

// Nothing here is instrumented: it switches stacks. AddressSanitizer is not told of that, which costs nothing as long
// as nothing throws inside a kernel and detect_stack_use_after_return is off.
#if EMU_ASAN
#include <sanitizer/asan_interface.h>
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

extern "C" void emu_switch(void** save, void* load);
__asm__(
    ".text\n.globl emu_switch\n.type emu_switch,@function\nemu_switch:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp,(%rdi)\nmovq %rsi,%rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n"
    ".size emu_switch,.-emu_switch\n");

namespace emu {

Thread* current = nullptr;
const char* kernel_name = "";
unsigned bound_seen = 0;

Block::~Block() {
  for (auto& s : shared) std::free(s.at);
  std::free(dynamic);
}

namespace {

constexpr std::size_t stack_bytes = EMU_ASAN ? 256 << 10 : 64 << 10;
std::vector<char*> free_stacks;
void* scheduler_sp = nullptr;
std::function<void()>* body = nullptr;

std::mt19937& randomness() {
  static std::mt19937 one(settings().seed);
  return one;
}

char* take_stack() {
  if (free_stacks.empty()) {
    constexpr int at_once = 64;
    char* all = static_cast<char*>(mmap(nullptr, at_once * (stack_bytes + 4096), PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (all == MAP_FAILED) {  // each stack and its guard are two maps, of which Linux allows 65530 if unchanged
      std::fprintf(stderr, "EMU: no room for the stacks of more threads: NEWEL_EMU_SMS and NEWEL_EMU_DEVICES are large\n");
      std::abort();
    }
    for (int k = 0; k < at_once; ++k) {
      char* one = all + k * (stack_bytes + 4096);
      mprotect(one, 4096, PROT_NONE);
      free_stacks.push_back(one + 4096);
    }
  }
  char* s = free_stacks.back();
  free_stacks.pop_back();
  return s;
}

void thread_ends(Fiber* f) {
  Block& b = *f->block;
  Warp& w = *f->warp;
  w.alive &= ~(1u << f->lane);
  w.exited |= 1u << f->lane;
  for (auto& [mask, meeting] : w.meetings) {
    if (meeting.arrived == 0 || (mask & (w.alive | meeting.arrived)) != meeting.arrived) continue;
    complain("%s: a lane of thread %u ended while others wait at a warp operation that names it", kernel_name,
             f->thread_idx.x);
    meeting.close();
  }
  --b.alive;
  if (b.waiting > 0 && b.waiting == b.alive) {
    b.waiting = 0;
    ++b.generation;
  }
}

void fiber_main() {
  Fiber* f = running();
  (*body)();
  if (!f->copies.empty()) complain("%s: a thread ended with copies under way", kernel_name);
  thread_ends(f);
  f->done = true;
  leave(f);
  std::abort();
}

void resume(Fiber* f) {
  if (f->stack == nullptr) {
    f->stack = take_stack();
    void** top = reinterpret_cast<void**>(f->stack + stack_bytes);
    *--top = nullptr;  // a return address for fiber_main: rsp + 8 is a multiple of 16
    *--top = reinterpret_cast<void*>(fiber_main);
    for (int k = 0; k < 6; ++k) *--top = nullptr;
    f->stack_pointer = top;
  }
  f->spinning = false;
  current = f;
  threadIdx = f->thread_idx;
  blockIdx = f->block_idx;
  blockDim = f->block_dim;
  gridDim = f->grid_dim;
  emu_switch(&scheduler_sp, f->stack_pointer);
  current = nullptr;
  if (f->done) {
    free_stacks.push_back(f->stack);
    f->stack = nullptr;
  }
}

void abandon(std::vector<Fiber>& fibers) {
  for (Fiber& f : fibers) {
    if (f.stack != nullptr) {
#if EMU_ASAN
      __asan_unpoison_memory_region(f.stack, stack_bytes);
#endif
      free_stacks.push_back(f.stack);
    }
  }
}

void report_stuck(const std::vector<Fiber>& fibers, const char* why) {
  complain("%s: %s", kernel_name, why);
  int shown = 0;
  for (const Fiber& f : fibers) {
    if (f.done || shown++ > 40) continue;
    std::fprintf(stderr, "EMU:   block %u thread %u waits at %s", f.block_idx.x, f.thread_idx.x, f.waits_at);
    for (const auto& [mask, meeting] : f.warp->meetings) {
      if (meeting.arrived >> f.lane & 1u) std::fprintf(stderr, " with the lanes 0x%08x", mask);
    }
    std::fputc('\n', stderr);
  }
}

// Lets the threads of the host that run kernels on other devices go first.
void let_others_run() {
  const char* const name = kernel_name;
  std::function<void()>* const own_body = body;
  const unsigned bound = bound_seen;
  Lock::give_way();
  kernel_name = name;
  body = own_body;
  bound_seen = bound;
}

// Whether threads that spin may wait for another device. It has had its turn again and again, but for a rank that fails
// late.
class Patience {
 public:
  bool goes_on(bool progress) {
    using namespace std::chrono;
    constexpr long rounds = 100000;
    const bool several = settings().devices > 1;
    if (progress) {
      idle_ = 0;
      if (several && settings().order == Order::random && randomness()() % 256 == 0) let_others_run();
      return true;
    }
    if (idle_++ == 0) since_ = steady_clock::now();
    if (!several) return idle_ <= rounds;
    let_others_run();
    return steady_clock::now() - since_ < seconds(settings().patience);
  }

 private:
  long idle_ = 0;
  std::chrono::steady_clock::time_point since_;
};

// Runs the threads of all blocks to their end.
void run_together(std::vector<Fiber>& fibers) {
  struct Group {
    std::size_t first, last;
  };
  std::vector<Group> warps;
  for (std::size_t i = 0; i < fibers.size();) {
    std::size_t j = i;
    while (j < fibers.size() && fibers[j].warp == fibers[i].warp) ++j;
    warps.push_back({i, j});
    i = j;
  }
  std::size_t left = fibers.size();
  Patience patience;
  std::vector<std::size_t> lanes;
  if (settings().order == Order::reverse) std::reverse(warps.begin(), warps.end());
  while (left > 0) {
    bool progress = false, spun = false;
    if (settings().order == Order::random) std::shuffle(warps.begin(), warps.end(), randomness());
    for (const Group& g : warps) {
      bool any = true;
      while (any) {
        any = false;
        lanes.clear();
        for (std::size_t i = g.first; i < g.last; ++i) lanes.push_back(i);
        if (settings().order == Order::reverse) std::reverse(lanes.begin(), lanes.end());
        if (settings().order == Order::random) std::shuffle(lanes.begin(), lanes.end(), randomness());
        for (const std::size_t i : lanes) {
          Fiber& f = fibers[i];
          if (f.done || (f.wait_on != nullptr && *f.wait_on == f.wait_value)) continue;
          resume(&f);
          if (faulted) return abandon(fibers);
          if (f.done) --left;
          if (f.spinning)
            spun = true;
          else
            any = progress = true;
        }
      }
    }
    if (!progress && !spun && left > 0) {
      report_stuck(fibers, "deadlock: threads wait for ones that do not come");
      faulted = true;
      return abandon(fibers);
    }
    if (!patience.goes_on(progress)) {
      report_stuck(fibers, "livelock: threads spin and nothing moves");
      faulted = true;
      return abandon(fibers);
    }
  }
}

std::vector<std::unique_ptr<Block>> make_blocks(const Config& c, std::size_t first, std::size_t count,
                                                std::vector<Fiber>& fibers) {
  const unsigned threads = c.block.x * c.block.y * c.block.z;
  fibers.clear();
  fibers.resize(count * threads);
  std::vector<std::unique_ptr<Block>> blocks;
  std::size_t at = 0;
  for (std::size_t n = 0; n < count; ++n) {
    blocks.push_back(std::make_unique<Block>());
    Block& b = *blocks.back();
    const auto number = static_cast<unsigned>(first + n);
    b.alive = static_cast<int>(threads);
    b.warps.resize((threads + 31) / 32);
    b.dynamic_bytes = c.shared;
    if (posix_memalign(&b.dynamic, 16, c.shared) != 0) std::abort();
    std::memset(b.dynamic, settings().fill_byte, c.shared);
    for (unsigned t = 0; t < threads; ++t) {
      Fiber& f = fibers[at++];
      f.thread_idx = {t % c.block.x, t / c.block.x % c.block.y, t / c.block.x / c.block.y};
      f.block_idx = {number % c.grid.x, number / c.grid.x % c.grid.y, number / c.grid.x / c.grid.y};
      f.block_dim = c.block;
      f.grid_dim = c.grid;
      f.block = &b;
      f.warp = &b.warps[t / 32];
      f.lane = static_cast<int>(t % 32);
      f.warp->alive |= 1u << f.lane;
    }
  }
  return blocks;
}

struct Timing {
  double seconds = 0;
  long launches = 0;
};
std::map<std::string, Timing>& timings() {
  static std::map<std::string, Timing> all;
  return all;
}
// Prints the profile when the program ends.
struct AtEnd {
  AtEnd() { timings(); }  // first made, last destroyed
  ~AtEnd() {
    if (!settings().profile) return;
    for (auto& [name, t] : timings()) std::fprintf(stderr, "%8.2f s %7ld %s\n", t.seconds, t.launches, name.c_str());
  }
} at_end;

}  // namespace

void leave(Fiber* f) { emu_switch(&f->stack_pointer, scheduler_sp); }

void wait_for(const unsigned* word, unsigned value, const char* where) {
  Fiber* f = running();
  f->wait_on = word;
  f->wait_value = value;
  f->waits_at = where;
  while (*word == value) leave(f);
  f->wait_on = nullptr;
}

void run_kernel(const char* name, const Config& c, std::function<void()> thread, bool together) {
  const Lock lock;
  if (faulted) return;
  if (settings().trace) std::fprintf(stderr, "%s <<<%u, %u, %zu>>>\n", name, c.grid.x, c.block.x, c.shared);
  const auto start = std::chrono::steady_clock::now();
  kernel_name = name;
  body = &thread;
  bound_seen = 0;
  const std::size_t count = std::size_t{c.grid.x} * c.grid.y * c.grid.z;
  std::vector<Fiber> fibers;
  std::vector<std::size_t> numbers(count);
  for (std::size_t n = 0; n < count; ++n) numbers[n] = n;
  if (settings().order == Order::reverse) std::reverse(numbers.begin(), numbers.end());
  if (settings().order == Order::random) std::shuffle(numbers.begin(), numbers.end(), randomness());
  const auto check = [&](const Block& b) {
    if (b.static_bytes > 48 << 10) complain("%s: %zu bytes of static shared memory", name, b.static_bytes);
    if (b.static_bytes + c.shared > most_shared)
      complain("%s: %zu + %zu bytes of shared memory", name, b.static_bytes, c.shared);
  };
  if (together) {
    auto blocks = make_blocks(c, 0, count, fibers);
    run_together(fibers);
    for (auto& b : blocks) check(*b);
  } else {
    for (const std::size_t n : numbers) {
      auto blocks = make_blocks(c, n, 1, fibers);
      run_together(fibers);
      check(*blocks[0]);
      if (faulted) break;
    }
  }
  body = nullptr;
  auto& t = timings()[name];
  t.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ++t.launches;
}

}  // namespace emu
