// SPDX-License-Identifier: Apache-2.0
/// `auto` and all combinations on one system, in a space and a precision.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include <newel/precond/registry.hpp>
#include <newel/solver/linear_system.hpp>
#include <newel/solver/registry.hpp>

#include "bench/measure.hpp"
#include "bench/solve_contender.hpp"
#include "command_line.hpp"
#include "progress.hpp"
#include "regret.hpp"
#include "solve_input.hpp"

namespace newel::cli {

/// None, and the preconditioners that `auto` may choose for the solver.
inline std::vector<std::string> preconds_of_auto(const std::string& solver) {
  std::vector<std::string> names{"none"};
  const Demand demands = find_solver(solver).demands;
  const AutoPrecond stronger = demands == Demand::definite    ? AutoPrecond::definite
                               : demands == Demand::symmetric ? AutoPrecond::symmetric
                                                              : AutoPrecond::general;
  for (const AutoPrecond use : {AutoPrecond::simple, stronger}) {
    for (const PrecondMethod* method : automatic_preconditioners(use)) names.push_back(method->name);
  }
  return names;
}

/// All formats with all preconditioners, solver by solver: the one that `auto` begins with, then the others.
inline std::vector<RegretChoice> regret_choices(const BenchRegretOptions& o, const std::string& first_solver) {
  std::vector<std::string> solvers{first_solver};
  for (const std::string& solver : o.solvers) {
    if (solver != first_solver) solvers.push_back(solver);
  }
  std::vector<RegretChoice> choices;
  for (const std::string& solver : solvers) {
    for (const std::string& precond : o.preconds.empty() ? preconds_of_auto(solver) : o.preconds) {
      for (const std::string& format : o.formats) choices.push_back({format, precond, solver});
    }
  }
  return choices;
}

inline RegretChoice automatic_choice() { return {"auto", "auto", "auto"}; }

/// What a system of that choice is set up and solved with.
inline SystemOptions regret_options(const BenchRegretOptions& o, const RegretChoice& choice, double time_limit = 0) {
  SystemOptions options;
  options.spmv.format = choice.format;
  options.precond.name = choice.precond;
  options.solver.name = choice.solver;
  options.stop.rel_tol = o.tolerance;
  options.stop.max_iterations = o.max_iterations;
  options.stop.time_limit_seconds = time_limit;
  return options;
}

/// Of a combination. A solve that takes longer than the best total of one solve is behind in every use. 0: there is
/// none yet.
inline double regret_time_limit(const BenchRegretOptions& o, const std::optional<double>& best) {
  constexpr double times_the_best = 10, at_least = 1;
  if (o.time_limit > 0) return o.time_limit;
  return best ? std::max(at_least, times_the_best * *best) : 0;
}

/// The loop that a user would write for the solver, on the device in a graph; nothing: there is none.
template <class T, Space S>
std::optional<bench::SolveContender<T, S>> usual_loop(const Context<S>& ctx, const std::string& solver) {
  const char* const precond = "jacobi";
  auto all =
      bench::solve_competitors<T>(ctx, bench::competitors_know(solver, precond) ? solver : "bicgstab", precond);
  if (all.empty()) return std::nullopt;
  return std::move(all.back());  // on the device the one in a graph
}

/// Timed by the host's clock; each solve waits until its x is ready.
template <class T, Space S>
class RegretRun {
 public:
  /// Converts and uploads the matrix, which must outlive the run, and `b`. Throws InputError where they exceed the
  /// precision.
  RegretRun(const Context<Space::host>& host, const Context<S>& ctx, const InputMatrix& matrix,
            const std::vector<double>& b, const BenchRegretOptions& options)
      : ctx_(ctx),
        options_(options),
        coordinates_(matrix.coordinates),
        progress_(stderr),
        input_(host, ctx, matrix.a, b) {}

