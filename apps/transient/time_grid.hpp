// SPDX-License-Identifier: Apache-2.0
/// TimeGrid: simulated time as a whole number of ticks, so that steps may be halved and no rounding accumulates.
#pragma once

#include <cstdint>

namespace newel::transient {

/// Time counted in ticks of dt0 / 2^20. The step is dt0 / 2^k with 0 <= k <= most_halvings, so that however often it
/// is halved, every multiple of dt0 is met exactly, and two runs that arrive at one time print the same number.
class TimeGrid {
 public:
  static constexpr int tick_bits = 20;
  static constexpr std::int64_t ticks_per_dt0 = std::int64_t{1} << tick_bits;

  /// What a checkpoint stores, in addition to dt0 and most_halvings.
  struct State {
    std::int64_t ticks = 0;
    std::int64_t steps = 0;
    std::int64_t halvings = 0;
  };

  /// Starts at time 0 with the step dt0, in any unit. Throws InputError unless dt0 is positive and finite and
  /// 0 <= most_halvings <= 20.
  explicit TimeGrid(double dt0, int most_halvings = 10);
  /// Continues from a kept state. Throws InputError for one that such a grid cannot be in.
  TimeGrid(double dt0, int most_halvings, const State& state);

  /// ticks dt0 / 2^20, rounded once.
  double now() const;
  /// The time at the end of the step that is tried: now() once it is accepted, bit for bit.
  double next() const;
  /// dt0 / 2^k, without rounding.
  double step() const;
  double dt0() const { return dt0_; }
  int halvings() const { return static_cast<int>(state_.halvings); }
  std::int64_t ticks() const { return state_.ticks; }
  /// Steps accepted so far.
  std::int64_t steps() const { return state_.steps; }
  /// Whether now() is a multiple of dt0.
  bool on_dt0() const { return state_.ticks % ticks_per_dt0 == 0; }

  /// Time moves on by one step.
  void accept();
  /// Halves the step. False, and nothing happens, where it has been halved `most_halvings` times.
  bool halve();
  /// Doubles the step where now() is a multiple of the doubled one and the step is less than dt0; returns whether it
  /// did.
  bool grow();

  const State& state() const { return state_; }

 private:
  std::int64_t step_ticks() const { return ticks_per_dt0 >> state_.halvings; }

  double dt0_;
  int most_halvings_;
  State state_;
};

/// How many steps of dt0 a duration takes, the last one ending at or behind it (a millionth of a step is forgiven);
/// at least 1. Throws InputError where that is not a number below 2^31.
std::int64_t whole_steps(double duration, double dt0);

/// What happens at every so many whole steps dt0: output, checkpoints.
class Every {
 public:
  /// `interval` is rounded to the nearest multiple of dt0, at least one; 0: never. Throws InputError for a negative
  /// or not finite one.
  Every(double interval, double dt0);

  /// Whether it is due at grid.now(). Time 0 is a multiple of everything.
  bool due(const TimeGrid& grid) const;
  /// In steps of dt0; 0: never.
  std::int64_t interval_steps() const { return steps_; }

 private:
  std::int64_t steps_ = 0;
};

}  // namespace newel::transient
