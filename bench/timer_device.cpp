// SPDX-License-Identifier: Apache-2.0
// CUDA events around queued work.
#include <cuda_runtime.h>

#include <vector>

#include "core/memory/context_device.hpp"

#include "timer.hpp"

namespace newel::bench {
namespace {

class Event {
 public:
  Event() { NEWEL_CHECK_CUDA(cudaEventCreate(&event_)); }
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  Event(Event&& other) noexcept : event_(other.event_) { other.event_ = nullptr; }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) { NEWEL_CHECK_CUDA(cudaEventRecord(event_, stream)); }
  double seconds_since(const Event& start) {
    float milliseconds = 0;
    NEWEL_CHECK_CUDA(cudaEventSynchronize(event_));
    NEWEL_CHECK_CUDA(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return 1e-3 * milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

struct Timer<Space::device>::State {
  Context<Space::device> ctx;
  std::vector<Event> events;  ///< two for each call that is timed by itself

  void provide(std::size_t count) {
    while (events.size() < count) events.emplace_back();
  }
};

Timer<Space::device>::Timer(const Context<Space::device>& ctx) : state_(new State{ctx, {}}) {}
Timer<Space::device>::~Timer() = default;

double Timer<Space::device>::back_to_back(int count, const Work& work) const {
  State& s = *state_;
  s.provide(2);
  s.events[0].record(s.ctx.stream());
  for (int k = 0; k < count; ++k) work();
  s.events[1].record(s.ctx.stream());
  return s.events[1].seconds_since(s.events[0]) / count;
}

double Timer<Space::device>::one_by_one(int count, const Work& before, const Work& work) const {
  State& s = *state_;
  s.provide(2 * static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    before();
    s.events[2 * k].record(s.ctx.stream());
    work();
    s.events[2 * k + 1].record(s.ctx.stream());
  }
  double seconds = 0;
  for (int k = 0; k < count; ++k) seconds += s.events[2 * k + 1].seconds_since(s.events[2 * k]);
  return seconds / count;
}

}  // namespace newel::bench