  /// Fills the system's lines, in rounds in which each takes its turn: a machine that is slow for a while is slow for
  /// all. `auto` goes first, so that the time limit of the combinations has a measure.
  void run(RegretSystem& system) {
    system.refused = find_first_solver(system.first_solver);
    if (!system.refused.empty()) return;
    const std::vector<RegretChoice> choices = regret_choices(options_, system.first_solver);
    solve_small(choices, system.first_solver);
    begin_lines(system, choices);
    progress_.begin("combinations",
                    options_.repeats * static_cast<int>(system.automatic.size() + system.combinations.size()));
    for (int round = 0; round < options_.repeats; ++round) {
      run_auto(system);
      for (RegretCombination& line : system.combinations) {
        progress_.turn_of(line.choice.words());
        if (round > 0 && !line.end.converged()) continue;
        level();
        measure_combination(line);
      }
    }
    run_usual(system);
    progress_.finish();
  }

 private:
  using System = LinearSystem<T, S>;

  // Warms up the memory pool too: as much as `auto` needs is allocated once. Returns why nothing can be set up.
  std::string find_first_solver(std::string& solver) {
    std::string why;
    for (const RegretChoice& choice : {automatic_choice(), RegretChoice{"csr", "none", "auto"}}) {
      why = reason_to_refuse(
          [&] { solver = System(ctx_, input_.a(), regret_options(options_, choice)).info().method; });
      if (why.empty()) break;
    }
    return why;
  }

  // See small_identity.
  void solve_small(std::vector<RegretChoice> choices, const std::string& solver) {
    choices.push_back(automatic_choice());
    const PlacedMatrix<T, S> small = small_identity<T>(ctx_);
    Array<T, S> x(ctx_, small.values().size);
    for (const RegretChoice& choice : choices) {
      (void)reason_to_refuse([&] {  // it says so again for the system itself
        System system(ctx_, small.view(), regret_options(options_, choice));
        (void)system.solve(small.values(), x.span(), {}, InitialGuess::zero);
        system.refresh(small.values());
      });
    }
    (void)reason_to_refuse([&] {
      if (const auto usual = usual_loop<T>(ctx_, solver))
        (void)usual->build(ctx_, small.view())->solve(small.values(), x.span(), {});
    });
  }

  // Of the system itself; the small ones before it have other nodes.
  SystemOptions with_coordinates(SystemOptions options) const {
    options.spmv.coordinates = coordinates_;
    return options;
  }

  void judge(const SolveReport& report, RegretEnd& end) const {
    const bench::TrueResidual found = input_.true_residual();
    end.status = name_of(report.status);
    end.reason = report.reason;
    end.iterations = report.iterations;
    end.resident = report.resident;
    end.residual = found.relative;
    if (report.converged() && !(found.relative <= input_.allowed(found, options_.tolerance))) end.wrong = true;
  }

  // Memory and kernels are at hand for `auto` as they are for the combinations that follow.
  void begin_lines(RegretSystem& system, const std::vector<RegretChoice>& choices) {
    for (const RegretUse& use : regret_uses(options_.loop)) {
      system.automatic.emplace_back();
      system.automatic.back().use = use;
    }
    for (const RegretChoice& choice : choices) {
      system.combinations.emplace_back();
      system.combinations.back().choice = choice;
    }
    RegretAuto warm_up;
    warm_up.use = system.automatic.front().use;
    (void)reason_to_refuse([&] { use_auto(warm_up, system.model); });
  }

  // The first solve of each use is the same: where it failed, the others fail with it.
  void run_auto(RegretSystem& system) {
    RegretAuto& one = system.automatic.front();
    for (RegretAuto& line : system.automatic) {
      progress_.turn_of(words_of(line.use));
      const bool first_round = line.end.refused.empty() && line.end.status.empty();
      if (!first_round && !line.end.converged()) continue;
      if (&line != &one && !one.end.converged()) {
        const RegretUse use = line.use;
        line = one;
        line.use = use;
      } else {
        level();
        line.end.refused = reason_to_refuse([&] { use_auto(line, system.model); });
      }
    }
    if (one.end.converged()) best_ = bench::median(one.seconds);
  }

