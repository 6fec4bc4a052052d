// SPDX-License-Identifier: Apache-2.0
/// Alternatives: the other operators that a system may go on with. Internal.
#pragma once

#include <string>
#include <vector>

#include <newel/solver/failure.hpp>
#include "solver/policy/forecasts.hpp"

namespace newel::detail {

/// Replaces the operators of a system in place. As it stands here there is nothing else than the present ones: so it
/// is in mixed precision, and for operators of the caller's. A chain of solvers has to be told of others.
class Alternatives {
 public:
  virtual ~Alternatives() = default;

  /// Seconds and iterations of the present operators, and of the others.
  virtual Forecasts& forecasts() { return none_; }
  /// Compares formats and preconditioners, if that has been put off. A forecast does it by itself.
  virtual void weigh() {}
  /// Estimates the setups of stronger preconditioners again, by the values of A. Waits on the stream.
  virtual void inspect_values() {}

  /// The format that the expected iterations pay for, if a solve begins in a cheaper one; empty: it is the present
  /// one.
  virtual std::string expected_format() { return {}; }
  /// A in another format, and M in its order. False: there is none. Throws as a constructor does; the operators are
  /// then those of before.
  virtual bool take_format(const std::string&) { return false; }

  /// Builds a stronger preconditioner and keeps the present one. False: it cannot be built, and it will not be
  /// offered again. If a solve `begins` with it, the solvers may change too.
  virtual bool take_stronger(const std::string& name, bool begins) {
    static_cast<void>(name), static_cast<void>(begins);
    return false;
  }
  /// Returns to the preconditioner that was kept.
  virtual void restore() {}
  /// The present preconditioner stays: drops the one that was kept.
  virtual void settle() {}
  /// Between solves: makes the weaker preconditioner again, from the present values, and returns to its solvers. The
  /// present one may follow it another time, by the iterations that it took. False: it cannot be made.
  virtual bool leave_stronger(int) { return false; }
  /// Decides between the simple preconditioner and the stronger one by a trial, for solves that do not move.
  virtual void decide() {}
  /// Replaces M by the next that "auto" has, after the solvers have failed. Adds to `untried` those whose setup takes
  /// longer than the time that is left. False: there is no further one.
  virtual bool take_next(std::vector<Untried>&) { return false; }
  /// Replaces an M that has chosen single precision by the same in the precision of the system. False: it has not.
  virtual bool raise_precision() { return false; }

 private:
  Forecasts none_;
};

}  // namespace newel::detail
