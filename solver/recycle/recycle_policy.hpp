// SPDX-License-Identifier: Apache-2.0
/// RecyclePolicy: which solves harvest and deflate vectors, and whether that is worth its cost. Internal.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace newel::detail {

/// Seconds by the cost model.
struct RecycleCosts {
  double iteration = 0;  ///< of the solver without recycled vectors
  double deflation = 0;  ///< what these add to it
  double product = 0;    ///< with A
};

/// What a solve has come to.
struct RecycledSolve {
  int iterations = 0;
  double digits = 0;          ///< natural logarithm of the initial residual over the tolerance
  std::int64_t products = 0;  ///< that the vectors took
  int harvested = 0;          ///< vectors
  bool refined = false;       ///< these are better ones in place of as many, not more
  bool one_kernel = false;    ///< it began in one that keeps its vectors on the chip, as deflated solves cannot
};

/// By counts and the cost model, never by a clock. Iterations are compared for as many digits: solves begin with
/// different residuals. A *trial* harvests until the vectors are complete and counts a few deflated solves; vectors
/// are then used while they save more than their cost, which one plain solve in `between_probes` checks. A harvest
/// that refines vectors is repeated while iterations fall. They are harvested anew, in place of the oldest, when
/// solves need many more iterations than after the last harvest. If they are not worth it, nothing is kept for
/// `first_rest` solves, and then for twice as many each time. Where solves may be one kernel, a *look* at a plain one
/// comes before a trial: those are left alone. On an H200 five sequences of 60 solves, 4 to 8 us an iteration in one
/// kernel, took 0.99 to 1.9 times as long with "auto" and without a look (27 to 60 us an iteration).
class RecyclePolicy {
 public:
  enum class Phase { trial, use, rest, look };
  /// What the next solve does.
  struct Use {
    bool deflates, harvests;
  };
  static constexpr int counted_in_trial = 3, longest_trial = 20, between_probes = 50;
  static constexpr int first_rest = 250, longest_rest = 8000;
  static constexpr double least_gain = 0.02;  ///< of the seconds of a plain solve
  static constexpr double decay = 1.25;       ///< of the iterations after the last harvest
  static constexpr double refinement = 0.9;   ///< of the iterations at it: better vectors are worth another harvest

  /// Without `decides` the saving is counted in iterations, whatever these cost, and nothing is looked at.
  explicit RecyclePolicy(bool decides = false, bool looks = false) : decides_(decides), looks_(decides && looks) {
    begin_trial();
  }

  bool decides() const { return decides_; }
  Use next() const;
  /// Whether it has given up, so that vectors may be dropped.
  bool rests() const { return phase_ == Phase::rest; }
  /// After a solve that did `next()`; `complete`: as many vectors are held as may be. `costs` takes longer than a
  /// short solve may: it is called only when "auto" decides.
  void solved(const RecycledSolve& solve, bool complete, const std::function<RecycleCosts()>& costs);
  /// Other operators: what was counted says nothing of them.
  void begin_anew() { *this = RecyclePolicy(decides_, looks_); }
  /// After a deflated solve that failed.
  void give_up() { begin(Phase::rest); }
  /// Iterations that a plain solve would have taken for as many digits; 0: not known.
  double plain_iterations(double digits) const { return plain_rate_ * digits; }

  /// Everything that decides what follows.
  std::vector<double> counts() const;
  void set_counts(const std::vector<double>& counts);
  static constexpr int count_size = 11;

 private:
  void begin(Phase phase);
  void begin_trial() { begin(looks_ ? Phase::look : Phase::trial); }
  void count_anew();
  bool worth_it(const RecycleCosts& costs) const;
  void decide(const std::function<RecycleCosts()>& costs);

  bool decides_, looks_;
  Phase phase_ = Phase::trial;
  int solves_ = 0;            ///< of this phase
  bool harvests_ = true;      ///< the next deflated solve
  double plain_rate_ = 0;     ///< iterations a digit without vectors
  double at_harvest_ = 0;     ///< the same at the last harvest; 0: not known yet
  double after_harvest_ = 0;  ///< after the last harvest; 0: not known yet
  int counted_ = 0;           ///< deflated solves since the last decision, with their sums
  double iterations_ = 0, digits_ = 0, products_ = 0;
  int rest_ = first_rest;
};

}  // namespace newel::detail
