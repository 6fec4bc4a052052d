// SPDX-License-Identifier: Apache-2.0
/// What `newel bench solve` has measured: lines of systems.
#pragma once

#include <string>
#include <vector>

#include "bench/memory_traffic.hpp"
#include "bench/solve_contender.hpp"
#include "apps/common/json_file.hpp"
#include "session.hpp"

namespace newel::cli {

/// One contender on one system. Seconds throughout.
struct BenchSolveLine {
  std::string by;  ///< "newel", "newel:mixed", "newel:single-basis", or the library that it is compared with
  std::string solver, precond;
  std::string format;  ///< as requested; `facts.format` is what was built
  bool competitor = false;
  bool mixed = false;         ///< ours, iterated in single precision; `facts` count its bytes
  bool single_basis = false;  ///< GMRES of ours with its basis in single precision
  std::string refused;        ///< why there is nothing else; empty where it was measured
  bench::SolveFacts facts;
  bench::SolveEnd end;  ///< of the last round, or of the last that did not converge
  double residual = 0;  ///< |b - A x| / |b| in long double, the worst of all rounds
  double allowed = 0;   ///< what it may be where a round ends "converged": the tolerance and the rounding of a check
  bool exceeded = false;  ///< a round called converged what is not
  bench::Samples solve;   ///< one a round
  bench::Samples iteration;

  bool measured() const { return refused.empty(); }
  /// Ours calls converged only what has been checked.
  bool wrong() const { return measured() && !competitor && exceeded; }
};

struct BenchSolveSystem : BenchedSystem {
  double tolerance = 0;
  int restart = 0;  ///< of GMRES
  std::vector<BenchSolveLine> lines;
};

struct BenchSolveResult {
  Json head;  ///< program, command, machine, what was requested
  bench::CopyBandwidth copy;
  std::vector<BenchSolveSystem> systems;
};

}  // namespace newel::cli
