// SPDX-License-Identifier: Apache-2.0
/// Timer: seconds of work in a space, by the host's clock or by events on the context's stream.
#pragma once

#include <functional>
#include <memory>

#include <newel/core/context.hpp>

namespace newel::bench {

using Work = std::function<void()>;

template <Space S>
class Timer;

/// On the host: the clock around the calls.
template <>
class Timer<Space::host> {
 public:
  explicit Timer(const Context<Space::host>&) {}

  /// Seconds of one of `count` calls in a row.
  double back_to_back(int count, const Work& work) const;

  /// Seconds of one of `count` calls, each behind a call of `before`, which is not timed.
  double one_by_one(int count, const Work& before, const Work& work) const;
};

/// On the device: events on the context's stream around the calls, which queue work on it. Waits for the stream
/// at the end only, so that the host's launches are hidden where the work is longer than they are.
template <>
class Timer<Space::device> {
 public:
  explicit Timer(const Context<Space::device>& ctx);
  ~Timer();

  double back_to_back(int count, const Work& work) const;
  double one_by_one(int count, const Work& before, const Work& work) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace newel::bench
