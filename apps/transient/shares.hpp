// SPDX-License-Identifier: Apache-2.0
/// Shares: where the seconds of a run went, by phase, without slowing it down.
///
/// On the host every phase is timed. A device works behind the host's back: there the phases of a step are
/// distinguished in sampled steps only, which wait for the stream at every border, and their proportions are taken
/// for all steps. Setup and output end with the stream empty and are always timed.
///
/// Inside a Krylov solve products, preconditioner and vector work are not timed one by one. The matrix and the
/// preconditioner are applied in isolation a few times (`measure_operators`); their seconds times the applications
/// that the reports count (`SolveTotals`) are their parts of the solves, and what remains of the solves is vector
/// work.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <newel/solver/linear_system.hpp>

#include "apps/common/json_file.hpp"
#include "apps/common/run_clock.hpp"

namespace newel::transient {

/// What is timed. `solve` is split into product, preconditioner and vector work in the end. A program whose assembly
/// has parts books those instead of `assembly`, which is their sum: the pass over the elements; the matrix and the
/// right-hand side, sums of the elements' values, with what is made anew of the preconditioner; and what it takes to
/// decide whether a step is solved.
enum class Phase { setup, assembly, elements, sums, check, solve, vector_work, output, other };
inline constexpr int phase_count = 9;

/// Iterations and applications, summed over solves.
struct SolveTotals {
  std::int64_t solves = 0;
  std::int64_t resident = 0;  ///< of them in one kernel each
  std::int64_t iterations = 0;
  std::int64_t most_iterations = 0;
  std::int64_t products = 0;        ///< with A; counted from the reports, see `add`
  std::int64_t preconditioned = 0;  ///< applications of M
  std::int64_t other_products = 0;  ///< of the caller's own, with matrices like A, inside Phase::solve
  std::int64_t replacements = 0;    ///< of residuals
  std::int64_t not_converged = 0;
  double worst_relative_residual = 0;  ///< true residual over |b|, of the solves that converged
  double solve_seconds = 0;            ///< as the reports have it

  /// CG and GMRES: a product per iteration; BiCGStab: two; one for the first residual, one for the true one at the
  /// end and one for each replacement and restart. M: as many as iterations ask for, and one to begin with.
  void add(const SolveReport& report);
};

/// Seconds of one application.
struct OperatorSeconds {
  double product = 0;
  double preconditioner = 0;  ///< 0 where there is none
};

/// Seconds that f() takes, queued several times on a device as programs queue it: the median of `repeats`
/// measurements after a call that is not counted. Waits for the stream.
template <Space S>
double seconds_of_one(const Context<S>& ctx, int repeats, const std::function<void()>& f);

/// Applies the system's operators, in solver order, to vectors of its own: `repeats` times each after one that is not
/// counted; the median. On the device waits for the stream.
template <Space S>
OperatorSeconds measure_operators(const Context<S>& ctx, const LinearSystem<double, S>& system, int repeats = 5);

/// Seconds by what a reader asks for; they add up to `total`.
struct ShareReport {
  double setup = 0, assembly = 0, product = 0, preconditioner = 0, vector_work = 0, output = 0, other = 0;
  double total = 0;
  /// Parts of `assembly`, all 0 in a program that does not distinguish them.
  double elements = 0, sums = 0, check = 0;
  std::int64_t steps = 0, sampled_steps = 0;
  OperatorSeconds operators;

  /// name -> seconds, in the order of the members.
  std::vector<std::pair<std::string, double>> parts() const;
  /// The same for the parts of the assembly; empty where they are not distinguished.
  std::vector<std::pair<std::string, double>> assembly_parts() const;
};

/// {"seconds": {...}, "share": {...}, "how": "..."}, and "assembly_seconds": {...} where its parts are distinguished.
cli::Json shares_json(const ShareReport& report);

/// Seconds of a clock that does not go back.
double steady_seconds();

class Shares {
 public:
  /// Steps 1, 1 + sample_every, ... are sampled; 1: all. Choose 1 on the host, 16 or so on a device.
  /// `clock`: seconds since any moment; a test's own.
  explicit Shares(int sample_every = 1, double (*clock)() = &steady_seconds)
      : sample_every_(sample_every), clock_(clock) {}

  /// To be called before a step, and after it.
  void begin_step();
  void end_step();
  /// Whether phases of this step are timed.
  bool sampled() const { return sampled_; }

  /// Runs f() and books its seconds; returns what f returns. Phases that are inside a step and not sampled only run.
  /// Calls do not nest.
  template <Space S, class F>
  auto timed(const Context<S>& ctx, Phase phase, F&& f) {
    if (!counts(phase)) return f();
    const Booking booking(ctx, *this, phase);
    return f();
  }
  /// Books seconds that were taken elsewhere.
  void add(Phase phase, double seconds) { (in_step_ ? inside_ : outside_)[static_cast<int>(phase)] += seconds; }

  /// `total`: seconds of the whole run. Seconds of no phase are `other`.
  ShareReport report(double total, const SolveTotals& totals, const OperatorSeconds& operators) const;

 private:
  template <Space S>
  class Booking {
   public:
    Booking(const Context<S>& ctx, Shares& shares, Phase phase) : ctx_(ctx), shares_(shares), phase_(phase) {
      ctx_.synchronize();
      begin_ = shares_.clock_();
    }
    ~Booking() {
      try {
        ctx_.synchronize();
      } catch (...) {
        return;  // the stream failed: the next call reports it
      }
      shares_.add(phase_, shares_.clock_() - begin_);
    }
    Booking(const Booking&) = delete;
    Booking& operator=(const Booking&) = delete;

   private:
    const Context<S>& ctx_;
    Shares& shares_;
    Phase phase_;
    double begin_ = 0;
  };
  bool counts(Phase phase) const;

  int sample_every_;
  double (*clock_)();
  bool in_step_ = false;
  bool sampled_ = true;
  std::int64_t steps_ = 0, sampled_steps_ = 0;
  double step_seconds_ = 0;          ///< of all steps, without output
  double sampled_step_seconds_ = 0;  ///< of the sampled ones
  double output_before_step_ = 0;
  double step_begin_ = 0;
  std::array<double, phase_count> inside_{};  ///< of steps
  std::array<double, phase_count> outside_{};
};

}  // namespace newel::transient
