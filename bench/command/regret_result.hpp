// SPDX-License-Identifier: Apache-2.0
/// What `newel bench regret` has measured: combinations and uses of systems.
#pragma once

#include <string>
#include <vector>

#include <newel/solver/candidate.hpp>

#include "bench/memory_traffic.hpp"
#include "apps/common/json_file.hpp"
#include "session.hpp"

namespace newel::cli {

/// How a LinearSystem is set up; "auto" or names of the tables.
struct RegretChoice {
  std::string format, precond, solver;

  /// "ehyb jacobi cg"
  std::string words() const { return format + ' ' + precond + ' ' + solver; }
};

/// What a LinearSystem is set up for: so many solves, with a refresh before each but the first.
struct RegretUse {
  std::string name;  ///< "one", "ten", "loop"
  int solves = 1;
};

/// How solves ended: the last one, or the first that did not converge.
struct RegretEnd {
  std::string refused;  ///< why there was no solve; empty where there was
  std::string status;   ///< one of the library's names of `Status`
  std::string reason;
  int iterations = 0;
  bool resident = false;
  double residual = 0;  ///< |b - A x| / |b| in long double
  bool wrong = false;   ///< called converged what is not

  bool converged() const { return refused.empty() && status == "converged" && !wrong; }
};

/// One fixed choice on one system. Seconds, a sample a repeat.
struct RegretCombination {
  RegretChoice choice;
  RegretEnd end;
  bench::Samples setup, first_solve;
  bench::Samples refresh, solve;  ///< of the same system, behind the first solve
};

/// What `auto` exchanged.
struct RegretChange {
  int solve = 0;  ///< counted from 1
  std::string what;
};

/// `auto` in one use. Choices and changes are those of the last repeat.
struct RegretAuto {
  RegretUse use;
  RegretEnd end;
  int solves = 0;  ///< done: fewer than those of the use where one failed
  RegretChoice choice;
  std::vector<RegretChange> changed;
  bench::Samples seconds;
};

/// The usual loop; `by` is empty where there is none in this build.
struct RegretUsual {
  std::string by, solver, precond;
  RegretEnd end;
  double setup_seconds = 0, solve_seconds = 0;
};

struct RegretSystem : BenchedSystem {
  double tolerance = 0;
  std::string first_solver;  ///< the one that `auto` begins with
  std::vector<RegretCombination> combinations;
  std::vector<RegretAuto> automatic;   ///< one for each use
  std::vector<SystemCandidate> model;  ///< what the cost model of `auto` says behind one solve
  RegretUsual usual;
};

struct RegretResult {
  Json head;  ///< program, command, machine, what was requested
  bench::CopyBandwidth copy;
  std::vector<RegretSystem> systems;
};

}  // namespace newel::cli
