// SPDX-License-Identifier: Apache-2.0
/// All contenders on one system, in a space and a precision: set up, solve turn by turn, judge every solution.
#pragma once

#include <algorithm>

#include <newel/core/error.hpp>
#include <newel/solver/registry.hpp>

#include "command_line.hpp"
#include "matrix.hpp"
#include "progress.hpp"
#include "solve_input.hpp"
#include "solve.hpp"

namespace newel::cli {

/// Ours by solver, preconditioner and format, and behind those of each solver what they are compared with: with each
/// preconditioner requested that the competitors know, and with Jacobi where they know none of them.
template <class T, Space S>
std::vector<bench::SolveContender<T, S>> choose_solve_contenders(const Context<S>& ctx, const BenchSolveOptions& o) {
  std::vector<bench::SolveContender<T, S>> contenders;
  for (const std::string& solver : o.solvers) {
    std::vector<std::string> known;
    for (const std::string& precond : o.preconds) {
      if (bench::competitors_know(solver, precond)) known.push_back(precond);
      for (const std::string& format : o.formats) {
        contenders.push_back(bench::system_contender<T, S>({solver, precond, format, o.restart}));
        if (o.mixed && std::is_same_v<T, double>) {
          contenders.push_back(bench::system_contender<T, S>({solver, precond, format, o.restart, true}));
        }
        if (o.single_basis && find_solver(solver).restarts && std::is_same_v<T, double>) {
          contenders.push_back(bench::system_contender<T, S>({solver, precond, format, o.restart, false, true}));
        }
      }
    }
    if (known.empty()) known.push_back("jacobi");
    for (const std::string& precond : known) {
      for (auto& competitor : bench::solve_competitors<T>(ctx, solver, precond)) {
        contenders.push_back(std::move(competitor));
      }
    }
  }
  return contenders;
}

/// Solves are timed by the host's clock; each waits until its x is ready.
template <class T, Space S>
class BenchSolveRun {
 public:
  /// Converts and uploads `a`, which must outlive the run, and `b`. Throws InputError where they exceed the
  /// precision.
  BenchSolveRun(const Context<Space::host>& host, const Context<S>& ctx, const Csr<double, Space::host>& a,
                const std::vector<double>& b, const bench::SolveGoal& goal, int repeats)
      : ctx_(ctx), goal_(goal), repeats_(repeats), progress_(stderr), input_(host, ctx, a, b) {}

  /// One line for each contender, in their order.
  std::vector<BenchSolveLine> run(const std::vector<bench::SolveContender<T, S>>& contenders) {
    lines_.clear();
    entrants_.clear();
    solve_small(contenders);
    lines_.reserve(contenders.size());
    progress_.begin("setting up", static_cast<int>(contenders.size()));
    for (const bench::SolveContender<T, S>& contender : contenders) add(contender);
    progress_.begin("solves", static_cast<int>(entrants_.size()) * (repeats_ + 1));  // one to warm up
    std::vector<bench::Run> runs;
    for (Entrant& entrant : entrants_) {
      runs.push_back([this, &entrant] { return solve(entrant); });
    }
    if (!runs.empty()) bench::alternate(runs, repeats_);
    progress_.finish();
    return std::move(lines_);
  }

 private:
  struct Entrant {
    std::size_t line;
    std::unique_ptr<bench::BuiltSolve<T, S>> built;
    bool warm = false;  ///< has solved once, which does not count
  };

  // See small_identity.
  void solve_small(const std::vector<bench::SolveContender<T, S>>& contenders) {
    const PlacedMatrix<T, S> small = small_identity<T>(ctx_);
    Array<T, S> x(ctx_, small.values().size);
    for (const bench::SolveContender<T, S>& contender : contenders) {
      try {
        (void)contender.build(ctx_, small.view())->solve(small.values(), x.span(), {});
      } catch (const Error&) {  // it says so again for the system itself
      }
    }
  }

  static std::string words_of(const std::string& by, const std::string& solver, const std::string& precond,
                              const std::string& format) {
    return by + ' ' + solver + ' ' + precond + ' ' + format;
  }

  void add(const bench::SolveContender<T, S>& contender) {
    progress_.turn_of(words_of(contender.by, contender.solver, contender.precond, contender.format));
    BenchSolveLine line;
    line.by = contender.by;
    line.solver = contender.solver;
    line.precond = contender.precond;
    line.format = contender.format;
    line.mixed = contender.mixed;
    line.single_basis = contender.single_basis;
    line.competitor = contender.competitor;
    line.refused = reason_to_refuse([&] {
      auto built = contender.build(ctx_, input_.a());
      line.facts = built->facts();
      entrants_.push_back({lines_.size(), std::move(built)});
    });
    lines_.push_back(std::move(line));
  }

  // The first call of each warms up. What fails in the middle is out from then on.
  double solve(Entrant& entrant) {
    BenchSolveLine& line = lines_[entrant.line];
    progress_.turn_of(words_of(line.by, line.solver, line.precond, line.format));
    if (!line.measured()) return 0;
    bench::SolveEnd end;
    double seconds = 0;
    line.refused = reason_to_refuse([&] {
      seconds = bench::seconds_of([&] { end = entrant.built->solve(input_.b(), input_.x(), goal_); });
      judge(line, end);
    });
    if (line.end.status.empty() || line.end.converged()) line.end = end;
    if (entrant.warm) {
      line.solve.push_back(seconds);
      line.iteration.push_back(seconds / std::max(1, end.iterations));
    }
    entrant.warm = true;
    return seconds;
  }

  void judge(BenchSolveLine& line, const bench::SolveEnd& end) {
    const bench::TrueResidual found = input_.true_residual();
    // max, and NaN where either is none
    if (!(found.relative <= line.residual)) line.residual = found.relative;
    if (!end.converged()) return;
    const double allowed = input_.allowed(found, goal_.tolerance);
    line.allowed = std::max(line.allowed, allowed);
    if (!(found.relative <= allowed)) line.exceeded = true;
  }

  const Context<S>& ctx_;
  bench::SolveGoal goal_;
  int repeats_;
  BenchProgress progress_;
  SolveInput<T, S> input_;
  std::vector<BenchSolveLine> lines_;
  std::vector<Entrant> entrants_;
};

}  // namespace newel::cli
