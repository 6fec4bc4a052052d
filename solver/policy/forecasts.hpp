// SPDX-License-Identifier: Apache-2.0
/// Forecasts: what an Advisor asks about the system that it advises. Internal.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include <newel/precond/choice.hpp>
#include <newel/solver/decision.hpp>
#include <newel/spmv/format_choice.hpp>
#include "solver/policy/system_learning.hpp"

namespace newel::detail {

/// A preconditioner by the cost model, in the middle of a solve. `iteration_seconds` are those in the format that the
/// solve is expected to end in.
struct PrecondOutlook : WeighedPrecond {
  ExpectedIterations iterations = &simple_iterations;
  double margin = usual_margin;  ///< what it has to save, over the seconds of its setup
  bool by_values = false;        ///< the values have been looked at for the seconds of its setup
  bool positive = false;         ///< positive definite, also if A is symmetric without being so
  bool passed_over = false;      ///< the present one comes after it in the table, or is it in another form: it is
                                 ///< weighed between solves only
  double share = 1;              ///< factor on the seconds of an iteration by the model, from the values of A
  double at_beginning = 1;       ///< factor on its iterations if a solve begins with it, and with its own method

  /// Whether a solve that begins with it has a method of its own.
  bool has_own_method() const { return at_beginning < 1; }
  /// Seconds of an iteration by the model: in the present format, and in the one that the solve is expected to end
  /// in.
  void take_seconds(double now, double then) {
    now_seconds = share * now;
    iteration_seconds = share * then;
  }
  /// If a solve `begins` with it, or in the middle of one. What was measured were whole solves.
  double iterations_for(double simple, bool begins = false) const {
    if (measured_iterations > 0) return begins ? measured_iterations : measured_iterations / at_beginning;
    return iterations(simple) * (begins ? at_beginning : 1);
  }
};

/// The present preconditioner, and those that may follow it, in the order of the table.
struct PrecondOutlooks {
  PrecondOutlook present;
  std::vector<PrecondOutlook> stronger;
};

/// A preconditioner that followed another in a long solve, and that other.
struct FollowedPrecond {
  PrecondOutlook present, weaker;
};

/// Seconds and iterations by the cost model, of the operators that there are and of those that may follow them. They
/// may be worked out when they are first asked for; they change nothing else. What they return by pointer is valid
/// until the operators change, or the values have been inspected.
class Forecasts {
 public:
  virtual ~Forecasts() = default;

  /// Whether the alternatives have been weighed, which is put off: a solve of a few iterations ends before anybody
  /// wants to know.
  virtual bool weighed() const { return true; }
  /// The formats that were compared, where one was chosen automatically and can be exchanged for another; null: none.
  virtual const FormatChoice* format_choice() { return nullptr; }
  /// What may follow the preconditioner that "auto" began with; null: nothing, all have been tried, or so few
  /// iterations have been `done` that the estimate, for which the pattern is read, is not worth it.
  virtual const PrecondOutlooks* stronger_preconditioners(double done) {
    static_cast<void>(done);
    return nullptr;
  }
  /// After so many iterations `stronger_preconditioners` is worth its estimate, also if no other format asks for it:
  /// for saddle points, which take many with the simple one, and for diffusion and elasticity; infinity: never.
  virtual double worth_a_look() { return std::numeric_limits<double>::infinity(); }
  /// Whether a look at the values of A would tell more of their setups than is known.
  virtual bool values_unseen() const { return false; }
  /// What the present one followed in a solve, this or an earlier one; nothing: it followed none.
  virtual std::optional<FollowedPrecond> followed_preconditioner() const { return std::nullopt; }
  /// Iterations of one solve, estimated; 0: nothing was chosen by them.
  virtual double expected_iterations() { return 0; }
  /// How many iterations the present preconditioner takes for those of the simple one.
  virtual ExpectedIterations present_iterations() const { return &simple_iterations; }
  /// Of one solve of a matrix of this kind, over those of any matrix of its size.
  virtual double of_usual_iterations() { return 1; }
  /// Of one solve, sure to come as long as its residual has hardly fallen, or even `before` anything is known of b;
  /// 0: none.
  virtual double sure_iterations(bool before) {
    static_cast<void>(before);
    return 0;
  }
  /// What estimates of the iterations to come are multiplied by: 1, but in studies of wrong estimates.
  virtual double estimate_scale() const { return 1; }
  /// Of the time limit; infinity: there is none.
  virtual double seconds_left() const { return std::numeric_limits<double>::infinity(); }
};

}  // namespace newel::detail