  // Before each turn: what was measured last leaves caches, free memory and clocks behind that would help one line,
  // say the next in the same format, and hinder another.
  void level() {
    (void)reason_to_refuse([&] {
      SystemOptions few = regret_options(options_, {"csr", "none", "auto"});
      few.stop.max_iterations = 32;
      (void)System(ctx_, input_.a(), few).solve(input_.b(), input_.x(), {}, InitialGuess::zero);
      ctx_.synchronize();
    });
  }

  // A whole use. `model` is asked for behind a single solve.
  void use_auto(RegretAuto& line, std::vector<SystemCandidate>& model) {
    std::optional<System> system;
    SolveReport report;
    line.changed.clear();
    const double seconds = bench::seconds_of([&] {
      SystemOptions options = with_coordinates(regret_options(options_, automatic_choice()));
      options.estimate_scale.iterations = options_.scale_estimates;
      system.emplace(ctx_, input_.a(), options);
      for (line.solves = 1;; ++line.solves) {
        report = system->solve(input_.b(), input_.x(), {}, InitialGuess::zero);
        if (!report.changed.empty()) line.changed.push_back({line.solves, report.changed});
        if (!report.converged() || line.solves == line.use.solves) break;
        system->refresh(input_.values());
      }
    });
    line.seconds.push_back(seconds);
    judge(report, line.end);
    if (line.use.solves == 1) model = system->history().candidates();
    const SystemInfo info = system->info();
    line.choice = {info.matrix.name, info.preconditioner.name, report.method};
  }

  void measure_combination(RegretCombination& line) {
    line.end.refused = reason_to_refuse([&] { measure(line); });
    if (!line.end.converged()) return;
    const double total = use_seconds(line, 1);
    best_ = best_ ? std::min(*best_, total) : total;
  }

  void measure(RegretCombination& line) {
    std::optional<System> system;
    line.setup.push_back(bench::seconds_of([&] {
      system.emplace(ctx_, input_.a(),
                     with_coordinates(regret_options(options_, line.choice, regret_time_limit(options_, best_))));
      ctx_.synchronize();
    }));
    line.first_solve.push_back(solve(*system, line.end));
    if (!line.end.converged()) return;
    line.refresh.push_back(bench::seconds_of([&] {
      system->refresh(input_.values());
      ctx_.synchronize();
    }));
    line.solve.push_back(solve(*system, line.end));
  }

  double solve(System& system, RegretEnd& end) {
    SolveReport report;
    const double seconds =
        bench::seconds_of([&] { report = system.solve(input_.b(), input_.x(), {}, InitialGuess::zero); });
    judge(report, end);
    return seconds;
  }

  void run_usual(RegretSystem& system) {
    const auto contender = usual_loop<T>(ctx_, system.first_solver);
    if (!contender) return;
    RegretUsual& usual = system.usual;
    usual.by = contender->by;
    usual.solver = contender->solver;
    usual.precond = contender->precond;
    progress_.begin("the usual loop", 1);
    progress_.turn_of(usual.by);
    usual.end.refused = reason_to_refuse([&] {
      std::unique_ptr<bench::BuiltSolve<T, S>> built;
      usual.setup_seconds = bench::seconds_of([&] {
        built = contender->build(ctx_, input_.a());
        ctx_.synchronize();
      });
      bench::SolveEnd end;
      usual.solve_seconds = bench::seconds_of([&] {
        end = built->solve(input_.b(), input_.x(), {options_.tolerance, options_.max_iterations});
      });
      usual.end.status = end.status;
      usual.end.reason = end.reason;
      usual.end.iterations = end.iterations;
      usual.end.residual = input_.true_residual().relative;
    });
  }

  const Context<S>& ctx_;
  const BenchRegretOptions& options_;
  std::shared_ptr<const NodeCoordinates> coordinates_;  // where the matrix knows them, as a solve takes them
  BenchProgress progress_;
  SolveInput<T, S> input_;
  std::optional<double> best_;  ///< seconds of one solve with its setup, the least so far
};

}  // namespace newel::cli
